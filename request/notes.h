/* request/notes.h - what the owner is told about a job that was accepted
 *
 * Notes become lines `note` of the job's log.  They are bounded: past NOTES_MOST they are only
 * counted, and the last one says how many there were.
 */
#ifndef REQUEST_NOTES_H
#define REQUEST_NOTES_H

#include "request/description.h"

enum { NOTES_MOST = 100 };

/* `field` is as in a sentence, "taskRoles[0].storageGB".  All is copied into the arena. */
void request_notes_add(struct arena *arena, struct notes *notes, const char *field,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
