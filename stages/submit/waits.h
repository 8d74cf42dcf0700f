/* stages/submit/waits.h - jobs that wait in rendered/: what they are told, and how long a declined one
 * rests
 *
 * What they wait for is one file of the spool (spool/waiting.h), written when it changes.  The
 * first in the queue, and each job that the executor has declined, gets a `why`, written when it
 * says something else; the one of the job that was first before is taken away.
 *
 * A job that was declined is retried after a tenth of the time that it has waited since it was
 * declined first: what its log gets for that grows with the logarithm of the time only.
 */
#ifndef STAGES_SUBMIT_WAITS_H
#define STAGES_SUBMIT_WAITS_H

#include "spool/waiting.h"
#include "stages/stage.h"

struct waits;

/* `stage` must live as long. */
struct waits *waits_new(struct stage *stage);
void waits_free(struct waits *waits); /* NULL is fine */

/* Tell what all wait for; `first` is the first in the queue, or "". */
void waits_tell(struct waits *waits, enum waiting_for what, const char *first, const char *reason);
/* Nobody waits for anything but a turn. */
void waits_clear(struct waits *waits);

/* Write such a `why` into the directory of a job of rendered/.  -1 and a sentence on failure. */
int waits_explain(int job, enum waiting_for what, const char *reason, struct error *error);

/* The job was declined: it rests for so many milliseconds, at least `least` and at most `longest`.
 * `again` is set when it had been declined before. */
int64_t waits_decline(struct waits *waits, const char *id, int64_t least, int64_t longest,
                      bool *again);
/* Does it rest now? */
bool waits_rests(const struct waits *waits, const char *id);
/* It has left rendered/. */
void waits_forget(struct waits *waits, const char *id);

#endif
