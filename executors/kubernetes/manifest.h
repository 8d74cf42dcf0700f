/* executors/kubernetes/manifest.h - what a template sends to a Kubernetes cluster
 *
 * manifest.yaml is one YAML document, a List that `kubectl apply` would take as well:
 *
 *   {apiVersion: v1, kind: List, items: [...]}
 *
 * The first item is a Job, the owner of all others: deleting it deletes them.  The kinds are
 * batch/v1 Job; v1 Service, Secret, ConfigMap; scheduling.volcano.sh/v1beta1 PodGroup.  Every
 * name is the job's token, <id>-a<attempt>, or starts with it and a hyphen; no kind has a name
 * twice, and no object says a namespace: the executor does.
 *
 * kubernetes_manifest_read() checks every field's name and type against the table of
 * schema.h, and what the API server's validation would refuse of names, labels,
 * annotations and sizes.  A Job is Indexed, its parallelism is at most its completions, its pods are
 * never restarted in place (restartPolicy Never, backoffLimit 0: starting again is dlspool's
 * business), and the container that is the task is called `main`.  Its label dlspool/role names the
 * role; the only Job of a manifest may leave it out, and is `main`.
 *
 * kubernetes_manifest_stamp() writes whose the objects are into them, and applies the policy that
 * no template can change: pods run as the user who asked, with no way to more than that.  What the
 * manifest leaves out is set; what it says otherwise is refused, because a template that asks for
 * something else should be heard about, not silently given less.
 *
 * A Secret may ask for what no template can hold: with the annotation dlspool/generate: ssh-key, of
 * type kubernetes.io/ssh-auth and without data, it gets a new pair of keys (ssh_key.h) in its
 * ssh-privatekey, ssh-publickey, authorized_keys and known_hosts.  A submission that is made again
 * finds the Secret there, and its keys stay.
 *
 * Trees are changed by copying what is on the way to a change, so a tree that is shared with
 * others stays as it is.
 */
#ifndef EXECUTORS_KUBERNETES_MANIFEST_H
#define EXECUTORS_KUBERNETES_MANIFEST_H

#include <stdbool.h>

#include "base/error.h"
#include "base/value.h"
#include "executors/kubernetes/objects.h"

/* Parse and check strictly.  All lies in the arena.  NULL and a sentence with the path of the
 * field.  Asks nobody, and knows no job: whether names are this job's is the stamp's business. */
struct kubernetes_manifest *kubernetes_manifest_read(struct arena *arena, struct text bytes,
                                                     struct error *error);
/* The same of one that was read already, with yaml_trusted_limits; it shares the tree. */
struct kubernetes_manifest *kubernetes_manifest_of(struct arena *arena, struct value *document,
                                                   struct error *error);

/* Write the stamp into all objects and apply its policy.  -1 and a sentence. */
int kubernetes_manifest_stamp(struct arena *arena, struct kubernetes_manifest *manifest,
                              const struct kubernetes_stamp *stamp, struct error *error);

/* The JSON body to create an object with, followed by a NUL.  `owner` and its uid as the server
 * gave it, or NULL for the owner itself; with `suspend`, a Job is created suspended whatever the
 * manifest says (other kinds do not mind). */
struct text kubernetes_manifest_object_body(struct arena *arena,
                                            const struct kubernetes_object *object,
                                            const struct kubernetes_object *owner,
                                            const char *owner_uid, bool suspend);

/* The path of the collection that an object of that kind is created in, or of the object of that
 * name in it (name NULL: the collection).  Followed by a NUL. */
struct text kubernetes_manifest_path(struct arena *arena, const struct kubernetes_kind *kind,
                                     const char *space, const char *name);

/* The kinds in the order in which to ask for them; ends with one whose `kind` is NULL.  The first
 * is Job. */
extern const struct kubernetes_kind kubernetes_kinds[];

/* Make text fit for a label's value: at most 63 letters, digits, - _ and ., the first and last of
 * them a letter or digit; what does not fit becomes _ or is cut off.  May be empty. */
struct text kubernetes_manifest_label_value(struct arena *arena, struct text text);

#endif
