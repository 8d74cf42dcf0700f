/* stages/planning/backfill.h - what this machine has free, who is first to have it, and who may pass
 *
 * For an executor that starts what there is room for (executor.h: needs).  The first job in the
 * queue that does not fit keeps its place: what it needs is kept for it, and a later job may pass
 * only into room that the first cannot use before its turn (EASY backfilling).  That is
 *
 *   - room that is left beside the first when it starts, or, where it is not known when that will
 * be, what is free beyond all that the first needs;
 *   - any room for a job that is over by then.
 *
 * GPUs of each type that the executor tells are counted by themselves.  What is kept for a job that names
 * a type is of that type, so jobs for another pass it.  A job that names none is counted among all;
 * the executor gives it what others want least (struct submission: gpus_wanted).
 *
 * When jobs that run will be over is told by their time limits and by what jobs like them took
 * (planner/predict.h): the median, or the limit if that is earlier.  A job that wants to pass
 * counts with its limit or, without one, with what four of five do not exceed, and with what it
 * takes until its end is seen.
 *
 * Known weaknesses: a prediction can be wrong, and then the first waits longer by one job that
 * passed. The further tasks of an array that runs take their turns before the first.  Which type a job
 * holds that named none is not known, so its end is not counted on by one that names a type.  Only
 * one job keeps its place, whatever the type of the next.
 */
#ifndef STAGES_PLANNING_BACKFILL_H
#define STAGES_PLANNING_BACKFILL_H

#include "executors/executor.h"
#include "spool/record.h"
#include "spool/spool.h"

struct backfill;

/* NULL when the scheduler keeps those that wait.  Both must live as long. */
struct backfill *backfill_new(const struct spool *spool, struct executor *executor);
void backfill_free(struct backfill *backfill); /* NULL is fine */

/* Look at what is free now; nothing is kept for anybody then.  -1 and a sentence when the executor
 * cannot tell: everything fits then, for the executor to decide. */
int backfill_refresh(struct backfill *backfill, struct error *error);

/* The same of figures that were asked for already. */
void backfill_tell(struct backfill *backfill, const struct capacity *now);
/* So much is for others, as far as it is there: of what is free, unless they have it already, and of
 * what can ever be free. */
void backfill_hold(struct backfill *backfill, const struct demand *demand, bool taken);

/* Has the machine so much in all? */
bool backfill_fits_ever(const struct backfill *backfill, const struct demand *demand);
/* Take it of what is free.  -1 and a sentence, "needs 2 CPUs, 1 of 2 free", when there is less. */
int backfill_take(struct backfill *backfill, const struct demand *demand, struct error *error);

/* Keep so much for the first, which does not fit. */
void backfill_reserve(struct backfill *backfill, const struct demand *demand);
/* Might a job that needs so much pass, if it is over soon? */
bool backfill_may_pass(const struct backfill *backfill, const struct demand *demand);
/* Take what a later job needs, if that does not delay the first: true then. */
bool backfill_pass(struct backfill *backfill, const struct job_record *record,
                   const struct demand *demand);
/* Is there nothing left for anybody? */
bool backfill_is_shut(const struct backfill *backfill);

#endif
