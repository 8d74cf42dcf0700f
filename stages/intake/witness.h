/* stages/intake/witness.h - a root process beside intake sees whose file becomes which job, and seals that
 *
 * Only where root serves and intake is another user (spool/seal.h).  Intake reads strangers' bytes and may be
 * taken over by them; the witness never parses any.  It is told the name of a claim and the id of a job,
 * opens the claim itself, by a descriptor of .claims/ that it holds, and judges it as intake does: a regular
 * file with one link, to which nobody but its owner may write, and of which every byte was there at one
 * moment.  What it answers is whose file that is, by fstat, and a seal over that, the id and the SHA-256 of
 * the bytes.  The id must have the claim's token.  Files of intake's own user are nobody's word.
 *
 * An approval (stages/shared/approval.h) is seen and sealed in the same way.
 *
 * Known weakness: who has taken intake over can give a claim another name, and so have one user's file sealed
 * under a second id: it then runs twice, as that user.
 */
#ifndef STAGES_INTAKE_WITNESS_H
#define STAGES_INTAKE_WITNESS_H

#include "stages/intake/claim.h"
#include "stages/shared/approval.h"
#include "stages/stage.h"

/* Start the process, where records are sealed; it ends with this one.  To be called before the stage is
 * confined, and before users_start(). */
int witness_start(struct stage *stage, struct error *error);

/* Fill in record->seal, in the arena, for the job that the claim becomes; nothing where records are not
 * sealed.  -1 and a sentence when the witness does not see what the record says, or not now: then the claim
 * stays. */
int witness_seal(const struct claim *claim, struct arena *arena, struct job_record *record,
                 struct error *error);

/* Are records sealed here? */
bool witness_is_needed(void);

/* As a control_witness (stages/shared/control.h) of a claim: the witness sees that it is a file of an approver's
 * which approves that job of held/, looks at the job's record itself, and seals what is approved.  Of an approval it
 * compares the bytes with the few forms in which it takes one: `approve: ID`, and what `dlspool approve` writes. */
int witness_approve(void *claim, const char *id, struct approval *approval, struct error *error);

/* Is that intake's own user, where records are sealed? */
bool witness_is_reader(uid_t uid);

#endif
