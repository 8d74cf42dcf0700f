/* planner/curve.h - how long a unit takes at each size, from measurements at some sizes
 *
 * Between and around measured sizes the curve is T(k) = s + p/k, with s and p not negative, fitted
 * by least squares of the relative errors.  With a single measured size it is a pessimistic guess:
 * growing by a factor f speeds up by sqrt(f), shrinking by f slows down by f.  The same guess is
 * used above twice the largest measured size and below half of the smallest.
 */
#ifndef PLANNER_CURVE_H
#define PLANNER_CURVE_H

#include <stdbool.h>
#include <stddef.h>

enum { CURVE_MOST_POINTS = 24 };

struct curve_point {
    double size, time; /* seconds for a unit */
};

struct curve {
    struct curve_point points[CURVE_MOST_POINTS]; /* ascending by size */
    size_t count;
    /* Share of the CPUs at the largest point that is used; negative: unknown, or sizes do not count
     * CPUs (thousandths). */
    double use;
    double fixed, divided; /* s and p, set by curve_fit() */
};

static const struct curve empty_curve = {.use = -1};

/* Add a measured size, or replace the time of one that was added before.  Sizes beyond the capacity
 * of the curve are ignored. */
void curve_add(struct curve *curve, double size, double time);

/* Fit the curve, after the last point was added. */
void curve_fit(struct curve *curve);

/* Seconds for a unit; 0 for a curve without points. */
double curve_time(const struct curve *curve, double size);

#endif
