/* stages/sandbox.h - what a stage that reads strangers' text may still do
 *
 * After sandbox_enter() the process can read and write below the spool and read the system's
 * libraries and user names, and nothing else: no network, no other files, no new programs, no new
 * processes, no privileges.  By capabilities, no_new_privs, Landlock (from ABI 2, Linux 5.19) and
 * seccomp; what the kernel lacks is left out and said in the log.
 */
#ifndef STAGES_SANDBOX_H
#define STAGES_SANDBOX_H

#include "base/error.h"
#include "spool/spool.h"

/* Become the user (when run as root and `user` is not empty) and enter the sandbox.  -1 and a
 * sentence when that fails although the kernel could. */
int sandbox_enter(const struct spool *spool, struct text user, struct error *error);

#endif
