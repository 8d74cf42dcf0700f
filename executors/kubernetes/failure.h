/* executors/kubernetes/failure.h - how a pod ended, and why it does not begin; for
 * reduce.c, with what both need to read an object */
#ifndef EXECUTORS_KUBERNETES_FAILURE_H
#define EXECUTORS_KUBERNETES_FAILURE_H

#include "executors/kubernetes/cache.h"

/* Fill in exit_code, reason and message of a pod that has failed, from its status. */
void kubernetes_failure_read(struct cached_pod *pod, const struct value *status);
/* Fill in `waiting` and what goes with it, of a pod that is pending. */
void kubernetes_failure_read_waiting(struct cached_pod *pod, const struct value *status);

/* ---- reduce.c ---- */

/* Replace a copy by a clean one; NULL for the empty text. */
void cached_set_text(char **to, struct text text, size_t limit);

#endif
