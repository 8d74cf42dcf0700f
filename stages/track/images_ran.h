/* stages/track/images_ran.h - what a job's log says of the images in which its tasks ran, and where they
 * listen
 *
 * The name of an image says what was requested; the image behind it changes.  The executor reports
 * which one each task got (task_state.image); an event `image` says so once for each role, and
 * again when a task of the role got another one, since nodes may have different images under one
 * name.  After a restart, what the log already says is not repeated.
 *
 * Likewise an event `listening` says where others can connect to a task that chose its port when it
 * started (task_state.address).
 *
 * Known weakness: when a job's tasks differ in more than IMAGES_RAN_MOST ways, the rest is not
 * written.
 */
#ifndef STAGES_TRACK_IMAGES_RAN_H
#define STAGES_TRACK_IMAGES_RAN_H

#include "executors/executor.h"

enum { IMAGES_RAN_MOST = 32 };

struct images_ran;

/* Add to `lines`, for the job's log, what the poll reports and the log does not say yet. *ran is NULL at first.
 * The caller sees to it that they are written. */
void images_ran_note(struct images_ran **ran, const struct job_poll *poll, struct buffer *lines);

/* What the log says about that attempt, from before a restart.  NULL: nothing.  The caller frees it
 * with free(). */
struct images_ran *images_ran_recall(struct text log, int attempt);

#endif
