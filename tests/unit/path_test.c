/* path_test.c - base/path.c: what paths are clean, climb, and lie below others */
#include "base/path.h"
#include "tests/unit/unit.h"

static void test_path_clean(void **state)
{
    (void)state;
    static const struct {
        const char *path, *clean; /* NULL: false */
    } cases[] = {
        {"/a//b/./c/", "/a/b/c"},
        {"a/./b", "a/b"},
        {"/", NULL},
        {"", NULL},
        {"./.", NULL},
        {"/a/../b", NULL},
        {"..", NULL},
        {"/a..b/...", "/a..b/..."},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text clean;
        bool good = path_clean(arena, text_of(cases[i].path), &clean);
        assert_int_equal(good, cases[i].clean != NULL);
        assert_true(!good || text_is(clean, cases[i].clean));
    }
    arena_free(arena);
}

static void test_path_parts(void **state)
{
    (void)state;
    assert_true(path_climbs(TEXT("/a/..")));
    assert_false(path_climbs(TEXT("/a/..b/./c")));
    assert_true(path_is_plain(TEXT("/a/..b")));
    assert_false(path_is_plain(TEXT("/a/./b")));
    assert_false(path_is_plain(TEXT("../b")));
}

static void test_path_is_below(void **state)
{
    (void)state;
    assert_true(path_is_below(TEXT("/data/x"), TEXT("/data")));
    assert_true(path_is_below(TEXT("/data"), TEXT("/data//")));
    assert_true(path_is_below(TEXT("/data"), TEXT("/")));
    assert_false(path_is_below(TEXT("/database"), TEXT("/data")));
    assert_false(path_is_below(TEXT("/dat"), TEXT("/data")));
    assert_false(path_is_below(TEXT("/data"), TEXT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_clean),
        cmocka_unit_test(test_path_parts),
        cmocka_unit_test(test_path_is_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
