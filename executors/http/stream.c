/* executors/http/stream.c - long-lived answers, read line by line */
#include "executors/http/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "executors/http/target.h"
#include "executors/http/transfers.h"

enum {
    WAIT_SLICE = 1000,     /* milliseconds */
    PAUSE_ABOVE = 4 << 20, /* unfetched bytes, with at least one whole line */
    BODY_LIMIT = 64 << 10  /* bytes of a refusal that are kept */
};

struct http_streams {
    struct http_transfers *transfers;
    struct http_target target;
    struct http_stream *first; /* every stream that is not closed */
    bool news;                 /* since http_streams_drive() was called */
};

struct http_stream {
    struct http_stream *next;
    struct http_streams *streams; /* NULL once they are closed */
    CURL *easy;                   /* NULL once it has ended */
    struct curl_slist *headers;
    struct http_stream_limits limits;
    struct buffer input;
    size_t start; /* of the first line that was not fetched */
    size_t lines; /* line ends after `start` */
    bool paused, too_long, headed;
    int64_t last; /* clock_elapsed() of the last byte, or of the start */
    char *path;
    char problem[CURL_ERROR_SIZE];
    struct http_stream_state state;
    struct error error;
};

/* ---- receiving ---- */

static bool is_refused(const struct http_stream *stream)
{
    return stream->state.status < 200 || stream->state.status > 299;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct http_stream *stream = context;
    struct text line = {bytes, size * count};
    long status = 0;
    stream->last = clock_elapsed();
    stream->headed = text_is(line, "\r\n") || text_is(line, "\n");
    curl_easy_getinfo(stream->easy, CURLINFO_RESPONSE_CODE, &status);
    stream->state.status = (int)status;
    return line.length;
}

/* Remove fetched lines from the front once they are most of the buffer. */
static void drop_fetched(struct http_stream *stream)
{
    struct buffer *input = &stream->input;
    if (stream->start == 0 || stream->start < input->length / 2)
        return;
    input->length -= stream->start;
    memmove(input->data, input->data + stream->start, input->length);
    stream->start = 0;
}

/* Store received bytes: the beginning of a refusal, or all lines of an answer, until the reader is so far
 * behind that the transfer is paused.  A line longer than the limit ends the stream. */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct http_stream *stream = context;
    size_t length = size * count;
    stream->last = clock_elapsed();
    if (is_refused(stream)) {
        size_t space = BODY_LIMIT - stream->input.length;
        buffer_add(&stream->input, bytes, length < space ? length : space);
        return length;
    }
    if (stream->lines && stream->input.length - stream->start > PAUSE_ABOVE) {
        stream->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    drop_fetched(stream);
    const char *end = bytes, *next;
    while ((next = memchr(end, '\n', length - (size_t)(end - bytes)))) {
        stream->lines++;
        end = next + 1;
    }
    if (end > bytes)
        stream->streams->news = true;
    buffer_add(&stream->input, bytes, length);
    stream->too_long =
        stream->lines == 0 && stream->input.length - stream->start > stream->limits.line;
    return stream->too_long ? 0 : length;
}

/* ---- opening and closing ---- */

struct http_streams *http_streams_open(const struct http_settings *settings, struct error *error)
{
    struct http_streams *streams = memory_allocate(sizeof(*streams));
    if (http_target_set(&streams->target, settings, error)) {
        http_streams_close(streams);
        return NULL;
    }
    streams->transfers = http_transfers_new();
    if (!streams->transfers) {
        error_set(error, "libcurl could not make its handles");
        http_streams_close(streams);
        return NULL;
    }
    return streams;
}

static void end_stream(struct http_stream *stream)
{
    if (!stream->easy)
        return;
    struct http_sigpipe sigpipe;
    http_target_block_sigpipe(&sigpipe);
    curl_multi_remove_handle(http_transfers_multi(stream->streams->transfers), stream->easy);
    curl_easy_cleanup(stream->easy);
    http_target_restore_sigpipe(&sigpipe);
    stream->easy = NULL;
    http_target_free_headers(&stream->headers);
    stream->state.ended = true;
    stream->streams->news = true;
}

void http_streams_close(struct http_streams *streams)
{
    if (!streams)
        return;
    struct http_sigpipe sigpipe;
    http_target_block_sigpipe(&sigpipe);
    for (struct http_stream *stream = streams->first; stream; stream = stream->next) {
        if (stream->easy) {
            stream->state.outcome = HTTP_NO_ANSWER;
            error_set(&stream->error, "%s: %s was closed", streams->target.base, stream->path);
        }
        end_stream(stream);
        stream->streams = NULL;
    }
    http_transfers_free(streams->transfers);
    http_target_restore_sigpipe(&sigpipe);
    http_target_free(&streams->target);
    free(streams);
}

static void set_options(struct http_stream *stream, const char *const *headers)
{
    CURL *easy = stream->easy;
    http_target_apply(&stream->streams->target, easy);
    http_target_address(&stream->streams->target, easy, stream->path, &stream->headers);
    http_target_add_headers(&stream->headers, headers);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, stream->headers);
    curl_easy_setopt(easy, CURLOPT_SHARE, http_transfers_share(stream->streams->transfers));
    http_target_receive(easy, take_body, take_header, stream, stream->problem);
}

struct http_stream *http_stream_start(struct http_streams *streams, const char *path,
                                      const char *const *headers,
                                      const struct http_stream_limits *limits, struct error *error)
{
    struct http_stream *stream = memory_allocate(sizeof(*stream));
    stream->streams = streams;
    stream->limits = *limits;
    stream->last = clock_elapsed();
    stream->path = memory_copy_string(path);
    stream->next = streams->first;
    streams->first = stream;
    stream->easy = curl_easy_init();
    CURLMcode code = CURLM_OUT_OF_MEMORY;
    if (stream->easy) {
        set_options(stream, headers);
        code = curl_multi_add_handle(http_transfers_multi(streams->transfers), stream->easy);
    }
    if (code) {
        error_set(error, "GET %s could not be started: %s", path, curl_multi_strerror(code));
        http_stream_close(stream);
        return NULL;
    }
    return stream;
}

void http_stream_close(struct http_stream *stream)
{
    if (!stream)
        return;
    end_stream(stream);
    if (stream->streams) {
        struct http_stream **link = &stream->streams->first;
        while (*link != stream)
            link = &(*link)->next;
        *link = stream->next;
    }
    buffer_free(&stream->input);
    free(stream->path);
    free(stream);
}

/* ---- driving ---- */

static void set_sentence(struct http_stream *stream, const char *words)
{
    struct error_quote_buffer quote;
    error_set(&stream->error, "%s: GET %s: %s", stream->streams->target.base,
              error_quote(&quote, stream->path, strlen(stream->path)), words);
}

static void finish_stream(void *context, CURLcode code)
{
    struct http_stream *stream = context;
    const struct http_target *target = &stream->streams->target;
    curl_off_t retry_after = 0;
    char words[128];
    curl_easy_getinfo(stream->easy, CURLINFO_RETRY_AFTER, &retry_after);
    stream->state.retry_after = (int64_t)retry_after * 1000;
    if (code == CURLE_OK && !stream->headed)
        code = CURLE_GOT_NOTHING;
    stream->state.outcome = code == CURLE_OK                                   ? HTTP_ANSWERED
                            : http_target_was_sent(target, stream->easy, code) ? HTTP_NO_ANSWER
                                                                               : HTTP_NOT_SENT;
    if (stream->too_long) {
        snprintf(words, sizeof(words), "a line is longer than %zu bytes", stream->limits.line);
        set_sentence(stream, words);
    } else if (code != CURLE_OK) {
        set_sentence(stream, http_target_words(target, stream->easy, code, stream->problem));
    }
    end_stream(stream);
}

/* End streams whose server has sent nothing for too long, and resume paused ones whose lines were
 * fetched.  *open becomes the number that is left. */
static void check_stalls(struct http_streams *streams, size_t *open)
{
    int64_t now = clock_elapsed();
    *open = 0;
    for (struct http_stream *stream = streams->first; stream; stream = stream->next) {
        if (!stream->easy)
            continue;
        if (stream->paused && stream->input.length - stream->start <= PAUSE_ABOVE / 2) {
            stream->paused = false;
            stream->last = now;
            curl_easy_pause(stream->easy, CURLPAUSE_CONT);
        }
        int64_t limit = stream->headed ? stream->limits.stall : stream->limits.headers;
        if (stream->easy && !stream->paused && now - stream->last > limit) {
            char words[128];
            snprintf(words, sizeof(words), "nothing has come for %lld s",
                     (long long)(now - stream->last + 500) / 1000);
            set_sentence(stream, words);
            stream->state.outcome =
                http_target_was_sent(&streams->target, stream->easy, CURLE_OPERATION_TIMEDOUT)
                    ? HTTP_NO_ANSWER
                    : HTTP_NOT_SENT;
            end_stream(stream);
        }
        *open += stream->easy != NULL;
    }
}

static void drive_until_news(struct http_streams *streams, int64_t wait)
{
    int64_t begin = clock_elapsed(), pause = 0;
    streams->news = false;
    for (;;) {
        size_t open;
        heartbeat();
        http_transfers_turn(streams->transfers, pause);
        http_target_end_transfers(http_transfers_multi(streams->transfers), finish_stream);
        check_stalls(streams, &open);
        int64_t left = wait - (clock_elapsed() - begin);
        if (streams->news || open == 0 || left <= 0)
            return;
        pause = left < WAIT_SLICE ? left : WAIT_SLICE;
    }
}

void http_streams_drive(struct http_streams *streams, int64_t wait)
{
    struct http_sigpipe sigpipe;
    http_target_block_sigpipe(&sigpipe);
    drive_until_news(streams, wait);
    http_target_restore_sigpipe(&sigpipe);
}

/* ---- what the caller sees ---- */

bool http_stream_line(struct http_stream *stream, struct text *line)
{
    if (stream->lines == 0 || is_refused(stream))
        return false;
    const char *from = stream->input.data + stream->start;
    const char *end = memchr(from, '\n', stream->input.length - stream->start);
    if (!end)
        return false;
    *line = (struct text){from, (size_t)(end - from)};
    if (line->length && from[line->length - 1] == '\r')
        line->length--;
    stream->start += (size_t)(end - from) + 1;
    stream->lines--;
    return true;
}

void http_stream_take(struct http_stream *stream, struct buffer *out)
{
    if (is_refused(stream))
        return;
    buffer_add(out, stream->input.data + stream->start, stream->input.length - stream->start);
    buffer_clear(&stream->input);
    stream->start = stream->lines = 0;
}

void http_stream_get_state(const struct http_stream *stream, struct http_stream_state *state)
{
    *state = stream->state;
    state->has_lines = stream->lines > 0;
    state->body = is_refused(stream) ? buffer_text(&stream->input) : TEXT("");
    state->error = &stream->error;
}
