/* patterns that find a job's progress in a line
 *
 * What is found is compared with a table, with what lines were made of, and with what a regular
 * expression that means the same finds.
 */
#include "tests/unit/unit.h"

#include <regex.h>

#include "job/pattern.h"

static void read_pattern(struct pattern *pattern, const char *source)
{
    struct error error;
    if (pattern_parse(text_of(source), pattern, &error))
        fail_msg("%s: %s", source, error.text);
}

static void numbers_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *line;
        double done, total; /* done -1: it is not there */
    } cases[] = {
        {"step {done}/{total}", "step 12/400", 12, 400},
        {"step {done}/{total}", "[rank 0] step 12/400 loss 0.3", 12, 400},
        {"step {done}/{total}", "step   12/  400", 12, 400},
        {"step {done}/{total}", "step\t12/\t400", 12, 400},
        {"step {done}/{total}", "step 12 / 400", -1, 0},
        {"step {done}/{total}", "steps 12/400, step 13/400", 13, 400},
        {"step {done}/{total}", "Step 12/400", -1, 0},
        {"step {done}/{total}", "step 12/", -1, 0},
        {"step {done}/{total}", "", -1, 0},
        {"step {done}", "step 12.5", 12.5, 0},
        {"step {done}", "step 12.", 12, 0},
        {"step {done}", "step -12", -1, 0},
        {"epoch {done}.", "epoch 3.", 3, 0},
        {"epoch {done}.{total}", "epoch 3.10", 3, 10},
        {"{done}%", "loss 0.25, 45%|####", 45, 0},
        {"{done}%", "45.5%", 45.5, 0},
        {"{done}/{total}", "at 100/400", 100, 400},
        {"{done}", "0", 0, 0},
        {"{total}*{done}", "of 400 it has 12 done", 12, 400},
        {"step {done}*of {total}", "step 3 (warm), one of many of 9", 3, 9},
        {"loss * step {done}", "step 1 loss 0.5 acc 0.1 step 7", 7, 0},
        {"loss*step {done}", "step 7 loss 0.5", -1, 0},
        {"*{done}*", "abc 5 def", 5, 0},
        {"\\*{done}\\{\\\\", "*5{\\", 5, 0},
        {"[{done}}", "[5}", 5, 0},
        {"x{done}", "x123456789012345", 123456789012345, 0},
        {"x{done}", "x1234567890123456", -1, 0},
        {"{done}", "1234567890123456", -1, 0},
        {"x{done}", "x1.1234567890123456", -1, 0},
        {"\xe6\xad\xa5{done}", "\xe6\xad\xa5 7", 7, 0},
        {"step {done}", "\xff\xfe step 7 \xff", 7, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct pattern pattern;
        double done = -1, total = 0;
        read_pattern(&pattern, cases[i].pattern);
        bool found = pattern_find(&pattern, text_of(cases[i].line), &done, &total);
        if (found != (cases[i].done >= 0) || done != cases[i].done || total != cases[i].total)
            fail_msg("\"%s\" in \"%s\": found %g of %g, expected %g of %g", cases[i].pattern,
                     cases[i].line, done, total, cases[i].done, cases[i].total);
    }
    struct pattern pattern;
    double done, total;
    read_pattern(&pattern, "b{done}");
    assert_true(pattern_find(&pattern, (struct text){"a\0b5", 4}, &done, &total));
}

static void bad_patterns_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *words;
    } cases[] = {
        {"", "expected {done} in it"},
        {"step", "found \"step\", expected {done} in it"},
        {"{total}", "expected {done} in it"},
        {"{done} {done}", "{done} twice"},
        {"{total} {done} {total}", "{total} twice"},
        {"{done}{total}", "nothing between them"},
        {"step {Done}", "found \"{Done}\", expected {done} or {total}"},
        {"step {done", "found \"{done\", expected"},
        {"{", "\\{ for a brace"},
        {"\\d+ {done}", "expected \\*"},
        {"{done}\\", "expected \\*"},
        {"{done}\n", "control character"},
        {"{done}\x7f", "control character"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct pattern pattern;
        struct error error = {""};
        if (!pattern_parse(text_of(cases[i].pattern), &pattern, &error))
            fail_msg("taken: %s", cases[i].pattern);
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s: found \"%s\", expected %s", cases[i].pattern, error.text, cases[i].words);
    }
    struct pattern pattern;
    char longest[PATTERN_LONGEST + 2];
    memset(longest, 'x', sizeof(longest));
    memcpy(longest, "{done}", 6);
    struct error error;
    assert_int_equal(pattern_parse((struct text){longest, PATTERN_LONGEST}, &pattern, &error), 0);
    assert_int_equal(pattern_parse((struct text){longest, PATTERN_LONGEST + 1}, &pattern, &error),
                     -1);
    assert_non_null(strstr(error.text, "129 bytes"));
}

static void add_letter(struct buffer *source, struct buffer *expression)
{
    /* Two blanks are one. */
    char letter = "ab/: "[random() % (text_ends(buffer_text(source), " ") ? 4 : 5)];
    buffer_add_byte(source, letter);
    buffer_add_byte(expression, letter);
}

static void add_number(struct buffer *source, struct buffer *expression, const char *name)
{
    if (text_ends(buffer_text(source), "}") || text_ends(buffer_text(source), "}*"))
        add_letter(source, expression);
    buffer_add_string(source, name);
    buffer_add_string(expression, "[ ]?[0-9]+");
}

/* A pattern of a few random pieces, and the regular expression that means the same. */
static void make_pattern(struct buffer *source, struct buffer *expression)
{
    int count = 1 + (int)(random() % 6), done = (int)(random() % count);
    bool total = false;
    for (int i = 0; i < count; i++) {
        long kind = random() % 8;
        if (i == done) {
            add_number(source, expression, "{done}");
        } else if (kind == 0 && !total) {
            add_number(source, expression, "{total}");
            total = true;
        } else if (kind <= 2 && !text_ends(buffer_text(source), "*")) {
            /* A number takes all its digits. */
            bool number = text_ends(buffer_text(source), "}");
            buffer_add_byte(source, '*');
            buffer_add_string(expression, number ? "([^0-9].*)?" : ".*");
        } else {
            add_letter(source, expression);
        }
    }
}

static void regular_expressions_agree(void **state)
{
    (void)state;
    size_t there = 0;
    srandom(7);
    for (int round = 0; round < 3000; round++) {
        struct buffer source = {0}, expression = {0};
        struct pattern pattern;
        regex_t compiled;
        make_pattern(&source, &expression);
        read_pattern(&pattern, source.data);
        assert_int_equal(regcomp(&compiled, expression.data, REG_EXTENDED | REG_NOSUB), 0);
        for (int i = 0; i < 20; i++) {
            char line[24];
            size_t length = (size_t)random() % sizeof(line);
            for (size_t j = 0; j < length; j++)
                do
                    line[j] = "ab/: 12"[random() % 7];
                while (line[j] == ' ' && j > 0 && line[j - 1] == ' ');
            line[length < sizeof(line) ? length : 0] = '\0';
            double done, total;
            bool found = pattern_find(&pattern, text_of(line), &done, &total);
            bool expected = regexec(&compiled, line, 0, NULL, 0) == 0;
            if (found != expected)
                fail_msg("\"%s\" in \"%s\": found %d, expected %d", source.data, line, found,
                         expected);
            there += found;
        }
        regfree(&compiled);
        buffer_free(&source);
        buffer_free(&expression);
    }
    assert_in_range(there, 5000, 55000);
}

/* What a program prints of these numbers, among other things, is read as these numbers. */
static void printed_numbers_come_back(void **state)
{
    (void)state;
    static const char *const patterns[] = {"step {done}/{total}", "it [{done}/{total}]*loss",
                                           "{done} of {total}"};
    srandom(8);
    for (int i = 0; i < 3000; i++) {
        struct pattern pattern;
        struct buffer line = {0};
        int index = i % 3, width = (int)(random() % 9);
        int done = (int)(random() % 100000), total = (int)(random() % 100000);
        double found_done, found_total;
        read_pattern(&pattern, patterns[index]);
        if (index == 0)
            buffer_printf(&line, "x1 0.25 y step %*d/%d z", width, done, total);
        else if (index == 1)
            buffer_printf(&line, "2: it [%*d/%d] 3 loss 4", width, done, total);
        else
            buffer_printf(&line, "so %*d of %d", width, done, total);
        assert_true(pattern_find(&pattern, buffer_text(&line), &found_done, &found_total));
        assert_true(found_done == done && found_total == total);
        buffer_free(&line);
    }
}

/* Of a line as long as a program cares to make it, only the start is looked at; the worst of
 * pattern and line together take no time worth mentioning, which a search that tries again would.
 */
static void hostile_lines_are_bounded(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b{done}",
        " * * * * * * * * * * * * * * * * * * * *x{done}",
        "1*1*1*1*1*1*1*1*1*1*1*1*1*1*{total}x*{done}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab{done}"};
    static const char fill[] = "a 1a";
    enum { LENGTH = 1 << 20 };
    char *line = malloc(LENGTH);
    double done, total;
    for (size_t i = 0; i < 4; i++) {
        struct pattern pattern;
        read_pattern(&pattern, patterns[i]);
        memset(line, fill[i], LENGTH);
        memcpy(line + LENGTH - 4, "b5x5", 4);
        assert_false(pattern_find(&pattern, (struct text){line, LENGTH}, &done, &total));
        assert_false(pattern_find(&pattern, (struct text){line, PATTERN_LINE_MOST}, &done, &total));
    }
    struct pattern pattern;
    read_pattern(&pattern, "step {done}");
    memset(line, ' ', LENGTH);
    memcpy(line + LENGTH - 6, "step 7", 6);
    assert_true(pattern_find(&pattern, (struct text){line, LENGTH}, &done, &total));
    memset(line, 'x', LENGTH);
    memcpy(line + PATTERN_LINE_MOST - 6, "step 7", 6);
    assert_true(pattern_find(&pattern, (struct text){line, LENGTH}, &done, &total));
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found),         cmocka_unit_test(bad_patterns_are_refused),
        cmocka_unit_test(regular_expressions_agree), cmocka_unit_test(printed_numbers_come_back),
        cmocka_unit_test(hostile_lines_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
