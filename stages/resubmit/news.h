/* stages/resubmit/news.h - the jobs of a directory that a pass has to look at
 *
 * Where events tell all (watcher/watch.h), these are the jobs that have come, or of which the stage was notified, and
 * now and then all, as an insurance; elsewhere they are all.  So a pass costs what has changed, not what is there.
 */
#ifndef STAGES_RESUBMIT_NEWS_H
#define STAGES_RESUBMIT_NEWS_H

#include "base/error.h"
#include "spool/jobs.h"
#include "watcher/watch.h"

/* Visit those jobs of the state whose directory is watched.  1 when all jobs were visited that are there, 0 when that
 * is not known, -1 and a sentence when the directory could not be read. */
int news_visit(struct watch *watch, enum state state, job_visit *visit, void *context,
               struct error *error);

#endif
