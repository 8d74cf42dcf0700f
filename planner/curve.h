/* planner/curve.h - how long a unit takes at each size, from the sizes at which that was measured
 *
 * Between and around measured sizes it follows T(k) = s + p/k, with s and p not negative and the least
 * squares of relative errors.  Where there is no more to go by than one size, a pessimistic guess: to
 * grow by a factor gains its square root, to shrink by one loses all of it.  The same guess is what
 * is believed beyond twice the largest measured size, and below half of the smallest.
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
    /* Of the CPUs at the largest point, the share that is used; negative: not known, or sizes
     * do not count CPUs (thousandths). */
    double use;
    double fixed, divided; /* s and p, set by curve_fit() */
};

static const struct curve empty_curve = {.use = -1};

/* Add a measured size, or put its time in place of what was measured of it before.  More than there
 * is room for are left out. */
void curve_add(struct curve *curve, double size, double time);

/* After the last was added. */
void curve_fit(struct curve *curve);

/* Seconds for a unit; of a curve without points 0. */
double curve_time(const struct curve *curve, double size);

#endif
