/* tests/unit/images_test.c - images.txt: what is accepted, what is refused, which row decides */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/images.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct images *parse(const char *source)
{
    struct error error = {""};
    struct images *images = images_parse(arena, text_of(source), "images.txt", &error);
    if (!images)
        print_message("%s\n", error.text);
    assert_non_null(images);
    return images;
}

static void refuses(const char *source, const char *sentence)
{
    struct error error = {""};
    assert_null(images_parse(arena, text_of(source), "images.txt", &error));
    if (!strstr(error.text, sentence))
        print_message("got: %s\nwanted: %s\n", error.text, sentence);
    assert_non_null(strstr(error.text, sentence));
}

/* The image that is found, or "" for none. */
static const char *find(const struct images *images, const char *library, const char *version,
                        const char *type, const char *accelerator)
{
    const struct image_row *row = images_find(images, text_of(library), text_of(version),
                                              text_of(type), text_of(accelerator), true);
    return row ? arena_text(arena, row->image.data, row->image.length).data : "";
}

static void comments_and_blank_lines_are_left_out(void **state)
{
    (void)state;
    struct images *images = parse("# a comment\n\n  \t\r\n"
                                  "pytorch 2.1 single none a # the first\r\n"
                                  "\tany\t*   * * b:1#2\n");
    assert_int_equal(images->count, 2);
    assert_int_equal(images->rows[0].line, 4);
    assert_int_equal(images->rows[1].line, 5);
    assert_true(text_is(images->rows[0].image, "a"));
    assert_true(text_is(images->rows[1].image, "b:1#2"));
    assert_int_equal(parse("")->count, 0);
    assert_int_equal(parse("a b c d e")->count, 1);
}

static void wrong_columns_are_refused_with_line(void **state)
{
    (void)state;
    refuses("# x\n\n# y\npytorch * * host\n",
            "images.txt:4: 4 columns, expected 5: library version type accelerator image");
    refuses("pytorch\n", "images.txt:1: 1 column, expected 5");
    refuses("a b c d e f\n", "images.txt:1: 6 columns, expected 5");
    refuses("a * * * #e\n", "images.txt:1: 4 columns, expected 5");
    refuses("a 2.* * * e\n",
            "images.txt:1: version is \"2.*\"; * matches anything and stands alone");
    refuses("a * * * *\n", "images.txt:1: image is *");
    refuses("a * * * x;y\n", "images.txt:1: image is \"x;y\"");
    refuses("a * * * -rf\n", "images.txt:1: image is \"-rf\"");
    refuses("a * * * \x1b[2J\n", "image is \"\\x1b[2J\"");
    refuses("../b * * * e\n", "images.txt:1: library is \"../b\"");
    refuses("a * s/t * e\n", "images.txt:1: type is \"s/t\"");
}

static void host_is_passed_over_where_it_is_of_no_use(void **state)
{
    (void)state;
    struct images *images = parse("pytorch * * * host\npytorch 2 * * two\nany * * * host\n");
    const struct image_row *row =
        images_find(images, TEXT("pytorch"), TEXT(""), TEXT("single"), TEXT(""), false);
    assert_true(row && text_is(row->image, "two"));
    assert_string_equal(find(images, "pytorch", "", "single", ""), "host");
    assert_null(images_find(images, TEXT("any"), TEXT(""), TEXT("single"), TEXT(""), false));
    assert_false(images_serve(images, TEXT("any"), TEXT("single"), false));
    assert_true(images_serve(images, TEXT("any"), TEXT("single"), true));
    /* A row behind one of `host` is reached by others. */
    struct buffer report = {0};
    size_t warnings = 0;
    assert_int_equal(images_report(TEXT("a * * * host\na * * * x\na 1 * * y\na * * * host\n"), "i",
                                   &report, &warnings),
                     0);
    assert_int_equal(warnings, 2);
    assert_non_null(strstr(report.data, "i:3: warning: this row is never reached: line 2"));
    assert_non_null(strstr(report.data, "i:4: warning: this row is never reached: line 1"));
    buffer_free(&report);
}

static void first_row_that_fits_decides(void **state)
{
    (void)state;
    struct images *images = parse("pytorch 2.1 *           none one\n"
                                  "pytorch 2   distributed *    two\n"
                                  "pytorch *   *           a100 three\n"
                                  "*       *   single      *    four\n");
    assert_string_equal(find(images, "pytorch", "2.1", "single", ""), "one");
    assert_string_equal(find(images, "pytorch", "2.1", "single", "none"), "one");
    assert_string_equal(find(images, "pytorch", "2.1.3", "single", "none"), "one");
    assert_string_equal(find(images, "pytorch", "2.1+cu118", "single", "none"), "one");
    assert_string_equal(find(images, "pytorch", "2.10", "distributed", "none"), "two");
    assert_string_equal(find(images, "pytorch", "", "distributed", ""), "one");
    assert_string_equal(find(images, "pytorch", "2.1", "distributed", "a100"), "two");
    assert_string_equal(find(images, "pytorch", "1.9", "distributed", "a100"), "three");
    assert_string_equal(find(images, "jax", "1", "single", "h100"), "four");
    assert_string_equal(find(images, "pytorch", "1.9", "distributed", "h100"), "");
    assert_string_equal(find(images, "jax", "", "ps", ""), "");
    assert_true(images_serve(images, TEXT("pytorch"), TEXT("ps"), true));
    assert_false(images_serve(images, TEXT("jax"), TEXT("ps"), true));
}

static void a_longer_row_does_not_fit_a_shorter_version(void **state)
{
    (void)state;
    struct images *images = parse("a 2.1.3 * * x\n");
    assert_string_equal(find(images, "a", "2.1", "single", ""), "");
    assert_string_equal(find(images, "a", "2.1.3", "single", ""), "x");
    assert_string_equal(find(images, "a", "2.1.30", "single", ""), "");
}

static void report_lists_every_fault(void **state)
{
    (void)state;
    struct buffer report = {0};
    size_t warnings = 0;
    size_t faults =
        images_report(TEXT("a b c\nx * * * i\nx 1 * * j\nk\n"), "images.txt", &report, &warnings);
    assert_int_equal(faults, 2);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(report.data, "images.txt:1: 3 columns"));
    assert_non_null(strstr(report.data, "images.txt:4: 1 column,"));
    assert_non_null(
        strstr(report.data, "images.txt:3: warning: this row is never reached: line 2"));
    buffer_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comments_and_blank_lines_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_columns_are_refused_with_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(host_is_passed_over_where_it_is_of_no_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_row_that_fits_decides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_longer_row_does_not_fit_a_shorter_version, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(report_lists_every_fault, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
