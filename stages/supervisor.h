/* stages/supervisor.h - dlspool run: start the four stages, keep them up, stop them in order
 *
 * One supervisor serves a spool at a time: it holds a lock on <spool>/.lock, in which stand its
 * host and process number.  Another one stands by and takes over when the lock is free.  The
 * stages inherit the lock's descriptor, so it is free only when the last of them has gone.
 */
#ifndef STAGES_SUPERVISOR_H
#define STAGES_SUPERVISOR_H

#include <stdbool.h>

#include "base/error.h"
#include "spool/spool.h"

/* Serve until told to stop (SIGTERM, SIGINT), or, with `drain`, until nothing is left to do.
 * 0, or -1 and a sentence. */
int supervise(const char *directory, bool drain, struct error *error);

/* Is the spool being served?  1 yes (and `who`, at least 128 bytes, says by which host and
 * process), 0 no, -1 it cannot be told. */
int supervisor_present(const struct spool *spool, char *who, size_t size);

#endif
