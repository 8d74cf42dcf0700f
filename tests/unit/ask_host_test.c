/* tests/unit/ask_host_test.c - what this machine's Python is asked, and what becomes of its answer */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "renderer/host.h"
#include "stages/service/ask_host.h"

static char directory[] = "/tmp/ask-host-XXXXXX";
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return mkdtemp(directory) && chmod(directory, 0755) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char path[64];
    arena_free(arena);
    snprintf(path, sizeof(path), "%s/python3", directory);
    unlink(path);
    return rmdir(directory);
}

/* A python3 of our own, as a shell script. */
static void put_python(const char *script)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/python3", directory);
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    fclose(file);
}

static void an_answer_that_is_none_is_refused(void **state)
{
    (void)state;
    struct buffer answer = {0};
    struct error error;
    assert_int_equal(ask_host_python(directory, &answer, &error), -1);
    assert_non_null(strstr(error.text, "there is no python3 in /tmp/ask-host-"));
    put_python("echo nonsense");
    assert_int_equal(ask_host_python(directory, &answer, &error), -1);
    assert_non_null(strstr(error.text, ".host:1:"));
    buffer_clear(&answer);
    put_python("exit 3");
    assert_int_equal(ask_host_python(directory, &answer, &error), -1);
    assert_non_null(strstr(error.text, "gave no answer"));
    put_python("while :; do echo 0123456789012345678901234567890123456789; done");
    assert_int_equal(ask_host_python(directory, &answer, &error), -1);
    assert_true(answer.length < 2 * HOST_LIMIT);
    buffer_free(&answer);
}

/* No privileges, nothing of our environment, not even where root asks. */
static void python_has_nothing_of_ours(void **state)
{
    (void)state;
    struct buffer answer = {0};
    struct error error;
    setenv("PYTHONPATH", "/tmp/mine", 1);
    put_python(
        "u=$(/usr/bin/id -u) g=$(/usr/bin/id -G)\n"
        "echo \"{\\\"libraries\\\": {\\\"any\\\": {\\\"version\\\": \\\"$u|$g|$PYTHONPATH|$1|$(pwd)\\\"}}}\"");
    assert_int_equal(ask_host_python(directory, &answer, &error), 0);
    struct host *host = host_parse(arena, buffer_text(&answer), &error);
    assert_non_null(host);
    struct text version = host_find(host, TEXT("any"))->version;
    if (geteuid() == 0)
        assert_true(text_is(version, "65534|65534||-I|/"));
    else
        assert_non_null(strstr(version.data, "||-I|/"));
    buffer_free(&answer);
}

static void this_machine_answers(void **state)
{
    (void)state;
    struct buffer answer = {0};
    struct error error;
    if (ask_host_python("/usr/bin:/bin", &answer, &error)) {
        assert_int_equal(access("/usr/bin/python3", X_OK), -1);
        skip();
    }
    struct host *host = host_parse(arena, buffer_text(&answer), &error);
    assert_non_null(host);
    const struct host_library *any = host_find(host, TEXT("any"));
    assert_non_null(any);
    assert_true(any->gpus && host_version_begins(any->version, TEXT("3")));
    buffer_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_is_none_is_refused),
        cmocka_unit_test(python_has_nothing_of_ours),
        cmocka_unit_test(this_machine_answers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
