/* stages/planning/resize_requests.h - which running jobs are to have another size, and why
 *
 * What the plan gives is what is asked for: what would not pay, or may not be touched yet, the planner has
 * been told (struct plan_job), so that no room is kept free for a change that is not made.  Only, a
 * change that no deadline needs must have been wanted for a whole tick, so that nothing is done that the
 * next plan would take back.
 */
#ifndef STAGES_PLANNING_RESIZE_REQUESTS_H
#define STAGES_PLANNING_RESIZE_REQUESTS_H

#include "stages/planning/forecast.h"
#include "stages/shared/resize.h"

/* Is the job, which runs and was given job->next, to be changed now?  True, and the request.  `elapsed`:
 * of clock_elapsed(), `now`: time of day, `tick`: milliseconds. */
bool resize_request_for(struct cached_job *job, int64_t now, int64_t elapsed, int64_t tick,
                        struct resize_request *request);

#endif
