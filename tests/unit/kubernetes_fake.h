/* tests/unit/kubernetes_fake.h - an API server in the test's own hands
 *
 * Has all functions of executors/kubernetes/api.h, so that the real ones are not linked: calls are
 * answered by `fake_answer`, streams are lines that the test puts in.
 */
#ifndef TESTS_UNIT_KUBERNETES_FAKE_H
#define TESTS_UNIT_KUBERNETES_FAKE_H

#include "base/json.h"
#include "executors/kubernetes/api.h"
#include "executors/kubernetes/stream.h"
#include "unit.h"

enum { FAKE_STREAMS = 64 };

struct kubernetes_stream {
    char path[512];
    bool open, ended;
    char why[200];
    int status;
    enum kubernetes_outcome outcome;
    struct buffer lines; /* not read yet */
    struct buffer line;  /* the one that was */
};

/* Fill in what is filled in. */
static void (*fake_answer)(struct kubernetes_call *call, struct arena *arena);
static struct kubernetes_stream fake_streams[FAKE_STREAMS];
static size_t fake_stream_count;
static const char *fake_refuse_streams;
static int fake_stream_status = 200;
static void (*fake_wait)(int64_t wait); /* a clock's that stands still otherwise; may be NULL */

struct kubernetes_connection *kubernetes_api_connect(const struct kubernetes_settings *settings,
                                                     struct error *error)
{
    (void)settings;
    error_set(error, "not in a unit test");
    return NULL;
}

void kubernetes_api_disconnect(struct kubernetes_connection *connection)
{
    (void)connection;
}

const char *kubernetes_api_namespace(const struct kubernetes_connection *connection)
{
    (void)connection;
    return "space";
}

const char *kubernetes_api_server(const struct kubernetes_connection *connection)
{
    (void)connection;
    return "https://server";
}

void kubernetes_api_run(struct kubernetes_connection *connection, struct arena *arena,
                        struct kubernetes_call *const *calls, size_t count)
{
    (void)connection;
    for (size_t i = 0; i < count; i++)
        fake_answer(calls[i], arena);
}

void kubernetes_api_call_free(struct kubernetes_call *call)
{
    buffer_free(&call->response);
}

struct kubernetes_stream *kubernetes_stream_open(struct kubernetes_connection *connection,
                                                 const char *path, struct error *error)
{
    (void)connection;
    if (fake_refuse_streams) {
        error_set(error, "%s", fake_refuse_streams);
        return NULL;
    }
    assert_true(fake_stream_count < FAKE_STREAMS);
    struct kubernetes_stream *stream = &fake_streams[fake_stream_count++];
    snprintf(stream->path, sizeof(stream->path), "%s", path);
    stream->open = true;
    stream->status = fake_stream_status;
    return stream;
}

struct kubernetes_stream *kubernetes_stream_open_log(struct kubernetes_connection *connection,
                                                     const char *path, struct error *error)
{
    return kubernetes_stream_open(connection, path, error);
}

void kubernetes_stream_take(struct kubernetes_stream *stream, struct buffer *out)
{
    buffer_add_text(out, buffer_text(&stream->lines));
    buffer_clear(&stream->lines);
}

void kubernetes_stream_drive_all(struct kubernetes_connection *connection, int64_t wait)
{
    (void)connection;
    if (fake_wait)
        fake_wait(wait);
}

bool kubernetes_stream_line(struct kubernetes_stream *stream, struct text *line)
{
    char *end =
        stream->lines.length ? memchr(stream->lines.data, '\n', stream->lines.length) : NULL;
    if (!end)
        return false;
    size_t length = (size_t)(end - stream->lines.data);
    buffer_clear(&stream->line);
    buffer_add(&stream->line, stream->lines.data, length);
    memmove(stream->lines.data, end + 1, stream->lines.length - length - 1);
    stream->lines.length -= length + 1;
    *line = buffer_text(&stream->line);
    return true;
}

const char *kubernetes_stream_ended(const struct kubernetes_stream *stream, int *status,
                                    enum kubernetes_outcome *outcome)
{
    if (status)
        *status = stream->status;
    if (!stream->ended)
        return NULL;
    if (outcome)
        *outcome = stream->outcome;
    return stream->why;
}

void kubernetes_stream_close(struct kubernetes_stream *stream)
{
    if (!stream)
        return;
    assert_true(stream->open);
    stream->open = false;
    buffer_free(&stream->lines);
    buffer_free(&stream->line);
}

enum kubernetes_outcome kubernetes_status_outcome(const struct value *status, struct error *error)
{
    int code = (int)value_get_number(status, "code", 0);
    error_set(error, "the server says: %d", code);
    return code == 410 ? KUBERNETES_GONE : KUBERNETES_UNAVAILABLE;
}

/* ---- for tests ---- */

static inline void fake_forget_streams(void)
{
    for (size_t i = 0; i < fake_stream_count; i++) {
        assert_false(fake_streams[i].open);
        fake_streams[i] = (struct kubernetes_stream){0};
    }
    fake_stream_count = 0;
}

/* JSON with ' for ", which reads better in C. */
static inline struct value *fake_json(struct arena *arena, const char *format, ...)
{
    struct buffer text = {0};
    struct error error = {""};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < text.length; i++)
        text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
    struct value *value =
        json_read(arena, buffer_text(&text), "test", &yaml_trusted_limits, &error);
    if (!value)
        print_message("%s\n%s\n", error.text, text.data);
    assert_non_null(value);
    buffer_free(&text);
    return value;
}

#endif
