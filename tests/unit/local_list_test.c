/* tests/unit/local_list_test.c - of which jobs a podman has something that others may use, too */
#include "executors/registry/registry.h"
#include "tests/unit/stand_in.h"

#define ONE                                                                                        \
    "kind: dlspool/local/v1\ntasks:\n- {role: main, image: host, cpus: 1, memory: 1Mi, command: "  \
    "[x]}\n"

static struct arena *arena;
static struct executor *executor;
static struct error error;
static char listed[512];

static void be(const char *identity)
{
    snprintf(executor->identity, sizeof(executor->identity), "%s", identity);
}

static int start(void **state)
{
    (void)state;
    char text[512];
    if (stand_in_start())
        return -1;
    snprintf(text, sizeof(text),
             "executor: local\nlocal:\n  socket: %s/podman\n  cpus: 4\n  memory: 64Gi\n  "
             "request_timeout: 5s\n",
             stand_in.directory);
    arena = arena_new();
    const struct value *settings =
        yaml_read(arena, text_of(text), "dlspool.yaml", &yaml_trusted_limits, &error);
    executor = settings ? registry_open(settings, "test", stand_in.directory, &error) : NULL;
    if (!executor)
        print_message("%s\n", error.text);
    return executor ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    if (executor)
        executor->operations->close(executor);
    arena_free(arena);
    stand_in_stop();
    return 0;
}

static void submit(const char *id)
{
    struct submission submission = fixture_submission(id, ONE), *batch[] = {&submission};
    executor->operations->submit(executor, batch, 1);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("%s", submission.error.text);
}

static void note(void *context, const char *id, int attempt)
{
    (void)context;
    size_t length = strlen(listed);
    snprintf(listed + length, sizeof(listed) - length, "%s:%d ", id, attempt);
}

static const char *list(void)
{
    listed[0] = '\0';
    if (executor->operations->list(executor, note, NULL, &error))
        fail_msg("%s", error.text);
    return listed;
}

/* Two machines' directories, or two containers, may have the same path, and be given one podman. */
static void jobs_are_told_by_their_identity(void **state)
{
    (void)state;
    order("reset");
    be("00000000000000aa");
    submit("ours-1");
    be("00000000000000bb");
    submit("theirs-1");
    be(""); /* an older version */
    submit("old-1");
    assert_string_equal(list(), "");
    be("00000000000000aa");
    assert_string_equal(list(), "ours-1:1 ");
    be("00000000000000bb");
    assert_string_equal(list(), "theirs-1:1 ");
    assert_int_equal(executor_remove(executor, "theirs-1", 1, &error), 0);
    assert_string_equal(list(), "");
}

static void a_podman_that_is_away_is_an_error(void **state)
{
    (void)state;
    be("00000000000000aa");
    stand_in_stop();
    assert_int_equal(executor->operations->list(executor, note, NULL, &error), -1);
    assert_int_equal(stand_in_start(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_told_by_their_identity),
        cmocka_unit_test(a_podman_that_is_away_is_an_error),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
