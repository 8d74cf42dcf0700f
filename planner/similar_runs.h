/* planner/similar_runs.h - runs of the past that are like a job, and what they say in the middle
 *
 * The inside of planner/predict.h.
 */
#ifndef PLANNER_SIMILAR_RUNS_H
#define PLANNER_SIMILAR_RUNS_H

#include "planner/curve.h"
#include "planner/predict_input.h"
#include "planner/quantile.h"

/* What is wanted of a run. */
enum aspect {
    ASPECT_TOTAL,   /* units of a whole job */
    ASPECT_SECONDS, /* of a whole job */
    ASPECT_RATE,    /* of a job that finished; also of one that has not, where it is of the
                                   same arguments */
    ASPECT_START_UP,
    ASPECT_RESTART,
    ASPECT_RESIZE,
    ASPECT_TAIL,
    ASPECTS
};

enum {
    SIMILAR_MOST = 200, /* runs that are looked at, the newest: the weight of others is nothing */
    SIMILAR_ENOUGH = 3  /* runs that are believed */
};

struct similar_runs {
    enum similarity similarity;
    const struct predict_run *runs[SIMILAR_MOST]; /* that have the aspect, the newest first */
    double weights[SIMILAR_MOST];
    size_t count; /* 0: there are none */
};

/* The runs of the finest level of similarity that has enough with that aspect.  Of rates and of costs
 * (start-up ... tail), one of the same arguments is enough.  Costs are not taken from runs that are less
 * alike than by their template, the tail not from other users' by that. */
void similar_runs_find(const struct predict_past *past, const struct predict_job *job,
                       enum aspect aspect, struct similar_runs *similar);

/* Of the aspect: median and spread of the logarithm, for TOTAL and SECONDS; the latter brought to the
 * size `to` by the curve, if that has points. */
double similar_runs_median(const struct similar_runs *similar, enum aspect aspect,
                           const struct curve *curve, double to, double *spread);

/* The time of a unit (for SECONDS, of a whole job) at each size: medians; and the spread of the
 * logarithms about them.  How much faster one gets by more is another matter for each set of arguments
 * (with another batch size it differs by a fifth, often by half): runs that are less alike give one
 * point only, at the size `wanted`. */
void similar_runs_curve(const struct similar_runs *similar, enum aspect aspect, int wanted,
                        struct curve *curve, double *spread);

/* The median of a cost, newer runs counting for more; `otherwise` without runs. */
double similar_runs_cost(const struct similar_runs *similar, enum aspect aspect, double otherwise);

#endif
