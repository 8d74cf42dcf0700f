/* stages/shared/control.h - control files: kill, retry, hold, release, top, priority, approve and refuse
 *
 * A control file requests an action on a job.  Intake checks that the file's owner may request it (the job's
 * owner, or an administrator; of approve and refuse an approver) and writes the request, with who asked and
 * when, as a small file into the job's directory; the stage that has the job then acts on it.  The request is
 * written through the directory's descriptor, so it reaches the job even while it is being moved.
 *
 * A job is held for as long as the request `hold` exists.  A release replaces it by `release`, and
 * a hold removes `release`.  Only intake does so: stages only look whether `hold` exists.  The
 * owner of a job that an administrator holds can neither release it nor replace that hold by their
 * own.
 *
 * top and priority say where a waiting job stands (spool/order_request.h).  Owners put their jobs before or behind
 * each other, and lower their priority; administrators raise it, too.
 */
#ifndef STAGES_SHARED_CONTROL_H
#define STAGES_SHARED_CONTROL_H

#include "request/description.h"
#include "spool/job.h"
#include "spool/name_index.h"
#include "stages/shared/approval.h"
#include "stages/shared/control_file.h"
#include "stages/stage.h"

/* Can this be requested for an existing job, of which that is known (NULL: nothing)?  False and a
 * sentence when nobody can request it. */
bool control_allows(enum control_verb verb, const struct job_place *place,
                    const struct job_record *record, struct error *error);

/* Does it decide about a job that waits for an approval? */
bool control_decides(enum control_verb verb);

/* Can the action be done to the job as it is now?  Not if it was done already or would change
 * nothing.  This is the question of a `struct meaning` (spool/meant.h): `context` is a
 * control_question. */
struct control_question {
    const struct spool *spool;
    enum control_verb verb;
};

bool control_applies(void *context, const struct job_place *place, const struct job_record *record);

/* Does the site allow jobs to be held with their memory?  False and a sentence when not. */
bool control_may_suspend(const struct settings *settings, struct error *error);

/* Is the job `id` held by somebody else than its owner, or by a file that is damaged?  True and a sentence then:
 * its owner may not release it.  `hold` is what control_file_pending() stored. */
bool control_is_held_from(const char *id, const struct control_request *hold, uid_t owner,
                          struct error *error);

/* Lower or higher than it has: may that user give it this priority?  -1 and a sentence. */
int control_may_set_priority(const struct job_record *record, bool administrator, int priority,
                             struct error *error);

/* Where records are sealed: has a root process see that a file approves this job, and fills in what it approves, with
 * its seal.  -1 and a sentence. */
typedef int control_witness(void *context, const char *id, struct approval *approval,
                            struct error *error);

/* Act on a control file of the user `uid`; `names` are the spool's, and finds the job where the file has no whole id.
 * 0; 1 and a sentence when it is refused; -1 and a sentence when it must be retried.  An approval is what `witness`
 * says, unless that is NULL. */
int control_apply_witnessed(struct stage *stage, struct name_index *names,
                            const struct control *control, uid_t uid, int64_t now,
                            control_witness *witness, void *context, struct error *error);
/* The same without a witness. */
int control_apply(struct stage *stage, struct name_index *names, const struct control *control,
                  uid_t uid, int64_t now, struct error *error);

#endif
