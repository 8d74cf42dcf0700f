/* stages/shared/control_tasks.h - control requests for single tasks of an array
 *
 * Such a request names tasks by the indexes that the user gave them.  To kill some is the file
 * `kill-tasks`, beside `kill`, which means the whole job; to retry some is `retry`, as for the
 * whole job, with the list.  Each request is a line in the file, and all of them hold until the
 * next attempt begins.  Held tasks have a file of their own (stages/shared/hold_tasks.h).
 */
#ifndef STAGES_SHARED_CONTROL_TASKS_H
#define STAGES_SHARED_CONTROL_TASKS_H

#include "request/control.h"
#include "request/description.h"
#include "spool/job.h"
#include "spool/record.h"
#include "stages/shared/control_file.h"
#include "stages/shared/sweep.h"

/* Can this be requested for these tasks of the job, whose directory is `job`?  False and a sentence
 * when nobody can request it.  `record` may be NULL: nothing is known of the job. */
bool control_tasks_allow(enum control_verb verb, const struct job_place *place, int job,
                         const struct job_record *record, struct text tasks, struct error *error);

/* Write a request to kill or to retry, which was allowed, and the event into the job's log.  1 and
 * a sentence when there are too many already; -1 and a sentence when it must be retried. */
int control_tasks_write(int job, enum control_verb verb, struct text tasks, struct text by,
                        uid_t uid, int64_t now, struct error *error);

struct task_request {
    char by[CONTROL_BY_SIZE]; /* who asked last */
    bool several;             /* ... and others before */
    int64_t when;
    struct text tasks; /* a list for base/ranges.h, in the arena; empty: the whole job is meant */
};

/* 1: there is one; 0: there is none; -1: it cannot be told now.  One that is damaged is none.
 */
int control_tasks_pending(int job, enum control_verb verb, struct arena *arena,
                          struct task_request *request);

/* Collect all requests, which decide which tasks an attempt runs.  -1 and a sentence when they
 * cannot be read now. */
int control_tasks_choose(int job, bool by_hand, struct arena *arena, struct sweep_choice *choice,
                         struct error *error);

/* Remove the requests to kill tasks, before another attempt begins. */
int control_tasks_clear(int job, struct error *error);

#endif
