/* stages/prepare/renew.h - the next attempt of a job: rendered again, and its files written
 *
 * The job is rendered again from its request, since the templates may have changed, at its next
 * size; of an array, only the tasks that are left and not held.  Nothing is moved or synced.
 * Repeating it after a crash has the same result: until the job has moved, its record still says
 * why it failed.
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
    enum state from, to; /* to: STATE_RENDERED, or STATE_HELD when it must wait */
    const char *cause;   /* the word for the log */
    int64_t size;        /* its next size (job/sizes.h); 0: as its record says */
};

/* The result for a job: its files are those of the next attempt; it fails, and the reason is
 * written; it waits in held/, since its tasks are held; or renewing must be tried again later, for
 * the reason in a sentence. */
enum renewal { RENEW_DONE, RENEW_FAILED, RENEW_HELD, RENEW_TROUBLE };

enum renewal renew_job(const struct renewer *renewer, int job, struct job_record *record,
                       const struct renewal_order *order, struct error *error);

#endif
