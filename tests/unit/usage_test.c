/* usage_test.c - spool/usage.c, usage_scan.c: what attempts used is kept, a line each, and counts once */

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/usage.h"
#include "tests/unit/unit_spool.h"

static const int64_t noon = 1790000000000; /* 2026-09-21 */
static const int64_t hour = 3600000;

static struct job_record make_record(void)
{
    return (struct job_record){.id = TEXT("train-1m80ns077fbyy"),
                               .name = TEXT("train \x1b[2J|\n\"x\""),
                               .owner = TEXT("ann o'hara"),
                               .uid = 1000,
                               .gid = 100,
                               .accepted = noon,
                               .library = TEXT("pytorch"),
                               .type = TEXT("single"),
                               .executor = TEXT("local"),
                               .cpus = 2500,
                               .memory = 4 << 20,
                               .gpus = 2,
                               .attempt = 2,
                               .failure.exit_code = -1};
}

static const struct usage_times usual = {
    .submitted = noon, .eligible = noon + 1, .accepted = noon + 2, .started = noon + 3};

static struct usage_times times_of(int64_t took)
{
    struct usage_times times = usual;
    times.ended = times.started + took;
    return times;
}

static struct usage read_back(const struct usage *usage)
{
    struct buffer line = {0};
    struct event event;
    struct usage found;
    usage_format(usage, &line);
    struct text rest = arena_text(arena, line.data, line.length);
    buffer_free(&line);
    assert_null(memchr(rest.data, '\x1b', rest.length));
    assert_true(eventlog_next(&rest, &event));
    assert_true(usage_parse(arena, &event, &found));
    assert_int_equal(rest.length, 0);
    return found;
}

static void a_line_is_what_was_written(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = {.attempt = 2, .memory = 123456789};
    struct usage_times times = times_of(2 * hour);
    struct usage usage;
    progress_file_entry_at(&progress, 1, 1)->cpu_used = 7000; /* of the attempt before */
    progress_file_entry_at(&progress, 2, 1)->cpu_used = 5000;
    usage_of(&usage, &record, &progress, &times, true);
    usage.written = times.ended;
    usage.node = TEXT("n[1-2]");
    struct usage found = read_back(&usage);
    assert_true(text_equal(found.name, record.name) && text_equal(found.user, record.owner));
    assert_true(text_equal(found.id, record.id) && found.attempt == 2 && found.uid == 1000);
    assert_true(found.submitted == noon && found.ended == times.ended);
    assert_true(text_is(found.outcome, "succeeded") && found.exit_code == 0);
    assert_int_equal(found.cpu_held, 5 * hour);
    assert_int_equal(found.gpu_held, 4 * hour);
    assert_int_equal(found.cpu_used, 5000);
    assert_int_equal(found.memory_peak, 123456789);
    assert_true(text_is(found.node, "n[1-2]") && found.nodes == -1);
    assert_true(found.deadline == 0 && found.met.length == 0);
}

static void what_is_not_known_is_not_said(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = {.attempt = 1, .memory = 5};
    struct usage_times times = times_of(1000);
    struct usage usage;
    usage_of(&usage, &record, &progress, &times, true);
    struct usage found = read_back(&usage);
    assert_true(found.cpu_used == -1 && found.memory_peak == -1);
    /* It was killed before it started, and so has held nothing. */
    times.started = 0;
    record.failed = true;
    record.failure.reason = TEXT("Killed");
    usage_of(&usage, &record, &progress, &times, false);
    found = read_back(&usage);
    assert_true(found.started == 0 && found.cpu_held == 0 && found.gpu_held == 0);
    assert_true(text_is(found.outcome, "failed") && text_is(found.reason, "Killed"));
    assert_int_equal(found.exit_code, -1);
    /* Nobody has seen how many of its tasks ran at a time. */
    times = times_of(1000);
    record.array = TEXT("0-9");
    usage_of(&usage, &record, &progress, &times, false);
    assert_true(usage.cpu_held == -1 && usage.gpu_held == -1);
    progress.attempt = 2;
    progress.tasks = 4000;
    usage_of(&usage, &record, &progress, &times, false);
    assert_true(usage.cpu_held == 10000 && usage.gpu_held == 8000);
}

static void each_size_counts_for_its_time(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = {.attempt = 2};
    struct usage_times times = times_of(3 * hour);
    struct usage usage;
    record.sizes.kind = SIZE_GPUS;
    record.size = 2;
    record.size_now = 4;
    progress_file_entry_at(&progress, 1, 8)->running = hour;
    progress_file_entry_at(&progress, 2, 2)->running = hour;
    progress_file_entry_at(&progress, 2, 4)->running = 2 * hour;
    usage_of(&usage, &record, &progress, &times, true);
    assert_int_equal(usage.gpu_held, 10 * hour);
    assert_true(usage.gpus == 4 && usage.gpus_asked == 2);
}

static void a_deadline_is_met_or_not(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = {0};
    struct usage_times times = times_of(hour);
    struct usage usage;
    record.deadline = times.ended;
    record.deadline_mode = TEXT("count");
    usage_of(&usage, &record, &progress, &times, true);
    assert_true(text_is(usage.met, "yes"));
    usage_of(&usage, &record, &progress, &times, false); /* it will be tried again */
    assert_true(usage.met.length == 0);
    record.deadline--;
    usage_of(&usage, &record, &progress, &times, false);
    assert_true(text_is(usage.met, "no"));
    record.deadline_mode = TEXT("none");
    usage_of(&usage, &record, &progress, &times, false);
    assert_true(usage.deadline == 0 && usage.met.length == 0);
}

/* ---- times ---- */

#define AT(time) "2026-09-21T" time ".000Z "
static const char
    two_attempts[] =
        AT("10:00:00") "accepted file=x\n" AT("10:00:01") "held cause=after\n" AT("10:30:00") "requeued cause=after attempt=1\n" AT("10:30:01") "intent attempt=1\n" AT("10:30:02") "submitted attempt=1\n" AT("10:30:04") "started attempt=1 at=2026-09-21T10:30:03.000Z node=n1\n" AT("10:40:00") "ended attempt=1 at=2026-09-21T10:39:59.000Z outcome=failed main-0=1\n" AT("10:40:00") "failed reason=Exited class=unknown retry=at\n" AT(
            "10:45:00") "requeued cause=time attempt=2\n" AT("10:50:00") "submitted attempt=2\n" AT("10:50:00") "submitted attempt=2\n" AT("10:51:00") "started attempt=2 node=\"n 2\"\n" AT("10:52:00") "failed reason=Vanished class=transient retry=at\n";

static int64_t clock_of(const char *time)
{
    char text[64];
    int64_t result;
    snprintf(text, sizeof(text), "2026-09-21T%s.000Z", time);
    assert_int_equal(clock_parse(text_of(text), &result), 0);
    return result;
}

static void times_are_those_of_the_log(void **state)
{
    (void)state;
    struct usage_times times;
    struct text node;
    usage_recall(text_of(two_attempts), 1, arena, &times, &node);
    assert_int_equal(times.submitted, clock_of("10:00:00"));
    assert_int_equal(times.eligible, clock_of("10:30:00"));
    assert_int_equal(times.accepted, clock_of("10:30:02"));
    assert_int_equal(times.started, clock_of("10:30:03"));
    assert_int_equal(times.ended, clock_of("10:39:59"));
    assert_true(text_is(node, "n1"));
    usage_recall(text_of(two_attempts), 2, arena, &times, &node);
    assert_int_equal(times.submitted, clock_of("10:45:00"));
    assert_int_equal(times.eligible, clock_of("10:45:00"));
    assert_int_equal(times.started, clock_of("10:51:00"));
    assert_int_equal(times.ended, clock_of("10:52:00")); /* it has vanished */
    assert_true(text_is(node, "n 2"));
    usage_recall(text_of(two_attempts), 3, arena, &times, &node);
    assert_true(!times.accepted && !times.started && !times.ended && !node.length);
}

/* ---- files ---- */

struct taken {
    int count, attempts[16];
};

static int take(void *context, const struct usage *usage)
{
    struct taken *taken = context;
    assert_true(taken->count < 16);
    taken->attempts[taken->count++] = usage->attempt;
    return usage->attempt == 99;
}

static void append(int attempt, int64_t now)
{
    struct job_record record = make_record();
    struct progress progress = {0};
    struct usage_times times = times_of(1000);
    struct usage usage;
    struct buffer line = {0};
    record.attempt = attempt;
    usage_of(&usage, &record, &progress, &times, true);
    usage.written = now;
    usage_format(&usage, &line);
    assert_int_equal(usage_append(&spool, buffer_text(&line), now, &error), 0);
    buffer_free(&line);
}

static struct taken scan(int64_t since, int result)
{
    struct taken taken = {0};
    assert_int_equal(usage_scan(&spool, since, take, &taken, &error), result);
    return taken;
}

static void write_raw(const char *name, const char *bytes)
{
    char file[512];
    snprintf(file, sizeof(file), "%s/history/usage/%s", path, name);
    int opened = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    assert_true(opened >= 0);
    assert_int_equal(write(opened, bytes, strlen(bytes)), strlen(bytes));
    assert_int_equal(close(opened), 0);
}

static void an_attempt_counts_once(void **state)
{
    (void)state;
    assert_int_equal(scan(0, 0).count, 0);
    append(1, noon);
    append(2, noon);
    append(1, noon);
    append(1, noon + 30 * 24 * hour); /* in the file of the next month */
    struct taken taken = scan(0, 0);
    assert_int_equal(taken.count, 2);
    assert_true(taken.attempts[0] == 1 && taken.attempts[1] == 2);
    /* What is older is not read. */
    assert_int_equal(scan(noon + 1, 0).count, 1);
    assert_int_equal(scan(noon + 60 * 24 * hour, 0).count, 0);
    append(99, noon);
    append(3, noon + 30 * 24 * hour);
    assert_int_equal(scan(0, 1).count, 3);
}

static void what_is_cut_short_does_not_count(void **state)
{
    (void)state;
    append(1, noon);
    write_raw("2026-09",
              "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=7 user=ann");
    assert_int_equal(scan(0, 0).count, 1);
    append(2, noon); /* which ends that line */
    write_raw("2026-09",
              "2026-09-21T13:33:20.000Z usage id=../x attempt=8 whole=1\n"
              "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=x whole=1\n"
              "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=9 whole=\n"
              "2026-09-21T13:33:20.000Z other id=train-1m80ns077fbyy attempt=9 whole=1\n"
              "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=6 whole=1\n");
    write_raw("2026-09.old",
              "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=5 whole=1\n");
    struct taken taken = scan(0, 0);
    assert_int_equal(taken.count, 3);
    assert_true(taken.attempts[1] == 2 && taken.attempts[2] == 6);
}

static void lines_go_on_from_piece_to_piece(void **state)
{
    (void)state;
    static char line[3 << 20];
    append(1, noon);
    memset(line, 'x', sizeof(line) - 2);
    line[sizeof(line) - 2] = '\n';
    write_raw("2026-09", line); /* longer than a piece */
    append(2, noon);
    memset(line, 'y', (1 << 20) - 700);
    line[(1 << 20) - 700] = '\n';
    line[(1 << 20) - 699] = '\0';
    write_raw("2026-09", line); /* the end of the piece is in a line */
    append(3, noon);
    append(4, noon);
    struct taken taken = scan(0, 0);
    assert_int_equal(taken.count, 4);
}

static int scan_on(struct usage_mark *mark)
{
    struct taken taken = {0};
    assert_int_equal(usage_scan_on(&spool, mark, take, &taken, &error), 0);
    return taken.count;
}

static void reading_goes_on_behind_the_mark(void **state)
{
    (void)state;
    static char line[3 << 20];
    struct usage_mark mark = {.offset = 0};
    assert_int_equal(scan_on(&mark), 0);
    append(1, noon);
    append(2, noon);
    assert_int_equal(scan_on(&mark), 2);
    assert_int_equal(scan_on(&mark), 0);
    append(2, noon); /* twice, for a crash */
    append(3, noon);
    write_raw("2026-09", "2026-09-21T13:33:20.000Z usage id=train-1m80ns077fbyy attempt=4");
    assert_int_equal(scan_on(&mark), 1);
    write_raw("2026-09", " whole=1\n");
    assert_int_equal(scan_on(&mark), 1);
    append(4, noon + 30 * 24 * hour); /* twice, and in the file of the next month */
    append(5, noon + 30 * 24 * hour);
    assert_int_equal(scan_on(&mark), 1);
    assert_string_equal(mark.file, "2026-10");
    memset(line, 'x', sizeof(line) - 2); /* what is longer than what is looked through again */
    line[sizeof(line) - 2] = '\n';
    write_raw("2026-10", line);
    assert_int_equal(scan_on(&mark), 0);
    append(6, noon + 30 * 24 * hour);
    assert_int_equal(scan_on(&mark), 1);
    mark.offset -= 5; /* not behind a line */
    append(7, noon + 30 * 24 * hour);
    assert_int_equal(scan_on(&mark), 1);
    mark.offset += 1 << 20; /* the file has become shorter: it is another one */
    append(8, noon + 30 * 24 * hour);
    assert_int_equal(scan_on(&mark), 5);
    append(9, noon + 30 * 24 * hour);
    assert_int_equal(scan_on(&mark), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_is_what_was_written, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_is_not_known_is_not_said, open_all, close_all),
        cmocka_unit_test_setup_teardown(each_size_counts_for_its_time, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_deadline_is_met_or_not, open_all, close_all),
        cmocka_unit_test_setup_teardown(times_are_those_of_the_log, open_all, close_all),
        cmocka_unit_test_setup_teardown(an_attempt_counts_once, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_is_cut_short_does_not_count, open_all, close_all),
        cmocka_unit_test_setup_teardown(lines_go_on_from_piece_to_piece, open_all, close_all),
        cmocka_unit_test_setup_teardown(reading_goes_on_behind_the_mark, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
