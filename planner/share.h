/* planner/share.h - the least share of the free capacity with which one job meets its deadline
 *
 * A job is capped at one of its levels and filled in forward, from now on: at each moment it gets
 * the largest level that is free and not above the cap.  The smallest cap that suffices is taken:
 * speed-up curves are concave, so it costs the least capacity times time.  (The idea is that of
 * ElasticFlow's minimum satisfactory share, ASPLOS'23, which fills in backward from the deadline;
 * forward leaves the later time to jobs that are not known yet.)
 */
#ifndef PLANNER_SHARE_H
#define PLANNER_SHARE_H

#include "planner/state.h"
#include "planner/timeline.h"

/* What a job has of a timeline. */
struct share_piece {
    double from, to;
    int size;
};

struct share {
    struct share_piece *pieces; /* in order of time */
    size_t count, capacity;
    size_t cap;  /* index of the level that it is capped at */
    int size;    /* what it has now, 0: it starts later */
    double cost; /* capacity times seconds */
    double finish;
    double change; /* when its size next changes, or its end */
};

/* Find the least share with which `job` is done by `latest`, and take it from the timeline.  False,
 * with nothing taken, when there is none. */
bool share_take(struct share *share, struct timeline *timeline, const struct plan_job *job,
                double latest);

/* The same at the level of index `cap`, however long it takes: always succeeds if that level fits
 * once the timeline's last segment has come. */
bool share_take_whenever(struct share *share, struct timeline *timeline, const struct plan_job *job,
                         size_t cap);

/* Add a piece behind those that there are; takes nothing. */
void share_append(struct share *share, const struct share_piece *piece);

/* Give all of it back. */
void share_release(struct share *share, struct timeline *timeline);
void share_free(struct share *share);

/* The time that the job takes when it has this level from now on, alone. */
double share_time_alone(const struct plan_job *job, const struct plan_level *level);

#endif
