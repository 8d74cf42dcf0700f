/* commands/notes.h - what a job's owner was told when it was accepted: fields without an effect here */
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

/* Notes that no log has yet, for --json: a list of objects with field and text. */
struct value *notes_tree(struct arena *arena, const struct notes *notes);

/* Print the notes in this log as a paragraph of its own; nothing where there are none. */
void notes_print(struct text log);

#endif
