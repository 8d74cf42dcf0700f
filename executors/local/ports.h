/* executors/local/ports.h - ports of this machine that jobs listen on (`listen` of a manifest)
 *
 * Two jobs whose ports are the same must not run into one another: a port is given to a job when no
 * living container has it in its labels, and nobody on this machine listens on it.
 *
 * Known weakness: a port that somebody else takes between this look and the job's own program is
 * not free for it; the program then says so and fails.
 */
#ifndef EXECUTORS_LOCAL_PORTS_H
#define EXECUTORS_LOCAL_PORTS_H

#include "executors/local/layout.h"

/* Decide as SUBMIT_NO_ROOM the layouts of a batch whose ports are taken.  `containers` are all there
 * are of dlspool. */
void local_ports_take(struct batch *batch, const struct podman_container *containers, size_t count);

/* The label `listen`: the ports with spaces between, in the arena. */
struct text local_ports_label(struct arena *arena, const struct local_manifest *manifest);

#endif
