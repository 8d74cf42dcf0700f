/* commands/refuse.h - complaints about one operand: a sentence, and for --json an object */
#ifndef COMMANDS_REFUSE_H
#define COMMANDS_REFUSE_H

#include "spool/job.h"

/* Print an object with the sentence and the status; `word` is the operand concerned, or NULL. */
void refuse_as_object(const char *word, const char *sentence, int status);

/* Complain that an operand was not found or is not available, with the status; with `json` print
 * an object in place of the job's. */
void refuse_not_found(const char *word, int status, const struct error *error, bool json);
/* The same, as --json on the command line says.  Returns the status. */
int refuse_word(const char *word, int status, const struct error *error);

/* Complain by errno that a job which was found cannot be read: it moved, or the caller may not
 * read it.  Returns the status. */
int refuse_gone(const struct job_place *place);

#endif
