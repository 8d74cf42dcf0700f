/* spool/file.h - writing the files of a job's directory (`job` is its descriptor) */
#ifndef SPOOL_FILE_H
#define SPOOL_FILE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* Write a file of a job directory: a new one (fails if it exists), or a replacement of an old one
 * (written beside it, then renamed over it). */
int spool_file_create(int job, const char *name, struct text bytes, mode_t mode,
                      struct error *error);
int spool_file_replace(int job, const char *name, struct text bytes, mode_t mode,
                       struct error *error);
/* The second for contents that can be made again, such as a measurement: readers always see a whole
 * file, but it is not made durable, so it costs next to nothing. */
int spool_file_renew(int job, const char *name, struct text bytes, mode_t mode,
                     struct error *error);
/* The first two for a file that only the daemon and a group may read (mode 0640), since what a user
 * wrote may contain secrets.  If the daemon may not give the file to the group, it keeps the
 * daemon's own group. */
int spool_file_create_private(int job, const char *name, struct text bytes, gid_t group,
                              struct error *error);
int spool_file_replace_private(int job, const char *name, struct text bytes, gid_t group,
                               struct error *error);

/* Who reads job files as `user:` may move what stands in its directories, and a file of root's counts as root's word
 * where jobs are dropped: so from now on what root makes in a directory of that user's belongs to that user. */
void spool_file_give_to(uid_t user);

/* Give a file that root has just made in `directory` to that user, if the directory is theirs, and to the group
 * (-1: leave it as it is).  -1 with errno. */
int spool_file_give(int file, int directory, gid_t group);

/* Rename anything that has the name of one of a job's files but is no file to NAME.damaged.  -1
 * with errno on failure. */
int spool_file_damaged(int job, const char *name);

/* Open a file that is there to be locked, or make it.  It is private, also where an older version has made it
 * readable: who may read a file may lock it against those who want to lock it for writing.  -1 with errno. */
int spool_file_open_lock(int directory, const char *name);

#endif
