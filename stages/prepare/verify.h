/* stages/prepare/verify.h - is a job's manifest what its request is rendered to?
 *
 * Where records are sealed (spool/seal.h), the manifest was written by a process that had read the requests of
 * many users, any of which may have taken it over.  So before root submits it, the request is rendered again
 * by a process that has seen nothing but requests of this one user, and the same manifest must come out:
 * rendering is reproducible.
 *
 * verify_start() starts the process `verifier`, with the stage's rights, which reads no job's text itself.
 * For each user it forks a reader, confined as intake is, which is given the sealed record and reads the
 * request.  A reader that is taken over can only say of its own user's jobs that they are right.
 */
#ifndef STAGES_PREPARE_VERIFY_H
#define STAGES_PREPARE_VERIFY_H

#include "stages/stage.h"

/* Start the process, where records are sealed; it ends with this one.  To be called before the stage has the
 * executor's credentials in memory, and any descriptors of it. */
int verify_start(struct stage *stage, struct error *error);

enum verified {
    VERIFY_SAME,    /* it is; also where nothing is sealed */
    VERIFY_DIFFERS, /* it is not, for the reason in the sentence */
    VERIFY_TROUBLE  /* not known now, for the reason in the sentence */
};

/* Of a job of rendered/ whose record's own seal fits, and whose manifest is record->manifest_sha256.  Sets
 * stage->failed when the process is gone. */
enum verified verify_job(struct stage *stage, const struct job_record *record, struct error *error);

#endif
