/* executors/local/staging.h - holds what is to be mounted where nobody else can exchange it
 *
 * podman takes paths, and whoever owns a directory on the way can put something else there at any moment.  So
 * what was opened and checked is mounted, by its descriptor, at a place that only root can reach, and podman
 * is given that path: it leads to what was checked, whatever happens to the user's own path.  (A path below
 * /proc/PID/fd would not do: the kernel mounts from it only within one mount namespace, and each container
 * has its own.)
 *
 *   mounts/<id>-a<attempt>/       a tmpfs of the job's own, in the local executor's storage
 *   mounts/<id>-a<attempt>/<n>    the job's n-th source
 *
 * The places are needed until podman has started the job's containers, which then have mounts of their own, so
 * they are there for less than a second.  They are a tmpfs so that they are gone after a restart of the
 * machine: a container that was never started then fails to start, and does not see an empty
 * directory.  Nothing of it is passed on to other mount namespaces, nor what becomes of it to the
 * user's own mounts.
 *
 * Never remove a tree of mounts/: what is mounted there is users' files.  staging_drop() takes the
 * mounts away and removes only the empty directory.
 *
 * Needs root, and Linux 5.12 (mount_setattr).
 */
#ifndef EXECUTORS_LOCAL_STAGING_H
#define EXECUTORS_LOCAL_STAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The places of one job. */
struct staging {
    const char *storage; /* absolute path of the executor's storage, and a descriptor of it */
    int directory;
    const char *job; /* <id>-a<attempt> */
    int place;       /* descriptor of mounts/<job>; -1: nothing is held yet */
};

enum staging_outcome {
    STAGING_DONE,
    STAGING_REFUSED, /* it cannot be mounted: it lies in another mount namespace */
    STAGING_FAILED   /* the machine does not let us, now */
};

/* Mount what the descriptor refers to, with all that is mounted below it, as the job's n-th source.  The first
 * one of the struct takes away what an earlier try has left.  A sentence unless it is done. */
enum staging_outcome staging_add(struct staging *staging, size_t number, int descriptor,
                                 struct error *error);

/* Close the descriptor; the mounts stay. */
void staging_close(struct staging *staging);

/* Take away the job's mounts, if there are any. */
void staging_drop(const char *storage, int directory, const char *job);

#endif
