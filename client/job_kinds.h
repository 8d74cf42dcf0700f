/* client/job_kinds.h - which libraries and job types the templates serve, in their own words */
#ifndef CLIENT_JOB_KINDS_H
#define CLIENT_JOB_KINDS_H

#include "renderer/repository.h"

struct job_kind {
    struct text library, type;
    struct text words; /* what the template's first line says of it; may be empty */
};

struct job_kinds {
    struct job_kind *items; /* in the arena, by library and type */
    size_t count;
};

/* Those with a template EXECUTOR/LIBRARY/TYPE.yaml in the served commit. */
void job_kinds_read(struct arena *arena, struct repository *repository, struct text executor,
                    struct job_kinds *kinds);

/* NULL when there is none. */
const struct job_kind *job_kinds_find(const struct job_kinds *kinds, struct text library,
                                      struct text type);

#endif
