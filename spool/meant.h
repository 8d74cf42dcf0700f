/* spool/meant.h - finds the job that a user means by a word
 *
 * A whole id means that job.  An exact name means a job of that name: one of the user's own or, if
 * they have none, anybody's.  Anything else means the only job whose id begins with it.
 *
 * To look at a job, a name means the user's newest job of that name.  To act on a job, the word
 * must be unambiguous: the only job of that name on which the action is possible, or a prefix that
 * does not end within the name, as `dig` of digits does.
 */
#ifndef SPOOL_MEANT_H
#define SPOOL_MEANT_H

#include "spool/name_index.h"
#include "spool/record.h"

/* What is asked. */
struct meaning {
    const struct spool *spool;
    struct text word;
    uid_t asker;
    /* Is the action possible on that job?  `record` is NULL when it cannot be read.  NULL: the job
     * is only looked at. */
    bool (*applies)(void *context, const struct job_place *place, const struct job_record *record);
    void *context;
    /* Only where `applies` is set: what to look in, read once for many words.  NULL: the directories. */
    struct name_index *index;
};

enum { MEANT_LISTED = 10 };

struct meant {
    struct job_place places[MEANT_LISTED]; /* the only one; or the newest of several */
    size_t count;                          /* how many these are ... */
    size_t total;                          /* ... of so many */
};

/* 0: the job is meant->places[0]; 1 and a sentence when there is none, or when there are several,
 * which are in *meant; -1 and a sentence when the spool cannot be read. */
int meant_job(const struct meaning *meaning, struct meant *meant, struct error *error);

#endif
