/* executors/local/control_group.h - a container's control group: the kernel's limits and accounts
 * for it
 *
 * It supports version 1 (hierarchies `cpu`, `cpuacct` and `memory`), version 2, and both at once, in
 * which case the one that has the controller counts.  It reads /proc/PID/cgroup and
 * /proc/self/mountinfo (cgroups(7), proc(5)); cpu.cfs_quota_us, cpu.cfs_period_us, cpuacct.usage,
 * memory.max_usage_in_bytes, cpu.max, cpu.stat and memory.peak (the kernel's
 * Documentation/admin-guide/cgroup-v1 and cgroup-v2).
 *
 * The name of a container's group contains the container's id.  A process whose group does not
 * contain it is no process of the container, whatever its process id.
 */
#ifndef EXECUTORS_LOCAL_CONTROL_GROUP_H
#define EXECUTORS_LOCAL_CONTROL_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

enum { CONTROL_GROUP_PATH_SIZE = 1024, CONTROL_HIERARCHIES = 32, CONTROL_POINT_SIZE = 256 };

/* Where a hierarchy is mounted, and which of its groups is visible there. */
struct control_mount {
    char point[CONTROL_GROUP_PATH_SIZE]; /* "": nowhere */
    char root[CONTROL_GROUP_PATH_SIZE];
};

struct control_mounts {
    struct control_mount cpu, cpuacct, memory, unified;
    char points[CONTROL_HIERARCHIES][CONTROL_POINT_SIZE]; /* of all hierarchies */
    size_t point_count;
};

/* The directories of a container's group, "" where there is none. */
struct control_group {
    char cpu[CONTROL_GROUP_PATH_SIZE];                 /* has its limit */
    char cpuacct[CONTROL_GROUP_PATH_SIZE];             /* counts what it uses */
    char memory[CONTROL_GROUP_PATH_SIZE];              /* counts the memory that it holds */
    bool cpu_unified, cpuacct_unified, memory_unified; /* version 2 */
};

/* Find where the hierarchies are mounted.  `proc` is "/proc", except in tests. */
void control_group_mounts(const char *proc, struct control_mounts *mounts);

/* Find the group of the container `id`, to which `process` belongs.  -1: it does not, or that is
 * unknown. */
int control_group_find(const char *proc, const struct control_mounts *mounts, pid_t process,
                       struct text id, struct control_group *group);

/* The group at a path that is the same in each hierarchy, as seen from where that is mounted.  -1: there is none. */
int control_group_at(const struct control_mounts *mounts, const char *path,
                     struct control_group *group);

/* Remove the group at a path from each hierarchy, where nobody is in it. */
void control_group_remove(const struct control_mounts *mounts, const char *path);

/* How much the container may use, in thousandths of a CPU; 0: unlimited; -1: the kernel does not
 * say. */
int64_t control_group_cpus(const struct control_group *group);

/* How much it has used, in milliseconds; -1: the kernel does not say. */
int64_t control_group_cpu_time(const struct control_group *group);

/* The most memory that it has held at a time, in bytes, with the pages of files that it keeps, as its
 * limit counts it; -1: the kernel does not say (version 2 before Linux 5.19). */
int64_t control_group_memory_peak(const struct control_group *group);

/* Send a signal to the topmost processes of the container that catch it: to a process that catches
 * it but not to its descendants, as kill(1) would; SIGINT goes to all that catch it, as from a
 * terminal.  Processes that do not catch it, such as the shell that waits for the program, do not
 * get it, because it would only kill them.  Returns how many got it; -1: it is unknown which
 * processes catch it, or none may be signalled. */
int control_group_signal(const char *proc, const struct control_group *group, struct text id,
                         int number);

#endif
