/* executors/kubernetes/phase.h - a job's phase, from what the cache knows of its Jobs and Pods */
#ifndef EXECUTORS_KUBERNETES_PHASE_H
#define EXECUTORS_KUBERNETES_PHASE_H

#include "executors/kubernetes/cached.h"

/* Fill in `poll`, of which only id, attempt and what was killed are set. */
enum kubernetes_known kubernetes_phase_poll(struct cached_token *token, struct arena *arena,
                                            struct job_poll *poll);

#endif
