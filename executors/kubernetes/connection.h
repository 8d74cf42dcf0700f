/* executors/kubernetes/connection.h - what api.c and stream.c share */
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
    int64_t quiet_until;  /* of clock_elapsed(): nothing is sent before; 0: no */
    bool rejected;        /* the server does not accept the credential */
    int64_t replaced_at;  /* of clock_elapsed(): when one was replaced because of that; 0 */
    bool repeats;         /* the batch that runs is one with a new credential */
};

/* As kubernetes_connect(), with the service account's files in another place. */
struct kubernetes_connection *kubernetes_connect_from(const struct kubernetes_settings *settings,
                                                      const char *service_account,
                                                      struct error *error);

/* Have a credential that is good now, and clients for it.  -1 and a sentence. */
int kubernetes_prepare(struct kubernetes_connection *connection, struct error *error);

/* The headers of a request, in `buffer`, valid until the credential is refreshed. */
enum { KUBERNETES_HEADERS = 64 };
const char *const *kubernetes_headers(const struct kubernetes_connection *connection,
                                      const char *buffer[static KUBERNETES_HEADERS]);

/* How long the server wants to be left alone yet: milliseconds. */
int64_t kubernetes_quiet(struct kubernetes_connection *connection);

/* Take note of an answer's status.  True when it stops what is under way. */
bool kubernetes_take_note(struct kubernetes_connection *connection, int status,
                          int64_t retry_after);

#endif
