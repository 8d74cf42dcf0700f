/* executors/kubernetes/rules.h - what a manifest's objects must be beyond their fields' types
 *
 * Two kinds of rules: what an API server's validation would refuse later (names, labels, ports,
 * mounts of volumes that there are not), and what dlspool relies on (manifest.h).  The
 * trees have passed the schema.  Inside of kubernetes_manifest only.
 */
#ifndef EXECUTORS_KUBERNETES_RULES_H
#define EXECUTORS_KUBERNETES_RULES_H

#include "executors/kubernetes/objects.h"
#include "executors/kubernetes/schema.h"

enum {
    KUBERNETES_LABEL_LONGEST = 63,      /* bytes: a label's value, a DNS label, a pod's host name */
    KUBERNETES_OBJECT_LONGEST = 1400000 /* bytes of JSON: etcd takes 1.5 MiB */
};

/* Check an object and fill in its role, tasks, suspended and queued. */
void kubernetes_rules_check_object(struct kubernetes_object *object, const char *path,
                                   struct schema_problems *problems);

/* What the objects are to one another: names and roles that are there twice, subdomains without a
 * Service, a completion rule for roles that there are not. */
void kubernetes_rules_check_together(const struct kubernetes_manifest *manifest,
                                     struct arena *arena, struct schema_problems *problems);

/* The policy (manifest.h) on a pod's spec; `stamp` NULL: only what no stamp allows. */
void kubernetes_policy_check(const struct value *pod, const char *path,
                             const struct kubernetes_stamp *stamp,
                             struct schema_problems *problems);

/* The problems as one sentence of several lines, each with the manifest's name.  0 when there are
 * none, else -1. */
int kubernetes_rules_report(const struct schema_problems *problems, struct error *error);

#endif
