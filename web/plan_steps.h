/* web/plan_steps.h - how much of a pool the last plan gives, from when it was made until its jobs are likely to end
 *
 * A job has what the plan gives it until its likely end; one whose end is not foreseen, until the last of the others'.
 * What becomes free is given by a later plan, so jobs that wait for room are not in it.
 */
#ifndef WEB_PLAN_STEPS_H
#define WEB_PLAN_STEPS_H

#include "spool/plan_file.h"

struct plan_step {
    int64_t from;        /* time of day; until the next step's, the last until the end */
    int64_t due, others; /* what jobs with a deadline have, and others: as planned_pool.capacity */
};

struct plan_steps {
    struct plan_step *items; /* in the arena; none: no job has anything whose end is foreseen */
    size_t count;
    int64_t until;
};

/* Of more jobs than that, those whose ends are near to each other end in one step, at the last of the ends or later. */
enum { PLAN_STEPS_MOST = 200 };
struct plan_steps plan_steps_of(const struct plan_file *plan, struct text pool,
                                struct arena *arena);

#endif
