/* planner/spare.h - capacity that the plan leaves free now, given where it gains most */
#ifndef PLANNER_SPARE_H
#define PLANNER_SPARE_H

#include "planner/plan.h"

/* Raise the `give` of the plan's jobs, a level at a time, until nothing that fits gains.  `lent` of
 * the capacity goes to jobs without a deadline before the others come. */
void spare_give(struct plan *plan, const struct plan_state *state, int lent);

#endif
