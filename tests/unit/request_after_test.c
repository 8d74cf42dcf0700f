/* tests/unit/request_after_test.c - dependencies: after, and hold */
#include "tests/unit/request_support.h"

#include "request/after.h"

#define HEAD "name: a\nlibrary: any\ntype: single\nscript: x\n"

/* The conditions as one word each. */
static const char *written(const struct description *job)
{
    static char text[1024];
    struct buffer out = {0};
    for (size_t i = 0; i < job->after_count; i++)
        buffer_printf(&out, "%s%s:%.*s", i ? " " : "",
                      after_condition_name(job->after[i].condition), (int)job->after[i].job.length,
                      job->after[i].job.data);
    snprintf(text, sizeof(text), "%s", out.data ? out.data : "");
    buffer_free(&out);
    return text;
}

static void means(const char *after, const char *conditions)
{
    char source[512];
    snprintf(source, sizeof(source), HEAD "after: %s\n", after);
    const char *found = written(good(source));
    if (strcmp(found, conditions) != 0)
        fail_msg("%s: found %s, expected %s", after, found, conditions);
}

static void refused(const char *after, const char *sentence)
{
    char source[512];
    snprintf(source, sizeof(source), HEAD "after: %s\n", after);
    bad(source, sentence);
}

static void every_way_to_say_it(void **state)
{
    (void)state;
    means("prepare", "afterok:prepare");
    means("[prepare, 2024]", "afterok:prepare afterok:2024");
    means("1.10", "afterok:1.10");
    means("afterok:a", "afterok:a");
    means("afterany:a", "afterany:a");
    means("[\"afternotok:a\", b]", "afternotok:a afterok:b");
    means("afterok:1:2,afterany:c", "afterok:1 afterok:2 afterany:c");
    means("a,b", "afterok:a afterok:b");
    means("user~job_1.x", "afterok:user~job_1.x");
    means("{afterok: [a, b], afterany: c}", "afterok:a afterok:b afterany:c");
    means("{afternotok: 7}", "afternotok:7");
    means("prepare-1m80ns077fbyy", "afterok:prepare-1m80ns077fbyy");
    means("afterok", "afterok:afterok");
    means("after", "afterok:after");
    means("after:a:b", "after:a after:b");
    means("{after: a}", "after:a");
    means("singleton", "singleton:");
    means("[singleton, afterany:a, singleton]", "singleton: afterany:a");
    means("singleton,afterok:singleton", "singleton: afterok:singleton");
    /* Once each. */
    means("[a, afterok:a, afterany:a, a]", "afterok:a afterany:a");
}

static void what_is_none(void **state)
{
    (void)state;
    refused("[]", "j.yaml:5:8: after: found a list, expected at least one job");
    refused("{}", "after: found a map, expected at least one job");
    refused("\"\"", "after: found \"\", expected the name or the id of a job");
    refused("true", "after: found true, expected the name or the id of a job");
    refused("[a, {b: c}]", "j.yaml:5:12: after[1]: found a map, expected the name or the id");
    refused("afterwards:a",
            "after: found the condition \"afterwards\", expected afterok, afterany, afternotok, "
            "after or singleton");
    refused("singleton:a", "found jobs after singleton, expected it alone");
    refused("{singleton: a}", "after.singleton: found jobs after singleton, expected it alone");
    refused("aftrok:a", "did you mean afterok?");
    refused("{afternok: a}", "after.afternok: found the condition \"afternok\"");
    refused("{afterok: [a, [b]]}", "after.afterok[1]: found a list, expected the name or the id");
    refused("\"afterok:\"", "expected the name or the id of a job after afterok");
    refused("afterok:a::b", "expected the name or the id of a job after afterok");
    refused("\"a,,b\"", "expected the name or the id of a job");
    refused("\"a b\"", "found \"a b\", expected the name or the id of a job");
    refused("\"../a\"", "expected the name or the id of a job");
    refused("\"a?b\"", "expected the name or the id of a job");
}

static void no_more_than_the_most(void **state)
{
    (void)state;
    struct buffer source = {0};
    buffer_add_string(&source, HEAD "after: [");
    for (int i = 0; i < AFTER_MOST; i++)
        buffer_printf(&source, "%sj%d", i ? ", " : "", i);
    size_t length = source.length;
    buffer_add_string(&source, "]\n");
    assert_int_equal(good(source.data)->after_count, AFTER_MOST);
    source.length = length;
    buffer_add_string(&source, ", j0]\n"); /* one of them again */
    assert_int_equal(good(source.data)->after_count, AFTER_MOST);
    source.length = length;
    buffer_add_string(&source, ", one-more]\n");
    bad(source.data, "after: found more than 256 conditions");
    buffer_free(&source);
}

static void hold_is_yes_or_no(void **state)
{
    (void)state;
    assert_true(good(HEAD "hold: true\n")->hold);
    assert_false(good(HEAD "hold: false\n")->hold);
    assert_false(good(HEAD "hold: null\nafter: null\n")->hold);
    assert_int_equal(good(HEAD)->after_count, 0);
    assert_true(good("#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=single\n#DL hold=true\n"
                     "#DL after=[a, afterany:b]\ntrue\n")
                    ->hold);
    bad(HEAD "hold: yes\n", "hold: found \"yes\", expected true or false");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_way_to_say_it),
        TEST(what_is_none),
        TEST(no_more_than_the_most),
        TEST(hold_is_yes_or_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
