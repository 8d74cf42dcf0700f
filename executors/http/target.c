/* executors/http/target.c - what http.c and stream.c tell libcurl about a server
 *
 * Certificates and host names are always verified.  Where the settings give certificate authorities,
 * those of the machine are not trusted.
 *
 * Known weakness: with a TLS name of its own, NO_PROXY is compared with that name, not with the
 * server's.
 */
#include "executors/http/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

static char *copy_or_null(const char *string)
{
    return string ? memory_copy_string(string) : NULL;
}

static struct text copy_text(struct text text)
{
    return text.data ? (struct text){memory_copy_text(text), text.length} : text;
}

static void wipe_text(struct text *text)
{
    union {
        const char *data;
        char *own;
    } bytes = {text->data};
    if (bytes.own)
        explicit_bzero(bytes.own, text->length);
    free(bytes.own);
    *text = (struct text){0};
}

/* ---- headers ---- */

void http_target_add_header(struct curl_slist **list, const char *header)
{
    struct curl_slist *longer = curl_slist_append(*list, header);
    if (longer)
        *list = longer;
    else
        abort(); /* out of memory, as everywhere */
}

void http_target_add_headers(struct curl_slist **list, const char *const *headers)
{
    for (; headers && *headers; headers++)
        http_target_add_header(list, *headers);
}

void http_target_free_headers(struct curl_slist **list)
{
    for (struct curl_slist *header = *list; header; header = header->next)
        explicit_bzero(header->data, strlen(header->data));
    curl_slist_free_all(*list);
    *list = NULL;
}

/* ---- the server ---- */

/* Expect another name in the server's certificate than in its URL: libcurl gets a URL with that
 * name, and connects to the real host. */
static int set_tls_name(struct http_target *target, const char *name, struct error *error)
{
    char *host = NULL, *port = NULL, *shown = NULL, *url = NULL;
    CURLU *parts = curl_url();
    int result = -1;
    if (parts && !curl_url_set(parts, CURLUPART_URL, target->base, 0) &&
        !curl_url_get(parts, CURLUPART_HOST, &host, 0) &&
        !curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) &&
        !curl_url_set(parts, CURLUPART_HOST, name, 0) &&
        !curl_url_get(parts, CURLUPART_HOST, &shown, 0) &&
        !curl_url_get(parts, CURLUPART_URL, &url, 0)) {
        struct buffer line = {0};
        buffer_printf(&line, "%s:%s:%s:%s", shown, port, host, port);
        http_target_add_header(&target->connect_to, line.data);
        buffer_clear(&line);
        buffer_printf(&line, "Host: %s:%s", host, port);
        http_target_add_header(&target->headers, line.data);
        buffer_free(&line);
        size_t length = strlen(url);
        while (length && url[length - 1] == '/')
            url[--length] = '\0';
        free(target->url);
        target->url = memory_copy_string(url);
        result = 0;
    }
    if (result) {
        struct error_quote_buffer quote;
        error_set(error, "the TLS server name \"%s\" cannot be used for %s",
                  error_quote(&quote, name, strlen(name)), target->base);
    }
    curl_free(host);
    curl_free(port);
    curl_free(shown);
    curl_free(url);
    curl_url_cleanup(parts);
    return result;
}

/* libcurl keeps what it has read of authorities only where they are in a file, and reads bytes again for each
 * connection, which is a third of its processor time.  So they get a file, in memory; where that cannot be had
 * they stay bytes. */
static void put_authorities_into_file(struct http_target *target)
{
    char path[32];
    target->ca_memory = memfd_create("authorities", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->ca_memory);
    if (target->ca_memory >= 0 && !file_write_all(target->ca_memory, target->ca, path, NULL) &&
        access(path, R_OK) == 0)
        target->ca_file = memory_copy_string(path);
}

int http_target_set(struct http_target *target, const struct http_settings *settings,
                    struct error *error)
{
    static bool initialised;
    *target = (struct http_target){.ca_memory = -1};
    if (!initialised && curl_global_init(CURL_GLOBAL_DEFAULT))
        return error_set(error, "libcurl could not be initialised");
    initialised = true;
    *target = (struct http_target){
        .base = memory_copy_string(settings->base),
        .url = memory_copy_string(settings->base),
        .unix_socket = copy_or_null(settings->unix_socket),
        .ca_file = copy_or_null(settings->ca_file),
        .certificate_file = copy_or_null(settings->certificate_file),
        .key_file = copy_or_null(settings->key_file),
        .proxy = copy_or_null(settings->proxy),
        .ca = copy_text(settings->ca),
        .certificate = copy_text(settings->certificate),
        .key = copy_text(settings->key),
        .ca_memory = -1,
        .connect_timeout =
            settings->connect_timeout ? settings->connect_timeout : settings->timeout,
        .secure = text_starts(text_of(settings->base), "https:"),
    };
    if (target->ca.data && !target->ca_file)
        put_authorities_into_file(target);
    http_target_add_headers(&target->headers, settings->headers);
    return settings->tls_name && *settings->tls_name
               ? set_tls_name(target, settings->tls_name, error)
               : 0;
}

void http_target_free(struct http_target *target)
{
    wipe_text(&target->ca);
    wipe_text(&target->certificate);
    wipe_text(&target->key);
    http_target_free_headers(&target->headers);
    curl_slist_free_all(target->connect_to);
    if (target->proxy) /* may hold a password */
        explicit_bzero(target->proxy, strlen(target->proxy));
    free(target->base);
    free(target->url);
    free(target->unix_socket);
    free(target->ca_file);
    free(target->certificate_file);
    free(target->key_file);
    free(target->proxy);
    if (target->ca_memory >= 0)
        close(target->ca_memory);
    *target = (struct http_target){.ca_memory = -1};
}

static void set_blob(CURL *easy, CURLoption option, struct text text)
{
    union {
        const char *data;
        void *own; /* libcurl only reads it */
    } bytes = {text.data};
    struct curl_blob blob = {bytes.own, text.length, CURL_BLOB_NOCOPY};
    if (text.data)
        curl_easy_setopt(easy, option, &blob);
}

static void apply_tls(const struct http_target *target, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (target->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, target->ca_file);
    else
        set_blob(easy, CURLOPT_CAINFO_BLOB, target->ca);
    if (target->ca_file || target->ca.data)
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (target->certificate_file)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, target->certificate_file);
    if (target->key_file)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, target->key_file);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, target->certificate);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, target->key);
    curl_easy_setopt(easy, CURLOPT_KEYPASSWD, ""); /* never prompt */
}

void http_target_address(const struct http_target *target, CURL *easy, const char *path,
                         struct curl_slist **headers)
{
    struct buffer url = {0};
    buffer_printf(&url, "%s%s", target->url, path);
    curl_easy_setopt(easy, CURLOPT_URL, url.data);
    buffer_free(&url);
    for (const struct curl_slist *header = target->headers; header; header = header->next)
        http_target_add_header(headers, header->data);
}

void http_target_apply(const struct http_target *target, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (target->unix_socket) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, target->unix_socket);
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    } else if (target->proxy) { /* "" is none, whatever the environment says */
        curl_easy_setopt(easy, CURLOPT_PROXY, target->proxy);
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    }
    if (target->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, target->connect_to);
    apply_tls(target, easy);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    /* A proxy's reply to CONNECT is no part of the answer. */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)target->connect_timeout);
    if (!target->unix_socket) {
        enum { IDLE = 30, INTERVAL = 10 }; /* seconds */
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)IDLE);
        curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)INTERVAL);
    }
}

void http_target_receive(CURL *easy, http_target_receiver *body, http_target_receiver *header,
                         void *context, char *problem)
{
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
}

void http_target_end_transfers(CURLM *multi, void (*end)(void *context, CURLcode code))
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result; /* the message dies with the handle's removal */
        char *context = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
        if (context)
            end(context, code);
    }
}

const char *http_target_name(const struct http_target *target)
{
    return target->unix_socket ? target->unix_socket : target->base;
}

/* libcurl speaks of port 80 of localhost when it means the socket. */
const char *http_target_words(const struct http_target *target, CURL *easy, CURLcode code,
                              const char *problem)
{
    long number = 0;
    if (code == CURLE_COULDNT_CONNECT && target->unix_socket)
        curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    switch (number) {
    case ENOENT:
        return "there is no such socket; the server that makes it does not run, or makes another "
               "one";
    case ECONNREFUSED:
        return "nobody listens at this socket; the server that made it does not run any more";
    case EACCES:
        return "this user may not connect to this socket (its mode, or that of a directory above "
               "it)";
    default:
        return problem[0] ? problem : curl_easy_strerror(code);
    }
}

bool http_target_was_sent(const struct http_target *target, CURL *easy, CURLcode code)
{
    long sent = 0, connects = 0;
    curl_off_t handshake = 0;
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
        code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_PROXY ||
        code == CURLE_PEER_FAILED_VERIFICATION)
        return false;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &handshake);
    /* A request to a proxy counts as sent, but the server has seen nothing before the TLS handshake. */
    return sent > 0 && !(target->secure && connects > 0 && handshake == 0);
}

/* ---- signals ---- */

void http_target_block_sigpipe(struct http_sigpipe *sigpipe)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpipe->pending = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &sigpipe->before);
}

void http_target_restore_sigpipe(const struct http_sigpipe *sigpipe)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!sigpipe->pending)
        sigtimedwait(&pipe, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &sigpipe->before, NULL);
}
