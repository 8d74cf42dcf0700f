/* stages/prepare/renew.h - the next attempt of a job: rendered again, and its files written
 *
 * The job is rendered again from its request, since the templates may have changed, at the size that it
 * is to have next, and of an array only the tasks that are left and not held.  Nothing is moved or synced.
 * Doing it again after a crash has the same result: until the job has moved, its record goes on saying why
 * it failed.
 */
#ifndef STAGES_PREPARE_RENEW_H
#define STAGES_PREPARE_RENEW_H

#include "spool/record.h"
#include "stages/stage.h"

struct renewer {
    struct stage *stage;
    struct repository *repository; /* refreshed by the caller */
    struct arena *arena;
    const char *settings; /* SHA-256 of dlspool.yaml as it is now */
};

struct renewal_order {
    enum state from, to; /* to: STATE_RENDERED, or STATE_HELD, where it is to wait */
    const char *cause;   /* the word for the log */
    int64_t size;        /* that it is to have (job/sizes.h); 0: by its record */
};

/* What became of a job that is to go on: its files are those of the next attempt; it fails, with the reason
 * written; it waits in held/, as its tasks do; or it is to be tried again, for the reason in a sentence. */
enum renewal { RENEW_DONE, RENEW_FAILED, RENEW_HELD, RENEW_TROUBLE };

enum renewal renew_job(const struct renewer *renewer, int job, struct job_record *record,
                       const struct renewal_order *order, struct error *error);

#endif
