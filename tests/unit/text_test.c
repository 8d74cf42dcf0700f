/* tests/unit/text_test.c - numbers and labels in texts; the room of buffers */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

static void a_number_is_digits_and_no_more_than_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t most, number, taken; /* of the whole text, and cut off its front */
    } cases[] = {
        {"", 9, -1, -1},
        {"0", 0, 0, 0},
        {"1", 0, -1, -1},
        {"007", 7, 7, 7},
        {"8", 7, -1, -1},
        {"12", 11, -1, -1},
        {"12", 12, 12, 12},
        {"12h", 99, -1, 12},
        {"h12", 99, -1, -1},
        {"-1", 99, -1, -1},
        {" 1", 99, -1, -1},
        {"1 ", 99, -1, 1},
        {"9223372036854775807", INT64_MAX, INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MAX, -1, -1},
        {"92233720368547758070", INT64_MAX, -1, -1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text text = text_of(cases[i].text), rest = text;
        int64_t number = text_number(text, cases[i].most);
        int64_t taken = text_take_number(&rest, cases[i].most);
        if (number != cases[i].number || taken != cases[i].taken)
            fail_msg("\"%s\": %lld and %lld", cases[i].text, (long long)number, (long long)taken);
    }
}

static void what_follows_a_number_is_left(void **state)
{
    (void)state;
    struct text rest = TEXT("250ms");
    assert_int_equal(text_take_number(&rest, 1000), 250);
    assert_true(text_is(rest, "ms"));
    rest = TEXT("7");
    assert_int_equal(text_take_number(&rest, 1000), 7);
    assert_int_equal(rest.length, 0);
}

static void a_label_is_what_dns_takes(void **state)
{
    static const char *const good[] = {"a", "7", "a-b", "x--9", "abcde"};
    static const char *const bad[] = {"", "-", "a-", "-a", "A", "a_b", "a.b", "abcdef", "a b"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(good); i++)
        if (!text_is_label(text_of(good[i]), 5))
            fail_msg("\"%s\" is a label", good[i]);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        if (text_is_label(text_of(bad[i]), 5))
            fail_msg("\"%s\" is no label", bad[i]);
}

static void a_buffer_gives_back_what_it_does_not_need(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    buffer_fit(&buffer);
    assert_null(buffer.data);
    buffer_reserve(&buffer, 10000);
    buffer_add_string(&buffer, "four");
    for (int i = 0; i < 2; i++) {
        buffer_fit(&buffer);
        assert_int_equal(buffer.capacity, 5);
        assert_string_equal(buffer.data, "four");
    }
    buffer_add_string(&buffer, " more");
    assert_string_equal(buffer.data, "four more");
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_digits_and_no_more_than_asked_for),
        cmocka_unit_test(what_follows_a_number_is_left),
        cmocka_unit_test(a_label_is_what_dns_takes),
        cmocka_unit_test(a_buffer_gives_back_what_it_does_not_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
