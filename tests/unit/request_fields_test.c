/* request_fields_test.c - every field of a job file, good and bad, and the rules between fields */
#include "base/utf8.h"
#include "tests/unit/unit_arena.h"

#include "request/dialects/dialects.h"

static struct description *read_yaml(const char *source)
{
    return dialects_read(arena, text_of(source), "f.yaml", &error);
}

/* A job that needs nothing more, to which a case adds lines from line 5 on. */
#define JOB "name: a\nlibrary: any\ntype: roles\nscript: x\n"

static struct description *read_with(const char *lines)
{
    char source[4096];
    snprintf(source, sizeof(source), JOB "%s\n", lines);
    return read_yaml(source);
}

static struct description *good(const char *lines)
{
    struct description *job = read_with(lines);
    if (!job)
        fail_msg("%s\n   was refused: %s", lines, error.text);
    return job;
}

static void check_sentence(const char *source, const struct description *job, const char *sentence)
{
    if (job)
        fail_msg("%s\n   was accepted, expected %s", source, sentence);
    if (strcmp(error.text, sentence) != 0)
        fail_msg("%s\n   gave     %s\n   expected %s", source, error.text, sentence);
}

struct bad_case {
    const char *lines, *sentence; /* lines after JOB */
};

static void check_bad(const struct bad_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_sentence(cases[i].lines, read_with(cases[i].lines), cases[i].sentence);
}

#define CHECK_BAD(cases) check_bad(cases, ARRAY_COUNT(cases))

static void all_fields_arrive(void **state)
{
    (void)state;
    struct description *job = read_yaml("name: Night_run.2-b\n"
                                        "library: pytorch\n"
                                        "version: 1.10\n"
                                        "type: distributed\n"
                                        "program: /srv//code/./vision/\n"
                                        "entry: ./train//main.py\n"
                                        "args: [--epochs, 10, 1.50, true, \"\", 1e3, \"a b\\n\"]\n"
                                        "dataset: /srv/data\n"
                                        "output: /srv/out\n"
                                        "tasks:\n"
                                        "  chief: {}\n"
                                        "  worker-2:\n"
                                        "    count: 3\n"
                                        "    cpus: 500m\n"
                                        "    memory: 1.5Gi\n"
                                        "    gpus: 2\n"
                                        "    shm: 64Mi\n"
                                        "    command: [python3, -c, \"print(1)\"]\n"
                                        "    env: {B: 1.10}\n"
                                        "env:\n"
                                        "  _A1: yes\n"
                                        "  EMPTY: \"\"\n"
                                        "  LINES: \"a\\n\\tb\"\n"
                                        "image: reg.example.org:5000/a/b:1@sha256:0f\n"
                                        "gpu_type: A100\n"
                                        "priority: -100\n"
                                        "retries: 100\n"
                                        "time_limit: 1h30m\n");
    if (!job)
        fail_msg("%s", error.text);
    assert_true(text_is(job->name, "Night_run.2-b"));
    assert_true(text_is(job->library, "pytorch"));
    assert_true(text_is(job->version, "1.10"));
    assert_true(text_is(job->type, "distributed"));
    assert_true(text_is(job->program, "/srv/code/vision"));
    assert_true(text_is(job->entry, "train/main.py"));
    static const char *const args[] = {"--epochs", "10", "1.50", "true", "", "1e3", "a b\n"};
    assert_int_equal(job->args_count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_true(text_is(job->args[i], args[i]));
    assert_true(text_is(job->dataset, "/srv/data"));
    assert_true(text_is(job->output, "/srv/out"));
    assert_int_equal(job->script.length, 0);
    assert_int_equal(job->tasks_count, 2);
    const struct task_role *chief = &job->tasks[0], *worker = &job->tasks[1];
    assert_true(text_is(chief->role, "chief"));
    assert_int_equal(chief->count, 1);
    assert_int_equal(chief->cpus, 1000);
    assert_int_equal(chief->memory, INT64_C(1) << 30);
    assert_int_equal(chief->shm, 0);
    assert_int_equal(chief->gpus, 0);
    assert_int_equal(chief->command_count, 0);
    assert_true(text_is(worker->role, "worker-2"));
    assert_int_equal(worker->count, 3);
    assert_int_equal(worker->cpus, 500);
    assert_int_equal(worker->memory, INT64_C(3) << 29);
    assert_int_equal(worker->shm, INT64_C(64) << 20);
    assert_int_equal(worker->gpus, 2);
    assert_int_equal(worker->command_count, 3);
    assert_true(text_is(worker->command[2], "print(1)"));
    assert_int_equal(worker->environment.count, 1);
    assert_true(text_is(worker->environment.variables[0].value, "1.10"));
    assert_int_equal(job->environment.count, 3);
    assert_true(text_is(job->environment.variables[0].name, "_A1"));
    assert_true(text_is(job->environment.variables[0].value, "yes"));
    assert_int_equal(job->environment.variables[1].value.length, 0);
    assert_true(text_is(job->environment.variables[2].value, "a\n\tb"));
    assert_true(text_is(job->image, "reg.example.org:5000/a/b:1@sha256:0f"));
    assert_true(text_is(job->gpu_type, "A100"));
    assert_int_equal(job->priority, -100);
    assert_int_equal(job->retries, 100);
    assert_int_equal(job->time_limit, 90 * 60 * 1000);
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    struct description *job = good("");
    assert_int_equal(job->version.length, 0);
    assert_int_equal(job->tasks_count, 1);
    assert_true(text_is(job->tasks[0].role, "main"));
    assert_int_equal(job->tasks[0].count, 1);
    assert_int_equal(job->tasks[0].cpus, 1000);
    assert_int_equal(job->tasks[0].memory, INT64_C(1) << 30);
    assert_int_equal(job->args_count, 0);
    assert_int_equal(job->environment.count, 0);
    assert_int_equal(job->priority, 0);
    assert_int_equal(job->retries, 0);
    assert_int_equal(job->time_limit, 0);
}

static void null_is_not_given(void **state)
{
    (void)state;
    struct description *job = good("version: null\nprogram: ~\nargs:\ntasks: null\nqueue: null\n"
                                   "hold: null\nretries: null\ntime_limit: null\narray:\n");
    assert_int_equal(job->tasks_count, 1);
    job = good("tasks: {w: {count: null, memory: ~, ports: null, command: null}}");
    assert_int_equal(job->tasks[0].count, 1);
}

static void what_is_not_given_has_a_default(void **state)
{
    (void)state;
    struct description *job = read_yaml("script: x\n");
    assert_non_null(job);
    assert_true(text_is(job->name, "f"));
    assert_true(text_is(job->library, "any"));
    assert_true(text_is(job->type, "single"));
    assert_true(text_is(read_yaml("name: ~\nscript: x\n")->name, "f"));
    assert_true(text_is(read_yaml("script: x\narray: 0-3\n")->type, "array"));
    static const char *const names[][2] = {{"/a/b c/my train (2).yaml", "my-train-2"},
                                           {"\xc3\xa9t\xc3\xa9.sh", "t"},
                                           {"-", "job"},
                                           {"v1.2_x.json", "v1.2_x"}};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        job = dialects_read(arena, TEXT("#!/bin/sh\ntrue\n"), names[i][0], &error);
        if (!job || !text_is(job->name, names[i][1]))
            fail_msg("%s: expected %s: %s", names[i][0], names[i][1], error.text);
    }
    static const char *const nothing[] = {"", "# only\n", "---\n...\n", "~\n"};
    for (size_t i = 0; i < ARRAY_COUNT(nothing); i++) {
        assert_null(read_yaml(nothing[i]));
        assert_non_null(strstr(error.text, "found nothing, expected the fields of a job, such as "
                                           "script, or program and entry"));
    }
    check_sentence("", read_yaml("- a\n"),
                   "f.yaml:1:1: found a list, expected the fields of a job, such as script, or "
                   "program and entry");
    check_sentence(
        "", read_yaml("just words"),
        "f.yaml:1:1: found \"just words\", expected the fields of a job, such as script, "
        "or program and entry");
}

static void names_and_words(void **state)
{
    (void)state;
    static const char *const names[] = {
        "a", "A-b_c.9", "2024", "1.10",
        "a23456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {
        "\"\"",         "\" a\"",
        "\"a b\"",      "-a",
        ".a",           "_a",
        "a/b",          "\"a\\n\"",
        "\"\xc3\xa9\"", "true",
        "[a]",          "{a: b}",
        "\"a\\0\"",     "a234567890123456789012345678901234567890123456789012345678901234"};
    char source[256];
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        snprintf(source, sizeof(source), "name: %s\nlibrary: any\ntype: single\nscript: x\n",
                 names[i]);
        struct description *job = read_yaml(source);
        if (!job)
            fail_msg("%s: %s", names[i], error.text);
        assert_true(text_is(job->name, names[i]));
    }
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        snprintf(source, sizeof(source), "name: %s\nlibrary: any\ntype: single\nscript: x\n",
                 bad[i]);
        if (read_yaml(source))
            fail_msg("%s was accepted", bad[i]);
        assert_non_null(strstr(error.text, "f.yaml:1:7: name: found "));
        assert_non_null(strstr(error.text, ", expected 1 to 63 letters, digits and . _ -, the "
                                           "first of them a letter or a digit"));
        assert_null(strchr(error.text, '\n'));
    }
    assert_true(text_is(good("gpu_type: 3090")->gpu_type, "3090"));
    static const struct bad_case cases[] = {
        {"gpu_type: a b", "f.yaml:5:11: gpu_type: found \"a b\", expected 1 to 63 letters, digits "
                          "and . _ -, the first of them a letter or a digit"},
        {"version: [1]", "f.yaml:5:10: version: found a list, expected a version such as 2.1 or "
                         "1.13.1"},
        {"version: 2.1 beta", "f.yaml:5:10: version: found \"2.1 beta\", expected a version such "
                              "as 2.1 or 1.13.1"},
        {"version: -1", "f.yaml:5:10: version: found -1, expected a version such as 2.1 or 1.13.1"},
    };
    CHECK_BAD(cases);
    assert_true(text_is(good("version: 2.1.0+cu118")->version, "2.1.0+cu118"));
}

static void libraries_and_types_are_known_ones(void **state)
{
    (void)state;
    static const char *const libraries[] = {
        "pytorch", "tensorflow", "mxnet",  "paddle", "jax",     "mindspore", "deepspeed", "horovod",
        "keras",   "caffe",      "caffe2", "cntk",   "chainer", "sklearn",   "xgboost",   "any"};
    static const char *const types[] = {"single",  "distributed", "ps",    "mpi",  "elastic",
                                        "serving", "notebook",    "array", "roles"};
    char source[256];
    for (size_t i = 0; i < ARRAY_COUNT(libraries); i++) {
        snprintf(source, sizeof(source), "name: a\nlibrary: %s\ntype: single\nscript: x\n",
                 libraries[i]);
        assert_non_null(read_yaml(source));
    }
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        snprintf(source, sizeof(source), "name: a\nlibrary: any\ntype: %s\nscript: x\n%s", types[i],
                 strcmp(types[i], "array") == 0 ? "array: 3\n" : "");
        assert_non_null(read_yaml(source));
    }
    assert_true(text_is(read_yaml("library: PyTorch\nscript: x\n")->library, "pytorch"));
    check_sentence("", read_yaml("library: pytoch\nscript: x\n"),
                   "f.yaml:1:10: library: found \"pytoch\", expected one of pytorch, tensorflow, "
                   "mxnet, paddle, jax, mindspore, deepspeed, horovod, keras, caffe, caffe2, cntk, "
                   "chainer, sklearn, xgboost, any; did you mean pytorch?");
    check_sentence("", read_yaml("library: pytorch==2.1\nscript: x\n"),
                   "f.yaml:1:10: library: found \"pytorch==2.1\", expected the library alone; its "
                   "version is a field of its own: library: pytorch, version: 2.1");
    check_sentence("", read_yaml("name: a\nlibrary: any\ntype: 1\nscript: x\n"),
                   "f.yaml:3:7: type: found 1, expected one of single, distributed, ps, mpi, "
                   "elastic, serving, notebook, array, roles");
    check_sentence("", read_yaml("name: a\nlibrary: any\ntype: sinlge\nscript: x\n"),
                   "f.yaml:3:7: type: found \"sinlge\", expected one of single, distributed, ps, "
                   "mpi, elastic, serving, notebook, array, roles; did you mean single?");
}

static void paths_stay_where_they_say(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"dataset: data",
         "f.yaml:5:10: dataset: found a text of 4 bytes, expected an absolute path below /"},
        {"dataset: 5", "f.yaml:5:10: dataset: found a number, expected an absolute path below /"},
        {"dataset: /",
         "f.yaml:5:10: dataset: found a text of 1 byte, expected an absolute path below /, "
         "without .. parts"},
        {"dataset: /./",
         "f.yaml:5:10: dataset: found a text of 3 bytes, expected an absolute path below /, "
         "without .. parts"},
        {"output: /a/../b", "f.yaml:5:9: output: found \"/a/../b\", expected an absolute path "
                            "below /, without .. parts"},
        {"output: /a/..", "f.yaml:5:9: output: found \"/a/..\", expected an absolute path below /, "
                          "without .. parts"},
        {"output: \"/a\\nb\"", "f.yaml:5:9: output: found \"/a\\x0ab\", expected a path without "
                               "control characters"},
        {"output: \"/a\\0b\"", "f.yaml:5:9: output: found \"/a\\x00b\", expected a path without "
                               "control characters"},
        {"output: \"/a\\u009bb\"", "f.yaml:5:9: output: found \"/a\\xc2\\x9bb\", expected a path "
                                   "without control characters"},
        {"output: \"\"", "f.yaml:5:9: output: found \"\", expected an absolute path below /"},
        {"output: ~root/x", "f.yaml:5:9: output: found \"~root/x\", expected an absolute path "
                            "below /: ~ and $NAME are not replaced in a job file; write the "
                            "directory out, such as /home/ann/project"},
    };
    CHECK_BAD(cases);
    assert_true(text_is(good("output: /a/...x/b..")->output, "/a/...x/b.."));
    assert_true(text_is(good("output: \"/\xc3\xa9 t\xc3\xa9\"")->output, "/\xc3\xa9 t\xc3\xa9"));
    char line[4300] = "output: /";
    memset(line + 9, 'a', 4096);
    char source[4500];
    snprintf(source, sizeof(source), JOB "%s\n", line);
    assert_null(read_yaml(source));
    assert_non_null(strstr(error.text, "expected at most 4095 bytes"));
    static const char program[] = "name: a\nlibrary: any\ntype: single\nprogram: /p\nentry: %s\n";
    static const char *const bad[] = {"/x", "../x", "a/../../x", "..", ".", "\"\"", "\"a\\tb\""};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        snprintf(source, sizeof(source), program, bad[i]);
        if (read_yaml(source))
            fail_msg("%s was accepted", bad[i]);
        assert_non_null(strstr(error.text, "f.yaml:5:8: entry: found "));
    }
}

static void words_are_data(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"args: --epochs 3", "f.yaml:5:7: args: found a text of 10 bytes, expected a list of words "
                             "such as [--epochs, 10]"},
        {"image: \"docker://bob:hunter2@host/x y\"",
         "f.yaml:5:8: image: found \"docker://bob:******@host/x y\", expected an image reference such as "
         "registry.example.org/pytorch:2.1"},
        {"args: [a, ~]", "f.yaml:5:11: args[1]: found nothing, expected a text, a number, true or "
                         "false (\"\" is the empty text)"},
        {"args: [[a]]", "f.yaml:5:8: args[0]: found a list, expected a text, a number, true or "
                        "false"},
        {"args: [a: b]", "f.yaml:5:8: args[0]: found a map, expected a text, a number, true or "
                         "false"},
        {"args: [\"a\\0b\"]", "f.yaml:5:8: args[0]: found a NUL byte, expected a text without"},
        {"tasks: {w: {command: []}}", "f.yaml:5:22: tasks.w.command: found a list, expected a list "
                                      "of one or more words such as [--epochs, 10]"},
        {"tasks: {w: {command: python x}}",
         "f.yaml:5:22: tasks.w.command: found a text of 8 bytes, expected a list of one or more words "
         "such as [--epochs, 10]\n"
         "f.yaml:4:9: script: nothing would run it, as every task role has a command; leave one "
         "out"},
        {"env: [a]", "f.yaml:5:6: env: found a list, expected a map of names to values such as "
                     "{EPOCHS: 3}"},
        {"env: {1A: x}", "f.yaml:5:7: env.1A: found the name \"1A\", expected at most 255 letters, "
                         "digits and _, the first of them no digit"},
        {"env: {\"A=B\": x}",
         "f.yaml:5:7: env.A: found the name \"A\" and more behind a =, expected at "
         "most 255 letters, digits and _, the first of them no digit"},
        {"env: {\"\": x}",
         "f.yaml:5:7: env.\"\": found the name \"\", expected at most 255 letters, "
         "digits and _, the first of them no digit"},
        {"env: {A: ~}", "f.yaml:5:10: env.A: found nothing, expected a text, a number, true or "
                        "false (\"\" is the empty text)"},
        {"env: {A: [x]}", "f.yaml:5:10: env.A: found a list, expected a text, a number, true or "
                          "false"},
        {"env: {A: \"\\0\"}", "f.yaml:5:10: env.A: found a NUL byte, expected a text without"},
        {"env: {DLSPOOL_X: y}", "f.yaml:5:7: env.DLSPOOL_X: names that start with DLSPOOL_ are "
                                "dlspool's own; choose another"},
        {"tasks: {w: {env: {B-C: y}}}", "f.yaml:5:19: tasks.w.env.B-C: found the name \"B-C\", "
                                        "expected at most 255 letters, digits and _, the first of "
                                        "them no digit"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        if (!strstr(cases[i].lines, "command"))
            check_bad(&cases[i], 1);
    struct buffer source = {0};
    buffer_add_string(&source, JOB "args: [\"");
    for (int i = 0; i < 32 * 4096; i++)
        buffer_add_byte(&source, 'x');
    buffer_add_string(&source, "\"]\n");
    assert_null(read_yaml(source.data));
    assert_string_equal(error.text,
                        "f.yaml:5:8: args[0]: found 131072 bytes, expected at most 131071");
    buffer_free(&source);
    /* Commands stand in for the script, so they have a job of their own. */
    check_sentence(
        "", read_yaml("name: a\nlibrary: any\ntype: roles\ntasks: {w: {command: x}}\n"),
        "f.yaml:4:22: tasks.w.command: found a text of 1 byte, expected a list of one or more words "
        "such as [--epochs, 10]");
    check_sentence("", read_yaml("name: a\nlibrary: any\ntype: roles\ntasks: {w: {command: []}}\n"),
                   "f.yaml:4:22: tasks.w.command: found a list, expected a list of one or more "
                   "words such as [--epochs, 10]");
}

static void numbers_have_limits(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"retries: 101", "f.yaml:5:10: retries: found 101, expected a whole number from 0 to 100"},
        {"retries: -1", "f.yaml:5:10: retries: found -1, expected a whole number from 0 to 100"},
        {"retries: 1.5", "f.yaml:5:10: retries: found 1.5, expected a whole number from 0 to 100"},
        {"retries: \"3\"", "f.yaml:5:10: retries: found \"3\", expected a whole number from 0 to "
                           "100"},
        {"retries: 010", "f.yaml:5:10: retries: found \"010\", expected a whole number from 0 to "
                         "100"},
        {"retries: 99999999999999999999999999", "f.yaml:5:10: retries: found "
                                                "99999999999999999999999999, expected a whole "
                                                "number from 0 to 100"},
        {"retries: true", "f.yaml:5:10: retries: found true, expected a whole number from 0 to "
                          "100"},
        {"priority: 101", "f.yaml:5:11: priority: found 101, expected a whole number from -100 to "
                          "100, or the name of a class of priority"},
        {"priority: \"5\"", "f.yaml:5:11: priority: found \"5\", expected a whole number from "
                            "-100 to 100, or the name of a class of priority"},
        {"time_limit: 0", "f.yaml:5:13: time_limit: found 0, expected a duration of at least 1 s "
                          "and at most ten years, such as 90m, 2h30m, 2:30:00 or 3600 (seconds)"},
        {"time_limit: 500ms", "f.yaml:5:13: time_limit: found \"500ms\", expected a duration of at "
                              "least 1 s and at most ten years, such as 90m, 2h30m, "
                              "2:30:00 or 3600 (seconds)"},
        {"time_limit: 90:30", "f.yaml:5:13: time_limit: found \"90:30\", expected a duration such "
                              "as 90m: N:N is minutes and seconds to some and hours and minutes to "
                              "others; hours, minutes and seconds are written 1:30:00"},
        {"time_limit: 1:30:00:00", "f.yaml:5:13: time_limit: found \"1:30:00:00\", expected a "
                                   "duration of at least 1 s and at most ten years, such "
                                   "as 90m, 2h30m, 2:30:00 or 3600 (seconds)"},
        {"time_limit: 1.5",
         "f.yaml:5:13: time_limit: found 1.5, expected a duration of at least "
         "1 s and at most ten years, such as 90m, 2h30m, 2:30:00 or 3600 (seconds)"},
        {"tasks: {w: {count: 0}}", "f.yaml:5:20: tasks.w.count: found 0, expected a whole number "
                                   "from 1 to 10000"},
        {"tasks: {w: {count: 10001}}", "f.yaml:5:20: tasks.w.count: found 10001, expected a whole "
                                       "number from 1 to 10000"},
        {"tasks: {a: {count: 6000}, b: {count: 4001}}",
         "f.yaml:5:8: tasks: found 10001 tasks in all roles, expected at most 10000"},
        {"tasks: {w: {gpus: -1}}", "f.yaml:5:19: tasks.w.gpus: found -1, expected a whole number "
                                   "from 0 to 1024"},
        {"tasks: {w: {gpus: 1025}}", "f.yaml:5:19: tasks.w.gpus: found 1025, expected a whole "
                                     "number from 0 to 1024"},
        {"tasks: {w: {cpus: 0}}", "f.yaml:5:19: tasks.w.cpus: found 0, expected from 0.01 to "
                                  "100000 CPUs, such as 4, 0.5 or 500m"},
        {"tasks: {w: {cpus: 9m}}", "f.yaml:5:19: tasks.w.cpus: found \"9m\", expected from 0.01 to "
                                   "100000 CPUs, such as 4, 0.5 or 500m"},
        {"tasks: {w: {cpus: 100000.001}}", "f.yaml:5:19: tasks.w.cpus: found 100000.001, expected "
                                           "from 0.01 to 100000 CPUs, such as 4, 0.5 or "
                                           "500m"},
        {"tasks: {w: {cpus: 0.0105}}", "f.yaml:5:19: tasks.w.cpus: found 0.0105, expected a number "
                                       "of CPUs such as 4, 0.5 or 500m"},
        {"tasks: {w: {cpus: two}}", "f.yaml:5:19: tasks.w.cpus: found \"two\", expected a number "
                                    "of CPUs such as 4, 0.5 or 500m"},
        {"tasks: {w: {cpus: 1e300}}", "f.yaml:5:19: tasks.w.cpus: found 1e300, expected a number "
                                      "of CPUs such as 4, 0.5 or 500m"},
        {"tasks: {w: {memory: lots}}", "f.yaml:5:21: tasks.w.memory: found \"lots\", expected a "
                                       "size such as 512Mi or 16Gi"},
        {"tasks: {w: {memory: 16}}", "f.yaml:5:21: tasks.w.memory: found 16, expected a size from "
                                     "4 MiB to 256 TiB, such as 512Mi or 16Gi"},
        {"tasks: {w: {memory: 257Ti}}", "f.yaml:5:21: tasks.w.memory: found \"257Ti\", expected a "
                                        "size from 4 MiB to 256 TiB, such as 512Mi or 16Gi"},
        {"tasks: {w: {memory: 1e300}}", "f.yaml:5:21: tasks.w.memory: found 1e300, expected a size "
                                        "such as 512Mi or 16Gi"},
        {"tasks: {w: {memory: -5}}", "f.yaml:5:21: tasks.w.memory: found -5, expected a size from "
                                     "4 MiB to 256 TiB, such as 512Mi or 16Gi"},
        {"tasks: {w: {memory: 9Ei}}", "f.yaml:5:21: tasks.w.memory: found \"9Ei\", expected a size "
                                      "such as 512Mi or 16Gi"},
        {"tasks: {w: {shm: 64}}", "f.yaml:5:18: tasks.w.shm: found 64, expected a size from 1 MiB "
                                  "to 256 TiB, such as 512Mi or 16Gi"},
        {"tasks: {w: {shm: 2Gi}}", "f.yaml:5:18: tasks.w.shm: found 2 GiB, expected at most the "
                                   "task's memory, 1 GiB (the default)"},
        {"tasks: {w: {shm: 2Gi, memory: 1.5Gi}}", "f.yaml:5:18: tasks.w.shm: found 2 GiB, expected "
                                                  "at most the task's memory, 1.5 GiB"},
    };
    CHECK_BAD(cases);
    assert_int_equal(good("tasks: {w: {cpus: 0.01}}")->tasks[0].cpus, 10);
    assert_int_equal(good("tasks: {w: {cpus: 10m}}")->tasks[0].cpus, 10);
    assert_int_equal(good("tasks: {w: {cpus: \"2\"}}")->tasks[0].cpus, 2000);
    assert_int_equal(good("tasks: {w: {cpus: 0.1}}")->tasks[0].cpus, 100);
    assert_int_equal(good("tasks: {w: {cpus: 100000}}")->tasks[0].cpus, 100000000);
    assert_int_equal(good("tasks: {w: {memory: 16777216}}")->tasks[0].memory, 16777216);
    assert_int_equal(good("tasks: {w: {memory: 1e9}}")->tasks[0].memory, 1000000000);
    assert_int_equal(good("tasks: {w: {count: 10000}}")->tasks[0].count, 10000);
    assert_int_equal(good("tasks: {w: {gpus: 1024}}")->tasks[0].gpus, 1024);
    assert_int_equal(good("time_limit: 3600")->time_limit, 3600000);
    assert_int_equal(good("time_limit: 2d12h")->time_limit, 60 * 3600 * 1000);
    assert_int_equal(good("retries: 1.0")->retries, 1);
}

static void a_time_limit_is_written_as_a_clock_shows_it(void **state)
{
    static const struct {
        const char *written;
        int64_t minutes;
    } cases[] = {{"1:30:00", 90},   {"1-00:00:00", 1440}, {"1-12", 2160},
                 {"1-12:30", 2190}, {"0:90:00", 90},      {"90m", 90}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char line[64];
        snprintf(line, sizeof(line), "time_limit: %s", cases[i].written);
        const struct description *job = good(line);
        assert_int_equal(job->time_limit, cases[i].minutes * 60 * 1000);
        assert_int_equal(job->notes.count, 0);
    }
}

static void a_small_number_of_seconds_is_noted(void **state)
{
    (void)state;
    const struct description *job = good("time_limit: 90");
    assert_int_equal(job->time_limit, 90 * 1000);
    assert_int_equal(job->notes.count, 1);
    assert_true(text_is(job->notes.items[0].sentence, "1 min 30 s: a number alone counts seconds; "
                                                      "minutes are written 90m"));
    assert_int_equal(good("time_limit: 3600")->notes.count, 0);
}

static void images_are_references(void **state)
{
    (void)state;
    good("image: host");
    good("image: localhost/x:latest");
    static const char *const bad[] = {"a b",      "\"\"", "-x",   "[a]",         "1",
                                      "\"a\\n\"", "a;b",  "$(x)", "\"a\\u00e9\""};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        char line[64];
        snprintf(line, sizeof(line), "image: %s", bad[i]);
        if (read_with(line))
            fail_msg("%s was accepted", line);
        assert_non_null(strstr(error.text, "f.yaml:5:8: image: found "));
    }
}

static void roles_are_labels(void **state)
{
    (void)state;
    good("tasks: {a: {}, b2: {}, a-b: {}, 0: {}, abcdefghijklmno: {}}");
    static const char *const bad[] = {
        "Worker",           "a_b", "-a",      "a-",           "\"\"",
        "abcdefghijklmnop", "a.b", "\"a b\"", "\"\xc3\xa9\"", "\"a\\0\""};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        char line[64];
        snprintf(line, sizeof(line), "tasks: {%s: {}}", bad[i]);
        if (read_with(line))
            fail_msg("%s was accepted", line);
        assert_non_null(strstr(error.text, ": found the role \""));
    }
    static const struct bad_case cases[] = {
        {"tasks: {}", "f.yaml:5:8: tasks: found a map, expected a map of one or more roles such as "
                      "{worker: {count: 2}}"},
        {"tasks: 4", "f.yaml:5:8: tasks: found 4, expected a map of one or more roles such as "
                     "{worker: {count: 2}}"},
        {"tasks: {w: 4}", "f.yaml:5:12: tasks.w: found 4, expected a map of the role's fields"},
        {"tasks: {w: }", "f.yaml:5:12: tasks.w: found nothing, expected a map of the role's fields "
                         "({} for the defaults)"},
    };
    CHECK_BAD(cases);
}

static void unknown_fields_name_the_nearest(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"libary: x", "f.yaml:5:1: libary: unknown field; did you mean library?"},
        {"time-limit: 5", "f.yaml:5:1: time-limit: unknown field; did you mean time_limit?"},
        {"gpus: 5", "f.yaml:5:1: gpus: unknown field here; it is a field of a task role"},
        {"tasks: {w: {mem: 5}}", "f.yaml:5:13: tasks.w.mem: unknown field; did you mean memory?"},
        {"tasks: {w: {x: 5}}", "f.yaml:5:13: tasks.w.x: unknown field; the fields of a task role "
                               "are count, cpus, memory, gpus, shm, command, env, ports"},
        {"tasks: {w: {gpu: 5}}", "f.yaml:5:13: tasks.w.gpu: unknown field; did you mean gpus?"},
        {"requeue: true", "f.yaml:5:1: requeue: unknown field; did you mean retries?"},
        {"walltime: 1:00:00", "f.yaml:5:1: walltime: unknown field; did you mean time_limit?"},
        {"reservation: r", "f.yaml:5:1: reservation: unknown field; did you mean queue?"},
        {"constraint: a100", "f.yaml:5:1: constraint: unknown field; did you mean features?"},
        {"features: []",
         "f.yaml:5:11: features: found a list, expected a feature of nodes, such as nvlink, or a list of up to 16"},
        {"features: [a b]",
         "f.yaml:5:11: features: found a list, expected a feature of nodes, such as nvlink, or a list of up to 16"},
        {"spread: true",
         "f.yaml:5:9: spread: found true, expected require (each task on a node of its own) or prefer (as far as there is room)"},
        {"tasks: {w: {image: x}}", "f.yaml:5:13: tasks.w.image: unknown field here; it is a field "
                                   "of a job"},
        {"\"\\e[31m\": x",
         "f.yaml:5:1: \\x1b[31m: unknown field; the fields of a job are name, "
         "library, version, type, program, entry, args, script, dataset, output, "
         "tasks, env, image, gpu_type, features, spread, exclusive, priority, retries, "
         "time_limit, signal, queue, complete, array, size, debug, begin, "
         "deadline, deadline_mode, weight, units, checkpoint, after, hold, notify, "
         "privileged"},
        {"\"name\\0\": x", "f.yaml:5:1: name\\x00: unknown field; did you mean name?"},
    };
    CHECK_BAD(cases);
}

#define PRIVILEGE                                                                                  \
    "the name of a privilege of this site, such as rdma, a list of up to 16, true or false"

static void privileges(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"privileged: 1", "f.yaml:5:13: privileged: found 1, expected " PRIVILEGE},
        {"privileged: []", "f.yaml:5:13: privileged: found a list, expected " PRIVILEGE},
        {"privileged: [rdma, A b]", "f.yaml:5:13: privileged: found a list, expected " PRIVILEGE},
        {"privileged: [rdma, true]", "f.yaml:5:13: privileged: found a list, expected " PRIVILEGE},
    };
    CHECK_BAD(cases);
    assert_true(text_is(good("privileged: [rdma, hostnet, rdma]")->privileges, "hostnet rdma"));
    assert_true(text_is(good("privileged: rdma")->privileges, "rdma"));
    assert_true(text_is(good("privileged: true")->privileges, "true"));
    assert_int_equal(good("hold: false\nprivileged: false\ndebug: false")->privileges.length, 0);
}

#define EVENTS                                                                                     \
    "begin, end, fail, requeue, held, approval, time_limit_90, deadline_at_risk, "                 \
    "deadline_missed or all"
#define ADDRESS "an address such as ann@example.org, in letters and digits of ASCII"

static void messages(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"notify: me@example.org",
         "f.yaml:5:9: notify: found \"me@example.org\", expected " EVENTS},
        {"notify: end,fail", "f.yaml:5:9: notify: found \"end,fail\", expected " EVENTS
                             "; several are a list, such as [end, fail]"},
        {"notify: []",
         "f.yaml:5:9: notify: found a list, expected one of " EVENTS ", or a list of those"},
        {"notify: [end, 1]", "f.yaml:5:15: notify[1]: found 1, expected " EVENTS},
        {"notify: {}", "f.yaml:5:9: notify.events: missing, expected " EVENTS},
        {"notify: {events: end, to: x}",
         "f.yaml:5:23: notify.to: unknown field; the fields of notify are events, mail"},
        /* What would begin another header, or be another's command. */
        {"notify: {events: end, mail: \"a@b.org\\nBcc: c@d.org\"}",
         "f.yaml:5:29: notify.mail: found \"a@b.org\\x0aBcc: c@d.org\", expected " ADDRESS},
        {"notify: {events: end, mail: [a@b.org, \"x\\ry\"]}",
         "f.yaml:5:39: notify.mail[1]: found \"x\\x0dy\", expected " ADDRESS},
        {"notify: {events: end, mail: \"|/bin/sh\"}",
         "f.yaml:5:29: notify.mail: found \"|/bin/sh\", expected " ADDRESS},
        {"notify: {events: end, mail: \"-oQ/tmp\"}",
         "f.yaml:5:29: notify.mail: found \"-oQ/tmp\", expected " ADDRESS},
        {"notify: {events: end, mail: \"a,b\"}",
         "f.yaml:5:29: notify.mail: found \"a,b\", expected " ADDRESS},
        {"notify: {events: end, mail: a@}",
         "f.yaml:5:29: notify.mail: found \"a@\", expected " ADDRESS},
        {"notify: {events: end, mail: a@b..c}",
         "f.yaml:5:29: notify.mail: found \"a@b..c\", expected " ADDRESS},
        {"notify: {events: end, mail: a@-b}",
         "f.yaml:5:29: notify.mail: found \"a@-b\", expected " ADDRESS},
        {"notify: {events: end, mail: a..b@c}",
         "f.yaml:5:29: notify.mail: found \"a..b@c\", expected " ADDRESS},
        {"notify: {events: end, mail: [a, a, a, a, a, a, a, a, a]}",
         "f.yaml:5:29: notify.mail: found 9 addresses, expected at most 8"},
    };
    CHECK_BAD(cases);
    const struct description *job = good("notify: end");
    assert_int_equal(job->messages.events, 1u << MESSAGE_END);
    assert_int_equal(job->messages.mail.length, 0);
    job = good("notify: {events: [begin, time_limit_90], mail: [ann, o'neil+x@mail.example.org]}");
    assert_int_equal(job->messages.events, 1u << MESSAGE_BEGIN | 1u << MESSAGE_TIME_LIMIT_90);
    assert_string_equal(job->messages.mail.data, "ann, o'neil+x@mail.example.org");
    assert_int_equal(good("notify: all")->messages.events, (1u << MESSAGE_EVENTS) - 1);
    assert_int_equal(good("notify: null")->messages.events, 0);
}

static void ports_of_a_role(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"tasks: {w: {ports: [80]}}", "f.yaml:5:20: tasks.w.ports: found a list, expected a map of "
                                      "at most 100 names to numbers of ports such as {http: 1}"},
        {"tasks: {w: {ports: {http: 0}}}", "f.yaml:5:27: tasks.w.ports.http: found 0, expected how "
                                           "many ports each task is to have, 1 to 1000"},
        {"tasks: {w: {ports: {http: 1.5}}}", "f.yaml:5:27: tasks.w.ports.http: found 1.5, expected "
                                             "how many ports each task is to have, 1 to 1000"},
        {"tasks: {w: {ports: {a b: 1}}}", "f.yaml:5:21: tasks.w.ports.a b: found the name \"a b\", "
                                          "expected at most 63 letters, digits and . _ -, the "
                                          "first of them a letter or a digit"},
    };
    CHECK_BAD(cases);
    struct description *job = good("tasks: {w: {ports: {http: 1, data.x: 3}}}");
    assert_int_equal(job->tasks[0].ports_count, 2);
    assert_true(text_is(job->tasks[0].ports[1].label, "data.x"));
    assert_int_equal(job->tasks[0].ports[1].count, 3);
    assert_int_equal(job->tasks[0].ports[1].first, 0);
}

static void a_queue_is_a_label(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"queue: [a]",
         "f.yaml:5:8: queue: found a list, expected 1 to 63 small letters, digits and "
         "inner hyphens"},
        {"queue: Gold",
         "f.yaml:5:8: queue: found \"Gold\", expected 1 to 63 small letters, digits and inner "
         "hyphens"},
        {"queue: -a",
         "f.yaml:5:8: queue: found \"-a\", expected 1 to 63 small letters, digits and inner "
         "hyphens"},
        {"queue: a-",
         "f.yaml:5:8: queue: found \"a-\", expected 1 to 63 small letters, digits and inner "
         "hyphens"},
        {"queue: a.b",
         "f.yaml:5:8: queue: found \"a.b\", expected 1 to 63 small letters, digits and inner "
         "hyphens"},
        {"queue: \"\"",
         "f.yaml:5:8: queue: found \"\", expected 1 to 63 small letters, digits and inner "
         "hyphens"},
    };
    CHECK_BAD(cases);
    assert_true(text_is(good("queue: night-2")->queue, "night-2"));
    assert_int_equal(good("queue: null")->queue.length, 0);
}

static void debug_is_a_duration(void **state)
{
    (void)state;
    static const struct bad_case cases[] = {
        {"debug: true",
         "f.yaml:5:8: debug: found true, expected a duration such as 30m, for which what ran is "
         "kept"},
        {"debug: long",
         "f.yaml:5:8: debug: found \"long\", expected a duration such as 30m, for which what "
         "ran is kept"},
        {"debug: -1",
         "f.yaml:5:8: debug: found -1, expected a duration such as 30m, for which what ran is "
         "kept"},
    };
    CHECK_BAD(cases);
    assert_int_equal(good("debug: 30m")->debug, 30 * 60 * 1000);
    assert_int_equal(good("debug: 90")->debug, 90 * 1000);
    assert_int_equal(good("debug: 0")->debug, 0);
    assert_int_equal(good("debug: false")->debug, 0);
    assert_int_equal(good("debug: null")->debug, 0);
}

static void a_completion_rule_counts_tasks_of_roles(void **state)
{
    (void)state;
#define TASKS "tasks: {w: {count: 2}, ps: {}}\n"
    static const struct bad_case cases[] = {
        {TASKS "complete: yes",
         "f.yaml:6:11: complete: found \"yes\", expected a map of roles such "
         "as {worker: {failed: 1, succeeded: 2}}"},
        {TASKS "complete: {w: 2}", "f.yaml:6:15: complete.w: found 2, expected how many tasks "
                                   "decide, such as {failed: 1, succeeded: 2}"},
        {TASKS "complete: {x: {failed: 1}}",
         "f.yaml:6:12: complete.x: there is no such role; expected one that tasks names"},
        {TASKS "complete: {w: {suceeded: 1}}",
         "f.yaml:6:16: complete.w.suceeded: unknown field; did you mean succeeded?"},
        {TASKS "complete: {w: {succeeded: 3}}",
         "f.yaml:6:27: complete.w.succeeded: found 3, expected at most 2, the tasks that the role "
         "has"},
        {TASKS "complete: {ps: {failed: 2}}",
         "f.yaml:6:25: complete.ps.failed: found 2, expected at most 1, the tasks that the role "
         "has"},
        {TASKS "complete: {w: {failed: 0}}",
         "f.yaml:6:24: complete.w.failed: found 0, expected a whole number from 1, or -1 when no "
         "number of tasks does it"},
        {TASKS "complete: {w: {failed: -2}}",
         "f.yaml:6:24: complete.w.failed: found -2, expected a whole number from 1, or -1 when "
         "no number of tasks does it"},
        {TASKS "complete: {w: {failed: 1.5}}",
         "f.yaml:6:24: complete.w.failed: found 1.5, expected a whole number from 1, or -1 when "
         "no number of tasks does it"},
    };
    CHECK_BAD(cases);
    struct description *job = good(TASKS "complete: {w: {failed: -1, succeeded: 2}, ps: {}}");
    assert_int_equal(job->complete_count, 2);
    assert_true(text_is(job->complete[0].role, "w"));
    assert_int_equal(job->complete[0].failed, -1);
    assert_int_equal(job->complete[0].succeeded, 2);
    assert_int_equal(job->complete[1].failed, 0);
    assert_int_equal(good("complete: {main: {succeeded: 1}}")->complete_count, 1);
    assert_int_equal(good("complete: null")->complete_count, 0);
#undef TASKS
}

static void exactly_one_thing_runs(void **state)
{
    (void)state;
#define HEAD "name: a\nlibrary: any\ntype: roles\n"
    static const char *const good_ones[] = {
        HEAD "script: x\n",
        HEAD "script: x\nargs: [a]\n",
        HEAD "program: /p\nentry: e\nargs: [a]\n",
        HEAD "tasks: {a: {command: [x]}, b: {command: [y]}}\n",
        HEAD "program: /p\ntasks: {a: {command: [x]}}\n",
        HEAD "program: /p\nentry: e\ntasks: {a: {command: [x]}, b: {}}\n",
        HEAD "script: x\ntasks: {a: {command: [x]}, b: {}}\n",
        "name: a\nlibrary: any\ntype: notebook\n",
        "name: a\nlibrary: any\ntype: serving\nprogram: /p\n",
        "name: a\nlibrary: any\ntype: single\nscript: x\ntasks: {a: {count: 1}}\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(good_ones); i++)
        if (!read_yaml(good_ones[i]))
            fail_msg("%s\n   was refused: %s", good_ones[i], error.text);
    static const struct bad_case cases[] = {
        {HEAD, "f.yaml:1:1: nothing says what runs; expected script, or program and entry, or a "
               "command for every task role"},
        {HEAD "script: x\nprogram: /p\nentry: e\n",
         "f.yaml:4:9: script: found beside program, expected only one of them"},
        {HEAD "script: x\nprogram: /p\n",
         "f.yaml:4:9: script: found beside program, expected only one of them"},
        {HEAD "program: /p\n",
         "f.yaml:1:1: entry: missing, expected the entry point: the file below program that is run, "
         "such as train.py"},
        {HEAD "program: /p/train.py\n",
         "f.yaml:4:10: program: found a file, expected its directory, and entry: program: /p, "
         "entry: train.py"},
        {HEAD "script: >\n  a\n  b\n",
         "f.yaml:4:9: script: found folded text (>), which makes one line of several, expected the "
         "lines as they are: write script: |"},
        {HEAD "entry: e\n", "f.yaml:4:8: entry: found without program, expected program as well"},
        {HEAD "tasks: {a: {command: [x]}, b: {}}\n",
         "f.yaml:4:28: tasks.b.command: missing, expected a command, as neither script nor program "
         "says what this role runs"},
        {HEAD "script: x\ntasks: {a: {command: [x]}}\n",
         "f.yaml:4:9: script: nothing would run it, as every task role has a command; leave one "
         "out"},
        {HEAD "program: /p\nentry: e\ntasks: {a: {command: [x]}}\n",
         "f.yaml:5:8: entry: nothing would run it, as every task role has a command; leave one "
         "out"},
        {HEAD "args: [a]\ntasks: {a: {command: [x]}}\n",
         "f.yaml:4:7: args: found without a script or an entry, expected something to give them "
         "to"},
        {"name: a\nlibrary: any\ntype: notebook\nargs: [a]\n",
         "f.yaml:4:7: args: found without a script or an entry, expected something to give them "
         "to"},
        {"name: a\nlibrary: any\ntype: single\nscript: x\ntasks: {a: {count: 2}, b: {}}\n",
         "f.yaml:5:8: tasks: found 3 tasks, expected one, as the type is single; use type: "
         "distributed for tasks that work together"},
        {"name: a\nlibrary: any\ntype: notebook\ntasks: {w: {count: 3}}\n",
         "f.yaml:4:8: tasks: found 3 tasks, expected one, as the type is notebook"},
        {"name: a\nlibrary: any\ntype: mpi\ntasks: {launcher: {}, worker: {command: [x]}}\n",
         "f.yaml:4:9: tasks.launcher.command: missing, expected a command, as neither script nor "
         "program says what this role runs"},
        {HEAD "script: \"  \\n\"\n",
         "f.yaml:4:9: script: found only spaces and line ends, expected the text of a program"},
        {HEAD "script: 5\n", "f.yaml:4:9: script: found a number, expected the text of a program"},
        {HEAD "script: \"a\\0\"\n",
         "f.yaml:4:9: script: found a NUL byte, expected the text of a program"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        check_sentence(cases[i].lines, read_yaml(cases[i].lines), cases[i].sentence);
    /* The workers of an MPI job run what its launcher starts. */
    if (!read_yaml("name: a\nlibrary: any\ntype: mpi\n"
                   "tasks: {launcher: {command: [mpirun, x]}, worker: {count: 2}}\n"))
        fail_msg("%s", error.text);
}

static void all_problems_are_told_at_once_and_bounded(void **state)
{
    (void)state;
    static const char twelve[] = "name: a\nlibrary: any\ntype: roles\nscript: x\n"
                                 "a1: 1\na2: 1\na3: 1\na4: 1\na5: 1\na6: 1\na7: 1\na8: 1\n"
                                 "retries: x\npriority: [x]\ntime_limit: x\nprivileged: 1\n";
    assert_null(read_yaml(twelve));
    int lines = 1;
    for (const char *at = error.text; *at; at++)
        lines += *at == '\n';
    assert_true(lines <= 11);
    const char *last = strrchr(error.text, '\n') + 1;
    char expected[40];
    snprintf(expected, sizeof(expected), "and %d more", 12 - (lines - 1));
    assert_string_equal(last, expected);

    struct buffer source = {0};
    for (int i = 0; i < 4000; i++)
        buffer_printf(
            &source, "\"\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07\\x07%d\": 1\n",
            i);
    assert_null(dialects_read(arena, buffer_text(&source), "\x01\x02\x03", &error));
    assert_true(strlen(error.text) < ERROR_TEXT_SIZE - 1);
    assert_non_null(strstr(error.text, "\nand 39"));
    assert_null(strchr(error.text, '\x07'));
    assert_int_equal(strncmp(error.text, "\\x01\\x02\\x03:1:1: ", 18), 0);
    buffer_free(&source);
}

static void sentences_of_the_longest_names_fit(void **state)
{
    (void)state;
    struct buffer source = {0};
    buffer_add_string(&source, "tasks: {\"");
    for (int i = 0; i < 200; i++)
        buffer_add_string(&source, "\\x80");
    buffer_add_string(&source, "\": {env: {\"");
    for (int i = 0; i < 200; i++)
        buffer_add_string(&source, "\xf0\x9f\x98\x80");
    buffer_add_string(&source, "\": [] }}}\n");
    char name[300];
    memset(name, '\x02', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_null(dialects_read(arena, buffer_text(&source), name, &error));
    assert_true(strlen(error.text) < ERROR_TEXT_SIZE - 1);
    assert_true(utf8_valid(text_of(error.text)));
    if (!strstr(error.text, "...: found the role"))
        fail_msg("%s", error.text);
    buffer_free(&source);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_fields_arrive),
        TEST(what_is_not_given_has_its_default),
        TEST(null_is_not_given),
        TEST(what_is_not_given_has_a_default),
        TEST(names_and_words),
        TEST(libraries_and_types_are_known_ones),
        TEST(paths_stay_where_they_say),
        TEST(words_are_data),
        TEST(numbers_have_limits),
        TEST(a_time_limit_is_written_as_a_clock_shows_it),
        TEST(a_small_number_of_seconds_is_noted),
        TEST(images_are_references),
        TEST(roles_are_labels),
        TEST(unknown_fields_name_the_nearest),
        TEST(privileges),
        TEST(messages),
        TEST(ports_of_a_role),
        TEST(a_queue_is_a_label),
        TEST(debug_is_a_duration),
        TEST(a_completion_rule_counts_tasks_of_roles),
        TEST(exactly_one_thing_runs),
        TEST(all_problems_are_told_at_once_and_bounded),
        TEST(sentences_of_the_longest_names_fit),
    };
    return cmocka_run_group_tests_name("request fields", tests, NULL, NULL);
}
