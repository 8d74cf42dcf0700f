/* stages/service/trust.h - can anybody write to a spool whom root must not believe?
 *
 * Whoever can write to dlspool.yaml, to the templates, or to the directories of jobs decides what a daemon of
 * root's runs, and as whom.  So what root serves must belong to root or to `user:`, and nobody else may write to
 * it: by mode, by an access control list, or as a member of a group.  Of groups only root's and the primary one of
 * `user:` may, and in templates.git the one that core.sharedRepository lets in.  incoming/ is open to everybody,
 * and is not looked at.
 *
 * The directories above the spool have to be trusted in the same way (base/above.h).
 */
#ifndef STAGES_SERVICE_TRUST_H
#define STAGES_SERVICE_TRUST_H

#include "spool/settings.h"
#include "spool/spool.h"

/* Will root serve the spool?  Other users serve only their own, and need trust nobody else. */
bool trust_is_for_root(const struct spool *spool, const struct settings *settings);

/* May root serve it?  0, or -1 and a sentence that says who could write to what, and the command that mends it.  What
 * the caller may not open is not looked at, unless that is root. */
int trust_check(const struct spool *spool, const struct settings *settings, struct error *error);

/* Where records are sealed (spool/seal.h), a process that reads job files, and may be taken over by one, must not be
 * able to change the settings or the templates, or to replace them.  Log a warning for each that belongs to `user:`, as
 * those of an older spool do, with the command that mends it. */
void trust_warn(const struct spool *spool, const struct settings *settings);

#endif
