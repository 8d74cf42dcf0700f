/* tests/unit/executor_http_test.c - HTTP requests against a server that misbehaves on order
 *
 * The server is a thread that listens at a unix socket; the path of a request says what it does.
 */
#include "tests/unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fence.h"
#include "executors/http/http.h"

enum { CONNECTIONS = 256, REQUEST_ROOM = 1 << 16 };

struct server {
    char *directory;
    char socket[256];
    int listener;
    pthread_t thread;
    atomic_bool stopping;
    atomic_int requests, connections, at_once, most_at_once;
};

/* libcurl's calls come here too; they are counted while `counting`, in this thread. */
static _Thread_local bool counting;
static _Thread_local int polls;

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    polls += counting;
    return (int)syscall(SYS_ppoll, files, count, milliseconds < 0 ? NULL : &time, NULL, 0);
}

static void answer(int file, const char *text)
{
    size_t done = 0, length = strlen(text);
    while (done < length) {
        ssize_t count = send(file, text + done, length - done, MSG_NOSIGNAL);
        if (count <= 0)
            return;
        done += (size_t)count;
    }
}

static void rest(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

/* Act as the request wants; false: close the connection. */
static bool serve(struct server *server, int file, const char *request)
{
    char head[256];
    const char *body = strstr(request, "\r\n\r\n");
    if (strstr(request, "/silent "))
        rest(1500);
    else if (strstr(request, "/cut "))
        answer(file, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    else if (strstr(request, "/headless "))
        answer(file, "HTTP/1.1 409 Conflict\r\nContent-Type: text/plain\r\n");
    else if (strstr(request, "/garbage "))
        answer(file, "what do you mean?\n");
    else if (strstr(request, "/huge "))
        answer(file, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
    if (strstr(request, "/huge "))
        for (int i = 0; i < 50; i++)
            answer(file, "0123456789012345678901234567890123456789012345678901234567890123456789"
                         "012345678901234567890123456789");
    if (strstr(request, "/drip ")) {
        answer(file, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        for (int i = 0; i < 15 && !server->stopping; i++) {
            answer(file, "x");
            rest(100);
        }
    }
    if (strstr(request, "/stall ")) {
        answer(file, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun");
        rest(2500);
    }
    if (strstr(request, "/busy "))
        answer(file, "HTTP/1.1 429 Slow Down\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
    else if (strstr(request, "/away "))
        answer(file, "HTTP/1.1 302 Found\r\nLocation: /echo\r\nContent-Length: 0\r\n\r\n");
    else if (strstr(request, "/echo")) {
        if (strstr(request, "slow"))
            rest(100);
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                 strlen(request));
        answer(file, head);
        answer(file, request);
        return true;
    } else if (strstr(request, "/close ")) {
        answer(file, "HTTP/1.1 204 No Content\r\n\r\n");
    } else {
        return false;
    }
    return !strstr(request, "/close ") && body;
}

struct connection {
    struct server *server;
    int file;
};

static size_t body_length(const char *request)
{
    const char *header = strstr(request, "Content-Length: ");
    return header ? strtoul(header + 16, NULL, 10) : 0;
}

static void *talk(void *context)
{
    struct connection connection = *(struct connection *)context;
    free(context);
    char *request = calloc(1, REQUEST_ROOM);
    bool open = true;
    while (open) {
        size_t used = 0;
        memset(request, 0, REQUEST_ROOM);
        for (;;) {
            const char *end = strstr(request, "\r\n\r\n");
            if (end && used >= (size_t)(end + 4 - request) + body_length(request))
                break;
            ssize_t count = recv(connection.file, request + used, REQUEST_ROOM - 1 - used, 0);
            if (count <= 0) {
                open = false;
                break;
            }
            used += (size_t)count;
        }
        if (!open)
            break;
        struct server *server = connection.server;
        server->requests++;
        int now = ++server->at_once;
        if (now > server->most_at_once)
            server->most_at_once = now;
        open = serve(server, connection.file, request);
        server->at_once--;
    }
    close(connection.file);
    free(request);
    return NULL;
}

static void *listen_for(void *context)
{
    struct server *server = context;
    pthread_t threads[CONNECTIONS];
    size_t count = 0;
    while (!server->stopping) {
        struct pollfd waiting = {.fd = server->listener, .events = POLLIN};
        if (poll(&waiting, 1, 20) <= 0 || count == CONNECTIONS)
            continue;
        struct connection *connection = malloc(sizeof(*connection));
        *connection = (struct connection){server, accept(server->listener, NULL, NULL)};
        server->connections++;
        pthread_create(&threads[count++], NULL, talk, connection);
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return NULL;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path) + 1);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 64), 0);
    return listener;
}

static struct server *start_server(void)
{
    struct server *server = calloc(1, sizeof(*server));
    server->directory = unit_directory();
    snprintf(server->socket, sizeof(server->socket), "%s/s", server->directory);
    server->listener = listen_at(server->socket);
    pthread_create(&server->thread, NULL, listen_for, server);
    return server;
}

/* The client must be closed before, so that the connections end. */
static void stop_server(struct server *server)
{
    server->stopping = true;
    pthread_join(server->thread, NULL);
    close(server->listener);
    unit_remove(server->directory);
    free(server);
}

static struct http_client *open_client(const struct server *server, int in_flight)
{
    struct error error;
    static const char *const headers[] = {"X-Client: yes", NULL};
    struct http_settings settings = {
        .base = "http://d/base",
        .unix_socket = server->socket,
        .headers = headers,
        .timeout = 500,
        .response_limit = 2000,
        .in_flight = in_flight,
    };
    struct http_client *client = http_open(&settings, &error);
    assert_non_null(client);
    return client;
}

static void run_one(struct http_client *client, struct http_request *request)
{
    struct http_request *batch[] = {request};
    http_run(client, batch, 1);
}

static void a_request_carries_method_path_headers_and_body(void **state)
{
    (void)state;
    struct server *server = start_server();
    struct http_client *client = open_client(server, 1);
    static const char *const headers[] = {"X-Mine: too", NULL};
    struct http_request request = {
        .method = "POST", .path = "/echo?a=b", .headers = headers, .body = TEXT("{\"a\":1}")};
    run_one(client, &request);
    assert_int_equal(request.outcome, HTTP_ANSWERED);
    assert_int_equal(request.status, 200);
    const char *seen = request.response.data;
    assert_ptr_equal(strstr(seen, "POST /base/echo?a=b HTTP/1.1\r\n"), seen);
    assert_non_null(strstr(seen, "X-Client: yes\r\n"));
    assert_non_null(strstr(seen, "X-Mine: too\r\n"));
    assert_non_null(strstr(seen, "Content-Type: application/json\r\n"));
    assert_null(strstr(seen, "Expect:"));
    assert_non_null(strstr(seen, "\r\n\r\n{\"a\":1}"));
    http_request_clear(&request);
    static const char *const methods[] = {"GET", "DELETE", "POST", "PUT"};
    for (size_t i = 0; i < 4; i++) {
        struct http_request plain = {.method = methods[i], .path = "/echo"};
        run_one(client, &plain);
        assert_int_equal(plain.status, 200);
        assert_ptr_equal(strstr(plain.response.data, methods[i]), plain.response.data);
        assert_null(strstr(plain.response.data, "Content-Type"));
        http_request_clear(&plain);
    }
    /* All over one connection. */
    assert_int_equal(server->connections, 1);
    struct http_request once = {.method = "POST", .path = "/echo", .once = true};
    run_one(client, &once);
    assert_int_equal(once.status, 200);
    assert_int_equal(server->connections, 2);
    http_request_clear(&once);
    http_close(client);
    stop_server(server);
}

static void a_batch_keeps_no_more_in_flight_than_allowed(void **state)
{
    (void)state;
    enum { REQUESTS = 20, IN_FLIGHT = 4 };
    struct server *server = start_server();
    struct http_client *client = open_client(server, IN_FLIGHT);
    struct http_request requests[REQUESTS], *batch[REQUESTS];
    char paths[REQUESTS][32];
    for (int i = 0; i < REQUESTS; i++) {
        snprintf(paths[i], sizeof(paths[i]), "/echo/slow/%d", i);
        requests[i] = (struct http_request){.method = "GET", .path = paths[i]};
        batch[i] = &requests[i];
    }
    int64_t begin = clock_elapsed();
    http_run(client, batch, REQUESTS);
    int64_t took = clock_elapsed() - begin;
    for (int i = 0; i < REQUESTS; i++) {
        assert_int_equal(requests[i].outcome, HTTP_ANSWERED);
        assert_non_null(strstr(requests[i].response.data, paths[i]));
        http_request_clear(&requests[i]);
    }
    assert_int_equal(server->most_at_once, IN_FLIGHT);
    assert_true(took >= 500);
    assert_true(server->connections <= IN_FLIGHT);
    http_close(client);
    stop_server(server);
}

/* One answer comes byte by byte while the others are waited for: each byte costs a look at all sockets
 * at once, not one at each. */
static void a_batch_asks_only_after_what_is_ready(void **state)
{
    (void)state;
    enum { REQUESTS = 20 };
    struct server *server = start_server();
    struct http_client *client = open_client(server, REQUESTS);
    struct http_request requests[REQUESTS], *batch[REQUESTS];
    for (size_t i = 0; i < REQUESTS; i++) {
        requests[i] = (struct http_request){
            .method = "GET", .path = i ? "/silent" : "/drip", .timeout = 20000};
        batch[i] = &requests[i];
    }
    polls = 0;
    counting = true;
    http_run(client, batch, REQUESTS);
    counting = false;
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(requests[i].outcome, HTTP_NO_ANSWER);
        http_request_clear(&requests[i]);
    }
    assert_in_range(polls, 1, 12 * REQUESTS);
    http_close(client);
    stop_server(server);
}

static void what_goes_wrong_is_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *path, *words;
    } cases[] = {
        {"/silent", "timed out"},   {"/cut", "/cut: "},       {"/headless", "no headers"},
        {"/drip", "timed out"},     {"/garbage", "/garbage"}, {"/huge", "longer than 2000 bytes"},
        {"/nothing", "mpty reply"},
    };
    struct server *server = start_server();
    struct http_client *client = open_client(server, 2);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct http_request request = {.method = "POST", .path = cases[i].path, .once = true};
        int before = server->requests;
        int64_t begin = clock_elapsed();
        run_one(client, &request);
        assert_true(clock_elapsed() - begin < 10000);
        assert_int_equal(request.outcome, HTTP_NO_ANSWER);
        assert_int_equal(request.status, 0);
        if (!strstr(request.error.text, cases[i].words))
            fail_msg("%s gives %s", cases[i].path, request.error.text);
        assert_int_equal(server->requests, before + 1);
        http_request_clear(&request);
    }
    struct http_request busy = {.method = "GET", .path = "/busy"};
    run_one(client, &busy);
    assert_int_equal(busy.outcome, HTTP_ANSWERED);
    assert_int_equal(busy.status, 429);
    assert_int_equal(busy.retry_after, 7000);
    http_request_clear(&busy);
    struct http_request away = {.method = "GET", .path = "/away"};
    run_one(client, &away);
    assert_int_equal(away.status, 302);
    http_request_clear(&away);
    http_close(client);
    stop_server(server);
}

static void a_request_that_must_not_be_repeated_is_not(void **state)
{
    (void)state;
    struct server *server = start_server();
    struct http_client *client = open_client(server, 1);
    /* The server reads the request and closes: over a kept connection, libcurl would send again. */
    for (int i = 0; i < 5; i++) {
        struct http_request warm = {.method = "GET", .path = i % 2 ? "/echo" : "/close"};
        run_one(client, &warm);
        assert_int_equal(warm.outcome, HTTP_ANSWERED);
        struct http_request once = {.method = "POST", .path = "/nothing", .once = true};
        int before = server->requests;
        run_one(client, &once);
        assert_int_equal(once.outcome, HTTP_NO_ANSWER);
        assert_int_equal(server->requests, before + 1);
        http_request_clear(&once);
        http_request_clear(&warm);
    }
    http_close(client);
    stop_server(server);
}

static void an_answer_that_stalls_is_given_up(void **state)
{
    (void)state;
    struct server *server = start_server();
    struct error error;
    struct http_settings settings = {.base = "http://d",
                                     .unix_socket = server->socket,
                                     .timeout = 20000,
                                     .stall_timeout = 1000,
                                     .response_limit = 2000,
                                     .in_flight = 1};
    struct http_client *client = http_open(&settings, &error);
    struct http_request request = {.method = "GET", .path = "/stall"};
    int64_t begin = clock_elapsed();
    run_one(client, &request);
    assert_true(clock_elapsed() - begin < 15000);
    assert_int_equal(request.outcome, HTTP_NO_ANSWER);
    http_request_clear(&request);
    http_close(client);
    stop_server(server);
}

static bool go_on_unless_busy(void *context, const struct http_request *ended)
{
    int *calls = context;
    ++*calls;
    return ended->status != 429;
}

static void a_batch_can_be_stopped_and_an_answer_cut_off(void **state)
{
    (void)state;
    enum { REQUESTS = 6 };
    struct server *server = start_server();
    struct error error;
    int calls = 0;
    struct http_settings settings = {.base = "http://d",
                                     .unix_socket = server->socket,
                                     .timeout = 2000,
                                     .response_limit = 2000,
                                     .in_flight = 1,
                                     .go_on = go_on_unless_busy,
                                     .context = &calls};
    struct http_client *client = http_open(&settings, &error);
    struct http_request requests[REQUESTS], *batch[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = (struct http_request){.method = "GET", .path = i == 2 ? "/busy" : "/echo"};
        batch[i] = &requests[i];
    }
    http_run(client, batch, REQUESTS);
    for (int i = 0; i < REQUESTS; i++) {
        assert_int_equal(requests[i].outcome, i <= 2 ? HTTP_ANSWERED : HTTP_NOT_SENT);
        http_request_clear(&requests[i]);
    }
    assert_int_equal(calls, 3);
    assert_int_equal(server->requests, 3);
    /* Longer than the limit, but no more than `keep` is wanted. */
    struct http_request huge = {.method = "GET", .path = "/huge", .keep = 10};
    run_one(client, &huge);
    assert_int_equal(huge.outcome, HTTP_ANSWERED);
    assert_true(huge.cut_off);
    assert_string_equal(huge.response.data, "0123456789");
    http_request_clear(&huge);
    http_close(client);
    stop_server(server);
}

static void nobody_there_means_not_sent(void **state)
{
    (void)state;
    struct error error;
    char *directory = unit_directory(), left[256]; /* a socket whose server has ended */
    snprintf(left, sizeof(left), "%s/left", directory);
    close(listen_at(left));
    struct http_settings settings = {.base = "http://d",
                                     .unix_socket = "/nowhere/s",
                                     .timeout = 500,
                                     .response_limit = 10,
                                     .in_flight = 1};
    struct http_client *client = http_open(&settings, &error);
    struct http_request request = {.method = "POST", .path = "/x"};
    run_one(client, &request);
    assert_int_equal(request.outcome, HTTP_NOT_SENT);
    assert_string_equal(request.error.text,
                        "/nowhere/s: POST /x: there is no such socket; the server that makes it "
                        "does not run, or makes another one");
    http_close(client);
    settings.unix_socket = left;
    client = http_open(&settings, &error);
    run_one(client, &request);
    assert_int_equal(request.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(request.error.text, ": nobody listens at this socket; "));
    http_close(client);
    unit_remove(directory);
    settings.unix_socket = NULL;
    settings.base = "http://127.0.0.1:1";
    client = http_open(&settings, &error);
    run_one(client, &request);
    assert_int_equal(request.outcome, HTTP_NOT_SENT);
    http_request_clear(&request);
    http_close(client);
}

static int questions;

static bool say_what_is(void *context)
{
    questions++;
    return *(const bool *)context;
}

/* What one that was replaced meanwhile had still to send is not sent: not even the rest of a batch. */
static void who_has_been_replaced_changes_nothing(void **state)
{
    (void)state;
    bool serves = true;
    struct server *server = start_server();
    struct http_client *client = open_client(server, 4);
    struct http_request change = {.method = "POST", .path = "/echo"},
                        look = {.method = "GET", .path = "/echo"}, *batch[] = {&change, &look};
    fence_set(say_what_is, &serves, 60000);
    http_run(client, batch, 2);
    http_run(client, batch, 2);
    assert_int_equal(change.outcome, HTTP_ANSWERED);
    assert_int_equal(questions, 1);
    fence_set(say_what_is, &serves, 0);
    serves = false;
    int before = server->requests;
    http_run(client, batch, 2);
    assert_int_equal(change.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(change.error.text, "not sent, because another daemon has taken over"));
    assert_int_equal(look.outcome, HTTP_ANSWERED);
    assert_int_equal(server->requests, before + 1);
    fence_clear(&serves);
    http_run(client, batch, 1);
    assert_int_equal(change.outcome, HTTP_ANSWERED);
    http_request_clear(&change);
    http_request_clear(&look);
    http_close(client);
    stop_server(server);
}

static void parts_of_paths_are_escaped(void **state)
{
    (void)state;
    struct buffer out = {0};
    http_escape(&out, TEXT("a-Z_0.~/?&= %\n\303\244"));
    assert_string_equal(out.data, "a-Z_0.~%2F%3F%26%3D%20%25%0A%C3%A4");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_carries_method_path_headers_and_body),
        cmocka_unit_test(a_batch_keeps_no_more_in_flight_than_allowed),
        cmocka_unit_test(a_batch_asks_only_after_what_is_ready),
        cmocka_unit_test(what_goes_wrong_is_told_apart),
        cmocka_unit_test(a_request_that_must_not_be_repeated_is_not),
        cmocka_unit_test(an_answer_that_stalls_is_given_up),
        cmocka_unit_test(a_batch_can_be_stopped_and_an_answer_cut_off),
        cmocka_unit_test(nobody_there_means_not_sent),
        cmocka_unit_test(who_has_been_replaced_changes_nothing),
        cmocka_unit_test(parts_of_paths_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
