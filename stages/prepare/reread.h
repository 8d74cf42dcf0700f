/* stages/prepare/reread.h - requests of jobs are read again, by a process of its own
 *
 * It is confined as intake is: the stage itself talks to the executor, and must not be what a
 * request can get hold of.  When the process ends over a request, its guard tells over which; that
 * is noted in the job's log, where it is counted, and another process goes on with the next job.  A
 * job over which it ends GUARD_MOST_TRIES times goes to failed/ (StopsReader), or stays there.
 */
#ifndef STAGES_PREPARE_REREAD_H
#define STAGES_PREPARE_REREAD_H

#include "stages/prepare/requeue.h"

struct reread {
    struct stage *stage;
    struct repository *repository; /* refreshed by the caller */
    struct arena *arena;           /* reset after each job */
    const char *settings;          /* SHA-256 of dlspool.yaml as it is now */
    const struct requeue_action *actions;
    size_t count;
    /* What counts in memory how often the process has ended over a job, for when its log cannot be
     * written; it may answer NULL.  NULL: the log alone counts. */
    int *(*stops)(void *context, const struct requeue_action *action);
    void *context;
    size_t requeued; /* counts the jobs that go to rendered/ */
};

/* Do it all.  A job over whose request the process ends is left out of this time; the others go on.
 * In a stage that is not confined (struct stage) this process does it itself.  -1 and a sentence when
 * they could not. */
int reread_jobs(struct reread *reread, struct error *error);

#endif
