/* executors/local/look.h - may whoever we are have this path, and what can they do when not?
 *
 * Called in a child that has become the job's user (access.h).  What is refused is said in one
 * sentence, and, where there is something, what the user can do about it, with the command to type.
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
    struct buffer resolved;         /* the path without links, when granted */
    struct buffer sentence, remedy; /* otherwise; remedy may be empty, and has no full stop */
};

/* What is wanted of a path, which is absolute and ends in NUL. */
struct look_wanted {
    const char *path;
    bool write;
    const char *entry; /* a file below the path that is started; NULL: none, or the path itself */
    bool executable;   /* what is started is started by itself, not by an interpreter */
};

/* True when granted.  look_free() ends it in any case. */
bool look_at(struct look *look, const struct look_wanted *wanted);
void look_free(struct look *look);

#endif
