/* client/job_tasks.h - the tasks of a job by their roles, and what each ended with
 *
 * The roles are those of the job file, where the caller may read it; else the log names the tasks once they have
 * ended, and until then there is one of the role "main".
 */
#ifndef CLIENT_JOB_TASKS_H
#define CLIENT_JOB_TASKS_H

#include "client/view.h"

struct job_task {
    struct text role; /* as the user wrote it */
    struct text log;  /* the name of its file in output/ */
    int index;        /* within the role */
    int exit_code;    /* in this attempt; -1: it has not ended, or that is not known */
};

struct job_tasks {
    struct job_task *items; /* those of a role together */
    size_t count;
};

/* Find them; the result is in the arena. */
void job_tasks_find(const struct spool *spool, struct arena *arena, const struct job_view *view,
                    struct job_tasks *tasks);

struct job_tasks_number {
    int tasks, roles;
};

/* How many there are.  The job file is read only where the type of the job may have several roles. */
struct job_tasks_number job_tasks_count(const struct spool *spool, struct arena *arena,
                                        const struct job_view *view);

#endif
