/* planner/timeline.c - how much is free, from now on: a step function of time */
#include "planner/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void reserve_segments(struct timeline *timeline, size_t count)
{
    if (count <= timeline->capacity)
        return;
    timeline->capacity = count * 2 + 16;
    timeline->segments =
        memory_resize(timeline->segments, timeline->capacity * sizeof(*timeline->segments));
}

void timeline_reset(struct timeline *timeline, double start, int free)
{
    reserve_segments(timeline, 1);
    timeline->segments[0] = (struct timeline_segment){start, free};
    timeline->count = 1;
}

void timeline_copy(struct timeline *copy, const struct timeline *timeline)
{
    reserve_segments(copy, timeline->count);
    memcpy(copy->segments, timeline->segments, timeline->count * sizeof(*copy->segments));
    copy->count = timeline->count;
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->segments);
    *timeline = (struct timeline){0};
}

/* The last segment that starts at `time` or before. */
static size_t find_segment(const struct timeline *timeline, double time)
{
    size_t low = 0, high = timeline->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (timeline->segments[middle].start <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The segment that starts at `time`; it is made if missing. */
static size_t split_at(struct timeline *timeline, double time)
{
    size_t at = find_segment(timeline, time);
    if (timeline->segments[at].start >= time)
        return at;
    reserve_segments(timeline, timeline->count + 1);
    struct timeline_segment *segment = &timeline->segments[at];
    memmove(segment + 2, segment + 1, (timeline->count - at - 1) * sizeof(*segment));
    segment[1] = (struct timeline_segment){time, segment->free};
    timeline->count++;
    return at + 1;
}

/* Drop the segment if the one before it has the same value. */
static void join_segment(struct timeline *timeline, size_t at)
{
    struct timeline_segment *segment = &timeline->segments[at];
    if (at == 0 || at >= timeline->count || segment->free != segment[-1].free)
        return;
    memmove(segment, segment + 1, (timeline->count - at - 1) * sizeof(*segment));
    timeline->count--;
}

void timeline_take(struct timeline *timeline, double from, double to, int size)
{
    if (!(from < to))
        return;
    size_t first = split_at(timeline, from);
    size_t end = split_at(timeline, to);
    for (size_t i = first; i < end; i++)
        timeline->segments[i].free -= size;
    join_segment(timeline, end);
    join_segment(timeline, first);
}
