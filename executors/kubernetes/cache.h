/* executors/kubernetes/cache.h - the last known state of our Jobs, their Pods and their Events
 *
 * Objects come as trees, from lists and watches, in any order and any number of times, and are
 * reduced at once to what a poll needs: a few hundred bytes for a Pod, so that ten thousand take
 * some MiB.  The cache sends no requests.  cached.h has what is kept, reduce.c reads objects, events.c
 * keeps the warnings about them, phase.c answers polls, waiting.c finds why a job waits.
 *
 * Objects are those of k8s.io/api (batch/v1, core/v1) in Kubernetes 1.36; the reasons that the
 * kubelet, the scheduler and the controllers write are from their sources.
 *
 *   no task's main container has started            WAITING, with the reason in `detail`
 *   completion.h has not decided                    RUNNING
 *   it has                                          SUCCEEDED or FAILED, and stays so: tasks count in
 *                                                   the order in which they ended, so those that were
 *                                                   stopped afterwards change nothing
 *   a Job carries dlspool/cancelled                 its tasks end as `Killed` once their pods have
 *
 * A pod that was drained, preempted or evicted is deleted as soon as it has ended and its Job has
 * counted it; the cache keeps how it ended for as long as the Job exists.  A pod that its Job releases
 * without counting it (because the Job was suspended) is ignored.
 *
 * A finished Job counts only when its pods are terminal or gone, so that their output can be copied;
 * a pod that the watch still shows as running delays that by a minute at most.
 *
 * A pod on a lost node stays "Running" until somebody removes the node.  It counts as lost one minute
 * after the grace period that the taint manager gave it; Kubernetes does not know then whether it
 * still runs.
 */
#ifndef EXECUTORS_KUBERNETES_CACHE_H
#define EXECUTORS_KUBERNETES_CACHE_H

#include "executors/kubernetes/cached.h"

struct kubernetes_cache *kubernetes_cache_new(void);
void kubernetes_cache_free(struct kubernetes_cache *cache); /* NULL is fine */

/* Take an object as it is now, or with `deleted` as it was at its deletion.  Objects that are malformed
 * or not ours are ignored, and so are older versions, except with `listed`. */
void kubernetes_cache_take(struct kubernetes_cache *cache, enum followed_kind kind,
                           const struct value *object, bool deleted, bool listed);
/* A list begins; a list is complete: objects that were not in it are gone. */
void kubernetes_cache_list_begin(struct kubernetes_cache *cache, enum followed_kind kind);
void kubernetes_cache_list_end(struct kubernetes_cache *cache, enum followed_kind kind);

/* Fill in `poll`, of which only id, attempt and what was killed are set. */
enum kubernetes_known kubernetes_cache_poll(struct kubernetes_cache *cache, struct arena *arena,
                                            struct job_poll *poll);
void kubernetes_cache_confirm(struct kubernetes_cache *cache, const char *id, int attempt);

/* Call take() for each job whose owner was made by the spool of that identity and is not being removed. */
void kubernetes_cache_list(const struct kubernetes_cache *cache, const char *identity,
                           executor_take *take, void *context);

/* The Job that is removed with the token's: the only one that no other owns.  NULL where that is not certain, or
 * more is to be done than to delete it.  Valid until the next object is taken. */
const struct cached_job *kubernetes_cache_owner(const struct kubernetes_cache *cache,
                                                const char *id, int attempt);

/* Whether the token has a Job. */
bool kubernetes_cache_has(const struct kubernetes_cache *cache, const char *id, int attempt);
/* Its existing pods, by role, index and age; in the arena, valid until the next object is taken. */
const struct cached_pod **kubernetes_cache_pods(struct kubernetes_cache *cache, struct arena *arena,
                                                const char *id, int attempt, size_t *count);
size_t kubernetes_cache_count(const struct kubernetes_cache *cache); /* tokens */

#endif
