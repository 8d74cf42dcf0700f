/* stages/intake/backlog.h - how many jobs of each user wait, where that is limited: limits.waiting of dlspool.yaml
 *
 * Waiting are those in rendered/ and held/.  They are counted by looking at both directories once when
 * intake starts; from then on what intake adds is counted as it does, and the directories are looked at again, at
 * most once a batch, only when a user would be over the limit.  Of a job that was not known before its
 * record is read, once.
 *
 * Known weakness: what resubmit brings back by itself counts only from the next look on.
 */
#ifndef STAGES_INTAKE_BACKLOG_H
#define STAGES_INTAKE_BACKLOG_H

#include "stages/stage.h"

struct backlog;

/* NULL where any number of jobs may wait.  The stage must outlive the result. */
struct backlog *backlog_new(const struct stage *stage);
void backlog_free(struct backlog *backlog); /* NULL is fine, as for all of these */

/* A batch begins. */
void backlog_begin(struct backlog *backlog);

/* Do as many jobs of that user wait as may?  Then a sentence says so.  Never those of an administrator. */
bool backlog_is_full(struct backlog *backlog, uid_t uid, struct error *error);

/* A job of that user is about to be published. */
void backlog_add(struct backlog *backlog, const char *id, uid_t uid);
/* The user has asked for a failed job, by this word, to be tried again: it counts for a while. */
void backlog_add_retry(struct backlog *backlog, struct text word, uid_t uid);

#endif
