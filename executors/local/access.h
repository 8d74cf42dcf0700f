/* executors/local/access.h - may this user have these paths?
 *
 * Users name paths that are mounted into their containers, and podman, which mounts them, may be
 * root.  So each path is first looked at by a child process that has become the user: what the
 * user cannot reach, read or (for a writable mount) write is denied.  The child also looks up the
 * user's groups, because directory services, like file servers, may hang: it is killed when its
 * time is up.
 *
 * Known weakness: between this look and the mount, the user can put a symbolic link in place of a
 * directory on the way.  What is mounted is still only readable by the user's own rights, but a
 * directory above it that shuts them out would be passed by.
 */
#ifndef EXECUTORS_LOCAL_ACCESS_H
#define EXECUTORS_LOCAL_ACCESS_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

enum access_outcome {
    ACCESS_GRANTED,
    ACCESS_DENIED, /* the sentence names path, user and what is missing */
    ACCESS_UNKNOWN /* no answer in time, or the look could not be had */
};

struct access_path {
    struct text path; /* absolute */
    bool write;
    struct text entry;    /* a file below it that is started, or empty */
    bool executable;      /* and not by an interpreter; or, without an entry, the path itself */
    struct text resolved; /* filled in when granted: without links; in the arena */
};

struct access_check {
    uid_t uid;
    gid_t gid;
    struct access_path *paths;
    size_t count;
    bool wants_home; /* look for a home directory that is theirs */
    /* filled in: */
    enum access_outcome outcome;
    struct text groups; /* the user's groups beside gid, as numbers with spaces between */
    struct text home, home_resolved; /* as the system's list of users has it, and without links;
                                           empty: none */
    struct error error;              /* unless granted */
    struct text remedy; /* what the user can do, without a full stop; in the arena; may be empty */
};

/* Look at all of them at the same time, for at most `timeout` milliseconds.  When we are not root,
 * the look is had as ourselves. */
void access_check_all(struct arena *arena, struct access_check *const *checks, size_t count,
                      int64_t timeout);

#endif
