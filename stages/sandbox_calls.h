/* stages/sandbox_calls.h - which system calls a confined stage can make: seccomp
 *
 * A list of what is allowed, in sandbox_calls.c with a reason each.  All others fail: with ENOSYS
 * if they are newer than Linux 5.0, so that the C library does without, else with EPERM.  None ends the
 * process, so what was forgotten shows as a sentence in the log.
 */
#ifndef STAGES_SANDBOX_CALLS_H
#define STAGES_SANDBOX_CALLS_H

#include "base/error.h"
#include "stages/sandbox_files.h"

/* Confine this process for good; needs no_new_privs.  Says so, and returns 0, where the kernel has no
 * seccomp filters. */
int sandbox_calls_restrict(enum sandbox_reader reader, struct error *error);

#endif
