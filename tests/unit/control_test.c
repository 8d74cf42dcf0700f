/* tests/unit/control_test.c - who may ask for what: every request by everybody */
#include "base/file.h"
#include "tests/unit/stage_fixture.h"

#include "spool/order_request.h"
#include "stages/shared/control.h"
#include "stages/shared/resize.h"

#define ID "one-0000000000001"

static const int64_t noon = 1767268800000; /* 2026-01-01 */

/* Users that every Debian has.  The spool is root's, or the test's own user's. */
enum { OWNER = 1, ADMINISTRATOR = 2, STRANGER = 3 };
static const char administrator[] = "administrators: [bin]\n";

static struct stage asked;

static int open_all(void **state)
{
    (void)state;
    open_spool(&resubmit_stage, NULL, noon);
    write_settings(administrator);
    memset(&asked, 0, sizeof(asked));
    assert_int_equal(spool_open(&asked.spool, path, &error), 0);
    assert_int_equal(settings_read(&asked.settings, &asked.spool, &error), 0);
    const struct job_record record = {
        .id = TEXT(ID),
        .owner = TEXT("daemon"),
        .uid = OWNER,
        .accepted = now,
        .attempt = 1,
        .failed = true,
        .request_file = TEXT("request.yaml"),
        .failure = {.reason = TEXT("Exited"),
                    .class = TEXT("unknown"),
                    .when = RETRY_AT,
                    .next = noon + 60000,
                    .failed = noon,
                    .exit_code = 1},
    };
    put_job(STATE_FAILED, &record, "2026-01-01T12:00:00.000Z accepted\n", NULL);
    return 0;
}

static int close_all(void **state)
{
    settings_free(&asked.settings);
    spool_close(&asked.spool);
    return close_spool(state);
}

static int ask(enum control_verb verb, uid_t uid)
{
    const struct control control = {.verb = verb, .id = TEXT(ID)};
    return control_apply(&asked, NULL, &control, uid, now, &error);
}

static bool is_asked(enum control_verb verb)
{
    struct control_request request;
    int job = open_job(ID, STATE_FAILED);
    int pending = control_file_pending(job, verb, &request);
    close(job);
    return pending > 0;
}

static void strangers_are_refused_each_request(void **state)
{
    (void)state;
    for (int verb = CONTROL_NONE + 1; verb < CONTROL_TOKEN; verb++) {
        char wanted[128];
        bool of_spool = verb == CONTROL_PAUSE || verb == CONTROL_RESUME;
        const char *name = request_control_name((enum control_verb)verb);
        if (of_spool)
            snprintf(wanted, sizeof(wanted), "only an administrator may %s the spool; sys is none",
                     name);
        else if (verb == CONTROL_SUSPEND)
            snprintf(wanted, sizeof(wanted),
                     ID " is in failed/; only a job that runs can be held with its memory");
        else if (control_decides((enum control_verb)verb))
            snprintf(wanted, sizeof(wanted),
                     ID " is in failed/; only a job in held/ waits for an approval");
        else
            snprintf(wanted, sizeof(wanted), ID " belongs to daemon; sys may not %s",
                     verb == CONTROL_TOP        ? "put it on top"
                     : verb == CONTROL_PRIORITY ? "change its priority"
                     : verb == CONTROL_KILL     ? "kill it"
                     : verb == CONTROL_RETRY    ? "retry it"
                     : verb == CONTROL_HOLD     ? "hold it"
                                                : "release it");
        assert_int_equal(ask((enum control_verb)verb, STRANGER), 1);
        assert_string_equal(error.text, wanted);
        assert_false(is_asked((enum control_verb)verb));
    }
}

static void owners_and_administrators_are_granted_each(void **state)
{
    (void)state;
    static const uid_t users[] = {OWNER, ADMINISTRATOR, 0};
    static const enum control_verb verbs[] = {CONTROL_HOLD, CONTROL_RELEASE, CONTROL_RETRY,
                                              CONTROL_KILL};
    for (size_t i = 0; i < ARRAY_COUNT(users); i++)
        for (size_t k = 0; k < ARRAY_COUNT(verbs); k++) {
            assert_int_equal(ask(verbs[k], users[i]), 0);
            assert_true(is_asked(verbs[k]));
            int job = open_job(ID, STATE_FAILED);
            assert_int_equal(
                control_file_clear(job, verbs[k] == CONTROL_HOLD ? CONTROL_NONE : verbs[k], &error),
                0);
            close(job);
        }
}

static int ask_priority(uid_t uid, const char *word, int number)
{
    const struct control control = {
        .verb = CONTROL_PRIORITY, .id = TEXT(ID), .value = text_of(word), .number = number};
    return control_apply(&asked, NULL, &control, uid, ++now, &error);
}

static struct job_record see_order(struct arena *arena)
{
    struct job_record record;
    int job = open_job(ID, STATE_FAILED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    assert_int_equal(order_request_take(job, arena, &record), 1);
    close(job);
    return record;
}

/* Owners lower a priority, below what was asked last, and administrators raise it; who asked is in the log. */
static void owners_only_lower_a_priority(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    assert_int_equal(ask_priority(OWNER, "1", 1), 1);
    assert_string_equal(error.text,
                        ID " has priority 0, and 1 is higher; its owner may only lower it, and an "
                           "administrator may raise it");
    assert_int_equal(ask_priority(OWNER, "-5", -5), 0);
    struct job_record record = see_order(arena);
    assert_int_equal(record.priority, -5);
    assert_true(text_is(record.priority_from, "owner"));
    assert_int_equal(ask_priority(OWNER, "-4", -4), 1);
    assert_int_equal(ask_priority(OWNER, "-5", -5), 0);
    assert_int_equal(ask_priority(ADMINISTRATOR, "urgent", 70), 0);
    record = see_order(arena);
    assert_int_equal(record.priority, 70);
    assert_true(text_is(record.priority_class, "urgent"));
    assert_true(text_is(record.priority_from, "administrator"));
    assert_int_equal(ask(CONTROL_TOP, OWNER), 0);
    assert_int_equal(find_events(ID, STATE_FAILED, "priority", NULL), 3);
    record = see_order(arena);
    assert_true(record.top > 0 && record.priority == 70); /* both are kept */
    int64_t ordered = record.ordered;
    now -= 3600000;
    assert_int_equal(ask_priority(OWNER, "3", 3), 0);
    record = see_order(arena);
    assert_true(record.priority == 3 && record.ordered > ordered); /* whatever the clock does */
    /* What the record has is not taken again. */
    int job = open_job(ID, STATE_FAILED);
    record.failed = true;
    assert_int_equal(order_request_take(job, arena, &record), 0);
    close(job);
    arena_free(arena);
}

/* Whichever administrator it is: root, or one of the settings. */
static void an_administrators_hold_is_not_the_owners(void **state)
{
    (void)state;
    static const uid_t holders[] = {ADMINISTRATOR, 0}, releasers[] = {0, ADMINISTRATOR};
    for (size_t i = 0; i < ARRAY_COUNT(holders); i++) {
        assert_int_equal(ask(CONTROL_HOLD, holders[i]), 0);
        assert_int_equal(ask(CONTROL_HOLD, OWNER), 0); /* it is held already */
        assert_int_equal(ask(CONTROL_RELEASE, OWNER), 1);
        assert_non_null(strstr(error.text, "only an administrator may release it"));
        assert_true(is_asked(CONTROL_HOLD));
        assert_int_equal(ask(CONTROL_RELEASE, releasers[i]), 0);
        assert_false(is_asked(CONTROL_HOLD));
    }
    assert_int_equal(ask(CONTROL_HOLD, OWNER), 0);
    assert_int_equal(ask(CONTROL_RELEASE, OWNER), 0);
    assert_false(is_asked(CONTROL_HOLD));
}

/* A release ends a hold; of a job that nobody holds, it ends the wait for its own time. */
static void a_time_is_waited_for_until_a_release(void **state)
{
    (void)state;
    struct job_record record;
    struct arena *arena = arena_new();
    int job = open_job(ID, STATE_FAILED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.begin = now + 60000;
    assert_int_equal(record_replace(job, &record, &error), 0);
    assert_int_equal(control_file_until(job, record.begin), record.begin);
    assert_int_equal(ask(CONTROL_HOLD, OWNER), 0);
    assert_int_equal(ask(CONTROL_RELEASE, OWNER), 0);
    assert_int_equal(control_file_until(job, record.begin), record.begin);
    assert_int_equal(ask(CONTROL_RELEASE, OWNER), 0);
    assert_int_equal(control_file_until(job, record.begin), 0);
    assert_int_equal(ask(CONTROL_HOLD, OWNER), 0); /* and a hold puts it back to where it was */
    assert_int_equal(control_file_until(job, record.begin), record.begin);
    assert_int_equal(control_file_until(job, now), 0);
    close(job);
    arena_free(arena);
}

/* Who may write to the job's directory may have put there what later stands in `why`. */
static void who_asked_is_one_line(void **state)
{
    (void)state;
    struct control_request request;
    int job = open_job(ID, STATE_FAILED);
    assert_int_equal(control_file_write(job, CONTROL_KILL,
                                        TEXT("eve.\n\nTo go on: \x1b[2Jsh evil\x7f"), 7, noon,
                                        &error),
                     0);
    assert_int_equal(control_file_pending(job, CONTROL_KILL, &request), 1);
    assert_string_equal(request.by, "eve.??To go on: ?[2Jsh evil?");
    close(job);
}

/* A job that runs and is to stop, for others or because somebody holds it: is there a request, and whose? */
static const char *to_stop_for(void)
{
    static struct resize_request request;
    struct job_record record;
    struct arena *arena = arena_new();
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    int pending = resize_pending(job, &record, &request);
    close(job);
    arena_free(arena);
    return pending > 0 ? request.reason : "";
}

static void a_release_ends_only_what_the_hold_asked_for(void **state)
{
    (void)state;
    struct job_place place = {.state = STATE_FAILED, .id = ID};
    struct job_record record;
    struct arena *arena = arena_new();
    assert_int_equal(job_move(&spool, &place, STATE_SUBMITTED, now, &error), 0);
    int job = open_job(ID, STATE_SUBMITTED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.failed = false;
    record.checkpoint_signal = TEXT("USR1");
    assert_int_equal(record_replace(job, &record, &error), 0);
    assert_int_equal(ask(CONTROL_HOLD, OWNER), 0);
    assert_string_equal(to_stop_for(), RESIZE_HELD "daemon");
    assert_int_equal(ask(CONTROL_RELEASE, OWNER), 0);
    assert_string_equal(to_stop_for(), "");
    const struct resize_request others = {.generation = 1, .when = now, .reason = "others wait"};
    assert_int_equal(resize_write(job, &record, &others, &error), 0);
    assert_int_equal(ask(CONTROL_HOLD, OWNER), 0);
    assert_string_equal(to_stop_for(), "others wait");
    assert_int_equal(ask(CONTROL_RELEASE, OWNER), 0);
    assert_string_equal(to_stop_for(), "others wait");
    close(job);
    arena_free(arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strangers_are_refused_each_request),
        TEST(owners_and_administrators_are_granted_each),
        TEST(a_time_is_waited_for_until_a_release),
        TEST(who_asked_is_one_line),
        TEST(owners_only_lower_a_priority),
        TEST(an_administrators_hold_is_not_the_owners),
        TEST(a_release_ends_only_what_the_hold_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
