/* executors/kubernetes/events.h - warnings of the namespace, each kept beside the Job or Pod that it is about */
#ifndef EXECUTORS_KUBERNETES_EVENTS_H
#define EXECUTORS_KUBERNETES_EVENTS_H

#include "executors/kubernetes/cached.h"

void kubernetes_events_take(struct kubernetes_cache *cache, const struct value *object);
/* An object of the token is new: give it the Event that came before it, if there was one. */
void kubernetes_events_place_orphans(struct kubernetes_cache *cache, const char *token);
void kubernetes_events_free(struct kubernetes_cache *cache); /* the orphans */

#endif
