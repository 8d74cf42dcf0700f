/* executors/kubernetes/stream.c - watches of the API server, and logs that are followed */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "executors/kubernetes/connection.h"
#include "executors/kubernetes/status.h"
#include "executors/kubernetes/stream.h"

enum {
    LINE_LIMIT = 8 << 20, /* bytes of an event; an object may have 1.5 MiB, escaped more */
    STALL = 330000        /* milliseconds; a watch ends, or has a bookmark, well before */
};

struct kubernetes_stream {
    struct kubernetes_stream *next;
    struct kubernetes_connection *connection;
    struct http_stream *http;
    char *path;
    bool judged; /* the three below are set */
    int status;
    enum kubernetes_outcome outcome;
    struct error error; /* "" when the server ended it in order */
};

/* Begin a stream whose answer has to begin within so many milliseconds. */
static struct kubernetes_stream *open_stream(struct kubernetes_connection *connection,
                                             const char *path, int64_t headers, struct error *error)
{
    const char *buffer[KUBERNETES_HEADERS];
    char words[CLOCK_TEXT_SIZE];
    int64_t quiet = kubernetes_connection_quiet(connection);
    if (quiet) {
        error_set(error, "the API server asked to be left alone for %s",
                  duration_format(quiet, words));
        return NULL;
    }
    if (kubernetes_connection_prepare(connection, error))
        return NULL;
    const struct http_stream_limits limits = {
        .headers = headers,
        .stall = STALL,
        .line = LINE_LIMIT,
    };
    struct http_stream *http =
        http_stream_start(connection->streams, path,
                          kubernetes_connection_headers(connection, buffer), &limits, error);
    if (!http)
        return NULL;
    struct kubernetes_stream *stream = memory_allocate(sizeof(*stream));
    stream->connection = connection;
    stream->http = http;
    stream->path = memory_copy_string(path);
    stream->next = connection->first_stream;
    connection->first_stream = stream;
    return stream;
}

struct kubernetes_stream *kubernetes_stream_open(struct kubernetes_connection *connection,
                                                 const char *path, struct error *error)
{
    return open_stream(connection, path, connection->settings.request_timeout, error);
}

struct kubernetes_stream *kubernetes_stream_open_log(struct kubernetes_connection *connection,
                                                     const char *path, struct error *error)
{
    return open_stream(connection, path, STALL, error);
}

void kubernetes_stream_take(struct kubernetes_stream *stream, struct buffer *out)
{
    http_stream_take(stream->http, out);
}

void kubernetes_stream_close(struct kubernetes_stream *stream)
{
    if (!stream)
        return;
    struct kubernetes_stream **link = &stream->connection->first_stream;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    http_stream_close(stream->http);
    free(stream->path);
    free(stream);
}

/* It has ended: what does that mean? */
static void judge_end(struct kubernetes_stream *stream, const struct http_stream_state *state)
{
    const struct kubernetes_question question = {"GET", stream->path, 0, NULL};
    stream->judged = true;
    stream->status = state->status;
    if (state->outcome != HTTP_ANSWERED) {
        stream->outcome = KUBERNETES_UNAVAILABLE;
        stream->error = *state->error;
        return;
    }
    int64_t retry_after = state->retry_after;
    const char *remedy;
    struct value *answer;
    struct arena *arena = arena_new();
    kubernetes_connection_note_status(stream->connection, state->status, retry_after);
    stream->outcome = kubernetes_status_judge(arena, &question, state->status, state->body, true,
                                              &answer, &retry_after, &remedy, &stream->error);
    arena_free(arena);
}

void kubernetes_stream_drive_all(struct kubernetes_connection *connection, int64_t wait)
{
    if (connection->streams)
        http_streams_drive(connection->streams, wait);
    for (struct kubernetes_stream *stream = connection->first_stream; stream;
         stream = stream->next) {
        struct http_stream_state state;
        http_stream_get_state(stream->http, &state);
        if (state.ended && !stream->judged)
            judge_end(stream, &state);
        else if (!state.ended)
            stream->status = state.status;
    }
}

bool kubernetes_stream_line(struct kubernetes_stream *stream, struct text *line)
{
    return http_stream_line(stream->http, line);
}

const char *kubernetes_stream_ended(const struct kubernetes_stream *stream, int *status,
                                    enum kubernetes_outcome *outcome)
{
    struct http_stream_state state;
    http_stream_get_state(stream->http, &state);
    if (status)
        *status = stream->judged ? stream->status : state.status;
    if (outcome)
        *outcome = stream->judged ? stream->outcome : KUBERNETES_DONE;
    return stream->judged && !state.has_lines ? stream->error.text : NULL;
}
