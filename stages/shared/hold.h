/* stages/shared/hold.h - a job goes to held/, and what stands beside it there
 *
 * A job waits in held/ for two reasons: somebody has asked for it, whose request is the file `hold` in
 * its directory (stages/shared/control.h), or jobs that it is to come after have not ended.
 */
#ifndef STAGES_SHARED_HOLD_H
#define STAGES_SHARED_HOLD_H

#include "spool/record.h"
#include "stages/shared/control.h"
#include "stages/shared/hold_tasks.h"
#include "stages/shared/dependencies.h"

/* A job that the one in held/ waits for. */
struct hold_reason {
    const struct awaited *awaited;
    enum dependency_state dependency; /* DEPENDENCY_UNSURE: not known, or not looked at yet */
    const char *reason;               /* of its failure; or "" */
};

struct hold_view {
    const char *id;
    const struct control_request *request; /* who holds it; NULL: nobody does */
    struct text tasks;                     /* ... of an array only these; empty: the whole job */
    bool by_owner;                         /* that is its owner */
    const struct hold_reason *reasons;     /* those that do not hold yet */
    size_t count;
    int64_t patience_ends; /* when a job that has not come is not waited for any longer;
                                         * 0: not known */
};

/* The bytes of `why`, appended. */
void hold_explain(struct buffer *why, const struct hold_view *view);

/* Does the array wait because of tasks that are held, with nothing else to run?  1 yes, and who holds which; 0
 * no; -1 when that cannot be told now. */
int hold_keep_tasks(int job, const struct job_record *record, struct arena *arena,
                    struct held_tasks *held);

/* Is the job to wait in held/ before it may go to rendered/?  1 yes, and *held tells whether somebody
 * holds it, who in *request; 0 no; -1 when that cannot be told now. */
int hold_is_due(int job, const struct job_record *record, bool *held,
                struct control_request *request);

/* Write into the job's directory that it goes to held/: job.yaml, why, and a "held" event.  Nothing
 * is synced or moved.  -1 and a sentence on failure. */
int hold_write(int job, struct job_record *record, bool create, int64_t now, struct error *error);

#endif
