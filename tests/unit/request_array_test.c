/* tests/unit/request_array_test.c - sweeps and elastic jobs: array and size */
#include "tests/unit/request_support.h"

#include "base/ranges.h"
#include "request/array.h"
#include "request/dialects/dialects.h"

#define HEAD "name: a\nlibrary: any\nscript: x\n"
#define ARRAY HEAD "type: array\narray: "
#define ELASTIC HEAD "type: elastic\n"

static const char *written(const int *numbers, size_t count)
{
    static char text[256];
    struct buffer out = {0};
    for (size_t i = 0; i < count; i++)
        buffer_printf(&out, "%s%d", i ? " " : "", numbers[i]);
    snprintf(text, sizeof(text), "%s", out.data ? out.data : "");
    buffer_free(&out);
    return text;
}

static void has(const char *array, const char *indexes, int at_once)
{
    char source[512];
    snprintf(source, sizeof(source), ARRAY "%s\n", array);
    const struct description *job = good(source);
    const char *found = written(job->array.indexes, job->array.count);
    if (strcmp(found, indexes) != 0 || job->array.at_once != at_once ||
        (size_t)job->tasks[0].count != job->array.count || job->array.total != job->array.count)
        fail_msg("%s: found %s, %d at once, expected %s, %d at once", array, found,
                 job->array.at_once, indexes, at_once);
}

static void refused(const char *array, const char *sentence)
{
    char source[512];
    snprintf(source, sizeof(source), ARRAY "%s\n", array);
    bad(source, sentence);
}

static void forms_of_indexes(void **state)
{
    (void)state;
    has("3", "0 1 2", 0);
    has("\"3\"", "0 1 2", 0);
    has("3%2", "0 1 2", 2);
    has("0-4", "0 1 2 3 4", 0);
    has("7-7", "7", 0);
    has("1,3,5-7", "1 3 5 6 7", 0);
    has("\"1, 3 , 5-7 % 2\"", "1 3 5 6 7", 2);
    has("9,3,5-7,6", "3 5 6 7 9", 0);
    has("0-15:4", "0 4 8 12", 0);
    has("0-16:4%3", "0 4 8 12 16", 3);
    has("1000000000,0", "0 1000000000", 0);
    has("{indexes: 0-2}", "0 1 2", 0);
    has("{indexes: 2, at_once: 1}", "0 1", 1);
    has("{indexes: \"4,2\", at_once: 10000}", "2 4", 10000);
    assert_int_equal(good(ARRAY "10000\n")->array.count, 10000);
    assert_int_equal(good(ARRAY "0-99990:10\n")->array.count, 10000);
    assert_int_equal(good(ARRAY "3\ntasks: {w: {count: 3}}\n")->tasks[0].count, 3);
    /* As a line of a batch script gives it. */
    struct description *job = dialects_read(arena,
                                            TEXT("#!/bin/sh\n#DL name=a\n#DL library=any\n"
                                                 "#DL type=array\n#DL array=0-9:3%2\ntrue\n"),
                                            "a.sh", &error);
    if (!job)
        fail_msg("%s", error.text);
    assert_string_equal(written(job->array.indexes, job->array.count), "0 3 6 9");
    assert_int_equal(job->array.at_once, 2);
}

static void every_combination_of_values(void **state)
{
    (void)state;
    const struct description *job =
        good(ARRAY "{values: {LR: [0.10, 1e-3], ON: [true, \"\", x y]}, at_once: 2}\n");
    const struct array *array = &job->array;
    assert_string_equal(written(array->indexes, array->count), "0 1 2 3 4 5");
    assert_int_equal(array->at_once, 2);
    assert_int_equal(array->choices_count, 2);
    assert_int_equal(array->choices[0].stride, 3);
    assert_int_equal(array->choices[1].stride, 1);
    /* As they were written. */
    assert_true(text_is(array->choices[0].values[0], "0.10"));
    assert_true(text_is(array->choices[0].values[1], "1e-3"));
    assert_true(text_is(array->choices[1].values[0], "true"));
    assert_int_equal(array->choices[1].values[1].length, 0);
    assert_true(text_is(array->choices[1].values[2], "x y"));
    has("{values: {A: [1]}}", "0", 0);
}

static void what_is_no_array_is_refused(void **state)
{
    (void)state;
    refused("true",
            "j.yaml:5:8: array: found true, expected a number of tasks such as 10, indexes "
            "such as 0-99, 1,3,5-7 or 0-15:4, each perhaps with %8 at the end for at most 8 "
            "at once, or a map such as {indexes: 0-99, at_once: 8} or {values: {LR: [0.1, "
            "0.01]}}");
    refused("[1, 2]", "array: found a list, expected a number of tasks");
    refused("\"\"", "array: found \"\", expected a number of tasks");
    refused("0",
            "array: found 0, expected from 1 to 10000 tasks; the index N alone is written N-N");
    refused("10001", "array: found 10001, expected from 1 to 10000 tasks");
    refused("99999999999", "expected from 1 to 10000 tasks");
    refused("-3", "array: found \"-3\", expected a number from 0 to 1000000000, a range such as "
                  "0-99, or one with a step such as 0-15:4");
    refused("1.5", "array: found \"1.5\", expected a number from 0 to");
    refused("a-b", "array: found \"a-b\", expected a number");
    refused("5-", "array: found \"5-\", expected a number");
    refused("1-2-3", "array: found \"1-2-3\", expected a number");
    refused("1,,3", "array: found \"\", expected a number");
    refused("1,3,", "array: found a list that ends in a comma, expected numbers such as 1,3,5-7");
    refused("7-3", "array: found \"7-3\", expected the smaller number first");
    refused("0-9:0", "array: found \"0-9:0\", expected a step of at least 1");
    refused("\"0-9:\"", "array: found \"0-9:\", expected a number");
    refused("1000000001,1", "array: found \"1000000001\", expected a number from 0 to 1000000000");
    refused("0-10000", "array: found more than 10000 numbers, expected at most that many");
    refused("0-1000000000", "array: found more than 10000 numbers");
    refused("0-9999,10000", "array: found more than 10000 numbers");
    refused("0-9%0", "array: found \"0-9%0\", expected from 1 to 10000 tasks at once behind the %, "
                     "as in 0-99%8");
    refused("0-9%", "tasks at once behind the %");
    refused("0-9%x", "tasks at once behind the %");
    refused("0-9%10001", "tasks at once behind the %");
    refused("\"%4\"", "array: found a list that is empty");
    refused("0-9%2%3", "array: found \"0-9%2\", expected a number");
}

static void what_is_no_map_of_an_array_is_refused(void **state)
{
    (void)state;
    refused("{}", "array: found neither, expected exactly one of indexes and values");
    refused("{at_once: 2}", "array: found neither");
    refused("{indexes: 2, values: {A: [1]}}", "array: found both, expected exactly one");
    refused("{index: 2}", "array.index: unknown field; did you mean indexes?");
    refused("{indexes: [1, 2]}", "array.indexes: found a list, expected a number of tasks such as "
                                 "10, or indexes such as 0-99");
    refused("{indexes: 0-9%2}", "array.indexes: found \"0-9%2\", expected a number");
    refused("{indexes: 2, at_once: 0}", "array.at_once: found 0, expected a whole number from 1 to "
                                        "10000");
    refused("{indexes: 2, at_once: 1.5}", "array.at_once: found 1.5, expected a whole number");
    refused("{values: [1]}", "array.values: found a list, expected a map of names to lists of "
                             "values such as {LR: [0.1, 0.01]}");
    refused("{values: {}}", "array.values: found a map, expected a map of names");
    refused("{values: {A: 1}}",
            "array.values.A: found a number, expected a list of one or more values");
    refused("{values: hunter2}",
            "array.values: found a text of 7 bytes, expected a map of names to lists");
    refused("{values: {A: []}}", "array.values.A: found a list, expected a list of one or more");
    refused("{values: {A: [[1]]}}", "array.values.A[0]: found a list, expected a text, a number, "
                                    "true or false");
    refused("{values: {A: [null]}}", "array.values.A[0]: found nothing, expected a text");
    refused("{values: {1A: [1]}}", "array.values.1A: found the name \"1A\", expected at most 255 "
                                   "letters, digits and _");
    refused("{values: {DLSPOOL_X: [1]}}", "array.values.DLSPOOL_X: names that start with DLSPOOL_ "
                                          "are dlspool's own");
    /* 21 to the 4th */
    struct buffer many = {0};
    buffer_add_string(&many, ARRAY "{values: {");
    for (char name = 'A'; name < 'E'; name++) {
        buffer_printf(&many, "%c: [0", name);
        for (int i = 1; i < 21; i++)
            buffer_printf(&many, ", %d", i);
        buffer_add_string(&many, "], ");
    }
    buffer_add_string(&many, "}}\n");
    bad(many.data, "array.values: found more than 10000 combinations, expected at most that many");
    buffer_free(&many);
}

static void an_array_has_its_type_and_one_role(void **state)
{
    (void)state;
    bad(HEAD "type: array\n",
        "j.yaml:1:1: array: missing, expected the tasks' indexes such as 0-99, "
        "or their values, as the type is array");
    bad(HEAD "type: single\narray: 3\n", "j.yaml:5:8: array: found with another type of job, "
                                         "expected type: array as well");
    bad(HEAD "type: array\narray: 3\ntasks: {a: {}, b: {}}\n",
        "tasks: found several roles, expected one, as the type is array");
    bad(HEAD "type: array\narray: 3\ntasks: {a: {count: 4}}\n",
        "j.yaml:6:20: tasks.a.count: found 4, expected 3, the tasks that array makes; leave it out");
    bad(HEAD "type: array\narray: 3\ncomplete: {main: {failed: 2}}\n",
        "complete: does not go with the type array, each of whose tasks is judged by itself; leave "
        "it out");
    /* Said once, and of what was wrong. */
    bad(HEAD "type: array\narray: 7-3\ntasks: 3\n", "array: found \"7-3\"");
    assert_null(strstr(error.text, "several roles"));
}

static void an_elastic_job_has_a_size(void **state)
{
    (void)state;
    const struct description *job = good(ELASTIC "tasks: {w: {count: 4}}\n");
    assert_int_equal(job->size_min, 1);
    assert_int_equal(job->size_max, 4);
    job = good(ELASTIC "tasks: {w: {count: 4}}\nsize: {min: 2, max: 8}\n");
    assert_int_equal(job->size_min, 2);
    assert_int_equal(job->size_max, 8);
    job = good(ELASTIC "size: {max: 10000}\n");
    assert_int_equal(job->size_min, 1);
    assert_int_equal(job->size_max, 10000);
    job = good(HEAD "type: distributed\ntasks: {w: {count: 4}}\n");
    assert_int_equal(job->size_max, 0);
    bad(ELASTIC "tasks: {w: {count: 4}}\nsize: {min: 5}\n",
        "j.yaml:6:13: size.min: found 5, expected at most 4, the tasks that the job begins with");
    bad(ELASTIC "tasks: {w: {count: 4}}\nsize: {max: 3}\n",
        "size.max: found 3, expected at least 4, the tasks that the job begins with");
    bad(ELASTIC "size: {min: 0}\n", "size.min: found 0, expected a whole number from 1 to 10000");
    bad(ELASTIC "size: {max: 10001}\n", "size.max: found 10001, expected a whole number");
    bad(ELASTIC "size: 4\n", "size: found 4, expected a map such as {min: 2, max: 8}");
    bad(ELASTIC "size: {most: 4}\n", "size.most: unknown field");
    bad(ELASTIC "tasks: {a: {}, b: {}}\n",
        "tasks: found several roles, expected one, as the type is elastic");
}

static void formats_as(const char *list, const char *expected)
{
    int *numbers, *again;
    size_t count, again_count;
    struct buffer out = {0};
    if (ranges_parse(arena, text_of(list), 100000, &numbers, &count, &error))
        fail_msg("%s", error.text);
    ranges_format(&out, numbers, count);
    assert_string_equal(out.data, expected);
    assert_int_equal(ranges_parse(arena, buffer_text(&out), 100000, &again, &again_count, &error),
                     0);
    assert_int_equal(again_count, count);
    assert_memory_equal(again, numbers, count * sizeof(*numbers));
    buffer_free(&out);
}

static void lists_are_written_shortly(void **state)
{
    (void)state;
    formats_as("0", "0");
    formats_as("0,1", "0,1");
    formats_as("0,1,2", "0-2");
    formats_as("2,1,0,9", "0-2,9");
    formats_as("0-99990:10", "0-99990:10");
    formats_as("3,7,8,9,20,30,40,41", "3,7-9,20-40:10,41");
    formats_as("5,7,1000000000", "5,7,1000000000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(forms_of_indexes),
        TEST(every_combination_of_values),
        TEST(what_is_no_array_is_refused),
        TEST(what_is_no_map_of_an_array_is_refused),
        TEST(an_array_has_its_type_and_one_role),
        TEST(an_elastic_job_has_a_size),
        TEST(lists_are_written_shortly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
