/* stages/preview/replay.h - an old job rendered at another commit, for looking only
 *
 * What the job would become if it were rendered now: from its own request, id, owner, attempt and
 * time of acceptance, by the executor and the templates that are given.  Nothing of it is changed.
 * What the request says is secret is masked before it is rendered, so that it is in nothing that
 * comes of it, sentences included.
 *
 * This reads what strangers wrote, with the rights of whoever asks; a request over which the
 * daemon's own reader has ended three times is not read again.
 */
#ifndef STAGES_PREVIEW_REPLAY_H
#define STAGES_PREVIEW_REPLAY_H

#include "spool/job.h"
#include "stages/prepare/prepare.h"

enum replay_found {
    REPLAY_READ,
    REPLAY_GONE,       /* it is not there any more */
    REPLAY_FORBIDDEN,  /* whoever asks may not read it */
    REPLAY_DAMAGED,    /* job.yaml or the request is not what was written */
    REPLAY_NO_REQUEST, /* it was never made from a job file */
    REPLAY_SET_ASIDE   /* its request stops who reads it */
};

struct replay {
    struct job_place place;
    struct job_record record; /* as job.yaml has it */
    struct text request;
};

/* Read a job.  All of it lies in the arena.  A sentence unless it is REPLAY_READ. */
enum replay_found preview_replay_read(const struct spool *spool, const struct job_place *place,
                                      struct arena *arena, struct replay *replay,
                                      struct error *error);

enum replay_secrets { REPLAY_MASKED, REPLAY_WHOLE };

/* Understand its request, and renew what it decides of the record (library, type, GPUs, ...).  0, or
 * -1 with the sentence in preparation->error. */
int preview_replay_understand(struct arena *arena, struct replay *replay,
                              enum replay_secrets secrets, struct preparation *preparation);

/* What it is rendered to.  Texts and trees lie in the arena. */
struct replay_rendering {
    bool rendered;            /* else only `error` means something */
    struct job_record record; /* with the facts of this rendering */
    struct text manifest;
    const struct value *tree; /* the same */
    struct error error;
};

/* Render it with the commit that the repository serves.  What was understood can be rendered as
 * often as wanted. */
void preview_replay_render(struct arena *arena, const struct replay *replay,
                           const struct preparation *understood, struct repository *repository,
                           struct text executor, struct replay_rendering *rendering);

#endif
