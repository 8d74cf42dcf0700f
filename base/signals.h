/* base/signals.h - signal handling of the daemon's processes
 *
 * Signals that a process handles are read from a descriptor, never in a handler.  Others are
 * ignored if they would end it: above all SIGPIPE, when the reader of its messages has ended.
 * Programs that it executes start with the default actions.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

#include "base/error.h"

/* Block these signals and open a signalfd(2) for them, close-on-exec and non-blocking, which the caller closes.
 * `before`, when it is not NULL, gets the mask as it was.  -1 and a sentence on failure. */
int signals_take(const int *signals, size_t count, sigset_t *before, struct error *error);

/* Ignore signals that would end the process for no good reason: PIPE, USR1, USR2, ALRM, VTALRM,
 * PROF and IO; HUP, too, unless it is taken. */
void signals_ignore(void);

/* Reset before executing a program: no signal is blocked, and each has its default action. */
void signals_reset(void);

#endif
