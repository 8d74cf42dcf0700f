/* base/file.h - reading, writing and renaming files, by the table of base/system.h */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* These retry EINTR and short counts.  -1 and a sentence on failure, in which the file is called
 * `name`. */
int file_write_all(int file, struct text bytes, const char *name, struct error *error);
int file_read_all(int file, size_t limit, struct buffer *out, const char *name,
                  struct error *error); /* more than `limit` bytes is an error */
int file_read_sized(int file, off_t size, size_t limit, struct buffer *out, const char *name,
                    struct error *error); /* the same for a regular file whose size is known */
int file_read_at(int directory, const char *name, size_t limit, struct buffer *out,
                 struct error *error); /* O_NOFOLLOW, regular files only; not ESTALE,
                                                 * which says that another has its name by now */
/* The same for a file whose bytes show whether they are all there, such as by a sum in them: where they do, its status
 * is not looked at.  `is_whole` is asked about what was read at once; where it says no, the file is read as above. */
typedef bool file_is_whole(void *context, struct text bytes);
int file_read_sound_at(int directory, const char *name, size_t limit, struct buffer *out,
                       file_is_whole *is_whole, void *context, struct error *error);

/* Open a file that a user named.  Only regular files are opened, without waiting: opening
 * others, such as FIFOs, may block.  Also accepted are descriptors that are open already: `-`
 * (standard input), /dev/stdin, and /dev/fd/N, which shells make of <(command); these are read
 * to their end, through a copy of the descriptor.  Not through `sys`, since it may be anybody's
 * file.  -1 and a sentence. */
int file_open_named(const char *path, struct error *error);
/* The descriptor that such a path names; -1 for an ordinary path. */
int file_named_descriptor(const char *path);

/* renameat() of an entry that existed and that only we move.  After a failure it checks whether
 * the rename happened, and returns success if so: NFS may repeat a request whose answer was
 * lost, and the second one fails since the old name is gone. */
int file_rename(int from, const char *old_name, int to, const char *new_name);

/* Does errno, after file_read_at(), mean that the file is damaged: missing, of another kind or
 * too large (EBADMSG)?  Otherwise reading failed for now, and may succeed later. */
bool file_is_damaged(int number);

#endif
