/* planner/plan.h - the planner's own policy: as many jobs as possible done by their deadlines
 *
 * A set of jobs can be planned when each, in the order of the deadlines, finds a share of what those
 * before it leave free (planner/share.h).  When one finds none, the job that costs most capacity times
 * seconds, of it and of those before it, is left out, and those after that are planned again.  That is
 * how the number of late jobs is kept least on one machine (Moore, Management Science 15, 1968, leaves
 * out the longest), with cost in the place of length.  What is left out is not refused: it runs on spare
 * capacity and is retried whenever a plan is made.  Spare capacity goes where a unit of it gains most
 * (planner/spare.h).
 *
 * Before anybody is planned, jobs are left out in the same way while those until a deadline cost more
 * than all that is free until then; so thousands that cannot all be done cost little.  Afterwards, who
 * was left out and fits into what is still free is planned there.  A state of 15,000 jobs on 1,024 GPUs
 * is planned in about a tenth of a second, and a trace of as many, with all its decisions, in 1 to 2 s.
 *
 * Every job is planned to be done a little before its deadline, where it can: jobs that are not known
 * yet will want capacity, and a plan that is tight has none to move.
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "planner/share.h"

/* How a job takes part in a plan. */
enum plan_part {
    PART_PLANNED, /* has a share */
    PART_DROPPED, /* has a deadline that could be met, but no share */
    PART_LATE,    /* its deadline is over or cannot be met */
    PART_BEST_EFFORT,
    PART_KEPT /* stays as it is, whatever else is planned */
};

/* A job that runs and cannot be stopped has its smallest level for itself, in every plan, until it
 * would be done with that: its floor.  What it has of the plan beyond it comes and goes. */

struct plan_item {
    struct plan_job *job;
    enum plan_part part;
    double latest;      /* planned, dropped: when it must be done, all margins included */
    double cost;        /* the same: what it is taken into the set by */
    double use;         /* the same: capacity times seconds that it costs alone */
    double floor_until; /* the end of its floor; 0: it has none */
    struct share share;
};

struct plan {
    struct plan_item *items; /* of all jobs: first those that can meet a deadline, by deadline;
                                   then the others, in no order */
    size_t count;
    size_t candidates; /* how many can */
    struct timeline timeline;
};

/* What a policy adds to the deadlines that it is given. */
struct plan_targets {
    double margin; /* to be done before the deadline by such a share of the time from
                                   arrival to deadline, and by the state's guard */
    bool ageing;   /* jobs without a deadline are given one when they waited for long */
    bool floors;   /* running jobs that cannot be stopped may be resized; else they are
                                   kept as they are */
};

/* The first step of it, which other policies share: sort the jobs into items; all candidates are
 * PART_PLANNED.  plan_end() frees them. */
void plan_begin(struct plan *plan, const struct plan_state *state, int capacity,
                const struct plan_targets *targets);
void plan_end(struct plan *plan);

/* Those behind the candidates by id, for who gives them something one after the other. */
void plan_sort_others(struct plan *plan);

/* All of the capacity free from now on, but for what kept jobs have and for the floors, as
 * plan_begin() leaves it.  The items' shares are forgotten by the caller. */
void plan_clear(struct plan *plan, const struct plan_state *state, int capacity);

/* Find the item's least share, its floor included; false, with nothing changed, when there is none.
 * plan_release() gives it back, but for the floor. */
bool plan_take(struct plan *plan, struct plan_item *item);
void plan_release(struct plan *plan, struct plan_item *item);

#endif
