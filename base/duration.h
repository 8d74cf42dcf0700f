/* base/duration.h - durations as people write them */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include "base/clock.h"

/* Read a duration: a number with one of ms s m h d, or several in turn ("1h30m"), or a plain
 * number of seconds.  -1 when it is not one, is negative, or is over ten years. */
int duration_parse(struct text text, int64_t *milliseconds);

/* Read a duration as clocks and Slurm write it: minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes or days-hours:minutes:seconds.  Any number may be larger than a clock shows, as
 * for Slurm.  -1 when it is not one, or is over ten years. */
int duration_parse_clock(struct text text, int64_t *milliseconds);

/* Write a duration for people: "850 ms", "42 s", "3 min 5 s", "2 h 10 min", "5 d 3 h". */
const char *duration_format(int64_t milliseconds, char buffer[static CLOCK_TEXT_SIZE]);

#endif
