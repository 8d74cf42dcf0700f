/* commands/repeat.c - how long one of many times took, for options --repeat */
#include "commands/repeat.h"

#include <stdio.h>
#include <time.h>

double repeat_begin(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

double repeat_say(double begin, int times)
{
    double each = (repeat_begin() - begin) / times;
    fprintf(stderr, "rendered %d times, %.1f us each\n", times, each);
    return each;
}
