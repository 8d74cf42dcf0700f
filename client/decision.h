/* client/decision.h - an approver decides about a job that waits for that: the control file for it
 *
 * An approval names the manifest that the job has now, so it is refused if the job is rendered again meanwhile.
 */
#ifndef CLIENT_DECISION_H
#define CLIENT_DECISION_H

#include "client/view.h"
#include "request/control.h"
#include "spool/settings.h"

/* Does the job wait for an approval that this user may give? */
bool decision_is_wanted(const struct spool *spool, const struct settings *settings,
                        const struct job_view *view);

/* Would intake take it from this user: CONTROL_APPROVE, or CONTROL_REFUSE?  -1 and a sentence when not. */
int decision_check(const struct settings *settings, const struct job_view *view,
                   enum control_verb verb, struct error *error);

/* Drop it into incoming/.  `reason` is for the owner, one line of 1 to CONTROL_WORDS_LONGEST bytes; of an approval
 * NULL.  -1 and a sentence on failure. */
int decision_drop(const struct spool *spool, struct arena *arena, const struct job_view *view,
                  const char *reason, struct error *error);

/* Is that a reason?  -1 and a sentence when it is empty, too long, or several lines. */
int decision_check_reason(const char *reason, struct error *error);

#endif
