/* hash_test.c - base/hash.c: FNV-1a as published, as it is kept in files; and one with a secret */
#include "base/hash.h"
#include "tests/unit/unit.h"

static void test_hash_text_is_fnv_1a(void **state)
{
    (void)state;
    assert_true(hash_text(HASH_START, TEXT("")) == HASH_START);
    assert_true(hash_text(HASH_START, TEXT("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_text(HASH_START, TEXT("foobar")) == UINT64_C(0x85944171f73967e8));
    assert_true(hash_text(hash_text(HASH_START, TEXT("foo")), TEXT("bar")) ==
                hash_text(HASH_START, TEXT("foobar")));
}

static void test_hash_secret_differs_from_fnv_1a(void **state)
{
    (void)state;
    assert_true(hash_secret(TEXT("foobar")) == hash_secret(TEXT("foobar")));
    assert_true(hash_secret(TEXT("foobar")) != hash_secret(TEXT("foobaz")));
    assert_true(hash_secret(TEXT("foobar")) != hash_text(HASH_START, TEXT("foobar")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_text_is_fnv_1a),
        cmocka_unit_test(test_hash_secret_differs_from_fnv_1a),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
