/* stages/planning/resize_requests.h - which running jobs should change size, and why
 *
 * The size that the plan gives is the size that is requested: the planner already knows which
 * changes would not pay or are not allowed yet (struct plan_job), so it reserves nothing for a
 * change that is not made.  The one exception: a change that no deadline needs must have been
 * planned for a whole tick, so that the next plan does not undo it.
 */
#ifndef STAGES_PLANNING_RESIZE_REQUESTS_H
#define STAGES_PLANNING_RESIZE_REQUESTS_H

#include "stages/planning/forecast.h"
#include "stages/shared/resize.h"

/* Should the job, which runs and was given job->next, be resized now?  Then true, and the request.
 * `elapsed`: of clock_elapsed(), `now`: time of day, `tick`: milliseconds. */
bool resize_request_for(struct cached_job *job, int64_t now, int64_t elapsed, int64_t tick,
                        struct resize_request *request);

#endif
