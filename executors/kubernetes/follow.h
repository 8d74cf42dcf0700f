/* executors/kubernetes/follow.h - keep the cache up to date, by watches and by requests */
#ifndef EXECUTORS_KUBERNETES_FOLLOW_H
#define EXECUTORS_KUBERNETES_FOLLOW_H

#include "executors/kubernetes/cache.h"
#include "executors/kubernetes/inside.h"

/* Put into the cache what the watches have brought; opens them the first time.  -1 and a sentence when
 * the cache cannot be relied on: the first lists are not complete, or the server has not answered for
 * a minute. */
int kubernetes_follow(struct kubernetes *kubernetes, struct error *error);

/* Has the watch of Jobs brought all that there was a moment ago? */
bool kubernetes_follow_sees_jobs(const struct kubernetes *kubernetes);

/* The cache; NULL before the first kubernetes_follow(). */
struct kubernetes_cache *kubernetes_follow_cache(struct kubernetes *kubernetes);

/* A token to ask the server about. */
struct lookup {
    const char *id;
    int attempt;
    bool answered; /* filled in: the cache has what the server has of it */
};

/* Ask the server for the Jobs of tokens that the cache does not know, or for all pods of tokens, and
 * put them into the cache.  A bounded number is asked about; the others stay unanswered. */
void kubernetes_follow_ask_jobs(struct kubernetes *kubernetes, struct lookup *const *lookups,
                                size_t count);
void kubernetes_follow_ask_pods(struct kubernetes *kubernetes, struct lookup *const *lookups,
                                size_t count);

/* Return free memory to the system, at most every few seconds: malloc() would keep what lists took for
 * a moment. */
void kubernetes_follow_trim(struct kubernetes *kubernetes);

void kubernetes_follow_close(
    struct kubernetes_follower *follower); /* NULL is fine; closes its watches */

#endif
