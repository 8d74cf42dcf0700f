/* executors/kubernetes/follow.h - the cache and its watches, for poll and output */
#ifndef EXECUTORS_KUBERNETES_FOLLOW_H
#define EXECUTORS_KUBERNETES_FOLLOW_H

#include "executors/kubernetes/cache.h"
#include "executors/kubernetes/inside.h"

/* Bring the cache up to what the watches have brought; begins them the first time.  -1 and a
 * sentence when nothing certain is known: the first lists have not come, or the server has not
 * answered for a minute. */
int kubernetes_follow(struct kubernetes *kubernetes, struct error *error);

/* NULL before the first kubernetes_follow(). */
struct kubernetes_cache *kubernetes_followed(struct kubernetes *kubernetes);

/* A token that is looked up. */
struct lookup {
    const char *id;
    int attempt;
    bool answered; /* filled in: the server has said what there is of it */
};

/* Ask the server itself for Jobs of tokens that the cache does not know, or for all pods of tokens,
 * and put what it has into the cache.  A bounded number is asked for; the others are left not
 * answered. */
void kubernetes_look_up_jobs(struct kubernetes *kubernetes, struct lookup *const *lookups,
                             size_t count);
void kubernetes_look_up_pods(struct kubernetes *kubernetes, struct lookup *const *lookups,
                             size_t count);

#endif
