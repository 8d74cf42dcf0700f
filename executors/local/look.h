/* executors/local/look.h - checks whether this process may access a path, and what its user can do
 * if not
 *
 * Called in a child that has become the job's user (access.h).  A refusal is explained in one
 * sentence, with what the user can do about it, if anything, and the command to type.
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
    struct buffer sentence, remedy; /* when refused; remedy may be empty, and has no full stop */
};

/* The access that is needed to a path, which is absolute and ends in NUL. */
struct look_wanted {
    const char *path;
    bool write;
    const char *entry; /* a file below the path that is started; NULL: none, or the path itself */
    bool executable;   /* the file is executed directly, not by an interpreter */
};

/* True when granted.  look_free() ends it in any case. */
bool look_at(struct look *look, const struct look_wanted *wanted);
void look_free(struct look *look);

#endif
