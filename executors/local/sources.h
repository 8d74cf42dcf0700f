/* executors/local/sources.h - holds what a job's containers mount, from the check until they have started
 *
 * A source is a path that a manifest names, or the user's home directory.  To hold a job's sources, a child
 * process opens each as the user (access.h), it is checked that it is nothing that nobody may mount
 * (mountable.h), and it is mounted in dlspool's storage (staging.h).  podman is told that place, so
 * nothing that the user does to the path can change what a container mounts.
 *
 * Sources are held before containers are made, since podman checks that they exist, and whenever some are
 * started: when the job is submitted, when that is repeated, and when tasks that wait for their turn get it,
 * perhaps from another process, long after.  For these the job's directory has a list of the sources.  The
 * n-th source of a manifest always has the same place, so a container that one try has made can be started
 * by another.
 *
 * Without root there is no boundary: whoever runs dlspool is the user of all jobs.  Nothing is held then,
 * and podman is told the paths, without links.
 */
#ifndef EXECUTORS_LOCAL_SOURCES_H
#define EXECUTORS_LOCAL_SOURCES_H

#include "executors/local/access.h"
#include "executors/local/inside.h"
#include "executors/local/staging.h"

/* Those of one job. */
struct sources {
    struct local *local;
    char job[LOCAL_NAME_SIZE]; /* <id>-a<attempt> */
    struct access_check
        access; /* uid, gid, paths, count and wants_home are the caller's to set; its
                                           outcome is that of holding them all */
    struct staging staging;
};

/* Are sources held here, and so: have containers been made for them to be? */
bool sources_are_held(void);

/* The sources of a submission's manifest, in `sources`; numbers[i] are those of the i-th task's mounts.  All in
 * the arena. */
void sources_of(struct arena *arena, struct sources *sources, struct local *local,
                const struct submission *submission, const struct local_manifest *manifest,
                size_t **numbers);

/* Hold those of all jobs, for at most `timeout` milliseconds.  Of a job of which not all can be held,
 * nothing is. */
void sources_hold(struct arena *arena, struct sources *const *jobs, size_t count, int64_t timeout);

/* What podman is told of the source of that number, or for access.count of the home directory; empty when there
 * is none. */
struct text sources_path(struct arena *arena, const struct sources *sources, size_t number);

/* No container of the job, <id>-a<attempt>, is being started any more. */
void sources_drop(const struct local *local, const char *job);

/* Write the list, durably, into the job's directory; read it into a struct that has nothing but `local` and
 * `job`.  -1 and a sentence. */
int sources_write(const struct sources *sources, struct error *error);
int sources_read(struct arena *arena, struct sources *sources, struct error *error);

#endif
