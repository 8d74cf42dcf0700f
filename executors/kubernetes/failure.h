/* executors/kubernetes/failure.h - how a pod failed, and why it does not start */
#ifndef EXECUTORS_KUBERNETES_FAILURE_H
#define EXECUTORS_KUBERNETES_FAILURE_H

#include "executors/kubernetes/cached.h"

/* Fill in exit_code, reason and message of a pod that has failed, from its status. */
void kubernetes_failure_read(struct cached_pod *pod, const struct value *status);
/* Fill in `waiting` and what goes with it, of a pod that is pending. */
void kubernetes_failure_read_waiting(struct cached_pod *pod, const struct value *status);

#endif
