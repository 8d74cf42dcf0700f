/* stages/intake/once.h - files that were dropped under a key (spool/submission_key.h): one job of all of a user's
 *
 * Which job that is stands in keys/ before the job can be seen.  So when a file is sent again while the first is still
 * a claim, also after a crash, the second is known for what it is, and is removed.
 */
#ifndef STAGES_INTAKE_ONCE_H
#define STAGES_INTAKE_ONCE_H

#include "spool/record.h"
#include "stages/intake/claim.h"

/* Was a file of that name and owner taken before?  1: this one is to be removed; -1 and a sentence: it must be tried
 * again; 0: go on, as with all that have no key. */
int once_look(const struct spool *spool, const struct claim *claim, uid_t uid, struct error *error);

/* Write down the job that is about to be made of it.  -1 and a sentence. */
int once_note(const struct spool *spool, const struct claim *claim, const struct job_record *record,
              struct error *error);

#endif
