/* base/signals.h - the signals that the processes of the daemon take
 *
 * What a process takes is read from a descriptor, never in a handler.  What means nothing to it is ignored, so
 * that it does not end it: above all SIGPIPE, of a reader of messages that has ended.  Programs that it
 * executes begin with the defaults.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

#include "base/error.h"

/* Block these signals and open a signalfd(2) for them, close-on-exec and non-blocking, which the caller closes.
 * `before`, when it is not NULL, gets the mask as it was.  -1 and a sentence on failure. */
int signals_take(const int *signals, size_t count, sigset_t *before, struct error *error);

/* Ignore the signals that end a process without a reason in it: PIPE, USR1, USR2, ALRM, VTALRM, PROF and IO;
 * HUP, too, when it is not taken. */
void signals_ignore(void);

/* Before a program is executed: nothing is blocked, and each signal does what it does by default. */
void signals_reset(void);

#endif
