/* executors/kubernetes/connection.h - a server, its credential, and the clients that talk to it
 *
 * Below api.c and stream.c, which send the requests.
 */
#ifndef EXECUTORS_KUBERNETES_CONNECTION_H
#define EXECUTORS_KUBERNETES_CONNECTION_H

#include "executors/http/stream.h"
#include "executors/kubernetes/credential.h"
#include "executors/kubernetes/settings.h"

struct kubernetes_connection {
    struct kubernetes_settings settings;
    struct arena *arena; /* of the settings' texts */
    char *namespace;
    const char *service_account; /* where its files are */
    struct arena *config_arena;
    struct kubeconfig *config;
    struct kubernetes_credential *credential;
    struct http_client *http;     /* NULL: to be made */
    struct http_streams *streams; /* likewise */
    struct kubernetes_stream *first_stream;
    const char **headers; /* beside the credential's, ends with NULL: in config_arena */
    int put_off;          /* answers in a row that put a request off: 429, 503, 504 */
    int64_t quiet_until;  /* of clock_elapsed(): nothing is sent before; 0: no */
    bool rejected;        /* the server does not accept the credential */
    int64_t replaced_at;  /* of clock_elapsed(): when one was replaced because of that; 0 */
    bool repeats;         /* the batch that runs is one with a new credential */
};

/* As kubernetes_api_connect(), with the service account's files in another place. */
struct kubernetes_connection *kubernetes_connection_open(const struct kubernetes_settings *settings,
                                                         const char *service_account,
                                                         struct error *error);

void kubernetes_connection_free(struct kubernetes_connection *connection); /* without streams */

/* May the credential be replaced?  Not when that was just tried. */
bool kubernetes_connection_may_replace(const struct kubernetes_connection *connection);
/* Read the kubeconfig again, and close the clients.  A failure (-1 and a sentence) leaves both as they
 * were. */
int kubernetes_connection_replace(struct kubernetes_connection *connection, struct error *error);

/* Make sure of a valid credential, which may run its plugin, and of clients for it.  -1 and a
 * sentence. */
int kubernetes_connection_prepare(struct kubernetes_connection *connection, struct error *error);

/* The headers of a request, in `buffer`, valid until the credential is refreshed. */
enum {
    KUBERNETES_HEADERS = 64,
    KUBERNETES_PUT_OFF_MOST = 8,     /* answers in a row that put off only their own requests */
    KUBERNETES_QUIET_DEFAULT = 1000, /* milliseconds after such an answer without Retry-After */
    KUBERNETES_QUIET_MOST = 300000
};
const char *const *kubernetes_connection_headers(const struct kubernetes_connection *connection,
                                                 const char *buffer[static KUBERNETES_HEADERS]);

/* How many milliseconds the server still asks us to wait; 0: none. */
int64_t kubernetes_connection_quiet(struct kubernetes_connection *connection);

/* Does an answer of that status put its request off: for as long as it says, others going on? */
bool kubernetes_connection_puts_off(int status);
/* Did the last answers, KUBERNETES_PUT_OFF_MOST of them or more, all put their requests off?  Then it is
 * the server that cannot be asked. */
bool kubernetes_connection_is_put_off(const struct kubernetes_connection *connection);
/* Remember a rejected credential (401) or a request to wait (429, 503, 504).  True when the rest of the
 * batch must not be sent. */
bool kubernetes_connection_note_status(struct kubernetes_connection *connection, int status,
                                       int64_t retry_after);

#endif
