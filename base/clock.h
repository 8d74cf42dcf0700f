/* base/clock.h - the time of day, elapsed time, and how both are written
 *
 * Times of day are `int64_t` milliseconds since 1970-01-01T00:00Z; durations are milliseconds.
 * Written times are RFC 3339 in UTC with milliseconds: 2026-11-21T03:09:24.123Z.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#include "base/text.h"

enum { CLOCK_TEXT_SIZE = 32 }; /* bytes, with the final NUL */

#define CLOCK_DAY ((int64_t)24 * 60 * 60 * 1000) /* milliseconds */

int64_t clock_now(void);     /* time of day */
int64_t clock_elapsed(void); /* monotonic; only differences mean something */

/* For tests: take the time from these functions, or with NULL from the machine's clocks again. */
typedef int64_t clock_source(void);
void clock_replace(clock_source *now, clock_source *elapsed);

/* Write a time; returns `buffer`. */
const char *clock_format(int64_t time, char buffer[static CLOCK_TEXT_SIZE]);

/* The same for people, in the time zone of TZ, to the second and without the zone: 2026-11-21 04:09:24. */
const char *clock_local(int64_t time, char buffer[static CLOCK_TEXT_SIZE]);

/* Read what clock_format writes, and every RFC 3339 time with Z or an offset and at most
 * millisecond precision kept.  -1 when it is not one, or not of the years 0000 to 9999 in UTC. */
int clock_parse(struct text text, int64_t *time);

/* The day of a time in the time zone of TZ. */
void clock_local_day(int64_t time, int *year, int *month, int *day);

/* The time at which it is `second` (0 to 86399) seconds after midnight by the clocks of TZ's zone.
 * One that is left out when clocks are put forward is as late by the clocks of before.  -1 when the
 * month has no such day. */
int clock_from_local(int year, int month, int day, int second, int64_t *time);

/* The UTC date of a time as YYYY-MM-DD; returns `buffer`. */
const char *clock_date(int64_t time, char buffer[static CLOCK_TEXT_SIZE]);

#endif
