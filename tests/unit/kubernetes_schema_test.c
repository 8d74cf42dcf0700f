/* tests/unit/kubernetes_schema_test.c - unknown fields, wrong types and missing ones are named */
#include "tests/unit/unit_arena.h"

#include "base/yaml.h"
#include "executors/kubernetes/schema.h"

/* The problems of a tree, parted by line ends; "" when there is none. */
static size_t newer; /* fields that a newer server may know, of the last check */

static const char *check(const char *type, const char *yaml, size_t *count)
{
    struct schema_problems problems = {0};
    struct value *tree = yaml_read(arena, text_of(yaml), "x", &yaml_trusted_limits, &error);
    if (!tree)
        fail_msg("%s", error.text);
    kubernetes_schema_check(type, tree, "items[0]", &problems);
    const char *text =
        arena_text(arena, problems.text.data ? problems.text.data : "", problems.text.length).data;
    *count = problems.count;
    newer = problems.newer_count;
    buffer_free(&problems.text);
    buffer_free(&problems.newer);
    return text;
}

static void finds(const char *type, const char *yaml, const char *wanted)
{
    size_t count;
    const char *found = check(type, yaml, &count);
    if (count != 1 || strcmp(found, wanted) != 0)
        fail_msg("%s: %zu problems: %s\nexpected %s", yaml, count, found, wanted);
}

static void accepts(const char *type, const char *yaml)
{
    size_t count;
    const char *found = check(type, yaml, &count);
    if (count)
        fail_msg("%s: %s", yaml, found);
}

static void what_is_right_passes(void **state)
{
    (void)state;
    accepts("JobSpec", "{template: {spec: {containers: [{name: main}]}}}");
    accepts("ResourceRequirements", "{limits: {cpu: 1.5, memory: 16Gi, x/y: '2'}}");
    accepts("ServicePort", "{port: 80, targetPort: 80}");
    accepts("ServicePort", "{port: 80, targetPort: http}");
    accepts("Secret", "{data: {a: aGVsbG8=, b: '', c: aGVsbA==}}");
    accepts("JobStatus", "{startTime: '2026-05-01T18:00:00Z'}");
    accepts("WatchEvent", "{type: ADDED, object: {anything: [1, null]}}");
    accepts("HostPathVolumeSource", "{path: /x, type: ''}");
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    finds("PodSpec", "{containers: [{name: main, comand: [x]}]}",
          "1:28: items[0].containers[0].comand: unknown field; did you mean command?");
    finds("SecurityContext", "{zzzzzzzzz: 1}", "1:2: items[0].zzzzzzzzz: unknown field");
    finds("PodSpec", "{}", "1:1: items[0].containers: missing");
    finds("PodSpec", "{containers: {}}", "1:14: items[0].containers: found a map, expected a list");
    finds("PodSpec", "{containers: [x]}",
          "1:15: items[0].containers[0]: found \"x\", expected an object");
    finds("PodSpec", "{containers: [], hostNetwork: 'true'}",
          "1:31: items[0].hostNetwork: found \"true\", expected true or false");
    finds("PodSpec", "{containers: [], nodeSelector: {a: 1}}",
          "1:36: items[0].nodeSelector.a: found 1, expected a string");
    finds("PodSpec", "{containers: [], restartPolicy: Neverr}",
          "1:33: items[0].restartPolicy: found \"Neverr\", expected Always, Never or OnFailure");
    finds("PodSpec", "{containers: [], priority: 2147483648}",
          "1:28: items[0].priority: found 2147483648, expected a whole number of 32 bits");
    finds("PodSpec", "{containers: [], priority: 1.5}",
          "1:28: items[0].priority: found 1.5, expected a whole number of 32 bits");
    finds(
        "PodSpec", "{containers: [], priority: null}",
        "1:28: items[0].priority: found nothing, expected a whole number of 32 bits; leave the field "
        "out");
    finds("Secret", "{data: {a: 'aGVsbG8'}}",
          "1:12: items[0].data.a: found \"aGVsbG8\", expected a string of base64");
    finds("JobStatus", "{startTime: yesterday}",
          "1:13: items[0].startTime: found \"yesterday\", expected a time such as "
          "\"2026-05-01T18:00:00Z\"");
    finds("ServicePort", "{port: 80, targetPort: 1.5}",
          "1:24: items[0].targetPort: found 1.5, expected a whole number or a string");
    finds("Frob", "{}", "1:1: items[0]: the table has no type Frob");
    finds("SecurityContext", "{\"a\\x1b[31m\": 1}", "1:2: items[0].a\\x1b[31m: unknown field");
}

static void quantities_are_told_from_other_words(void **state)
{
    (void)state;
    double number;
    static const struct {
        const char *written;
        double number;
    } amounts[] = {{"1E", 1e18}, {"1E3", 1000}, {"-1.5", -1.5}, {"2Ki", 2048}, {"3G", 3e9}};
    static const char *const good[] = {"0",    "1",   "1.5", ".5",   "1.",    "500m", "16Gi",
                                       "2G",   "1e3", "1E3", "1e-3", "+1",    "-1",   "1k",
                                       "100n", "5u",  "1E",  "3Ei",  "1.5Mi", "1e+06"};
    static const char *const bad[] = {"",  "Gi",  "1gi", "1K",  "1 Gi", "1GB", "1e",   "1e3Gi",
                                      ".", "--1", "1mm", "0x1", "1,5",  "e3",  "1.5.5"};
    for (size_t i = 0; i < ARRAY_COUNT(good); i++)
        if (!kubernetes_schema_read_quantity(text_of(good[i]), &number))
            fail_msg("%s is a quantity", good[i]);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        if (kubernetes_schema_read_quantity(text_of(bad[i]), &number))
            fail_msg("%s is no quantity", bad[i]);
    for (size_t i = 0; i < ARRAY_COUNT(amounts); i++) {
        assert_true(kubernetes_schema_read_quantity(text_of(amounts[i].written), &number));
        assert_true(number == amounts[i].number);
    }
}

static void what_a_newer_server_may_know_is_no_problem(void **state)
{
    (void)state;
    accepts("PodSpec", "{containers: [{name: main, zzzzzzzzz: 1}]}");
    assert_int_equal(newer, 1);
}

static void the_first_problems_are_shown_and_all_counted(void **state)
{
    (void)state;
    size_t count;
    const char *found =
        check("PodSpec", "{host1: 1, host2: 1, host3: 1, host4: 1, host5: 1, host6: 1, host7: 1}",
              &count);
    assert_int_equal(count, 8);
    size_t lines = 1;
    for (const char *c = found; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, SCHEMA_PROBLEMS_SHOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_passes),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(what_a_newer_server_may_know_is_no_problem),
        cmocka_unit_test(quantities_are_told_from_other_words),
        cmocka_unit_test(the_first_problems_are_shown_and_all_counted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
