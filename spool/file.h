/* spool/file.h - writing the files of a job's directory (`job` is its descriptor) */
#ifndef SPOOL_FILE_H
#define SPOOL_FILE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* Write a file of a job directory: a new one (fails when it is there), or in place of an old one
 * (written aside, then renamed over). */
int spool_file_create(int job, const char *name, struct text bytes, mode_t mode,
                      struct error *error);
int spool_file_replace(int job, const char *name, struct text bytes, mode_t mode,
                       struct error *error);
/* The second for what can be made again, such as a measurement: whole for every reader, but not made
 * durable, so that it costs next to nothing. */
int spool_file_renew(int job, const char *name, struct text bytes, mode_t mode,
                     struct error *error);
/* The first two for a file that only the daemon and a group may read (mode 0640): what a user wrote may
 * hold their secrets.  Where the daemon may not give it to the group, its own group has it. */
int spool_file_create_private(int job, const char *name, struct text bytes, gid_t group,
                              struct error *error);
int spool_file_replace_private(int job, const char *name, struct text bytes, gid_t group,
                               struct error *error);

/* Keep what has the name of one of a job's files and is none as NAME.damaged.  -1 with errno. */
int spool_file_damaged(int job, const char *name);

#endif
