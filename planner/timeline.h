/* planner/timeline.h - the free capacity from now on, as a step function of time
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

/* Set everything free from `start` on.  Reuses the memory that the timeline has; zero-initialise it
 * first. */
void timeline_reset(struct timeline *timeline, double start, int free);
void timeline_copy(struct timeline *copy, const struct timeline *timeline);
void timeline_free(struct timeline *timeline);

/* Take `size` (or give it back, when negative) between two times; `from` must not be before the
 * start.  Neighbouring segments that become equal are merged. */
void timeline_take(struct timeline *timeline, double from, double to, int size);

#endif
