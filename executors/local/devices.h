/* executors/local/devices.h - checks whether the devices that local.gpus names exist on this
 * machine
 *
 * A name that begins with `/` is a device node, as podman takes it: HOST[:CONTAINER[:RIGHTS]].  Any
 * other name is of the Container Device Interface: VENDOR/CLASS=DEVICE, declared by a specification
 * (YAML or JSON) in one of a few directories; `nvidia-ctk cdi generate` writes one for NVIDIA GPUs.
 */
#ifndef EXECUTORS_LOCAL_DEVICES_H
#define EXECUTORS_LOCAL_DEVICES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* Where podman looks for specifications; NULL ends it. */
extern const char *const devices_directories[];

/* Check the names: absent[i] becomes a sentence, in the arena, for a device that does not exist,
 * and NULL for one that does.  Reads the specifications again each time.  Returns how many are
 * absent. */
size_t devices_find_absent(struct arena *arena, const char *const *directories,
                           const struct text *names, size_t count, const char **absent);

#endif
