/* commands/archived.h - an archived job, made again for the time that a command looks at it
 *
 * In a directory of its own below $TMPDIR, which only the caller may read, and which goes with the process,
 * however that ends.
 */
#ifndef COMMANDS_ARCHIVED_H
#define COMMANDS_ARCHIVED_H

#include "archive/restore.h"
#include "client/view.h"

struct archived {
    struct spool
        spool; /* as the spool would be with the job in it: for view_read() and job_open() */
    struct job_place place;
    char file[PLACE_TEXT_SIZE]; /* "history/archive/2026-08-01.tar.zst" */
    struct text why;            /* its first sentence */
    bool denied;                /* the caller may not read all of its files */
    struct arena *arena;
    int cleaner; /* closed: the directory is to go */
    int top;
    pid_t process;
    char path[PATH_MAX];
};

/* Find what the word means among the archived jobs, and make its directory.  STATUS_DONE; STATUS_NOT_FOUND and
 * a sentence; STATUS_FAILED and a sentence when that is impossible now.  archived_close() ends it in any case. */
int archived_open(const struct spool *spool, const char *word, enum restore_output output,
                  struct archived *archived, struct error *error);
void archived_close(struct archived *archived);

/* view_read() of that job. */
int archived_view_read(const struct archived *archived, struct arena *arena, struct job_view *view);

#endif
