/* spool/submission_key.h - keys/: which job a submission has become that is made once, however often it is sent
 *
 * Who submits over a network may not hear the answer, and submits again.  With a key of theirs both are one submission:
 * user and key decide the name of the dropped file, STEM-once-HASH.ENDING.  Of the files of that HASH that a user drops
 * within a day, intake makes one job; which one is written to keys/UID-HASH before anybody can see the job, so it holds
 * after a crash, too.
 */
#ifndef SPOOL_SUBMISSION_KEY_H
#define SPOOL_SUBMISSION_KEY_H

#include <limits.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sha256.h"
#include "spool/id.h"
#include "spool/spool.h"

#define SUBMISSION_KEY_KEPT CLOCK_DAY /* milliseconds, from the first submission on */

struct keyed_job {
    char id[ID_SIZE];             /* of the job */
    char sha256[SHA256_HEX_SIZE]; /* of its job file */
};

/* The hash of a user's key. */
void submission_key_hash(uid_t uid, struct text key, char hash[static SHA256_HEX_SIZE]);
/* STEM-once-HASH.ENDING; the ending begins with its dot. */
void submission_key_name(const char *stem, const char *hash, const char *ending,
                         char name[static NAME_MAX + 1]);
/* Is it such a name?  Then *stem and *hash are their places. */
bool submission_key_in_name(struct text name, struct text *stem, struct text *hash);

/* Make keys/ for who reads job files; -1: they are the daemon's own.  -1 and a sentence. */
int submission_key_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                  struct error *error);

/* What the user's submission of that hash has become.  1: nothing that is known, or more than a day ago.  -1 and a
 * sentence when that cannot be determined. */
int submission_key_read(const struct spool *spool, uid_t uid, struct text hash,
                        struct keyed_job *job, struct error *error);
/* Write it down, in place of what was there; the next spool_sync() makes it durable.  -1 and a sentence. */
int submission_key_note(const struct spool *spool, uid_t uid, struct text hash,
                        const struct keyed_job *job, struct error *error);
/* Remove what is older than a day, for half a second at most.  False: there may be more. */
bool submission_key_forget_old(const struct spool *spool);

#endif
