/* spool/retry_when.c - what a failed job waits for before it is retried */
#include "spool/retry_when.h"

static const char *const when_names[] = {"never", "at", "room", "executor", "change"};

const char *retry_when_name(enum retry_when when)
{
    return when_names[when];
}
