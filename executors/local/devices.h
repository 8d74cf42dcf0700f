/* executors/local/devices.h - do the devices that local.gpus names exist on this machine?
 *
 * A name that begins with `/` is a device node, as podman takes it: HOST[:CONTAINER[:RIGHTS]].  Any
 * other one is of the Container Device Interface: VENDOR/CLASS=DEVICE, which a specification (YAML
 * or JSON) in one of a few directories declares; for GPUs of NVIDIA `nvidia-ctk cdi generate`
 * writes one.
 */
#ifndef EXECUTORS_LOCAL_DEVICES_H
#define EXECUTORS_LOCAL_DEVICES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* Where podman looks for specifications; NULL ends it. */
extern const char *const devices_directories[];

/* Look at the names: absent[i] becomes a sentence, in the arena, for one that stands for nothing, and NULL for one
 * that exists.  Reads the specifications again each time.  How many are absent. */
size_t devices_find_absent(struct arena *arena, const char *const *directories,
                           const struct text *names, size_t count, const char **absent);

#endif
