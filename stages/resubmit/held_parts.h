/* stages/resubmit/held_parts.h - what the parts of a pass over held/ share
 *
 *   held_awake.c   knows which jobs rest, and wakes them
 *   held_look.c    reads the jobs' files
 *   held_names.c   finds which jobs are meant by the names they wait for
 *   held_unheard.c knows the names that no job has yet
 *   held_cycles.c  refuses those that would wait for themselves
 *   held_pass.c    makes the pass, and decides about the rest
 */
#ifndef STAGES_RESUBMIT_HELD_PARTS_H
#define STAGES_RESUBMIT_HELD_PARTS_H

#include "stages/resubmit/held.h"

/* Read what has changed since the previous pass, and forget jobs that are gone.  1 when all were met that are
 * there, 0 when that is not known, -1 and a sentence when held/ could not be read; no job is known then. */
int held_look(struct held_jobs *jobs, struct error *error);
/* The name of a job that waits for others. */
const char *held_look_name(const struct held *held);
/* Free the facts about the job's conditions. */
void held_look_forget(struct held_jobs *jobs, struct held *held);
/* The job of a condition is found; or, with an empty id, it is looked for again. */
void held_look_set_id(struct held_jobs *jobs, struct held_condition *condition, struct text id);

/* Have passes look at the job until held_jobs_let_rest(); and no longer, as it is about to be forgotten. */
void held_awake_add(struct held_jobs *jobs, struct held *held);
void held_awake_remove(struct held_jobs *jobs, struct held *held);
/* Look at the awaited jobs in doubt, or at `all`, and wake those with whose jobs it is not as it was, or all that wait
 * for others; and those whose time has come. */
void held_awake_call(struct held_jobs *jobs, bool all, int64_t now);
/* Wake those that may stand in a cycle with one that is awake. */
void held_awake_follow(struct held_jobs *jobs);
void held_awake_sort(struct held_jobs *jobs);

/* Is the name of the condition one that no job has yet?  Then arrivals are heard. */
void held_unheard_set(struct held_jobs *jobs, struct held_condition *condition, bool is_unheard);
/* A job has come, or something has happened to it: wake those who may wait for its name when all were noted. */
void held_unheard_note(struct held_jobs *jobs, struct text id);
void held_unheard_wake(struct held_jobs *jobs);
void held_unheard_clear(struct held_jobs *jobs);

/* Find the ids of the jobs that the names stand for.  -1 and a sentence when a directory could not
 * be read. */
int held_names_find(struct held_jobs *jobs, struct error *error);

void held_cycles_refuse(struct held_jobs *jobs);

/* Does it wait for other jobs, as far as is known? */
bool held_pass_waits_for_jobs(const struct held *held);

/* Decide about the job, with the sentence for its owner. */
void held_pass_decide(struct held *held, enum held_decision decision, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
