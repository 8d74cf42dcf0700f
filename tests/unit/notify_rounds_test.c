/* tests/unit/notify_rounds_test.c - the stage that tells owners, round by round: once each, in order, also while nothing can be
 * sent */
#include "tests/unit/stage_fixture.h"

#include <poll.h>

#include "spool/plan_file.h"
#include "spool/subscription.h"
#include "stages/notify/inside.h"

#define ID "train-1m7y5dm13etbd"
#define OTHER "other-1m7y5dm13etbf"
#define T(minute) "2026-11-21T03:" minute ":00.000Z "
#define RUNS                                                                                       \
    T("00")                                                                                        \
    "accepted\n" T("00") "rendered\n" T("01") "intent attempt=1\n" T(                              \
        "01") "submitted attempt=1\n" T("02") "started attempt=1\n"
#define ENDED                                                                                      \
    RUNS T("05") "ended attempt=1 outcome=succeeded main-0=0\n" T("05") "finished attempt=1\n"

static int64_t start;
static struct job_record record;

static int begin(void **state)
{
    (void)state;
    assert_int_equal(clock_parse(TEXT("2026-11-21T03:06:00Z"), &start), 0);
    open_spool(&notify_stage, NULL, start);
    assert_int_equal(subscription_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
    char settings[4096];
    snprintf(
        settings, sizeof(settings),
        "executor: \"null\"\nnotify:\n  command: [/bin/sh, -c, 'mail=$(cat); printf \"%%s\\n\" "
        "\"$mail\" >>\"$0\"/got; case $mail in *other-*) exit 0;; esac; "
        "exit $(cat \"$0\"/status 2>/dev/null)', %s]\n  retry: 10s\n",
        path);
    write_settings(settings);
    record = (struct job_record){.id = TEXT(ID),
                                 .name = TEXT("train"),
                                 .owner = TEXT("ann"),
                                 .library = TEXT("any"),
                                 .source = TEXT("a.yaml"),
                                 .type = TEXT("single"),
                                 .executor = TEXT("null"),
                                 .attempt = 1};
    log_verbose(false);
    return 0;
}

static void put(enum state state, const char *id, const char *log, unsigned int events)
{
    const struct subscription subscription = {.events = events, .mail = TEXT("ann@example.org")};
    record.id = text_of(id);
    assert_int_equal(subscription_begin(&spool, id, &subscription, (gid_t)-1, &error), 0);
    put_job(state == STATE_DONE ? STATE_SUBMITTED : state, &record, log, NULL);
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    if (state == STATE_DONE)
        assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
}

static void set_status(const char *status)
{
    int file = openat(spool.root, "status", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(write(file, status, strlen(status)) > 0);
    close(file);
}

/* How many mails have begun, of all and of that event. */
static int mails(const char *event)
{
    struct buffer got = {0};
    char line[64];
    int count = 0;
    snprintf(line, sizeof(line), "\nX-Dlspool-Event: %s", event ? event : "");
    if (!file_read_at(spool.root, "got", 1 << 20, &got, &error))
        for (const char *at = got.data; at && (at = strstr(at, line)); at++)
            count++;
    buffer_free(&got);
    return count;
}

static bool is_there(const char *id)
{
    struct stat status;
    char name[64];
    snprintf(name, sizeof(name), "messages/%s", id);
    return fstatat(spool.root, name, &status, 0) == 0;
}

/* Rounds, until nothing is handed over any more and all has been sent or has failed; time stands still. */
static void settle(void)
{
    for (int quiet = 0; quiet < 2; quiet++) {
        run_round_after(0);
        while (stages_notify_is_sending(stage)) {
            struct pollfd ready = {.fd = stage_kind->descriptor(stage), .events = POLLIN};
            assert_int_equal(poll(&ready, 1, 60000), 1);
            run_round_after(0);
            quiet = 0;
        }
    }
}

static void an_end_is_told_once_and_in_order(void **state)
{
    struct buffer got = {0};
    (void)state;
    put(STATE_DONE, ID, ENDED, 1u << MESSAGE_BEGIN | 1u << MESSAGE_END);
    put(STATE_SUBMITTED, OTHER, RUNS, 1u << MESSAGE_END);
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 2);
    assert_int_equal(file_read_at(spool.root, "got", 1 << 20, &got, &error), 0);
    assert_true(strstr(got.data, "Event: begin") < strstr(got.data, "Event: end"));
    assert_non_null(strstr(got.data, "To: ann@example.org\n"));
    buffer_free(&got);
    /* The job is done, and needs its file no more; the other does. */
    advance(2000);
    settle();
    assert_false(is_there(ID));
    assert_true(is_there(OTHER));
    close_stage();
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 2);
    /* It ends, and moves, while it is watched. */
    append_event(OTHER, STATE_SUBMITTED, T("07") "finished attempt=1\n");
    struct job_place place = {.state = STATE_SUBMITTED, .id = OTHER};
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    advance(2000);
    settle();
    assert_int_equal(mails("end"), 2);
}

static void a_restart_tells_only_what_was_not(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, ID, RUNS, 1u << MESSAGE_BEGIN | 1u << MESSAGE_END);
    open_stage();
    settle();
    assert_int_equal(mails("begin"), 1);
    close_stage();
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 1);
}

/* What is under way when the stage stops is still noted. */
static void stopping_waits_for_what_is_sent(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, ID, RUNS, 1u << MESSAGE_BEGIN);
    open_stage();
    run_round_after(0);
    close_stage();
    assert_int_equal(mails(NULL), 1);
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 1);
}

/* As after dlspool run --drain: it is the last of the stages. */
static void a_stop_tells_what_is_left(void **state)
{
    (void)state;
    open_stage();
    settle();
    put(STATE_DONE, ID, ENDED, 1u << MESSAGE_BEGIN | 1u << MESSAGE_END);
    stage->stopping = true;
    close_stage();
    assert_int_equal(mails(NULL), 2);
}

static void one_that_fails_is_tried_again(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, ID, RUNS, 1u << MESSAGE_BEGIN);
    set_status("75");
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 1);
    advance(9000);
    settle();
    assert_int_equal(mails(NULL), 1);
    advance(2000);
    settle();
    assert_int_equal(mails(NULL), 2);
    /* The pause has doubled. */
    advance(11000);
    settle();
    assert_int_equal(mails(NULL), 2);
    set_status("0");
    advance(10000);
    settle();
    assert_int_equal(mails(NULL), 3);
    advance(3600000);
    settle();
    assert_int_equal(mails(NULL), 3);
}

/* How many mails there were about that job. */
static int mails_about(const char *id)
{
    struct buffer got = {0};
    char line[64];
    int count = 0;
    snprintf(line, sizeof(line), "\nX-Dlspool-Job: %s\n", id);
    if (!file_read_at(spool.root, "got", 1 << 20, &got, &error))
        for (const char *at = got.data; at && (at = strstr(at, line)); at++)
            count++;
    buffer_free(&got);
    return count;
}

static void one_that_fails_holds_up_no_other(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, ID, RUNS, 1u << MESSAGE_BEGIN);
    set_status("65");
    open_stage();
    settle();
    put(STATE_SUBMITTED, OTHER, RUNS, 1u << MESSAGE_BEGIN);
    advance(10100);
    settle();
    assert_int_equal(mails_about(ID), 2);
    assert_int_equal(mails_about(OTHER), 1);
    /* All goes well again, but for this one, whose pause has doubled. */
    advance(11000);
    settle();
    assert_int_equal(mails_about(ID), 2);
    advance(10000);
    settle();
    assert_int_equal(mails_about(ID), 3);
    assert_int_equal(mails_about(OTHER), 1);
}

static void one_that_is_too_old_is_dropped(void **state)
{
    (void)state;
    put(STATE_DONE, ID, ENDED, 1u << MESSAGE_END);
    set_status("75");
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 1);
    advance(3 * CLOCK_DAY);
    settle();
    assert_int_equal(mails(NULL), 1);
    advance(2000);
    settle();
    assert_false(is_there(ID));
}

static void a_file_without_a_job_goes(void **state)
{
    (void)state;
    const struct subscription subscription = {.events = 1u << MESSAGE_END, .mail = TEXT("ann")};
    assert_int_equal(subscription_begin(&spool, ID, &subscription, (gid_t)-1, &error), 0);
    const struct timespec times[2] = {{.tv_sec = now / 1000}, {.tv_sec = now / 1000}};
    assert_int_equal(utimensat(spool.root, "messages/" ID, times, 0), 0);
    open_stage();
    settle();
    /* Its job may be about to be published. */
    assert_true(is_there(ID));
    advance(601000);
    settle();
    assert_false(is_there(ID));
    assert_int_equal(mails(NULL), 0);
}

static void time_alone_is_a_reason(void **state)
{
    (void)state;
    record.time_limit = 10 * 60000;
    record.deadline = start + 30 * 60000;
    put(STATE_SUBMITTED, ID, RUNS, (1u << MESSAGE_EVENTS) - 1 - (1u << MESSAGE_BEGIN));
    open_stage();
    settle();
    assert_int_equal(mails(NULL), 0);
    /* It started at 03:02; it is 03:11. */
    advance(5 * 60000);
    settle();
    assert_int_equal(mails("time_limit_90"), 1);
    struct planned_job planned = {
        .id = ID, .pool = TEXT("cpus"), .deadline_status = TEXT("at risk")};
    struct plan_file plan = {.time = now, .jobs = &planned, .job_count = 1};
    assert_int_equal(plan_file_write(&spool, &plan, &error), 0);
    advance(2000);
    settle();
    assert_int_equal(mails(NULL), 1);
    /* The courier reads the plan meanwhile, or has done so. */
    for (int minute = 0; minute < 15 && !mails("deadline_at_risk"); minute++) {
        struct pollfd ready = {.fd = stage_kind->descriptor(stage), .events = POLLIN};
        poll(&ready, 1, 1000);
        advance(60000);
        settle();
    }
    assert_int_equal(mails("deadline_at_risk"), 1);
    advance(30 * 60000);
    settle();
    assert_int_equal(mails("deadline_missed"), 1);
    assert_int_equal(mails(NULL), 3);
}

/* What cannot be sent to one owner, as their address is none, keeps nobody else's messages. */
static void owners_take_turns(void **state)
{
    (void)state;
    char id[ID_SIZE];
    struct buffer got = {0};
    for (int i = 0; i < 12; i++) {
        snprintf(id, sizeof(id), "train%d-1m7y5dm13etbd", i);
        put(STATE_DONE, id, ENDED, 1u << MESSAGE_END);
    }
    set_status("75");
    open_stage();
    settle(); /* as many as there are slots have failed, and all wait */
    record.uid = 7;
    put(STATE_DONE, OTHER, ENDED, 1u << MESSAGE_END);
    advance(61000);
    settle();
    assert_int_equal(file_read_at(spool.root, "got", 1 << 20, &got, &error), 0);
    assert_non_null(strstr(got.data, "X-Dlspool-Job: " OTHER));
    buffer_free(&got);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_end_is_told_once_and_in_order), TEST(a_restart_tells_only_what_was_not),
        TEST(stopping_waits_for_what_is_sent),  TEST(a_stop_tells_what_is_left),
        TEST(one_that_fails_is_tried_again),    TEST(one_that_fails_holds_up_no_other),
        TEST(one_that_is_too_old_is_dropped),   TEST(a_file_without_a_job_goes),
        TEST(time_alone_is_a_reason),           TEST(owners_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
