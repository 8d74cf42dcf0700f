/* stages/planning/past.h - gives the predictor (planner/predict.h) what the spool knows of jobs */
#ifndef STAGES_PLANNING_PAST_H
#define STAGES_PLANNING_PAST_H

#include "planner/predict.h"
#include "spool/history.h"

/* The runs of the history.  predict_past_free() ends it; it shares no memory with the history. */
struct predict_past *past_of(const struct history *history);

/* The size of a plan: GPUs in all if the job has any, else thousandths of a processor in all, when
 * it has the size `size` (job/sizes.h; of a job of fixed size, anything).  At least 1. */
int past_plan_size(const struct job_record *record, int64_t size);

/* The question for a job; its texts are those of the record.  `progress` is what was measured of
 * the job, or NULL.  `running`: it runs now; then progress is extrapolated from the last
 * measurement to now, by one unit at most. */
void past_job(const struct job_record *record, const struct progress *progress, bool running,
              int64_t now, struct predict_job *job);

#endif
