/* stages/planning/forecast.h - what a plan is told of a job: its facts, its progress and what is predicted
 *
 * A job of a pool of GPUs counts in GPUs, one of the processors in thousandths of one, over all its
 * tasks (`units`).  Times of a plan are seconds since 1970.
 *
 * What rests on a guess or on other jobs' runs only never keeps a job from being tried.  So one whose
 * time is not known, and one that by others' runs cannot meet its deadline and has not run itself,
 * take part without their deadline, as best effort: as soon as they show progress they are planned.
 * So does one whose deadline is over, which the planner would let wait for all others.
 * Nor is anything changed upon a guess: a job whose time is not known has the size that its user asked
 * for, or, where there is not so much, a smaller one.  And a change that no deadline needs has to save
 * a minute, and twice what it costs.
 */
#ifndef STAGES_PLANNING_FORECAST_H
#define STAGES_PLANNING_FORECAST_H

#include "stages/planning/past.h"
#include "stages/planning/job_cache.h"
#include "stages/planning/runs.h"

/* What holds for all jobs of a plan. */
struct forecast_terms {
    int64_t now; /* time of day */
    const struct runs *runs;
    int64_t dwell;    /* a size is kept for so long, milliseconds */
    bool as_they_are; /* capacity is not known: no other sizes than those that jobs have */
};

/* What it takes of its pool at that size. */
int forecast_units(const struct cached_job *job, int64_t size);
/* The largest of the sizes that it can have that takes no more than so many units; 0: none. */
int64_t forecast_size(const struct cached_job *job, int units);

/* Predict what is left of it, if that may be another than last time, and fill in job->plan, but for
 * the owner.  job->key must be set. */
void forecast_job(struct cached_job *job, const struct forecast_terms *terms);

/* Is it planned without its deadline: on trial, or because that is over? */
bool forecast_is_trial(const struct cached_job *job);

/* Is it predicted (at the quantile that is planned with) to miss its deadline with so many units? */
bool forecast_misses(const struct cached_job *job, int64_t now, int units);

/* Seconds from when it is given so many units to its end, a start or change included: `late` at the
 * quantile that is planned with, else the median.  INFINITY for none. */
double forecast_seconds(const struct cached_job *job, int units, bool late);

/* When it is predicted to be done by the plan, time of day; 0: that is not foreseen. */
int64_t forecast_finish(const struct cached_job *job, int64_t now, bool late);

#endif
