/* executors/http/stream.h - answers that come in lines and do not end soon
 *
 * Streams of one server share a multi handle of their own, apart from the client that runs batches.
 * Nothing blocks but http_streams_drive(), and that no longer than it is told.  A stream has no
 * time limit as a whole, but one for the headers, and one for the time in which not a byte comes,
 * so that a server which is gone without a word is noticed.
 *
 * Memory is bounded: a stream whose lines are not fetched is paused, and a line that is longer
 * than the limit ends it.  Not for use by two threads at once.
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

/* Of the settings only those of the server and the connection count. */
struct http_streams *http_streams_open(const struct http_settings *settings, struct error *error);
void http_streams_close(struct http_streams *streams); /* ends all that are open; NULL is fine.
                                                           They must still be closed each. */

/* Begin a GET.  What is given is copied.  NULL and a sentence on failure. */
struct http_stream *http_stream_start(struct http_streams *streams, const char *path,
                                      const char *const *headers,
                                      const struct http_stream_limits *limits, struct error *error);

/* Drive all streams.  Returns when a line has come or a stream has ended, and after `wait`
 * milliseconds in any case; at once when none is open. */
void http_streams_drive(struct http_streams *streams, int64_t wait);

/* The next whole line without its end (LF, or CR LF), valid until the next call;
 * false when there is none (yet).  Of an answer other than 2xx there are no lines. */
bool http_stream_line(struct http_stream *stream, struct text *line);

/* What is known of a stream.  `outcome` counts once it has ended: HTTP_ANSWERED when the server
 * ended it in order. */
struct http_stream_state {
    bool ended;
    bool has_lines; /* whole ones that were not fetched yet */
    enum http_outcome outcome;
    int status;                /* 0: no headers yet */
    int64_t retry_after;       /* milliseconds */
    struct text body;          /* of an answer other than 2xx, at most 64 KiB */
    const struct error *error; /* the sentence unless HTTP_ANSWERED */
};
void http_stream_look(const struct http_stream *stream, struct http_stream_state *state);

void http_stream_close(struct http_stream *stream); /* NULL is fine */

#endif
