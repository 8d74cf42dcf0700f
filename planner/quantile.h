/* planner/quantile.h - weighted medians, and the spread of samples about them
 *
 * A sample of weight 2 counts as two of weight 1.  Weights are more than 0.
 */
#ifndef PLANNER_QUANTILE_H
#define PLANNER_QUANTILE_H

#include <stddef.h>

struct sample {
    double value, weight;
};

/* Sorts the samples.  0 when there are none. */
double quantile_median(struct sample *samples, size_t count);

/* 1.4826 times the median absolute deviation from `median`, which is the standard deviation for
 * normally distributed samples.  Overwrites the samples. */
double quantile_spread(struct sample *samples, size_t count, double median);

#endif
