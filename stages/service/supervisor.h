/* stages/service/supervisor.h - dlspool run: starts the four stages, and prune where `keep` is set,
 * restarts those that end, and stops them in order
 *
 * One supervisor serves a spool at a time (stages/lease.h); another one stands by and takes over.
 * The stages inherit the lock's descriptor, so the lock is free only when the last of them has
 * ended.
 */
#ifndef STAGES_SERVICE_SUPERVISOR_H
#define STAGES_SERVICE_SUPERVISOR_H

#include <stdbool.h>

#include "base/error.h"

/* Serve until told to stop (SIGTERM, SIGINT), or, with `drain`, until nothing is left to do.
 * 0, or -1 and a sentence. */
int supervisor_run(const char *directory, bool drain, struct error *error);

#endif
