/* stages/prepare/rerender.h - renders jobs of rendered/ again, at the size that the plan gives them, or with another
 * priority
 *
 * A confined process (stages/prepare/reread.h) does this, since it reads their requests again; the
 * submit stage waits for it.  Such a job stays in rendered/; one that cannot be rendered any more
 * goes to failed/, with the reason, as it would on a retry.
 *
 * The manifest is written first and then the record.  After a crash in between the two do not
 * match; submission notices that and renders the job again, at the size in its record.  Both are
 * durable before an intent can be noted, since a job with an intent is never rendered again.
 */
#ifndef STAGES_PREPARE_RERENDER_H
#define STAGES_PREPARE_RERENDER_H

#include "stages/stage.h"

struct rerender {
    char id[ID_SIZE];
    const char *cause; /* the word for the log; NULL: size */
    int64_t size;      /* the new size (job/sizes.h); 0: unchanged */
    bool done;         /* filled in: manifest and record are there at that size; otherwise the
                                   daemon's log says why */
};

/* What was done is durable.  A job that must be killed, or that the executor may already have, is
 * left unchanged.  -1 and a sentence when not all could be done; `done` is valid then, too. */
int rerender_jobs(struct stage *stage, struct rerender *jobs, size_t count, struct error *error);

#endif
