/* stages/prepare/rerender.h - jobs of rendered/ are rendered again, at the size that the plan has for them
 *
 * Their requests are read again, so that is done by a confined process (stages/prepare/reread.h), for which
 * the submit stage waits.  Such a job stays in rendered/; one that cannot be rendered any more goes
 * to failed/, with the reason, as it would when it is retried.
 *
 * The manifest comes first and the record after it.  After a crash in between they do not fit
 * together, which handing over finds: such a job is rendered again, too, at the size that its record
 * has then.  Both are durable before an intent can be noted, since with one that is not done any more.
 */
#ifndef STAGES_PREPARE_RERENDER_H
#define STAGES_PREPARE_RERENDER_H

#include "stages/stage.h"

struct rerender {
    char id[ID_SIZE];
    int64_t size; /* that it is to have (job/sizes.h); 0: as it is */
    bool done;    /* filled in: manifest and record are there at that size; otherwise the
                                   daemon's log says why */
};

/* What was done is durable.  A job that must be killed, and one that the
 * executor may have already, are left as they are.  -1 and a sentence when it could not be done for
 * all; `done` counts then, too. */
int rerender_jobs(struct stage *stage, struct rerender *jobs, size_t count, struct error *error);

#endif
