/* executors/http/http.h - HTTP requests to a scheduler, many in flight
 *
 * One client talks to one server, over TCP or a unix socket, through libcurl's multi interface;
 * its connections are kept alive between calls.  A batch of requests is run to its end before
 * http_run() returns.  Each request has its own time-out; after one has timed out no other of the
 * batch is begun (they are HTTP_NOT_SENT), so a server that hangs costs one time-out for a batch of
 * any size.
 *
 * The outcome of a request tells what the server may have done:
 *   HTTP_ANSWERED    there is a complete answer; its status may be anything
 *   HTTP_NOT_SENT    no connection: the server has certainly not seen the request
 *   HTTP_NO_ANSWER   the request was sent, at least in part, and no complete answer came: the server
 *                    may have acted on it
 *
 * Nothing is retried and no redirection is followed.  TLS is always verified.  SIGPIPE does not
 * reach the process.  Not for use by two threads at once.
 */
#ifndef EXECUTORS_HTTP_HTTP_H
#define EXECUTORS_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "executors/http/settings.h"

enum http_outcome { HTTP_NOT_SENT, HTTP_NO_ANSWER, HTTP_ANSWERED };

struct http_request {
    const char *method;         /* "GET", "POST", "PUT", "DELETE", "PATCH" */
    const char *path;           /* from the base on, with its query, already escaped */
    struct text body;           /* data NULL: no body */
    const char *content_type;   /* of the body; NULL: application/json */
    const char *const *headers; /* beside the client's; ends with NULL; or NULL */
    int64_t timeout;            /* milliseconds; 0: the client's */
    bool once;                  /* must not reach the server twice: goes over a connection of its
                                   own, because libcurl sends a request again when a kept one
                                   turns out to be closed */
    size_t keep;                /* bytes of a 2xx answer's body to keep: the rest is cut off,
                                   without an error; 0: all, up to the client's limit */
    /* filled in: */
    enum http_outcome outcome;
    int status;             /* 0 without an answer */
    int64_t retry_after;    /* milliseconds the server asks to be left alone; 0: nothing said */
    struct buffer response; /* the body; http_request_clear() frees it */
    bool cut_off;           /* there was more than `keep` */
    struct buffer warnings; /* texts of Warning headers (RFC 9111: 299 - "..."), a line each;
                                   http_request_clear() frees it */
    struct error error;     /* the sentence unless HTTP_ANSWERED */
};

struct http_client;

/* Copies the settings.  NULL and a sentence on failure. */
struct http_client *http_open(const struct http_settings *settings, struct error *error);
void http_close(struct http_client *client); /* NULL is fine */

/* Run all requests of the batch to their end, and fill in their members. */
void http_run(struct http_client *client, struct http_request *const *batch, size_t count);

void http_request_clear(struct http_request *request); /* frees the response */

/* Append `part` percent-encoded for a path segment or a query value. */
void http_escape(struct buffer *out, struct text part);

#endif
