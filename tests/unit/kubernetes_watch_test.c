/* tests/unit/kubernetes_watch_test.c - listing and watching: nothing missed, whatever happens
 *
 * The server is a history of changes, of which each has a version.  What the consumer has, once all
 * is quiet, must be what the server has; after expired versions at any point, streams that end
 * after any number of events and in the middle of one, failing lists, and lists in pages.
 */
#include "base/clock.h"
#include "executors/kubernetes/watch.h"
#include "kubernetes_fake.h"

enum { OBJECTS = 12, HISTORY = 4000 };

/* The server. */
static struct change {
    int object;
    char type; /* A, M, D */
} history[HISTORY];
static int version, expired; /* the newest; the oldest from which one may watch is expired + 1 */
static bool exists[OBJECTS], snapshot[OBJECTS];
static int snapshot_version; /* all pages of a list are of one version */
static int list_fails;       /* in so many calls from now on, a list fails */
static enum kubernetes_outcome list_failure;
static int64_t retry_after;
static int lists, pages;
static bool expire_continue;

/* The consumer. */
static bool has[OBJECTS], listing[OBJECTS];
static double time_limit; /* of the newest object's pods */
static int begun, ended;

static int64_t now;

static int64_t get_now(void)
{
    return now;
}

static void list_begin(void *context)
{
    (void)context;
    memset(listing, 0, sizeof(listing));
    begun++;
}

static void take_object(void *context, const struct value *object, bool deleted, bool listed)
{
    (void)context;
    int name = atoi(value_get_text(value_get(object, "metadata"), "name").data);
    assert_true(name >= 0 && name < OBJECTS);
    has[name] = !deleted;
    const struct value *template = value_get(value_get(object, "spec"), "template");
    time_limit = value_get_number(value_get(template, "spec"), "activeDeadlineSeconds", 0);
    if (listed)
        listing[name] = true;
}

static void list_end(void *context)
{
    (void)context;
    memcpy(has, listing, sizeof(has));
    ended++;
}

static void change(int object)
{
    assert_true(version + 1 < HISTORY);
    char type = !exists[object] ? 'A' : random() % 2 ? 'D' : 'M';
    exists[object] = type != 'D';
    history[++version] = (struct change){object, type};
}

static void answer(struct kubernetes_call *call, struct arena *arena)
{
    struct buffer text = {0};
    const char *next = strstr(call->path.data, "continue=");
    int limit = atoi(strstr(call->path.data, "limit=") + 6);
    int from = next ? atoi(next + 9) : 0, count = 0, at;
    if (!next)
        lists++;
    pages++;
    if (list_fails > 0 && --list_fails == 0) {
        call->outcome = list_failure;
        call->status = list_failure == KUBERNETES_GONE ? 410 : 503;
        call->retry_after = retry_after;
        error_set(&call->error, "the server is sorry");
        return;
    }
    if (next && expire_continue) {
        expire_continue = false;
        call->outcome = KUBERNETES_GONE;
        call->status = 410;
        error_set(&call->error, "The provided continue parameter is too old");
        return;
    }
    if (!next) {
        memcpy(snapshot, exists, sizeof(snapshot));
        snapshot_version = version;
    }
    buffer_add_string(&text, "{'items':[");
    for (at = from; at < OBJECTS && count < limit; at++) {
        if (snapshot[at])
            buffer_printf(&text, "%s{'metadata':{'name':'%d','resourceVersion':'%d'}}",
                          count++ ? "," : "", at, snapshot_version);
    }
    buffer_printf(&text, "],'metadata':{'resourceVersion':'%d'", snapshot_version);
    if (at < OBJECTS)
        buffer_printf(&text, ",'continue':'%d'", at);
    buffer_add_string(&text, "}}");
    call->answer = fake_json(arena, "%s", text.data);
    call->outcome = KUBERNETES_DONE;
    call->status = 200;
    buffer_free(&text);
}

/* ---- streams, as the server serves them ---- */

static int sent[FAKE_STREAMS]; /* the version up to which a stream has got all; -1: not looked at */

static void send_text(struct kubernetes_stream *stream, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    for (int i = 0; i < length; i++)
        text[i] = text[i] == '\'' ? '"' : text[i];
    buffer_add(&stream->lines, text, (size_t)length);
}

static void end_stream(struct kubernetes_stream *stream, const char *why,
                       enum kubernetes_outcome outcome)
{
    stream->ended = true;
    stream->outcome = outcome;
    snprintf(stream->why, sizeof(stream->why), "%s", why);
}

static void serve(size_t i, int most)
{
    struct kubernetes_stream *stream = &fake_streams[i];
    if (!stream->open || stream->ended)
        return;
    if (sent[i] < 0)
        sent[i] = atoi(strstr(stream->path, "resourceVersion=") + 16);
    if (sent[i] < expired) {
        send_text(stream,
                  "{'type':'ERROR','object':{'kind':'Status','code':410,'reason':'Expired',"
                  "'message':'too old resource version: %d (%d)'}}\n",
                  sent[i], expired);
        end_stream(stream, "", KUBERNETES_DONE);
        return;
    }
    static const char *const names[] = {['A'] = "ADDED", ['M'] = "MODIFIED", ['D'] = "DELETED"};
    while (sent[i] < version && most-- > 0) {
        const struct change *made = &history[++sent[i]];
        send_text(stream,
                  "{'type':'%s','object':{'metadata':{'name':'%d','resourceVersion':'%d'}}}\n",
                  names[(int)made->type], made->object, sent[i]);
    }
}

static struct kubernetes_watch *watch;

static int set_up(void **state)
{
    (void)state;
    static const struct kubernetes_consumer consumer = {
        .list_begin = list_begin, .object = take_object, .list_end = list_end};
    version = 10;
    expired = 0;
    list_fails = lists = pages = begun = ended = 0;
    retry_after = 0;
    expire_continue = false;
    memset(exists, 0, sizeof(exists));
    memset(has, 0, sizeof(has));
    for (int i = 0; i < FAKE_STREAMS; i++)
        sent[i] = -1;
    now = 1000;
    clock_replace(NULL, get_now);
    fake_answer = answer;
    fake_refuse_streams = NULL;
    fake_stream_status = 200;
    watch = kubernetes_watch_new("/apis/batch/v1/namespaces/space/jobs",
                                 "labelSelector=dlspool%2Fspool%3Ds", 3, &consumer);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kubernetes_watch_free(watch);
    fake_forget_streams();
    clock_replace(NULL, NULL);
    return 0;
}

static void drive(void)
{
    kubernetes_watch_drive_all(NULL, &watch, 1, 0);
}

static struct kubernetes_stream *newest(void)
{
    return &fake_streams[fake_stream_count ? fake_stream_count - 1 : 0];
}

/* ---- tests ---- */

static void lists_in_pages_then_watches(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        change(i);
    assert_false(kubernetes_watch_listed(watch));
    drive();
    assert_true(kubernetes_watch_listed(watch));
    assert_int_equal(lists, 1);
    assert_true(pages >= 3);
    assert_memory_equal(has, exists, sizeof(has));
    assert_int_equal(fake_stream_count, 1);
    assert_non_null(strstr(newest()->path, "resourceVersion=18&"));
    assert_non_null(strstr(newest()->path, "allowWatchBookmarks=true"));
    assert_non_null(strstr(newest()->path, "labelSelector=dlspool%2Fspool%3Ds"));
    int seconds = atoi(strstr(newest()->path, "timeoutSeconds=") + 15);
    assert_true(seconds > 240 && seconds <= 290);
    change(9);
    serve(0, 100);
    drive();
    assert_memory_equal(has, exists, sizeof(has));
    assert_int_equal(kubernetes_watch_blind(watch), 0);
}

/* Most of an event is stepped over, but not this. */
static void a_change_tells_the_time_limit(void **state)
{
    (void)state;
    drive();
    send_text(newest(), "{'type':'ADDED','object':{'metadata':{'name':'3'},'spec':{'template':{"
                        "'spec':{'containers':[{'name':'main'}],'activeDeadlineSeconds':90}}}}}\n");
    drive();
    assert_int_equal(time_limit, 90);
}

static void it_goes_on_where_it_was(void **state)
{
    (void)state;
    drive();
    change(1);
    serve(0, 100);
    send_text(newest(), "{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':'777'}}}\n");
    send_text(newest(), "{'type':'ADDED','object':{'metadata':{'na"); /* cut off in mid-line */
    end_stream(newest(), "", KUBERNETES_DONE);
    drive();
    drive();
    assert_int_equal(fake_stream_count, 2);
    assert_non_null(strstr(newest()->path, "resourceVersion=777&"));
    assert_int_equal(lists, 1);
}

static void an_expired_version_lists_again(void **state)
{
    (void)state;
    static const char *const ways[] = {"event", "status", "outcome"};
    drive();
    for (size_t i = 0; i < 3; i++) {
        for (int j = 0; j < 5; j++)
            change((int)(random() % OBJECTS));
        if (i == 0)
            send_text(newest(), "{'type':'ERROR','object':{'code':410}}\n");
        newest()->status = i == 1 ? 410 : 200;
        end_stream(newest(), i ? ways[i] : "", i == 2 ? KUBERNETES_GONE : KUBERNETES_DONE);
        for (int j = 0; j < 5; j++) {
            drive();
            now += 2000;
        }
        assert_int_equal(lists, (int)i + 2);
        assert_memory_equal(has, exists, sizeof(has));
    }
}

static void an_expired_page_begins_again(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        change(i);
    expire_continue = true;
    drive();
    assert_false(kubernetes_watch_listed(watch));
    now += 2000;
    drive();
    assert_true(kubernetes_watch_listed(watch));
    assert_int_equal(begun, 2);
    assert_int_equal(ended, 1);
    assert_memory_equal(has, exists, sizeof(has));
}

static void failures_are_waited_out(void **state)
{
    (void)state;
    list_failure = KUBERNETES_UNAVAILABLE;
    retry_after = 7000;
    list_fails = 1;
    drive();
    assert_int_equal(lists, 1);
    assert_string_equal(kubernetes_watch_trouble(watch), "the server is sorry");
    assert_true(kubernetes_watch_blind(watch) > 0);
    now += 6900;
    drive();
    assert_int_equal(lists, 1);
    now += 200;
    drive();
    assert_int_equal(lists, 2);
    assert_true(kubernetes_watch_listed(watch));
    assert_string_equal(kubernetes_watch_trouble(watch), "");
    /* Streams that fail at once: less and less often, but twice a minute at least. */
    size_t before = fake_stream_count;
    newest()->status = fake_stream_status = 0;
    for (int second = 0; second < 300; second++) {
        if (newest()->open && !newest()->ended)
            end_stream(newest(), "connection refused", KUBERNETES_UNAVAILABLE);
        drive();
        now += 1000;
    }
    assert_true(fake_stream_count - before >= 8 && fake_stream_count - before <= 20);
    assert_true(kubernetes_watch_blind(watch) > 250000);
    assert_string_equal(kubernetes_watch_trouble(watch), "connection refused");
    now += 40000;
    fake_stream_status = 200;
    drive();
    assert_int_equal(kubernetes_watch_blind(watch), 0);
    assert_int_equal(lists, 2);
}

/* The connection is dead and nobody says so; or the version is from a future that is no more. */
static void silence_is_noticed(void **state)
{
    (void)state;
    drive();
    change(1);
    serve(0, 10);
    drive();
    now += 121000;
    drive();
    drive();
    assert_int_equal(fake_stream_count, 2);
    assert_int_equal(lists, 1); /* it had spoken before: only taken up again */
    now += 121000;
    drive();
    drive();
    now += 2000;
    drive();
    assert_int_equal(lists, 2); /* this one never said a word */
}

static void a_dead_watch_does_not_hold_up_others(void **state)
{
    (void)state;
    static const struct kubernetes_consumer consumer = {
        .list_begin = list_begin, .object = take_object, .list_end = list_end};
    struct kubernetes_watch *other = kubernetes_watch_new("/api/v1/pods", "", 3, &consumer);
    struct kubernetes_watch *const both[] = {other, watch};
    list_fails = 1;
    list_failure = KUBERNETES_UNKNOWN;
    kubernetes_watch_drive_all(NULL, both, 2, 0);
    assert_false(kubernetes_watch_listed(other));
    assert_true(kubernetes_watch_listed(watch));
    change(3);
    serve(0, 10);
    kubernetes_watch_drive_all(NULL, both, 2, 0);
    assert_true(has[3]);
    kubernetes_watch_free(other);
}

static void nothing_is_missed_whatever_happens(void **state)
{
    (void)state;
    for (unsigned int seed = 1; seed <= 400; seed++) {
        tear_down(state);
        set_up(state);
        srandom(seed);
        for (int step = 0; step < 100 && fake_stream_count + 4 < FAKE_STREAMS; step++) {
            struct kubernetes_stream *stream = newest();
            bool open = stream->open && !stream->ended;
            switch (random() % 12) {
            case 0:
                expired = version - (int)(random() % 5);
                break;
            case 1:
                if (open)
                    end_stream(stream, "", KUBERNETES_DONE);
                break;
            case 2:
                if (open) {
                    send_text(stream, "%.*s", (int)(random() % 30),
                              "{'type':'ADDED','object':{'metadata':{'name':'5'}}}");
                    end_stream(stream, "cut off", KUBERNETES_UNKNOWN);
                }
                break;
            case 3:
                list_fails = 1 + (int)(random() % 3);
                list_failure = random() % 2 ? KUBERNETES_GONE : KUBERNETES_UNAVAILABLE;
                break;
            case 4:
                expire_continue = true;
                break;
            case 5:
                now += random() % 40000;
                break;
            default:
                for (int i = (int)(random() % 6); i > 0; i--)
                    change((int)(random() % OBJECTS));
            }
            for (size_t i = 0; i < fake_stream_count; i++)
                serve(i, (int)(random() % 8));
            drive();
            now += 500;
        }
        list_fails = 0;
        expire_continue = false;
        for (int i = 0; i < 8; i++) {
            for (size_t j = 0; j < fake_stream_count; j++)
                serve(j, HISTORY);
            drive();
            now += 40000;
            if (newest()->open && !newest()->ended && sent[fake_stream_count - 1] == version)
                send_text(newest(),
                          "{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':"
                          "'%d'}}}\n",
                          version);
        }
        assert_true(kubernetes_watch_listed(watch));
        assert_memory_equal(has, exists, sizeof(has));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lists_in_pages_then_watches),
        TEST(a_change_tells_the_time_limit),
        TEST(it_goes_on_where_it_was),
        TEST(an_expired_version_lists_again),
        TEST(an_expired_page_begins_again),
        TEST(failures_are_waited_out),
        TEST(silence_is_noticed),
        TEST(a_dead_watch_does_not_hold_up_others),
        TEST(nothing_is_missed_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
