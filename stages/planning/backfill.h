/* stages/planning/backfill.h - what this machine has free, which job gets it first, and which may
 * pass
 *
 * For an executor that starts jobs as resources become free (executor.h: needs).  The first job in
 * the queue that does not fit keeps its place: what it needs is reserved, and a later job may pass
 * it only by taking resources that the first cannot use before it starts (EASY backfilling).  These
 * are
 *
 *   - what is left over beside the first when it starts or, if that time is unknown, what is free
 *     now beyond all that the first needs;
 *   - anything free, for a job that ends by then.
 *
 * GPUs of each type that the executor reports are counted separately.  A job that names a type
 * reserves GPUs of that type, so jobs that name another type pass it.  A job that names no type is
 * counted against all GPUs; the executor gives it those that other jobs want least (struct
 * submission: gpus_wanted).
 *
 * When a running job will end is predicted from its time limit and from how long similar jobs took
 * (planner/predict.h): the median, or the limit if that is earlier.  A job that would pass is
 * counted with its time limit or, without one, with the 80th percentile of similar jobs, plus the
 * time until its end is noticed.
 *
 * Known weaknesses: a prediction can be wrong, and then the job that passed makes the first wait
 * longer.  The remaining tasks of a running array start before the first job does.  It is not known
 * which type of GPU a job holds that named none, so a job that names a type does not count on its
 * end.  Only one job keeps its place, whatever type the next one names.
 */
#ifndef STAGES_PLANNING_BACKFILL_H
#define STAGES_PLANNING_BACKFILL_H

#include "executors/executor.h"
#include "spool/record.h"
#include "spool/spool.h"

struct backfill;

/* NULL when the scheduler queues waiting jobs itself.  Both arguments must outlive the result. */
struct backfill *backfill_new(const struct spool *spool, struct executor *executor);
void backfill_free(struct backfill *backfill); /* NULL is fine */

/* Ask what is free now, and drop any reservation.  -1 and a sentence when the executor cannot tell:
 * then everything counts as fitting, and the executor decides. */
int backfill_refresh(struct backfill *backfill, struct error *error);

/* The same with figures that the caller already has. */
void backfill_set_free(struct backfill *backfill, const struct capacity *now);
/* Set this much aside for others, as far as it exists: from what is free, unless they hold it
 * already, and from what can ever be free. */
void backfill_hold(struct backfill *backfill, const struct demand *demand, bool taken);

/* Does the whole machine have this much? */
bool backfill_fits_ever(const struct backfill *backfill, const struct demand *demand);
/* Take this from what is free.  -1 and a sentence, "needs 2 CPUs, 1 of 2 free", when there is less. */
int backfill_take(struct backfill *backfill, const struct demand *demand, struct error *error);

/* How much more must be free for it to start. */
struct demand backfill_lacks(const struct backfill *backfill, const struct demand *demand);

/* Reserve this much for the first job, which does not fit. */
void backfill_reserve(struct backfill *backfill, const struct demand *demand);
/* Could a job that needs this much pass, if it ends soon? */
bool backfill_may_pass(const struct backfill *backfill, const struct demand *demand);
/* Take what a later job needs and return true, if that does not delay the first. */
bool backfill_pass(struct backfill *backfill, const struct job_record *record,
                   const struct demand *demand);
/* Is nothing left for any job? */
bool backfill_is_shut(const struct backfill *backfill);

#endif
