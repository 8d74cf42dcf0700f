/* stages/intake/owner.h - who else may have written a dropped file
 *
 * The owner of a file asks for the job, as long as nobody else could have written the file.  A group may write
 * to it when it is the owner's own (their primary group), or that of incoming/, which the site has chosen.
 */
#ifndef STAGES_INTAKE_OWNER_H
#define STAGES_INTAKE_OWNER_H

#include "base/error.h"
#include "base/text.h"
#include "spool/spool.h"
#include "watcher/drop.h"

/* 0; 1 and a sentence that says who else may write to the file and what its owner does; -1 and a sentence
 * when incoming/ could not be looked at. */
int owner_check(const struct spool *spool, const struct drop *drop, struct text shown,
                struct error *error);

#endif
