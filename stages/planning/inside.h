/* stages/planning/inside.h - the inside of stages/planning/planning.h
 *
 * planning.c says when a plan is made and goes through its steps; decide.c asks the planner; rows.c finds what
 * limits.rows leave; order.c decides the order of submission; first.c finds the jobs that wait behind one that does
 * not fit; overdue.c says whose turn is overdue; publish.c writes down what was decided.
 */
#ifndef STAGES_PLANNING_INSIDE_H
#define STAGES_PLANNING_INSIDE_H

#include "spool/plan_file.h"
#include "stages/planning/backfill.h"
#include "stages/planning/pools.h"
#include "stages/planning/overdue.h"
#include "stages/planning/allowance.h"
#include "stages/shared/decayed_use.h"

struct planning {
    struct stage *stage;
    struct executor *executor;
    struct job_cache *job_cache;
    struct runs *runs;
    struct overdue *turns;
    const struct allowance *rows; /* NULL: none */
    struct decayed_use *shares;   /* NULL: owners take turns */
    bool on,
        looked; /* the directories were looked at, so that it is known whether planning is on */
    int64_t due, made;        /* of clock_elapsed() */
    int64_t took;             /* the last plan, milliseconds */
    struct timespec changed;  /* submitted/, before the last plan */
    bool answers;             /* the executor accepts submissions now */
    bool told;                /* the executor has reported its capacity ... */
    struct capacity capacity; /* ... which was this when last asked */
    struct capacity left; /* the same, except that what jobs waiting there will take is not free */
    struct capacity growable; /* `left` less what the plan submits */
    /* Of the last plan: */
    int64_t now; /* time of day */
    int overdue; /* what overdue_look() returned */
    struct cached_job *
        *order; /* all jobs, in the order of submission; NULL before the first plan */
    size_t order_count;
    char (*handing)[ID_SIZE]; /* to be handed over */
    size_t handing_count, handed;
    struct buffer wanted;      /* types of GPU that others wait for */
    struct backfill *backfill; /* NULL: the scheduler keeps those that wait */
    char first[ID_SIZE]; /* the job that has no deadline, does not fit and keeps its place; or "" */
    bool more;           /* some jobs still wait to be rendered again: plan again at once */
};

/* Ask the planner, pool by pool.  What each job is given is then in its plan and in `next`.
 * `lines` gets a line for each pool, whose name lies in the arena. */
void planning_decide(struct planning *planning, struct arena *arena, struct plan_file *lines);

/* Leave out of the plan the jobs that a row of limits.rows keeps from starting (cached_job.over), and the sizes that it
 * does not allow.  When all are forecast. */
void planning_rows_look(struct planning *planning);
/* Hand over also those of them that have not been told. */
void planning_rows_hand_over(struct planning *planning);
/* Do rows let a running job have its next size?  Then it counts. */
bool planning_rows_let_grow(const struct planning *planning, const struct cached_job *job);

/* Mark the jobs without a deadline that stay behind the first that does not fit
 * (cached_job.behind). */
void planning_first_keep(struct planning *planning);

/* Put all jobs in order and choose those to submit now; *count is their number.  The caller frees
 * the result with free(). */
struct cached_job **planning_order(struct planning *planning, size_t *count);

/* Render the jobs that change size again, in processes of their own, for up to a second.  A job
 * that was not rendered is submitted at its present size, if that fits.  Since nothing else is done
 * meanwhile, only a bounded number are rendered: the others (set to NULL) wait for the next plan,
 * which is made at once. */
void planning_order_rerender(struct planning *planning, struct cached_job **due, size_t count);

/* List those of the jobs that are submitted. */
void planning_order_hand_over(struct planning *planning, struct cached_job *const *due,
                              size_t count);

/* Write promises and requests, durably, then DIR/plan. */
void planning_publish(struct planning *planning, struct arena *arena, struct plan_file *lines);

#endif
