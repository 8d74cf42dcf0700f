/* commands/pick.h - which job is meant by a word on the command line
 *
 * A whole id means that job.  A name that fits exactly means a job of that name: of the caller's, or if
 * he has none, of anybody's.  Anything else means the job whose id alone begins with it.
 *
 * To look at a job, a name means the caller's newest of that name.  To do something to one, only what is
 * unambiguous will do: the one job of that name to which it can be done, or a beginning that does not
 * end within the name, as `dig` of digits does.
 */
#ifndef COMMANDS_PICK_H
#define COMMANDS_PICK_H

#include "commands/view.h"
#include "stages/control.h"

/* The job to look at.  STATUS_DONE and its place; STATUS_NOT_FOUND when there is none or it cannot be told
 * which, STATUS_FAILED when the spool cannot be read: then *error is a sentence, and of several jobs a line
 * for each of the newest follows, with what tells them apart. */
int pick_find(const struct spool *spool, const char *word, struct job_place *place,
              struct error *error);

/* The same, said. */
int pick_job(const struct spool *spool, const char *word, struct job_place *place);

/* The job to do something to. */
int pick_job_for(const struct spool *spool, const char *word, enum control_verb verb,
                 struct job_place *place, struct error *error);

/* Can it be done to the job as it is now?  What was done to it already, or would change nothing, cannot. */
bool pick_applies(const struct spool *spool, const struct job_view *view, enum control_verb verb);

#endif
