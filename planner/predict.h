/* planner/predict.h - how long a job will take, from what is known of it and of those before it
 *
 * Pure, as all of planner/.  In the order in which they are believed: what the job itself shows while
 * it runs (units and their windowed median); runs of the past, at the finest level of similarity of which enough
 * have finished; and a pessimistic guess.  Quantiles are those of the logarithm: median, and median
 * absolute deviation times 1.4826 as its spread.  Runs of the past weigh half as much for each twenty
 * that came after them.
 *
 * Sizes are those of plans: GPUs in all, or thousandths of a CPU in all where there are none,
 * so that jobs whose sizes are counted in other things teach each other.
 *
 * A job that is not counted in units is counted in seconds at the size that its user asked for: its
 * rate there is 1.  They run from its start to its end, so starting up is part of them.
 */
#ifndef PLANNER_PREDICT_H
#define PLANNER_PREDICT_H

#include <stdbool.h>

#include "planner/predict_input.h"
#include "planner/state.h"

struct prediction {
    bool known;                 /* otherwise there is nothing but a guess, on the safe side */
    bool live;                  /* it rests on what the job itself shows */
    enum similarity similarity; /* of the runs that it rests on, if it does not */
    size_t runs;                /* how many they are */
    double left, left_late;     /* units: median, and the quantile 0.8; more than 0 */
    struct plan_level levels[PREDICT_MOST_LEVELS]; /* for struct plan_job; only those at which it
                                                           is faster; at least one */
    size_t level_count;
    double start_up; /* seconds from its start to its first unit */
    double restart;  /* seconds that stopping and starting again cost, with what is done
                                   again since the last checkpoint */
    double resize;   /* seconds that another size costs where it is had in place */
};

/* `past` NULL: there is none. */
void predict(const struct predict_past *past, const struct predict_job *job,
             struct prediction *prediction);

/* Seconds that are left at the largest level of at most that size, start or restart not included;
 * `late`: at the quantile 0.8. */
double predict_seconds_left(const struct prediction *prediction, int size, bool late);

#endif
