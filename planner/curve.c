/* planner/curve.c - how long a unit takes at each size, from measurements at some sizes */
#include "planner/curve.h"

#include <math.h>
#include <string.h>

static const double one_cpu = 1000;
static const double idle =
    0.5; /* below this share of busy CPUs, more CPUs do not make a job faster */

void curve_add(struct curve *curve, double size, double time)
{
    size_t at = 0;
    while (at < curve->count && curve->points[at].size < size)
        at++;
    if (at < curve->count && curve->points[at].size == size) {
        curve->points[at].time = time;
        return;
    }
    if (curve->count == CURVE_MOST_POINTS)
        return;
    memmove(&curve->points[at + 1], &curve->points[at],
            (curve->count - at) * sizeof(curve->points[0]));
    curve->points[at] = (struct curve_point){size, time};
    curve->count++;
}

/* Fit the least squares of (s + p/k)/T - 1; if s or p would be negative, fit the other one
 * alone. */
static void fit_points(struct curve *curve)
{
    double ss = 0, sp = 0, pp = 0, s1 = 0, p1 = 0;
    for (size_t i = 0; i < curve->count; i++) {
        double s = 1 / curve->points[i].time;
        double p = s / curve->points[i].size;
        ss += s * s;
        sp += s * p;
        pp += p * p;
        s1 += s;
        p1 += p;
    }
    double determinant = ss * pp - sp * sp;
    if (determinant > 1e-12 * ss * pp) {
        curve->fixed = (s1 * pp - p1 * sp) / determinant;
        curve->divided = (p1 * ss - s1 * sp) / determinant;
    } else {
        curve->fixed = -1;
    }
    if (curve->divided < 0) {
        curve->divided = 0;
        curve->fixed = s1 / ss;
    } else if (curve->fixed < 0) {
        curve->fixed = 0;
        curve->divided = p1 / pp;
    }
}

/* Fit a single point by the average number of busy CPUs: model one CPU as always busy, and all
 * as busy part of the time. */
static void fit_use(struct curve *curve)
{
    double size = curve->points[0].size, time = curve->points[0].time;
    double busy = curve->use * size;
    double parallel = size > one_cpu ? (busy - one_cpu) / (size - one_cpu) : 1;
    parallel = parallel < 0 ? 0 : parallel > 1 ? 1 : parallel;
    curve->fixed = (1 - parallel) * time;
    curve->divided = parallel * size * time;
}

void curve_fit(struct curve *curve)
{
    if (curve->count >= 2)
        fit_points(curve);
    else if (curve->count == 1 && curve->use >= 0)
        fit_use(curve);
}

static double time_fitted(const struct curve *curve, double size)
{
    return curve->fixed + curve->divided / size;
}

static double time_grown(double time, double from, double to)
{
    return time * sqrt(from / to);
}

static double time_shrunk(double time, double from, double to)
{
    return time * from / to;
}

/* Scale from a measured point by the ratio that the fit gives. */
static double from_point(const struct curve *curve, const struct curve_point *point, double size)
{
    return point->time * time_fitted(curve, size) / time_fitted(curve, point->size);
}

static double time_above(const struct curve *curve, double size)
{
    const struct curve_point *last = &curve->points[curve->count - 1];
    double guess = time_grown(last->time, last->size, size);
    if (curve->count == 1)
        return curve->use >= 0 && curve->use < idle ? fmax(guess, from_point(curve, last, size))
                                                    : guess;
    double time = from_point(curve, last, size), edge = 2 * last->size;
    return size <= edge ? time : fmax(time, time_grown(from_point(curve, last, edge), edge, size));
}

/* The serial part uses one CPU, so below one CPU everything is slower. */
static double below_by_use(const struct curve *curve, double size)
{
    const struct curve_point *first = &curve->points[0];
    double busy = fmin(curve->use * first->size, one_cpu);
    double least = fmin(one_cpu, first->size);
    if (size >= least)
        return from_point(curve, first, size);
    return from_point(curve, first, least) * fmax(1, busy / size);
}

static double time_below(const struct curve *curve, double size)
{
    const struct curve_point *first = &curve->points[0];
    if (curve->count == 1)
        return curve->use >= 0 ? below_by_use(curve, size)
                               : time_shrunk(first->time, first->size, size);
    double edge = first->size / 2;
    return size >= edge ? from_point(curve, first, size)
                        : time_shrunk(from_point(curve, first, edge), edge, size);
}

/* Interpolate by the fit, scaled to go through both points. */
static double time_between(const struct curve *curve, const struct curve_point *low, double size)
{
    const struct curve_point *high = low + 1;
    double part = log(size / low->size) / log(high->size / low->size);
    double at_low = from_point(curve, low, size), at_high = from_point(curve, high, size);
    return pow(at_low, 1 - part) * pow(at_high, part);
}

double curve_time(const struct curve *curve, double size)
{
    if (curve->count == 0)
        return 0;
    if (size < curve->points[0].size)
        return time_below(curve, size);
    for (size_t i = 0; i < curve->count; i++) {
        if (size == curve->points[i].size)
            return curve->points[i].time;
        if (i + 1 < curve->count && size < curve->points[i + 1].size)
            return time_between(curve, &curve->points[i], size);
    }
    return time_above(curve, size);
}
