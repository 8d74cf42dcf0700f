/* stages/sandbox.h - confines a process that reads untrusted text
 *
 * After sandbox_enter() the process can use what it needs of the spool, and nothing else: no network, no
 * other files, no new programs or code, no new processes, no signals to others, no privileges but those
 * below.  It uses capabilities, no_new_privs, Landlock (from ABI 2, Linux 5.19; stages/sandbox_files.h) and
 * seccomp (stages/sandbox_calls.h).  What the kernel lacks is left out, and the log says so.
 *
 * What it cannot prevent is in docs/administrator.md, "If a process were taken over".
 */
#ifndef STAGES_SANDBOX_H
#define STAGES_SANDBOX_H

#include "base/error.h"
#include "stages/sandbox_files.h"

/* Switch to the user (when run as root and `user` is not empty) and enter the sandbox.  -1 and a
 * sentence when that fails although the kernel supports it. */
int sandbox_enter(const struct spool *spool, struct text user, enum sandbox_reader reader,
                  struct error *error);

/* Only the first: become the user, for good and without privileges.  Nothing where this is not root, or there is
 * none. */
int sandbox_become_user(struct text user, struct error *error);

/* Drop all capabilities but those of these bits, 1u << CAP_ of capabilities(7), below 32.  -1 and a sentence. */
int sandbox_keep_capabilities(unsigned int kept, struct error *error);

#endif
