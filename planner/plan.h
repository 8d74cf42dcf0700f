/* planner/plan.h - the planner's own policy: as many jobs as possible done by their deadlines
 *
 * A set of jobs can be planned when each, in the order of the deadlines, finds a share of what those
 * before it leave free (planner/share.h).  Jobs are taken into the set one by one, the one first that
 * costs least capacity times seconds, as long as all of the set can be planned; what does not fit is
 * left out.  That is how the number of late jobs is kept small on one machine (Moore, Management
 * Science 15, 1968, leaves out the longest), with cost in the place of length.  What is left out is
 * not refused: it runs on spare capacity and is tried again whenever a plan is made.  Spare capacity
 * goes where a unit of it gains most (planner/spare.h).
 *
 * When many were refused one after another, or much was looked at, those that are left are only asked
 * whether they fit into what the plan leaves free: 15,000 jobs are planned in about a second.
 *
 * Every job is planned to be done a little before its deadline, where it can: jobs that are not known
 * yet will want capacity, and a plan that is tight has none to move.
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "planner/share.h"

/* How a job takes part in a plan. */
enum plan_part {
    PART_PLANNED,               /* has a share */
    PART_DROPPED,               /* has a deadline that could be met, but no share */
    PART_LATE,                  /* its deadline is over or cannot be met */
    PART_BEST_EFFORT,
    PART_KEPT                   /* stays as it is, whatever else is planned */
};

struct plan_item {
    struct plan_job *job;
    enum plan_part part;
    double latest;              /* planned, dropped: when it is to be done, all margins included */
    double cost;                /* the same: what it is taken into the set by */
    struct share share;
};

struct plan {
    struct plan_item *items;    /* of all jobs: first those that can meet a deadline, by deadline */
    size_t count;
    size_t candidates;          /* how many can */
    struct timeline timeline;
};

/* What a policy adds to the deadlines that it is told. */
struct plan_wishes {
    double margin;              /* to be done before the deadline by such a share of the time from
                                   arrival to deadline, and by the state's guard */
    bool ageing;                /* jobs without a deadline are given one when they waited for long */
};

/* The first step of it, which other policies share: sort the jobs into items; all candidates are
 * PART_PLANNED.  plan_end() frees them. */
void plan_begin(struct plan *plan, const struct plan_state *state, int capacity,
                const struct plan_wishes *wishes);
void plan_end(struct plan *plan);

/* All of the capacity free from now on, but for what kept jobs have, as plan_begin() leaves it. */
void plan_clear(struct plan *plan, const struct plan_state *state, int capacity);

#endif
