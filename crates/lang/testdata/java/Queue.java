package example.queue;

import java.util.List;

/**
 * Items in order.
 */
@Deprecated
public class Queue<T> implements Closeable {
    /** The most items. */
    public static final int LIMIT = 64;
    private final List<T> items;

    public Queue(List<T> items) {
        this.items = items;
    }

    /** Adds an item. */
    @Override
    @SuppressWarnings("unchecked")
    public <R> boolean push(T item) throws FullException {
        Runnable later = () -> items.clear();
        return items.add(item);
    }

    // Only for tests.
    static class Inner {
        void run() {}
    }

    interface Listener {
        int NONE = 0;

        void changed(int size);
    }

    enum Mode {
        FAST, SLOW;

        Mode next() {
            return FAST;
        }
    }
}

record Point(int x, int y) {
    Point {
        check(x);
    }
}

@interface Marker {}
