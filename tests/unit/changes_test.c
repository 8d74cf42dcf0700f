/* changes_test.c - stages/preview/changes.c: the fields in which two trees differ, and how they are called */
#include "stages/preview/changes.h"

#include "base/yaml.h"
#include "tests/unit/unit_arena.h"

static const struct value *read(const char *source)
{
    const struct value *value =
        yaml_read(arena, text_of(source), "tree", &yaml_trusted_limits, &error);
    if (!value)
        fail_msg("%s: %s", source, error.text);
    return value;
}

/* The changes as `~path`, `+path` and `-path`, one after the other. */
static void check(const char *before, const char *after, const char *wanted)
{
    struct changes changes;
    struct buffer found = {0};
    changes_find(arena, read(before), read(after), &changes);
    for (size_t i = 0; i < changes.count; i++)
        buffer_printf(&found, "%s%c%s", i ? " " : "",
                      !changes.items[i].before  ? '+'
                      : !changes.items[i].after ? '-'
                                                : '~',
                      changes.items[i].path.data);
    assert_string_equal(found.data ? found.data : "", wanted);
    buffer_free(&found);
}

static void fields(void **state)
{
    (void)state;
    check("{a: 1, b: {c: x}}", "{b: {c: x}, a: 1}", "");
    check("{a: 1, b: {c: x}}", "{a: 2, b: {c: y}}", "~a ~b.c");
    check("{a: 1, b: {c: x}}", "{b: {d: x}}", "-a -b.c +b.d");
    check("{a: 1}", "{a: '1'}", "~a");
    check("{a: {b: 1}}", "{a: [1]}", "~a");
    check("{a: null}", "{}", "-a");
    check("{\"x\\ny\": 1}", "{\"x\\ny\": 2}", "~x\\x0ay");
}

static void items(void **state)
{
    (void)state;
    check("{t: [{e: 1}, {e: 2}]}", "{t: [{e: 3}, {e: 4}]}", "~t[].e");
    check("{t: [{e: 1}, {e: 2}]}", "{t: [{e: 1}, {f: 2}]}", "-t[].e +t[].f");
    check("{t: [{e: 1}, {}]}", "{t: [{}, {e: 1}]}", "-t[].e +t[].e");
    check("{t: [a, b, c]}", "{t: [a, x, b, c]}", "+t[]");
    check("{t: [a, b, c]}", "{t: [b, c]}", "-t[]");
    check("{t: [[1], [2]]}", "{t: [[1], [3]]}", "~t[][]");
    check("{t: []}", "{t: [a, b]}", "+t[]");
}

static void the_first_is_kept(void **state)
{
    (void)state;
    struct changes changes;
    changes_find(arena, read("{t: [{e: 1}, {e: 2}]}"), read("{t: [{e: 1}, {e: 5}]}"), &changes);
    assert_int_equal(changes.count, 1);
    assert_true(changes.items[0].before->number == 2 && changes.items[0].after->number == 5);
    assert_false(changes.more);
}

static void there_is_a_bound(void **state)
{
    (void)state;
    struct changes changes;
    struct buffer before = {0}, after = {0};
    for (int i = 0; i <= CHANGES_MOST; i++) {
        buffer_printf(&before, "k%d: 1\n", i);
        buffer_printf(&after, "k%d: 2\n", i);
    }
    changes_find(arena, read(before.data), read(after.data), &changes);
    assert_int_equal(changes.count, CHANGES_MOST);
    assert_true(changes.more);
    buffer_free(&before);
    buffer_free(&after);
}

/* Beyond the depth that is walked, what differs is called by what it is in. */
static void depth_has_a_bound(void **state)
{
    (void)state;
    struct changes changes;
    struct value *trees[2];
    for (int i = 0; i < 2; i++) {
        trees[i] = value_number(arena, i);
        for (int depth = 0; depth < 3 * CHANGES_DEEPEST; depth++) {
            struct value *list = value_list(arena);
            value_append(arena, list, trees[i]);
            trees[i] = list;
        }
    }
    changes_find(arena, trees[0], trees[1], &changes);
    assert_int_equal(changes.count, 1);
    assert_int_equal(changes.items[0].path.length, 2 * CHANGES_DEEPEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(items, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_a_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depth_has_a_bound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
