/* stages/preview/replay.h - renders an old job at another commit, without changing it
 *
 * It shows what the job would become if it were rendered now: from its own request, id, owner,
 * attempt and time of acceptance, by the given executor and templates.  Nothing of the job is
 * changed.  What the request declares secret is masked before rendering, so the result, including
 * its sentences, never contains it.
 *
 * This reads untrusted text with the caller's own rights; a request over which the daemon's own
 * reader has crashed three times is not read again.
 */
#ifndef STAGES_PREVIEW_REPLAY_H
#define STAGES_PREVIEW_REPLAY_H

#include "spool/job.h"
#include "stages/prepare/prepare.h"

enum replay_found {
    REPLAY_READ,
    REPLAY_GONE,       /* the job is gone */
    REPLAY_FORBIDDEN,  /* the caller may not read it */
    REPLAY_DAMAGED,    /* job.yaml or the request is not what was written */
    REPLAY_NO_REQUEST, /* it was never made from a job file */
    REPLAY_SET_ASIDE   /* reading its request crashes the reader */
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

/* Parse its request, and renew the record's fields that the request decides (library, type, GPUs,
 * ...).  0, or -1 with the sentence in preparation->error. */
int preview_replay_understand(struct arena *arena, struct replay *replay,
                              enum replay_secrets secrets, struct preparation *preparation);

/* The result of rendering it.  Texts and trees lie in the arena. */
struct replay_rendering {
    bool rendered;            /* when false, only `error` is meaningful */
    struct job_record record; /* with the facts of this rendering */
    struct text manifest;
    const struct value *tree; /* the same */
    struct error error;
};

/* Render it with the commit that the repository serves.  A parsed request can be rendered any
 * number of times. */
void preview_replay_render(struct arena *arena, const struct replay *replay,
                           const struct preparation *understood, struct repository *repository,
                           struct text executor, struct replay_rendering *rendering);

#endif
