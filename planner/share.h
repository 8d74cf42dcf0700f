/* planner/share.h - the least share of the free capacity with which one job meets its deadline
 *
 * A job is capped at one of its levels and filled in forward, from now on: at each moment it gets
 * the largest level that is free and not above the cap.  The smallest cap that suffices is chosen:
 * speed-up curves are concave, so this costs the least capacity times time. (The idea is that of
 * ElasticFlow's minimum satisfactory share, ASPLOS'23, which fills in backward from the deadline;
 * filling in forward leaves later time to jobs that are yet to come.)
 */
#ifndef PLANNER_SHARE_H
#define PLANNER_SHARE_H

#include "planner/state.h"
#include "planner/timeline.h"

/* A job's share of a timeline. */
struct share_piece {
    double from, to;
    int size;
};

struct share {
    struct share_piece *pieces; /* in order of time */
    size_t count, capacity;
    size_t cap;  /* index of the level that caps it */
    int size;    /* its size now; 0: it starts later */
    double cost; /* capacity times seconds */
    double finish;
    double change; /* when its size next changes, or its end */
};

/* Find the least share with which `job` ends by `latest`, and take it from the timeline.  False,
 * with nothing taken, when there is none. */
bool share_take(struct share *share, struct timeline *timeline, const struct plan_job *job,
                double latest);

/* The same with the level of index `cap` as the cap, however long the job takes.  Always succeeds
 * if that level fits into the timeline's last segment. */
bool share_take_whenever(struct share *share, struct timeline *timeline, const struct plan_job *job,
                         size_t cap);

/* Append a piece to the share; takes nothing from the timeline. */
void share_append(struct share *share, const struct share_piece *piece);

/* Give the whole share back. */
void share_release(struct share *share, struct timeline *timeline);
void share_free(struct share *share);

/* How long the job takes with this level alone, from now on. */
double share_time_alone(const struct plan_job *job, const struct plan_level *level);

#endif
