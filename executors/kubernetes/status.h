/* executors/kubernetes/status.h - what an answer of the API server means
 *
 * The HTTP status alone does not tell: a 403 is a quota, a namespace that ends, or missing rights;
 * a 404 the object or its namespace.  Status objects are described in
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#response-status-kind
 * and not every answer is one: throttling and proxies answer in plain words.
 */
#ifndef EXECUTORS_KUBERNETES_STATUS_H
#define EXECUTORS_KUBERNETES_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/value.h"

enum kubernetes_outcome {
    KUBERNETES_DONE,        /* 2xx */
    KUBERNETES_EXISTS,      /* 409 AlreadyExists */
    KUBERNETES_CONFLICT,    /* 409 otherwise */
    KUBERNETES_MISSING,     /* 404 of the object (not of the namespace, not of the resource) */
    KUBERNETES_GONE,        /* 410: the version or continue token has expired: list again */
    KUBERNETES_NO_ROOM,     /* 403 exceeded quota */
    KUBERNETES_UNAVAILABLE, /* certainly not done; try later */
    KUBERNETES_UNKNOWN,     /* sent, no answer: perhaps done */
    KUBERNETES_REFUSED      /* only a change can fix it */
};

struct kubernetes_question {
    const char *method;
    const char *path;          /* with its query */
    size_t sent;               /* bytes of the body */
    const char *const *unread; /* members of a 2xx answer that are stepped over; NULL: none */
};

/* Sort an answer.  `status` is HTTP's; `body` what came with it, which may be anything; unless
 * `raw` the body of a 2xx is parsed too.  Set are *answer (the parsed body, or NULL), *retry_after (left
 * alone when the body says nothing), *remedy (what an administrator does, outside the spool, or NULL; it
 * is not freed) and, unless KUBERNETES_DONE, the sentence. */
enum kubernetes_outcome kubernetes_status_judge(struct arena *arena,
                                                const struct kubernetes_question *question,
                                                int status, struct text body, bool raw,
                                                struct value **answer, int64_t *retry_after,
                                                const char **remedy, struct error *error);

/* What the Status in a watch's ERROR event (or any other) means: the sentence goes to `error`. */
enum kubernetes_outcome kubernetes_status_outcome(const struct value *status, struct error *error);

#endif
