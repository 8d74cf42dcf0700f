/* stages/shared/give_up.h - gives up a job over which a stage crashes again and again
 *
 * A bug in dlspool that one job triggers must not keep all others from being submitted, followed or
 * resubmitted.  The job goes to failed/ with the reason StopsStage, and is not retried.  First its
 * attempt is killed at the executor, and forgotten; another attempt, which would have its own
 * number, never takes over what this one may still do.  A job that the local executor of another
 * machine has stays in submitted/ and is passed over: it cannot be ended from here.
 *
 * Until the executor has been told, the job stays where it is.
 *
 * This reads the job once more.  If the stage crashes over that, too, only the job's log and
 * progress are read; after the next crash nothing of it, unless the executor has it.  If the stage
 * crashes even then, or cannot determine which attempt the executor has, the job stays where it is
 * and is passed over until it leaves that directory or dlspool is restarted.
 */
#ifndef STAGES_SHARED_GIVE_UP_H
#define STAGES_SHARED_GIVE_UP_H

#include "spool/job.h"
#include "stages/guard.h"
#include "stages/stage.h"

/* Call this before anything of the job is read, unless it is known to be harmless.  True when
 * nothing more needs doing: the job has been set aside, or is passed over.  `executor` may be NULL:
 * then no executor is told to end it. */
bool give_up(struct stage *stage, struct guard *guard, const struct job_place *place,
             struct executor *executor);

/* Stop passing over the jobs that are no longer in any of the directories (a bit for each enum
 * state), in case they come back. */
void give_up_forget_gone(const struct stage *stage, struct guard *guard, unsigned int states);

#endif
