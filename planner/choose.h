/* planner/choose.h - chooses the jobs that are planned to meet their deadlines
 *
 * planner/plan.h describes the method.  Jobs are preferred in this order: firm jobs that were
 * promised, then the others from the cheapest on, then those beyond their owners' tokens
 * (planner/state.h).
 */
#ifndef PLANNER_CHOOSE_H
#define PLANNER_CHOOSE_H

#include "planner/plan.h"

/* Make the chosen candidates of the plan PART_PLANNED, with their shares, and the others
 * PART_DROPPED. */
void choose(struct plan *plan, const struct plan_state *state);

#endif
