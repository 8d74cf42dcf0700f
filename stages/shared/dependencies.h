/* stages/shared/dependencies.h - the state of jobs that others wait for
 *
 * Each job is looked up by its id, once, however many wait for it, and again when it is doubted: somebody was told that
 * something has happened to it, or it could not be determined.  Then those who wait are told, if it is not as it was.
 * So a pass costs what has changed, not what waits.  A job that has succeeded is not looked up again, and the record of
 * a failed one is read again only when its directory has changed.
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
struct dependency; /* a job that others wait for */

/* One who waits for a job; a part of something larger, which stays where it is.  Zero-initialise it. */
struct dependency_waiter {
    struct dependency *on; /* NULL: it waits for none */
    struct dependency_waiter *next, **link;
};

/* `patience` in milliseconds: how long a job that was seen may be nowhere. */
struct dependencies *dependencies_new(const struct spool *spool, int64_t patience);
void dependencies_free(struct dependencies *dependencies); /* nobody waits any longer */
bool dependencies_any(const struct dependencies *dependencies);

/* Wait for the job with that id, which must be a valid one, and no longer for another. */
void dependency_await(struct dependencies *dependencies, struct text id,
                      struct dependency_waiter *waiter);
void dependency_leave(struct dependencies *dependencies, struct dependency_waiter *waiter);
struct text dependency_id(const struct dependency_waiter *waiter); /* "" if it waits for none */
/* Does anybody wait for the job with that id? */
bool dependency_is_awaited(const struct dependencies *dependencies, struct text id);

/* How it is with the job that is waited for, or with any other.  Valid until dependencies_look(). */
const struct dependency_status *dependency_of(struct dependencies *dependencies,
                                              const struct dependency_waiter *waiter);
const struct dependency_status *dependency_find(struct dependencies *dependencies, struct text id);

/* Has the job been started in any attempt?  Its log is read for that until it has, once between two looks.  False while
 * that cannot be read. */
bool dependency_has_begun(struct dependencies *dependencies,
                          const struct dependency_waiter *waiter);

/* Something may have happened to the job with that id, or to any. */
void dependencies_doubt(struct dependencies *dependencies, struct text id);
void dependencies_doubt_all(struct dependencies *dependencies);
/* Look again at the jobs in doubt, and visit each that waits for one with which it is not as it was. */
typedef void dependency_visit(void *context, struct dependency_waiter *waiter);
void dependencies_look(struct dependencies *dependencies, dependency_visit *visit, void *context);

#endif
