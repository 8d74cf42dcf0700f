/* executors/local/ports.h - ports of this machine that jobs listen on (`listen` of a manifest)
 *
 * Two jobs with the same ports must not collide: a job gets a port only when no living container
 * has it in its labels and no process on this machine listens on it.
 *
 * Known weakness: another program may take a port between this check and the start of the job's own
 * program, which then reports that and fails.
 */
#ifndef EXECUTORS_LOCAL_PORTS_H
#define EXECUTORS_LOCAL_PORTS_H

#include "executors/local/layout.h"

/* Decide the layouts of a batch whose ports are taken as SUBMIT_NO_ROOM.  `containers` are all of
 * dlspool's. */
void local_ports_take(struct batch *batch, const struct podman_container *containers, size_t count);

/* The label `listen`: the ports, separated by spaces, in the arena. */
struct text local_ports_label(struct arena *arena, const struct local_manifest *manifest);

#endif
