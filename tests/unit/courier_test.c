/* tests/unit/courier_test.c - sending messages: what the site's command gets, prints and returns, and one that hangs */
#include "stages/notify/courier.h"
#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/unit_arena.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static char *path;
static struct courier courier;
static struct message_settings settings;

static void start(const char *script)
{
    static const char *words[] = {"/bin/sh", "-c", NULL, "x", "$(touch bad)", NULL};
    words[2] = script;
    settings = (struct message_settings){.command = words, .timeout = 10000};
    assert_int_equal(courier_start(&courier, path, &settings, TEXT(""), &error), 0);
}

static int begin(void **state)
{
    path = unit_directory();
    return set_up(state);
}

static int end(void **state)
{
    courier_stop(&courier);
    unit_remove(path);
    return tear_down(state);
}

static void hand_in(int slot, const char *body)
{
    static const char environment[] = "DLSPOOL_EVENT=end\0DLSPOOL_SUBJECT=a `b` $(c)";
    const struct message message = {
        .environment = {environment, sizeof(environment)},
        .body = text_of(body),
        .id = TEXT("x.end.1.0"),
    };
    if (courier_send(&courier, slot, &message, &error))
        fail_msg("%s", error.text);
}

static struct courier_result result_of(void)
{
    struct courier_result result = {.slot = -1};
    struct pollfd ready = {.fd = courier.socket, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 60000), 1);
    assert_int_equal(courier_receive(&courier, &result, &error), 1);
    return result;
}

static void the_command_gets_it_on_standard_input(void **state)
{
    struct buffer got = {0};
    (void)state;
    start(arena_printf(arena,
                       "exec >'%s/got'; cat; printf '%%s\\n' \"$DLSPOOL_SUBJECT\" \"$PWD\" \"$#\"; "
                       "ls /proc/self/fd | wc -l",
                       path)
              .data);
    hand_in(2, "Subject: x\n\nbody\n");
    struct courier_result result = result_of();
    assert_true(result.sent);
    assert_int_equal(result.slot, 2);
    const char *file = arena_printf(arena, "%s/got", path).data;
    assert_int_equal(file_read_at(AT_FDCWD, file, 4096, &got, &error), 0);
    /* Its descriptors are 0 to 2, and the one by which ls reads. */
    assert_string_equal(got.data, "Subject: x\n\nbody\na `b` $(c)\n/\n1\n4\n");
    buffer_free(&got);
}

static void a_failure_is_told(void **state)
{
    struct courier_result result;
    (void)state;
    start("read line; case $line in say) echo first; printf 'went \\033[1mwrong\\n' >&2; exit 75;; "
          "quiet) exit 69;; kill) kill -9 $$;; esac");
    hand_in(0, "say\n");
    result = result_of();
    assert_false(result.sent);
    assert_string_equal(result.said, "went ^[[1mwrong");
    hand_in(0, "quiet\n");
    result = result_of();
    assert_false(result.sent);
    assert_string_equal(result.said, "it ended with status 69");
    hand_in(0, "kill\n");
    result = result_of();
    assert_false(result.sent);
    assert_string_equal(result.said, "it was ended by signal 9");
}

static void one_that_hangs_holds_up_nothing(void **state)
{
    static const char *words[] = {"/bin/sh", "-c",
                                  "read line; [ $line = quick ] || { sleep 1000 & wait; }", NULL};
    (void)state;
    settings = (struct message_settings){.command = words, .timeout = 300};
    assert_int_equal(courier_start(&courier, path, &settings, TEXT(""), &error), 0);
    for (int slot = 0; slot < COURIER_SLOTS - 1; slot++)
        hand_in(slot, "slow\n");
    assert_int_equal(courier_free_slot(&courier), COURIER_SLOTS - 1);
    hand_in(COURIER_SLOTS - 1, "quick\n");
    assert_int_equal(courier_free_slot(&courier), -1);
    struct courier_result result;
    int sent = 0;
    for (int slot = 0; slot < COURIER_SLOTS; slot++) {
        result = result_of();
        sent += result.sent;
        if (!result.sent)
            assert_string_equal(result.said, "it took longer than 300 ms and was ended");
    }
    /* Where it is busy the quick one may not have come to its turn. */
    assert_true(sent <= 1);
    assert_int_equal(courier_free_slot(&courier), 0);
}

static void one_that_hangs_tells_what_it_printed(void **state)
{
    (void)state;
    static const char *words[] = {"/bin/sh", "-c",
                                  "echo the queue: Permission denied >&2; sleep 1000 & wait", NULL};
    settings = (struct message_settings){.command = words, .timeout = 2000};
    assert_int_equal(courier_start(&courier, path, &settings, TEXT(""), &error), 0);
    hand_in(0, "x");
    struct courier_result result = result_of();
    assert_false(result.sent);
    assert_string_equal(
        result.said,
        "it took longer than 2 s and was ended; it printed: the queue: Permission denied");
}

static void what_cannot_be_sent_is_said(void **state)
{
    static const char *words[] = {"/nonexistent/sendmail", NULL};
    struct buffer large = {0};
    (void)state;
    settings = (struct message_settings){.command = words, .timeout = 10000};
    assert_int_equal(courier_start(&courier, path, &settings, TEXT(""), &error), 0);
    hand_in(0, "x");
    struct courier_result result = result_of();
    assert_false(result.sent);
    assert_string_equal(result.said, "/nonexistent/sendmail: No such file or directory");
    for (int i = 0; i < 70000; i++)
        buffer_add_byte(&large, 'x');
    const struct message message = {.body = buffer_text(&large)};
    assert_int_equal(courier_send(&courier, 0, &message, &error), -1);
    assert_string_equal(error.text, "the message is larger than 65536 bytes");
    assert_int_equal(courier_free_slot(&courier), 0);
    buffer_free(&large);
}

static void the_plan_is_read(void **state)
{
    struct courier_result result;
    (void)state;
    start("exit 0");
    for (int turn = 0; turn < 3; turn++) {
        const char *plan = turn == 1 ? "plan jobs=1\n" : "";
        if (turn == 1) {
            int file = open(arena_printf(arena, "%s/plan", path).data, O_WRONLY | O_CREAT, 0644);
            assert_int_equal(write(file, plan, strlen(plan)), strlen(plan));
            close(file);
        }
        courier_ask_plan(&courier);
        courier_ask_plan(&courier);
        result = result_of();
        assert_int_equal(result.slot, COURIER_PLAN);
        /* None, a new one, the same. */
        assert_int_equal(result.sent, turn == 1);
        assert_true(text_is(courier_plan(&courier), turn ? "plan jobs=1\n" : ""));
    }
    assert_int_equal(courier_receive(&courier, &result, &error), 0);
}

static void its_end_is_noticed(void **state)
{
    struct courier_result result;
    (void)state;
    start("exit 0");
    assert_int_equal(courier_receive(&courier, &result, &error), 0);
    /* It believes nothing that is no whole packet, and ends. */
    assert_int_equal(send(courier.socket, "junk", 4, 0), 4);
    struct pollfd ready = {.fd = courier.socket, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 60000), 1);
    assert_int_equal(courier_receive(&courier, &result, &error), -1);
    assert_string_equal(error.text, "the process that sends messages has ended");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_command_gets_it_on_standard_input),
        TEST(a_failure_is_told),
        TEST(one_that_hangs_holds_up_nothing),
        TEST(one_that_hangs_tells_what_it_printed),
        TEST(what_cannot_be_sent_is_said),
        TEST(the_plan_is_read),
        TEST(its_end_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
