/* stages/prepare/requeue.h - a job of failed/ or held/ goes to rendered/, or is killed where it waits; one of
 * rendered/ gets another size
 *
 * The job is rendered again from its request, since the templates may have changed.  If it can be,
 * its files are renewed and it moves; if not, it is in failed/ then, with the new reason.  Doing it
 * again after a crash has the same result: until the job has moved, its record goes on saying why it
 * failed.  A job of failed/ that somebody holds, or that is to come after others which have not
 * ended, goes to held/ instead.  It is rendered at the size that it is to have next, or that it was
 * given while it ran.
 *
 * A job that is retried for the cause "change" goes on only if it is rendered to something else than
 * what was refused; one that is given up waits for no change any more.
 *
 * A job of rendered/ stays there.  One that the executor may have, because an intent was noted, is left
 * as it is: it must not be submitted in two shapes under one token.
 *
 * This reads what strangers wrote, so it belongs into a confined process.
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
    int64_t size;          /* of one of rendered/: that it is to have (job/sizes.h) */
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

/* Do all for a job but moving it.  Trouble is said in the log; the job is then found again by the
 * next pass.  To be called at most REQUEUE_BATCH times before requeue_finish(). */
void requeue_job(struct requeuer *requeuer, const struct requeue_action *action);

/* Make durable what was written, and move those jobs.  One that was not reached is found again by the
 * next pass, too. */
void requeue_finish(struct requeuer *requeuer);

#endif
