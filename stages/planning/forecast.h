/* stages/planning/forecast.h - what the planner is told of a job: its facts, its progress and
 * predictions
 *
 * `units`, summed over all tasks of a job, are GPUs in a pool of GPUs and thousandths of a CPU in
 * the pool of CPUs.  Times of a plan are seconds since 1970.
 *
 * A guess, or the runs of other jobs, never keep a job from being tried.  So a job whose run time
 * is unknown, and one that has not run yet and by the runs of others cannot meet its deadline, are
 * planned without their deadline, as best effort, until they show progress.  A job whose deadline
 * has passed is planned as best effort, too, since the planner would otherwise let it wait for all
 * others.  No size is changed because of a guess: a job whose run time is unknown gets the size
 * that its user asked for, or a smaller one where there is not enough.  A change that no deadline
 * needs must save at least a minute and twice what it costs.
 */
#ifndef STAGES_PLANNING_FORECAST_H
#define STAGES_PLANNING_FORECAST_H

#include "stages/planning/past.h"
#include "stages/planning/job_cache.h"
#include "stages/planning/runs.h"

/* Facts that are the same for all jobs of a plan. */
struct forecast_terms {
    int64_t now; /* time of day */
    const struct runs *runs;
    int overdue;      /* what overdue_look() returned */
    int64_t dwell;    /* how long a size is kept at least, milliseconds */
    bool as_they_are; /* capacity is unknown: jobs keep the sizes that they have */
};

/* Units of its pool that the job takes at that size. */
int forecast_units(const struct cached_job *job, int64_t size);
/* The largest of the job's sizes that takes at most `units` units; 0: none. */
int64_t forecast_size(const struct cached_job *job, int units);

/* Predict what is left of the job, if that may have changed since last time, and fill in job->plan
 * except the owner. job->key must be set. */
void forecast_job(struct cached_job *job, const struct forecast_terms *terms);

/* Leave it no size above this one, of those that it can have. */
void forecast_limit(struct cached_job *job, int64_t size);

/* Is the job planned without its deadline, because it is on trial or the deadline has passed? */
bool forecast_is_trial(const struct cached_job *job);

/* Is the job predicted (at the planning quantile) to miss its deadline with this many units? */
bool forecast_misses(const struct cached_job *job, int64_t now, int units);

/* Seconds from when the job is given this many units to its end, including a start or change: at
 * the planning quantile when `late`, else the median.  INFINITY for 0 units. */
double forecast_seconds(const struct cached_job *job, int units, bool late);

/* When the plan predicts the job to be done, time of day; 0: it does not foresee an end. */
int64_t forecast_finish(const struct cached_job *job, int64_t now, bool late);

#endif
