/* stages/resubmit/named_jobs.h - which job a user means by a name
 *
 * It is the owner's own most recent job of that name that was accepted before the referring job,
 * whatever its state; or, when there is none, the first that is accepted later.  A later job that
 * is refused because of what it waits for does not count.
 *
 * One walk over the spool looks for many names.  An id begins with a form of the job's name, so
 * only the records of possible matches are read, each once, the newest first.
 */
#ifndef STAGES_RESUBMIT_NAMED_JOBS_H
#define STAGES_RESUBMIT_NAMED_JOBS_H

#include <stdbool.h>
#include <sys/types.h>

#include "spool/spool.h"

struct named_job {
    struct text name; /* as the user wrote it */
    uid_t uid;        /* whose job it is */
    struct text id;   /* of the referring job */
    bool unended;     /* it is the most recent earlier one that has not ended, or none */
    /* Filled in: */
    char found[ID_SIZE]; /* or "" */
    bool unsure;         /* a job that may be meant could not be read */
};

/* What the ids of jobs with that name begin with, in `id`; and what this id, a valid one, begins with. */
struct text named_jobs_family(struct text name, char id[static ID_SIZE]);
struct text named_jobs_family_of(struct text id);

/* Look for `count` names.  Jobs that ended on a day before that of `since` are not searched; 0: all
 * are.  -1 and a sentence when a directory could not be read: then nothing is known. */
int named_jobs_find(const struct spool *spool, struct named_job *named, size_t count, int64_t since,
                    struct error *error);

#endif
