/* executors/local/kernel_log.h - which processes the kernel killed for want of memory
 *
 * podman 4.3 does not know: conmon, which notices such a kill, leaves its mark in a directory that
 * all containers share, and on control groups of version 1 often too late.  The kernel's own log
 * names the control group, and that names the container.  Read from /dev/kmsg, which wants root or
 * CAP_SYSLOG; where it may not be read, nobody was killed as far as we know.  A record may also
 * have been pushed out of the kernel's buffer by the time it is looked for.
 */
#ifndef EXECUTORS_LOCAL_KERNEL_LOG_H
#define EXECUTORS_LOCAL_KERNEL_LOG_H

#include "base/text.h"

enum memory_kill {
    MEMORY_KILL_NONE,
    MEMORY_KILL_LIMIT,  /* a process of the group was killed: the group was at its limit */
    MEMORY_KILL_MACHINE /* ... the machine had no memory left */
};

/* Append the kernel's records of such kills to `out`.  Never waits. */
void kernel_log_read_kills(struct buffer *out);

/* What these records say of the control group whose path contains `group` (a container's id). */
enum memory_kill kernel_log_find_kill(struct text records, struct text group);

#endif
