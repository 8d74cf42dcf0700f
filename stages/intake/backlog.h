/* stages/intake/backlog.h - which jobs are refused because too many wait
 *
 * By `waiting` of limits and of limits.rows, and by rows that refuse what is over them.
 *
 * Intake walks the directories once when it starts (stages/shared/use.h).  From then on it counts what it adds
 * itself, and walks them again, at most once a batch, only when a job would be over a limit, and every 10 seconds while
 * jobs come where a row refuses or wants approval.  For such rows with gpu_hours it reads the accounts, too.
 *
 * Known weakness: a job that resubmit brings back by itself counts only from the next walk on.
 */
#ifndef STAGES_INTAKE_BACKLOG_H
#define STAGES_INTAKE_BACKLOG_H

#include "spool/record.h"
#include "stages/stage.h"

struct backlog;

/* NULL where any number of jobs may wait.  The stage must outlive the result. */
struct backlog *backlog_new(const struct stage *stage);
void backlog_free(struct backlog *backlog); /* NULL is fine, as for all of these */

/* A batch begins. */
void backlog_begin(struct backlog *backlog);

enum backlog_answer {
    BACKLOG_OPEN,
    BACKLOG_FULL, /* as many jobs of its owner wait as may, by limits.waiting */
    BACKLOG_OVER  /* it would be over a row of limits.rows */
};

/* May another job like this come?  Else a sentence says why not.  limits.waiting is not for administrators. */
enum backlog_answer backlog_ask(struct backlog *backlog, const struct job_record *record,
                                struct error *error);
/* The same of a failed job, which is not looked at, that this user asks to be tried again. */
bool backlog_refuses_retry(struct backlog *backlog, uid_t uid, struct error *error);

/* Add to record->wants, in the arena, each row of `over: approve` that the job would be over with what others have;
 * until the next job, that counts from what the last question has seen. */
void backlog_take_wants(struct backlog *backlog, struct arena *arena, struct job_record *record);

/* That job is about to be published. */
void backlog_add(struct backlog *backlog, const char *id, const struct job_record *record);
/* The user has asked for a failed job, by this word, to be tried again: it counts for a while. */
void backlog_add_retry(struct backlog *backlog, struct text word, uid_t uid);

#endif
