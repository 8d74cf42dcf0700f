/* executors/kubernetes/stream.h - answers of the API server that come line by line: watches and logs */
#ifndef EXECUTORS_KUBERNETES_STREAM_H
#define EXECUTORS_KUBERNETES_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "executors/kubernetes/status.h"

struct kubernetes_connection; /* connection.h */

struct kubernetes_stream;

/* Begin a GET whose answer comes in lines.  `path` as in a call.  The server must send something,
 * or end it, within 330 seconds: a watch asks for timeoutSeconds below that (290) and bookmarks.
 * NULL and a sentence when there is no credential, or while the server asks to be left alone. */
struct kubernetes_stream *kubernetes_stream_open(struct kubernetes_connection *connection,
                                                 const char *path, struct error *error);

/* The same for a log that is followed: its answer comes as bytes, kubernetes_stream_take(), and nothing of it
 * before the first is printed. */
struct kubernetes_stream *kubernetes_stream_open_log(struct kubernetes_connection *connection,
                                                     const char *path, struct error *error);

/* Append all bytes that have come and were not read yet. */
void kubernetes_stream_take(struct kubernetes_stream *stream, struct buffer *out);

/* Drive all streams of the connection; returns when something has come or a stream has ended, and
 * after `wait` milliseconds in any case (0: at once). */
void kubernetes_stream_drive_all(struct kubernetes_connection *connection, int64_t wait);

/* The next whole line, without its end, or false.  It is valid until the next call about streams.
 * Lines longer than 8 MiB end the stream.  A stream that takes in faster than it is read from is
 * paused.  Lines that came before the end are there after it too; a last line without its end is
 * not one. */
bool kubernetes_stream_line(struct kubernetes_stream *stream, struct text *line);

/* NULL while it is open, or lines of it are still to be read; else why it ended: "" when the server
 * ended it in order, or a sentence.  *status is the HTTP status, 0 while there is none; *outcome,
 * where `outcome` is not NULL, says what to do about it (KUBERNETES_DONE for "").  A 401 makes the
 * credential be read again for the next stream or call. */
const char *kubernetes_stream_ended(const struct kubernetes_stream *stream, int *status,
                                    enum kubernetes_outcome *outcome);
void kubernetes_stream_close(struct kubernetes_stream *stream); /* NULL is fine */

#endif
