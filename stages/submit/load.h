/* stages/submit/load.h - how many objects are at the scheduler, and how many more may be
 *
 * An executor may want to hold no more than live_max objects (executor.h): a cluster's own store is
 * not where ten thousand jobs should wait; rendered/ is.  What is there is read from submitted/:
 * each job in it counts for as many objects as its manifest makes.  A job whose submission has an
 * unknown outcome counts too, until that is known.
 *
 * Known weakness: after a crash, a batch whose outcome was not yet noted is not counted until it is
 * submitted again, which comes first, because the order is the same.
 */
#ifndef STAGES_SUBMIT_LOAD_H
#define STAGES_SUBMIT_LOAD_H

#include "stages/stage.h"

struct load;

/* NULL when the executor has no bound.  Both must live as long. */
struct load *load_new(const struct spool *spool, struct executor *executor);
void load_free(struct load *load); /* NULL is fine */

/* Look at submitted/ again.  -1 and a sentence when it cannot be read. */
int load_refresh(struct load *load, struct error *error);

enum load_answer {
    LOAD_TAKEN, /* there is room, and the job now counts */
    LOAD_FULL,  /* not now: a sentence says which limit it is */
    LOAD_NEVER  /* it makes more objects than live_max */
};

/* May this job be submitted?  It counts until load_release(), or, once it is in submitted/, until
 * it has left that.  A job that counts already may. */
enum load_answer load_take(struct load *load, const char *id, struct text manifest,
                           struct error *error);
/* The scheduler does not have the job; or it does, and the job is in submitted/ now.  Not knowing it
 * is fine. */
void load_release(struct load *load, const char *id, bool submitted);

#endif
