/* executors/http/stream.h - long-lived answers, read line by line
 *
 * The streams of a server share a multi handle, which is not the one of the client that runs batches.
 * Only http_streams_drive() blocks, for as long as the caller says.  A stream has no overall time-out,
 * but one for the headers and one between two bytes, so that a server that vanished is noticed.
 *
 * Memory is bounded: a stream is paused while its lines are not fetched, and ends at a line longer
 * than the limit.  Not for use by two threads at once.
 */
#ifndef EXECUTORS_HTTP_STREAM_H
#define EXECUTORS_HTTP_STREAM_H

#include "executors/http/http.h"

struct http_streams;
struct http_stream;

struct http_stream_limits {
    int64_t headers; /* milliseconds until the answer's headers are there */
    int64_t stall;   /* milliseconds between two bytes, from then on */
    size_t line;     /* bytes of a line */
};

/* Uses only the settings of the server and the connection. */
struct http_streams *http_streams_open(const struct http_settings *settings, struct error *error);
void http_streams_close(struct http_streams *streams); /* ends all that are open; NULL is fine.
                                                           They must still be closed each. */

/* Begin a GET.  The arguments are copied.  NULL and a sentence on failure. */
struct http_stream *http_stream_start(struct http_streams *streams, const char *path,
                                      const char *const *headers,
                                      const struct http_stream_limits *limits, struct error *error);

/* Drive all streams.  Returns when a line has come or a stream has ended, and after `wait`
 * milliseconds in any case; at once when none is open. */
void http_streams_drive(struct http_streams *streams, int64_t wait);

/* The next whole line without its end (LF, or CR LF), valid until the next call;
 * false when there is none (yet).  An answer other than 2xx has no lines. */
bool http_stream_line(struct http_stream *stream, struct text *line);

/* Append all bytes that were not fetched to `out`, whole lines or not.  Of an answer other than 2xx none. */
void http_stream_take(struct http_stream *stream, struct buffer *out);

/* The state of a stream.  `outcome` is valid once it has ended: HTTP_ANSWERED when the server
 * ended it in order. */
struct http_stream_state {
    bool ended;
    bool has_lines; /* whole lines that were not fetched yet */
    enum http_outcome outcome;
    int status;                /* 0: no headers yet */
    int64_t retry_after;       /* milliseconds */
    struct text body;          /* of an answer other than 2xx, at most 64 KiB */
    const struct error *error; /* the sentence unless HTTP_ANSWERED */
};
void http_stream_get_state(const struct http_stream *stream, struct http_stream_state *state);

void http_stream_close(struct http_stream *stream); /* NULL is fine */

#endif
