/* past_test.c - stages/planning/past.c: records, progress and history as the questions of a prediction */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>

#include "stages/planning/past.h"

static const int64_t noon = 1790000000000;

static struct job_record make_record(void)
{
    return (struct job_record){.id = TEXT("train-1m80ns077fbyy"),
                               .owner = TEXT("ann"),
                               .attempt = 2,
                               .cpus = 4000,
                               .arguments_sha256 = TEXT("abcd"),
                               .units_pattern = TEXT("step {done}"),
                               .time_limit = 90000,
                               .sizes = {.kind = SIZE_TASKS, .least = 1, .most = 4},
                               .size = 2,
                               .size_asked = 4};
}

static struct progress make_progress(void)
{
    struct progress progress = {.time = noon,
                                .attempt = 2,
                                .started = noon - 30000,
                                .done = 10,
                                .total = 100,
                                .unit = noon - 1000,
                                .size = 4,
                                .rate = 0.5,
                                .samples = 9,
                                .spread = 0.1,
                                .start_up = 1500,
                                .restart = -1};
    progress_file_entry_at(&progress, 1, 1)->running = 50000;
    struct progress_at_size *now = progress_file_entry_at(&progress, 2, 4);
    now->running = 100000;
    now->rate = 0.5;
    now->cpu_used = 300000;
    now->cpu_allocated = 800000;
    return progress;
}

static void sizes_of_plans(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct predict_job job;
    past_job(&record, NULL, false, noon, &job);
    assert_int_equal(job.size_count, 3);
    assert_true(job.sizes[0] == 2000 && job.sizes[1] == 4000 && job.sizes[2] == 8000);
    assert_true(job.wanted == 8000 && job.size == 0 && !job.gpus && job.counted);
    assert_true(job.limit == 90 && job.total == 0 && job.start_up == -1);
    record.gpus = 6;
    assert_int_equal(past_plan_size(&record, 4), 12);
    record.sizes.kind = SIZE_GPUS;
    assert_int_equal(past_plan_size(&record, 4), 4);
    record.gpus = 0;
    record.sizes.kind = SIZE_CPUS;
    assert_int_equal(past_plan_size(&record, 500), 500);
    record.sizes.kind = SIZE_FIXED;
    assert_int_equal(past_plan_size(&record, 1), 4000);
    record.cpus = 0;
    assert_int_equal(past_plan_size(&record, 1), 1);
    record.cpus = INT64_MAX;
    assert_int_equal(past_plan_size(&record, 1), INT32_MAX);
}

static void what_runs(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = make_progress();
    struct predict_job job;
    past_job(&record, &progress, true, noon + 1000, &job);
    assert_true(job.size == 8000 && job.elapsed == 101 && job.rate == 0.5 && job.samples == 9);
    assert_true(job.done == 10.5 && job.total == 100 && job.start_up == 1.5 && job.restart == -1);
    assert_int_equal(job.part_count, 2);
    assert_true(job.parts[0].size == 2000 && job.parts[0].use == -1);
    assert_true(job.parts[1].seconds == 101 && job.parts[1].use == 0.375);
    past_job(&record, &progress, true, noon + 60000, &job);
    assert_true(job.done == 11); /* not more than one that might not have come */
    record.units_total = 50;
    past_job(&record, &progress, true, noon, &job);
    assert_true(job.total == 50);
}

/* What is left of it after its attempt has ended. */
static void what_does_not_run(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct progress progress = make_progress();
    struct predict_job job;
    record.attempt = 3;
    past_job(&record, &progress, false, noon + 1000, &job);
    assert_true(job.done == 0 && job.size == 0 && job.rate == 0 && job.start_up == -1);
    assert_true(job.part_count == 2 && job.parts[1].rate == 0.5);
    record.checkpoint_signal = TEXT("TERM");
    past_job(&record, &progress, false, noon + 1000, &job);
    assert_true(job.done == 10);
    /* Not counted: only what goes on from a checkpoint counts. */
    record.units_pattern = TEXT("");
    past_job(&record, &progress, false, noon + 1000, &job);
    assert_true(!job.counted && job.part_count == 2 && job.parts[1].seconds == 100);
    record.checkpoint_signal = TEXT("");
    past_job(&record, &progress, false, noon + 1000, &job);
    assert_int_equal(job.part_count, 0);
}

/* A run of the history is found again in the prediction of the next job like it. */
static void what_ran_before(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct past_run run = {.owner = TEXT("ann"),
                           .arguments = TEXT("abcd"),
                           .kind = SIZE_FIXED,
                           .size = 1,
                           .cpus = 4000,
                           .finished = true,
                           .whole = true,
                           .total = 40,
                           .rate = 2,
                           .seconds = 20,
                           .start_up = 3000,
                           .restart = -1,
                           .resize = -1,
                           .tail = -1,
                           .cpu_used = -1};
    struct history history = {&run, 1};
    struct predict_past *past = past_of(&history);
    struct predict_job job;
    struct prediction prediction;
    past_job(&record, NULL, false, noon, &job);
    job.total = 100;
    predict(past, &job, &prediction);
    assert_true(prediction.known && prediction.similarity == SIMILAR_ARGUMENTS);
    assert_true(fabs(predict_seconds_left(&prediction, 4000, false) - 50) < 1e-6);
    assert_true(prediction.start_up == 3);
    predict_past_free(past);
}

/* How long whole jobs took counts, not how long their parts did. */
static void parts_are_no_jobs(void **state)
{
    (void)state;
    struct job_record record = make_record();
    struct past_run runs[3];
    struct history history = {runs, 3};
    record.units_pattern = TEXT("");
    for (int whole = 0; whole < 2; whole++) {
        for (int i = 0; i < 3; i++)
            runs[i] = (struct past_run){.owner = TEXT("ann"),
                                        .arguments = TEXT("abcd"),
                                        .cpus = 8000,
                                        .finished = true,
                                        .whole = whole,
                                        .seconds = 20,
                                        .cpu_used = -1};
        struct predict_past *past = past_of(&history);
        struct predict_job job;
        struct prediction prediction;
        past_job(&record, NULL, false, noon, &job);
        predict(past, &job, &prediction);
        assert_true(prediction.known == whole);
        assert_true(!whole || fabs(predict_seconds_left(&prediction, 8000, false) - 20) < 1e-6);
        predict_past_free(past);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_plans),    cmocka_unit_test(what_runs),
        cmocka_unit_test(what_does_not_run), cmocka_unit_test(what_ran_before),
        cmocka_unit_test(parts_are_no_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
