/* stages/intake/claim.h - taking dropped files out of incoming/
 *
 * A claim is a dropped file that was renamed into the private directory .claims/, where nobody
 * else can swap, rename or remove it, under the name `<token>.<dropped name>`.  The job that is
 * made from it has that token in its id, so after a crash it can be told whether the job exists
 * (the claim is then only removed) or has to be made.
 *
 * A claim over which intake has ended N times is called `<token>+N.<dropped name>`.
 */
#ifndef STAGES_INTAKE_CLAIM_H
#define STAGES_INTAKE_CLAIM_H

#include <stdint.h>

#include "base/error.h"
#include "spool/job.h"
#include "watcher/drop.h"

struct claim {
    char file[NAME_MAX + 1]; /* in .claims/ */
    char token[TOKEN_LENGTH + 1];
    const char *source;   /* what it was called in incoming/; points into `file` */
    int64_t look;         /* of clock_elapsed: not before then */
    int64_t changing;     /* of clock_elapsed: since when it is being written; 0 */
    uid_t owner;          /* who dropped it, when it was taken; (uid_t)-1 */
    int tries;            /* how often intake has ended while it read this */
    bool cut;             /* it did not end with a whole line */
    const char *complete; /* how it was known to be complete (watcher/arrivals.h) */
    bool suspect;         /* its job may exist already */
    bool found;           /* ... and does, at `place` */
    struct job_place place;
};

/* Take incoming/<name>, as drop_claim() does, whose results these are. */
enum drop_result claim_take(struct spool *spool, const char *name, int64_t now, struct claim *claim,
                            struct error *error);

/* Read a claim's parts from its file name; false when it is not one. */
bool claim_parse(struct claim *claim, const char *file);

/* Intake has ended once more while it read this one: count that in its name.  The count goes up
 * even when the name cannot be changed, which is -1 and a sentence. */
int claim_count_try(struct spool *spool, struct claim *claim, struct error *error);

/* Look for the jobs that suspect claims may have become already, in every state, in one walk.  Sets
 * `found` and `place`.  -1 and a sentence when it cannot be told. */
int claims_find_jobs(const struct spool *spool, struct claim **claims, size_t count,
                     struct error *error);

/* The claim has become the job at `place`: remove it.  What could not become a job file (a link, a
 * pipe, a directory, a file too large) is kept beside the reason instead, as <id>/dropped. */
int claim_dispose(struct spool *spool, const struct claim *claim, const struct job_place *place,
                  bool keep, struct error *error);

#endif
