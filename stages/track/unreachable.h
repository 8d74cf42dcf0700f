/* stages/track/unreachable.h - since when tasks of a job cannot be reached, kept in its log
 *
 * A task whose machine does not answer may still run, so the executor waits for it for a while
 * (task_state.unreachable) before it counts as lost.  An event `unreachable` in the job's log says since
 * when, so that this patience does not begin anew with each process.
 *
 * Known weakness: of more than UNREACHABLE_MOST pieces at a time the rest is waited for anew after a
 * restart.
 */
#ifndef STAGES_TRACK_UNREACHABLE_H
#define STAGES_TRACK_UNREACHABLE_H

#include "base/names.h"
#include "executors/executor.h"

enum { UNREACHABLE_MOST = 10000 };

/* Append an event to the log of the job directory `job` for each task that the poll reports and the log
 * does not have yet.  *since is NULL until there is one, and is that of job_poll; the caller frees it with
 * names_free().  What cannot be written is tried again at the next poll. */
void unreachable_note(struct names **since, int job, const struct job_poll *poll);

/* What the log says about that attempt, from before a restart.  NULL: nothing. */
struct names *unreachable_recall(struct text log, int attempt);

#endif
