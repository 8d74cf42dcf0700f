/* stages/sandbox.h - confines a stage that reads untrusted text
 *
 * After sandbox_enter() the process can read and write below the spool and read the system's
 * libraries and user names, and nothing else: no network, no other files, no new programs, no new
 * processes, no privileges.  It uses capabilities, no_new_privs, Landlock (from ABI 2, Linux 5.19)
 * and seccomp.  What the kernel lacks is left out, and the log says so.
 */
#ifndef STAGES_SANDBOX_H
#define STAGES_SANDBOX_H

#include "base/error.h"
#include "spool/spool.h"

/* Switch to the user (when run as root and `user` is not empty) and enter the sandbox.  -1 and a
 * sentence when that fails although the kernel supports it. */
int sandbox_enter(const struct spool *spool, struct text user, struct error *error);

#endif
