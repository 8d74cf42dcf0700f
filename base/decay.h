/* base/decay.h - amounts that count less the older they are: half after each half-life
 *
 * Times are milliseconds.  What is dated after now, because a clock was set back, counts as of now.
 */
#ifndef BASE_DECAY_H
#define BASE_DECAY_H

#include <stdint.h>

/* What is left of 1 after that time: from 1 to 0. */
double decay_factor(int64_t age, int64_t half_life);

/* What is left now, on average, of each 1 that came evenly from `begin` to `end`. */
double decay_mean(int64_t begin, int64_t end, int64_t now, int64_t half_life);

#endif
