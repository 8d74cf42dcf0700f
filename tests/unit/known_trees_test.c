/* tests/unit/known_trees_test.c - only the very same tree is known */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/yaml.h"
#include "renderer/known_trees.h"

static struct tree_digest digest_of(struct known_trees *known, const char *source)
{
    struct arena *arena = arena_new();
    struct error error;
    const struct value *tree =
        yaml_read(arena, text_of(source), "tree", &yaml_trusted_limits, &error);
    assert_non_null(tree);
    struct tree_digest digest = known_trees_digest(known, tree);
    arena_free(arena);
    return digest;
}

static void trees_that_differ_are_told_apart(void **state)
{
    (void)state;
    static const char *const trees[] = {
        "null", "true", "false", "0", "-0.0", "1", "'1'", "''", "[]", "{}", "[[]]", "[[], []]",
        "[null]", "{'': null}", "[a, b]", "[ab]", "[b, a]", "['a', 'b', '']", "{a: b}", "{c: b}",
        "{a: [b]}", "{ab: ''}", "{a: b, c: d}", "{c: d, a: b}", "{a: {b: c}, d: e}",
        "{a: {b: c, d: e}}", "[a, [b, c]]", "[[a, b], c]", "[true]", "[1]", "['true']", "'null'",
        "[0]", "[0, 0]",
        /* Which bytes are whose is told by lengths. */
        "[\"a\\x03b\", \"\"]", "[\"a\", \"b\\x03\"]"};
    enum { COUNT = ARRAY_COUNT(trees) };
    struct known_trees *known = known_trees_new();
    for (size_t i = 0; i < COUNT; i++) {
        struct tree_digest digest = digest_of(known, trees[i]);
        if (known_trees_has(known, &digest))
            fail_msg("%s is taken for another", trees[i]);
        known_trees_add(known, &digest);
    }
    for (size_t i = 0; i < COUNT; i++) {
        struct tree_digest digest = digest_of(known, trees[i]);
        assert_true(known_trees_has(known, &digest));
    }
    /* How a number was written is nothing that a manifest shows. */
    struct tree_digest digest = digest_of(known, "1.0");
    assert_true(known_trees_has(known, &digest));
    known_trees_free(known);
}

static void no_more_are_remembered_than_fit(void **state)
{
    (void)state;
    struct known_trees *known = known_trees_new();
    size_t remembered = 0;
    char source[32];
    for (int i = 0; i < MOST_KNOWN_TREES + 100; i++) {
        snprintf(source, sizeof(source), "[%d]", i);
        struct tree_digest digest = digest_of(known, source);
        assert_false(known_trees_has(known, &digest));
        known_trees_add(known, &digest);
        known_trees_add(known, &digest);
        remembered += known_trees_has(known, &digest);
    }
    assert_int_equal(remembered, MOST_KNOWN_TREES);
    known_trees_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_that_differ_are_told_apart),
        cmocka_unit_test(no_more_are_remembered_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
