/* stages/prepare/wanted.h - which parts of a job its site gives only by approval
 *
 * After prepare_manifest(), which finds the images: fills in what approvals are of (stages/shared/approval.h).
 */
#ifndef STAGES_PREPARE_WANTED_H
#define STAGES_PREPARE_WANTED_H

#include "spool/settings.h"
#include "stages/prepare/prepare.h"

/* Set record->wants: privileges that want approval, images that the site does not list, and rows of limits.rows with
 * `over: approve` that one job is over.  An entry of such a row that is there already stays, as it was over what
 * others had when it came.  Texts live in the arena. */
void wanted_settle(struct arena *arena, const struct settings *settings, struct job_record *record);

/* Where it wants anything, set record->first_manifest_sha256, by rendering the request as the first attempt of the
 * whole job has it.  -1 and a sentence. */
int wanted_bind(struct arena *arena, struct repository *repository, struct text request,
                struct job_record *record, struct error *error);

#endif
