/* commands/pick.h - which job is meant by a word on the command line
 *
 * spool/meant.h says which, for the caller; this is where they are told of it.
 */
#ifndef COMMANDS_PICK_H
#define COMMANDS_PICK_H

#include "commands/view.h"
#include "stages/shared/control.h"

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

#endif
