/* history_test.c - spool/history.c: what jobs took is kept, bounded, once each, and can be made again */
#include "spool/job.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "tests/unit/history_fixture.h"
#include "spool/history_runs.h"
#include "tests/unit/unit_spool.h"

static const int64_t noon = 1790000000000;

static struct job_record make_record(const char *id)
{
    return (struct job_record){.id = text_of(id),
                               .owner = TEXT("ann o'hara"),
                               .accepted = noon,
                               .template_path = TEXT("local/pytorch/single.yaml"),
                               .commit = TEXT("c0ffee"),
                               .image = TEXT("registry/image:1"),
                               .arguments_sha256 = TEXT("abcd"),
                               .cpus = 2000,
                               .units_pattern = TEXT("step {done}"),
                               .attempt = 1,
                               .deadline = noon,
                               .sizes = {.kind = SIZE_CPUS, .least = 1000, .most = 4000},
                               .size = 2000,
                               .failure.exit_code = -1};
}

static struct progress make_progress(void)
{
    struct progress progress = {.time = noon + 90000,
                                .attempt = 1,
                                .started = noon,
                                .done = 400,
                                .total = 400,
                                .most = 400,
                                .unit = noon + 80000,
                                .size = 2000,
                                .start_up = 1500,
                                .restart = -1};
    struct progress_at_size *at = progress_file_entry_at(&progress, 1, 2000);
    at->rate = 5;
    at->units = 400;
    at->running = 90000;
    at->cpu_used = 100000;
    at->cpu_allocated = 180000;
    return progress;
}

static void a_job_is_a_line(void **state)
{
    (void)state;
    struct job_record record = make_record("train-1m80ns077fbyy");
    struct progress progress = make_progress();
    struct history history;
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_int_equal(history.count, 0);
    for (int i = 0; i < 3; i++) /* again, after crashes */
        assert_int_equal(history_add(&spool, &record, &progress, true, noon, &error), 0);
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_int_equal(history.count, 1);
    const struct past_run *run = &history.runs[0];
    assert_true(text_equal(run->id, record.id) && text_equal(run->owner, record.owner));
    assert_true(text_is(run->arguments, "abcd") && text_is(run->gpu_type, ""));
    assert_true(run->finished && run->whole && run->deadline && run->ended == noon);
    assert_true(run->total == 400 && run->rate == 5 && run->seconds == 90);
    assert_true(run->kind == SIZE_CPUS && run->size == 2000 && run->cpus == 2000 && run->gpus == 0);
    assert_true(run->start_up == 1500 && run->restart == -1 && run->resize == -1);
    assert_true(run->tail == 10000 && run->cpu_used == 100000 && run->cpu_allocated == 180000);
}

static void an_attempt_at_several_sizes(void **state)
{
    (void)state;
    struct job_record record = make_record("train-1m80ns077fbyy");
    struct progress progress = make_progress();
    struct history history;
    progress.sizes[0].attempt = 1;
    progress.attempt = record.attempt = 2;
    progress.restart = 4000;
    progress_file_entry_at(&progress, 2, 1000)->running = 1000;
    progress_file_entry_at(&progress, 2, 4000)->resize = 7;
    assert_int_equal(history_add(&spool, &record, &progress, true, noon, &error), 0);
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_int_equal(history.count, 2); /* not those of the first attempt */
    assert_true(!history.runs[0].finished && history.runs[0].cpus == 1000);
    assert_true(history.runs[0].restart == 4000 && history.runs[0].start_up == -1);
    assert_true(history.runs[1].finished && !history.runs[1].whole && history.runs[1].resize == 7);
    assert_true(history.runs[1].restart == -1);
    /* Tasks: what it has in all goes with its size. */
    record.sizes.kind = SIZE_TASKS;
    record.size = 2;
    record.gpus = 8;
    progress = (struct progress){.attempt = 2, .size = 4, .start_up = -1, .restart = -1};
    progress_file_entry_at(&progress, 2, 4)->running = 1;
    assert_int_equal(history_add(&spool, &record, &progress, false, noon, &error), 0);
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_true(history.runs[2].gpus == 16 && history.runs[2].cpus == 4000);
    assert_true(!history.runs[2].finished && history.runs[2].total == 0);
}

static void damage_is_passed_over(void **state)
{
    (void)state;
    struct job_record record = make_record("train-1m80ns077fbyy");
    struct progress progress = make_progress();
    struct history history;
    int directory = history_open(&spool, true, &error);
    assert_int_equal(
        eventlog_append_to(directory, "runs",
                           TEXT("rubbish\n\n2026-11-21T03:09:24.123Z run\n"
                                "2026-11-21T03:09:24.123Z run of=cpus id=x-1m80ns077fbyy rate=nan\n"
                                "2026-11-21T03:09:24.123Z run of=suns id=x\n"
                                "2026-11-21T03:09:24.123Z run of=cpus id=x-1m80ns077fbyy size=-4\n"
                                "2026-11-21T03:09:24.123Z run of=cpus id=cut-1m80ns077fbyy"),
                           &error),
        0);
    assert_int_equal(history_add(&spool, &record, &progress, true, noon, &error), 0);
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_int_equal(history.count, 2);
    assert_true(text_is(history.runs[0].id, "cut-1m80ns077fbyy"));
    assert_true(text_equal(history.runs[1].id, record.id));
    close(directory);
}

static void is_bounded(void **state)
{
    (void)state;
    struct past_run run = {.owner = TEXT("ann"), .size = 1, .start_up = -1, .restart = -1};
    struct job_record record = make_record("last-1m80ns077fbyy");
    struct progress progress = make_progress();
    struct buffer lines = {0};
    struct history history;
    struct stat status;
    int directory = history_open(&spool, true, &error);
    for (int i = 0; lines.length < HISTORY_BYTES - 100; i++) {
        run.id = arena_printf(arena, "job-%013d", i);
        history_runs_format(&run, &lines);
    }
    assert_int_equal(eventlog_append_to(directory, "runs", buffer_text(&lines), &error), 0);
    assert_int_equal(history_add(&spool, &record, &progress, true, noon, &error), 0);
    assert_int_equal(fstatat(directory, "runs", &status, 0), 0);
    assert_true(status.st_size <= HISTORY_KEPT + 1000 && status.st_size > HISTORY_KEPT - 1000);
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_true(text_equal(history.runs[history.count - 1].id, record.id));
    assert_true(text_is(history.runs[history.count - 2].id, run.id.data));
    close(directory);
    buffer_free(&lines);
}

/* A job in done/, as the stages leave it. */
static void make_done(const char *id, int64_t ended, bool measured)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    struct job_record record = make_record(id);
    struct progress progress = make_progress();
    struct buffer log = {0};
    char time[CLOCK_TEXT_SIZE];
    memcpy(place.id, id, strlen(id) + 1);
    int job = job_create(&spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    if (measured)
        assert_int_equal(progress_file_write(job, &progress, &error), 0);
    eventlog_start(&log, ended - 30000, "started");
    eventlog_add_string(&log, "at", clock_format(ended - 31000, time));
    eventlog_end(&log);
    eventlog_start(&log, ended, "ended");
    eventlog_end(&log);
    assert_int_equal(eventlog_append(job, buffer_text(&log), &error), 0);
    buffer_free(&log);
    close(job);
    assert_int_equal(job_publish(&spool, id, STATE_SUBMITTED, &error), 0);
    assert_int_equal(job_move(&spool, &place, STATE_DONE, ended, &error), 0);
}

static void is_made_again(void **state)
{
    (void)state;
    struct history history;
    size_t count;
    const int64_t day = 86400000;
    make_done("late-1m80ns077fbyy", noon + day, true);
    make_done("old-1m80ns077fbyz", noon, false);
    int directory = history_open(&spool, true, &error);
    assert_int_equal(eventlog_append_to(directory, "runs", TEXT("all is lost\n"), &error), 0);
    /* What the track stage adds while it is made again. */
    struct job_record record = make_record("now-1m80ns077fbyx");
    struct progress progress = make_progress();
    assert_int_equal(history_add(&spool, &record, &progress, false, clock_now() + 1000, &error), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(history_rebuild(&spool, &count, &error), 0);
        assert_int_equal(count, 3);
    }
    assert_int_equal(history_read(&spool, arena, &history, &error), 0);
    assert_true(text_is(history.runs[0].id, "old-1m80ns077fbyz"));
    assert_true(history.runs[0].whole && history.runs[0].seconds == 31);
    assert_true(text_is(history.runs[1].id, "late-1m80ns077fbyy"));
    assert_true(history.runs[1].rate == 5 && history.runs[1].seconds == 90);
    assert_true(text_is(history.runs[2].id, "now-1m80ns077fbyx"));
    close(directory);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_a_line),       TEST(an_attempt_at_several_sizes),
        TEST(damage_is_passed_over), TEST(is_bounded),
        TEST(is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
