/* stages/track/user_file.h - small files of users, on storage that may not answer
 *
 * A file server that is gone holds up who opens a file of it, for minutes or for good.  So a thread of
 * its own opens and reads such files, one after another, and who asked looks later for the answer.
 * While it is held up there are no answers, and that is all.
 *
 * A file is read only if it is a regular one and its owner's, so that nobody has dlspool read for
 * them what they may not read themselves; a device, a pipe or a link is not even opened, which alone could
 * do something.
 */
#ifndef STAGES_TRACK_USER_FILE_H
#define STAGES_TRACK_USER_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

enum { USER_FILE_FILE_LIMIT = 4096 }; /* bytes */

struct user_file_answer {
    bool read;
    char bytes[USER_FILE_FILE_LIMIT];
    size_t length;
    int64_t written; /* of day: when the file was last written */
    char why[128];   /* not read: why not; "": it is not there (yet) */
};

struct user_file;

/* Only one thread may call these. */
struct user_file *user_file_new(struct text path, uid_t owner);
void user_file_free(struct user_file *file); /* NULL is fine; never waits */

/* Have it read, unless it is being read or waits for that. */
void user_file_ask(struct user_file *file);

/* The answer that was asked for, once; waits for it for at most `patience` milliseconds. */
bool user_file_take(struct user_file *file, int64_t patience, struct user_file_answer *answer);

#endif
