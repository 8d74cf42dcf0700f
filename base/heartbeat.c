/* base/heartbeat.c - a process shows another that it makes progress */
#include "base/heartbeat.h"

#include <stddef.h>

#include "base/clock.h"

static struct heart *own;

void heartbeat_set(struct heart *heart)
{
    own = heart;
}

void heartbeat(void)
{
    if (own)
        own->beat = clock_elapsed();
}

int64_t heartbeat_nap(int64_t milliseconds)
{
    heartbeat();
    return own && own->interval < milliseconds ? own->interval : milliseconds;
}
