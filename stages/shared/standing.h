/* stages/shared/standing.h - how other jobs stand, for those that wait for them
 *
 * Asked by id, at most once in a pass for each job, however many wait for it.  A job that has ended
 * well is not looked at again, and the record of one that has failed only when its directory has
 * changed.
 *
 * A job that is nowhere is believed to be gone at once when it was never seen, and otherwise when it
 * has been nowhere for a while: two looks in turn at all directories meet a job that moves, but what
 * NFS says of names is not always of now.
 */
#ifndef STAGES_SHARED_STANDING_H
#define STAGES_SHARED_STANDING_H

#include "spool/spool.h"

enum standing_kind {
    STANDING_UNSURE, /* it cannot be told now */
    STANDING_ON,     /* it is in rendered/ or submitted/ */
    STANDING_HELD,   /* it waits itself */
    STANDING_FAILED, /* it has failed, and something can still bring it back */
    STANDING_LOST,   /* it has failed for good: only somebody's word brings it back */
    STANDING_DONE,
    STANDING_GONE /* it is not in the spool */
};

enum { REASON_SIZE = 64 };

struct standing {
    enum standing_kind kind;
    char reason[REASON_SIZE]; /* of job.yaml, when it has failed */
};

struct standings;

/* `patience` in milliseconds: how long a job that was seen may be nowhere. */
struct standings *standings_new(const struct spool *spool, int64_t patience);
void standings_free(struct standings *standings);

/* Begin a pass, and end it: what nobody asked for in it is forgotten. */
void standings_begin(struct standings *standings);
void standings_end(struct standings *standings);

/* The id must be a valid one.  Valid until the end of the pass. */
const struct standing *standing_find(struct standings *standings, struct text id);

#endif
