/* executors/local/outer_group.h - the control group around a container's own, which stays when the container has ended
 *
 * A container's group goes with it, and with the group what the kernel has counted: of a task that ends between two
 * looks nothing would be known.  So podman is told to make it in a group that is this container's alone.  That one
 * counts on, also over several starts of the container, until it is removed here.  Beside the container's there is
 * `conmon` in it, with what supervises the container, and starts and ends it; its part is taken off.
 *
 * There are such groups only where podman is dlspool's own and root's.
 */
#ifndef EXECUTORS_LOCAL_OUTER_GROUP_H
#define EXECUTORS_LOCAL_OUTER_GROUP_H

#include "executors/local/inside.h"

enum { OUTER_GROUP_SIZE = 512 };

/* The group's path, as podman takes it; "": the container has none. */
void outer_group_path(const struct local *local, struct text container,
                      char path[static OUTER_GROUP_SIZE]);

/* The CPU time that the container has used, in milliseconds; -1: there is no such group. */
int64_t outer_group_cpu_time(const struct local *local, struct text container);

/* How many bytes the container held at least at a time; -1: that is not known.  What supervises it need not have held
 * most at the same time, so it may have been as much more as that did. */
int64_t outer_group_memory_peak(const struct local *local, struct text container);

/* Remove it, once the container has gone. */
void outer_group_remove(const struct local *local, struct text container);

/* Remove those of this spool whose container is not among these, as after a crash. */
void outer_group_sweep(const struct local *local, const struct podman_container *containers,
                       size_t count);

#endif
