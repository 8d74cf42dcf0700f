/* executors/kubernetes/api.c - requests to a Kubernetes API server
 *
 * A batch is run once; when the server did not accept the credential, what it refused for that, and
 * what was not sent any more, is run once more with everything read again: the kubeconfig too, in
 * which somebody may have renewed a token.
 */
#include "executors/kubernetes/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/http/http.h"
#include "executors/kubernetes/connection.h"
#include "executors/kubernetes/status.h"

enum {
    ANSWER_LIMIT = 64 << 20, /* bytes; a page of a list is far below */
    REPLACE_INTERVAL = 5000, /* milliseconds between two looks for a better credential */
    QUIET_DEFAULT = 1000,    /* milliseconds after a 429 that says nothing */
    QUIET_MOST = 300000
};

/* ---- opening and closing ---- */

/* The headers that every request has, beside the credential. */
static const char **common_headers(struct arena *arena, const struct kubeconfig *config)
{
    size_t count = 0, used = 0;
    while (config->impersonate[count])
        count++;
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

/* Read the kubeconfig, again perhaps; what was there before stays when that fails. */
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
    connection->headers = common_headers(arena, config);
    return 0;
}

static void close_clients(struct kubernetes_connection *connection)
{
    http_close(connection->http);
    http_streams_close(connection->streams);
    connection->http = NULL;
    connection->streams = NULL;
}

static struct text copy_text(struct arena *arena, struct text text)
{
    return arena_text(arena, text.data ? text.data : "", text.length);
}

struct kubernetes_connection *kubernetes_connect_from(const struct kubernetes_settings *settings,
                                                      const char *service_account,
                                                      struct error *error)
{
    struct kubernetes_connection *connection = memory_allocate(sizeof(*connection));
    struct kubernetes_settings *own = &connection->settings;
    connection->arena = arena_new();
    connection->service_account = arena_string(connection->arena, service_account);
    *own = *settings;
    own->kubeconfig = copy_text(connection->arena, settings->kubeconfig);
    own->context = copy_text(connection->arena, settings->context);
    own->namespace = copy_text(connection->arena, settings->namespace);
    own->proxy = copy_text(connection->arena, settings->proxy);
    own->host_paths = NULL; /* none of our business */
    own->host_path_count = 0;
    if (load_config(connection, error)) {
        kubernetes_disconnect(connection);
        return NULL;
    }
    const char *configured = connection->config->namespace;
    connection->namespace = memory_copy_string(own->namespace.length ? own->namespace.data
                                               : *configured         ? configured
                                                                     : "default");
    return connection;
}

struct kubernetes_connection *kubernetes_connect(const struct kubernetes_settings *settings,
                                                 struct error *error)
{
    return kubernetes_connect_from(settings, KUBECONFIG_SERVICE_ACCOUNT, error);
}

void kubernetes_disconnect(struct kubernetes_connection *connection)
{
    if (!connection)
        return;
    while (connection->first_stream)
        kubernetes_stream_close(connection->first_stream);
    close_clients(connection);
    kubernetes_credential_free(connection->credential);
    forget_config(connection->config_arena, connection->config);
    arena_free(connection->arena);
    free(connection->namespace);
    free(connection);
}

const char *kubernetes_namespace(const struct kubernetes_connection *connection)
{
    return connection->namespace;
}

const char *kubernetes_server(const struct kubernetes_connection *connection)
{
    return connection->config->server;
}

/* ---- being ready to send ---- */

static bool go_on(void *context, const struct http_request *ended)
{
    struct kubernetes_connection *connection = context;
    return ended->outcome != HTTP_ANSWERED ||
           !kubernetes_take_note(connection, ended->status, ended->retry_after);
}

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
        .ca = kubernetes_credential_ca(connection->credential),
        .certificate = kubernetes_credential_certificate(connection->credential),
        .key = kubernetes_credential_key(connection->credential),
        .timeout = own->request_timeout,
        .connect_timeout = own->connect_timeout,
        .response_limit = ANSWER_LIMIT,
        .in_flight = own->in_flight,
        .go_on = go_on,
        .context = connection,
    };
    if (!connection->http)
        connection->http = http_open(&settings, error);
    if (connection->http && !connection->streams)
        connection->streams = http_streams_open(&settings, error);
    return connection->streams ? 0 : -1;
}

/* Whether to look for a better credential: not when that was just done. */
static bool may_replace(const struct kubernetes_connection *connection)
{
    return connection->replaced_at == 0 ||
           clock_elapsed() - connection->replaced_at >= REPLACE_INTERVAL;
}

/* Start from the kubeconfig again.  -1 and a sentence when it cannot be read; what was there before
 * stays. */
static int replace_credential(struct kubernetes_connection *connection, struct error *error)
{
    int64_t now = clock_elapsed();
    connection->replaced_at = now ? now : 1;
    connection->rejected = false;
    if (load_config(connection, error))
        return -1;
    close_clients(connection);
    return 0;
}

int kubernetes_prepare(struct kubernetes_connection *connection, struct error *error)
{
    if (connection->rejected && may_replace(connection))
        replace_credential(connection, NULL);
    int changed = kubernetes_credential_refresh(connection->credential, error);
    if (changed < 0)
        return -1;
    if (changed)
        close_clients(connection);
    return open_clients(connection, error);
}

const char *const *kubernetes_headers(const struct kubernetes_connection *connection,
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

int64_t kubernetes_quiet(struct kubernetes_connection *connection)
{
    int64_t left = connection->quiet_until - clock_elapsed();
    if (connection->quiet_until && left > 0)
        return left;
    connection->quiet_until = 0;
    return 0;
}

bool kubernetes_take_note(struct kubernetes_connection *connection, int status, int64_t retry_after)
{
    if (status == 401)
        connection->rejected = true;
    if (status == 429 || (status == 503 && retry_after > 0)) {
        int64_t quiet = retry_after <= 0           ? QUIET_DEFAULT
                        : retry_after > QUIET_MOST ? QUIET_MOST
                                                   : retry_after;
        if (clock_elapsed() + quiet > connection->quiet_until)
            connection->quiet_until = clock_elapsed() + quiet;
        return true;
    }
    return status == 401 && !connection->repeats && may_replace(connection);
}

/* ---- calls ---- */

static void clear_call(struct kubernetes_call *call)
{
    buffer_clear(&call->response);
    buffer_clear(&call->warnings);
    call->status = 0;
    call->retry_after = 0;
    call->answer = NULL;
    call->cut_off = false;
    call->error.text[0] = '\0';
    call->remedy = NULL;
}

static void put_off(struct kubernetes_call *call, int64_t quiet)
{
    char buffer[CLOCK_TEXT_SIZE];
    clear_call(call);
    call->outcome = KUBERNETES_UNAVAILABLE;
    call->retry_after = quiet;
    error_set(&call->error, "%s: not sent, because the API server asked to be left alone for %s",
              call->method, duration_format(quiet, buffer));
}

static void fail_all(struct kubernetes_call *const *calls, size_t count, const struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        clear_call(calls[i]);
        calls[i]->outcome = KUBERNETES_UNAVAILABLE;
        calls[i]->error = *error;
    }
}

static void set_request(struct http_request *request, const struct kubernetes_call *call,
                        const char *const *headers)
{
    *request = (struct http_request){
        .method = call->method,
        .path = call->path.data,
        .body = call->body,
        .content_type = call->content_type,
        .headers = headers,
        .timeout = call->timeout,
        .keep = call->raw ? call->response_limit : 0,
    };
}

/* libcurl's words for a certificate that is not what it should be. */
static void add_advice(struct error *error)
{
    const char *advice = strstr(error->text, "SSL certificate problem")
                             ? "is the kubeconfig's certificate-authority that of this cluster?"
                         : strstr(error->text, "SSL: no alternative certificate subject name") ||
                                 strstr(error->text, "SSL: certificate subject name")
                             ? "is the kubeconfig's server right, or must tls-server-name be set?"
                             : NULL;
    struct error old = *error;
    if (advice)
        error_set(error, "%.1800s; %s", old.text, advice);
}

/* An answer may ask for more patience than we have, and a proxy's 429 says nothing of it. */
static int64_t bound_patience(const struct kubernetes_call *call)
{
    if (call->status == 429 && call->retry_after <= 0)
        return QUIET_DEFAULT;
    return call->retry_after < 0            ? 0
           : call->retry_after > QUIET_MOST ? QUIET_MOST
                                            : call->retry_after;
}

/* What the request's end means for the call. */
static void take_result(struct kubernetes_connection *connection, struct arena *arena,
                        struct kubernetes_call *call, struct http_request *request)
{
    clear_call(call);
    if (request->outcome != HTTP_ANSWERED) {
        bool unsent = request->outcome == HTTP_NOT_SENT || strcmp(call->method, "GET") == 0;
        call->outcome = unsent ? KUBERNETES_UNAVAILABLE : KUBERNETES_UNKNOWN;
        call->error = request->error;
        add_advice(&call->error);
        int64_t quiet = kubernetes_quiet(connection);
        if (request->outcome == HTTP_NOT_SENT && quiet)
            put_off(call, quiet);
        return;
    }
    const struct kubernetes_question question = {call->method, call->path.data, call->body.length};
    call->status = request->status;
    call->retry_after = request->retry_after;
    call->outcome = kubernetes_status_judge(
        arena, &question, request->status, buffer_text(&request->response), call->raw,
        &call->answer, &call->retry_after, &call->remedy, &call->error);
    call->retry_after = bound_patience(call);
    struct buffer none = call->warnings;
    call->warnings = request->warnings;
    request->warnings = none;
    if (call->raw && call->outcome == KUBERNETES_DONE) {
        struct buffer empty = call->response;
        call->response = request->response;
        call->cut_off = request->cut_off;
        request->response = empty;
    }
}

/* Run the requests of one pass. */
static void run_pass(struct kubernetes_connection *connection, struct kubernetes_call *const *calls,
                     struct http_request *requests, struct http_request **batch, size_t count)
{
    const char *buffer[KUBERNETES_HEADERS];
    const char *const *headers = kubernetes_headers(connection, buffer);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = connection->repeats && requests[i].status != 401 &&
                     requests[i].outcome != HTTP_NOT_SENT;
        if (again)
            continue;
        http_request_clear(&requests[i]);
        set_request(&requests[i], calls[i], headers);
        batch[used++] = &requests[i];
    }
    http_run(connection->http, batch, used);
}

/* The server did not accept the credential: get another and run what it refused once more.  -1 and
 * a sentence when there is no other for now. */
static int run_again(struct kubernetes_connection *connection, struct kubernetes_call *const *calls,
                     struct http_request *requests, struct http_request **batch, size_t count,
                     struct error *error)
{
    if (!may_replace(connection))
        return 0; /* it was the newest there is */
    if (kubernetes_quiet(connection))
        return error_set(error, "the API server asked to be left alone");
    if (replace_credential(connection, error) || kubernetes_prepare(connection, error))
        return -1;
    connection->repeats = true;
    run_pass(connection, calls, requests, batch, count);
    connection->repeats = false;
    return 0;
}

/* Run the requests, and set the calls' outcomes. */
static void run_requests(struct kubernetes_connection *connection, struct arena *arena,
                         struct kubernetes_call *const *calls, struct http_request *requests,
                         struct http_request **batch, size_t count)
{
    struct error error;
    connection->rejected = false;
    run_pass(connection, calls, requests, batch, count);
    int result =
        connection->rejected ? run_again(connection, calls, requests, batch, count, &error) : 0;
    for (size_t i = 0; i < count; i++) {
        take_result(connection, arena, calls[i], &requests[i]);
        http_request_clear(&requests[i]);
        if (result == 0 || calls[i]->status != 401)
            continue;
        calls[i]->outcome = KUBERNETES_UNAVAILABLE;
        error_set(&calls[i]->error,
                  "the API server did not accept the credential, and it could not be read again: "
                  "%s",
                  error.text);
    }
}

void kubernetes_run(struct kubernetes_connection *connection, struct arena *arena,
                    struct kubernetes_call *const *calls, size_t count)
{
    struct error error;
    int64_t quiet = kubernetes_quiet(connection);
    for (size_t i = 0; quiet && i < count; i++)
        put_off(calls[i], quiet);
    if (quiet || count == 0)
        return;
    if (kubernetes_prepare(connection, &error)) {
        fail_all(calls, count, &error);
        return;
    }
    struct http_request *requests = memory_allocate(count * sizeof(*requests));
    struct http_request **batch = memory_allocate(count * sizeof(struct http_request *));
    run_requests(connection, arena, calls, requests, batch, count);
    free(batch);
    free(requests);
}

void kubernetes_call_free(struct kubernetes_call *call)
{
    buffer_free(&call->response);
    buffer_free(&call->warnings);
}
