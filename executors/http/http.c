/* executors/http/http.c - HTTP requests to a scheduler, many in flight
 *
 * Each slot owns one easy handle for the life of the client; a slot is given a request, added to
 * the transfers, and given the next one when it is done.
 */
#include "executors/http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fence.h"
#include "base/heartbeat.h"
#include "base/tally.h"
#include "executors/http/target.h"
#include "executors/http/transfers.h"

enum {
    WAIT_SLICE = 1000, /* milliseconds; libcurl's own timers usually end a wait sooner */
    IN_FLIGHT_MAX = 1024,
    WARNINGS_LIMIT = 8192 /* bytes of an answer's warnings that are kept */
};

static const char warning[] = "Warning:";

struct slot {
    CURL *easy;
    struct http_client *client;
    struct http_request *request; /* NULL: free */
    struct curl_slist *headers;
    char problem[CURL_ERROR_SIZE];
    bool too_long;
    bool fenced; /* it was not sent: fence_may_act() */
    bool headed; /* the answer's headers are complete */
};

struct http_client {
    struct http_transfers *transfers;
    struct slot *slots;
    size_t slot_count;
    struct http_target target;
    int64_t timeout, stall_timeout;
    size_t response_limit;
    bool hangs;   /* a request of this batch timed out */
    bool stopped; /* go_on() stopped this batch */
    bool (*go_on)(void *context, const struct http_request *ended);
    void *context;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    struct buffer *response = &slot->request->response;
    size_t length = size * count, keep = slot->request->keep;
    long status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299)
        keep = 0; /* keep the whole explanation of a refusal */
    if (keep && length > keep - response->length) {
        slot->request->cut_off = true;
        buffer_add(response, bytes, keep - response->length);
        return 0;
    }
    if (!keep && length > slot->client->response_limit - response->length) {
        slot->too_long = true;
        return 0;
    }
    buffer_add(response, bytes, length);
    return length;
}

/* Append the quoted text of a Warning header, unescaped. */
static void take_warning(struct buffer *warnings, struct text line)
{
    const char *at = memchr(line.data, '"', line.length), *end = line.data + line.length;
    if (!at || warnings->length + line.length > WARNINGS_LIMIT)
        return;
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        buffer_add_byte(warnings, *at);
    }
    buffer_add_byte(warnings, '\n');
}

/* Note whether the headers are complete: libcurl accepts an answer whose connection ends between two
 * headers as a complete one without a body, which would be a refusal without its reason. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    struct text line = {bytes, size * count};
    if (line.length > strlen(warning) && strncasecmp(bytes, warning, strlen(warning)) == 0)
        take_warning(&slot->request->warnings, line);
    slot->headed = text_is(line, "\r\n") || text_is(line, "\n");
    return line.length;
}

/* Called when the connection is there, before the request is sent.  A process that has been replaced sends
 * no request that changes something. */
static int before_sending(void *context, char *remote, char *local, int remote_port, int local_port)
{
    struct slot *slot = context;
    (void)remote, (void)local, (void)remote_port, (void)local_port;
    bool changes = strcmp(slot->request->method, "GET") != 0;
    slot->fenced = changes && !fence_may_act();
    return slot->fenced ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* Set what is the same for all requests. */
static void set_slot(struct slot *slot)
{
    const struct http_client *client = slot->client;
    CURL *easy = slot->easy;
    http_target_apply(&client->target, easy);
    if (client->stall_timeout) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)(client->stall_timeout + 999) / 1000);
    }
    http_target_receive(easy, take_body, take_header, slot, slot->problem);
    curl_easy_setopt(easy, CURLOPT_SHARE, http_transfers_share(client->transfers));
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
}

struct http_client *http_open(const struct http_settings *settings, struct error *error)
{
    struct http_client *client = memory_allocate(sizeof(*client));
    *client = (struct http_client){
        .timeout = settings->timeout,
        .stall_timeout = settings->stall_timeout,
        .response_limit = settings->response_limit,
        .go_on = settings->go_on,
        .context = settings->context,
    };
    if (http_target_set(&client->target, settings, error)) {
        http_close(client);
        return NULL;
    }
    client->transfers = http_transfers_new();
    client->slot_count = settings->in_flight < 1               ? 1
                         : settings->in_flight > IN_FLIGHT_MAX ? IN_FLIGHT_MAX
                                                               : (size_t)settings->in_flight;
    client->slots = memory_allocate(client->slot_count * sizeof(*client->slots));
    memset(client->slots, 0, client->slot_count * sizeof(*client->slots));
    bool complete = client->transfers;
    for (size_t i = 0; complete && i < client->slot_count; i++) {
        client->slots[i].client = client;
        client->slots[i].easy = curl_easy_init();
        complete = client->slots[i].easy;
        if (complete)
            set_slot(&client->slots[i]);
    }
    if (!complete) {
        error_set(error, "libcurl could not make its handles");
        http_close(client);
        return NULL;
    }
    curl_multi_setopt(http_transfers_multi(client->transfers), CURLMOPT_MAXCONNECTS,
                      (long)client->slot_count);
    return client;
}

void http_close(struct http_client *client)
{
    if (!client)
        return;
    struct http_sigpipe sigpipe;
    http_target_block_sigpipe(&sigpipe);
    for (size_t i = 0; i < client->slot_count; i++)
        curl_easy_cleanup(client->slots[i].easy);
    http_transfers_free(client->transfers);
    http_target_restore_sigpipe(&sigpipe);
    http_target_free(&client->target);
    free(client->slots);
    free(client);
}

static void set_body(struct slot *slot, const struct http_request *request)
{
    bool has_body = request->body.data;
    curl_easy_setopt(slot->easy, CURLOPT_HTTPGET, 1L); /* nothing of the request before it */
    if (has_body || strcmp(request->method, "POST") == 0) {
        curl_easy_setopt(slot->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, has_body ? request->body.data : "");
        curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.length);
    }
    curl_easy_setopt(slot->easy, CURLOPT_CUSTOMREQUEST, request->method);
    /* By default libcurl sends a form's type, and waits for "100 Continue" before a larger body. */
    char type[256];
    snprintf(type, sizeof(type), "Content-Type: %s",
             request->content_type ? request->content_type : "application/json");
    http_target_add_header(&slot->headers, has_body ? type : "Content-Type:");
    http_target_add_header(&slot->headers, "Expect:");
}

static void set_times(struct slot *slot, const struct http_request *request)
{
    const struct http_client *client = slot->client;
    CURL *easy = slot->easy;
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, request->once ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(request->timeout ? request->timeout : client->timeout));
}

static void clear_answer(struct http_request *request)
{
    buffer_clear(&request->response);
    buffer_clear(&request->warnings);
    request->outcome = HTTP_NOT_SENT;
    request->status = 0;
    request->retry_after = 0;
    request->cut_off = false;
    request->error.text[0] = '\0';
}

/* Fill a free slot with the request and add it to those in flight.  When curl does not take it,
 * the request keeps the outcome HTTP_NOT_SENT and a sentence. */
static void start_request(struct slot *slot, struct http_request *request)
{
    CURL *easy = slot->easy;
    slot->request = request;
    slot->too_long = slot->headed = slot->fenced = false;
    slot->problem[0] = '\0';
    clear_answer(request);
    http_target_address(&slot->client->target, easy, request->path, &slot->headers);
    http_target_add_headers(&slot->headers, request->headers);
    set_body(slot, request);
    set_times(slot, request);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->headers);
    CURLMcode code = curl_multi_add_handle(http_transfers_multi(slot->client->transfers), easy);
    if (code) {
        error_set(&request->error, "%s %s could not be started: %s", request->method, request->path,
                  curl_multi_strerror(code));
        http_target_free_headers(&slot->headers);
        slot->request = NULL;
    }
}

/* Count a request that has ended, and the error that it met: a status of 400 or more, or no answer. */
static void count_request(struct slot *slot)
{
    const struct http_request *request = slot->request;
    char labels[64];
    double seconds = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_TOTAL_TIME, &seconds);
    snprintf(labels, sizeof(labels), "verb=\"%s\"", request->method);
    tally_add("executor_request_seconds", labels, seconds);
    if (request->outcome == HTTP_ANSWERED && request->status < 400)
        return;
    snprintf(labels, sizeof(labels), request->status ? "code=\"%d\"" : "code=\"none\"",
             request->status);
    tally_add("executor_errors_total", labels, 1);
}

/* Decide the outcome of a request that libcurl has finished, and free its slot.  A request that was never
 * sent differs from one that was sent and not answered: only the former may be sent again without
 * checking first. */
static void end_request(void *context, CURLcode code)
{
    struct slot *slot = context;
    struct http_request *request = slot->request;
    struct http_client *client = slot->client;
    const char *server = http_target_name(&client->target);
    curl_off_t retry_after = 0;
    long status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(slot->easy, CURLINFO_RETRY_AFTER, &retry_after);
    if (code == CURLE_WRITE_ERROR && request->cut_off)
        code = CURLE_OK;
    if (code == CURLE_OK && !slot->headed)
        code = CURLE_GOT_NOTHING;
    client->hangs = client->hangs || code == CURLE_OPERATION_TIMEDOUT;
    request->status = code == CURLE_OK ? (int)status : 0;
    request->retry_after = (int64_t)retry_after * 1000;
    struct error_quote_buffer quote;
    const char *path = error_quote(&quote, request->path, strlen(request->path));
    if (code == CURLE_OK) {
        request->outcome = HTTP_ANSWERED;
    } else if (slot->fenced) {
        request->outcome = HTTP_NOT_SENT;
        error_set(&request->error, "%s: %s %s: not sent, because another daemon has taken over",
                  server, request->method, path);
    } else if (slot->too_long) {
        request->outcome = HTTP_NO_ANSWER;
        error_set(&request->error, "the answer to %s %s is longer than %zu bytes", request->method,
                  path, client->response_limit);
    } else {
        request->outcome = http_target_was_sent(&client->target, slot->easy, code) ? HTTP_NO_ANSWER
                                                                                   : HTTP_NOT_SENT;
        error_set(&request->error, "%s: %s %s: %s", server, request->method, path,
                  http_target_words(&client->target, slot->easy, code, slot->problem));
    }
    count_request(slot);
    curl_multi_remove_handle(http_transfers_multi(client->transfers), slot->easy);
    http_target_free_headers(&slot->headers);
    slot->request = NULL;
    if (client->go_on && !client->go_on(client->context, request))
        client->stopped = true;
}

/* Fail the requests that were not started, after another of the batch timed out or go_on() stopped the
 * batch. */
static void fail_unsent(const struct http_client *client, struct http_request *const *batch,
                        size_t count)
{
    const char *server = http_target_name(&client->target);
    for (size_t i = 0; i < count; i++) {
        clear_answer(batch[i]);
        error_set(&batch[i]->error, "%s: not asked, because %s", server,
                  client->hangs ? "it let other requests wait too long"
                                : "of its answer to another request");
    }
}

static void run_batch(struct http_client *client, struct http_request *const *batch, size_t count)
{
    size_t next = 0;
    client->hangs = client->stopped = false;
    for (;;) {
        if (client->hangs || client->stopped) {
            fail_unsent(client, batch + next, count - next);
            next = count;
        }
        size_t busy = 0;
        for (size_t i = 0; i < client->slot_count; i++) {
            struct slot *slot = &client->slots[i];
            while (!slot->request && next < count)
                start_request(slot, batch[next++]);
            busy += slot->request != NULL;
        }
        if (busy == 0)
            return;
        heartbeat();
        http_transfers_turn(client->transfers, WAIT_SLICE);
        http_target_end_transfers(http_transfers_multi(client->transfers), end_request);
    }
}

void http_run(struct http_client *client, struct http_request *const *batch, size_t count)
{
    struct http_sigpipe sigpipe;
    http_target_block_sigpipe(&sigpipe);
    run_batch(client, batch, count);
    http_target_restore_sigpipe(&sigpipe);
}

void http_request_clear(struct http_request *request)
{
    buffer_free(&request->response);
    buffer_free(&request->warnings);
}

void http_escape(struct buffer *out, struct text part)
{
    for (size_t i = 0; i < part.length; i++) {
        unsigned char byte = (unsigned char)part.data[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.' ||
                     byte == '~';
        if (plain)
            buffer_add_byte(out, (char)byte);
        else
            buffer_printf(out, "%%%02X", byte);
    }
}
