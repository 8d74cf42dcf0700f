/* tests/unit/http_stream_test.c - streams from a server that stalls, floods and never ends a line
 *
 * The server is a thread at a unix socket; the path of a request says what it does.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/http/stream.h"

static struct {
    char *directory;
    char socket[256];
    int listener;
    pthread_t thread;
} server;

static bool answer(int file, const char *text)
{
    size_t length = strlen(text);
    return send(file, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static void rest(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

/* Lines of a kibibyte: LINES of them, each with its number. */
enum { FLOOD_LINES = 20000, FLOOD_LINE = 1024 };

static atomic_int flooded; /* lines that are sent */

static void flood(int file)
{
    char line[FLOOD_LINE + 1];
    memset(line, 'x', sizeof(line));
    line[FLOOD_LINE] = '\0';
    line[FLOOD_LINE - 1] = '\n';
    for (int i = 0; i < FLOOD_LINES; i++) {
        char number[16];
        snprintf(number, sizeof(number), "%08d", i);
        memcpy(line, number, 8);
        for (size_t sent = 0; sent < FLOOD_LINE;) {
            ssize_t count = send(file, line + sent, FLOOD_LINE - sent, MSG_NOSIGNAL);
            if (count <= 0)
                return;
            sent += (size_t)count;
        }
        flooded++;
    }
}

static void *talk(void *context)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    int file = (int)(intptr_t)context;
    char request[4096] = "";
    size_t used = 0;
    while (!strstr(request, "\r\n\r\n")) {
        ssize_t count = recv(file, request + used, sizeof(request) - 1 - used, 0);
        if (count <= 0)
            break;
        used += (size_t)count;
    }
    if (strstr(request, "/silent "))
        recv(file, request, 1, 0);
    if (strstr(request, "/headers ") && answer(file, "HTTP/1.1 200 OK\r\nX: "))
        recv(file, request, 1, 0);
    if (strstr(request, "/stall ") && answer(file, head) && answer(file, "one\ntwo\nthr"))
        recv(file, request, 1, 0);
    if (strstr(request, "/steady ") && answer(file, head))
        for (int i = 0; i < 10 && answer(file, "x\n"); i++)
            rest(150);
    if (strstr(request, "/endless ") && answer(file, head))
        while (answer(file, "no end of the line in sight ... "))
            ;
    if (strstr(request, "/flood ") && answer(file, head))
        flood(file);
    if (strstr(request, "/refused "))
        answer(file, "HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 8\r\n\r\nnot\nnow\n");
    close(file);
    return NULL;
}

static void *listen_for(void *context)
{
    (void)context;
    for (;;) {
        pthread_t thread;
        int file = accept(server.listener, NULL, NULL);
        if (file < 0)
            return NULL;
        if (pthread_create(&thread, NULL, talk, (void *)(intptr_t)file) == 0)
            pthread_detach(thread);
    }
}

static int start_server(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    server.directory = unit_directory();
    snprintf(server.socket, sizeof(server.socket), "%s/s", server.directory);
    memcpy(address.sun_path, server.socket, strlen(server.socket) + 1);
    server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.listener, (struct sockaddr *)&address, sizeof(address)) ||
        listen(server.listener, 64))
        return -1;
    return pthread_create(&server.thread, NULL, listen_for, NULL);
}

static int stop_server(void **state)
{
    (void)state;
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listener);
    unit_remove(server.directory);
    return 0;
}

static struct http_streams *open_streams(void)
{
    struct error error;
    struct http_settings settings = {
        .base = "http://d", .unix_socket = server.socket, .timeout = 1000};
    struct http_streams *streams = http_streams_open(&settings, &error);
    assert_non_null(streams);
    return streams;
}

static const struct http_stream_limits limits = {.headers = 400, .stall = 400, .line = 100000};

static struct http_stream *start(struct http_streams *streams, const char *path)
{
    struct error error;
    struct http_stream *stream = http_stream_start(streams, path, NULL, &limits, &error);
    assert_non_null(stream);
    return stream;
}

/* Drive until it has ended; how many lines came. */
static size_t drain(struct http_streams *streams, struct http_stream *stream,
                    struct http_stream_state *state)
{
    size_t lines = 0;
    int64_t begin = clock_elapsed();
    do {
        struct text line;
        assert_true(clock_elapsed() - begin < 20000);
        http_streams_drive(streams, 1000);
        while (http_stream_line(stream, &line))
            lines++;
        http_stream_get_state(stream, state);
    } while (!state->ended);
    return lines;
}

static void a_stream_that_stalls_ends_in_time(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t lines;
        int status;
    } cases[] = {{"/silent", 0, 0}, {"/headers", 0, 200}, {"/stall", 2, 200}};
    struct http_streams *streams = open_streams();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct http_stream_state seen;
        struct http_stream *stream = start(streams, cases[i].path);
        int64_t begin = clock_elapsed();
        assert_int_equal(drain(streams, stream, &seen), cases[i].lines);
        int64_t took = clock_elapsed() - begin;
        assert_true(took >= 400);
        assert_int_equal(seen.outcome, HTTP_NO_ANSWER);
        assert_int_equal(seen.status, cases[i].status);
        assert_non_null(strstr(seen.error->text, "nothing has come for"));
        http_stream_close(stream);
    }
    /* One that takes its time, but sends something again and again, is left alone. */
    struct http_stream_state seen;
    struct http_stream *stream = start(streams, "/steady");
    assert_int_equal(drain(streams, stream, &seen), 10);
    assert_int_equal(seen.outcome, HTTP_ANSWERED);
    http_stream_close(stream);
    http_streams_close(streams);
}

static void a_line_without_an_end_ends_the_stream(void **state)
{
    (void)state;
    struct http_stream_state seen;
    struct http_streams *streams = open_streams();
    struct http_stream *stream = start(streams, "/endless");
    assert_int_equal(drain(streams, stream, &seen), 0);
    assert_int_equal(seen.outcome, HTTP_NO_ANSWER);
    assert_non_null(strstr(seen.error->text, "a line is longer than 100000 bytes"));
    http_stream_close(stream);
    http_streams_close(streams);
}

static void a_stream_that_is_not_read_from_waits(void **state)
{
    (void)state;
    struct http_stream_state seen;
    struct http_streams *streams = open_streams();
    struct http_stream *stream = start(streams, "/flood");
    /* Until the server cannot send for longer than the stall limit: which is not its fault. */
    int64_t begin = clock_elapsed(), since = begin;
    for (int before = 0; clock_elapsed() - since < 900 && clock_elapsed() - begin < 20000;) {
        http_streams_drive(streams, 0);
        rest(1);
        if (flooded != before)
            since = clock_elapsed();
        before = flooded;
    }
    assert_true(flooded > 2000 && flooded < FLOOD_LINES / 2);
    http_stream_get_state(stream, &seen);
    assert_false(seen.ended);
    assert_true(seen.has_lines);
    int next = 0;
    while (!seen.ended || seen.has_lines) {
        struct text line;
        http_streams_drive(streams, next == FLOOD_LINES ? 1000 : 0);
        for (int i = 0; i < 500 && http_stream_line(stream, &line); i++) {
            assert_int_equal(line.length, FLOOD_LINE - 1);
            assert_int_equal(atoi(line.data), next++);
        }
        http_stream_get_state(stream, &seen);
    }
    assert_int_equal(next, FLOOD_LINES);
    assert_int_equal(seen.outcome, HTTP_ANSWERED);
    http_stream_close(stream);
    http_streams_close(streams);
}

static void what_refuses_a_stream_is_kept(void **state)
{
    (void)state;
    struct http_stream_state seen;
    struct http_streams *streams = open_streams();
    struct http_stream *stream = start(streams, "/refused");
    assert_int_equal(drain(streams, stream, &seen), 0);
    assert_int_equal(seen.outcome, HTTP_ANSWERED);
    assert_int_equal(seen.status, 503);
    assert_int_equal(seen.retry_after, 3000);
    assert_true(text_is(seen.body, "not\nnow\n"));
    http_stream_close(stream);
    /* Streams outlive what they came from, as far as looking at them goes. */
    stream = start(streams, "/stall");
    http_streams_drive(streams, 1000);
    http_streams_close(streams);
    http_stream_get_state(stream, &seen);
    assert_true(seen.ended);
    assert_non_null(strstr(seen.error->text, "was closed"));
    http_stream_close(stream);
}

static void no_signal_comes_of_it(void **state)
{
    (void)state;
    struct sigaction action;
    struct http_stream_state seen;
    struct http_streams *streams = open_streams();
    struct http_stream *stream = start(streams, "/unknown");
    drain(streams, stream, &seen);
    http_stream_close(stream);
    http_streams_close(streams);
    assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    assert_false(sigismember(&set, SIGPIPE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_stalls_ends_in_time),
        cmocka_unit_test(a_line_without_an_end_ends_the_stream),
        cmocka_unit_test(a_stream_that_is_not_read_from_waits),
        cmocka_unit_test(what_refuses_a_stream_is_kept),
        cmocka_unit_test(no_signal_comes_of_it),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
