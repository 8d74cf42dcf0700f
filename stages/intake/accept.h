/* stages/intake/accept.h - claimed files become jobs, a batch at a time
 *
 * For each claim: read it once, understand it, render it, and write a complete job directory in
 * .new/, or a failed one with the reason.  When the whole batch is durable the directories are
 * renamed to rendered/ or failed/, those directories made durable, and only then the claims
 * removed.  A crash anywhere leaves either the claim or the job, and the token tells which.
 */
#ifndef STAGES_INTAKE_ACCEPT_H
#define STAGES_INTAKE_ACCEPT_H

#include "stages/intake/claim.h"
#include "stages/stage.h"

struct acceptor;

struct acceptor *accept_new(struct stage *stage, struct repository *repository);
void accept_free(struct acceptor *acceptor);

/* Turn `count` claims into jobs.  `done[i]` is set to true when the claim is gone for good; a claim
 * that is still being written to stays, and its `look` says when to try again.  `refusals[i]`, when
 * not NULL, is a reason found earlier for which the file cannot become a job.  -1 and a sentence
 * when the batch as a whole failed (no space, a failed sync): the claims stay as they are. */
int accept_claims(struct acceptor *acceptor, struct claim **claims, const char *const *refusals,
                  size_t count, bool *done, struct error *error);

/* Make a failed job for something that could not even be claimed, named by `claim`. */
int accept_refusal(struct acceptor *acceptor, struct claim *claim, const struct error *reason,
                   struct error *error);

#endif
