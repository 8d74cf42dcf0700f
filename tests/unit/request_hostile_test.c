/* request_hostile_test.c - cut, changed and pathological job files: no crash, no delay
 *
 * What a reader accepts of these is also looked at: every promise of request/description.h must
 * hold for it.  The mutations are the same in every run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "request/control.h"
#include "request/dialects/dialects.h"

static const char yaml_sample[] =
    "# night run\n"
    "name: cifar10\nlibrary: pytorch\nversion: 1.10\ntype: distributed\n"
    "program: /srv/code\nentry: train/main.py\nargs: [--epochs, 90, \"a b\", true]\n"
    "dataset: /srv/data\noutput: /srv/out\n"
    "tasks:\n  chief: {}\n  worker:\n    count: 2\n    cpus: 500m\n    memory: 1.5Gi\n"
    "    gpus: 1\n    shm: 64Mi\n    env: {B: 1}\n"
    "    command:\n    - python3\n    - -c\n    - |\n      print(1)\n"
    "env:\n  A: \"gr\\u00fc\xc3\x9f\"\nimage: reg/a:1\ngpu_type: A100\n"
    "priority: 10\nretries: 3\ntime_limit: 1h30m\nhold: false\n";

static const char json_sample[] =
    "{\"name\": \"a\", \"library\": \"any\", \"version\": 1.10, \"type\": \"roles\",\n"
    " \"script\": \"#!/bin/sh\\ntrue\\n\", \"args\": [1, \"\\u00e9\", false],\n"
    " \"tasks\": {\"w\": {\"count\": 2, \"cpus\": 0.5, \"memory\": \"1Gi\", \"env\": {\"X\": "
    "1}}},\n"
    " \"time_limit\": 60, \"queue\": null}\n";

static const char script_sample[] =
    "#!/bin/bash\n# c\n#DL name=a\n#DL library=any\n\n#DL type = roles\n"
    "#DL tasks.w.count=2\n#DL tasks.w.env={A: 1, B: x}\n#DL args=[a, \"b c\", 3] # d\n"
    "#DL env.X='it''s \xc3\xa9'\n#DL time_limit=5m\necho hi\n";

static const char openpai_1_sample[] =
    "{// c\n\"jobName\": \"A.b\", \"image\": \"r/a:1\", \"retryCount\": -2, \"authFile\": \"\",\n"
    "\"dataDir\": \"$PAI_DEFAULT_FS_URI/x\", \"gpuType\": \"K80\", \"virtualCluster\": \"v\",\n"
    "\"taskRoles\": [{\"name\": \"a.b~c\", \"taskNumber\": \"2\", \"memoryMB\": 200, \"shmMB\": "
    "64,\n"
    "\"command\": \"curl http://x\", \"minFailedTaskCount\": null, \"portList\": [{\"label\": "
    "\"w\",\n"
    "\"beginAt\": 80, \"portNumber\": 2}]}], \"jobEnvs\": {\"isDebug\": true, \"A\": 1}, \"tmp\": "
    "{}}";

static const char openpai_2_sample[] =
    "protocolVersion: 2\nname: a-B_1\ntype: job\nversion: !!str 1.0\nprerequisites:\n"
    "- {type: dockerimage, name: i, uri: 'r/a:1', auth: {password: <% $secrets.p %>}}\n"
    "- {type: data, name: d, uri: [/x]}\nparameters: {n: 1.50, l: [1, {a: b}]}\n"
    "secrets: {p: q}\njobRetryCount: 1\ntaskRoles:\n  one: &base\n    instances: 2\n"
    "    dockerImage: i\n    data: d\n    completion: {minFailedInstances: -1}\n"
    "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0, ports: {w: 1}}\n"
    "    commands: [\"a <% $parameters.l[1].a %>\", <% $secrets.p %>]\n"
    "  two: {<<: *base, instances: 1}\ndefaults: {deployment: p}\n"
    "deployments: [{name: p, taskRoles: {one: {preCommands: [c]}}}]\n"
    "extras: {hivedScheduler: {jobPriorityClass: oppo, taskRoles: {one: {skuNum: 1}}}}\n";

static const char dlworkspace_sample[] =
    "{\"jobName\": \"a b\", \"jobtrainingtype\": \"PSDistJob\", \"numpsworker\": 2, \"cmd\": "
    "\"x\",\n"
    "\"image\": \"r/a\", \"resourcegpu\": \"1\", \"dataPath\": \"a/b\", \"interactivePort\": \"80, "
    "90\",\n"
    "\"envs\": [{\"name\": \"A\", \"value\": 1}], \"memorylimit\": \"1Gi\"}";

static const struct sample {
    const char *name, *bytes;
    size_t length;
} samples[] = {
    {"a.yaml", yaml_sample, sizeof(yaml_sample) - 1},
    {"a.json", json_sample, sizeof(json_sample) - 1},
    {"a.sh", script_sample, sizeof(script_sample) - 1},
    {"v1.json", openpai_1_sample, sizeof(openpai_1_sample) - 1},
    {"v2.yaml", openpai_2_sample, sizeof(openpai_2_sample) - 1},
    {"d.json", dlworkspace_sample, sizeof(dlworkspace_sample) - 1},
};

enum { SAMPLES = ARRAY_COUNT(samples) };

static void check_text(struct text text, bool may_be_empty)
{
    assert_true(may_be_empty || text.length > 0);
    assert_true(utf8_valid(text));
    assert_true(text.length == 0 || !memchr(text.data, '\0', text.length));
}

static void check_environment(const struct environment *environment)
{
    for (size_t i = 0; i < environment->count; i++) {
        check_text(environment->variables[i].name, false);
        check_text(environment->variables[i].value, true);
        assert_false(text_starts(environment->variables[i].name, "DLSPOOL_"));
    }
}

/* The promises of request/description.h. */
static void check_description(const struct description *job)
{
    check_text(job->name, false);
    check_text(job->library, false);
    check_text(job->type, false);
    check_text(job->version, true);
    const struct text paths[] = {job->program, job->dataset, job->output};
    for (size_t i = 0; i < 3; i++) {
        check_text(paths[i], true);
        assert_true(paths[i].length == 0 || text_starts(paths[i], "/"));
        assert_false(text_contains(paths[i], TEXT("/../")));
    }
    check_text(job->entry, true);
    assert_false(text_starts(job->entry, "/"));
    check_text(job->script, true);
    assert_false(job->script.length && job->program.length);
    for (size_t i = 0; i < job->args_count; i++)
        check_text(job->args[i], true);
    check_environment(&job->environment);
    assert_true(job->tasks_count >= 1);
    int64_t total = 0;
    for (size_t i = 0; i < job->tasks_count; i++) {
        const struct task_role *role = &job->tasks[i];
        check_text(role->role, false);
        assert_true(role->role.length <= 15);
        assert_true(role->count >= 1 && role->cpus >= 10 && role->memory >= 4 << 20);
        assert_true(role->gpus >= 0 && role->shm >= 0 && role->shm <= role->memory);
        for (size_t word = 0; word < role->command_count; word++)
            check_text(role->command[word], true);
        check_environment(&role->environment);
        check_text(role->script, true);
        check_text(role->script_masked, true);
        check_text(role->image, true);
        total += role->count;
    }
    assert_true(total <= 10000);
    assert_true(job->priority >= -100 && job->priority <= 100);
    if (!job->platform.name.length)
        assert_true(job->retries >= 0 && job->retries <= 100);
    assert_true(job->retries >= RETRIES_ALWAYS);
    assert_true(job->complete_count <= job->tasks_count);
    assert_true(job->time_limit >= 0);
}

/* Read as both kinds of file; true when it is a job. */
static bool read_both(struct arena *arena, const char *bytes, size_t length, const char *name)
{
    /* A copy of the exact size, so that a sanitizer sees reads past the end. */
    char *copy = memory_allocate(length);
    memcpy(copy, bytes, length);
    struct text source = {copy, length};
    struct error error = {{0}};
    struct control control;
    arena_reset(arena);
    if (request_control_read(arena, source, name, &control, &error))
        assert_true(error.text[0] != '\0');
    error.text[0] = '\0';
    struct description *job = dialects_read(arena, source, name, &error);
    if (job)
        check_description(job);
    else
        assert_true(error.text[0] != '\0' && strlen(error.text) < ERROR_TEXT_SIZE - 1 &&
                    utf8_valid(text_of(error.text)));
    free(copy);
    return job != NULL;
}

static void every_prefix_is_read_or_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    for (size_t i = 0; i < SAMPLES; i++) {
        int read = 0;
        for (size_t length = 0; length <= samples[i].length; length++)
            read += read_both(arena, samples[i].bytes, length, samples[i].name);
        print_message("%s: %d of %zu prefixes are jobs\n", samples[i].name, read,
                      samples[i].length + 1);
    }
    arena_free(arena);
}

static uint64_t seed = 0x853c49e6748fea9bu;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

/* Change, insert, remove, or copy a piece of another sample over. */
static size_t mutate(char *bytes, size_t length, size_t capacity)
{
    static const char *const pieces[] = {": ",       "\n",
                                         "\n  ",     "\t",
                                         "[",        "]",
                                         "{",        "}",
                                         ",",        "\"",
                                         "'",        "#",
                                         "&a ",      "*a",
                                         "!t ",      "|\n",
                                         "---\n",    "...\n",
                                         "null",     "true",
                                         "0",        "-1",
                                         "1e999",    "0x10",
                                         ".inf",     "99999999999999999999",
                                         "..",       "/",
                                         "\\0",      "\\u0000",
                                         "\xff",     "\x01",
                                         "\xc3",     "\xef\xbb\xbf",
                                         "\r\n",     "#DL ",
                                         "#!",       "=",
                                         "tasks",    "name",
                                         "env",      "ports",
                                         "hold",     "kill: abc",
                                         "DLSPOOL_", "Ei",
                                         "m",        "%TAG",
                                         "? ",       "<<"};
    size_t at = draw((uint32_t)length + 1), cut = 0;
    const char *piece = "";
    switch (draw(4)) {
    case 0:
        cut = draw(8);
        break;
    case 1:
        cut = draw(3);
        piece = pieces[draw(ARRAY_COUNT(pieces))];
        break;
    case 2:
        piece = pieces[draw(ARRAY_COUNT(pieces))];
        break;
    default: {
        const struct sample *other = &samples[draw(SAMPLES)];
        piece = other->bytes + draw((uint32_t)other->length);
        break;
    }
    }
    size_t added = strnlen(piece, 1 + draw(40));
    cut = cut < length - at ? cut : length - at;
    if (length - cut + added > capacity)
        return length;
    memmove(bytes + at + added, bytes + at + cut, length - at - cut);
    memcpy(bytes + at, piece, added);
    return length - cut + added;
}

static void mutations_do_no_harm(void **state)
{
    (void)state;
    enum { ROUNDS = 60000, ROOM = 2000 };
    struct arena *arena = arena_new();
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const struct sample *sample = &samples[i % SAMPLES];
        char bytes[ROOM];
        size_t length = sample->length;
        memcpy(bytes, sample->bytes, length);
        for (uint32_t changes = 1 + draw(4); changes > 0; changes--)
            length = mutate(bytes, length, sizeof(bytes));
        read += read_both(arena, bytes, length, sample->name);
    }
    print_message("%d of %d mutations are jobs\n", read, (int)ROUNDS);
    arena_free(arena);
}

/* A head, a piece as often as 1 MiB holds, and a tail.  What takes the square of the time takes a quarter of an hour,
 * so the limit is no matter of how fast a machine is. */
static void pathological_files_are_quick(void **state)
{
    (void)state;
    static const struct {
        const char *name, *head, *piece, *tail;
    } cases[] = {
        {"a.yaml", "", "x: 1\n", ""},
        {"a.yaml", "env: {", "A: 1,", "}\n"},
        {"a.yaml", "args: [", "a,", "]\n"},
        {"a.yaml", "name: ", "a", "\n"},
        {"a.yaml", "output: ", "/", "\n"},
        {"a.yaml", "output: /", "a/./", "\n"},
        {"a.yaml", "", "[", ""},
        {"a.yaml", "tasks:\n", " ? ", ""},
        {"a.yaml", "retries: ", "9", "\n"},
        {"a.yaml", "time_limit: ", "1h", "\n"},
        {"a.yaml", "", "%TAG !a! b:\n", "---\na: 1\n"},
        {"a.yaml", "script: |\n", "  echo\r\n", ""},
        {"a.yaml", "script: \"#!/bin/sh\\r\\n", "\\r\\n", "\"\n"},
        {"a.yaml", "kill: ", "a", "\n"},
        {"a.yaml", "protocolVersion: 2\nx: &a 1\ny: [", "*a,", "]\n"},
        {"a.yaml", "protocolVersion: 2\nx: [", "&a 1,", "]\n"},
        {"a.yaml", "protocolVersion: 2\nx: &a {b: 1}\ny: {", "<<: *a,", "}\n"},
        {"a.yaml", "protocolVersion: 2\nx: [", "!!str ,", "]\n"},
        {"a.yaml", "protocolVersion: 2\nx: [", "!a ,", "]\n"},
        {"a.yaml", "protocolVersion: 2\nsecrets: [", "a,", "]\n"},
        {"a.json", "{\"jobName\": \"", "// ", "\"}"},
        {"a.json", "", "//\n", "{\"jobName\": \"a\"}"},
        {"a.json", "{\"a\": ", "[", ""},
        {"a.json", "[0", ",0", "]"},
        {"a.json", "{\"name\": \"", "\\u0000", "\"}"},
        {"a.json", "", "{", ""},
        {"a.json", "", " ", "{}"},
        {"a.json", "", "\xc3\xa9", ""},
        {"a.sh", "#!/bin/sh\n", "#DL a=1\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#DL a\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#DL\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "\n", "true\n"},
        {"a.sh", "#!/bin/sh\n#DL ", "a.", "=1\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#DL args=[", "1,", "]\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#DL name=", "\xc3\xa9", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#DL ", "=", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#DL a=", "[", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n", "#DL a=[\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#DL a=\"\n", "true\n"},
        {"a.sh", "#!/bin/sh\r\n", "true\r\n", ""},
        {"a.sh", "#!/bin/sh\n#SBATCH ", "-J a ", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#SBATCH ", "--x ", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#SBATCH --export=", "A=1,", "B\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#SBATCH --dependency=afterok:", "a:", "b\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#SBATCH --array=", "1,", "2\ntrue\n"},
        {"a.sh", "#!/bin/sh\n", "#SBATCH -J a\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#SBATCH hetjob\n", "true\n"},
        {"a.sh", "#!/bin/sh\n#SBATCH -n 4\n", "srun -n 2 a &\n", "wait\n"},
        {"a.sh", "#!/bin/sh\n#PBS ", "-N a ", "\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#PBS -l select=", "1:ncpus=1+", "1\ntrue\n"},
        {"a.sh", "#!/bin/sh\n#PBS -v ", "A,", "B\ntrue\n"},
    };
    struct arena *arena = arena_new();
    struct buffer source = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        buffer_clear(&source);
        buffer_add_string(&source, cases[i].head);
        while (source.length + strlen(cases[i].piece) + strlen(cases[i].tail) <= 1 << 20)
            buffer_add_string(&source, cases[i].piece);
        buffer_add_string(&source, cases[i].tail);
        clock_t start = clock();
        read_both(arena, source.data, source.length, cases[i].name);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 30)
            fail_msg("%s \"%s\" \"%s\" took %.2f s", cases[i].name, cases[i].head, cases[i].piece,
                     seconds);
    }
    buffer_free(&source);
    arena_free(arena);
}

/* Distinct keys, which the same piece over and over does not give. */
static void many_distinct_fields_are_quick(void **state)
{
    (void)state;
    static const struct {
        const char *name, *head, *format, *tail;
    } cases[] = {
        {"a.yaml", "", "librari%d: 1\n", ""},
        {"a.yaml", "tasks:\n", " w%d: {gpu: 1}\n", ""},
        {"a.json", "{\"a\": 1", ",\"librari%d\": 1", "}"},
        {"a.yaml", "protocolVersion: 2\nx: [", "&a%d 1,", "]\n"},
        {"a.yaml", "protocolVersion: 2\nsecrets: {", "k%d: 1,", "}\n"},
        {"a.yaml", "protocolVersion: 2\nparameters: {", "k%d: 1,", "}\n"},
        {"a.json", "{\"jobName\": \"a\", \"jobEnvs\": {\"a\": 1", ",\"k%d\": 1", "}}"},
        {"a.json", "{\"jobName\": \"a\", \"cmd\": \"b\"", ",\"k%d\": 1", "}"},
        {"a.sh", "#!/bin/sh\n", "#DL librari%d=1\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#DL env.A%d=1\n", "true\n"},
        {"a.sh", "#!/bin/sh\n", "#DL a.b.c.d.e.f.g.h%d=1\n", "true\n"},
    };
    struct arena *arena = arena_new();
    struct buffer source = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        buffer_clear(&source);
        buffer_add_string(&source, cases[i].head);
        for (int number = 0; number < 4900; number++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            buffer_printf(&source, cases[i].format, number);
#pragma GCC diagnostic pop
        }
        buffer_add_string(&source, cases[i].tail);
        clock_t start = clock();
        read_both(arena, source.data, source.length, cases[i].name);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 5)
            fail_msg("%s \"%s\" took %.2f s", cases[i].name, cases[i].format, seconds);
    }
    buffer_free(&source);
    arena_free(arena);
}

static void limits_are_those_of_the_page(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct buffer source = {0};
    struct error error;
    buffer_add_string(&source, "name: a\nlibrary: any\ntype: single\nscript: x\n#");
    while (source.length < 1 << 20)
        buffer_add_byte(&source, '#');
    if (!dialects_read(arena, buffer_text(&source), "a.yaml", &error))
        fail_msg("%s", error.text);
    buffer_add_byte(&source, '#');
    assert_null(dialects_read(arena, buffer_text(&source), "a.yaml", &error));
    assert_string_equal(error.text, "a.yaml: 1048577 bytes; at most 1048576 are read");
    assert_null(dialects_read(arena, buffer_text(&source), "a.json", &error));
    assert_string_equal(error.text, "a.json: 1048577 bytes; at most 1048576 are read");
    source.data[0] = '#';
    source.data[1] = '!';
    assert_null(dialects_read(arena, buffer_text(&source), "a.sh", &error));
    assert_string_equal(error.text, "a.sh: 1048577 bytes; at most 1048576 are read");
    buffer_free(&source);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_read_or_refused),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(pathological_files_are_quick),
        cmocka_unit_test(many_distinct_fields_are_quick),
        cmocka_unit_test(limits_are_those_of_the_page),
    };
    return cmocka_run_group_tests_name("request hostile", tests, NULL, NULL);
}
