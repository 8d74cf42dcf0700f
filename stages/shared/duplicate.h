/* stages/shared/duplicate.h - a job that is in two directories
 *
 * One rename moves a job, so it is in one directory; but a file system may lose a rename, and
 * somebody may copy a job (`cp -a`).  A stage that finds a new job checks whether it is elsewhere,
 * too, which costs one or two lookups in each other state.  Of two copies, the right one is the one
 * that is where its own log says; else the one with the longer log; else the one further along.
 * The other is set aside: it becomes a job in failed/ under an id of its own, and is never retried.
 *
 * dlspool itself never has a job in two places, even for a moment: only the stage that serves a
 * directory moves jobs out of it, and that stage checks.  A job in two days of done/ is not noticed
 * here; `dlspool check` finds it.
 */
#ifndef STAGES_SHARED_DUPLICATE_H
#define STAGES_SHARED_DUPLICATE_H

#include "spool/job.h"
#include "stages/stage.h"

/* Is the job at `place` elsewhere, too?  Then set one of the two aside.  True when it was this one:
 * it is no longer there.  `accepted` is the job's time of acceptance, from which the days of done/
 * to search follow; 0: none. errno is unchanged when the job is nowhere else. */
bool duplicate_settle(struct stage *stage, const struct job_place *place, int64_t accepted);

/* From the one to the other, while a batch is looked at, it is looked once which days of done/ there are. */
void duplicate_begin_batch(struct stage *stage);
void duplicate_end_batch(struct stage *stage);

#endif
