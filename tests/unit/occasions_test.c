/* tests/unit/occasions_test.c - of what owners are told, by what stands in the logs of their jobs */
#include "stages/notify/occasions.h"
#include "base/clock.h"
#include "tests/unit/unit_arena.h"

enum { ALL = (1 << MESSAGE_EVENTS) - 1 };

/* 2026-11-21T03:MM:00Z */
static int64_t minute(int minutes)
{
    int64_t start;
    assert_int_equal(clock_parse(TEXT("2026-11-21T03:00:00Z"), &start), 0);
    return start + minutes * 60000;
}

/* Lines of a log, each a minute later than the one before, from 03:00 on. */
static struct text log_of(const char *const *events)
{
    struct buffer out = {0};
    for (int i = 0; events[i]; i++)
        buffer_printf(&out, "2026-11-21T03:%02d:00.000Z %s\n", i, events[i]);
    return arena_take(arena, &out);
}

/* The occasions as "begin/1.0 end/1.0". */
static const char *found(const struct occasions_input *input)
{
    static char text[1024];
    struct occasions occasions;
    size_t length = 0;
    occasions_find(arena, input, &occasions);
    text[0] = '\0';
    for (size_t i = 0; i < occasions.count; i++) {
        const struct message_key *key = &occasions.items[i].key;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s/%d.%d", i ? " " : "",
                                   message_event_name(key->event), key->attempt, key->turn);
    }
    return text;
}

#define START "accepted", "rendered"
#define RUNS(attempt)                                                                              \
    "intent attempt=" attempt, "submitted attempt=" attempt, "started attempt=" attempt
#define SUCCEEDS(attempt) "ended attempt=" attempt " outcome=succeeded", "finished attempt=" attempt
#define FAILS(attempt, retry)                                                                      \
    "ended attempt=" attempt " outcome=failed", "failed reason=Exited retry=" retry " why=broken"

static void the_log_says_what_is_told(void **state)
{
    static const struct {
        const char *log[32];
        enum state state;
        unsigned int events;
        const char *told;
    } cases[] = {
        {{START}, STATE_RENDERED, ALL, ""},
        {{START, RUNS("1")}, STATE_SUBMITTED, ALL, "begin/1.0"},
        {{START, RUNS("1"), SUCCEEDS("1")}, STATE_DONE, ALL, "begin/1.0 end/1.0"},
        /* It is not in done/ yet. */
        {{START, RUNS("1"), SUCCEEDS("1")}, STATE_SUBMITTED, ALL, "begin/1.0"},
        {{START, RUNS("1"), FAILS("1", "never")}, STATE_SUBMITTED, ALL, "begin/1.0"},
        {{START, RUNS("1"), FAILS("1", "never")}, STATE_FAILED, ALL, "begin/1.0 fail/1.0"},
        {{START, RUNS("1"), FAILS("1", "never")}, STATE_FAILED, 1 << MESSAGE_END, "end/1.0"},
        {{START, RUNS("1"), FAILS("1", "never")}, STATE_FAILED, 1 << MESSAGE_BEGIN, "begin/1.0"},
        {{START, "failed reason=NoTemplate retry=change why=x"}, STATE_FAILED, ALL, "fail/1.0"},
        /* It comes back by itself. */
        {{START, RUNS("1"), FAILS("1", "at")}, STATE_FAILED, ALL, "begin/1.0 requeue/1.0"},
        {{START, RUNS("1"), FAILS("1", "at"), "requeued cause=time attempt=2", RUNS("2"),
          SUCCEEDS("2")},
         STATE_DONE,
         ALL,
         "begin/1.0 requeue/1.0 begin/2.1 end/2.1"},
        /* Lines that a crash has written twice. */
        {{START, "intent attempt=1", RUNS("1"), FAILS("1", "at"), "requeued cause=time attempt=2",
          "requeued cause=time attempt=2", RUNS("2"), "ended attempt=2", SUCCEEDS("2")},
         STATE_DONE,
         ALL,
         "begin/1.0 requeue/1.0 begin/2.1 end/2.1"},
        /* A failure that a crash caught: it was submitted all the same. */
        {{START, "intent attempt=1", "failed reason=Refused retry=never why=x",
          "submitted attempt=1", "started attempt=1"},
         STATE_SUBMITTED,
         ALL,
         "begin/1.0"},
        /* Somebody has asked for another try, which fails as the first. */
        {{START, "failed reason=NoImage retry=never why=x", "retry by=ann",
          "requeued cause=asked attempt=1", "failed reason=NoImage retry=never why=x"},
         STATE_FAILED,
         ALL,
         "fail/1.0 requeue/1.1 fail/1.1"},
        /* Another size: neither tried again nor begun. */
        {{START, RUNS("1"), "stopping from=1 to=2", "failed reason=Resized retry=at",
          "requeued cause=time attempt=2", RUNS("2"), SUCCEEDS("2")},
         STATE_DONE,
         ALL,
         "begin/1.0 end/2.1"},
        {{START, "held cause=after"}, STATE_HELD, ALL, "held/1.0"},
        {{START, "held cause=hold", "held cause=hold", "release by=ann",
          "requeued cause=released attempt=1", "hold by=ann", "held cause=hold"},
         STATE_HELD,
         ALL,
         "held/1.0 held/1.1"},
        {{START, "held cause=approval"}, STATE_HELD, ALL, "approval/1.0"},
        /* On its way back somebody held it. */
        {{START, RUNS("1"), FAILS("1", "at"), "hold by=ann", "held cause=hold"},
         STATE_HELD,
         ALL,
         "begin/1.0 requeue/1.0 held/1.0"},
        /* It was stopped for that. */
        {{START, RUNS("1"), "hold by=ann", "stopping to=0", "failed reason=Preempted retry=at"},
         STATE_FAILED,
         ALL,
         "begin/1.0"},
        {{START, RUNS("1"), "hold by=ann", "stopping to=0", "failed reason=Preempted retry=at",
          "held cause=hold", "release by=ann", "requeued cause=released attempt=2", RUNS("2")},
         STATE_SUBMITTED,
         ALL,
         "begin/1.0 held/1.0 begin/2.1"},
        {{START, "held cause=after", "failed reason=Dependency retry=never why=x"},
         STATE_FAILED,
         ALL,
         "held/1.0 fail/1.0"},
    };
    (void)state;
    const struct job_record record = {.attempt = 1};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct occasions_input input = {.events = cases[i].events,
                                              .log = log_of(cases[i].log),
                                              .record = &record,
                                              .state = cases[i].state,
                                              .now = minute(50)};
        if (strcmp(found(&input), cases[i].told) != 0)
            fail_msg("case %zu: found \"%s\", expected \"%s\"", i, found(&input), cases[i].told);
    }
}

static void a_failure_is_told_with_its_reason(void **state)
{
    static const char *const log[] = {
        START, RUNS("1"), "ended attempt=1 main-0=0 main-1=3",
        "failed reason=Exited exit_code=3 retry=never why=\"task main-1 ended\"", NULL};
    struct occasions occasions;
    (void)state;
    const struct job_record record = {.attempt = 1};
    const struct occasions_input input = {
        .events = 1 << MESSAGE_FAIL, .log = log_of(log), .record = &record, .state = STATE_FAILED};
    occasions_find(arena, &input, &occasions);
    assert_int_equal(occasions.count, 1);
    assert_true(text_is(occasions.items[0].reason, "Exited"));
    assert_true(text_is(occasions.items[0].why, "task main-1 ended"));
    assert_true(text_is(occasions.items[0].ended, "attempt=1 main-0=0 main-1=3"));
    assert_int_equal(occasions.items[0].exit_code, 3);
    assert_int_equal(occasions.items[0].time, minute(6));
    assert_true(occasions.items[0].current);
    assert_false(occasions.finished);
}

static void times_come_without_a_line(void **state)
{
    static const char *const runs[] = {START, RUNS("1"), NULL};
    static const char *const late[] = {START, RUNS("1"), SUCCEEDS("1"), NULL};
    /* A failure that a crash caught: it runs all the same. */
    static const char *const caught[] = {START,
                                         "intent attempt=1",
                                         "failed reason=Refused retry=never why=x",
                                         "submitted attempt=1",
                                         "started attempt=1",
                                         NULL};
    static const struct {
        const char *const *log;
        enum state state;
        int now, deadline, risk; /* minutes */
        const char *told;
        int next;
    } cases[] = {
        /* It started at 03:04, and may run for 10 minutes. */
        {runs, STATE_SUBMITTED, 12, 0, 0, "begin/1.0", 13},
        {runs, STATE_SUBMITTED, 13, 0, 0, "begin/1.0 time_limit_90/1.0", 0},
        {late, STATE_DONE, 13, 0, 0, "begin/1.0 end/1.0", 0},
        {runs, STATE_SUBMITTED, 12, 20, 0, "begin/1.0", 13},
        {runs, STATE_SUBMITTED, 20, 20, 0, "begin/1.0 time_limit_90/1.0 deadline_missed/0.0", 0},
        {late, STATE_DONE, 30, 6, 0, "begin/1.0 end/1.0", 0},
        {late, STATE_DONE, 30, 3, 0, "begin/1.0 end/1.0 deadline_missed/0.0", 0},
        {caught, STATE_SUBMITTED, 20, 20, 0, "begin/1.0 time_limit_90/1.0 deadline_missed/0.0", 0},
        /* At risk for a minute, not for a moment. */
        {runs, STATE_SUBMITTED, 10, 20, 10, "begin/1.0", 11},
        {runs, STATE_SUBMITTED, 11, 20, 10, "begin/1.0 deadline_at_risk/0.0", 13},
        {runs, STATE_SUBMITTED, 21, 20, 10, "begin/1.0 time_limit_90/1.0 deadline_missed/0.0", 0},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct occasions occasions;
        const struct job_record record = {.attempt = 1,
                                          .time_limit = 10 * 60000,
                                          .deadline =
                                              cases[i].deadline ? minute(cases[i].deadline) : 0};
        const struct occasions_input input = {.events = ALL,
                                              .log = log_of(cases[i].log),
                                              .record = &record,
                                              .state = cases[i].state,
                                              .now = minute(cases[i].now),
                                              .at_risk_since =
                                                  cases[i].risk ? minute(cases[i].risk) : 0};
        if (strcmp(found(&input), cases[i].told) != 0)
            fail_msg("case %zu: found \"%s\", expected \"%s\"", i, found(&input), cases[i].told);
        occasions_find(arena, &input, &occasions);
        assert_int_equal(occasions.next, cases[i].next ? minute(cases[i].next) : 0);
        assert_int_equal(occasions.finished, cases[i].state == STATE_DONE);
    }
    /* One that has failed for good was told of that. */
    static const char *const failed[] = {START, RUNS("1"), FAILS("1", "never"), NULL};
    const struct job_record record = {.attempt = 1, .deadline = minute(20)};
    const struct occasions_input input = {.events = ALL,
                                          .log = log_of(failed),
                                          .record = &record,
                                          .state = STATE_FAILED,
                                          .now = minute(30)};
    assert_string_equal(found(&input), "begin/1.0 fail/1.0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_log_says_what_is_told),
        TEST(a_failure_is_told_with_its_reason),
        TEST(times_come_without_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
