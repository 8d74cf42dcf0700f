/* tests/unit/relative_test.c - paths of a job file that are relative to the file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "request/relative.h"

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

static void becomes(const char *source, const char *wanted, const char *said)
{
    struct buffer out = {0};
    struct text text = relative_make_absolute(arena, text_of(source), "/home/ann/work", &out);
    if (!text_is(text, wanted))
        print_message("got: %.*s\n", (int)text.length, text.data);
    assert_true(text_is(text, wanted));
    assert_string_equal(out.data ? out.data : "", said);
    buffer_free(&out);
}

static void relative_paths_are_written_out(void **state)
{
    (void)state;
    becomes("name: a\nprogram: .\nentry: t.py\n",
            "name: a\nprogram: \"/home/ann/work\"\nentry: t.py\n",
            "2: program: . is /home/ann/work");
    becomes("program: './sub/x'  # mine\n", "program: \"/home/ann/work/sub/x\"  # mine\n",
            "1: program: ./sub/x is /home/ann/work/sub/x");
    becomes("{dataset: \"../data\", output: out, program: m/prog}\n",
            "{dataset: \"../data\", output: out, program: m/prog}\n", "");
    becomes(
        "---\ndataset: \"../data\"\nprogram: m/prog\noutput: ../../../../../out\n",
        "---\ndataset: \"/home/ann/data\"\nprogram: \"/home/ann/work/m/prog\"\noutput: \"/out\"\n",
        "3: program: m/prog is /home/ann/work/m/prog\n2: dataset: ../data is /home/ann/data\n"
        "4: output: ../../../../../out is /out");
}

static void what_is_none_stays(void **state)
{
    (void)state;
    static const char *const same[] = {
        "program: /home/ann/p\n", "program: ~/p\n",    "program: $HOME/p\n",
        "program: ''\n",          "program: [a]\n",    "program: >\n  a\n",
        "program: \"a\\tb\"\n",   "program: a\n  b\n", "#!/bin/sh\n#DL program=.\n",
        "{\"program\": \".\"}",   "not: [yaml\n",      "",
        "tasks: {program: .}\n"};
    for (size_t i = 0; i < ARRAY_COUNT(same); i++)
        becomes(same[i], same[i], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(relative_paths_are_written_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_none_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
