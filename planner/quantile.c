/* planner/quantile.c - medians of weighted samples, and their spread */
#include "planner/quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const struct sample *first = a, *second = b;
    if (first->value != second->value)
        return first->value < second->value ? -1 : 1;
    /* Sort equal values, too: then the rounded sum of weights does not depend on the input order. */
    return first->weight < second->weight ? -1 : first->weight > second->weight;
}

double quantile_median(struct sample *samples, size_t count)
{
    double all = 0, sum = 0;
    if (count == 0)
        return 0;
    qsort(samples, count, sizeof(*samples), by_value);
    for (size_t i = 0; i < count; i++)
        all += samples[i].weight;
    for (size_t i = 0; i < count; i++) {
        sum += samples[i].weight;
        if (sum > all / 2)
            return samples[i].value;
        if (sum == all / 2 && i + 1 < count)
            return (samples[i].value + samples[i + 1].value) / 2;
    }
    return samples[count - 1].value;
}

double quantile_spread(struct sample *samples, size_t count, double median)
{
    const double normal = 1.4826;
    for (size_t i = 0; i < count; i++)
        samples[i].value = fabs(samples[i].value - median);
    return normal * quantile_median(samples, count);
}
