/* tests/unit/watcher_content_test.c - what the end of a job file says */
#include "tests/unit/watcher_support.h"
#include "watcher/content.h"

#define TEXT_OF(literal)                                                                           \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static void each_ending_has_its_class(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        enum content content;
    } cases[] = {
        {"", CONTENT_EMPTY},
        {" \n\t\r\n", CONTENT_EMPTY},
        {"\xef\xbb\xbf", CONTENT_EMPTY},
        {"name: a\n", CONTENT_PLAUSIBLE},
        {"name: a\r\n", CONTENT_PLAUSIBLE},
        {"name: a", CONTENT_CUT},
        {"name: a\ntype: sing", CONTENT_CUT},
        {"name: a\n...\n", CONTENT_COMPLETE},
        {"name: a\r\n...\r\n", CONTENT_COMPLETE},
        {"name: a\n...\n\n", CONTENT_COMPLETE},
        {"name: a\n...", CONTENT_CUT},
        {"name: a...\n", CONTENT_PLAUSIBLE},
        {"script: |\n  ...\n", CONTENT_OPEN},
        {"{\"name\": \"a\"}", CONTENT_COMPLETE},
        {"\xef\xbb\xbf  {\"name\": \"a\"}\n", CONTENT_COMPLETE},
        {"[1, [2], {}]", CONTENT_COMPLETE},
        {"{\"name\": \"a}\"", CONTENT_UNCLOSED},
        {"{\"name\": \"a\\\"}", CONTENT_UNCLOSED},
        {"{\"name\": \"a\"", CONTENT_UNCLOSED},
        {"{\"name\": \"a\",\n", CONTENT_UNCLOSED},
        {"{\"a\": {\"b\": 1}\n", CONTENT_UNCLOSED},
        {"{\"a\": 1,}", CONTENT_PLAUSIBLE}, /* wrong, but all there */
        {"{\"a\": 1} x\n", CONTENT_PLAUSIBLE},
        {"{\"a\": 1} // \"{", CONTENT_COMPLETE},
        {"// it's {\n{\"a\": \"//\"}", CONTENT_COMPLETE},
        {"{\"a\": // }\n", CONTENT_PLAUSIBLE},
        {"// {}\n{\"a\": 1\n", CONTENT_UNCLOSED},
        {"{\"a\": 1, // {\n}", CONTENT_PLAUSIBLE},
        {"{a: http://b}", CONTENT_PLAUSIBLE},
        {"// a\n", CONTENT_PLAUSIBLE},
        {"{a: '}'", CONTENT_PLAUSIBLE}, /* flow style: cannot be told */
        {"12", CONTENT_CUT},            /* 123 could follow */
        {"\"text\"", CONTENT_CUT},
        {"#!/bin/sh\n#DL library=any\necho\n", CONTENT_OPEN},
        {"#!/bin/sh\necho", CONTENT_CUT},
        {"#!/bin/sh\ncat <<.\n...\n", CONTENT_OPEN},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        enum content content = content_judge(text_of(cases[i].bytes));
        if (content != cases[i].content)
            fail_msg("\"%s\": %d, expected %d", cases[i].bytes, (int)content,
                     (int)cases[i].content);
    }
    assert_int_equal(content_judge((struct text){NULL, 0}), CONTENT_EMPTY);
    assert_int_equal(content_judge((struct text){"a: b\n\0\0", 7}), CONTENT_CUT);
}

static void no_beginning_of_a_complete_file_is_complete(void **state)
{
    (void)state;
    static const char *const samples[] = {
        "{\"name\": \"a\\\\\\\"}\", \"tasks\": {\"main\": {\"args\": [\"}\", \"]{\", 1e5]}}}",
        "[{\"a\": \"[\"}, {\"b\": [1, 2, []]}]",
        "name: digits\nlibrary: sklearn\nscript: |\n  echo ...\n  ...\n  # ...\n"
        "args: [a, b]\n...\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(samples); i++) {
        size_t length = strlen(samples[i]);
        assert_int_equal(content_judge(text_of(samples[i])), CONTENT_COMPLETE);
        for (size_t cut = 0; cut < length; cut++) {
            char *copy = malloc(cut + 1); /* of its own, so that reading past it shows */
            memcpy(copy, samples[i], cut);
            if (content_judge((struct text){copy, cut}) == CONTENT_COMPLETE)
                fail_msg("sample %zu is complete after %zu bytes", i, cut);
            free(copy);
        }
    }
}

/* Whether it ends with a newline or not. */
static void what_is_no_text_is_foreign(void **state)
{
    (void)state;
    static const struct text cases[] = {
        TEXT_OF("\x1f\x8b\x08\0abc\n"),
        TEXT_OF("PK\x03\x04\x14"),
        TEXT_OF("BZh91AY"),
        TEXT_OF("\xff\xfen\0a\0m\0e\0"),
        TEXT_OF("n\0a\0m\0e\0:\0 \0a\0\n\0"),
        TEXT_OF("\x7f"
                "ELF\2\1\1\0"),
        TEXT_OF("\1\2\3\0\1\2\3\0\n"),
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        if (content_judge(cases[i]) != CONTENT_FOREIGN)
            fail_msg("case %zu is taken for text", i);
    char archive[512] = "job.yaml";
    memcpy(archive + 257, "ustar", 5);
    assert_int_equal(content_judge((struct text){archive, sizeof(archive)}), CONTENT_FOREIGN);
    assert_int_equal(content_judge(TEXT("name: \xc3\xa4\xc3\xb6\n")), CONTENT_PLAUSIBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_ending_has_its_class),
        cmocka_unit_test(no_beginning_of_a_complete_file_is_complete),
        cmocka_unit_test(what_is_no_text_is_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
