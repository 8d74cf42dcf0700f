/* tests/unit/images_test.c - images.txt: what is accepted, what is refused, which row decides */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/images.h"

static struct arena *arena;
static const struct host *machine; /* NULL: not known what it has */

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    machine = NULL;
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
    const struct image_query query = {.library = text_of(library),
                                      .version = text_of(version),
                                      .type = text_of(type),
                                      .accelerator = text_of(accelerator),
                                      .host = true,
                                      .machine = machine};
    const struct image_row *row = images_find(images, &query);
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
    struct image_query query = {.library = TEXT("pytorch"), .type = TEXT("single")};
    const struct image_row *row = images_find(images, &query);
    assert_true(row && text_is(row->image, "two"));
    assert_string_equal(find(images, "pytorch", "", "single", ""), "host");
    query.library = TEXT("any");
    assert_null(images_find(images, &query));
    assert_false(images_serve(images, TEXT("any"), TEXT("single"), false));
    assert_true(images_serve(images, TEXT("any"), TEXT("single"), true));
    /* A row behind one of `host` is reached by others. */
    struct buffer report = {0};
    size_t warnings = 0;
    assert_int_equal(images_report(TEXT("a 1.2 * * host\na 1.2 * * x\na 1 * * y\na * * * host\n"),
                                   "i", &report, &warnings),
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
    assert_string_equal(find(images, "pytorch", "2", "single", "none"), "one");
    assert_string_equal(find(images, "pytorch", "2", "distributed", "h100"), "two");
    assert_string_equal(find(images, "pytorch", "", "distributed", ""), "one");
    assert_string_equal(find(images, "pytorch", "", "single", "a100"), "three");
    assert_string_equal(find(images, "jax", "", "single", "h100"), "four");
    assert_string_equal(find(images, "pytorch", "1.9", "distributed", "h100"), "");
    assert_string_equal(find(images, "jax", "", "ps", ""), "");
    assert_true(images_serve(images, TEXT("pytorch"), TEXT("ps"), true));
    assert_false(images_serve(images, TEXT("jax"), TEXT("ps"), true));
}

/* Nobody gets another version than the one that the job names. */
static void a_version_that_is_named_is_what_runs(void **state)
{
    (void)state;
    struct images *images = parse("a 2.1.3 * * x\na 2.4+cu118 * * y\na * * * z\n");
    assert_string_equal(find(images, "a", "2", "single", ""), "x");
    assert_string_equal(find(images, "a", "2.1", "single", ""), "x");
    assert_string_equal(find(images, "a", "2.1.3", "single", ""), "x");
    assert_string_equal(find(images, "a", "2.4", "single", ""), "y");
    assert_string_equal(find(images, "a", "2.1.30", "single", ""), "");
    assert_string_equal(find(images, "a", "2.1.3.1", "single", ""), "");
    assert_string_equal(find(images, "a", "2.10", "single", ""), "");
    assert_string_equal(find(images, "a", "99.9", "single", ""), "");
    assert_string_equal(find(parse("a * * * z\n"), "a", "99.9", "single", ""), "");
    assert_string_equal(find(parse("a * * * z\n"), "a", "", "single", ""), "z");
}

static const char has[] = "{\"libraries\": {\"any\": {\"version\": \"3.11.2\", \"gpus\": true},"
                          " \"pytorch\": {\"version\": \"1.13.0a0\", \"gpus\": false},"
                          " \"jax\": {\"version\": \"0.4.1\", \"gpus\": true},"
                          " \"caffe\": {\"version\": \"\", \"gpus\": false}}}";

/* A row of `host` fits what the machine has, and nothing else. */
static void host_is_what_this_machine_has(void **state)
{
    (void)state;
    struct error error;
    machine = host_parse(arena, TEXT(has), &error);
    assert_non_null(machine);
    struct images *images = parse("* * * * host\npytorch 2.5.1 * * two\nmxnet * * none three\n");
    assert_string_equal(find(images, "pytorch", "", "single", ""), "host");
    assert_string_equal(find(images, "pytorch", "1.13", "single", ""), "host");
    assert_string_equal(find(images, "pytorch", "2.5", "single", ""), "two");
    assert_string_equal(find(images, "pytorch", "1.1", "single", ""), "");
    assert_string_equal(find(images, "pytorch", "99.9", "single", ""), "");
    assert_string_equal(find(images, "pytorch", "", "single", "gpu"), "two");
    assert_string_equal(find(images, "jax", "0.4", "single", "h100"), "host");
    assert_string_equal(find(images, "any", "", "single", "gpu"), "host");
    assert_string_equal(find(images, "mxnet", "", "single", ""), "three");
    assert_string_equal(find(images, "horovod", "", "single", ""), "");
    assert_string_equal(find(images, "caffe", "", "single", ""), "host");
    assert_string_equal(find(images, "caffe", "1", "single", ""), "");
    /* A row that names a version fits when the machine has that one. */
    assert_string_equal(find(parse("* 1.13 * * host\n"), "pytorch", "", "single", ""), "host");
    assert_string_equal(find(parse("* 1.12 * * host\n"), "pytorch", "", "single", ""), "");
}

static void what_there_is_is_told(void **state)
{
    (void)state;
    struct error error;
    struct buffer out = {0};
    struct images *images = parse("* * * * host\npytorch 2.5.1 * gpu two\n");
    struct image_query query = {.library = TEXT("pytorch"),
                                .type = TEXT("single"),
                                .host = true,
                                .machine = host_parse(arena, TEXT(has), &error)};
    images_tell_versions(images, &query, &out);
    assert_string_equal(out.data,
                        "1.13.0a0 on this machine, without GPUs; 2.5.1 (line 2, accelerator gpu)");
    assert_true(text_is(images_version(&images->rows[0], &query), "1.13.0a0"));
    assert_true(text_is(images_version(&images->rows[1], &query), "2.5.1"));
    buffer_free(&out);
    assert_null(host_parse(arena, TEXT("{\"libraries\": []}"), &error));
    assert_null(host_parse(arena, TEXT("nonsense"), &error));
}

static void report_lists_every_fault(void **state)
{
    (void)state;
    struct buffer report = {0};
    size_t warnings = 0;
    size_t faults =
        images_report(TEXT("a b c\nx 1.2 * * i\nx 1 * * j\nk\n"), "images.txt", &report, &warnings);
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
        cmocka_unit_test_setup_teardown(host_is_passed_over_where_it_is_of_no_use, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(first_row_that_fits_decides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_version_that_is_named_is_what_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(host_is_what_this_machine_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_there_is_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(report_lists_every_fault, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
