/* stages/control.h - kill and retry files
 *
 * A control file asks for something to be done to a job.  Intake checks that its owner may ask
 * (the job's owner, or an administrator) and writes the wish, with who asked and when, as a small
 * file into the job's directory; the stage that has the job then acts on it.  The wish is written
 * through the directory's descriptor, so it reaches the job wherever it is being moved.
 */
#ifndef STAGES_CONTROL_H
#define STAGES_CONTROL_H

#include "request/description.h"
#include "stages/stage.h"

/* Act on a control file of the user `uid`.  0; 1 and a sentence when it is refused; -1 and a
 * sentence when it is to be tried again. */
int control_apply(struct stage *stage, const struct control *control, uid_t uid, int64_t now,
                  struct error *error);

struct wish {
    char by[80];                /* user name */
    uid_t uid;
    int64_t when;
};

/* Is there a wish of that verb in the job's directory?  1 yes; 0 no; -1 when it cannot be told just
 * now, and nothing is to be decided that depends on it.  A damaged one counts, by "somebody". */
int control_pending(int job, enum control_verb verb, struct wish *wish);
/* Remove it, once it was granted. */
int control_clear(int job, enum control_verb verb, struct error *error);

#endif
