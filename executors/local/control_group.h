/* executors/local/control_group.h - what the kernel limits and counts for a container: its control group
 *
 * Version 1 (hierarchies `cpu` and `cpuacct`), version 2, and both at once, where the one counts that
 * has the controller.  What is read: /proc/PID/cgroup and /proc/self/mountinfo (cgroups(7), proc(5));
 * cpu.cfs_quota_us, cpu.cfs_period_us, cpuacct.usage, cpu.max and cpu.stat (the kernel's
 * Documentation/admin-guide/cgroup-v1 and cgroup-v2).
 *
 * A container's group bears its id: whatever runs under a process id now, one whose group does not is
 * no process of the container.
 */
#ifndef EXECUTORS_LOCAL_CONTROL_GROUP_H
#define EXECUTORS_LOCAL_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

enum { CONTROL_GROUP_PATH_SIZE = 1024 };

/* Where a hierarchy is mounted, and which of its groups is seen there. */
struct control_mount {
    char point[CONTROL_GROUP_PATH_SIZE]; /* "": nowhere */
    char root[CONTROL_GROUP_PATH_SIZE];
};

struct control_mounts {
    struct control_mount cpu, cpuacct, unified;
};

/* A container's group: directories, "" where there is none. */
struct control_group {
    char cpu[CONTROL_GROUP_PATH_SIZE];     /* has its limit */
    char cpuacct[CONTROL_GROUP_PATH_SIZE]; /* counts what it uses */
    bool cpu_unified, cpuacct_unified;     /* version 2 */
};

/* Look where the hierarchies are.  `proc` is "/proc", but for tests. */
void control_group_mounts(const char *proc, struct control_mounts *mounts);

/* The group of the container `id`, in which `process` is.  -1: it is not, or nothing can be told. */
int control_group_find(const char *proc, const struct control_mounts *mounts, pid_t process,
                       struct text id, struct control_group *group);

/* How much the container may use, in thousandths of a CPU; 0: as much as there is; -1: the
 * kernel does not say. */
int64_t control_group_cpus(const struct control_group *group);

/* How much it has used, in milliseconds; -1: the kernel does not say. */
int64_t control_group_cpu_time(const struct control_group *group);

/* Send a signal to those processes of the container that catch it, and that nobody passes it on to:
 * of a process that catches it and its descendants, only to itself, as kill(1) would; SIGINT to all
 * that catch it, as a terminal does.  To others it is not sent, because it would only end them: the
 * shell that waits for the program, say.  How many have got it; -1: it cannot be told who catches it,
 * or they may not be sent any. */
int control_group_signal(const char *proc, const struct control_group *group, struct text id,
                         int number);

#endif
