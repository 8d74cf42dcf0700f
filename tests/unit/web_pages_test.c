/* tests/unit/web_pages_test.c - parts of pages: what is typed stays a value, and what is shown stays text */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "web/chart.h"
#include "web/difference_page.h"
#include "web/job_form.h"
#include "web/plan_steps.h"
#include "web/usage_page.h"

static struct arena *arena;
static struct buffer out;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_free(&out);
    arena_free(arena);
    return 0;
}

static void assert_has(const char *words)
{
    if (!text_contains(buffer_text(&out), text_of(words)))
        fail_msg("found %s, expected %s in it", out.data, words);
}

static void csv_has_no_formulas(void **state)
{
    static const char *const fields[][2] = {
        {"night", "\"night\""}, {"", "\"\""},          {"a \"b\", c", "\"a \"\"b\"\", c\""},
        {"=1+1", "\"'=1+1\""},  {"@sum", "\"'@sum\""}, {"-2", "\"'-2\""},
        {"+1", "\"'+1\""},      {"\tx", "\"'\tx\""},   {"a=1", "\"a=1\""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
        buffer_clear(&out);
        usage_page_add_field(&out, text_of(fields[i][0]));
        assert_string_equal(out.data, fields[i][1]);
    }
}

static void lines_of_a_difference_are_text(void **state)
{
    (void)state;
    difference_page_add_lines(&out, TEXT("--- a <x>\n+++ b\n@@ -1 +1 @@\n-<old>\n+new\n same\n"));
    assert_has("--- a &lt;x&gt;\n+++ b\n");
    assert_has(
        "<span class=\"removed\">-&lt;old&gt;</span>\n<span class=\"added\">+new</span>\n same\n");
}

/* ---- pictures ---- */

static void columns_reach_their_height(void **state)
{
    const struct chart_bar bars[] = {{TEXT("<a>"), 5}, {TEXT("b"), 10}};
    (void)state;
    chart_columns(&out, "Hours & days", "hours", bars, 2);
    assert_has("aria-label=\"Hours &amp; days\"");
    assert_has("height=\"80.0\" rx=\"2\"><title>&lt;a&gt;: 5.00 hours</title>");
    assert_has("height=\"160.0\" rx=\"2\"><title>b: 10.00 hours</title>");
}

static void nothing_is_drawn_of_nothing(void **state)
{
    const struct chart_bar none = {TEXT("x"), 0};
    (void)state;
    chart_columns(&out, "t", "hours", NULL, 0);
    chart_bars(&out, "t", "hours", &none, 1);
    assert_has("<title>x: 0.00 hours</title>");
    assert_false(text_contains(buffer_text(&out), TEXT("nan")));
    assert_false(text_contains(buffer_text(&out), TEXT("inf")));
}

static void spans_lie_within_the_picture(void **state)
{
    const struct chart_span spans[] = {{TEXT("ends"), 1000, 101000, 0, 51000},
                                       {TEXT("over"), 1000, 0, 0, 500}};
    (void)state;
    chart_spans(&out, "t", 1000, spans, 2);
    assert_has("<rect class=\"bar\" x=\"200.0\" y=\"5.0\" width=\"516.0\"");
    assert_has("<line class=\"mark\" x1=\"458.0\"");
    assert_has("<line class=\"mark\" x1=\"200.0\"");
}

static void steps_stand_on_each_other(void **state)
{
    const struct chart_step steps[] = {{1000, 2, 1}, {51000, 2, 0}};
    (void)state;
    chart_steps(&out, "t", steps, 2, 101000, 4);
    assert_has("<rect class=\"bar\" x=\"48.0\" y=\"108.0\" width=\"334.0\" height=\"64.0\"");
    assert_has("<rect class=\"second\" x=\"48.0\" y=\"76.0\" width=\"334.0\" height=\"32.0\"");
    assert_has("<rect class=\"bar\" x=\"382.0\" y=\"108.0\"");
    assert_has("<line class=\"mark\" x1=\"48.0\" y1=\"44.0\"");
}

static void a_small_scale_has_its_digits(void **state)
{
    const struct chart_bar small = {TEXT("a"), 0.04};
    (void)state;
    chart_columns(&out, "t", "hours", &small, 1);
    assert_has(">0</text>");
    assert_has(">0.025</text>");
    assert_has(">0.050</text>");
}

/* ---- what a plan gives over time ---- */

static void assert_step(const struct plan_steps *steps, size_t i, int64_t from, int64_t due,
                        int64_t others)
{
    assert_true(i < steps->count);
    assert_true(steps->items[i].from == from);
    assert_true(steps->items[i].due == due);
    assert_true(steps->items[i].others == others);
}

static void a_plan_goes_down_by_steps(void **state)
{
    struct planned_job jobs[] = {
        {.id = "a", .pool = TEXT("gpus"), .amount = 2, .deadline = 9, .finish = 5000},
        {.id = "b", .pool = TEXT("gpus"), .amount = 4, .finish = 3000},
        {.id = "c", .pool = TEXT("cpus"), .amount = 500, .finish = 9000},
        {.id = "d", .pool = TEXT("gpus"), .amount = 1},
        {.id = "e", .pool = TEXT("gpus"), .finish = 8000},
        {.id = "f", .pool = TEXT("gpus"), .amount = 8, .deadline = 9, .finish = 3001},
    };
    struct plan_file plan = {.time = 1000, .jobs = jobs, .job_count = ARRAY_COUNT(jobs)};
    (void)state;
    struct plan_steps steps = plan_steps_of(&plan, TEXT("gpus"), arena);
    assert_int_equal(steps.count, 3);
    assert_true(steps.until == 5000);
    assert_step(&steps, 0, 1000, 10, 5);
    assert_step(&steps, 1, 3000, 10, 1);
    assert_step(&steps, 2, 3001, 2, 1);
    assert_int_equal(plan_steps_of(&plan, TEXT("gpus:v100"), arena).count, 0);
    jobs[0].finish = jobs[1].finish = jobs[5].finish = 0;
    assert_int_equal(plan_steps_of(&plan, TEXT("gpus"), arena).count, 0);
}

static void many_ends_are_few_steps(void **state)
{
    enum { JOBS = 5000 };
    struct planned_job *jobs = arena_allocate(arena, JOBS * sizeof(*jobs));
    struct plan_file plan = {.time = 0, .jobs = jobs, .job_count = JOBS};
    int64_t sum = 0;
    (void)state;
    for (int i = 0; i < JOBS; i++)
        jobs[i] = (struct planned_job){.pool = TEXT("cpus"), .amount = 1, .finish = i + 1};
    struct plan_steps steps = plan_steps_of(&plan, TEXT("cpus"), arena);
    assert_in_range(steps.count, PLAN_STEPS_MOST / 2, PLAN_STEPS_MOST + 1);
    for (size_t i = 1; i < steps.count; i++)
        sum += steps.items[i].others >= steps.items[i - 1].others;
    assert_true(sum == 0);
    assert_true(steps.items[0].others == JOBS);
}

/* ---- the form ---- */

static void fields_of_a_form_stay_values(void **state)
{
    struct web_field fields[] = {
        {TEXT("library"), TEXT("any")},    {TEXT("type"), TEXT("single")},
        {TEXT("name"), TEXT("a: {b")},     {TEXT("args"), TEXT("--x\n5\n\n")},
        {TEXT("role0"), TEXT("main")},     {TEXT("cpus0"), TEXT("0.5")},
        {TEXT("memory0"), TEXT("1Gi")},    {TEXT("gpus0"), TEXT("0")},
        {TEXT("count0"), TEXT("2, x: 1")}, {TEXT("role1"), TEXT(" ")},
        {TEXT("count1"), TEXT("7")},       {TEXT("owner"), TEXT("root")},
    };
    const struct form form = {fields, ARRAY_COUNT(fields)};
    (void)state;
    job_form_write(arena, &form, &out);
    assert_has("name: \"a: {b\"\n");
    assert_has("args:\n");
    assert_has("\"5\"\n");
    assert_has("cpus: 0.5\n");
    assert_has("count: \"2, x: 1\"\n");
    assert_false(text_contains(buffer_text(&out), TEXT("gpus")));
    assert_false(text_contains(buffer_text(&out), TEXT("7")));
    assert_false(text_contains(buffer_text(&out), TEXT("owner")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(csv_has_no_formulas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_of_a_difference_are_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_reach_their_height, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_drawn_of_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_lie_within_the_picture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_stand_on_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_small_scale_has_its_digits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_goes_down_by_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_ends_are_few_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_of_a_form_stay_values, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
