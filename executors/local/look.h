/* executors/local/look.h - checks whether this process may access a path, and what its user can do
 * if not
 *
 * Called in a child that has become the job's user (access.h).  A path is opened once, and all is asked
 * of the descriptor, which is what is mounted: it does not matter what the path leads to a moment later.
 * A refusal is explained in one sentence, with what the user can do about it, if anything, and the
 * command to type.
 */
#ifndef EXECUTORS_LOCAL_LOOK_H
#define EXECUTORS_LOCAL_LOOK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

struct look {
    uid_t uid;
    char user[64]; /* "ann", or "uid 1000" */
    /* filled in: */
    int descriptor;                 /* O_PATH, when granted; else -1 */
    struct buffer resolved;         /* the path without links, when granted */
    struct buffer sentence, remedy; /* when refused; remedy may be empty, and has no full stop */
};

/* The access that is needed to a path, which is absolute and ends in NUL. */
struct look_wanted {
    const char *path;
    bool write;
    const char *entry; /* a file below the path that is started; NULL: none, or the path itself */
    bool executable;   /* the file is executed directly, not by an interpreter */
};

/* True when granted.  look_free() ends it in any case, and closes the descriptor. */
bool look_at(struct look *look, const struct look_wanted *wanted);
void look_free(struct look *look);

/* Open a path to look at it, with O_PATH; a directory is mounted first where that happens when it is used
 * (autofs).  -1 with errno set. */
int look_open(const char *path);
/* As faccessat(2) with AT_EACCESS, of what the descriptor refers to. */
bool look_may(int descriptor, int mode);

#endif
