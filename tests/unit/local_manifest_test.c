/* tests/unit/local_manifest_test.c - the local executor's manifest is read strictly */
#include "tests/unit/unit.h"

#include "executors/local/manifest.h"

#define HEAD "kind: dlspool/local/v1\ntasks:\n"
#define MUST "role: main, image: host, command: [x], cpus: 1, memory: 1Mi"

static struct local_manifest *read(struct arena *arena, const char *source, struct error *error)
{
    error->text[0] = '\0';
    return local_manifest_read(arena, text_of(source), error);
}

static void every_field_is_read(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    struct local_manifest *manifest =
        read(arena,
             "kind: dlspool/local/v1\nnetwork: bridge\nssh: true\nlisten: [8888, 6006]\ntasks:\n"
             "- role: ps\n  index: 2\n  image: docker.io/library/python:3.11\n"
             "  command: [python3, -c, 'print(1)']\n  env: {A: b, C: ''}\n  cpus: 0.5\n"
             "  memory: 2Gi\n  shm: 1048576\n  gpus: 3\n  workdir: /work\n"
             "  mounts:\n  - {source: /data/x, target: /data, readonly: false}\n"
             "  - {source: /y, target: /y}\n"
             "  files:\n  - {path: /job/script, content: \"a\\0b\", mode: '0755'}\n"
             "  - {path: /z, content: ''}\n"
             "- {" MUST "}\n",
             &error);
    if (!manifest)
        fail_msg("%s", error.text);
    assert_int_equal(manifest->network, NETWORK_BRIDGE);
    assert_true(manifest->ssh);
    assert_int_equal(manifest->listen_count, 2);
    assert_int_equal(manifest->listen[1], 6006);
    assert_int_equal(manifest->task_count, 2);
    const struct local_task *task = &manifest->tasks[0];
    assert_string_equal(task->role.data, "ps");
    assert_int_equal(task->index, 2);
    assert_string_equal(task->image.data, "docker.io/library/python:3.11");
    assert_int_equal(task->command->list.count, 3);
    assert_int_equal(task->env->object.count, 2);
    assert_int_equal(task->cpus, 500);
    assert_int_equal(task->memory, (int64_t)2 << 30);
    assert_int_equal(task->shm, 1048576);
    assert_int_equal(task->gpus, 3);
    assert_string_equal(task->workdir.data, "/work");
    assert_int_equal(task->mount_count, 2);
    assert_string_equal(task->mounts[0].source.data, "/data/x");
    assert_false(task->mounts[0].readonly);
    assert_true(task->mounts[1].readonly);
    assert_int_equal(task->file_count, 2);
    assert_int_equal(task->files[0].mode, 0755);
    assert_int_equal(task->files[0].content.length, 3);
    assert_int_equal(task->files[1].mode, 0644);
    assert_int_equal(manifest->tasks[1].index, 0);
    arena_free(arena);
}

static void every_mistake_is_a_sentence_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"", "manifest.yaml:1:1: the document: found nothing, expected an object"},
        {"[]", "manifest.yaml:1:1: the document: found a list, expected an object"},
        {"kind: x\ntasks: []\n", "manifest.yaml:1:7: kind: found \"x\", expected dlspool/local/v1"},
        {"kind: dlspool/local/v1\n", "manifest.yaml:1:1: tasks: missing"},
        {"kind: dlspool/local/v1\ntasks: []\n",
         "manifest.yaml:2:8: tasks: found a list, expected a list of 1 to 512 tasks"},
        {"kind: dlspool/local/v1\nnetwork: none\n",
         "manifest.yaml:2:10: network: found \"none\", expected private, outgoing, host or bridge"},
        {HEAD "- {" MUST ", comand: [y]}\n",
         "manifest.yaml:3:65: tasks[0].comand: unknown field; did you mean command?"},
        {HEAD "- {" MUST ", frobnicate: 1}\n",
         "manifest.yaml:3:65: tasks[0].frobnicate: unknown field, expected one of role, index, "
         "image, command, env, cpus, memory, shm, gpus, workdir, mounts, files"},
        {HEAD "- {role: main, image: host, command: [x], cpus: 1}\n",
         "manifest.yaml:3:3: tasks[0].memory: missing"},
        {HEAD "- {role: main, cpus: lots}\n",
         "manifest.yaml:3:22: tasks[0].cpus: found \"lots\", expected a number of CPUs such "
         "as 2 or 0.5, from 0.01"},
        {HEAD "- {cpus: 0}\n", "tasks[0].cpus: found 0, expected a number of CPUs"},
        {HEAD "- {memory: 0}\n", "tasks[0].memory: found 0, expected a number of bytes from 1"},
        {HEAD "- {memory: 1.5}\n", "tasks[0].memory: found 1.5, expected a number of bytes"},
        {HEAD "- {memory: 1Zi}\n", "tasks[0].memory: found \"1Zi\", expected"},
        {HEAD "- {gpus: -1}\n", "tasks[0].gpus: found -1, expected a whole number from 0"},
        {HEAD "- {index: 0.5}\n", "tasks[0].index: found 0.5, expected a whole number from 0"},
        {HEAD "- {role: Main}\n", "tasks[0].role: found \"Main\", expected a name of at most 15"},
        {HEAD "- {role: ../x}\n", "tasks[0].role: found \"../x\", expected a name of at most 15"},
        {HEAD "- {role: a-}\n", "tasks[0].role: found \"a-\", expected a name of at most 15"},
        {HEAD "- {role: abcdefghijklmnop}\n", "tasks[0].role: found"},
        {HEAD "- {command: sh -c x}\n",
         "tasks[0].command: found \"sh -c x\", expected a list of 1 to 4096 words"},
        {HEAD "- {command: [x, 1]}\n",
         "tasks[0].command[1]: found 1, expected a string without NUL bytes"},
        {HEAD "- {command: [x, \"a\\0\"]}\n", "tasks[0].command[1]: found \"a\\x00\""},
        {HEAD "- {command: ['']}\n", "tasks[0].command[0]: found \"\", expected the name of a"},
        {HEAD "- {env: {A: 1}}\n", "tasks[0].env.A: found 1, expected a string"},
        {HEAD "- {env: {A=B: x}}\n", "tasks[0].env.A=B: found \"x\", expected"},
        {HEAD "- {image: 'a b'}\n", "tasks[0].image: found \"a b\", expected `host` or"},
        {HEAD "- {workdir: job}\n", "tasks[0].workdir: found \"job\", expected an absolute path"},
        {HEAD "- {mounts: [{source: /a/../b}]}\n",
         "tasks[0].mounts[0].source: found \"/a/../b\", expected an absolute path without"},
        {HEAD "- {mounts: [{source: /a}]}\n", "tasks[0].mounts[0].target: missing"},
        {HEAD "- {mounts: [{source: /a, target: /}]}\n",
         "tasks[0].mounts[0]: found a map, expected a target other than / itself"},
        {HEAD "- {mounts: [{source: /a, target: /b, readonly: yes}]}\n",
         "tasks[0].mounts[0].readonly: found \"yes\", expected true or false"},
        {HEAD "- {files: [{path: /a, content: b, mode: 420}]}\n",
         "tasks[0].files[0].mode: found 420, expected three octal digits in a string"},
        {HEAD "- {files: [{path: /a, content: b, mode: '4755'}]}\n",
         "tasks[0].files[0].mode: found \"4755\", expected three octal digits"},
        {HEAD "- {files: [{path: /a/, content: b}]}\n", "expected a path that names a file"},
        {HEAD "- {files: [{path: /a, content: 7}]}\n",
         "tasks[0].files[0].content: found 7, expected a string"},
        {HEAD "- {" MUST "}\n- {" MUST "}\n",
         "manifest.yaml:4:3: tasks[1]: found a map, expected a role and index that no task before "
         "it has"},
        {"kind: dlspool/local/v1\nparallelism: 0\ntasks:\n- {" MUST "}\n",
         "manifest.yaml:2:14: parallelism: found 0, expected a whole number from 1 to 10000"},
        {"kind: dlspool/local/v1\nparallelism: 1.5\ntasks:\n- {" MUST "}\n",
         "parallelism: found 1.5, expected a whole number"},
        {"kind: dlspool/local/v1\nparallelism: 1\ntasks:\n- {" MUST "}\n"
         "- {role: main, index: 1, image: host, command: [x], cpus: 2, memory: 1Mi}\n",
         "tasks[1]: found a map, expected the cpus, memory and gpus of tasks[0], as there is "
         "parallelism"},
        {"kind: dlspool/local/v1\ncomplete: {other: {}}\ntasks:\n- {" MUST "}\n",
         "manifest.yaml:2:19: complete: found a map, expected only roles that tasks have"},
        {"kind: dlspool/local/v1\ncomplete: {main: {failed: 0}}\ntasks:\n- {" MUST "}\n",
         "complete: found a map, expected a rule for each role (main.failed: expected a whole "
         "number from 1, or -1)"},
        {"kind: dlspool/local/v1\nssh: yes\n", "2:6: ssh: found \"yes\", expected true or false"},
        {"kind: dlspool/local/v1\nlisten: []\n",
         "2:9: listen: found a list, expected a list of 1 to 512 port numbers"},
        {"kind: dlspool/local/v1\nlisten: [80]\n",
         "listen[0]: found 80, expected a port number from 1024 to 65535 that is not there before"},
        {"kind: dlspool/local/v1\nlisten: [8080, 65536]\n", "listen[1]: found 65536, expected"},
        {"kind: dlspool/local/v1\nlisten: [8080, 8081, 8080]\n", "listen[2]: found 8080, expected"},
        {"kind: dlspool/local/v1\nlisten: [8080]\ntasks:\n- {" MUST "}\n",
         "network: found a map, expected host or bridge, as the job is to listen"},
        {"kind: dlspool/local/v1\nnetwork: private\nlisten: [8080]\ntasks:\n- {" MUST "}\n",
         "2:10: network: found \"private\", expected host or bridge, as the job is to listen"},
        {HEAD "- {" MUST "}\n- {" MUST "\n", "not well-formed YAML"},
        {HEAD "- &a {" MUST "}\n- *a\n", "manifest.yaml:3:"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct arena *arena = arena_new();
        struct error error;
        assert_null(read(arena, cases[i].source, &error));
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("%s\ngives   %s\nand not %s", cases[i].source, error.text, cases[i].sentence);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(every_mistake_is_a_sentence_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
