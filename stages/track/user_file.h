/* stages/track/user_file.h - small files of users, on storage that may not answer
 *
 * Opening a file on a dead file server blocks, for minutes or for good.  So a separate thread opens
 * and reads such files, one after another, and the caller looks for the answer later.  While the
 * thread is blocked there are no answers, but nothing else suffers.
 *
 * A file is read only if it is a regular file and belongs to the job's owner, so that no user can
 * have dlspool read what they may not read themselves.  A device, a pipe or a link is not even
 * opened, since opening one can have effects.
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
    int64_t written; /* time of day when the file was last written */
    char why[128];   /* not read: why not; "": it is not there (yet) */
};

struct user_file;

/* Only one thread may call these functions. */
struct user_file *user_file_new(struct text path, uid_t owner);
void user_file_free(struct user_file *file); /* NULL is fine; never waits */

/* Request that the file be read, unless it is being read or waits for that already. */
void user_file_ask(struct user_file *file);

/* Take the answer to the request, once; waits for at most `patience` milliseconds. */
bool user_file_take(struct user_file *file, int64_t patience, struct user_file_answer *answer);

#endif
