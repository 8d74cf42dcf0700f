/* request_deadline_test.c - deadlines, units, sizes and checkpoints of a job file, good and bad */
#include "tests/unit/request_support.h"

#include <time.h>

#include "base/clock.h"

#define HEAD "name: a\nlibrary: any\nscript: x\n"
#define SINGLE HEAD "type: single\n"
#define ELASTIC HEAD "type: elastic\n"
#define DISTRIBUTED HEAD "type: distributed\ncheckpoint: {}\n"

static const int64_t accepted = 1777658400000; /* 2026-05-01T18:00:00Z */

/* A job file without a fault; whether its deadline can be told, and when that is. */
static int read_deadline(const char *deadline, int64_t *time)
{
    char source[256];
    snprintf(source, sizeof(source), SINGLE "deadline: %s\n", deadline);
    const struct description *job = good(source);
    assert_true(text_is(job->deadline_mode, "count"));
    return description_deadline(job, "j.yaml", accepted, time, &error);
}

static void is_due(const char *deadline, const char *expected)
{
    char buffer[CLOCK_TEXT_SIZE];
    int64_t time;
    if (read_deadline(deadline, &time))
        fail_msg("%s: %s", deadline, error.text);
    assert_string_equal(clock_format(time, buffer), expected);
}

static void deadlines_are_times(void **state)
{
    (void)state;
    int64_t time = 7;
    is_due("2026-05-01T18:01Z", "2026-05-01T18:01:00.000Z");
    is_due("2026-05-01T20:01+02:00", "2026-05-01T18:01:00.000Z");
    is_due("2026-05-01T18:00:00.001Z", "2026-05-01T18:00:00.001Z");
    is_due("2026-12-31T23:59:59-11:30", "2027-01-01T11:29:59.000Z");
    is_due("\"+6h\"", "2026-05-02T00:00:00.000Z");
    is_due("+1h30m", "2026-05-01T19:30:00.000Z");
    is_due("+90", "2026-05-01T18:01:30.000Z");
    is_due("+1s", "2026-05-01T18:00:01.000Z");
    const struct description *job = good(SINGLE);
    assert_int_equal(description_deadline(job, "j.yaml", accepted, &time, &error), 0);
    assert_int_equal(time, 0);
    assert_int_equal(job->deadline_mode.length, 0);
    job = good(SINGLE "weight: 0.5\ndeadline: +1d\ndeadline_mode: firm\n");
    assert_true(job->weight == 0.5);
    assert_true(text_is(job->deadline_mode, "firm"));
    good("{\"name\": \"a\", \"library\": \"any\", \"type\": \"single\", \"script\": \"x\", "
         "\"deadline\": \"+6h\", \"weight\": 100}");
}

static void is_over(const char *deadline)
{
    char sentence[256];
    int64_t time;
    snprintf(sentence, sizeof(sentence),
             "j.yaml:5:11: deadline: found %s, which is over, expected a time after "
             "2026-05-01T18:00:00.000Z, when the job was accepted",
             deadline);
    assert_int_equal(read_deadline(deadline, &time), -1);
    assert_string_equal(error.text, sentence);
}

/* Each of the values, up to NULL, is refused with that sentence where it stands between the two. */
static void bad_values(const char *before, const char *const values[], const char *after,
                       const char *sentence)
{
    for (; *values; values++) {
        char source[256];
        snprintf(source, sizeof(source), "%s%s%s", before, *values, after);
        bad(source, sentence);
    }
}

static void what_is_no_deadline_is_refused(void **state)
{
    (void)state;
    is_over("2026-05-01T18:00Z");
    is_over("2026-05-01T18:01+00:01");
    is_over("0001-01-01T00:00Z");
    static const char *const none[] = {"tomorrow",
                                       "2026-05-01T18:00",
                                       "2026-05-01",
                                       "2026-02-30T18:00Z",
                                       "+",
                                       "\"+ 6h\"",
                                       "+6x",
                                       "+-6h",
                                       "6h",
                                       "20260501",
                                       "[+6h]",
                                       "{}",
                                       "true",
                                       "\"\"",
                                       "2026-05-01T18:00Zulu",
                                       NULL};
    bad_values(SINGLE "deadline: ", none, "\n",
               ", expected a time with its zone such as 2026-05-01T18:00Z, or +6h");
    bad(SINGLE "deadline: tomorrow\n", "j.yaml:5:11: deadline: found \"tomorrow\", expected");
    bad(SINGLE "deadline: +0s\n", "deadline: found \"+0s\", expected at least +1s");
    bad(SINGLE "deadline: +11y\n", "deadline: found \"+11y\"");
    bad(SINGLE "deadline_mode: firm\n",
        "j.yaml:5:16: deadline_mode: found without deadline, expected deadline as well");
    bad(SINGLE "weight: 2\n", "weight: found without deadline, expected deadline as well");
    bad(SINGLE "deadline: +1h\ndeadline_mode: soft\n",
        "deadline_mode: found \"soft\", expected count, firm or none");
    static const char *const weights[] = {"0",     "-1",    "0.009", "100.1",
                                          "1e300", "\"2\"", "[2]",   NULL};
    bad_values(SINGLE "deadline: +1h\nweight: ", weights, "\n",
               ", expected a number from 0.01 to 100");
}

static void units_are_counted_in_one_way(void **state)
{
    (void)state;
    const struct description *job =
        good(SINGLE "units: {total: 400, pattern: \"step {done}/{total}\"}\n");
    assert_true(job->units.total == 400);
    assert_true(text_is(job->units.pattern, "step {done}/{total}"));
    job = good(SINGLE "units: {pattern: 'epoch {done} of {total}'}\n");
    assert_true(job->units.total == 0);
    job = good(SINGLE "output: /data/out\nunits: {file: /data/out/./x/progress}\n");
    assert_true(text_is(job->units.file, "/data/out/x/progress"));
    job = good("#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=single\n"
               "#DL units.total=1e3\n#DL units.pattern=\"step {done}\"\n#DL deadline=+6h\n"
               "#DL checkpoint={}\n#DL size.max=4\ntrue\n");
    assert_true(job->units.total == 1000);
    assert_true(text_is(job->units.pattern, "step {done}"));
    assert_int_equal(job->deadline.after, 6 * 3600 * 1000);
    assert_int_equal(job->size_max, 0);
    assert_int_equal(job->sizes.most, 4000);

    bad(SINGLE "units: 400\n", "j.yaml:5:8: units: found 400, expected a map such as");
    bad(SINGLE "units: {}\n", "units: found neither pattern nor file");
    bad(SINGLE "units: {total: 400}\n", "units: found neither pattern nor file");
    bad(SINGLE "units: {total: 0, pattern: \"{done}\"}\n",
        "j.yaml:5:16: units.total: found 0, expected a number above 0");
    bad(SINGLE "units: {total: many, pattern: \"{done}\"}\n", "units.total: found \"many\"");
    bad(SINGLE "units: {pattern: \"step {done}\"}\n",
        "j.yaml:5:8: units: found neither total nor {total} in the pattern");
    bad(SINGLE "units: {total: 4, pattern: step}\n",
        "j.yaml:5:28: units.pattern: found \"step\", expected {done} in it");
    bad(SINGLE "units: {total: 4, pattern: \"step (\\\\d+)\"}\n", "units.pattern: found a \\");
    bad(SINGLE "units: {total: 4, pattern: 7}\n", "units.pattern: found 7, expected text");
    bad(SINGLE "units: {total: 4, regex: x}\n", "units.regex: unknown field; the fields of units "
                                                "are total, pattern, file");
    bad(SINGLE "output: /data/out\nunits: {file: /data/out/p, pattern: \"{done}/{total}\"}\n",
        "units: found pattern and file, expected only one of them");
    bad(SINGLE "units: {file: /data/out/p}\n",
        "j.yaml:5:15: units.file: found without output, expected output as well");
    static const char *const files[] = {"/data/p", "/data/out", "/data/out/", "/data/outer/p",
                                        NULL};
    bad_values(SINGLE "output: /data/out\nunits: {file: ", files, "}\n",
               "expected a file below output");
    bad(SINGLE "output: /data/out\nunits: {file: /data/out/../p}\n", "without .. parts");
    bad(SINGLE "output: /data/out\nunits: {file: p}\n", "expected an absolute path below /");
    bad(HEAD "type: array\narray: 3\nunits: {pattern: \"{done}/{total}\"}\n",
        "units: found with the type array");
}

static void checkpoints_have_a_signal(void **state)
{
    (void)state;
    const struct description *job = good(SINGLE);
    assert_int_equal(job->checkpoint.signal.length, 0);
    job = good(SINGLE "checkpoint: {}\n");
    assert_true(text_is(job->checkpoint.signal, "TERM"));
    assert_int_equal(job->checkpoint.grace, 30000);
    assert_int_equal(job->checkpoint.interval, 0);
    job = good(SINGLE "checkpoint: {signal: SIGUSR1, grace: 2m, interval: 600}\n");
    assert_true(text_is(job->checkpoint.signal, "USR1"));
    assert_int_equal(job->checkpoint.grace, 120000);
    assert_int_equal(job->checkpoint.interval, 600000);
    bad(SINGLE "checkpoint: true\n", "checkpoint: found true, expected a map such as");
    bad(SINGLE "checkpoint: {signal: KILL}\n", "j.yaml:5:22: checkpoint.signal: found \"KILL\", "
                                               "expected one of TERM, USR1, USR2, INT, HUP");
    bad(SINGLE "checkpoint: {signal: 15}\n", "checkpoint.signal: found 15");
    bad(SINGLE "checkpoint: {grace: 0s}\n",
        "checkpoint.grace: found \"0s\", expected a duration of "
        "at least 1 s and at most 1 h, such as 30s, 2m or "
        "90 (seconds)");
    bad(SINGLE "checkpoint: {grace: 61m}\n", "checkpoint.grace: found \"61m\"");
    bad(SINGLE "checkpoint: {interval: never}\n", "checkpoint.interval: found \"never\"");
    bad(SINGLE "checkpoint: {period: 3}\n", "checkpoint.period: unknown field");
}

static void has_sizes(const char *source, enum size_kind kind, int64_t least, int64_t most,
                      int64_t step, int64_t begins)
{
    const struct description *job = good(source);
    const struct task_role *role = &job->tasks[0];
    assert_int_equal(job->sizes.kind, kind);
    assert_int_equal(job->sizes.least, least);
    assert_int_equal(job->sizes.most, most);
    assert_int_equal(job->sizes.step, step);
    assert_int_equal(job->size, begins);
    if (kind != SIZE_FIXED)
        assert_int_equal(kind == SIZE_TASKS  ? role->count
                         : kind == SIZE_GPUS ? role->gpus
                                             : role->cpus,
                         begins);
}

static void sizes_count_what_the_job_has(void **state)
{
    (void)state;
    has_sizes(SINGLE, SIZE_FIXED, 0, 0, 0, 0);
    has_sizes(SINGLE "tasks: {w: {cpus: 2}}\nsize: {max: 4}\n", SIZE_CPUS, 1000, 4000, 0, 2000);
    has_sizes(SINGLE "tasks: {w: {cpus: 500m}}\nsize: {max: 4}\n", SIZE_CPUS, 500, 4000, 0, 500);
    has_sizes(SINGLE "size: {min: 250m, max: 1.5, step: 0.25}\n", SIZE_CPUS, 250, 1500, 250, 1000);
    has_sizes(SINGLE "size: {min: 2, max: 4, step: any}\n", SIZE_CPUS, 2000, 4000, 500, 2000);
    has_sizes(SINGLE "size: {min: 0.1, max: 0.5}\n", SIZE_CPUS, 100, 500, 0, 500);
}

static void begins_within(void **state)
{
    (void)state;
    const struct description *job;
    has_sizes(SINGLE "size: {min: 2, max: 2}\n", SIZE_FIXED, 0, 0, 0, 0);
    job = good(SINGLE "size: {min: 2, max: 2}\n");
    assert_int_equal(job->tasks[0].cpus, 2000);
    has_sizes(SINGLE "checkpoint: {}\ntasks: {w: {gpus: 2, cpus: 8}}\nsize: {max: 8}\n", SIZE_GPUS,
              1, 8, 0, 2);
    has_sizes(DISTRIBUTED "tasks: {w: {count: 2, gpus: 1}}\nsize: {min: 2, max: 8, step: 2}\n",
              SIZE_TASKS, 2, 8, 2, 2);
    has_sizes(DISTRIBUTED "size: {min: 2, max: 8, step: pow2}\n", SIZE_TASKS, 2, 8, 0, 2);
    has_sizes(ELASTIC "size: {min: 3, max: 8}\n", SIZE_TASKS, 3, 8, 0, 3);
    has_sizes(ELASTIC "tasks: {w: {count: 4}}\n", SIZE_FIXED, 0, 0, 0, 0);
    has_sizes(ELASTIC "tasks: {w: {count: 4}}\nsize: {}\n", SIZE_TASKS, 1, 4, 0, 4);
    job = good(ELASTIC "size: {min: 3, max: 8, step: any}\n");
    assert_int_equal(job->size_min, 3);
    assert_int_equal(job->size_max, 8);
    assert_int_equal(job->sizes.step, 1);
    job = good(ELASTIC "tasks: {w: {count: 3}}\nsize: {min: 3}\n");
    assert_int_equal(job->size_min, 3);
    assert_int_equal(job->size_max, 3);
    assert_int_equal(job->sizes.kind, SIZE_FIXED);
}

static void a_description_is_resized(void **state)
{
    (void)state;
    struct description *job = good(DISTRIBUTED "size: {max: 8}\n");
    description_resize(job, 5);
    assert_int_equal(job->tasks[0].count, 5);
    assert_int_equal(job->size, 5);
    job = good(SINGLE "size: {max: 8}\n");
    description_resize(job, 1500);
    assert_int_equal(job->tasks[0].cpus, 1500);
    assert_int_equal(job->tasks[0].count, 1);
    job = good(SINGLE "checkpoint: {}\ntasks: {w: {gpus: 1}}\nsize: {max: 8}\n");
    description_resize(job, 3);
    assert_int_equal(job->tasks[0].gpus, 3);
    assert_int_equal(job->tasks[0].cpus, 1000);
    job = good(SINGLE);
    description_resize(job, 3);
    assert_int_equal(job->tasks[0].count, 1);
    assert_int_equal(job->size, 0);
}

static void sizes_that_do_not_go_are_refused(void **state)
{
    (void)state;
    bad(HEAD "type: distributed\nsize: {max: 3}\n",
        "j.yaml:5:7: size: found without a way to change it: expected checkpoint as well, so that "
        "the job can be stopped and goes on at another size, or type: elastic");
    bad(SINGLE "tasks: {w: {gpus: 1}}\nsize: {max: 3}\n",
        "j.yaml:6:7: size: found without a way to change it: expected checkpoint as well, so that "
        "the job can be stopped and goes on at another size");
    bad(HEAD "type: ps\ntasks: {ps: {}, worker: {}}\nsize: {max: 3}\n",
        "size: found with another type of job, expected type: elastic, distributed or single");
    bad(HEAD "type: notebook\nsize: {max: 3}\n", "size: found with another type of job");
    bad(DISTRIBUTED "tasks: {a: {}, b: {}}\nsize: {max: 3}\n",
        "size: found with 2 roles, expected one, the tasks of which are counted");
    bad(SINGLE "size: {min: 3, max: 2}\n",
        "j.yaml:5:13: size.min: found 3, expected at most 2, the max");
    bad(SINGLE "tasks: {w: {cpus: 2.5}}\nsize: {max: 2}\n",
        "size.max: found 2, expected at least 2.5, the CPUs that the job begins with");
    bad(SINGLE "size: {min: 2}\n",
        "size.min: found 2, expected at most 1, the CPUs that the job begins with");
    bad(SINGLE "tasks: {w: {gpus: 4}}\ncheckpoint: {}\nsize: {min: 5, max: 8}\n",
        "size.min: found 5, expected at most 4, the GPUs that the job begins with");
    bad(SINGLE "size: {max: 0.001}\n", "size.max: found 0.001, expected from 0.01 to 100000");
    bad(DISTRIBUTED "size: {max: 1.5}\n",
        "size.max: found 1.5, expected a whole number from 1 to 10000");
    bad(DISTRIBUTED "size: {max: 4, step: 0}\n",
        "size.step: found 0, expected a whole number from 1 to 10000");
    bad(DISTRIBUTED "size: {max: 4, step: pow3}\n", "size.step: found \"pow3\", expected a whole");
    bad(SINGLE "tasks: {w: {gpus: 1}}\ncheckpoint: {}\nsize: {max: 1025}\n",
        "size.max: found 1025, expected a whole number from 1 to 1024");
    bad(SINGLE "size: 4\n", "size: found 4, expected a map such as {min: 2, max: 8}");
    bad(SINGLE "size: {most: 4}\n", "size.most: unknown field");
    /* What decides when a job has ended holds at every size. */
    bad(DISTRIBUTED "tasks: {w: {count: 4}}\nsize: {min: 2, max: 8}\n"
                    "complete: {w: {succeeded: 4}}\n",
        "complete.w.succeeded: found 4, expected at most 2, the tasks that the role has at its "
        "smallest size");
    good(DISTRIBUTED "tasks: {w: {count: 4}}\nsize: {min: 2, max: 8}\n"
                     "complete: {w: {succeeded: 2, failed: -1}}\n");
}

/* When a job with this `begin` begins, where clocks are put back and forward as in Berlin. */
static void begins(const char *written, const char *expected)
{
    char source[256], buffer[CLOCK_TEXT_SIZE];
    int64_t time;
    snprintf(source, sizeof(source), SINGLE "begin: %s\n", written);
    if (description_begin(good(source), "j.yaml", accepted, 0, &time, &error))
        fail_msg("%s: %s", written, error.text);
    if (strcmp(clock_format(time, buffer), expected) != 0)
        fail_msg("%s: %s, expected %s", written, buffer, expected);
}

static void jobs_begin_at_a_time(void **state)
{
    (void)state;
    int64_t time = 7;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    begins("2026-05-01T18:01Z", "2026-05-01T18:01:00.000Z");
    begins("2026-05-01T20:01", "2026-05-01T18:01:00.000Z");
    begins("2026-12-01T20:01:30", "2026-12-01T19:01:30.000Z");
    begins("\"2026-05-02 08:00\"", "2026-05-02T06:00:00.000Z");
    begins("2026-05-02", "2026-05-01T22:00:00.000Z");
    begins("+6h", "2026-05-02T00:00:00.000Z");
    begins("\"20:00\"", "2026-05-01T18:00:00.000Z");
    begins("\"19:59:59\"", "2026-05-02T17:59:59.000Z");
    begins("\"00:00\"", "2026-05-01T22:00:00.000Z");
    /* 2026-03-29 has no 02:30, and 2026-10-25 has two. */
    begins("2026-03-29T01:59", "2026-03-29T00:59:00.000Z");
    begins("2026-03-29T02:30", "2026-03-29T01:30:00.000Z");
    begins("2026-03-29T03:00", "2026-03-29T01:00:00.000Z");
    begins("2026-10-25T02:30", "2026-10-25T00:30:00.000Z");
    begins("2026-10-25T03:00", "2026-10-25T02:00:00.000Z");
    begins("2020-01-01T00:00Z", "2020-01-01T00:00:00.000Z"); /* it is over: at once */
    unsetenv("TZ");
    tzset();
    assert_int_equal(
        description_begin(good(SINGLE "begin: now\n"), "j.yaml", accepted, 0, &time, &error), 0);
    assert_int_equal(time, 0);
}

static void what_is_no_beginning_is_refused(void **state)
{
    (void)state;
    static const char *const none[] = {"tomorrow",
                                       "2026-02-29",
                                       "2026-13-01",
                                       "2026-05-01T25:00",
                                       "\"24:00\"",
                                       "\"20:60\"",
                                       "\"2:30\"",
                                       "6h",
                                       "+6x",
                                       "[now]",
                                       "2026-05-01T18:0",
                                       "\"\"",
                                       "0000-01-01",
                                       "2026-05-01x",
                                       NULL};
    int64_t time;
    bad_values(SINGLE "begin: ", none, "\n", ", expected a time such as 22:00, 2026-05-01T18:00");
    const struct description *job = good(SINGLE "begin: +7h\ndeadline: +6h\n");
    assert_int_equal(
        description_begin(job, "j.yaml", accepted, accepted + 6 * 3600 * 1000, &time, &error), -1);
    assert_string_equal(error.text, "j.yaml:5:8: begin: found +7h, expected a time before "
                                    "2026-05-02T00:00:00.000Z, the job's deadline");
    job = good(SINGLE "begin: 2126-05-01T18:00Z\n");
    assert_int_equal(description_begin(job, "j.yaml", accepted, 0, &time, &error), -1);
    assert_non_null(strstr(error.text, "begin: found 2126-05-01T18:00Z, expected a time before"));
}

static void signals_come_before_the_limit(void **state)
{
    (void)state;
    const struct description *job = good(SINGLE);
    assert_int_equal(job->signal.name.length, 0);
    job = good(SINGLE "time_limit: 1h\nsignal: {name: SIGUSR2, before: 5m}\n");
    assert_true(text_is(job->signal.name, "USR2"));
    assert_int_equal(job->signal.before, 300000);
    job = good(SINGLE "signal: TERM\n");
    assert_true(text_is(job->signal.name, "TERM"));
    assert_int_equal(job->signal.before, 60000);
    bad(SINGLE "signal: KILL\n", "j.yaml:5:9: signal: found \"KILL\", expected one of TERM, USR1");
    bad(SINGLE "signal: 10\n", "signal: found 10, expected a map such as {name: USR1, before: 2m}");
    bad(SINGLE "signal: {before: 2m}\n", "signal: found a map, expected the name");
    bad(SINGLE "signal: {name: USR1, before: 0s}\n", "signal.before: found \"0s\"");
    bad(SINGLE "signal: {name: USR1, grace: 1s}\n", "signal.grace: unknown field");
    bad(SINGLE "time_limit: 1m\nsignal: {name: USR1, before: 60s}\n",
        "signal: found 1 min before the time limit, expected less than the time_limit itself");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(deadlines_are_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_deadline_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_begin_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_beginning_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signals_come_before_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(units_are_counted_in_one_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checkpoints_have_a_signal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_count_what_the_job_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(begins_within, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_description_is_resized, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_that_do_not_go_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
