/* what the record of a job says of its request: deadline, sizes, resources, and what there is to do */
#include "tests/unit/unit_arena.h"

#include "stages/prepare/prepare.h"

#define HEAD "name: a\nlibrary: any\nscript: x\n"

static const int64_t accepted = 1777658400000; /* 2026-05-01T18:00:00Z */

static struct job_record record;

/* As intake does, or, with a record that is there, as whoever renders it again. */
static enum prepare_result prepare(const char *source)
{
    struct preparation preparation;
    record.accepted = accepted;
    enum prepare_result result =
        prepare_request(arena, text_of(source), "j.yaml", &record, &preparation);
    assert_true((preparation.description != NULL) == (result == PREPARED));
    error = preparation.error;
    return result;
}

static void prepared(const char *source)
{
    record = (struct job_record){.id = TEXT("x")};
    if (prepare(source) != PREPARED)
        fail_msg("%s\n   was refused: %s", source, error.text);
}

static void the_record_has_the_terms(void **state)
{
    (void)state;
    prepared(HEAD "type: single\noutput: /out\ntasks: {main: {gpus: 2, cpus: 4}}\ngpu_type: A100\n"
                  "deadline: +6h\ndeadline_mode: firm\nweight: 2\nsize: {max: 8, step: 3}\n"
                  "units: {total: 400, file: /out/progress}\n"
                  "checkpoint: {signal: USR1, grace: 60s, interval: 10m}\n"
                  "signal: {name: HUP, before: 2m}\n");
    assert_int_equal(record.deadline, accepted + 6 * 3600 * 1000);
    assert_true(text_is(record.deadline_mode, "firm"));
    assert_true(record.weight == 2);
    assert_true(record.units_total == 400);
    assert_true(text_is(record.units_file, "/out/progress"));
    assert_int_equal(record.units_pattern.length, 0);
    assert_int_equal(record.sizes.kind, SIZE_GPUS);
    assert_int_equal(record.sizes.least, 1);
    assert_int_equal(record.sizes.most, 8);
    assert_int_equal(record.sizes.step, 3);
    assert_int_equal(record.size, 2);
    assert_int_equal(record.size_asked, 2);
    assert_true(text_is(record.checkpoint_signal, "USR1"));
    assert_int_equal(record.checkpoint_grace, 60000);
    assert_int_equal(record.checkpoint_interval, 600000);
    assert_true(text_is(record.signal_name, "HUP"));
    assert_int_equal(record.signal_before, 120000);
    assert_true(text_is(record.gpu_type, "A100"));
    assert_int_equal(record.gpus, 2);
    assert_int_equal(record.cpus, 4000);
    prepared(HEAD "type: single\n");
    assert_int_equal(record.deadline, 0);
    assert_int_equal(record.deadline_mode.length, 0);
    assert_int_equal(record.sizes.kind, SIZE_FIXED);
    assert_int_equal(record.size, 0);
    assert_int_equal(record.arguments_sha256.length, 64);
}

static void a_deadline_that_is_over_is_refused(void **state)
{
    (void)state;
    record = (struct job_record){.id = TEXT("x")};
    assert_int_equal(prepare(HEAD "type: single\ndeadline: 2026-05-01T17:00Z\n"),
                     PREPARE_BAD_REQUEST);
    assert_string_equal(error.text,
                        "j.yaml:5:11: deadline: found 2026-05-01T17:00Z, which is over, "
                        "expected a time after 2026-05-01T18:00:00.000Z, when the job "
                        "was accepted");
}

/* A job that is rendered again has the size that its record says, and the resources of that. */
static void the_size_of_the_record_is_taken(void **state)
{
    (void)state;
    static const char source[] = HEAD "type: elastic\ndeadline: +6h\n"
                                      "tasks: {w: {count: 2, cpus: 3, memory: 1Gi}}\n"
                                      "size: {min: 2, max: 8}\n";
    static const struct {
        int64_t size, expected;
    } cases[] = {{0, 2}, {4, 4}, {8, 8}, {9, 8}, {1, 2}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int64_t expected = cases[i].expected;
        record = (struct job_record){.id = TEXT("x"), .size = cases[i].size, .size_next = 5};
        assert_int_equal(prepare(source), PREPARED);
        assert_int_equal(record.size, expected);
        assert_int_equal(record.size_asked, 2);
        assert_int_equal(record.size_next, 5);
        assert_int_equal(record.cpus, 3000 * expected);
        assert_int_equal(record.memory, expected << 30);
        assert_int_equal(record.deadline, accepted + 6 * 3600 * 1000);
    }
    /* A size of a job that has none any more is none. */
    record = (struct job_record){.id = TEXT("x"), .size = 4, .size_asked = 2};
    assert_int_equal(prepare(HEAD "type: single\n"), PREPARED);
    assert_int_equal(record.size, 0);
    assert_int_equal(record.size_asked, 0);
    assert_int_equal(record.cpus, 1000);
}

static struct text sum_of(const char *source)
{
    prepared(source);
    return record.arguments_sha256;
}

static void the_same_work_has_the_same_sum(void **state)
{
    (void)state;
    struct text sum = sum_of(HEAD "type: single\nargs: [ab, c]\nenv: {A: b}\n");
    assert_true(text_equal(sum, sum_of("type: single\n" HEAD "args: [ab, c]\nenv: {A: b}\n"
                                       "deadline: +1h\ntasks: {main: {cpus: 4}}\npriority: 3\n")));
    struct text script =
        sum_of("#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=single\n#DL deadline=+6h\ntrue\n");
    assert_true(text_equal(script, sum_of("#!/bin/sh\n#DL name=b\n#DL library=any\n"
                                          "#DL type=single\n#DL deadline=+8h\ntrue\n")));
    assert_false(text_equal(script, sum_of("#!/bin/sh\n#DL name=b\n#DL library=any\n"
                                           "#DL type=single\n#DL args=[x]\ntrue\n")));
    assert_false(text_equal(script, sum_of("#!/bin/sh\n#DL name=b\n#DL library=any\n"
                                           "#DL type=single\nfalse\n")));
    static const char *const others[] = {
        HEAD "type: single\nargs: [a, bc]\nenv: {A: b}\n",
        HEAD "type: single\nargs: [ab, c]\nenv: {A: c}\n",
        HEAD "type: single\nargs: [ab, c]\nenv: {Ab: \"\"}\n",
        HEAD "type: single\nargs: [ab, c, A]\nenv: {A: b}\n",
        HEAD "type: single\nargs: [ab, c]\n",
        HEAD "type: single\nargs: [ab, c]\nenv: {A: b}\ndataset: /d\n",
        HEAD "type: single\nargs: [ab, c]\nenv: {A: b}\ntasks: {main: {env: {B: c}}}\n",
        "name: a\nlibrary: any\nscript: y\ntype: single\nargs: [ab, c]\nenv: {A: b}\n",
        "name: a\nlibrary: any\nprogram: /p\nentry: x\ntype: single\nargs: [ab, c]\nenv: {A: b}\n",
        "name: a\nlibrary: any\nprogram: /p/x\ntype: single\ntasks: {main: {command: [ab, c]}}\n"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (text_equal(sum, sum_of(others[i])))
            fail_msg("%s has the same sum", others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_record_has_the_terms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deadline_that_is_over_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_size_of_the_record_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_work_has_the_same_sum, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
