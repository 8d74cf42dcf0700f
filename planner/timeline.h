/* planner/timeline.h - how much is free, from now on: a step function of time
 *
 * A list of segments, each from its start to the next one's, the last for ever.
 */
#ifndef PLANNER_TIMELINE_H
#define PLANNER_TIMELINE_H

#include <stddef.h>

struct timeline_segment {
    double start; /* seconds */
    int free;
};

struct timeline {
    struct timeline_segment *segments; /* ascending, at least one */
    size_t count, capacity;
};

/* Everything free from `start` on.  Keeps the memory of what it was before; zero-initialise. */
void timeline_reset(struct timeline *timeline, double start, int free);
void timeline_copy(struct timeline *copy, const struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* Take `size` (or give back, when it is negative) between two times; `from` is not before
 * the start.  Neighbours that became equal are one segment afterwards. */
void timeline_take(struct timeline *timeline, double from, double to, int size);

#endif
