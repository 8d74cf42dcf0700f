/* executors/kubernetes/api.h - requests to a Kubernetes API server, and what its answers mean
 *
 * A connection is what a kubeconfig or the pod's service account says: a server, whose certificate
 * is always verified, and a credential, which lives in memory only and is read again when it
 * expires or is no longer accepted.  Requests go over HTTP/1.1, up to `in_flight` at a time, on
 * connections that are kept.  Watches are streams beside them.
 *
 * An answer is sorted by what the caller can do about it; the sentence that goes with it quotes the
 * server and says what to do.  How servers answer was seen on 1.36; see
 * https://kubernetes.io/docs/reference/using-api/api-concepts/ and
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
 *
 * Not for use by two threads at once.  From the first credential on the process is not dumpable.
 */
#ifndef EXECUTORS_KUBERNETES_API_H
#define EXECUTORS_KUBERNETES_API_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "base/value.h"
#include "executors/kubernetes/settings.h"
#include "executors/kubernetes/status.h"

#define KUBERNETES_MERGE_PATCH "application/merge-patch+json"

struct kubernetes_call {
    const char *method; /* GET POST PATCH DELETE */
    struct text path;   /* from "/" on, escaped, with its query; ends with NUL */
    struct text body;   /* JSON; data NULL: none */
    const char
        *content_type; /* NULL: application/json; of a PATCH usually KUBERNETES_MERGE_PATCH */
    int64_t timeout;   /* milliseconds; 0: the settings' */
    bool raw;          /* a 2xx answer is not JSON: leave it in `response` */
    const char *const *unread; /* members of a 2xx answer, at any depth, that are stepped over
                                   (json_read_without()); NULL: none */
    size_t response_limit;     /* bytes of a raw answer at most; the rest is cut off, which is no
                                   error; 0: the usual limit, beyond which it is one */
    /* filled in: */
    enum kubernetes_outcome outcome;
    int status;             /* 0 without an answer */
    int64_t retry_after;    /* milliseconds; 0: nothing said */
    bool alone;             /* only this one is put off for so long: the server takes others */
    struct value *answer;   /* the parsed body, in the arena; NULL when raw or none.  Of a
                                   refusal the Status, where it was one */
    struct buffer response; /* when raw; kubernetes_api_call_free() */
    bool cut_off;           /* raw: it was longer than response_limit */
    struct buffer warnings; /* texts of the answer's Warning headers, a line each;
                                   kubernetes_api_call_free() */
    struct error error;     /* a sentence unless KUBERNETES_DONE: quotes the server's message,
                                   says what to do */
    const char *remedy;     /* of KUBERNETES_REFUSED: what an administrator does, outside the spool,
                                   as in struct submission; NULL: another request fixes it.  It is
                                   not freed */
};

void kubernetes_api_call_free(struct kubernetes_call *call); /* `response`; not the call itself */

struct kubernetes_connection;

/* Read the kubeconfig (or find the service account); asks nobody, but may run the kubeconfig's exec
 * plugin at the first request.  What the settings point to need not live on.  NULL and a sentence
 * on failure. */
struct kubernetes_connection *kubernetes_api_connect(const struct kubernetes_settings *settings,
                                                     struct error *error);
void kubernetes_api_disconnect(struct kubernetes_connection *connection); /* NULL is fine; ends all
                                                                           its streams */
const char *kubernetes_api_namespace(const struct kubernetes_connection *connection);
const char *kubernetes_api_server(const struct kubernetes_connection *connection); /* its URL */

/* Run all calls to their end, at most in_flight at a time.  A 401 makes the credential be read
 * again, once.  A 429, 503 or 504 puts off its own call (`alone`); after several of them in a row nothing
 * more is sent until Retry-After is over (such calls are KUBERNETES_UNAVAILABLE).  A request that finds its
 * kept connection closed is sent again: so names of what a POST makes must be fixed, and KUBERNETES_EXISTS
 * looked into. */
void kubernetes_api_run(struct kubernetes_connection *connection, struct arena *arena,
                        struct kubernetes_call *const *calls, size_t count);

#endif
