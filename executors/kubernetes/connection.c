/* executors/kubernetes/connection.c - a server, its credential, and the clients that talk to it */
#include "executors/kubernetes/connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/http/http.h"
#include "executors/kubernetes/kubeconfig.h"

enum {
    ANSWER_LIMIT = 64 << 20, /* bytes; a page of a list is far below */
    REPLACE_INTERVAL = 5000  /* milliseconds between two attempts to find a better credential */
};

/* ---- opening and closing ---- */

/* The headers that every request has, beside the credential; `count` of them impersonate. */
static const char **common_headers(struct arena *arena, const struct kubeconfig *config,
                                   size_t count)
{
    size_t used = 0;
    const char **headers = arena_allocate(arena, (count + 3) * sizeof(*headers));
    headers[used++] = "User-Agent: dlspool/" DLSPOOL_VERSION;
    headers[used++] = "Accept: application/json";
    for (size_t i = 0; i < count; i++)
        headers[used++] = config->impersonate[i];
    return headers;
}

static void forget_config(struct arena *arena, struct kubeconfig *config)
{
    if (config)
        kubeconfig_wipe(config);
    arena_free(arena);
}

/* Read the kubeconfig, at first or again; a failure leaves the connection as it was. */
static int load_config(struct kubernetes_connection *connection, struct error *error)
{
    struct arena *arena = arena_new();
    struct kubeconfig *config =
        kubeconfig_read(arena, connection->settings.kubeconfig.data,
                        connection->settings.context.data, connection->service_account, error);
    size_t headers = 0;
    while (config && config->impersonate[headers])
        headers++;
    if (config && headers + 8 > KUBERNETES_HEADERS) {
        error_set(error, "%s: as-groups: there are more than %d", config->source,
                  KUBERNETES_HEADERS - 8);
        config = NULL;
    }
    if (!config) {
        arena_free(arena);
        return -1;
    }
    if (config->readable)
        log_warn("%s holds a secret and everybody can read it: chmod 600", config->readable);
    kubernetes_credential_free(connection->credential);
    forget_config(connection->config_arena, connection->config);
    connection->config_arena = arena;
    connection->config = config;
    connection->credential = kubernetes_credential_new(config);
    connection->headers = common_headers(arena, config, headers);
    return 0;
}

static void close_clients(struct kubernetes_connection *connection)
{
    http_close(connection->http);
    http_streams_close(connection->streams);
    connection->http = NULL;
    connection->streams = NULL;
}

void kubernetes_connection_free(struct kubernetes_connection *connection)
{
    close_clients(connection);
    kubernetes_credential_free(connection->credential);
    forget_config(connection->config_arena, connection->config);
    arena_free(connection->arena);
    free(connection->namespace);
    free(connection);
}

struct kubernetes_connection *kubernetes_connection_open(const struct kubernetes_settings *settings,
                                                         const char *service_account,
                                                         struct error *error)
{
    struct kubernetes_connection *connection = memory_allocate(sizeof(*connection));
    struct kubernetes_settings *own = &connection->settings;
    connection->arena = arena_new();
    connection->service_account = arena_string(connection->arena, service_account);
    *own = *settings;
    own->kubeconfig =
        arena_text(connection->arena, settings->kubeconfig.data, settings->kubeconfig.length);
    own->context = arena_text(connection->arena, settings->context.data, settings->context.length);
    own->namespace =
        arena_text(connection->arena, settings->namespace.data, settings->namespace.length);
    own->proxy = arena_text(connection->arena, settings->proxy.data, settings->proxy.length);
    own->host_paths = NULL; /* not used here */
    own->host_path_count = 0;
    if (load_config(connection, error)) {
        kubernetes_connection_free(connection);
        return NULL;
    }
    const char *configured = connection->config->namespace;
    connection->namespace = memory_copy_string(own->namespace.length ? own->namespace.data
                                               : *configured         ? configured
                                                                     : "default");
    return connection;
}

/* ---- being ready to send ---- */

static bool go_on(void *context, const struct http_request *ended)
{
    struct kubernetes_connection *connection = context;
    return ended->outcome != HTTP_ANSWERED ||
           !kubernetes_connection_note_status(connection, ended->status, ended->retry_after);
}

/* Open the two clients of the connection, for requests and for streams, where they are not open
 * yet.  A proxy of dlspool.yaml comes before that of the kubeconfig; none of both leaves it to
 * the environment. */
static int open_clients(struct kubernetes_connection *connection, struct error *error)
{
    const struct kubernetes_settings *own = &connection->settings;
    const struct kubeconfig *config = connection->config;
    const char *proxy = text_is(own->proxy, "none") ? ""
                        : own->proxy.length         ? own->proxy.data
                        : *config->proxy            ? config->proxy
                                                    : NULL;
    struct http_settings settings = {
        .base = config->server,
        .tls_name = config->tls_name,
        .proxy = proxy,
        .timeout = own->request_timeout,
        .connect_timeout = own->connect_timeout,
        .response_limit = ANSWER_LIMIT,
        .in_flight = own->in_flight,
        .go_on = go_on,
        .context = connection,
    };
    kubernetes_credential_apply(connection->credential, &settings);
    if (!connection->http)
        connection->http = http_open(&settings, error);
    if (connection->http && !connection->streams)
        connection->streams = http_streams_open(&settings, error);
    return connection->streams ? 0 : -1;
}

bool kubernetes_connection_may_replace(const struct kubernetes_connection *connection)
{
    return connection->replaced_at == 0 ||
           clock_elapsed() - connection->replaced_at >= REPLACE_INTERVAL;
}

int kubernetes_connection_replace(struct kubernetes_connection *connection, struct error *error)
{
    int64_t now = clock_elapsed();
    connection->replaced_at = now ? now : 1;
    connection->rejected = false;
    if (load_config(connection, error))
        return -1;
    close_clients(connection);
    return 0;
}

int kubernetes_connection_prepare(struct kubernetes_connection *connection, struct error *error)
{
    if (connection->rejected && kubernetes_connection_may_replace(connection))
        kubernetes_connection_replace(connection, NULL);
    int changed = kubernetes_credential_refresh(connection->credential, error);
    if (changed < 0)
        return -1;
    if (changed)
        close_clients(connection);
    return open_clients(connection, error);
}

const char *const *kubernetes_connection_headers(const struct kubernetes_connection *connection,
                                                 const char *buffer[static KUBERNETES_HEADERS])
{
    size_t used = 0;
    for (const char *const *header = (const char *const *)connection->headers; *header; header++)
        buffer[used++] = *header;
    const char *authorization = kubernetes_credential_header(connection->credential);
    if (authorization)
        buffer[used++] = authorization;
    buffer[used] = NULL;
    return buffer;
}

int64_t kubernetes_connection_quiet(struct kubernetes_connection *connection)
{
    int64_t left = connection->quiet_until - clock_elapsed();
    if (connection->quiet_until && left > 0)
        return left;
    connection->quiet_until = 0;
    return 0;
}

bool kubernetes_connection_puts_off(int status)
{
    return status == 429 || status == 503 || status == 504;
}

bool kubernetes_connection_is_put_off(const struct kubernetes_connection *connection)
{
    return connection->put_off >= KUBERNETES_PUT_OFF_MOST;
}

bool kubernetes_connection_note_status(struct kubernetes_connection *connection, int status,
                                       int64_t retry_after)
{
    if (status == 401)
        connection->rejected = true;
    if (!kubernetes_connection_puts_off(status))
        connection->put_off = 0;
    else if (connection->put_off < KUBERNETES_PUT_OFF_MOST)
        connection->put_off++;
    if (kubernetes_connection_is_put_off(connection) && (status == 429 || retry_after > 0)) {
        int64_t quiet = retry_after <= 0                      ? KUBERNETES_QUIET_DEFAULT
                        : retry_after > KUBERNETES_QUIET_MOST ? KUBERNETES_QUIET_MOST
                                                              : retry_after;
        if (clock_elapsed() + quiet > connection->quiet_until)
            connection->quiet_until = clock_elapsed() + quiet;
        return true;
    }
    return status == 401 && !connection->repeats && kubernetes_connection_may_replace(connection);
}
