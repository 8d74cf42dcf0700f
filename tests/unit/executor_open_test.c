/* tests/unit/executor_open_test.c - the executor is chosen and set up by dlspool.yaml */
#include "tests/unit/unit.h"

#include <sys/stat.h>

#include "base/yaml.h"
#include "executors/executor.h"
#include "executors/local/settings.h"
#include "executors/registry/registry.h"

static const char *refusal(struct error *error, const char *settings)
{
    struct arena *arena = arena_new();
    char *directory = unit_directory();
    error->text[0] = '\0';
    struct value *tree =
        yaml_read(arena, text_of(settings), "dlspool.yaml", &yaml_trusted_limits, error);
    if (!tree)
        fail_msg("%s", error->text);
    struct executor *executor = registry_open(tree, "test", directory, error);
    if (executor)
        executor->operations->close(executor);
    unit_remove(directory);
    arena_free(arena);
    return error->text;
}

static void settings_choose_the_executor(void **state)
{
    (void)state;
    struct error error;
    assert_string_equal(refusal(&error, "executor: null\n"), "");
    assert_string_equal(
        refusal(&error, "executor: 3\n"),
        "dlspool.yaml:1: executor: found a number, expected local, kubernetes, slurm or null");
    assert_string_equal(refusal(&error, "executor: 'null'\n"), "");
    assert_string_equal(
        refusal(&error, "executor: locale\n"),
        "dlspool.yaml:1: executor: found \"locale\", expected local, kubernetes, slurm or null; did "
        "you mean local?");
    assert_string_equal(refusal(&error, "executor: 'null'\n'null': {x: 1}\n"),
                        "dlspool.yaml:2: null.x: unknown setting; the null executor has none");
    assert_string_equal(refusal(&error, "executor: local\n"), "");
    assert_string_equal(refusal(&error, "local: null\n"), "");
}

static void every_setting_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *sentence;
    } cases[] = {
        {"cpu: 3", "dlspool.yaml:2:3: local.cpu: unknown setting; did you mean cpus?"},
        {"cpus: many", "local.cpus: found \"many\", expected a number of CPUs such as 8"},
        {"cpus: 0", "local.cpus: found 0, expected a number of CPUs such as 8"},
        {"memory: [1]", "local.memory: found a list, expected a size such as \"16Gi\""},
        {"gpus: 2", "local.gpus: found 2, expected a list of devices such as nvidia.com/gpu=0"},
        {"gpus: [a, a]", "local.gpus: found \"a\", expected each device only once"},
        {"gpus: ['a,b']", "local.gpus: found \"a,b\", expected a device such as"},
        {"gpus: [{device: a}]",
         "local.gpus: found a map, expected a device, or {device: nvidia.com/gpu=0, type: A100}"},
        {"gpus: [{device: a, type: ''}]", "expected a device, or {device"},
        {"gpus: [{device: a, type: T4, node: 1}]", "expected a device, or {device"},
        {"gpus: [{device: 'a b', type: T4}]",
         "local.gpus: found \"a b\", expected a device such as"},
        {"gpus: [a, {device: a, type: T4}]", "expected each device only once"},
        {"pids: 0", "local.pids: found 0, expected a whole number from 1 to 4194304"},
        {"in_flight: 1.5", "local.in_flight: found 1.5, expected a whole number from 1 to 256"},
        {"request_timeout: soon", "local.request_timeout: found \"soon\", expected a duration"},
        {"pull_timeout: 2d", "local.pull_timeout: found \"2d\", expected a duration such as 500ms"},
        {"log_limit: -1", "local.log_limit: found -1, expected a size such as"},
        {"socket: podman.sock", "local.socket: found \"podman.sock\", expected an absolute path"},
        {"storage: x", "local.storage: found \"x\", expected an absolute path"},
        {"storage: /a/../b", "expected an absolute path without \"..\""},
        {"runtime: ''", "local.runtime: found \"\", expected the name of an OCI runtime"},
        {"storage: /proc/nowhere", "where the local executor is to keep its files, could not be "
                                   "made: No such file or directory"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct error error;
        char settings[256];
        snprintf(settings, sizeof(settings), "local:\n  %s\n", cases[i].setting);
        if (!strstr(refusal(&error, settings), cases[i].sentence))
            fail_msg("%s gives %s", cases[i].setting, error.text);
    }
}

static void settings_have_defaults_and_are_read(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct local_settings settings;
    struct error error;
    assert_int_equal(local_settings_read(&settings, arena, NULL, &error), 0);
    assert_true(settings.cpus >= 1000 && settings.memory > 0);
    assert_string_equal(settings.runtime.data, "runc");
    assert_int_equal(settings.gpu_count, 0);
    assert_int_equal(settings.pids, 4096);
    assert_int_equal(settings.request_timeout, 30000);
    assert_int_equal(settings.in_flight, 8);
    assert_int_equal(settings.log_limit, 100 << 20);
    struct value *tree = yaml_read(
        arena,
        TEXT(
            "local: {socket: '', storage: '/var/lib/x//', cpus: 1.5, memory: 2Gi, gpus: [g/0, {device: g/1, type: T4}], "
            "gpu_type: A100, runtime: crun, pids: 9, request_timeout: 5, pull_timeout: 1m, in_flight: 2, "
            "log_limit: 1Ki}"),
        "dlspool.yaml", &yaml_trusted_limits, &error);
    assert_int_equal(local_settings_read(&settings, arena, tree, &error), 0);
    assert_int_equal(settings.socket.length, 0);
    assert_string_equal(settings.storage.data, "/var/lib/x");
    assert_int_equal(settings.cpus, 1500);
    assert_int_equal(settings.memory, (int64_t)2 << 30);
    assert_string_equal(settings.gpus[0].data, "g/0");
    assert_string_equal(settings.gpus[1].data, "g/1");
    assert_string_equal(settings.gpu_types[0].data, "A100");
    assert_string_equal(settings.gpu_types[1].data, "T4");
    assert_string_equal(settings.runtime.data, "crun");
    assert_int_equal(settings.pids, 9);
    assert_int_equal(settings.request_timeout, 5000);
    assert_int_equal(settings.pull_timeout, 60000);
    assert_int_equal(settings.in_flight, 2);
    assert_int_equal(settings.log_limit, 1024);
    arena_free(arena);
}

static void storage_that_could_not_work_is_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    char *directory = unit_directory(), settings[1024], deep[512];
    size_t length = (size_t)snprintf(deep, sizeof(deep), "%s/", directory);
    memset(deep + length, 'x', 100);
    deep[length + 100] = '\0';
    snprintf(settings, sizeof(settings), "local: {storage: %s}", deep);
    assert_non_null(strstr(refusal(&error, settings), "the path of podman's socket would have"));
    unit_remove(directory);
    arena_free(arena);
}

static void the_null_executor_finishes_everything_at_once(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    struct executor *executor = executor_null_open(NULL, &error);
    const struct executor_operations *operations = executor->operations;
    assert_string_equal(operations->name, "null");
    struct submission submission = {.id = "a", .attempt = 1}, *batch[] = {&submission};
    operations->submit(executor, batch, 1);
    assert_int_equal(submission.outcome, SUBMIT_ACCEPTED);
    assert_string_equal(submission.note, "");
    struct job_poll poll = {.id = "a", .attempt = 1, .exit_code = 9}, *jobs[] = {&poll};
    assert_int_equal(operations->poll(executor, arena, jobs, 1, &error), 0);
    assert_int_equal(poll.phase, PHASE_SUCCEEDED);
    assert_string_equal(poll.id, "a");
    assert_int_equal(poll.exit_code, 0);
    assert_true(poll.started > 0 && poll.started == poll.ended);
    struct capacity capacity;
    assert_int_equal(operations->capacity(executor, &capacity, &error), 0);
    assert_true(capacity.cpus_free > 1000000);
    assert_int_equal(operations->ready(executor, &error), 0);
    assert_int_equal(executor_cancel(executor, "a", 1, true, &error), 0);
    assert_int_equal(executor_output(executor, "a", 1, -1, false, &error), 0);
    assert_int_equal(executor_remove(executor, "a", 1, &error), 0);
    operations->close(executor);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_choose_the_executor),
        cmocka_unit_test(every_setting_is_checked),
        cmocka_unit_test(settings_have_defaults_and_are_read),
        cmocka_unit_test(storage_that_could_not_work_is_refused),
        cmocka_unit_test(the_null_executor_finishes_everything_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
