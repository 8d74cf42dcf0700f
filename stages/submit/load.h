/* stages/submit/load.h - how many objects the scheduler has, and how many more it may get
 *
 * An executor may limit its objects to live_max (executor.h): ten thousand jobs should wait in
 * rendered/, not in a cluster's own store.  The count comes from submitted/: each job in it counts
 * as the number of objects that its manifest makes.  A job whose submission has an unknown outcome
 * counts, too, until the outcome is known.
 *
 * What one owner has there is bounded, so that others find room when they come: at most four times as many as are
 * left, which is four fifths of live_max for one alone, and less for each of several.  Otherwise jobs that the
 * scheduler keeps waiting, such as those for nodes that never come, would shut everybody else out for ever.
 * An owner who has nothing there may have one job of any size, and where live_max is less than five there
 * is no such bound.
 *
 * Known weakness: after a crash, a batch whose outcome was not noted is not counted until it is
 * submitted again; but that happens first, because the order is the same.
 */
#ifndef STAGES_SUBMIT_LOAD_H
#define STAGES_SUBMIT_LOAD_H

#include "spool/job.h"
#include "stages/stage.h"

struct load;

/* NULL when the executor has no limit.  Both arguments must outlive the result. */
struct load *load_new(const struct spool *spool, struct executor *executor);
void load_free(struct load *load); /* NULL is fine */

/* Look at submitted/ again.  -1 and a sentence when it, or a job in it that is not counted yet, cannot be read now:
 * then what was known still counts, and the scheduler may have more. */
int load_refresh(struct load *load, struct error *error);
/* The same in steps, for who looks at it anyway: each of its jobs is seen, `context` being the load.  Without the end,
 * those that have left it still count; it is -1 and a sentence when a job could not be read now. */
void load_begin(struct load *load);
int load_see_job(void *context, const struct job_place *place);
int load_end(struct load *load, struct error *error);

enum load_answer {
    LOAD_TAKEN, /* the job fits, and now counts */
    LOAD_FULL,  /* not now: a sentence says which limit is reached */
    LOAD_SHARE, /* not now, as its owner has as many there as one may; a sentence says so */
    LOAD_NEVER  /* it makes more objects than live_max */
};

/* May this job be submitted?  If so, it counts until load_release() or, once it is in submitted/,
 * until it leaves that.  A job that already counts may. */
enum load_answer load_take(struct load *load, const char *id, uid_t owner, struct text manifest,
                           struct error *error);
/* The scheduler does not have the job; or it does, and the job is now in submitted/.  Jobs that do
 * not count are accepted, too. */
void load_release(struct load *load, const char *id, bool submitted);

#endif
