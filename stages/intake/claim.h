/* stages/intake/claim.h - taking dropped files out of incoming/
 *
 * A claim is a dropped file that was renamed into the private directory .claims/, where nobody else
 * can swap, rename or remove it, under the name `<token>.<dropped name>`.  The job that is made
 * from it has that token in its id, so after a crash intake can tell whether the job exists (then
 * the claim is only removed) or must still be made.
 *
 * A claim over which intake has crashed N times is called `<token>+N.<dropped name>`.
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
    int tries;            /* how often intake has crashed while reading it */
    bool cut;             /* its last line has no line end */
    const char *complete; /* how it was known to be complete (watcher/arrivals.h) */
    bool suspect;         /* its job may exist already */
    bool found;           /* ... and does, at `place` */
    bool left;            /* it was due, and its batch had no time for it */
    bool published;       /* its job is there, and the claim waits until that is durable */
    bool gone;            /* the file was removed: forget the claim */
    struct job_place place;
};

/* Claim incoming/<name>; the results are those of drop_claim(). */
enum drop_result claim_take(struct spool *spool, const char *name, int64_t now, struct claim *claim,
                            struct error *error);

/* Read a claim's parts from its file name; false when it is not one. */
bool claim_parse(struct claim *claim, const char *file);

/* Count in the claim's name that intake has crashed once more while reading it.  -1 and a sentence
 * when the name cannot be changed; claim->tries goes up all the same. */
int claim_count_try(struct spool *spool, struct claim *claim, struct error *error);

/* Look in every state, in one walk, for the jobs that suspect claims may already have become.  Sets
 * `found` and `place`.  -1 and a sentence when that cannot be determined. */
int claims_find_jobs(const struct spool *spool, struct claim **claims, size_t count,
                     struct error *error);

/* The claim has become the job at `place`: remove it.  Something that cannot be a job file (a link,
 * a pipe, a directory, a file too large) is not removed but kept beside the reason, as
 * <id>/dropped. */
int claim_dispose(struct spool *spool, const struct claim *claim, const struct job_place *place,
                  bool keep, struct error *error);

#endif
