/* tests/unit/kubernetes_api_test.c - requests to an API server that misbehaves on order
 *
 * The server is tests/stand-in/https; what is shown here is of the connection: credentials, TLS,
 * proxies, connections, streams, and the sorting of answers.
 */
#include "tests/unit/https_server.h"

#include <sys/resource.h>

#include "base/json.h"
#include "executors/kubernetes/api.h"
#include "executors/kubernetes/stream.h"
#include "executors/kubernetes/connection.h"
#include "executors/kubernetes/plugin.h"
#include "executors/kubernetes/status.h"

static const char secret[] = "s3cr3t-token-that-nobody-may-see";

static struct arena *arena;

/* ---- helpers ---- */

/* Write a kubeconfig: lines of the cluster and of the user; and connect by it. */
static void write_config(const char *cluster, const char *user)
{
    char text[8192];
    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
             "contexts:\n- name: c\n  context: {cluster: k, user: u, namespace: team}\n"
             "clusters:\n- name: k\n  cluster:\n    server: https://127.0.0.1:%d\n%s"
             "users:\n- name: u\n  user:\n%s",
             server.port, cluster, user);
    write_file("config", text);
}

/* Milliseconds.  A test about time-outs sets its own; the others take as long as a busy machine makes them. */
enum { LONG_TIMEOUT = 60000 };

static struct kubernetes_settings test_settings(void)
{
    struct kubernetes_settings settings;
    assert_int_equal(kubernetes_settings_read(&settings, arena, NULL, NULL), 0);
    settings.kubeconfig = arena_printf(arena, "%s", in_directory("config"));
    settings.request_timeout = settings.connect_timeout = LONG_TIMEOUT;
    return settings;
}

static struct kubernetes_connection *connect_with(const struct kubernetes_settings *settings)
{
    struct error error = {""};
    struct kubernetes_connection *connection = kubernetes_api_connect(settings, &error);
    if (!connection)
        fail_msg("%s", error.text);
    return connection;
}

static const char ca_line[] = "    certificate-authority: ca.pem\n";

static struct kubernetes_connection *connect_by_token(const char *token)
{
    char user[256];
    snprintf(user, sizeof(user), "    token: %s\n", token);
    write_config(ca_line, user);
    struct kubernetes_settings settings = test_settings();
    return connect_with(&settings);
}

static struct kubernetes_call make_call(const char *method, const char *path)
{
    return (struct kubernetes_call){.method = method, .path = text_of(path)};
}

static void run_one(struct kubernetes_connection *connection, struct kubernetes_call *call)
{
    struct kubernetes_call *calls[] = {call};
    kubernetes_api_run(connection, arena, calls, 1);
    assert_null(strstr(call->error.text, secret));
}

static enum kubernetes_outcome ask(struct kubernetes_connection *connection, const char *path)
{
    struct kubernetes_call call = make_call("GET", path);
    run_one(connection, &call);
    if (call.outcome != KUBERNETES_DONE)
        assert_true(call.error.text[0]);
    return call.outcome;
}

static enum kubernetes_outcome ask_raw(struct kubernetes_connection *connection, const char *path,
                                       size_t limit)
{
    struct kubernetes_call call = make_call("GET", path);
    call.raw = true;
    call.response_limit = limit;
    run_one(connection, &call);
    kubernetes_api_call_free(&call);
    return call.outcome;
}

static void must_be_done(struct kubernetes_connection *connection, const char *path)
{
    struct kubernetes_call call = make_call("GET", path);
    run_one(connection, &call);
    if (call.outcome != KUBERNETES_DONE)
        fail_msg("%s: %s", path, call.error.text);
}

static int statistic(const char *name)
{
    struct kubernetes_settings settings = test_settings();
    write_config(ca_line, "    token: any\n");
    settings.in_flight = 1;
    struct kubernetes_connection *connection = connect_with(&settings);
    struct kubernetes_call call = make_call("GET", "/statistics");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    int value = (int)value_get_number(call.answer, name, -1);
    kubernetes_api_disconnect(connection);
    return value;
}

static void expect_words(const char *sentence, const char *words)
{
    if (!strstr(sentence, words))
        fail_msg("\"%s\" does not say \"%s\"", sentence, words);
}

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new();
    write_file("accepted", "*\n");
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* ---- requests ---- */

static void a_call_carries_what_it_should(void **state)
{
    (void)state;
    struct kubernetes_connection *connection = connect_by_token("abc");
    struct kubernetes_call call = make_call("PATCH", "/echo?x=y");
    call.body = TEXT("{\"a\":1}");
    call.content_type = "application/merge-patch+json";
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    assert_int_equal(call.status, 200);
    const struct value *headers = value_get(call.answer, "headers");
    assert_true(text_is(value_get_text(headers, "authorization"), "Bearer abc"));
    assert_true(text_is(value_get_text(headers, "content-type"), "application/merge-patch+json"));
    assert_true(text_is(value_get_text(headers, "accept"), "application/json"));
    assert_true(text_starts(value_get_text(headers, "user-agent"), "dlspool/"));
    assert_true(text_is(value_get_text(call.answer, "path"), "/echo?x=y"));
    assert_true(text_is(value_get_text(call.answer, "body"), "{\"a\":1}"));
    assert_string_equal(kubernetes_api_namespace(connection), "team");
    kubernetes_api_disconnect(connection);
}

static void a_raw_answer_is_cut_off_where_it_is_to_be(void **state)
{
    (void)state;
    write_file("log", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\n"
                      "line\nline2\n");
    struct kubernetes_connection *connection = connect_by_token("abc");
    struct kubernetes_call call = make_call("GET", "/file/log");
    call.raw = true;
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    assert_false(call.cut_off);
    assert_string_equal(call.response.data, "line\nline2\n");
    call.response_limit = 6;
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    assert_true(call.cut_off);
    assert_string_equal(call.response.data, "line\nl");
    /* But not the reason of a refusal. */
    write_file("log", "HTTP/1.1 404 No\r\nContent-Length: 71\r\n\r\n"
                      "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"x\"},"
                      "\"code\":404}");
    assert_int_equal(ask_raw(connection, "/file/log", 6), KUBERNETES_MISSING);
    write_file("log", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\n"
                      "line\nline2\n");
    call.response_limit = 11;
    run_one(connection, &call);
    assert_false(call.cut_off);
    kubernetes_api_call_free(&call);
    struct kubernetes_call parsed = make_call("GET", "/file/log");
    run_one(connection, &parsed);
    assert_int_equal(parsed.outcome, KUBERNETES_UNAVAILABLE);
    parsed.method = "POST";
    run_one(connection, &parsed);
    assert_int_equal(parsed.outcome, KUBERNETES_UNKNOWN);
    kubernetes_api_disconnect(connection);
}

static void thirty_two_are_in_flight_on_connections_that_are_kept(void **state)
{
    (void)state;
    enum { CALLS = 200 };
    static struct kubernetes_call calls[CALLS];
    struct kubernetes_call *batch[CALLS];
    struct kubernetes_connection *connection = connect_by_token("abc");
    int before = statistic("connections");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CALLS; i++) {
            calls[i] = make_call("POST", "/slow");
            calls[i].body = TEXT("{}");
            batch[i] = &calls[i];
        }
        kubernetes_api_run(connection, arena, batch, CALLS);
        for (int i = 0; i < CALLS; i++)
            assert_int_equal(calls[i].outcome, KUBERNETES_DONE);
    }
    /* One of them is the one that asks for the statistics. */
    assert_int_equal(statistic("connections") - before, 32 + 1);
    assert_int_equal(statistic("at_once"), 32);
    kubernetes_api_disconnect(connection);
}

/* While the first connection is busy; but not by a session of another client, which may have another credential. */
static void a_connection_is_made_by_the_session_of_one_before(void **state)
{
    (void)state;
    struct kubernetes_call calls[] = {make_call("GET", "/slow"), make_call("GET", "/echo")};
    struct kubernetes_call *batch[] = {&calls[0], &calls[1]};
    struct kubernetes_connection *connection = connect_by_token("abc");
    int before = statistic("resumed");
    must_be_done(connection, "/echo");
    assert_int_equal(statistic("resumed"), before);
    kubernetes_api_run(connection, arena, batch, ARRAY_COUNT(batch));
    assert_int_equal(statistic("resumed"), before + 1);
    kubernetes_api_disconnect(connection);
}

static void a_connection_that_was_closed_is_made_again(void **state)
{
    (void)state;
    struct kubernetes_connection *connection = connect_by_token("abc");
    must_be_done(connection, "/echo");
    struct kubernetes_call call = make_call("POST", "/drop/1");
    call.body = TEXT("{}");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_DONE);
    /* On a new connection nobody knows. */
    kubernetes_api_disconnect(connection);
    connection = connect_by_token("abc");
    call.path = TEXT("/drop/2");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNKNOWN);
    kubernetes_api_disconnect(connection);
}

static void a_server_that_hangs_costs_one_timeout(void **state)
{
    (void)state;
    enum { CALLS = 100 };
    static struct kubernetes_call calls[CALLS];
    struct kubernetes_call *batch[CALLS];
    struct kubernetes_connection *connection = connect_by_token("abc");
    for (int i = 0; i < CALLS; i++) {
        calls[i] = make_call("POST", "/silent");
        calls[i].timeout = 2000;
        batch[i] = &calls[i];
    }
    int before = statistic("requests");
    kubernetes_api_run(connection, arena, batch, CALLS);
    /* At most those that were in flight together, and the statistics' own: on a busy machine, not all
     * have a connection by then. */
    assert_in_range(statistic("requests"), before + 1 + 1, before + 32 + 1);
    assert_int_equal(calls[0].outcome, KUBERNETES_UNKNOWN);
    assert_int_equal(calls[CALLS - 1].outcome, KUBERNETES_UNAVAILABLE);
    struct kubernetes_call get = make_call("GET", "/silent");
    get.timeout = 200;
    run_one(connection, &get);
    assert_int_equal(get.outcome, KUBERNETES_UNAVAILABLE);
    kubernetes_api_disconnect(connection);
}

static void nobody_at_the_port_is_unavailable(void **state)
{
    (void)state;
    int port = server.port;
    server.port = 1;
    struct kubernetes_connection *connection = connect_by_token(secret);
    server.port = port;
    struct kubernetes_call call = make_call("POST", "/echo");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    assert_int_equal(call.status, 0);
    expect_words(call.error.text, "https://127.0.0.1:1");
    kubernetes_api_disconnect(connection);
}

/* The server answers /file/busy so. */
static void be_busy_for(int seconds)
{
    char answer[256];
    snprintf(answer, sizeof(answer),
             "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: "
             "%d\r\nContent-Length: 44\r\n\r\n"
             "Too many requests, please try again later.\r\n",
             seconds);
    write_file("busy", answer);
}

static void what_is_put_off_is_so_alone(void **state)
{
    (void)state;
    enum { CALLS = 60 };
    static struct kubernetes_call calls[CALLS];
    struct kubernetes_call *batch[CALLS];
    be_busy_for(30);
    struct kubernetes_connection *connection = connect_by_token("abc");
    for (int i = 0; i < CALLS; i++) {
        calls[i] = make_call("POST", i % 20 ? "/echo" : "/file/busy");
        batch[i] = &calls[i];
    }
    int before = statistic("requests");
    kubernetes_api_run(connection, arena, batch, CALLS);
    assert_int_equal(statistic("requests"), before + CALLS + 1); /* the statistics' own */
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(calls[i].outcome, i % 20 ? KUBERNETES_DONE : KUBERNETES_UNAVAILABLE);
        assert_int_equal(calls[i].alone, i % 20 == 0);
        assert_int_equal(calls[i].retry_after, i % 20 ? 0 : 30000);
    }
    assert_int_equal(calls[0].status, 429);
    expect_words(calls[0].error.text, "Too many requests, please try again later.");
    kubernetes_api_disconnect(connection);
}

/* As many in a row as put off the server itself. */
static void be_put_off(struct kubernetes_connection *connection)
{
    for (int i = 1; i <= KUBERNETES_PUT_OFF_MOST; i++) {
        struct kubernetes_call call = make_call("GET", "/file/busy");
        run_one(connection, &call);
        assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
        assert_int_equal(call.alone, i < KUBERNETES_PUT_OFF_MOST);
    }
}

static void after_too_many_requests_nothing_is_sent(void **state)
{
    (void)state;
    enum { CALLS = 60 };
    static struct kubernetes_call calls[CALLS];
    struct kubernetes_call *batch[CALLS];
    be_busy_for(30);
    struct kubernetes_connection *connection = connect_by_token("abc");
    for (int i = 0; i < CALLS; i++) {
        calls[i] = make_call("POST", "/file/busy");
        batch[i] = &calls[i];
    }
    int sent = statistic("requests");
    kubernetes_api_run(connection, arena, batch, CALLS);
    assert_in_range(statistic("requests") - sent - 1, KUBERNETES_PUT_OFF_MOST, CALLS - 1);
    for (int i = 0; i < KUBERNETES_PUT_OFF_MOST; i++) {
        assert_int_equal(calls[i].outcome, KUBERNETES_UNAVAILABLE);
        assert_int_equal(calls[i].status, 429);
    }
    assert_int_equal(calls[CALLS - 1].outcome, KUBERNETES_UNAVAILABLE);
    assert_false(calls[CALLS - 1].alone);
    assert_in_range(calls[CALLS - 1].retry_after, 1, 30000);
    expect_words(calls[CALLS - 1].error.text, "asked to be left alone");
    int before = statistic("requests");
    assert_int_equal(ask(connection, "/echo"), KUBERNETES_UNAVAILABLE);
    struct error error;
    assert_null(kubernetes_stream_open(connection, "/echo", &error));
    assert_int_equal(statistic("requests"), before + 1); /* the statistics' own */
    kubernetes_api_disconnect(connection);
}

static void after_that_while_requests_are_sent_again(void **state)
{
    (void)state;
    be_busy_for(1);
    struct kubernetes_connection *connection = connect_by_token("abc");
    be_put_off(connection);
    int64_t begin = clock_elapsed();
    while (ask(connection, "/echo") != KUBERNETES_DONE) {
        assert_in_range(clock_elapsed() - begin, 0, LONG_TIMEOUT);
        pause_for(50);
    }
    struct kubernetes_call call = make_call("GET", "/file/busy");
    run_one(connection, &call);
    assert_true(call.alone); /* an answer of another kind came between */
    kubernetes_api_disconnect(connection);
}

/* ---- credentials ---- */

static void a_token_in_a_file_is_read_when_it_changes(void **state)
{
    (void)state;
    write_file("token", "first\n");
    write_file("accepted", "first\n");
    write_config(ca_line, "    tokenFile: token\n");
    struct kubernetes_settings settings = test_settings();
    struct kubernetes_connection *connection = connect_with(&settings);
    must_be_done(connection, "/echo");
    write_file("token", "second-one\n");
    write_file("accepted", "second-one\n");
    must_be_done(connection, "/echo");
    /* Same size, perhaps the same time: a new file all the same. */
    write_file("token", "third--one\n");
    write_file("accepted", "third--one\n");
    must_be_done(connection, "/echo");
    /* Gone for a moment: what we have is used. */
    assert_int_equal(unlink(in_directory("token")), 0);
    must_be_done(connection, "/echo");
    kubernetes_api_disconnect(connection);
    connection = connect_with(&settings);
    struct kubernetes_call call = make_call("GET", "/echo");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    expect_words(call.error.text, in_directory("token"));
    kubernetes_api_disconnect(connection);
}

static void a_credential_that_is_refused_is_read_again_once(void **state)
{
    (void)state;
    write_file("accepted", "new\n");
    struct kubernetes_connection *connection = connect_by_token("old");
    write_config(ca_line, "    token: new\n");
    must_be_done(connection, "/echo");
    kubernetes_api_disconnect(connection);

    /* A server that changes its mind is asked twice, and the others of the batch too. */
    enum { CALLS = 50 };
    static struct kubernetes_call calls[CALLS];
    struct kubernetes_call *batch[CALLS];
    connection = connect_by_token("new");
    for (int i = 0; i < CALLS; i++) {
        calls[i] = make_call("POST", i == 3 ? "/once/batch" : "/slow");
        batch[i] = &calls[i];
    }
    kubernetes_api_run(connection, arena, batch, CALLS);
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(calls[i].outcome, KUBERNETES_DONE);
    kubernetes_api_disconnect(connection);

    connection = connect_by_token(secret);
    int before = statistic("requests");
    write_config(ca_line, "    token: never-good\n");
    struct kubernetes_call call = make_call("POST", "/echo");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    assert_int_equal(call.status, 401);
    expect_words(call.error.text, "Unauthorized");
    expect_words(call.error.text, "was not accepted");
    assert_int_equal(statistic("requests"), before + 2 + 1);
    /* It was just looked for: not every request does that again. */
    write_config(ca_line, "    token: new\n");
    assert_int_equal(ask(connection, "/echo"), KUBERNETES_UNAVAILABLE);
    kubernetes_api_disconnect(connection);

    /* When there is nothing to read any more, that is said. */
    connection = connect_by_token("old");
    write_file("config", "- what is this?\n");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    expect_words(call.error.text, "expected a kubeconfig");
    kubernetes_api_disconnect(connection);
}

static void write_plugin(const char *script)
{
    write_file("plugin", script);
    assert_int_equal(chmod(in_directory("plugin"), 0755), 0);
}

static struct kubernetes_connection *connect_by_plugin(void)
{
    write_config(ca_line, "    exec:\n"
                          "      apiVersion: client.authentication.k8s.io/v1\n"
                          "      command: ./plugin\n"
                          "      args: [one, two]\n"
                          "      env: [{name: MINE, value: yes it is}]\n"
                          "      interactiveMode: IfAvailable\n"
                          "      provideClusterInfo: true\n");
    struct kubernetes_settings settings = test_settings();
    return connect_with(&settings);
}

static void a_plugin_is_asked_and_asked_again_when_it_expires(void **state)
{
    (void)state;
    char script[2048];
    /* Gives the token t1, t2 ..., which expires within a few seconds, so that it never lasts. */
    snprintf(script, sizeof(script),
             "#!/bin/sh\ncd '%s' || exit 1\nread line && exit 9\necho x >> asked\n"
             "n=$(wc -l < asked)\n[ \"$1$2 $MINE\" = 'onetwo yes it is' ] || exit 8\n"
             "case $KUBERNETES_EXEC_INFO in *'\"server\":\"https://127'*) ;; *) exit 7 ;; esac\n"
             "when=$(date -u -d '+5 seconds' +%%Y-%%m-%%dT%%H:%%M:%%SZ)\n"
             "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
             "\"client.authentication.k8s.io/v1\",\"spec\":{},\"status\":{\"token\":\"t%%s\","
             "\"expirationTimestamp\":\"%%s\"}}' \"$n\" \"$when\"\n",
             server.directory);
    write_plugin(script);
    struct kubernetes_connection *connection = connect_by_plugin();
    write_file("accepted", "t1\n");
    must_be_done(connection, "/echo");
    write_file("accepted", "t2\n");
    must_be_done(connection, "/echo");
    /* t3 is asked for since t2 expires; refused; t4 is good. */
    write_file("accepted", "t4\n");
    must_be_done(connection, "/echo");
    kubernetes_api_disconnect(connection);
    unlink(in_directory("asked"));
}

static void a_plugin_that_fails_is_told_of(void **state)
{
    (void)state;
    static const struct {
        const char *script, *words;
    } cases[] = {
        {"#!/bin/sh\necho 'first line' >&2\necho 'log in first' >&2\nexit 3\n",
         "exit code 3: log in first"},
        {"#!/bin/sh\nkill -9 $$\n", "signal 9"},
        {"#!/bin/sh\necho '{\"s3cr3t-token-that-nobody-may-see'\n", "is not JSON"},
        {"#!/bin/sh\necho '{\"kind\":\"Secret\"}'\n", "no ExecCredential"},
        {"#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
         "\"client.authentication.k8s.io/v1beta1\"}'\n",
         "not of client.authentication.k8s.io/v1"},
        {"#!/bin/sh\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":"
         "\"client.authentication.k8s.io/v1\",\"status\":{}}'\n",
         "neither a token nor a certificate"},
        {"#!/bin/sh\nhead -c 3000000 /dev/zero\n", "more than 1048576 bytes"},
        {"#!/nowhere/sh\n", "could not be started"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        write_plugin(cases[i].script);
        struct kubernetes_connection *connection = connect_by_plugin();
        struct kubernetes_call call = make_call("POST", "/echo");
        run_one(connection, &call);
        assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
        expect_words(call.error.text, cases[i].words);
        kubernetes_api_disconnect(connection);
    }
    /* It is not run for every batch. */
    char script[512];
    snprintf(script, sizeof(script), "#!/bin/sh\necho ran >> '%s'\nexit 1\n", in_directory("runs"));
    write_plugin(script);
    struct kubernetes_connection *connection = connect_by_plugin();
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask(connection, "/echo"), KUBERNETES_UNAVAILABLE);
    char *runs = read_whole("runs");
    assert_string_equal(runs, "ran\n");
    free(runs);
    kubernetes_api_disconnect(connection);
}

static void a_plugin_that_hangs_is_ended_with_all_it_started(void **state)
{
    (void)state;
    struct error error;
    struct kubernetes_plugin_answer answer = {0};
    const char *arguments[] = {in_directory("plugin"), NULL}, *variables[] = {NULL};
    struct kubeconfig_plugin plugin = {.api_version = "client.authentication.k8s.io/v1",
                                       .arguments = arguments,
                                       .variables = variables};
    char script[512];
    snprintf(script, sizeof(script), "#!/bin/sh\ncd '%s'\nsleep 77 &\necho $! > child\nwait\n",
             server.directory);
    write_plugin(script);
    int64_t begin = clock_elapsed();
    assert_int_equal(kubernetes_plugin_run(&plugin, 500, &answer, &error), -1);
    assert_true(clock_elapsed() - begin < 30000);
    expect_words(error.text, "did not end within");
    char *child = read_whole("child");
    pid_t process = atoi(child);
    free(child);
    while (kill(process, 0) == 0 && clock_elapsed() - begin < 10000) {
        char path[64], line[256] = "";
        snprintf(path, sizeof(path), "/proc/%d/stat", process);
        FILE *stream = fopen(path, "r");
        if (stream && !fgets(line, sizeof(line), stream))
            line[0] = '\0';
        if (stream)
            fclose(stream);
        if (strstr(line, ") Z ")) /* nobody has asked after it yet */
            return;
        pause_for(10);
    }
    assert_int_equal(kill(process, 0), -1);
}

static void a_client_certificate_will_do(void **state)
{
    (void)state;
    write_file("accepted", "nothing\n");
    write_config(ca_line, "    client-certificate: client.pem\n    client-key: client.key\n");
    struct kubernetes_settings settings = test_settings();
    struct kubernetes_connection *connection = connect_with(&settings);
    struct kubernetes_call call = make_call("GET", "/echo");
    run_one(connection, &call);
    if (call.outcome != KUBERNETES_DONE)
        fail_msg("%s", call.error.text);
    assert_true(text_is(value_get_text(call.answer, "user"), "carol"));
    assert_null(value_get(value_get(call.answer, "headers"), "authorization"));
    kubernetes_api_disconnect(connection);
    /* A plugin may give one, too. */
    char script[1024];
    snprintf(script, sizeof(script),
             "#!/bin/sh\ncd '%s'\njoin() { awk '{printf \"%%s\\\\n\", $0}' \"$1\"; }\n"
             "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
             "\"client.authentication.k8s.io/v1\",\"status\":{\"clientCertificateData\":\"%%s\","
             "\"clientKeyData\":\"%%s\"}}' \"$(join client.pem)\" \"$(join client.key)\"\n",
             server.directory);
    write_plugin(script);
    connection = connect_by_plugin();
    run_one(connection, &call);
    if (call.outcome != KUBERNETES_DONE)
        fail_msg("%s", call.error.text);
    assert_true(text_is(value_get_text(call.answer, "user"), "carol"));
    kubernetes_api_disconnect(connection);
}

static void the_pods_service_account_will_do(void **state)
{
    (void)state;
    struct error error;
    char port[16];
    struct kubernetes_settings settings = test_settings();
    settings.kubeconfig = TEXT("");
    snprintf(port, sizeof(port), "%d", server.port);
    assert_int_equal(mkdir(in_directory("account"), 0700), 0);
    char *ca = read_whole("ca.pem");
    write_file("account/ca.crt", ca);
    free(ca);
    write_file("account/token", "pod's\n");
    write_file("account/token", "pods\n");
    write_file("account/namespace", "theirs");
    write_file("accepted", "pods\n");
    setenv("HOME", "/nowhere", 1);
    unsetenv("KUBECONFIG");
    assert_null(kubernetes_connection_open(&settings, in_directory("account"), &error));
    expect_words(error.text, "there is no kubeconfig");
    setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", port, 1);
    struct kubernetes_connection *connection =
        kubernetes_connection_open(&settings, in_directory("account"), &error);
    assert_non_null(connection);
    assert_string_equal(kubernetes_api_namespace(connection), "theirs");
    must_be_done(connection, "/echo");
    /* Bound tokens are written again. */
    write_file("account/token", "rotated");
    write_file("accepted", "rotated\n");
    must_be_done(connection, "/echo");
    kubernetes_api_disconnect(connection);
    assert_null(kubernetes_connection_open(&settings, "/nowhere", &error));
    expect_words(error.text, "automountServiceAccountToken");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
}

/* ---- TLS and proxies ---- */

static void a_server_of_another_authority_is_not_spoken_to(void **state)
{
    (void)state;
    struct kubernetes_settings settings = test_settings();
    char user[128];
    snprintf(user, sizeof(user), "    token: %s\n", secret);
    static const char *const clusters[] = {"    certificate-authority: other-ca.pem\n", ""};
    for (size_t i = 0; i < 2; i++) {
        int before = statistic("requests");
        write_config(clusters[i], user);
        struct kubernetes_connection *connection = connect_with(&settings);
        struct kubernetes_call call = make_call("POST", "/echo");
        run_one(connection, &call);
        assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
        expect_words(call.error.text, "certificate-authority that of this cluster");
        kubernetes_api_disconnect(connection);
        assert_int_equal(statistic("requests"), before + 1);
    }
}

static void the_servers_name_is_verified(void **state)
{
    (void)state;
    struct kubernetes_settings settings = test_settings();
    write_config("    certificate-authority: ca.pem\n    tls-server-name: api.test\n",
                 "    token: abc\n");
    struct kubernetes_connection *connection = connect_with(&settings);
    struct kubernetes_call call = make_call("GET", "/echo");
    run_one(connection, &call);
    if (call.outcome != KUBERNETES_DONE)
        fail_msg("%s", call.error.text);
    assert_true(
        text_starts(value_get_text(value_get(call.answer, "headers"), "host"), "127.0.0.1:"));
    kubernetes_api_disconnect(connection);
    write_config("    certificate-authority: ca.pem\n    tls-server-name: other.test\n",
                 "    token: abc\n");
    connection = connect_with(&settings);
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    expect_words(call.error.text, "tls-server-name");
    kubernetes_api_disconnect(connection);
}

static void proxies_are_used_as_told(void **state)
{
    (void)state;
    char proxy[64], cluster[256];
    struct kubernetes_settings settings = test_settings();
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", server.proxy_port);
    snprintf(cluster, sizeof(cluster), "%s    proxy-url: %s\n", ca_line, proxy);
    static const struct {
        bool in_config, in_environment, in_settings, none;
        int tunnels;
    } cases[] = {
        {.tunnels = 0},
        {.in_config = true, .tunnels = 1},
        {.in_environment = true, .tunnels = 1},
        {.in_settings = true, .tunnels = 1},
        {.in_environment = true, .in_config = true, .none = true, .tunnels = 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int before = statistic("tunnels");
        write_config(cases[i].in_config ? cluster : ca_line, "    token: abc\n");
        settings.proxy = cases[i].none          ? TEXT("none")
                         : cases[i].in_settings ? text_of(proxy)
                                                : TEXT("");
        if (cases[i].in_environment)
            setenv("HTTPS_PROXY", proxy, 1);
        struct kubernetes_connection *connection = connect_with(&settings);
        must_be_done(connection, "/echo");
        kubernetes_api_disconnect(connection);
        unsetenv("HTTPS_PROXY");
        assert_int_equal(statistic("tunnels") - before, cases[i].tunnels);
    }
    /* A proxy that does not want to: the server has seen nothing. */
    write_file("no-tunnels", "");
    settings.proxy = text_of(proxy);
    write_config(ca_line, "    token: abc\n");
    struct kubernetes_connection *connection = connect_with(&settings);
    struct kubernetes_call call = make_call("POST", "/echo");
    run_one(connection, &call);
    assert_int_equal(call.outcome, KUBERNETES_UNAVAILABLE);
    assert_int_equal(call.status, 0);
    kubernetes_api_disconnect(connection);
    unlink(in_directory("no-tunnels"));
}

/* ---- streams ---- */

/* Drive until the stream has ended; the lines in one text, with a | after each. */
static char *drain(struct kubernetes_connection *connection, struct kubernetes_stream *stream,
                   int *status, enum kubernetes_outcome *outcome, struct error *why)
{
    static char lines[4096];
    size_t used = 0;
    int64_t begin = clock_elapsed();
    const char *ended;
    lines[0] = '\0';
    while (!(ended = kubernetes_stream_ended(stream, status, outcome))) {
        struct text line;
        assert_true(clock_elapsed() - begin < 10000);
        kubernetes_stream_drive_all(connection, 500);
        while (kubernetes_stream_line(stream, &line))
            used += (size_t)snprintf(lines + used, sizeof(lines) - used, "%.*s|", (int)line.length,
                                     line.data);
    }
    error_set(why, "%s", ended);
    kubernetes_stream_close(stream);
    return lines;
}

static const char events[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "8\r\n{\"a\":1}\n\r\n"
                             "5\r\n{\"b\":\r\n"
                             "6\r\n\"\303\274\"}\n\r\n"
                             "2\r\n\r\n\r\n"
                             "4\r\nhalf\r\n";

static void the_lines_of_a_stream_come_however_they_are_split(void **state)
{
    (void)state;
    static const char *const paths[] = {"/file/events", "/split/events"};
    char whole[sizeof(events) + 8];
    struct error error, why;
    int status;
    enum kubernetes_outcome outcome;
    snprintf(whole, sizeof(whole), "%s0\r\n\r\n", events);
    write_file("events", whole);
    struct kubernetes_connection *connection = connect_by_token("abc");
    for (size_t i = 0; i < 2; i++) {
        struct kubernetes_stream *stream = kubernetes_stream_open(connection, paths[i], &error);
        assert_non_null(stream);
        assert_string_equal(drain(connection, stream, &status, &outcome, &why),
                            "{\"a\":1}|{\"b\":\"\303\274\"}||");
        assert_int_equal(status, 200);
        assert_int_equal(outcome, KUBERNETES_DONE);
        assert_string_equal(why.text, "");
    }
    /* The connection breaks. */
    write_file("events", events);
    struct kubernetes_stream *stream = kubernetes_stream_open(connection, "/close/events", &error);
    assert_string_equal(drain(connection, stream, &status, &outcome, &why),
                        "{\"a\":1}|{\"b\":\"\303\274\"}||");
    assert_int_equal(outcome, KUBERNETES_UNAVAILABLE);
    assert_true(why.text[0]);
    kubernetes_api_disconnect(connection);
}

static void streams_do_not_wait_for_one_another(void **state)
{
    (void)state;
    struct error error;
    struct text line;
    write_file("events", events);
    write_config(ca_line, "    token: abc\n");
    struct kubernetes_settings settings = test_settings();
    settings.request_timeout = 5000;
    struct kubernetes_connection *connection = connect_with(&settings);
    struct kubernetes_stream *streams[3];
    for (size_t i = 0; i < 3; i++) {
        streams[i] = kubernetes_stream_open(connection, i ? "/open/events" : "/silent", &error);
        assert_non_null(streams[i]);
    }
    int lines = 0;
    int64_t begin = clock_elapsed();
    while (lines < 6 && clock_elapsed() - begin < LONG_TIMEOUT) {
        kubernetes_stream_drive_all(connection, 200);
        for (size_t i = 0; i < 3; i++)
            while (kubernetes_stream_line(streams[i], &line))
                lines++;
    }
    assert_int_equal(lines, 6);
    /* Driving takes no longer than it is told; and calls go on beside them. */
    begin = clock_elapsed();
    kubernetes_stream_drive_all(connection, 0);
    assert_true(clock_elapsed() - begin < 2000);
    must_be_done(connection, "/echo");
    assert_null(kubernetes_stream_ended(streams[1], NULL, NULL));
    kubernetes_stream_close(streams[2]);
    /* The silent one ends when the headers do not come in time. */
    begin = clock_elapsed();
    while (!kubernetes_stream_ended(streams[0], NULL, NULL) &&
           clock_elapsed() - begin < LONG_TIMEOUT)
        kubernetes_stream_drive_all(connection, 200);
    expect_words(kubernetes_stream_ended(streams[0], NULL, NULL), "nothing has come");
    kubernetes_api_disconnect(connection);
}

static void a_refused_stream_tells_why(void **state)
{
    (void)state;
    struct error error, why;
    int status;
    enum kubernetes_outcome outcome;
    write_file("gone",
               "HTTP/1.1 410 Gone\r\nContent-Length: 76\r\n\r\n"
               "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old "
               "version!\"}");
    struct kubernetes_connection *connection = connect_by_token("abc");
    struct kubernetes_stream *stream = kubernetes_stream_open(connection, "/file/gone", &error);
    assert_string_equal(drain(connection, stream, &status, &outcome, &why), "");
    assert_int_equal(status, 410);
    assert_int_equal(outcome, KUBERNETES_GONE);
    expect_words(why.text, "too old version!");
    kubernetes_api_disconnect(connection);
    /* A 401 makes the credential be read again for the next. */
    write_file("accepted", "new\n");
    connection = connect_by_token("old");
    stream = kubernetes_stream_open(connection, "/file/events", &error);
    drain(connection, stream, &status, &outcome, &why);
    assert_int_equal(status, 401);
    assert_int_equal(outcome, KUBERNETES_UNAVAILABLE);
    write_config(ca_line, "    token: new\n");
    stream = kubernetes_stream_open(connection, "/close/events", &error);
    drain(connection, stream, &status, &outcome, &why);
    assert_int_equal(status, 200);
    kubernetes_api_disconnect(connection);
}

/* ---- secrets ---- */

static void nobody_can_look_into_the_process(void **state)
{
    (void)state;
    struct rlimit limit;
    struct kubernetes_connection *connection = connect_by_token(secret);
    must_be_done(connection, "/echo");
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    assert_int_equal(getrlimit(RLIMIT_CORE, &limit), 0);
    assert_int_equal(limit.rlim_cur, 0);
    assert_int_equal(limit.rlim_max, 0);
    kubernetes_api_disconnect(connection);
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, free_arena)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(a_call_carries_what_it_should),
        WITH_ARENA(a_raw_answer_is_cut_off_where_it_is_to_be),
        WITH_ARENA(thirty_two_are_in_flight_on_connections_that_are_kept),
        WITH_ARENA(a_connection_is_made_by_the_session_of_one_before),
        WITH_ARENA(a_connection_that_was_closed_is_made_again),
        WITH_ARENA(a_server_that_hangs_costs_one_timeout),
        WITH_ARENA(nobody_at_the_port_is_unavailable),
        WITH_ARENA(what_is_put_off_is_so_alone),
        WITH_ARENA(after_too_many_requests_nothing_is_sent),
        WITH_ARENA(after_that_while_requests_are_sent_again),
        WITH_ARENA(a_token_in_a_file_is_read_when_it_changes),
        WITH_ARENA(a_credential_that_is_refused_is_read_again_once),
        WITH_ARENA(a_plugin_is_asked_and_asked_again_when_it_expires),
        WITH_ARENA(a_plugin_that_fails_is_told_of),
        WITH_ARENA(a_plugin_that_hangs_is_ended_with_all_it_started),
        WITH_ARENA(a_client_certificate_will_do),
        WITH_ARENA(the_pods_service_account_will_do),
        WITH_ARENA(a_server_of_another_authority_is_not_spoken_to),
        WITH_ARENA(the_servers_name_is_verified),
        WITH_ARENA(proxies_are_used_as_told),
        WITH_ARENA(the_lines_of_a_stream_come_however_they_are_split),
        WITH_ARENA(streams_do_not_wait_for_one_another),
        WITH_ARENA(a_refused_stream_tells_why),
        WITH_ARENA(nobody_can_look_into_the_process),
    };
    return cmocka_run_group_tests(tests, server_start, server_stop);
}
