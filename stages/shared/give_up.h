/* stages/shared/give_up.h - a job over which a stage ends again and again
 *
 * A fault of dlspool that one job brings about must not keep all others from being submitted, followed
 * or resubmitted.  The job goes to failed/ with the reason StopsStage, and is not retried.  What
 * the executor has of it is told to end first, with force, and forgotten; nothing that it may still do
 * is taken over by another attempt, which would have a number of its own.  A job that the local executor of
 * another machine has stays in submitted/, passed over: nothing of it can be ended from here.
 *
 * Until the executor could be told, the job stays where it is.
 *
 * Doing that reads the job once more.  If the stage ends over that, too, only the job's log and progress
 * are read; then, unless the executor has it, nothing of it.  If the stage ends even then, or it cannot be
 * told which attempt the executor has, the job stays where it is and is passed over until it leaves that
 * directory or dlspool is started again.
 */
#ifndef STAGES_SHARED_GIVE_UP_H
#define STAGES_SHARED_GIVE_UP_H

#include "spool/job.h"
#include "stages/guard.h"
#include "stages/stage.h"

/* To be asked before anything of the job is read, except when it is known to be harmless: true when
 * there is no more to be done about it: it has been set aside, or is passed over.  `executor` may be
 * NULL: then nobody is told to end it. */
bool give_up(struct stage *stage, struct guard *guard, const struct job_place *place,
             struct executor *executor);

/* Those that were passed over and are in none of the directories any more (a bit for each enum state) are
 * passed over no longer, should they come back. */
void give_up_forget_gone(const struct stage *stage, struct guard *guard, unsigned int states);

#endif
