/* the event log: what is written reads back; cut lines are no events */
#include "base/file.h"
#include "base/utf8.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "spool/eventlog.h"

static void values_read_back(void **state)
{
    (void)state;
    static const char *const values[] = {
        "plain",       "two words",   "",         "a=b",    "say \"hi\"",
        "back\\slash", "line\nbreak", "\xc3\xa9", "x\x01y", "key=\"v\" other=1"};
    struct buffer line = {0};
    char key[16];
    eventlog_start(&line, 1800000000123, "test");
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        snprintf(key, sizeof(key), "k%zu", i);
        eventlog_add_string(&line, key, values[i]);
    }
    eventlog_add_number(&line, "n", -42);
    eventlog_end(&line);

    struct text rest = buffer_text(&line);
    struct event event;
    struct arena *arena = arena_new();
    assert_true(eventlog_next(&rest, &event));
    assert_int_equal(event.time, 1800000000123);
    assert_true(text_is(event.name, "test"));
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        snprintf(key, sizeof(key), "k%zu", i);
        struct text value = eventlog_get(arena, &event, key);
        assert_true(text_is(value, values[i]));
    }
    assert_int_equal(eventlog_get_number(&event, "n", 0), -42);
    assert_int_equal(eventlog_get_number(&event, "k0", 7), 7);
    assert_null(eventlog_get(arena, &event, "other").data);
    assert_false(eventlog_next(&rest, &event));
    arena_free(arena);
    buffer_free(&line);
}

static void bad_utf8_is_escaped(void **state)
{
    (void)state;
    struct buffer line = {0};
    eventlog_start(&line, 0, "test");
    eventlog_add(&line, "file", TEXT("\xff\xfe.yaml"));
    eventlog_end(&line);
    assert_true(utf8_valid(buffer_text(&line)));
    assert_non_null(strstr(line.data, "xff"));
    buffer_free(&line);
}

/* A log is read on terminals, which take U+009B for escape and [, and U+202E for an order to write from right to left. */
static void what_misleads_is_escaped(void **state)
{
    (void)state;
    struct error_quote_buffer quote;
    struct buffer line = {0};
    struct event event;
    struct arena *arena = arena_new();
    eventlog_start(&line, 0, "test");
    eventlog_add(&line, "file", TEXT("a\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xc3\xa9"));
    eventlog_end(&line);
    assert_non_null(strstr(line.data, " file=\"a\\u009b\\u202e\\u2066\xc3\xa9\"\n"));
    struct text rest = buffer_text(&line);
    assert_true(eventlog_next(&rest, &event));
    assert_string_equal(eventlog_get(arena, &event, "file").data,
                        "a\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xc3\xa9");
    assert_string_equal(error_quote(&quote,
                                    "\xe2\x80\xae"
                                    "a\xc2\x85\xc3\xa9",
                                    8),
                        "\\xe2\\x80\\xae"
                        "a\\xc2\\x85\xc3\xa9");
    arena_free(arena);
    buffer_free(&line);
}

static void cut_lines_are_no_events_and_are_ended(void **state)
{
    (void)state;
    char *path = unit_directory();
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct error error;
    int file = openat(job, "log", O_WRONLY | O_CREAT, 0644);
    const char cut[] = "2026-01-01T00:00:00.000Z accepted\n2026-01-01T00:00:01.000Z fin";
    assert_int_equal(write(file, cut, sizeof(cut) - 1), sizeof(cut) - 1);
    close(file);
    struct buffer line = {0}, log = {0};
    eventlog_start(&line, 1800000000000, "failed");
    eventlog_end(&line);
    assert_int_equal(eventlog_append(job, buffer_text(&line), &error), 0);
    assert_int_equal(file_read_at(job, "log", 65536, &log, &error), 0);
    struct eventlog_fold fold;
    eventlog_fold(buffer_text(&log), &fold);
    assert_true(text_is(fold.last.name, "failed"));
    buffer_free(&line);
    buffer_free(&log);
    close(job);
    unit_remove(path);
}

static void append_bytes(int job, const char *bytes)
{
    int file = openat(job, "log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
    close(file);
}

#define FIRST "2026-01-01T00:00:00.000Z accepted\n"

/* A log that stays open gets whole lines, whatever others have appended, or a crash of theirs has cut, meanwhile. */
static void a_log_stays_open(void **state)
{
    (void)state;
    static const struct {
        const char *before, *meanwhile, *read, *in_the_end;
    } cases[] = {
        {FIRST, "", FIRST, FIRST "one\ntwo\n"},
        {FIRST "cut", "", FIRST "cut", FIRST "cut\none\ntwo\n"},
        {FIRST, "kill\n", FIRST, FIRST "one\nkill\ntwo\n"},
        {FIRST, "ki", FIRST, FIRST "one\nki\ntwo\n"},
    };
    struct error error;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char *path = unit_directory();
        int job = open(path, O_RDONLY | O_DIRECTORY);
        struct buffer log = {0};
        struct open_log kept;
        append_bytes(job, cases[i].before);
        assert_int_equal(eventlog_open(job, &kept, &log, &error), 0);
        assert_true(kept.file >= 0);
        assert_string_equal(log.data, cases[i].read);
        assert_int_equal(eventlog_extend(job, &kept, TEXT("one\n"), &error), 0);
        append_bytes(job, cases[i].meanwhile);
        assert_int_equal(eventlog_extend(job, &kept, TEXT("two\n"), &error), 0);
        assert_int_equal(eventlog_close(&kept, &error), 0);
        buffer_clear(&log);
        assert_int_equal(eventlog_read(job, &log, &error), 0);
        assert_string_equal(log.data, cases[i].in_the_end);
        buffer_free(&log);
        close(job);
        unit_remove(path);
    }
}

/* Without a log to append to there is none that stays open, and appending makes one, as ever. */
static void what_is_no_log_is_not_kept_open(void **state)
{
    (void)state;
    char *path = unit_directory(), command[600];
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct buffer log = {0};
    struct open_log kept;
    struct error error;
    assert_int_equal(eventlog_open(job, &kept, &log, &error), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(kept.file, -1);
    assert_int_equal(eventlog_extend(job, &kept, TEXT(FIRST), &error), 0);
    assert_int_equal(eventlog_open(job, &kept, &log, &error), 0);
    assert_int_equal(eventlog_close(&kept, &error), 0);
    assert_string_equal(log.data, FIRST);
    snprintf(command, sizeof(command), "cd '%s' && rm log && mkfifo log", path);
    assert_int_equal(system(command), 0);
    buffer_clear(&log);
    assert_int_equal(eventlog_open(job, &kept, &log, &error), -1);
    assert_true(file_is_damaged(errno));
    assert_int_equal(kept.file, -1);
    buffer_free(&log);
    close(job);
    unit_remove(path);
}

/* Who may write to a job's directory could link a file of somebody else's there, for root to write to.  A second link
 * to the job's own log is a copy that somebody keeps. */
static void links_to_strangers_files_are_no_logs(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    char *path = unit_directory(), command[600];
    int job = open(path, O_RDONLY | O_DIRECTORY);
    struct error error;
    struct buffer found = {0};
    const struct text line = TEXT("2026-01-01T00:00:00.000Z accepted\n");
    snprintf(command, sizeof(command),
             "cd '%s' && echo mine >theirs && ln theirs log && chown 65533 theirs", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(eventlog_append(job, line, &error), 0);
    assert_int_equal(file_read_at(job, "theirs", 4096, &found, &error), 0);
    assert_string_equal(found.data, "mine\n");
    assert_int_equal(linkat(job, "log", job, "kept", 0), 0);
    assert_int_equal(eventlog_append(job, line, &error), 0);
    buffer_clear(&found);
    assert_int_equal(file_read_at(job, "log", 4096, &found, &error), 0);
    assert_int_equal(found.length, 2 * line.length);
    buffer_free(&found);
    close(job);
    unit_remove(path);
}

static void the_fold_is_of_the_last_attempt(void **state)
{
    (void)state;
    const char log[] = "2026-01-01T00:00:00.000Z accepted\n"
                       "2026-01-01T00:00:01.000Z intent attempt=1\n"
                       "2026-01-01T00:00:02.000Z submitted attempt=1\n"
                       "2026-01-01T00:00:03.000Z started attempt=1\n"
                       "2026-01-01T00:00:04.000Z failed\n"
                       "nonsense\n"
                       "2026-01-01T00:00:05.000Z intent attempt=2\n";
    struct eventlog_fold fold;
    eventlog_fold(text_of(log), &fold);
    assert_int_equal(fold.attempt, 2);
    assert_true(fold.intent);
    assert_false(fold.accepted || fold.failed || fold.started || fold.ended);
}

static void an_intent_without_outcome_is_unknown(void **state)
{
    (void)state;
    const char log[] = "2026-01-01T00:00:01.000Z intent attempt=1\n"
                       "2026-01-01T00:00:02.000Z intent attempt=1\n";
    struct eventlog_fold fold;
    eventlog_fold(text_of(log), &fold);
    assert_true(fold.intent && !fold.accepted && !fold.failed);
}

#define FAILED_AS(values) "2026-01-01T00:00:00.000Z failed " values "\n"
#define KILLED FAILED_AS("reason=Exited class=transient exit_code=137 retry=at")
#define ANOTHER "2026-01-01T00:00:01.000Z intent attempt=2\n"

static void retries_are_counted_by_what_failed(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        int count;
    } cases[] = {
        {"", 0},
        {KILLED, 0},
        {KILLED ANOTHER, 1},
        {KILLED ANOTHER KILLED ANOTHER KILLED, 2},
        {KILLED KILLED ANOTHER ANOTHER, 1},
        {FAILED_AS("reason=Exited class=transient exit_code=193 retry=at") ANOTHER, 0},
        {FAILED_AS("reason=Exited class=unknown exit_code=137 retry=at") ANOTHER, 0},
        {FAILED_AS("reason=Evicted class=transient exit_code=137 retry=at") ANOTHER, 0},
        {FAILED_AS("reason=Exited class=transient retry=at") ANOTHER, 0},
        {FAILED_AS("reason=Exited class=transient exit_code=137 retry=never") ANOTHER, 0},
        {KILLED ANOTHER FAILED_AS("reason=Evicted class=transient retry=at") ANOTHER KILLED ANOTHER,
         2},
        {KILLED ANOTHER KILLED "2026-01-01T00:00:02.000Z retry by=ann uid=1\n" ANOTHER, 0},
        {KILLED ANOTHER "2026-01-01T00:00:02.000Z retry by=ann uid=1\n" KILLED ANOTHER, 1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int count = eventlog_count_retries(text_of(cases[i].log), "Exited", "transient", 137);
        if (count != cases[i].count)
            fail_msg("case %zu: %d, expected %d", i, count, cases[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_are_counted_by_what_failed),
        cmocka_unit_test(values_read_back),
        cmocka_unit_test(bad_utf8_is_escaped),
        cmocka_unit_test(what_misleads_is_escaped),
        cmocka_unit_test(cut_lines_are_no_events_and_are_ended),
        cmocka_unit_test(a_log_stays_open),
        cmocka_unit_test(what_is_no_log_is_not_kept_open),
        cmocka_unit_test(links_to_strangers_files_are_no_logs),
        cmocka_unit_test(the_fold_is_of_the_last_attempt),
        cmocka_unit_test(an_intent_without_outcome_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
