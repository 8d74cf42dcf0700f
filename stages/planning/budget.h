/* stages/planning/budget.h - how much of a pool each user's deadlines may still claim
 *
 * Within 24 hours one user may be promised `percent` of what the pool delivers in a day, less what
 * the user's deadline jobs held in the last 24 hours (history/runs, and running jobs).  The planner
 * plans jobs beyond the budget after all others; no job is refused.  A percentage of 0 means no
 * budget; users then only take turns.
 */
#ifndef STAGES_PLANNING_BUDGET_H
#define STAGES_PLANNING_BUDGET_H

#include "stages/planning/pools.h"

struct budget {
    double *tokens; /* capacity times seconds, of each owner */
    size_t count;
};

/* Compute the budgets for the pool's jobs, and set their plan.owner: -1 for those without a
 * deadline.  End it by budget_free(). */
void budget_make(struct budget *budget, const struct pool *pool, const struct history *history,
                 int capacity, int percent, int64_t now);
void budget_free(struct budget *budget);

#endif
