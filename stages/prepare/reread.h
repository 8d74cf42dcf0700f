/* stages/prepare/reread.h - reads the requests of jobs again, in a separate process
 *
 * The process is confined as intake is, because the stage itself talks to the executor and must be
 * out of a request's reach.  When the process crashes over a request, its guard says which; the
 * crash is noted, and so counted, in the job's log, and another process goes on with the next job.
 * A job over which it crashes GUARD_MOST_TRIES times goes to failed/ (StopsReader), or stays there.
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
    /* Gives the counter, in memory, of crashes over a job, for when its log cannot be written; it
     * may return NULL.  NULL: only the log counts. */
    int *(*stops)(void *context, const struct requeue_action *action);
    void *context;
    size_t requeued; /* counts the jobs that go to rendered/ */
};

/* Handle all jobs.  A job over whose request the process crashes is skipped this time; the others
 * go on.  In a stage that is not confined (struct stage) this process does it itself.  -1 and a
 * sentence on failure. */
int reread_jobs(struct reread *reread, struct error *error);

#endif
