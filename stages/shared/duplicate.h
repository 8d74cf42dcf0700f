/* stages/shared/duplicate.h - a job that is in two directories
 *
 * One rename moves a job, so it is in one directory; but a file system may lose a rename, and
 * somebody may copy a job (`cp -a`).  A stage that meets a job asks whether it is somewhere else,
 * too, which costs a look or two into each other state.  Of two, the right one is where its own
 * log says that it is; or else the one with the longer log; or else the one that is further on.
 * The other is set aside: it becomes a job in failed/ under an id of its own, which is never tried
 * again.
 *
 * Nothing else has a job in two places, even for a moment: only the stage that serves a directory
 * moves jobs out of it, and that stage asks.  Two days of done/ are not told apart from here:
 * `dlspool check` finds those.
 */
#ifndef STAGES_SHARED_DUPLICATE_H
#define STAGES_SHARED_DUPLICATE_H

#include "spool/job.h"
#include "stages/stage.h"

/* Is the job at `place` somewhere else, too?  Then one of the two is set aside.  True when it was
 * this one: it is not there any more.  `accepted` is when it was, and tells in which days of done/
 * to look; 0: in none.  When it is nowhere else, errno is as it was. */
bool duplicate_settle(struct stage *stage, const struct job_place *place, int64_t accepted);

#endif
