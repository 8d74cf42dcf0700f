/* planner/predict.h - predicts how long a job will take, from its own progress and from earlier
 * jobs
 *
 * Pure, like all of planner/.  The sources, the most trusted first: the job's own progress while it
 * runs (units and their windowed median); past runs, at the finest level of similarity at which
 * enough have finished; and a pessimistic guess.  Quantiles are those of the logarithm: the median,
 * and the median absolute deviation times 1.4826 as the spread.  The weight of a past run halves
 * with every twenty runs after it.
 *
 * Sizes are those of plans: total GPUs, or total thousandths of a CPU for jobs without GPUs, so
 * that jobs whose own sizes have different units can be compared.
 *
 * The units of a job that declares none are seconds at the size that its user asked for: its rate
 * at that size is 1.  They count from its start to its end, so they include starting up.
 */
#ifndef PLANNER_PREDICT_H
#define PLANNER_PREDICT_H

#include <stdbool.h>

#include "planner/predict_input.h"
#include "planner/state.h"

struct prediction {
    bool known;                 /* when false, the prediction is only a guess, on the safe side */
    bool live;                  /* it is based on the job's own progress */
    enum similarity similarity; /* of the past runs that it is based on, if not */
    size_t runs;                /* how many they are */
    double left, left_late;     /* units: median, and the quantile 0.8; more than 0 */
    /* for struct plan_job; only sizes at which the job is faster; at least one */
    struct plan_level levels[PREDICT_MOST_LEVELS];
    size_t level_count;
    double start_up; /* seconds from its start to its first unit */
    /* seconds that a stop and restart cost, including the work repeated since the last
     * checkpoint */
    double restart;
    double resize; /* seconds that a resize costs when it happens in place */
};

/* `past` NULL: there are no past runs. */
void predict(const struct predict_past *past, const struct predict_job *job,
             struct prediction *prediction);

/* Remaining seconds at the largest level of at most that size, without start or restart; `late`: at
 * the quantile 0.8. */
double predict_seconds_left(const struct prediction *prediction, int size, bool late);

#endif
