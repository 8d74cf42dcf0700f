/* base/decay.c - amounts that count less the older they are */
#include "base/decay.h"

#include <math.h>

static const double LN_2 = 0.693147180559945309;

double decay_factor(int64_t age, int64_t half_life)
{
    return age <= 0 ? 1 : exp2(-(double)age / (double)half_life);
}

/* The integral of decay_factor() over a time, divided by its length. */
double decay_mean(int64_t begin, int64_t end, int64_t now, int64_t half_life)
{
    double last = decay_factor(now - end, half_life);
    end = end < now ? end : now;
    if (end <= begin)
        return last;
    double lives = (double)(end - begin) / (double)half_life;
    return -last * expm1(-lives * LN_2) / (lives * LN_2);
}
