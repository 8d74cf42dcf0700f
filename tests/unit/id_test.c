/* ids: labels that fit, tokens that sort and never repeat */
#include "tests/unit/unit.h"

#include "spool/id.h"

static void ids_are_labels(void **state)
{
    (void)state;
    static const struct {
        const char *name, *id;
    } cases[] = {
        {"digits", "digits-0123456789abc"},
        {"My Job.v2", "my-job-v2-0123456789abc"},
        {"__x__", "x-0123456789abc"},
        {"", "j-0123456789abc"},
        {"42nd", "j42nd-0123456789abc"},
        {"\xc3\xa9t\xc3\xa9", "t-0123456789abc"},
        {"a-very-long-name-that-does-not-fit-at-all", "a-very-long-name-that-do-0123456789abc"},
        {"123456789012345678901234567890", "j12345678901234567890123-0123456789abc"},
        {"../../etc/passwd", "etc-passwd-0123456789abc"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char id[ID_SIZE];
        id_make(text_of(cases[i].name), "0123456789abc", id);
        assert_string_equal(id, cases[i].id);
        assert_true(id_valid(text_of(id)));
    }
}

static void strange_ids_are_not_valid(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "x",
                                        "-0123456789abc",
                                        "0123456789abc",
                                        "x-0123456789ab",
                                        "x-0123456789abcd",
                                        "x-0123456789abu",
                                        "X-0123456789abc",
                                        "x/-0123456789abc",
                                        "..-0123456789abc",
                                        "x_0123456789abc",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaa-0123456789abc"};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_false(id_valid(text_of(cases[i])));
}

static void tokens_sort_and_are_unique(void **state)
{
    (void)state;
    char last[TOKEN_LENGTH + 1], token[TOKEN_LENGTH + 1];
    const int64_t now = 1800000000000;
    id_token_make(now, last);
    /* A clock that stands still, and one that goes back, must not repeat a token. */
    for (int i = 0; i < 2000000; i++) {
        id_token_make(i % 3 ? now : now - 1000, token);
        assert_true(strcmp(last, token) < 0);
        memcpy(last, token, sizeof(last));
    }
    assert_true(id_token_valid(text_of(token)));
}

static void ids_tell_their_time(void **state)
{
    (void)state;
    char token[TOKEN_LENGTH + 1], id[ID_SIZE];
    const int64_t later = 1900000000123;
    id_token_make(later, token);
    id_make(TEXT("x"), token, id);
    assert_int_equal(id_time(text_of(id)), later);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_labels),
        cmocka_unit_test(strange_ids_are_not_valid),
        cmocka_unit_test(tokens_sort_and_are_unique),
        cmocka_unit_test(ids_tell_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
