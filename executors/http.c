/* executors/http.c - HTTP requests to a scheduler, many in flight
 *
 * Each slot owns one easy handle for the life of the client; a slot is given a request, added to
 * the multi handle, and given the next one when it is done.
 */
#include "executors/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum {
    WAIT_SLICE = 1000, /* milliseconds; libcurl's own timers usually end a wait sooner */
    IN_FLIGHT_MAX = 1024
};

struct slot {
    CURL *easy;
    struct http_client *client;
    struct http_request *request; /* NULL: free */
    struct curl_slist *headers;
    char problem[CURL_ERROR_SIZE];
    bool too_long;
    bool headed; /* the answer's headers are complete */
};

struct http_client {
    CURLM *multi;
    struct slot *slots;
    size_t slot_count;
    char *base, *unix_socket, *ca_file, *certificate_file, *key_file;
    struct curl_slist *headers;
    int64_t timeout, connect_timeout, stall_timeout;
    size_t response_limit;
    bool hangs; /* a request of this batch had no answer in its time */
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    struct buffer *response = &slot->request->response;
    size_t length = size * count;
    if (length > slot->client->response_limit - response->length) {
        slot->too_long = true;
        return 0;
    }
    buffer_add(response, bytes, length);
    return length;
}

/* libcurl takes an answer whose connection ends between two headers for a whole one without a body:
 * a refusal without its reason. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct slot *slot = context;
    struct text line = {bytes, size * count};
    slot->headed = text_is(line, "\r\n") || text_is(line, "\n");
    return line.length;
}

static char *copy_or_null(const char *string)
{
    return string ? memory_copy_string(string) : NULL;
}

static void add_header(struct curl_slist **list, const char *header)
{
    struct curl_slist *longer = curl_slist_append(*list, header);
    if (longer)
        *list = longer;
    else
        abort(); /* out of memory, as everywhere */
}

static void add_headers(struct curl_slist **list, const char *const *headers)
{
    for (; headers && *headers; headers++)
        add_header(list, *headers);
}

struct http_client *http_open(const struct http_settings *settings, struct error *error)
{
    static bool initialised;
    if (!initialised && curl_global_init(CURL_GLOBAL_DEFAULT)) {
        error_set(error, "libcurl could not be initialised");
        return NULL;
    }
    initialised = true;
    struct http_client *client = memory_allocate(sizeof(*client));
    *client = (struct http_client){
        .multi = curl_multi_init(),
        .base = memory_copy_string(settings->base),
        .unix_socket = copy_or_null(settings->unix_socket),
        .ca_file = copy_or_null(settings->ca_file),
        .certificate_file = copy_or_null(settings->certificate_file),
        .key_file = copy_or_null(settings->key_file),
        .timeout = settings->timeout,
        .connect_timeout =
            settings->connect_timeout ? settings->connect_timeout : settings->timeout,
        .stall_timeout = settings->stall_timeout,
        .response_limit = settings->response_limit,
    };
    add_headers(&client->headers, settings->headers);
    client->slot_count = settings->in_flight < 1               ? 1
                         : settings->in_flight > IN_FLIGHT_MAX ? IN_FLIGHT_MAX
                                                               : (size_t)settings->in_flight;
    client->slots = memory_allocate(client->slot_count * sizeof(*client->slots));
    memset(client->slots, 0, client->slot_count * sizeof(*client->slots));
    bool complete = client->multi;
    for (size_t i = 0; i < client->slot_count; i++) {
        client->slots[i].client = client;
        client->slots[i].easy = curl_easy_init();
        complete = complete && client->slots[i].easy;
    }
    if (!complete) {
        error_set(error, "libcurl could not make its handles");
        http_close(client);
        return NULL;
    }
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)client->slot_count);
    return client;
}

void http_close(struct http_client *client)
{
    if (!client)
        return;
    for (size_t i = 0; i < client->slot_count; i++)
        curl_easy_cleanup(client->slots[i].easy);
    if (client->multi)
        curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->headers);
    free(client->slots);
    free(client->base);
    free(client->unix_socket);
    free(client->ca_file);
    free(client->certificate_file);
    free(client->key_file);
    free(client);
}

static void set_body(struct slot *slot, const struct http_request *request)
{
    bool has_body = request->body.data;
    if (has_body || strcmp(request->method, "POST") == 0) {
        curl_easy_setopt(slot->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, has_body ? request->body.data : "");
        curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.length);
    }
    curl_easy_setopt(slot->easy, CURLOPT_CUSTOMREQUEST, request->method);
    /* curl would announce a form, and wait for "100 Continue" before a larger body. */
    char type[256];
    snprintf(type, sizeof(type), "Content-Type: %s",
             request->content_type ? request->content_type : "application/json");
    add_header(&slot->headers, has_body ? type : "Content-Type:");
    add_header(&slot->headers, "Expect:");
}

static void set_connection(struct slot *slot, const struct http_request *request)
{
    const struct http_client *client = slot->client;
    CURL *easy = slot->easy;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (client->unix_socket) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, client->unix_socket);
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    }
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    if (client->certificate_file)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, client->certificate_file);
    if (client->key_file)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, client->key_file);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, request->once ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(request->timeout ? request->timeout : client->timeout));
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)client->connect_timeout);
    if (client->stall_timeout) {
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)(client->stall_timeout + 999) / 1000);
    }
}

static void start_request(struct slot *slot, struct http_request *request)
{
    CURL *easy = slot->easy;
    slot->request = request;
    slot->too_long = slot->headed = false;
    slot->problem[0] = '\0';
    buffer_clear(&request->response);
    request->outcome = HTTP_NOT_SENT;
    request->status = 0;
    request->retry_after = 0;
    request->error.text[0] = '\0';

    curl_easy_reset(easy);
    struct buffer url = {0};
    buffer_printf(&url, "%s%s", slot->client->base, request->path);
    curl_easy_setopt(easy, CURLOPT_URL, url.data);
    buffer_free(&url);
    for (const struct curl_slist *h = slot->client->headers; h; h = h->next)
        add_header(&slot->headers, h->data);
    add_headers(&slot->headers, request->headers);
    set_body(slot, request);
    set_connection(slot, request);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->problem);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    CURLMcode code = curl_multi_add_handle(slot->client->multi, easy);
    if (code) {
        error_set(&request->error, "%s %s could not be started: %s", request->method, request->path,
                  curl_multi_strerror(code));
        slot->request = NULL;
    }
}

/* Whether the server may have seen something of the request. */
static bool was_sent(CURL *easy)
{
    long sent = 0;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
    return sent > 0;
}

static void end_request(struct slot *slot, CURLcode code)
{
    struct http_request *request = slot->request;
    struct http_client *client = slot->client;
    const char *server = client->unix_socket ? client->unix_socket : client->base;
    curl_off_t retry_after = 0;
    long status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(slot->easy, CURLINFO_RETRY_AFTER, &retry_after);
    if (code == CURLE_OK && !slot->headed)
        code = CURLE_GOT_NOTHING;
    client->hangs = client->hangs || code == CURLE_OPERATION_TIMEDOUT;
    request->status = code == CURLE_OK ? (int)status : 0;
    request->retry_after = (int64_t)retry_after * 1000;
    struct error_quote_room room;
    const char *path = error_quote(&room, request->path, strlen(request->path));
    if (code == CURLE_OK) {
        request->outcome = HTTP_ANSWERED;
    } else if (slot->too_long) {
        request->outcome = HTTP_NO_ANSWER;
        error_set(&request->error, "the answer to %s %s is longer than %zu bytes", request->method,
                  path, client->response_limit);
    } else {
        request->outcome = was_sent(slot->easy) ? HTTP_NO_ANSWER : HTTP_NOT_SENT;
        error_set(&request->error, "%s: %s %s: %s", server, request->method, path,
                  slot->problem[0] ? slot->problem : curl_easy_strerror(code));
    }
    curl_multi_remove_handle(client->multi, slot->easy);
    curl_slist_free_all(slot->headers);
    slot->headers = NULL;
    slot->request = NULL;
}

static void take_finished(struct http_client *client)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result; /* the message dies with the handle's removal */
        char *slot = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        if (slot)
            end_request((struct slot *)(void *)slot, code);
    }
}

/* Requests that are not begun, because others of the batch had no answer in their time. */
static void give_up(const struct http_client *client, struct http_request *const *batch,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&batch[i]->response);
        batch[i]->outcome = HTTP_NOT_SENT;
        batch[i]->status = 0;
        batch[i]->retry_after = 0;
        error_set(&batch[i]->error, "%s: not asked, because it let other requests wait too long",
                  client->unix_socket ? client->unix_socket : client->base);
    }
}

void http_run(struct http_client *client, struct http_request *const *batch, size_t count)
{
    size_t next = 0;
    client->hangs = false;
    for (;;) {
        if (client->hangs) {
            give_up(client, batch + next, count - next);
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
        int running;
        curl_multi_perform(client->multi, &running);
        take_finished(client);
        if ((size_t)running == busy)
            curl_multi_poll(client->multi, NULL, 0, WAIT_SLICE, NULL);
    }
}

void http_request_clear(struct http_request *request)
{
    buffer_free(&request->response);
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
