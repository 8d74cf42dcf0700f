/* executors/secret.h - secrets in files and in our memory
 *
 * A secret's file may be replaced while we run, as tokens expire: it is read again when its inode, size
 * or time has changed, and once a minute in any case.  Replaced secrets are wiped.
 */
#ifndef EXECUTORS_SECRET_H
#define EXECUTORS_SECRET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

struct secret {
    const char *path;    /* NULL: nothing is read; must outlive the secret */
    struct buffer bytes; /* without white space around it */
    struct stat seen;
    int64_t read_at; /* of clock_elapsed(); 0: never */
};

/* Is this a valid secret?  -1 and a sentence when not. */
typedef int secret_check(struct text bytes, const struct stat *status, const char *path,
                         struct error *error);

/* Read the file when it is due.  1: the secret has changed; 0: it has not, or it cannot be read now and
 * the old one is kept; -1 and a sentence: there is no secret.  `check` may be NULL.  The first call
 * calls secret_close_memory(). */
int secret_refresh(struct secret *secret, secret_check *check, struct error *error);

/* Read the file at the next refresh in any case. */
void secret_is_stale(struct secret *secret);

/* Read a regular file whole.  `seen` is as it was before it was read.  -1 and a sentence. */
int secret_read_file(const char *path, size_t limit, struct buffer *out, struct stat *seen,
                     struct error *error);

/* Overwrite and free. */
void secret_wipe(struct buffer *buffer);
/* Overwrite bytes that are our own, such as an arena's; data NULL is fine. */
void secret_wipe_text(struct text text);

/* Prevent other processes from reading our memory: no core file, no ptrace(2), no /proc/PID/mem. */
void secret_close_memory(void);

#endif
