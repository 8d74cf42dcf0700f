/* stages/submit/waits.h - jobs that wait in rendered/: what they are told, and how long a declined one
 * rests
 *
 * One file of the spool (spool/waiting.h) says what they wait for; it is written when that changes.
 * The first job in the queue, and each job that the executor has declined, gets a `why`, which is
 * rewritten when its text changes; the `why` of the job that was first before is removed.
 *
 * A declined job is retried after a tenth of the time that has passed since it was first declined,
 * so its log grows only with the logarithm of the time.
 */
#ifndef STAGES_SUBMIT_WAITS_H
#define STAGES_SUBMIT_WAITS_H

#include "spool/waiting.h"
#include "stages/stage.h"

struct waits;

/* `stage` must outlive the result. */
struct waits *waits_new(struct stage *stage);
void waits_free(struct waits *waits); /* NULL is fine */

/* Write what all jobs wait for; `first` is the first in the queue, or "". */
void waits_set(struct waits *waits, enum waiting_for what, const char *first, const char *reason);
/* Jobs wait for nothing but their turn. */
void waits_clear(struct waits *waits);

/* Write such a `why` into the directory of a job of rendered/.  -1 and a sentence on failure. */
int waits_explain(int job, enum waiting_for what, const char *reason, struct error *error);

/* The `why` of that job says from now on what it alone waits for, and stays when it is no longer the first. */
void waits_leave(struct waits *waits, const char *id);

/* The job of rendered/ waits no longer for what its `why` says, which is removed. */
void waits_retract(struct waits *waits, const char *id);

/* The job was declined: it rests for so many milliseconds, at least `least` and at most `longest`.
 * `again` is set when it had been declined before. */
int64_t waits_decline(struct waits *waits, const char *id, int64_t least, int64_t longest,
                      bool *again);
/* Does it rest now? */
bool waits_rests(const struct waits *waits, const char *id);
/* It has left rendered/. */
void waits_forget(struct waits *waits, const char *id);

#endif
