/* base/large_sum.h - a sum that does not overflow, however large its numbers are
 *
 * What is added can be taken away again: of up to two million numbers the sum is exact.
 */
#ifndef BASE_LARGE_SUM_H
#define BASE_LARGE_SUM_H

#include <stdint.h>

enum { LARGE_SUM_BITS = 40 }; /* of the low parts */

/* The sums of the low bits of all numbers, and of what is above them. */
struct large_sum {
    int64_t low, high;
};

/* A number that is not negative: added with a sign of 1, taken away with -1. */
static inline void large_sum_add(struct large_sum *sum, int64_t number, int sign)
{
    sum->low += sign * (number & ((INT64_C(1) << LARGE_SUM_BITS) - 1));
    sum->high += sign * (number >> LARGE_SUM_BITS);
}

/* At most an eighth of what an int64_t holds, so that some of these can be added. */
static inline int64_t large_sum_value(const struct large_sum *sum)
{
    const int64_t most = INT64_MAX / 8;
    int64_t high = sum->high + (sum->low >> LARGE_SUM_BITS);
    if (high >= most >> LARGE_SUM_BITS)
        return most;
    return high * (INT64_C(1) << LARGE_SUM_BITS) +
           (sum->low & ((INT64_C(1) << LARGE_SUM_BITS) - 1));
}

#endif
