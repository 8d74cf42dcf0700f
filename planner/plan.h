/* planner/plan.h - the planner's own policy: meet as many deadlines as possible
 *
 * A set of jobs can be planned when each job, in the order of the deadlines, finds a share of the
 * capacity that those before it leave free (planner/share.h).  When a job finds none, the costliest
 * of it and those before it, by capacity times seconds, is left out, and the jobs after the one
 * left out are planned again.  This is the method that minimizes the number of late jobs on one
 * machine (Moore, Management Science 15, 1968, leaves out the longest), with cost in place of
 * length.  A job that is left out is not refused: it runs on spare capacity and is reconsidered in
 * every plan.  Spare capacity goes where a unit of it gains most (planner/spare.h).
 *
 * Before any job is planned, jobs are left out in the same way while those due by some deadline
 * cost more than everything that is free until then; so thousands of jobs that cannot all be done
 * cost little planning time.  Afterwards, jobs that were left out and fit into what is still free
 * are planned there.  A state of 15,000 jobs on 1,024 GPUs is planned in about a tenth of a second,
 * and a trace of as many, with all its decisions, in 1 to 2 s.
 *
 * Every job is planned to end a little before its deadline, if possible: jobs that are yet to come
 * will need capacity, and a tight plan has no slack for them.
 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

#include "planner/share.h"

/* How a job takes part in a plan. */
enum plan_part {
    PART_PLANNED, /* has a share */
    PART_DROPPED, /* its deadline could be met, but it has no share */
    PART_LATE,    /* its deadline has passed or cannot be met */
    PART_BEST_EFFORT,
    PART_KEPT /* stays as it is, whatever else is planned */
};

/* A running job that cannot be stopped keeps its smallest level in every plan until it would be
 * done at that level: its floor.  What the plan gives it beyond the floor may change. */

struct plan_item {
    struct plan_job *job;
    enum plan_part part;
    double latest;      /* planned, dropped: when it must end, all margins included */
    double cost;        /* the same: what decides whether the set includes it */
    double use;         /* the same: its cost alone, capacity times seconds */
    double floor_until; /* the end of its floor; 0: it has none */
    struct share share;
};

struct plan {
    /* all jobs: first those that can meet a deadline, by deadline; then the others, in no order */
    struct plan_item *items;
    size_t count;
    size_t candidates; /* how many can */
    struct timeline timeline;
};

/* What a policy adds to the deadlines of its input. */
struct plan_targets {
    /* safety margin, as a fraction of (deadline - arrival), in addition to the state's guard */
    double margin;
    bool ageing; /* jobs without a deadline get one when they have waited for long */
    /* running jobs that cannot be stopped may be resized; when false, they are kept unchanged */
    bool floors;
};

/* The first step of a plan, which other policies share: sort the jobs into items, with all
 * candidates PART_PLANNED. plan_end() frees the items. */
void plan_begin(struct plan *plan, const struct plan_state *state, int capacity,
                const struct plan_targets *targets);
void plan_end(struct plan *plan);

/* Sort the items behind the candidates by id, for a caller that gives to them one after another. */
void plan_sort_others(struct plan *plan);

/* Make all capacity free from now on, except what kept jobs and floors take, as after plan_begin().
 * The caller must reset the items' shares. */
void plan_clear(struct plan *plan, const struct plan_state *state, int capacity);

/* Find and take the item's least share, its floor included; false, with nothing changed, when there
 * is none. plan_release() gives the share back, except the floor. */
bool plan_take(struct plan *plan, struct plan_item *item);
void plan_release(struct plan *plan, struct plan_item *item);

#endif
