/* stages/resubmit/named_jobs.h - which job a user means by a name
 *
 * The owner's own most recent one of that name that was accepted before the job that speaks of it, wherever
 * it is, or has ended; or, when there is none, the first that comes after.  One that comes after and
 * is refused for what it waits for has not come.
 *
 * Many names are looked for in one walk over the spool.  An id begins with what its name is made to,
 * so only records of jobs that may be meant are read, each once, and of those the newest first.
 */
#ifndef STAGES_RESUBMIT_NAMED_JOBS_H
#define STAGES_RESUBMIT_NAMED_JOBS_H

#include <sys/types.h>

#include "spool/spool.h"

struct named_job {
    struct text name; /* as the user wrote it */
    uid_t uid;        /* whose job it is */
    struct text id;   /* of the job that speaks of it */
    /* Filled in: */
    char found[ID_SIZE]; /* or "" */
};

/* Look for `count` names.  Jobs that ended on a day before that of `since` are not met; 0: all are.
 * -1 and a sentence when a directory could not be read: then nothing is known. */
int named_jobs_find(const struct spool *spool, struct named_job *named, size_t count, int64_t since,
                    struct error *error);

#endif
