/* value_path_test.c - base/value_path.c: where a value is, and what it is */
#include <string.h>

#include "base/value_path.h"
#include "base/yaml.h"
#include "tests/unit/unit.h"

static void a_path_has_names_and_indexes(void **state)
{
    (void)state;
    struct value_path tasks = {.name = TEXT("tasks")}, item = {.above = &tasks, .index = 3},
                      empty = {.above = &item, .name = TEXT("")},
                      odd = {.above = &empty, .name = TEXT("a\nb")};
    struct buffer out = {0};
    buffer_add_string(&out, "f.yaml: ");
    value_path_add(&out, &odd);
    assert_string_equal(out.data, "f.yaml: tasks[3].\"\".a\\x0ab");
    value_path_add(&out, NULL);
    assert_string_equal(out.data, "f.yaml: tasks[3].\"\".a\\x0ab");
    buffer_free(&out);
}

static void a_value_is_named_as_it_was_written(void **state)
{
    (void)state;
    static const struct {
        const char *source, *found;
    } cases[] = {
        {"x", "\"x\""},   {"1.10", "1.10"},  {"true", "true"},
        {"~", "nothing"}, {"[1]", "a list"}, {"{a: 1}", "a map"},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer out = {0};
        struct error error;
        value_path_add_found(
            &out, yaml_read(arena, text_of(cases[i].source), "f", &yaml_trusted_limits, &error));
        assert_string_equal(out.data, cases[i].found);
        buffer_free(&out);
    }
    struct buffer out = {0};
    value_path_add_found(&out, value_number(arena, 0.5));
    assert_string_equal(out.data, "0.5");
    buffer_free(&out);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_names_and_indexes),
        cmocka_unit_test(a_value_is_named_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
