/* executors/kubernetes/rules.h - what a manifest's objects must be beyond their fields' types
 *
 * Two kinds of rules: what the API server's validation would refuse later (names, labels, ports,
 * mounts of missing volumes), and what dlspool relies on (manifest.h).  The trees have passed the
 * schema.  Only manifest.c and stamp.c use this.
 */
#ifndef EXECUTORS_KUBERNETES_RULES_H
#define EXECUTORS_KUBERNETES_RULES_H

#include "executors/kubernetes/objects.h"
#include "executors/kubernetes/schema.h"

enum { KUBERNETES_OBJECT_LONGEST = 1400000 }; /* bytes of JSON: etcd stores at most 1.5 MiB */

/* Check an object and fill in its role, tasks, suspended and queued. */
void kubernetes_rules_check_object(struct kubernetes_object *object, const char *path,
                                   struct schema_problems *problems);

/* rules_pod.c: check the spec of a pod template. */
void kubernetes_rules_check_pod(const struct value *pod, const char *path,
                                struct schema_problems *problems);

/* Check the objects together: duplicate names and roles, subdomains without a Service, a completion
 * rule for missing roles. */
void kubernetes_rules_check_together(const struct kubernetes_manifest *manifest,
                                     struct arena *arena, struct schema_problems *problems);

/* Set the problems as one error of several lines, each with the manifest's name; -1.  0 when there is
 * none. */
int kubernetes_rules_report(const struct schema_problems *problems, struct error *error);

#endif
