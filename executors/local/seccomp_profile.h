/* executors/local/seccomp_profile.h - which system calls the tasks of jobs may make
 *
 * podman's own profile lets a process make a user namespace, in which it has all capabilities: over nothing that is
 * anybody else's, but with much more of the kernel to attack.  Here is that profile without it, as Docker's and
 * containerd's are.
 */
#ifndef EXECUTORS_LOCAL_SECCOMP_PROFILE_H
#define EXECUTORS_LOCAL_SECCOMP_PROFILE_H

#include "base/error.h"
#include "base/text.h"

#define SECCOMP_PROFILE_FILE "seccomp.json"

/* Append the profile `source`, a file of podman's, without user namespaces.  -1 and a sentence when it
 * cannot be read. */
int seccomp_profile_narrow(struct text source, struct buffer *out, struct error *error);

/* Write SECCOMP_PROFILE_FILE into a directory, made of the profile that podman takes by itself on this
 * machine.  -1 and a sentence on failure, also where podman has none in a file. */
int seccomp_profile_write(int directory, struct error *error);

#endif
