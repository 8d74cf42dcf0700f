/* executors/http/settings.h - how to reach a server: the settings of http.h and stream.h */
#ifndef EXECUTORS_HTTP_SETTINGS_H
#define EXECUTORS_HTTP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct http_request;

struct http_settings {
    const char *base;           /* put before every path: "http://d/v4.0.0", "https://host:6443" */
    const char *unix_socket;    /* absolute path to connect to, not the base's host; or NULL */
    const char *const *headers; /* "Name: value" for every request, ends with NULL; or NULL */
    const char *ca_file, *certificate_file, *key_file; /* PEM files for TLS; or NULL */
    struct text ca, certificate, key; /* the same as bytes instead of files; data NULL: none */
    const char *tls_name;    /* the name the server's certificate must bear; NULL or "": the
                                base's host */
    const char *proxy;       /* URL; "": none; NULL: as the environment says */
    int64_t timeout;         /* milliseconds for one request, with connecting and reading */
    int64_t connect_timeout; /* milliseconds; 0: the same as timeout */
    int64_t stall_timeout;   /* milliseconds in which not one byte moves in an answer that has
                                begun, or in a request; 0: only the time-out counts */
    size_t response_limit;   /* bytes of an answer's body; a longer one is HTTP_NO_ANSWER */
    int in_flight;           /* requests under way at once, 1 or more */
    /* Called as each request ends; false: no other of the batch is begun (HTTP_NOT_SENT, with a
     * sentence that is the caller's to write).  NULL: go on. */
    bool (*go_on)(void *context, const struct http_request *ended);
    void *context;
};

#endif
