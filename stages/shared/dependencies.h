/* stages/shared/dependencies.h - how other jobs stand, for those that wait for them
 *
 * Asked by id, at most once in a pass for each job, however many wait for it.  A job that has ended
 * well is not looked at again, and the record of one that has failed only when its directory has
 * changed.
 *
 * A job that is nowhere is believed to be gone at once when it was never seen, and otherwise when it
 * has been nowhere for a while: two looks in turn at all directories meet a job that moves, but what
 * NFS says of names is not always of now.
 */
#ifndef STAGES_SHARED_DEPENDENCIES_H
#define STAGES_SHARED_DEPENDENCIES_H

#include "spool/spool.h"

enum dependency_state {
    DEPENDENCY_UNSURE, /* it cannot be told now */
    DEPENDENCY_ON,     /* it is in rendered/ or submitted/ */
    DEPENDENCY_HELD,   /* it waits itself */
    DEPENDENCY_FAILED, /* it has failed, and something can still bring it back */
    DEPENDENCY_LOST,   /* it has failed for good: only somebody's word brings it back */
    DEPENDENCY_DONE,
    DEPENDENCY_GONE /* it is not in the spool */
};

enum { REASON_SIZE = 64 };

struct dependency_status {
    enum dependency_state kind;
    char reason[REASON_SIZE]; /* of job.yaml, when it has failed */
};

struct dependencies;

/* `patience` in milliseconds: how long a job that was seen may be nowhere. */
struct dependencies *dependencies_new(const struct spool *spool, int64_t patience);
void dependencies_free(struct dependencies *dependencies);

/* Begin a pass, and end it: what nobody asked for in it is forgotten. */
void dependencies_begin(struct dependencies *dependencies);
void dependencies_end(struct dependencies *dependencies);

/* The id must be a valid one.  Valid until the end of the pass. */
const struct dependency_status *dependency_find(struct dependencies *dependencies, struct text id);

#endif
