/* executors/kubernetes/api.c - requests to a Kubernetes API server
 *
 * A batch is run once.  When the server did not accept the credential, the requests that it refused
 * for that, and those that were not sent, are run once more after the credential was read again, with
 * the kubeconfig, in which somebody may have renewed a token.
 */
#include "executors/kubernetes/api.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "executors/http/http.h"
#include "executors/kubernetes/connection.h"
#include "executors/kubernetes/status.h"
#include "executors/kubernetes/stream.h"

/* ---- the connection ---- */

struct kubernetes_connection *kubernetes_api_connect(const struct kubernetes_settings *settings,
                                                     struct error *error)
{
    return kubernetes_connection_open(settings, KUBECONFIG_SERVICE_ACCOUNT, error);
}

void kubernetes_api_disconnect(struct kubernetes_connection *connection)
{
    if (!connection)
        return;
    while (connection->first_stream)
        kubernetes_stream_close(connection->first_stream);
    kubernetes_connection_free(connection);
}

const char *kubernetes_api_namespace(const struct kubernetes_connection *connection)
{
    return connection->namespace;
}

const char *kubernetes_api_server(const struct kubernetes_connection *connection)
{
    return connection->config->server;
}

/* ---- calls ---- */

static void clear_call(struct kubernetes_call *call)
{
    buffer_clear(&call->response);
    buffer_clear(&call->warnings);
    call->status = 0;
    call->retry_after = 0;
    call->alone = false;
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

/* Add a hint to libcurl's message about a certificate. */
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

/* How long to wait before the next request: bounded, and a default where only this request is put off. */
static int64_t bound_retry_after(const struct kubernetes_call *call)
{
    if ((call->status == 429 || call->alone) && call->retry_after <= 0)
        return KUBERNETES_QUIET_DEFAULT;
    return call->retry_after < 0                       ? 0
           : call->retry_after > KUBERNETES_QUIET_MOST ? KUBERNETES_QUIET_MOST
                                                       : call->retry_after;
}

/* Set the call's outcome from the finished request. */
static void take_result(struct kubernetes_connection *connection, struct arena *arena,
                        struct kubernetes_call *call, struct http_request *request)
{
    clear_call(call);
    if (request->outcome != HTTP_ANSWERED) {
        bool unsent = request->outcome == HTTP_NOT_SENT || strcmp(call->method, "GET") == 0;
        call->outcome = unsent ? KUBERNETES_UNAVAILABLE : KUBERNETES_UNKNOWN;
        call->error = request->error;
        add_advice(&call->error);
        int64_t quiet = kubernetes_connection_quiet(connection);
        if (request->outcome == HTTP_NOT_SENT && quiet)
            put_off(call, quiet);
        return;
    }
    const struct kubernetes_question question = {call->method, call->path.data, call->body.length,
                                                 call->unread};
    call->status = request->status;
    call->retry_after = request->retry_after;
    call->outcome = kubernetes_status_judge(
        arena, &question, request->status, buffer_text(&request->response), call->raw,
        &call->answer, &call->retry_after, &call->remedy, &call->error);
    call->alone = kubernetes_connection_puts_off(request->status) &&
                  !kubernetes_connection_is_put_off(connection);
    call->retry_after = bound_retry_after(call);
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
    const char *const *headers = kubernetes_connection_headers(connection, buffer);
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

/* The server did not accept the credential: read it again, and repeat what was refused.  -1 and a
 * sentence when no other can be had now. */
static int run_again(struct kubernetes_connection *connection, struct kubernetes_call *const *calls,
                     struct http_request *requests, struct http_request **batch, size_t count,
                     struct error *error)
{
    if (!kubernetes_connection_may_replace(connection))
        return 0; /* it was the newest one */
    if (kubernetes_connection_quiet(connection))
        return error_set(error, "the API server asked to be left alone");
    if (kubernetes_connection_replace(connection, error) ||
        kubernetes_connection_prepare(connection, error))
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

void kubernetes_api_run(struct kubernetes_connection *connection, struct arena *arena,
                        struct kubernetes_call *const *calls, size_t count)
{
    struct error error;
    int64_t quiet = kubernetes_connection_quiet(connection);
    for (size_t i = 0; quiet && i < count; i++)
        put_off(calls[i], quiet);
    if (quiet || count == 0)
        return;
    if (kubernetes_connection_prepare(connection, &error)) {
        fail_all(calls, count, &error);
        return;
    }
    struct http_request *requests = memory_allocate(count * sizeof(*requests));
    struct http_request **batch = memory_allocate(count * sizeof(struct http_request *));
    run_requests(connection, arena, calls, requests, batch, count);
    free(batch);
    free(requests);
}

void kubernetes_api_call_free(struct kubernetes_call *call)
{
    buffer_free(&call->response);
    buffer_free(&call->warnings);
}
