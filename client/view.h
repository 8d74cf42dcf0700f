/* client/view.h - jobs as the commands show them: read from the spool's files, nothing else */
#ifndef CLIENT_VIEW_H
#define CLIENT_VIEW_H

#include "spool/job_state.h"
#include "spool/record.h"
#include "spool/spool.h"
#include "spool/tasks_file.h"
#include "spool/waiting.h"

struct job_view {
    struct job_place place;
    struct job_record record;
    bool readable;           /* job.yaml could be read ... */
    struct error unreadable; /* ... or this is why not */
    struct text why;         /* all of it; empty when there is none */
    struct job_situation situation;
    struct tasks_file tasks; /* of this attempt; its attempt is 0 when it is not known */
    struct text element;     /* of an array, only these tasks are meant; empty: the whole job */
    struct text tasks_held;  /* of an array: the tasks on hold; empty: none */
    struct text archive; /* the archive that has it, below the spool; empty: it is in the spool */
};

/* Read the job's files.  -1 with errno when the directory is gone or may not be read: then only
 * the place is known. */
int view_read(const struct spool *spool, const struct job_place *place, struct arena *arena,
              struct job_view *view);

/* For a job in rendered/ without a why: set it to what the job waits for. */
void view_take_waiting(struct job_view *view, const struct waiting_file *waiting,
                       struct arena *arena);

/* The first line of why. */
struct text view_sentence(const struct job_view *view);

/* Has the job ended for good unless somebody requests a change: done, or failed without an
 * automatic retry? */
bool view_has_ended(const struct job_view *view);

/* How long the last attempt has run, in milliseconds; -1: not started, or not known. */
int64_t view_elapsed(const struct job_view *view);
/* 0 for a done job; for a failed one the exit code of the task that decided; -1 without one. */
int view_exit_code(const struct job_view *view);

/* Append how many tasks wait, run and have ended, "3 running, 1 failed"; nothing of a job of one
 * task, and of what is not known. */
void view_print_tasks(const struct job_view *view, struct buffer *out);

/* A tree for --json. */
struct value *view_tree(struct arena *arena, const struct job_view *view);

#endif
