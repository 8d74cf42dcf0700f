/* planner/choose.h - which jobs are planned to be done by their deadlines
 *
 * How is said in planner/plan.h.  Jobs are preferred in this order: firm ones that were promised, the
 * cheapest others, then those beyond their owners' tokens (planner/state.h).
 */
#ifndef PLANNER_CHOOSE_H
#define PLANNER_CHOOSE_H

#include "planner/plan.h"

/* Of the plan's candidates, PART_PLANNED with their shares, and the others PART_DROPPED. */
void choose(struct plan *plan, const struct plan_state *state);

#endif
