/* stages/sandbox_files.h - which files a confined stage can use: Landlock
 *
 * Of the spool each directory has the rights that the stage needs there, and of the rest of the
 * machine nothing but random bytes can be opened.  What newer kernels know beside files (connections, signals
 * and sockets of others) is forbidden as well.  Not ruled: looking at a file's status, and what is open already.
 */
#ifndef STAGES_SANDBOX_FILES_H
#define STAGES_SANDBOX_FILES_H

#include "base/error.h"
#include "spool/spool.h"

enum sandbox_reader {
    SANDBOX_INTAKE, /* takes files out of incoming/ and makes jobs of them */
    SANDBOX_REREAD, /* renders the requests of jobs again, and moves these */
    SANDBOX_VERIFY, /* renders the requests of jobs of rendered/ again, and writes nothing */
    SANDBOX_NOTIFY, /* reads what has become of jobs, and writes to messages/ */
    SANDBOX_PAGE,   /* shows a user the spool, as that user, and drops files into incoming/ */
    SANDBOX_PRUNE,  /* puts jobs that have ended into archives, and removes them */
    SANDBOX_READERS
};

/* Confine this process for good; needs no_new_privs.  Says so, and returns 0, where the kernel has no
 * Landlock. */
int sandbox_files_restrict(const struct spool *spool, enum sandbox_reader reader,
                           struct error *error);

#endif
