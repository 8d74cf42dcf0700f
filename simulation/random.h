/* simulation/random.h - random numbers that are the same everywhere, from a seed
 *
 * SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
 */
#ifndef SIMULATION_RANDOM_H
#define SIMULATION_RANDOM_H

#include <math.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* In [0, 1). */
static inline double random_uniform(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

/* A normal random number of mean 0 and standard deviation 1 (Box and Muller). */
static inline double random_normal(struct random *random)
{
    double radius = sqrt(-2 * log(1 - random_uniform(random)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(random));
}

#endif
