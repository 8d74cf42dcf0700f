/* stages/planning/budget.h - what each user's deadlines may still claim of a pool
 *
 * A day of the pool's capacity times `percent` is what one user may have promised within 24 hours.
 * What the user's deadline jobs have held within the last 24 hours (history/runs, and what runs) is taken off.
 * The planner takes jobs beyond it into a plan after all others; nobody is refused.  A percentage of 0 is
 * no bound; users then only take turns.
 */
#ifndef STAGES_PLANNING_BUDGET_H
#define STAGES_PLANNING_BUDGET_H

#include "stages/planning/pools.h"

struct budget {
    double *tokens; /* capacity times seconds, of each owner */
    size_t count;
};

/* Of the pool's jobs, whose plan.owner is set: -1 for those without a deadline.  budget_free(). */
void budget_make(struct budget *budget, const struct pool *pool, const struct history *history,
                 int capacity, int percent, int64_t now);
void budget_free(struct budget *budget);

#endif
