/* executors/kubernetes/policy.h - what no template may change about its pods */
#ifndef EXECUTORS_KUBERNETES_POLICY_H
#define EXECUTORS_KUBERNETES_POLICY_H

#include "executors/kubernetes/objects.h"
#include "executors/kubernetes/schema.h"

/* Check the policy (manifest.h) on a pod's spec; `stamp` NULL: only what no stamp allows. */
void kubernetes_policy_check(const struct value *pod, const char *path,
                             const struct kubernetes_stamp *stamp,
                             struct schema_problems *problems);

#endif
