/* stages/track/images_ran.h - what the tasks of a job really ran in, and where they listen, written into its log
 *
 * The name of an image says what was asked for; what it stands for changes.  The executor tells what each
 * task has got (task_state.image), and an event `image` says it once for each role, and again when a task
 * of the role got another one: nodes may have different images under one name.  After a restart it is
 * written on from what the log says.
 *
 * In the same way an event `listening` says of a task that chose a port when it started where others
 * can connect to it (task_state.address).
 *
 * Known weakness: of a job whose tasks differ in more than IMAGES_RAN_MOST ways the rest is not written.
 */
#ifndef STAGES_TRACK_IMAGES_RAN_H
#define STAGES_TRACK_IMAGES_RAN_H

#include "executors/executor.h"

enum { IMAGES_RAN_MOST = 32 };

struct images_ran;

/* Append what the poll tells that the log of the job directory `job` does not say yet.  *ran is NULL at first.
 * What cannot be written is told at the next poll. */
void images_ran_note(struct images_ran **ran, int job, const struct job_poll *poll);

/* What the log says of that attempt, from before a restart.  NULL: nothing.  Freed by free(). */
struct images_ran *images_ran_recall(struct text log, int attempt);

#endif
