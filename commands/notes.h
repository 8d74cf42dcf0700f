/* commands/notes.h - notes to a job's owner: fields of the job file that have no effect here */
#ifndef COMMANDS_NOTES_H
#define COMMANDS_NOTES_H

#include "base/text.h"
#include "request/notes.h"
#include "spool/job.h"

/* Call `tell` with field and sentence of each note in the job's log. */
void notes_walk(struct text log,
                void (*tell)(void *context, struct text field, struct text sentence),
                void *context);

/* Print the notes of this job to standard error, a line each that starts with its id. */
void notes_complain(const struct spool *spool, const struct job_place *place);

/* Notes for --json that are not in a log yet: a list of objects with field and text. */
struct value *notes_tree(struct arena *arena, const struct notes *notes);

/* Print the notes in this log as a paragraph; nothing if there are none. */
void notes_print(struct text log);

#endif
