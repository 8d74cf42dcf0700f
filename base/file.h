/* base/file.h - reading, writing and renaming files, by the table of base/system.h */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"
#include "base/text.h"

/* They retry EINTR and short counts.  -1 and a sentence on failure; `name` is what the sentence calls the file. */
int file_write_all(int file, struct text bytes, const char *name, struct error *error);
int file_read_all(int file, size_t limit, struct buffer *out, const char *name,
                  struct error *error); /* more than `limit` bytes is an error */
int file_read_at(int directory, const char *name, size_t limit, struct buffer *out,
                 struct error *error); /* O_NOFOLLOW, regular files only; not ESTALE,
                                                 * which says that another has its name by now */

/* Open for reading what somebody has named: a regular file, at once.  Anything else may make who opens it wait, so it
 * is refused, but for what is open already and is named so: `-` (standard input), /dev/stdin, and /dev/fd/N, which is
 * what a shell makes of <(command); these are read to their end, and the descriptor is a
 * copy.  Not by the table: the name is that of anybody's file.  -1 and a sentence. */
int file_open_named(const char *path, struct error *error);
/* The descriptor that the path names, as above; -1: a path like any other. */
int file_named_descriptor(const char *path);

/* renameat, of what was there and only we move.  When it fails, it is looked whether it happened:
 * NFS may send a request again whose answer was lost, and answers the second that there is nothing
 * of the old name.  Success is then success. */
int file_rename(int from, const char *old_name, int to, const char *new_name);

/* Does errno, as file_read_at() left it, say that what should be there is not: missing, of another
 * kind or too large (EBADMSG)?  Otherwise it could not be read just now, and may be later. */
bool file_is_damaged(int number);

#endif
