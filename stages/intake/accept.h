/* stages/intake/accept.h - claimed files become jobs, a batch at a time
 *
 * Each claim is read once, parsed and rendered, and a complete job directory is written in .new/,
 * or one of a failed job with the reason.  When the whole batch is durable, the directories are
 * renamed to rendered/ or failed/; when that is durable, too, the claims are removed.  One sync
 * does both while more is waiting: it makes a batch durable, and the renames of the batch before.
 * A crash at any point leaves the claim, the job or both; the token tells whether the job exists.
 */
#ifndef STAGES_INTAKE_ACCEPT_H
#define STAGES_INTAKE_ACCEPT_H

#include "stages/intake/claim.h"
#include "stages/stage.h"

struct acceptor;

struct acceptor *accept_new(struct stage *stage, struct repository *repository);
void accept_free(struct acceptor *acceptor);

/* Turn *count claims into jobs, until it is `until` (clock_elapsed()) but at least one; *count is
 * then how many these were, and the others are as they were.  Afterwards `gone` or `published`
 * (claim.h) is set where they are, also of the claims of the batch before.  Any other stays: `look`
 * says when to try it again, as for one that is still being written to.  `refusals[i]`, when not
 * NULL, is the reason, found earlier, why the file cannot become a job.  -1 and a sentence when the
 * batch as a whole failed (no space, a failed sync): the claims stay as they are. */
int accept_claims(struct acceptor *acceptor, struct claim **claims, const char *const *refusals,
                  size_t *count, int64_t until, struct error *error);

/* Make durable what the last batch has published, where no other batch will do so at once.  No claim waits for that any
 * longer. */
void accept_settle(struct acceptor *acceptor);

/* Make a failed job for a file that could not even be claimed; `claim` names it. */
int accept_refusal(struct acceptor *acceptor, struct claim *claim, const struct error *reason,
                   struct error *error);

#endif
