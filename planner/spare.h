/* planner/spare.h - gives capacity that the plan leaves free now to where it gains most */
#ifndef PLANNER_SPARE_H
#define PLANNER_SPARE_H

#include "planner/plan.h"

/* Raise the `give` of the plan's jobs, one level at a time, until no raise that fits gains
 * anything.  `lent` of the capacity goes to jobs without a deadline first. */
void spare_raise(struct plan *plan, const struct plan_state *state, int lent);

#endif
