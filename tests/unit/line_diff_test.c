/* line_diff_test.c - base/line_diff.c: what it shows, that it can be applied, and that it is short */
#include "base/line_diff.h"
#include "tests/unit/unit.h"

enum { MOST_LINES = 4000 };

static void check(const char *before, const char *after, const char *wanted)
{
    struct buffer out = {0};
    int differ = line_diff(&out, text_of(before), "a", text_of(after), "b", NULL);
    assert_string_equal(out.data ? out.data : "", wanted);
    assert_int_equal(differ, *wanted != '\0');
    buffer_free(&out);
}

static void the_same(void **state)
{
    (void)state;
    check("", "", "");
    check("a\nb\n", "a\nb\n", "");
    check("a", "a", "");
}

static void what_diff_shows(void **state)
{
    (void)state;
    check("a\nb\nc\n", "a\nx\nc\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    check("", "a\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n");
    check("a\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n");
    check("a\nb", "a\nb\n",
          "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    check("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n",
          "--- a\n+++ b\n@@ -6,4 +6,3 @@\n 6\n 7\n 8\n-9\n");
    /* Six lines between changes: one hunk.  Seven: two. */
    check("x\n1\n2\n3\n4\n5\n6\nx\n", "y\n1\n2\n3\n4\n5\n6\ny\n",
          "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-x\n+y\n");
    check(
        "x\n1\n2\n3\n4\n5\n6\n7\nx\n", "y\n1\n2\n3\n4\n5\n6\n7\ny\n",
        "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-x\n+y\n");
}

/* Cut the next line off; an empty rest has none. */
static bool next_line(struct text *rest, struct text *line)
{
    return rest->length > 0 && text_next(rest, '\n', line);
}

/* Apply the diff to `before`.  Returns how many lines it changes. */
static size_t apply(struct text before, struct text diff, struct buffer *after)
{
    struct text line;
    size_t changes = 0, position = 0;
    bool lacks_newline = false;
    next_line(&diff, &line);
    assert_true(text_starts(line, "--- "));
    next_line(&diff, &line);
    assert_true(text_starts(line, "+++ "));
    while (next_line(&diff, &line)) {
        assert_true(line.length > 0);
        if (line.data[0] == '@') {
            size_t first = 0, count = 1;
            int fields = sscanf(line.data, "@@ -%zu,%zu", &first, &count);
            assert_true(fields >= 1);
            for (size_t target = count ? first - 1 : first; position < target; position++) {
                assert_true(next_line(&before, &line));
                buffer_add_text(after, line);
                buffer_add_byte(after, '\n');
            }
        } else if (line.data[0] == '\\') {
            lacks_newline = true;
        } else {
            struct text content = {line.data + 1, line.length - 1}, own;
            lacks_newline = false;
            if (line.data[0] != '+') {
                assert_true(next_line(&before, &own));
                assert_true(text_equal(own, content));
                position++;
            }
            if (line.data[0] != '-') {
                buffer_add_text(after, content);
                buffer_add_byte(after, '\n');
            }
            changes += line.data[0] != ' ';
        }
    }
    buffer_add_text(after, before);
    if (lacks_newline && after->length && after->data[after->length - 1] == '\n')
        after->length--;
    return changes;
}

static unsigned long seed = 1;
static unsigned random_below(unsigned bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % bound;
}

/* So many lines, each of so many kinds. */
static void make_text(struct buffer *text, unsigned lines, unsigned kinds)
{
    buffer_clear(text);
    for (unsigned i = 0; i < lines; i++)
        buffer_printf(text, "%u\n", random_below(kinds));
}

/* The least number of changed lines, by the table that everybody knows. */
static size_t least_changes(struct text a, struct text b)
{
    static size_t row[200];
    struct text lines[200], line;
    size_t count = 0;
    while (next_line(&b, &line))
        lines[count++] = line;
    for (size_t j = 0; j <= count; j++)
        row[j] = j;
    for (size_t i = 1; next_line(&a, &line); i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= count; j++) {
            size_t above = row[j];
            size_t less = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = text_equal(line, lines[j - 1]) ? corner : less;
            corner = above;
        }
    }
    return row[count];
}

static size_t all_changes, all_least; /* of pairs that check_pair() counts */

static void check_pair(const struct buffer *before, const struct buffer *after, bool counted)
{
    struct buffer diff = {0}, applied = {0};
    if (line_diff(&diff, buffer_text(before), "a", buffer_text(after), "b", NULL) == 1) {
        size_t changes = apply(buffer_text(before), buffer_text(&diff), &applied);
        if (!text_equal(buffer_text(&applied), buffer_text(after)))
            fail_msg("applied to\n%s\n%s\ngives\n%s\nwanted\n%s", before->data, diff.data,
                     applied.data, after->data);
        if (counted) {
            all_changes += changes;
            all_least += least_changes(buffer_text(before), buffer_text(after));
        }
    } else {
        assert_true(text_equal(buffer_text(before), buffer_text(after)));
    }
    buffer_free(&diff);
    buffer_free(&applied);
}

static void small_ones_are_short(void **state)
{
    (void)state;
    struct buffer before = {0}, after = {0};
    for (int i = 0; i < 20000; i++) {
        unsigned kinds = 1 + random_below(6);
        make_text(&before, random_below(20), kinds);
        make_text(&after, random_below(20), kinds);
        check_pair(&before, &after, true);
        if (after.length && random_below(2)) {
            after.length--;
            check_pair(&before, &after, false);
        }
    }
    assert_in_range(all_changes, all_least, all_least + all_least / 100);
    buffer_free(&before);
    buffer_free(&after);
}

/* Beyond the bound of the search. */
static void large_ones_are_right(void **state)
{
    (void)state;
    struct buffer before = {0}, after = {0};
    for (unsigned kinds = 1; kinds < 100000; kinds *= 10) {
        make_text(&before, MOST_LINES, kinds);
        make_text(&after, MOST_LINES - random_below(100), kinds);
        check_pair(&before, &after, false);
    }
    buffer_free(&before);
    buffer_free(&after);
}

/* Each tenth line is another one: with 1000 changes it is still told apart what stays. */
static void many_small_changes(void **state)
{
    (void)state;
    struct buffer before = {0}, after = {0}, diff = {0}, applied = {0};
    for (unsigned i = 0; i < 10 * 1000; i++) {
        buffer_printf(&before, "%s%u\n", i % 10 ? "line " : "old ", i);
        buffer_printf(&after, "%s%u\n", i % 10 ? "line " : "new ", i);
    }
    assert_int_equal(line_diff(&diff, buffer_text(&before), "a", buffer_text(&after), "b", NULL),
                     1);
    size_t changes = apply(buffer_text(&before), buffer_text(&diff), &applied);
    assert_true(text_equal(buffer_text(&applied), buffer_text(&after)));
    assert_int_equal(changes, 2000);
    buffer_free(&before);
    buffer_free(&after);
    buffer_free(&diff);
    buffer_free(&applied);
}

static void any_bytes(void **state)
{
    (void)state;
    struct buffer out = {0};
    assert_int_equal(
        line_diff(&out, (struct text){"\0\n\xff", 3}, "a", (struct text){NULL, 0}, "b", NULL), 1);
    buffer_clear(&out);
    assert_int_equal(
        line_diff(&out, (struct text){"a\0b\n", 4}, "a", (struct text){"a\0c\n", 4}, "b", NULL), 1);
    static const char wanted[] = "--- a\n+++ b\n@@ -1 +1 @@\n-a\0b\n+a\0c\n";
    assert_int_equal(out.length, sizeof(wanted) - 1);
    assert_memory_equal(out.data, wanted, out.length);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same),
        cmocka_unit_test(what_diff_shows),
        cmocka_unit_test(small_ones_are_short),
        cmocka_unit_test(large_ones_are_right),
        cmocka_unit_test(many_small_changes),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
