/* spool/meant.h - which job is meant by a word
 *
 * A whole id means that job.  A name that fits exactly means a job of that name: of the asker's, or
 * if they have none, of anybody's.  Anything else means the job whose id alone begins with it.
 *
 * To look at a job, a name means the asker's newest of that name.  To do something to one, only
 * what is unambiguous will do: the one job of that name to which it can be done, or a beginning
 * that does not end within the name, as `dig` of digits does.
 */
#ifndef SPOOL_MEANT_H
#define SPOOL_MEANT_H

#include "spool/job.h"
#include "spool/record.h"

/* What is asked. */
struct meaning {
    const struct spool *spool;
    struct text word;
    uid_t asker;
    /* Can that be done to the job which is asked for?  `record` is NULL where it cannot be read.
     * NULL: the job is only looked at. */
    bool (*applies)(void *context, const struct job_place *place, const struct job_record *record);
    void *context;
};

enum { MEANT_LISTED = 10 };

struct meant {
    struct job_place places[MEANT_LISTED]; /* the one; or of several the newest */
    size_t count;                          /* how many these are ... */
    size_t total;                          /* ... of so many */
};

/* 0: it is meant->places[0]; 1 and a sentence when there is none, or when there are several, which
 * are in *meant; -1 and a sentence when the spool cannot be read. */
int meant_job(const struct meaning *meaning, struct meant *meant, struct error *error);

#endif
