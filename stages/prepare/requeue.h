/* stages/prepare/requeue.h - a job of failed/ or held/ goes to rendered/, or is killed where it waits; one of
 * rendered/ gets another size
 *
 * The job is rendered again from its request, since the templates may have changed.  If that
 * succeeds, its files are replaced and it moves; if not, it is then in failed/, with the new
 * reason.  Repeating it after a crash has the same result: until the job has moved, its record
 * still says why it failed.  A job of failed/ that somebody holds, or that depends on jobs which
 * have not ended, goes to held/ instead.  It is rendered at its next size, or at the one that it
 * was given while it ran.
 *
 * A job that is retried for the cause "change" goes on only if its new manifest differs from the
 * refused one.  A job that was given up no longer waits for a change.
 *
 * A job of rendered/ stays there.  If the executor may have it, because an intent was noted, it is
 * left unchanged: it must not be submitted in two forms under one token.
 *
 * This reads untrusted text, so it belongs in a confined process.
 */
#ifndef STAGES_PREPARE_REQUEUE_H
#define STAGES_PREPARE_REQUEUE_H

#include "spool/job.h"
#include "stages/prepare/renew.h"

enum action_kind { ACTION_NONE, ACTION_REQUEUE, ACTION_KILL, ACTION_END_WAIT };

struct requeue_action {
    char id[ID_SIZE];
    enum state from;       /* STATE_FAILED, STATE_HELD or STATE_RENDERED */
    enum action_kind kind; /* ACTION_KILL, ACTION_END_WAIT: only of failed/ */
    const char *cause;     /* of ACTION_REQUEUE: the word for the log */
    int64_t size;          /* of a job of rendered/: its next size (job/sizes.h) */
};

struct requeue_move { /* a job whose files are written */
    struct job_place place;
    int job; /* its directory */
    enum state to;
    const char *cause;
};

enum { REQUEUE_BATCH = 128 }; /* jobs that are made durable together */

struct requeuer {
    struct renewer renewer; /* its arena is reset after each job */
    size_t requeued;        /* counts the jobs that went to rendered/ */
    struct requeue_move moves[REQUEUE_BATCH];
    size_t moves_count;
};

/* Do everything for a job except moving it.  A failure is logged, and the next pass finds the job
 * again.  Call it at most REQUEUE_BATCH times before requeue_finish(). */
void requeue_job(struct requeuer *requeuer, const struct requeue_action *action);

/* Make durable what was written, and move those jobs.  The next pass finds any job again that was
 * not moved. */
void requeue_finish(struct requeuer *requeuer);

#endif
