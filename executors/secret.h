/* executors/secret.h - secrets that stand in files, and in our memory
 *
 * A secret's file may be replaced while we run (tokens expire): it is read again when it looks
 * changed, and once a minute in any case.  Secrets are wiped when they are replaced.
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

/* Fit to be this secret?  -1 and a sentence. */
typedef int secret_check(struct text bytes, const struct stat *status, const char *path,
                         struct error *error);

/* Read the file when that is due.  1: it has changed; 0: it has not, or it cannot be read for the
 * moment and what we have may still do; -1 and a sentence: there is none.  `check` may be NULL. */
int secret_refresh(struct secret *secret, secret_check *check, struct error *error);

/* Have it read the next time. */
void secret_is_stale(struct secret *secret);

/* Overwrite and free. */
void secret_wipe(struct buffer *buffer);

/* Nobody else reads our memory from now on: no core, no ptrace(2), no /proc/PID/mem. */
void secret_close_memory(void);

#endif
