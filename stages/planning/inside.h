/* stages/planning/inside.h - the inside of stages/planning/planning.h
 *
 * planning.c says when a plan is made and goes through its steps; decide.c asks the planner;
 * order.c makes the order of handing over; first.c tells which jobs wait behind one that does not
 * fit; publish.c writes down what was decided.
 */
#ifndef STAGES_PLANNING_INSIDE_H
#define STAGES_PLANNING_INSIDE_H

#include "spool/plan_file.h"
#include "stages/planning/backfill.h"
#include "stages/planning/pools.h"

struct planning {
    struct stage *stage;
    struct executor *executor;
    struct job_cache *job_cache;
    struct runs *runs;
    bool on, looked;          /* looked: whether it is on at the start is known */
    int64_t due, made;        /* of clock_elapsed() */
    int64_t took;             /* the last plan, milliseconds */
    struct timespec changed;  /* submitted/, before the last plan */
    bool answers;             /* the executor takes submissions now */
    bool told;                /* the executor has told its capacity ... */
    struct capacity capacity; /* ... this was it, last */
    struct capacity left; /* the same, and what is free less what jobs that wait there will take */
    struct capacity growable; /* `left` less what is handed over by the plan */
    /* Of the last plan: */
    int64_t now; /* time of day */
    struct cached_job *
        *order; /* all jobs, in the order of submission; NULL before the first plan */
    size_t order_count;
    char (*handing)[ID_SIZE]; /* to be handed over */
    size_t handing_count, handed;
    struct buffer wanted;      /* types of GPU that others wait for */
    struct backfill *backfill; /* NULL: the scheduler keeps those that wait */
    char first[ID_SIZE];       /* keeps its place: it has no deadline, and does not fit; or "" */
    bool more;                 /* some wait to be rendered again: it is planned again at once */
};

/* Ask the planner, pool by pool: what each job is given is in its plan and in `next`.  `lines` gets a
 * line for each pool, whose names are the arena's. */
void planning_decide(struct planning *planning, struct arena *arena, struct plan_file *lines);

/* Mark those without a deadline that stay behind the first that does not fit (cached_job.behind). */
void planning_first_keep(struct planning *planning);

/* Put all jobs in order, and choose those to submit now, of which there are *count.  To be freed with free(). */
struct cached_job **planning_order(struct planning *planning, size_t *count);

/* Render those of them again, in processes of their own, that are to have another size: up to a second.
 * One that was not done goes as it is, if there is room for that.  Nothing else is done meanwhile, so only
 * so many are: the others (NULL then) wait for the next plan, which is made at once. */
void planning_order_rerender(struct planning *planning, struct cached_job **due, size_t count);

/* List those of them that are handed over. */
void planning_order_hand_over(struct planning *planning, struct cached_job *const *due,
                              size_t count);

/* Write promises and requests, durably, then DIR/plan. */
void planning_publish(struct planning *planning, struct arena *arena, struct plan_file *lines);

#endif
