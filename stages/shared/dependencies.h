/* stages/shared/dependencies.h - the state of jobs that others wait for
 *
 * Each job is looked up by its id, at most once in a pass, however many jobs wait for it.  A job
 * that has succeeded is not looked up again, and the record of a failed one is read again only when
 * its directory has changed.
 *
 * A job that cannot be found is believed to be gone at once if it was never seen, and otherwise
 * after a while: looking at all directories twice in a row finds a job that moves, but what NFS
 * says of names may be out of date.
 */
#ifndef STAGES_SHARED_DEPENDENCIES_H
#define STAGES_SHARED_DEPENDENCIES_H

#include "spool/spool.h"

enum dependency_state {
    DEPENDENCY_UNSURE, /* it cannot be determined now */
    DEPENDENCY_ON,     /* it is in rendered/ or submitted/ */
    DEPENDENCY_HELD,   /* it waits itself */
    DEPENDENCY_FAILED, /* it has failed, and something can still bring it back */
    DEPENDENCY_LOST,   /* it has failed for good: only a command brings it back */
    DEPENDENCY_DONE,
    DEPENDENCY_GONE /* it is not in the spool */
};

enum { REASON_SIZE = 64 };

struct dependency_status {
    enum dependency_state kind;
    char *reason; /* of job.yaml, when it has failed; or "" */
};

struct dependencies;

/* `patience` in milliseconds: how long a job that was seen may be nowhere. */
struct dependencies *dependencies_new(const struct spool *spool, int64_t patience);
void dependencies_free(struct dependencies *dependencies);

/* Begin a pass, and end it; jobs that were not asked for in the pass are forgotten. */
void dependencies_begin(struct dependencies *dependencies);
void dependencies_end(struct dependencies *dependencies);

/* The id must be a valid one.  Valid until the end of the pass. */
const struct dependency_status *dependency_find(struct dependencies *dependencies, struct text id);

/* Has the job been started in any attempt?  Its log is read for that until it has, once in a pass.  False while that
 * cannot be read. */
bool dependency_has_begun(struct dependencies *dependencies, struct text id);

#endif
