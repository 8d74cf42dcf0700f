/* tests/unit/visible_test.c - nothing that a terminal obeys comes through, and all else does
 *
 * Seen to fail with: tests/mutants/visible-*.patch.
 */
#include "tests/unit/unit.h"

#include "base/utf8.h"
#include "base/visible.h"

static const char *const cases[][2] = {
    {"plain\ttext\n10%\r20%\n", "plain\ttext\n10%\r20%\n"},
    {"\x1b]0;mine\a\x1b[2J", "^[]0;mine^G^[[2J"},
    {"\b\v\f\x7f", "^H^K^L^?"},
    {"caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8d\x8e",
     "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x8d\x8e"},
    {"\xc2\x80\xc2\x9b"
     "2J\xc2\x9f\xc2\xa0",
     "\\u0080\\u009b2J\\u009f\xc2\xa0"},
    {"\x9b"
     "2J\xff\xfe\xc0\x9b",
     "\\x9b2J\\xff\\xfe\\xc0\\x9b"},
    {"\xe2\x82"
     "x\xe2\x1b[\xf0\x9f\x8d",
     "\\xe2\\x82x\\xe2^[[\\xf0\\x9f\\x8d"},
    {"\xed\xa0\x80\xf4\x90\x80\x80\xe0\x80\x80",
     "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe0\\x80\\x80"},
    /* What turns the order of characters, and other ends of lines; not what stands beside them in Unicode. */
    {"a\xe2\x80\xae\xe2\x80\xaa\xe2\x80\xa8\xe2\x81\xa6\xe2\x81\xa9z",
     "a\\u202e\\u202a\\u2028\\u2066\\u2069z"},
    {"\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
     "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
    {"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xe0\xa0\x80", "\xf4\x8f\xbf\xbf\xed\x9f\xbf\xe0\xa0\x80"},
};

/* In parts of so many bytes. */
static void expect(struct text bytes, struct text shown, size_t part)
{
    struct visible visible = {.count = 0};
    struct buffer out = {0};
    for (size_t at = 0; at < bytes.length; at += part) {
        size_t left = bytes.length - at;
        visible_add(&visible, &out, (struct text){bytes.data + at, left < part ? left : part});
    }
    visible_end(&visible, &out);
    assert_string_equal(out.length ? out.data : "", shown.data);
    assert_int_equal(out.length, shown.length);
    buffer_free(&out);
}

static void control_characters_are_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (size_t part = 1; part < 16; part++)
            expect(text_of(cases[i][0]), text_of(cases[i][1]), part);
    expect((struct text){"a\0b", 3}, TEXT("a^@b"), 3);
}

/* All pairs and triples of bytes that are of note: what comes out is UTF-8, and no control character. */
static void nothing_else_comes_through(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0,    0x1b, 'a',  0x7f, 0x80, 0x8f, 0x90,
                                          0x9b, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xc3,
                                          0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xff};
    enum { COUNT = ARRAY_COUNT(bytes), LENGTH = 4 };
    struct buffer out = {0};
    for (size_t number = 0; number < (size_t)COUNT * COUNT * COUNT * COUNT; number++) {
        char text[LENGTH];
        size_t rest = number;
        for (size_t i = 0; i < LENGTH; i++, rest /= COUNT)
            text[i] = (char)bytes[rest % COUNT];
        struct visible visible = {.count = 0};
        buffer_clear(&out);
        visible_add(&visible, &out, (struct text){text, number % LENGTH});
        visible_add(&visible, &out,
                    (struct text){text + number % LENGTH, LENGTH - number % LENGTH});
        visible_end(&visible, &out);
        for (size_t at = 0, length; at < out.length; at += length) {
            length = utf8_sequence(out.data + at, out.length - at);
            assert_true(length > 0);
            uint32_t point = utf8_code_point(out.data + at, length);
            assert_true(point >= ' ' && (point < 0x7f || point > 0x9f));
            assert_true(point < 0x2028 || point > 0x202e);
        }
    }
    buffer_free(&out);
}

static void json_means_the_same(void **state)
{
    (void)state;
    struct buffer out = {0};
    visible_add_json(&out, TEXT("{\"a\":\"\\u001b\xc2\x9b\xc2\xa0\x7f\xc3\xa9\"}"));
    assert_string_equal(out.data, "{\"a\":\"\\u001b\\u009b\xc2\xa0\x7f\xc3\xa9\"}");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_seen),
        cmocka_unit_test(nothing_else_comes_through),
        cmocka_unit_test(json_means_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
