/* stages/track/lost.h - ends jobs at the executor that have ended, or whose directory somebody has removed
 *
 * The tasks of such a job would go on at the executor for ever, with no stage following them.  So the
 * track stage ends and removes them; but only those of a job that this process has followed itself, or
 * that the executor says for certain belongs to this spool, and only after looking for its directory in
 * every state, repeatedly, for LOST_PATIENCE: a directory that cannot be seen now, because a file server
 * is slow or somebody moves it, is not lost.  If it is seen again in time, nothing is done.
 *
 * Jobs that were ended like this are written down (removed_file.h).
 *
 * A job in failed/ or done/ may come back to life at the executor: a slurmctld that was restarted with an older
 * state has it running again, without a process, until its time limit.  That is ended in the same way, and what
 * the executor keeps of tasks that have ended is left alone.
 *
 * Weakness: when a directory is removed while no daemon serves the spool, a job stays at the
 * executor if that cannot say for certain that it belongs to this spool (executor.h, list(): an
 * older dlspool submitted it, or the spool is a copy).
 */
#ifndef STAGES_TRACK_LOST_H
#define STAGES_TRACK_LOST_H

#include "stages/track/inside.h"

enum {
    LOST_PATIENCE = 30000,
    STRAYS_INTERVAL = 60000, /* milliseconds */
    LOST_AT_ONCE =
        16 /* jobs about which the executor is asked in one round, so that others are not delayed */
};

/* Call this at the start of each round.  In the first, and every STRAYS_INTERVAL, it begins to
 * follow the jobs that the executor has and that have ended or have no directory, so that lost_handle_job()
 * handles them. */
void lost_find_orphans(struct tracker *tracker);

/* The directory of a followed job is not in submitted/.  True when the job must be forgotten: it is
 * in another state, or it is gone and so is everything that the executor had of it. */
bool lost_handle_job(struct tracker *tracker, struct tracked *tracked);

#endif
