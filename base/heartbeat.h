/* base/heartbeat.h - a process shows another that it gets on
 *
 * The other one gives it a heart in memory that both share.  heartbeat() is called wherever work goes
 * on that may take long: where it waits for an answer, between two batches, when there is nothing to
 * do.  It costs a look at the clock, and nothing without a heart.
 */
#ifndef BASE_HEARTBEAT_H
#define BASE_HEARTBEAT_H

#include <stdint.h>

struct heart {
    volatile int64_t beat; /* of clock_elapsed: when it was called last */
    int64_t interval;      /* milliseconds that may be slept between two beats */
};

/* The heart of this process from now on; NULL: it has none. */
void heartbeat_set(struct heart *heart);
void heartbeat(void);
/* The same before a sleep of `milliseconds`: how long to sleep at most before the next one. */
int64_t heartbeat_nap(int64_t milliseconds);

#endif
