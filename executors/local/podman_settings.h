/* executors/local/podman_settings.h - the settings files of dlspool's own podman
 *
 * They contain what podman 4.3 needs on machines of every kind: cgroupfs and an events file, so
 * that systemd is not needed; and default limits that this process may set, because runc fails to
 * raise a limit when root lacks CAP_SYS_RESOURCE.
 */
#ifndef EXECUTORS_LOCAL_PODMAN_SETTINGS_H
#define EXECUTORS_LOCAL_PODMAN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct podman_settings {
    const char *storage;         /* absolute path; root/, run/ and tmp/ are below it */
    const char *runtime;         /* OCI runtime */
    int64_t locked_memory;       /* bytes that a process may lock; -1: no bound; 0: as we may */
    const char *seccomp_profile; /* a file below it, for containers; NULL: podman's own */
    const char *mount_program;   /* what makes overlays without root; NULL: the kernel does */
    bool overlay;                /* false: podman chooses a storage driver that works */
};

/* Write storage.conf and containers.conf into a directory.  -1 and a sentence on failure. */
int podman_settings_write(int directory, const struct podman_settings *settings,
                          struct error *error);

/* Write a file of mode 0600 into a directory, replacing an existing one. */
int podman_settings_write_file(int directory, const char *name, struct text bytes,
                               struct error *error);

#endif
