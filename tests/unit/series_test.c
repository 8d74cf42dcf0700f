/* series_test.c - stages/metrics/series.c: series are bounded, and printed as Prometheus reads them */
#include "tests/unit/unit.h"

#include "stages/metrics/series.h"

static const struct series_metric metrics[] = {
    {"up", SERIES_GAUGE, false, "Whether."},
    {"jobs_total", SERIES_COUNTER, false, "Jobs."},
    {"held_seconds_total", SERIES_COUNTER, true, "Held."},
    {"request_seconds", SERIES_SUMMARY, false, "Requests."},
    {"wait_seconds", SERIES_HISTOGRAM, false, "Waits."},
};

static void is_printed(const struct series_table *first, const struct series_table *second,
                       const char *wanted)
{
    struct buffer out = {0};
    buffer_add_string(&out, "");
    series_print(&out, metrics, ARRAY_COUNT(metrics), first, second);
    assert_string_equal(out.data, wanted);
    buffer_free(&out);
}

static void each_kind_has_its_lines(void **state)
{
    (void)state;
    struct series_table *table = series_new(), *other = series_new();
    is_printed(table, NULL, "");
    series_gauge(table, "up", "", 0.5);
    series_add(table, "jobs_total", "", 2, 7);
    series_add(table, "held_seconds_total", "a=\"b\"", 2, 7);
    series_add(table, "held_seconds_total", "a=\"b\"", 1, 1);
    series_add(other, "held_seconds_total", "a=\"c\"", 1, 1);
    series_add(table, "request_seconds", "verb=\"GET\"", 4, 1.5);
    series_add(table, "unknown", "", 1, 1);
    is_printed(table, other,
               "# HELP dlspool_up Whether.\n# TYPE dlspool_up gauge\ndlspool_up 0.5\n"
               "# HELP dlspool_jobs_total Jobs.\n# TYPE dlspool_jobs_total counter\n"
               "dlspool_jobs_total 2\n"
               "# HELP dlspool_held_seconds_total Held.\n"
               "# TYPE dlspool_held_seconds_total counter\n"
               "dlspool_held_seconds_total{a=\"b\"} 8\ndlspool_held_seconds_total{a=\"c\"} 1\n"
               "# HELP dlspool_request_seconds Requests.\n"
               "# TYPE dlspool_request_seconds summary\n"
               "dlspool_request_seconds_sum{verb=\"GET\"} 1.5\n"
               "dlspool_request_seconds_count{verb=\"GET\"} 4\n");
    series_free(table);
    series_free(other);
}

static void buckets_are_cumulative(void **state)
{
    (void)state;
    struct series_table *table = series_new();
    struct buffer out = {0};
    series_observe(table, "wait_seconds", "queue=\"q\"", 5); /* a bound is in its bucket */
    series_observe(table, "wait_seconds", "queue=\"q\"", 61);
    series_observe(table, "wait_seconds", "queue=\"q\"", 1e6);
    series_print(&out, metrics, ARRAY_COUNT(metrics), table, NULL);
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"1\"} 0\n"));
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"5\"} 1\n"));
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"60\"} 1\n"));
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"300\"} 2\n"));
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"259200\"} 2\n"));
    assert_non_null(strstr(out.data, "_bucket{queue=\"q\",le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(out.data, "_sum{queue=\"q\"} 1000066\n"));
    assert_non_null(strstr(out.data, "_count{queue=\"q\"} 3\n"));
    buffer_free(&out);
    series_free(table);
}

static void what_is_beyond_is_other(void **state)
{
    (void)state;
    struct series_table *table = series_new();
    char labels[64];
    for (int i = 0; i < SERIES_MOST + 5; i++) {
        snprintf(labels, sizeof(labels), "user=\"u\\\"%d\",state=\"x\"", i);
        series_add(table, "jobs_total", labels, 1, 0);
        series_observe(table, "wait_seconds", labels, 2);
    }
    const struct series *other = series_find(table, "jobs_total{user=\"other\",state=\"other\"}");
    assert_non_null(other);
    assert_int_equal(other->count, 5);
    assert_null(series_find(table, "jobs_total{user=\"u\\\"1001\",state=\"x\"}"));
    series_add(table, "jobs_total", "user=\"u\\\"7\",state=\"x\"", 1, 0); /* one that is there */
    assert_int_equal(series_find(table, "jobs_total{user=\"u\\\"7\",state=\"x\"}")->count, 2);
    other = series_find(table, "wait_seconds_bucket{user=\"other\",state=\"other\",le=\"5\"}");
    assert_int_equal(other->count, 5);
    series_remove(table, "jobs_total");
    assert_null(series_find(table, "jobs_total{user=\"u\\\"7\",state=\"x\"}"));
    series_add(table, "jobs_total", "user=\"again\"", 1, 0);
    assert_non_null(series_find(table, "jobs_total{user=\"again\"}"));
    series_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_lines),
        cmocka_unit_test(buckets_are_cumulative),
        cmocka_unit_test(what_is_beyond_is_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
