/* base/heartbeat.h - a process shows another that it makes progress
 *
 * The other one provides a heart in shared memory.  heartbeat() is called wherever work may take
 * long: while waiting for an answer, between two batches, and when idle.  It costs a look at the
 * clock, and nothing without a heart.
 */
#ifndef BASE_HEARTBEAT_H
#define BASE_HEARTBEAT_H

#include <stdint.h>

struct heart {
    volatile int64_t beat; /* of clock_elapsed: the last call */
    int64_t interval;      /* the longest sleep between two beats, in milliseconds */
};

/* The heart of this process from now on; NULL: it has none. */
void heartbeat_set(struct heart *heart);
void heartbeat(void);
/* Beat before a sleep of `milliseconds`.  Returns how long to sleep at most before the next
 * beat. */
int64_t heartbeat_nap(int64_t milliseconds);

#endif
