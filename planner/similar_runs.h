/* planner/similar_runs.h - past runs that are similar to a job, and their medians
 *
 * Internal to planner/predict.h.
 */
#ifndef PLANNER_SIMILAR_RUNS_H
#define PLANNER_SIMILAR_RUNS_H

#include "planner/curve.h"
#include "planner/predict_input.h"
#include "planner/quantile.h"

/* The quantity that is wanted from a run. */
enum aspect {
    ASPECT_TOTAL,   /* units of a whole job */
    ASPECT_SECONDS, /* of a whole job */
    ASPECT_RATE,    /* of a finished job; with the same arguments, also of an unfinished one */
    ASPECT_START_UP,
    ASPECT_RESTART,
    ASPECT_RESIZE,
    ASPECT_TAIL,
    ASPECTS
};

enum {
    SIMILAR_MOST =
        200, /* number of runs that are examined, the newest; older ones weigh next to nothing */
    SIMILAR_ENOUGH = 3 /* number of runs that is enough */
};

struct similar_runs {
    enum similarity similarity;
    const struct predict_run *runs[SIMILAR_MOST]; /* runs that have the aspect, the newest first */
    double weights[SIMILAR_MOST];
    size_t count; /* 0: there are none */
};

/* Find the runs of the finest level of similarity that has enough with that aspect.  For rates and
 * costs (start-up ... tail) one run with the same arguments is enough.  Costs are taken only from
 * runs of at least the same template, the tail not from other users' runs of it. */
void similar_runs_find(const struct predict_past *past, const struct predict_job *job,
                       enum aspect aspect, struct similar_runs *similar);

/* Median and spread of the logarithm of the aspect, for TOTAL and SECONDS; SECONDS are converted to
 * the size `to` by the curve, if that has points. */
double similar_runs_median(const struct similar_runs *similar, enum aspect aspect,
                           const struct curve *curve, double to, double *spread);

/* The median time of a unit (for SECONDS, of a whole job) at each size, and the spread of the
 * logarithms about the medians.  The speed-up depends on the arguments (with another batch size it
 * differs by a fifth, often by half), so runs that are less similar give only one point, at the
 * size `wanted`. */
void similar_runs_curve(const struct similar_runs *similar, enum aspect aspect, int wanted,
                        struct curve *curve, double *spread);

/* The median of a cost, in which newer runs weigh more; `otherwise` when there are no runs. */
double similar_runs_cost(const struct similar_runs *similar, enum aspect aspect, double otherwise);

#endif
