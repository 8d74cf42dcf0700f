/* stages/shared/hold.h - moving a job to held/, and the files that say why
 *
 * A job waits in held/ for one of four reasons: somebody has requested it, by the file `hold` in its
 * directory (stages/shared/control.h), jobs that it depends on have not ended, the time of its
 * `begin` has not come, and nobody has released it from that, or nobody has approved what its site gives
 * only by approval (stages/shared/approval.h).
 */
#ifndef STAGES_SHARED_HOLD_H
#define STAGES_SHARED_HOLD_H

#include "request/description.h"
#include "spool/record.h"
#include "stages/shared/approval_words.h"
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
    const struct hold_reason *reasons;     /* those that are not met yet */
    size_t count;
    int64_t begin; /* its own time, which has not come; 0: it has, or there is none */
    const struct approval_words *approval; /* of an approval that it waits for; NULL: of none */
    int64_t patience_ends; /* when the wait for a job that has not come ends; 0: not known */
};

/* What has to become of the other job: "must succeed", ... */
const char *hold_wanted(enum condition condition);

/* Append the bytes of `why`. */
void hold_explain(struct buffer *why, const struct hold_view *view);

/* Does the array wait because all tasks that it would run are held? 1 yes, and who holds which; 0
 * no; -1 when that cannot be determined now. */
int hold_keep_tasks(int job, const struct job_record *record, struct arena *arena,
                    struct held_tasks *held);

/* Must the job wait in held/ for other jobs, a time or an approval, before it may go to rendered/?  1 yes;
 * 0 no; -1 when that cannot be determined now. */
int hold_awaits(const struct settings *settings, int job, const struct job_record *record);

/* The same, also where somebody holds it. 1 yes, and *held tells whether somebody
 * holds it, *request who; 0 no; -1 when that cannot be determined now. */
int hold_is_due(const struct settings *settings, int job, const struct job_record *record,
                bool *held, struct control_request *request);

/* Write into the job's directory that it goes to held/: job.yaml, why, and a "held" event.  Nothing
 * is synced or moved.  -1 and a sentence on failure. */
int hold_write(const struct settings *settings, int job, struct job_record *record, bool create,
               int64_t now, struct error *error);

#endif
