/* tests/unit/queues_test.c - stages/metrics/queues.c: what rows allow queues, and what those have, as series
 *
 * Seen to fail with: tests/mutants/queues-*.patch.
 */
#include "tests/unit/stage_fixture.h"

#include "stages/metrics/queues.h"

static struct settings settings;
static struct series_table *table;

static int begin(void **state)
{
    (void)state;
    open_spool(NULL, NULL, 1777658400000);
    return 0;
}

static void put_running(const char *id, const char *queue, int gpus)
{
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1001,
                                .queue = text_of(queue),
                                .gpu_type = TEXT("A100"),
                                .cpus = 1500,
                                .gpus = gpus,
                                .request_file = TEXT("request.yaml"),
                                .attempt = 1,
                                .failure.exit_code = -1};
    put_job(STATE_SUBMITTED, &record, "", NULL);
}

static struct queues *queues_of(const char *rows)
{
    char text[512];
    snprintf(text, sizeof(text), "executor: null\nlimits: {rows: [%s]}\n", rows);
    write_settings(text);
    assert_int_equal(settings_read(&settings, &spool, &error), 0);
    return queues_new(&spool, &settings);
}

static void collect(struct queues *queues)
{
    series_free(table);
    table = series_new();
    assert_int_equal(queues_collect(queues, table, &error), 0);
}

/* "LIMIT USED" of a resource of a queue; "-": it has no series. */
static const char *of(const char *queue, const char *resource, const char *type)
{
    static char text[64];
    char limit[128], used[128];
    snprintf(limit, sizeof(limit), "queue_limit{queue=\"%s\",resource=\"%s\",gpu_type=\"%s\"}",
             queue, resource, type);
    snprintf(used, sizeof(used), "queue_used{queue=\"%s\",resource=\"%s\",gpu_type=\"%s\"}", queue,
             resource, type);
    const struct series *most = series_find(table, limit), *has = series_find(table, used);
    assert_int_equal(!most, !has);
    snprintf(text, sizeof(text), most ? "%g %g" : "-", most ? most->sum : 0, has ? has->sum : 0);
    return text;
}

static void without_rows_for_queues_nothing_is_read(void **state)
{
    (void)state;
    assert_null(queues_of("{user: \"*\", gpus: 3}"));
    assert_int_equal(queues_collect(NULL, NULL, &error), 0);
    queues_free(NULL);
    settings_free(&settings);
}

static void the_strictest_row_and_what_runs_are_told(void **state)
{
    (void)state;
    put_running("one-0000000000001", "short", 2);
    put_running("two-0000000000002", "other", 1);
    struct queues *queues = queues_of(
        "{queue: short, gpus: 8, cpus: 16}, {queue: \"*\", gpus: 4, running: 9}, "
        "{queue: idle, running: 3}, {queue: lab, gpus: 2, borrow_gpus: 3, gpu_type: A100}");
    collect(queues);
    assert_string_equal(of("short", "gpus", ""), "4 2");
    assert_string_equal(of("short", "cpus", ""), "16 1.5");
    assert_string_equal(of("short", "jobs", ""), "9 1");
    assert_string_equal(of("other", "gpus", ""), "4 1");
    assert_string_equal(of("idle", "jobs", ""), "3 0");
    assert_string_equal(of("idle", "gpus", ""), "4 0");
    assert_string_equal(of("lab", "gpus", "A100"), "5 0");
    assert_string_equal(of("lab", "cpus", ""), "-");
    struct job_place place = {.state = STATE_SUBMITTED, .id = "one-0000000000001"};
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
    put_running("three-0000000000003", "lab", 1);
    collect(queues);
    assert_string_equal(of("short", "gpus", ""), "4 0");
    assert_string_equal(of("lab", "gpus", "A100"), "5 1");
    series_free(table);
    table = NULL;
    queues_free(queues);
    settings_free(&settings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_rows_for_queues_nothing_is_read),
        TEST(the_strictest_row_and_what_runs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
