/* A ring of numbers. */
#include <stdlib.h>

#ifndef QUEUE_C
#define QUEUE_C

/** The most items. */
#define LIMIT 64
#define NEXT(i) (((i) + 1) % LIMIT)

struct item {
    int value;
    struct item *next;
};

/* How a queue is used. */
typedef struct {
    struct item *first;
    size_t count;
} queue;

typedef int (*compare)(const void *, const void *);
typedef unsigned long word;

enum mode { FAST, SLOW };

union bits { int a; float b; };

static int depth = 0;
extern const char *const names[];

// Makes a queue.
queue *queue_new(size_t size);

/**
 * Adds a value.
 * Returns 0 when there is room.
 */
static int
queue_push(queue *q, int value)
{
    int local = value;
    if (q == NULL)
        return 1;
    return 0;
}

int (*handler)(int) = NULL;

char **split(const char *text) { return NULL; }

#endif
