/* executors/http/target.h - what http.c and stream.c tell libcurl about a server */
#ifndef EXECUTORS_HTTP_TARGET_H
#define EXECUTORS_HTTP_TARGET_H

#include <curl/curl.h>
#include <signal.h>

#include "base/error.h"
#include "executors/http/settings.h"

/* The settings' part about the server, copied. */
struct http_target {
    char *base; /* as given, for sentences */
    char *url;  /* what goes before a path */
    char *unix_socket, *ca_file, *certificate_file, *key_file, *proxy;
    struct text ca, certificate, key;
    int ca_memory; /* a file with the bytes of `ca`, which ca_file names then; or -1 */
    struct curl_slist *connect_to; /* with a TLS name of its own */
    struct curl_slist *headers;
    int64_t connect_timeout; /* milliseconds */
    bool secure;             /* over TLS */
};

/* -1 and a sentence on failure.  The caller calls http_target_free() in either case. */
int http_target_set(struct http_target *target, const struct http_settings *settings,
                    struct error *error);
void http_target_free(struct http_target *target); /* secrets are wiped */

/* Set all options of the connection in a new handle, which the target must outlive. */
void http_target_apply(const struct http_target *target, CURL *easy);

/* Set the URL of the next transfer, and append the client's headers to the list. */
void http_target_address(const struct http_target *target, CURL *easy, const char *path,
                         struct curl_slist **headers);

void http_target_add_header(struct curl_slist **list, const char *header);
void http_target_add_headers(struct curl_slist **list,
                             const char *const *headers); /* NULL is fine */
void http_target_free_headers(struct curl_slist **list);  /* wiped, and set to NULL */

/* Pass received bytes and headers to the two functions, with `context`; libcurl's message goes into
 * `problem`, CURL_ERROR_SIZE bytes. */
typedef size_t http_target_receiver(char *bytes, size_t size, size_t count, void *context);
void http_target_receive(CURL *easy, http_target_receiver *body, http_target_receiver *header,
                         void *context, char *problem);

/* Call end() with the context of each transfer that has ended. */
void http_target_end_transfers(CURLM *multi, void (*end)(void *context, CURLcode code));

/* The server as sentences name it. */
const char *http_target_name(const struct http_target *target);

/* What a failed transfer failed of, in words: libcurl's, of which `problem` has the longer ones, or,
 * where a unix socket cannot be connected to, what is the matter with that. */
const char *http_target_words(const struct http_target *target, CURL *easy, CURLcode code,
                              const char *problem);

/* May the server have seen any part of the request, which has ended? */
bool http_target_was_sent(const struct http_target *target, CURL *easy, CURLcode code);

/* Between these two calls a closed connection raises no SIGPIPE; libcurl prevents it only where it
 * may use signals. */
struct http_sigpipe {
    sigset_t before;
    bool pending;
};
void http_target_block_sigpipe(struct http_sigpipe *sigpipe);
void http_target_restore_sigpipe(const struct http_sigpipe *sigpipe);

#endif
