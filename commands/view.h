/* commands/view.h - jobs as the commands show them: read from the spool's files, nothing else */
#ifndef COMMANDS_VIEW_H
#define COMMANDS_VIEW_H

#include "spool/job_state.h"
#include "spool/record.h"
#include "spool/spool.h"
#include "spool/waiting.h"

struct job_view {
    struct job_place place;
    struct job_record record;
    bool readable;           /* job.yaml could be read ... */
    struct error unreadable; /* ... or this is why not */
    struct text why;         /* whole; empty when there is none */
    struct job_situation situation;
    struct text tasks_held; /* of an array: those that somebody holds now; empty: none */
};

/* Read what the job's files say.  -1 with errno when the directory is not there (any more), or may not be
 * read: then only the place is known. */
int view_read(const struct spool *spool, const struct job_place *place, struct arena *arena,
              struct job_view *view);

/* Of a job of rendered/: let its why say what it waits for, if nothing else does. */
void view_take_waiting(struct job_view *view, const struct waiting_file *waiting,
                       struct arena *arena);

/* The first line of why. */
struct text view_sentence(const struct job_view *view);

/* Whether the job has come to an end that only somebody's request changes: done, or failed without a
 * retry that comes by itself. */
bool view_has_ended(const struct job_view *view);

/* Milliseconds that the last attempt has run; -1: it has not started, or it is not known. */
int64_t view_elapsed(const struct job_view *view);
/* 0 of a job that is done; of the task that decided a failure; -1: no task has. */
int view_exit_code(const struct job_view *view);

/* A tree for --json. */
struct value *view_tree(struct arena *arena, const struct job_view *view);

#endif
