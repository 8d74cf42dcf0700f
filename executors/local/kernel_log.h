/* executors/local/kernel_log.h - finds processes that the kernel killed because memory ran out
 *
 * podman 4.3 cannot tell: conmon, which notices such a kill, writes its mark to a directory that
 * all containers share, and with control groups of version 1 often too late.  The kernel's own log
 * names the control group, which identifies the container.  It is read from /dev/kmsg, which
 * requires root or CAP_SYSLOG; without that, no kill is detected.  A record may also have been
 * overwritten in the kernel's buffer before it is read.
 */
#ifndef EXECUTORS_LOCAL_KERNEL_LOG_H
#define EXECUTORS_LOCAL_KERNEL_LOG_H

#include "base/text.h"

enum memory_kill {
    MEMORY_KILL_NONE,
    MEMORY_KILL_LIMIT,  /* a process of the group was killed: the group was at its limit */
    MEMORY_KILL_MACHINE /* ... the machine ran out of memory */
};

/* Append the kernel's records of such kills to `out`.  Never waits. */
void kernel_log_read_kills(struct buffer *out);

/* What these records say about the control group whose path contains `group` (a container's id). */
enum memory_kill kernel_log_find_kill(struct text records, struct text group);

#endif
