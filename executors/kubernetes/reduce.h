/* executors/kubernetes/reduce.h - what the cache keeps of an object that the API server sent */
#ifndef EXECUTORS_KUBERNETES_REDUCE_H
#define EXECUTORS_KUBERNETES_REDUCE_H

#include "executors/kubernetes/cached.h"

/* Its resourceVersion; 0 when that is no number. */
uint64_t kubernetes_reduce_version(const struct value *object);

/* False, with nothing changed, when the object is malformed.  `pod` and `job` are zero, or as they were
 * before: what is replaced is freed. */
bool kubernetes_reduce_pod(struct cached_pod *pod, const struct value *object);
bool kubernetes_reduce_job(struct cached_job *job, const struct value *object);

#endif
