/* job/grant.h - what a site gives to a task beyond what every task has */
#ifndef JOB_GRANT_H
#define JOB_GRANT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct grant {
    const struct text *capabilities; /* of Linux, as "IPC_LOCK" */
    size_t capability_count;
    const struct text *devices; /* absolute paths below /dev */
    size_t device_count;
    bool host_network; /* the machine's own network */
};

#endif
