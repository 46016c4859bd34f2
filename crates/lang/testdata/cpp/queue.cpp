#include <vector>

namespace store {

/// Holds items.
template <typename T>
class Queue : public Base<T> {
public:
    explicit Queue(std::size_t limit) : limit_(limit) {}
    ~Queue();

    /// Adds an item.
    bool push(const T& item);

    bool operator==(const Queue& other) const { return true; }

private:
    std::size_t limit_;
};

// Out of line.
template <typename T>
bool Queue<T>::push(const T& item) {
    auto add = [&](int x) { return x; };
    return add(1) > 0;
}

enum class Mode { Fast, Slow };

using Name = std::string;

struct Point {
    int x, y;
};

namespace inner {
int depth() { return 1; }
}  // namespace inner

}  // namespace store

template <typename T>
concept Small = sizeof(T) < 16;

[[nodiscard]] std::vector<int>& numbers(int* from, int& to);

int store::inner::count = 3;

#define CHECK(x) do { (void)(x); } while (0)
