/* executors/local/access.h - checks whether a user may access paths
 *
 * Users name paths that are mounted into their containers, and podman, which mounts them, may be
 * root.  So each path is first opened by a child process that has become the user: a path that
 * the user cannot reach, read or (for a writable mount) write is denied.  The child also looks up
 * the user's groups, because directory services, like file servers, may hang: it is killed when its
 * time is up.
 *
 * The child hands over the descriptor that it has opened and looked at.  Whoever mounts that, not the path,
 * mounts what the user could open, whatever they put at the path meanwhile.
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
    ACCESS_UNKNOWN /* no answer in time, or the check could not be made */
};

/* Takes what the user has opened, an O_PATH descriptor of a directory or file, which stays the caller's: of the
 * path of that number, or of the home directory, whose number is the count of the paths.  Unless it is
 * granted, with a sentence. */
typedef enum access_outcome access_take(void *context, size_t number, int descriptor,
                                        struct error *error);

struct access_path {
    struct text path; /* absolute */
    bool write;
    struct text entry; /* a file below the path that is started, or empty */
    /* the entry, or without one the path itself, is executed directly, not by an interpreter */
    bool executable;
    struct text resolved; /* set when granted: the path without links; in the arena */
};

struct access_check {
    uid_t uid;
    gid_t gid;
    struct access_path *paths;
    size_t count;
    bool wants_home;   /* also look for a home directory that belongs to the user */
    access_take *take; /* called for each path that is granted; NULL: nothing takes them */
    void *context;
    /* filled in: */
    enum access_outcome outcome;
    struct text groups; /* the user's groups besides gid, as numbers separated by spaces */
    /* from the system's list of users, and the same without links; empty: none */
    struct text home, home_resolved;
    struct error error; /* unless granted */
    struct text remedy; /* what the user can do, without a full stop; in the arena; may be empty */
};

/* Check all of them at the same time, for at most `timeout` milliseconds.  When this process is not
 * root, it checks with its own rights. */
void access_check_all(struct arena *arena, struct access_check *const *checks, size_t count,
                      int64_t timeout);

#endif
