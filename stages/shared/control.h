/* stages/shared/control.h - kill, retry, hold and release files
 *
 * A control file asks for something to be done to a job.  Intake checks that its owner may ask
 * (the job's owner, or an administrator) and writes the request, with who asked and when, as a small
 * file into the job's directory; the stage that has the job then acts on it.  The request is written
 * through the directory's descriptor, so it reaches the job wherever it is being moved.
 *
 * A job is held for as long as there is the request `hold`, which a release takes away and leaves
 * `release` for; and a hold takes that away.  Only intake does so: stages only look whether `hold` is
 * there.  What an administrator has held its owner can neither release nor hold as their own.
 */
#ifndef STAGES_SHARED_CONTROL_H
#define STAGES_SHARED_CONTROL_H

#include "request/description.h"
#include "spool/job.h"
#include "stages/shared/control_file.h"
#include "stages/stage.h"

/* May this be asked of a job that is there, and of which that is known (NULL: nothing)?  False and a
 * sentence when it may not, whoever asks. */
bool control_allows(enum control_verb verb, const struct job_place *place,
                    const struct job_record *record, struct error *error);

/* Can it be done to the job as it is now?  What was done to it already, or would change nothing, cannot.
 * The question of a `struct meaning` (spool/meant.h): `context` is a control_question. */
struct control_question {
    const struct spool *spool;
    enum control_verb verb;
};

bool control_applies(void *context, const struct job_place *place, const struct job_record *record);

/* Act on a control file of the user `uid`.  0; 1 and a sentence when it is refused; -1 and a
 * sentence when it must be retried. */
int control_apply(struct stage *stage, const struct control *control, uid_t uid, int64_t now,
                  struct error *error);

#endif
