/* request/notes.h - notes to the owner about an accepted job
 *
 * Notes become lines `note` of the job's log.  After NOTES_MOST they are only counted, and the last
 * note says how many there were.
 */
#ifndef REQUEST_NOTES_H
#define REQUEST_NOTES_H

#include "request/description.h"

enum { NOTES_MOST = 100 };

/* `field` is for a sentence: "taskRoles[0].storageGB".  Everything is copied into the arena. */
void request_notes_add(struct arena *arena, struct notes *notes, const char *field,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
