/* executors/kubernetes/waiting.h - why a job waits */
#ifndef EXECUTORS_KUBERNETES_WAITING_H
#define EXECUTORS_KUBERNETES_WAITING_H

#include "executors/kubernetes/cached.h"

/* Set the cause, with the text "WORD: MESSAGE". */
void kubernetes_waiting_set(struct waiting *waiting, enum waiting_cause cause, const char *word,
                            struct text message);
/* What an Event means; false when it says nothing of why a job waits. */
bool kubernetes_waiting_of_event(struct waiting *waiting, struct text kind, struct text reason,
                                 struct text message);
/* The sentence for a waiting job: the same words for as long as the meaning is the same. */
const char *kubernetes_waiting_say(struct cached_token *token);

#endif
