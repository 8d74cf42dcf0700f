/* stages/requeue.h - a failed job goes back to rendered/, or is killed where it waits
 *
 * The job is rendered anew from its request, since the templates may have changed.  If it can be,
 * its files are renewed and it moves; if not, it stays, with the new reason.  Doing it again after
 * a crash has the same result: until the job has moved, its record goes on saying why it failed.
 *
 * This reads what strangers wrote, so it belongs into a confined process.
 */
#ifndef STAGES_REQUEUE_H
#define STAGES_REQUEUE_H

#include "stages/stage.h"

enum deed_kind { DEED_NONE, DEED_REQUEUE, DEED_KILL };

struct requeue_deed {
    char id[ID_SIZE];
    enum deed_kind kind;
    const char *cause;          /* of DEED_REQUEUE: the word for the log */
};

struct requeuer {
    struct stage *stage;
    struct repository *repository;      /* refreshed by the caller */
    struct arena *arena;                /* reset after each job */
    const char *settings;               /* SHA-256 of dlspool.yaml as it is now */
    size_t requeued;                    /* counts the jobs that went back */
};

/* Trouble is said in the log; the job is then found again by the next pass. */
void requeue_job(struct requeuer *requeuer, const struct requeue_deed *deed);

#endif
