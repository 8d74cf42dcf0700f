/* tests/unit/excerpt_test.c - the last lines of what a task printed, for people */
#include "tests/unit/unit.h"

#include "stages/shared/excerpt.h"

static void lines_are_made_fit_to_read(void **state)
{
    (void)state;
    static const struct {
        const char *printed, *excerpt;
    } cases[] = {
        {"", ""},
        {"\n\n \n", ""},
        {"one", "    one\n"},
        {"1\n2\n\n3\n4\n5\n6\n\n", "    2\n    3\n    4\n    5\n    6\n"},
        {"\033[1;31mred\033[0m and \033]0;title\awhite\r\n", "    red and white\n"},
        {"10 %\r50 %\r100 %\n", "    100 %\n"},
        {"a\tb\x01"
         "c\xff"
         "d\n",
         "    a    b\\x01c\\xffd\n"},
        {"Next: nothing\n", "    Next: nothing\n"},
        {"\xc2\x9b"
         "31m \xc3\xa4\n",
         "    \\xc2\\x9b31m \xc3\xa4\n"},
        {"\033", ""},
        {"x\033[", "    x\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer out = {0};
        excerpt_write(text_of(cases[i].printed), NULL, &out);
        assert_string_equal(out.length ? out.data : "", cases[i].excerpt);
        buffer_free(&out);
    }
}

static void it_is_bounded(void **state)
{
    (void)state;
    struct buffer printed = {0}, out = {0};
    for (int line = 0; line < 10; line++) {
        for (int i = 0; i < 5000; i++)
            buffer_add_string(&printed, "\x01");
        buffer_add_byte(&printed, '\n');
    }
    excerpt_write(buffer_text(&printed), NULL, &out);
    assert_true(out.length < EXCERPT_SIZE);
    assert_true(text_ends(buffer_text(&out), "...\n"));
    buffer_free(&printed);
    buffer_free(&out);
}

static void no_part_of_a_secret_is_shown(void **state)
{
    (void)state;
    struct buffer printed = {0}, out = {0};
    for (int i = 0; i < EXCERPT_WIDTH - 20; i++)
        buffer_add_byte(&printed, '-');
    buffer_add_string(&printed, " TOK\033[0mEN=0123456789012345678901234567890123456789\n");
    excerpt_write(buffer_text(&printed), NULL, &out);
    assert_null(strstr(out.data, "0123"));
    assert_non_null(strstr(out.data, "- TOKEN=***"));
    /* This one is known only by its value, so not by a part of it. */
    struct mask *mask = mask_new();
    mask_learn(mask, TEXT("correct-horse-battery-staple"));
    buffer_clear(&printed);
    buffer_clear(&out);
    for (int i = 0; i < EXCERPT_WIDTH - 20; i++)
        buffer_add_byte(&printed, '-');
    buffer_add_string(&printed, " correct-horse-battery-staple\n");
    excerpt_write(buffer_text(&printed), mask, &out);
    assert_null(strstr(out.data, "correct"));
    mask_free(mask);
    buffer_free(&printed);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_made_fit_to_read),
        cmocka_unit_test(it_is_bounded),
        cmocka_unit_test(no_part_of_a_secret_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
