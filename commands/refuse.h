/* commands/refuse.h - what cannot be had or done: a sentence, and for programs an object */
#ifndef COMMANDS_REFUSE_H
#define COMMANDS_REFUSE_H

#include "spool/job.h"

/* Print, for programs, why something could not be done, and the status that it leads to; `word` is that of the
 * command line which it is about, or NULL. */
void refuse_as_object(const char *word, const char *sentence, int status);

/* Say that what the word of the command line names cannot be had, with the status that it leads to: a
 * sentence, and for programs an object in place of the job's. */
void refuse_not_found(const char *word, int status, const struct error *error, bool json);
/* The same, with --json if the command line has it; the status. */
int refuse_word(const char *word, int status, const struct error *error);

/* Say why a job that was found cannot be read, by errno: it moved, or it is not for the caller.  The
 * status. */
int refuse_gone(const struct job_place *place);

#endif
