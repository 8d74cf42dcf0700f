/* tests/unit/sweep_test.c - which tasks of an array an attempt runs, and what templates see of it */
#include "base/json.h"
#include "base/ranges.h"
#include "renderer/context.h"
#include "stages/shared/sweep.h"
#include "tests/unit/request_support.h"

#define ARRAY "name: a\nlibrary: any\nscript: x\ntype: array\narray: "

/* "0=0 1 2=3": ended with 0, running, ended with 3. */
static struct job_poll poll_of(const char *written)
{
    struct job_poll poll = {.phase = PHASE_FAILED};
    struct text rest = text_of(written), word;
    poll.tasks = arena_allocate(arena, 64 * sizeof(*poll.tasks));
    while (rest.length && text_next(&rest, ' ', &word)) {
        struct task_state *task = &poll.tasks[poll.task_count++];
        task->index = atoi(word.data);
        const char *equals = memchr(word.data, '=', word.length);
        task->ended = equals;
        task->exit_code = equals ? atoi(equals + 1) : 0;
    }
    return poll;
}

static void leaves(const char *array, const char *tasks, const char *left)
{
    struct job_record record = {.array = text_of(array)};
    struct job_poll poll = poll_of(tasks);
    for (int i = 0; i < 2; i++) { /* again is the same */
        sweep_note_left(arena, &record, &poll);
        if (!text_is(record.array_left, left))
            fail_msg("%s of %s leaves %s, expected %s", tasks, array,
                     record.array_left.length ? record.array_left.data : "nothing", left);
    }
}

static void what_did_not_succeed_is_left(void **state)
{
    (void)state;
    leaves("0-3", "0=0 1=1 2=0 3=2", "1,3");
    leaves("0-3", "0=0 1 2=0", "1,3"); /* one runs, one is not there */
    leaves("10,20-40:10", "0=0 1=1 2=0 3=0", "20");
    leaves("0-3", "", "0-3");
    leaves("0-3", "0=0 1=0 2=0 3=0", "0-3"); /* somebody must have had a reason */
    leaves("0-3", "9=0 -1=0 0=0", "1-3");
    leaves("", "0=1", "");
    leaves("nonsense", "0=1", "");
}

static void the_next_attempt_runs_only_that(void **state)
{
    (void)state;
    struct description *job = good(ARRAY "0-9%4\n");
    struct job_record record = {0};
    sweep_select(arena, &record, job);
    assert_true(text_is(record.array, "0-9"));
    assert_int_equal(job->tasks[0].count, 10);
    record.array_left = TEXT("3,7");
    const struct sweep_choice by_itself = {0};
    assert_true(sweep_continue(arena, &record, &by_itself));
    assert_int_equal(record.array_left.length, 0);
    /* Repeated after a crash, and to render the job again, it is the same. */
    for (int i = 0; i < 2; i++) {
        job = good(ARRAY "0-9%4\n");
        assert_true(sweep_continue(arena, &record, &by_itself));
        sweep_select(arena, &record, job);
        assert_true(text_is(record.array, "3,7"));
        assert_int_equal(job->array.count, 2);
        assert_int_equal(job->array.total, 10);
        assert_int_equal(job->array.indexes[1], 7);
        assert_int_equal(job->tasks[0].count, 2);
    }
    /* What somebody wrote into job.yaml by hand asks for nothing new. */
    record.array = TEXT("7,11");
    sweep_select(arena, &record, job = good(ARRAY "0-9\n"));
    assert_true(text_is(record.array, "7"));
    record.array = TEXT("x");
    sweep_select(arena, &record, job = good(ARRAY "0-9\n"));
    assert_true(text_is(record.array, "0-9"));
    record.array = TEXT("");
    sweep_select(arena, &record, good("name: a\nlibrary: any\ntype: single\nscript: x\n"));
    assert_int_equal(record.array.length, 0);
}

/* Twice, as after a crash that came before the job had moved. */
static void goes_on(struct job_record *record, struct sweep_choice choice, const char *array,
                    const char *aside)
{
    for (int i = 0; i < 2; i++) {
        assert_true(sweep_continue(arena, record, &choice));
        assert_true(text_is(record->array, array));
        assert_true(text_is(record->array_aside, aside));
        assert_int_equal(record->array_left.length + record->array_killed.length, 0);
        choice.killed = (struct text){NULL, 0}; /* that request is granted */
    }
}

static void what_was_killed_runs_again_only_by_hand(void **state)
{
    (void)state;
    const struct job_record failed = {
        .array = TEXT("0-9"), .array_left = TEXT("3,5,8"), .array_killed = TEXT("3")};
    struct job_record record = failed;
    assert_true(sweep_is_incomplete(&record));
    goes_on(&record, (struct sweep_choice){0}, "5,8", "3");
    assert_true(sweep_is_incomplete(&record));
    record = failed;
    goes_on(&record, (struct sweep_choice){.killed = TEXT("8")}, "5", "3,8");
    record = failed;
    goes_on(&record, (struct sweep_choice){.by_hand = true}, "3,5,8", "");
    assert_false(sweep_is_incomplete(&record));
    record = failed;
    goes_on(&record, (struct sweep_choice){.by_hand = true, .only = TEXT("8,3,2")}, "3,8", "5");
    /* All that would run was killed. */
    record = failed;
    assert_false(sweep_continue(arena, &record, &(struct sweep_choice){.killed = TEXT("5-8")}));
    assert_true(text_is(record.array, "0-9"));
    /* What is set aside stays so, and is left when the attempt fails. */
    record = (struct job_record){.array = TEXT("5,7"), .array_aside = TEXT("3")};
    struct task_state tasks[] = {{.index = 0, .ended = true},
                                 {.index = 1, .ended = true, .exit_code = 1}};
    sweep_note_left(arena, &record, &(struct job_poll){.tasks = tasks, .task_count = 2});
    assert_true(text_is(record.array_left, "3,7"));
    goes_on(&record, (struct sweep_choice){0}, "7", "3");
    /* A task that was killed has not succeeded, whatever it ended with. */
    record = (struct job_record){.array = TEXT("5,7"), .array_killed = TEXT("5")};
    tasks[1].exit_code = 0;
    sweep_note_left(arena, &record, &(struct job_poll){.tasks = tasks, .task_count = 2});
    assert_true(text_is(record.array_left, "5"));
}

static void it_is_checked_which_tasks_are_asked_for(void **state)
{
    (void)state;
    const struct job_record record = {
        .array = TEXT("0-5"), .array_left = TEXT("1,3"), .array_killed = TEXT("1")};
    assert_int_equal(sweep_check_kill(&record, false, "s", TEXT("0,5"), &error), 0);
    assert_int_equal(sweep_check_kill(&record, false, "s", TEXT("4-6"), &error), -1);
    assert_string_equal(error.text, "s has no task of the index 6 to be killed; there are 0-5");
    assert_int_equal(sweep_check_kill(&record, true, "s", TEXT("1"), &error), -1);
    assert_string_equal(error.text, "s has no task of the index 1 to be killed; there is 3");
    const struct text none = {"", 0};
    assert_int_equal(sweep_check_retry(&record, none, "s", TEXT("1"), &error), 0);
    assert_int_equal(sweep_check_retry(&record, none, "s", TEXT("0"), &error), -1);
    assert_int_equal(sweep_check_retry(&record, TEXT("1"), "s", TEXT("1"), &error), -1);
    assert_int_equal(sweep_check_retry(&record, none, "s", TEXT("one"), &error), -1);
    assert_non_null(strstr(error.text, "s: indexes of tasks: found \"one\", expected a number"));
    assert_int_equal(sweep_check_hold(&record, none, "s", TEXT("3"), &error), 0);
    assert_int_equal(sweep_check_hold(&record, none, "s", TEXT("1"), &error), -1);
    assert_string_equal(error.text, "s has no task of the index 1 to be held; there is 3");
    assert_int_equal(sweep_check_hold(&record, TEXT("3"), "s", TEXT("3"), &error), -1);
    assert_string_equal(error.text, "s has no task left to be held");
    assert_int_equal(sweep_check_release(TEXT("3,5"), "s", TEXT("5"), &error), 0);
    assert_int_equal(sweep_check_release(TEXT("3,5"), "s", TEXT("4"), &error), -1);
    assert_string_equal(error.text, "s has no task of the index 4 to be released; there are 3,5");
}

static void what_is_held_is_left_out_until_it_is_released(void **state)
{
    (void)state;
    struct job_record record = {.array = TEXT("0-5")};
    assert_false(sweep_is_outdated(arena, &record, (struct text){"", 0}));
    assert_true(sweep_is_outdated(arena, &record, TEXT("3")));
    /* Before its first attempt, and again as after a crash. */
    const struct sweep_choice choice = {.held = TEXT("3,5"), .killed = TEXT("0")};
    assert_true(sweep_continue(arena, &record, &choice));
    for (int i = 0; i < 2; i++) {
        assert_true(text_is(record.array, "1,2,4"));
        assert_true(text_is(record.array_held, "3,5"));
        assert_true(text_is(record.array_aside, "0"));
        assert_true(sweep_continue(arena, &record, &(struct sweep_choice){.held = TEXT("3,5")}));
    }
    assert_false(sweep_is_outdated(arena, &record, TEXT("3,5")));
    assert_true(sweep_is_outdated(arena, &record, TEXT("3")));
    assert_true(sweep_is_incomplete(&record));
    assert_false(sweep_lacks_held(&record)); /* one was killed, too */
    /* One fails: it goes on alone, and what was released meanwhile. */
    sweep_note_left(arena, &record,
                    &(struct job_poll){
                        .tasks = (struct task_state[]){{.index = 0, .ended = true},
                                                       {.index = 1, .ended = true, .exit_code = 1},
                                                       {.index = 2, .ended = true}},
                        .task_count = 3});
    assert_true(text_is(record.array_left, "0,2,3,5"));
    struct buffer out = {0};
    sweep_describe(&out, &record);
    assert_string_equal(
        out.data, "1 of 3 tasks failed, that of the index 2, and 1 was not run again, that of "
                  "the index 0, and 2 are held, those of the indexes 3,5");
    buffer_free(&out);
    assert_true(sweep_continue(arena, &record, &(struct sweep_choice){.held = TEXT("5")}));
    assert_true(text_is(record.array, "2,3"));
    assert_true(text_is(record.array_held, "5"));
    assert_true(text_is(record.array_aside, "0"));
    /* By hand: all but what is held. */
    struct job_record by_hand = record;
    assert_true(sweep_continue(arena, &by_hand,
                               &(struct sweep_choice){.by_hand = true, .held = TEXT("5")}));
    assert_true(text_is(by_hand.array, "0,2,3"));
    assert_true(text_is(by_hand.array_held, "5"));
    /* Nothing else is left: it waits, and does not count as killed. */
    record =
        (struct job_record){.array = TEXT("2-3"), .array_left = TEXT("5"), .array_held = TEXT("5")};
    assert_true(sweep_lacks_held(&record));
    assert_false(sweep_continue(arena, &record, &(struct sweep_choice){.held = TEXT("5")}));
    assert_true(sweep_waits(arena, &record, &(struct sweep_choice){.held = TEXT("5")}));
    assert_false(sweep_waits(arena, &record,
                             &(struct sweep_choice){.held = TEXT("5"), .killed = TEXT("5")}));
    assert_false(sweep_waits(arena, &record, &(struct sweep_choice){0}));
    assert_true(text_is(sweep_waiting(arena, &record), "5"));
}

static void it_is_said_how_many_failed(void **state)
{
    (void)state;
    struct job_record record = {.array = TEXT("0-9"), .array_left = TEXT("3,7")};
    struct buffer out = {0};
    sweep_describe(&out, &record);
    assert_string_equal(out.data, "2 of 10 tasks failed, those of the indexes 3,7");
    buffer_clear(&out);
    record = (struct job_record){.array = TEXT("7"), .array_left = TEXT("7")};
    sweep_describe(&out, &record);
    assert_string_equal(out.data, "1 of 1 task failed, that of the index 7");
    buffer_clear(&out);
    record = (struct job_record){.array = TEXT("0-9"),
                                 .array_left = TEXT("3,7-8,12"),
                                 .array_killed = TEXT("7,8"),
                                 .array_aside = TEXT("12")};
    sweep_describe(&out, &record);
    assert_string_equal(
        out.data, "1 of 10 tasks failed, that of the index 3, and 2 were killed, those of the "
                  "indexes 7,8, and 1 was not run again, that of the index 12");
    buffer_clear(&out);
    record.array_left = TEXT("7-8,12");
    sweep_describe(&out, &record);
    assert_string_equal(out.data,
                        "2 of 10 tasks were killed, those of the indexes 7,8, and 1 was not run "
                        "again, that of the index 12");
    buffer_clear(&out);
    sweep_describe(&out, &(struct job_record){0});
    assert_int_equal(out.length, 0);
    /* Cut off behind a whole number. */
    for (int i = 0; i < 100; i++)
        buffer_printf(&out, "%s%d", i ? "," : "", 1000 + i * i);
    struct text text = sweep_shortened(arena, buffer_text(&out));
    assert_true(text.length < 130 && text_ends(text, ",..."));
    buffer_free(&out);
}

static void templates_see_indexes_and_values(void **state)
{
    (void)state;
    static const int indexes[] = {1, 4};
    static const struct text rates[] = {{"0.1", 3}, {"0.2", 3}},
                             sizes[] = {{"x", 1}, {"y", 1}, {"z", 1}};
    static const struct array_choice choices[] = {{{"RATE", 4}, rates, 2, 3},
                                                  {{"SIZE", 4}, sizes, 3, 1}};
    const struct context_role role = {.role = TEXT("main"), .count = 2};
    struct context_job job = {.id = TEXT("a-1"),
                              .type = TEXT("array"),
                              .roles = &role,
                              .roles_count = 1,
                              .array = {.indexes = indexes,
                                        .count = 2,
                                        .total = 6,
                                        .greatest = 5,
                                        .at_once = 4,
                                        .choices = choices,
                                        .choices_count = 2}};
    struct value *object = context_job(arena, &job);
    struct buffer json = {0};
    json_write(&json, value_get(object, "array"), true, &error);
    assert_string_equal(
        json.data,
        "{\"at_once\":2,\"choices\":[{\"name\":\"RATE\",\"stride\":3,\"values\":["
        "\"0.1\",\"0.2\"]},{\"name\":\"SIZE\",\"stride\":1,\"values\":[\"x\",\"y\","
        "\"z\"]}],\"contiguous\":false,\"count\":2,\"greatest\":5,\"indexes\":[1,4],\"least\":0,\"total\":6}");
    buffer_clear(&json);
    const struct value *tasks = value_get(object, "tasks");
    json_write(&json, value_get(tasks->list.items[1], "array"), true, &error);
    assert_string_equal(json.data, "{\"index\":4,\"values\":{\"RATE\":\"0.2\",\"SIZE\":\"y\"}}");
    assert_int_equal(value_get(object, "size")->kind, VALUE_NULL);
    job.array = (struct array){.indexes = (const int[]){0, 1}, .count = 2};
    job.size_min = 1;
    job.size_max = 3;
    object = context_job(arena, &job);
    assert_true(value_get_boolean(value_get(object, "array"), "contiguous", false));
    assert_int_equal(value_get_number(value_get(object, "array"), "at_once", 0), 2);
    assert_int_equal(value_get_number(value_get(object, "array"), "total", 0), 2);
    assert_int_equal(value_get_number(value_get(object, "size"), "max", 0), 3);
    job.array = (struct array){0};
    object = context_job(arena, &job);
    assert_int_equal(value_get(object, "array")->kind, VALUE_NULL);
    tasks = value_get(object, "tasks");
    assert_int_equal(value_get(tasks->list.items[0], "array")->kind, VALUE_NULL);
    buffer_free(&json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_did_not_succeed_is_left),
        TEST(the_next_attempt_runs_only_that),
        TEST(what_was_killed_runs_again_only_by_hand),
        TEST(it_is_checked_which_tasks_are_asked_for),
        TEST(what_is_held_is_left_out_until_it_is_released),
        TEST(it_is_said_how_many_failed),
        TEST(templates_see_indexes_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
