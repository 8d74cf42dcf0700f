/* request_bad_input_test.c - the same mistakes in each dialect of job files
 *
 * Every dialect has tests of its own beside this one.  Here each mistake stands once for each of
 * them, so that none is forgotten: a wrong type, an unknown key, a missing field, a role twice,
 * ports and names that cannot be, numbers below the least, what looks like a comment inside a text,
 * 500 tasks, and 1 MiB.
 */
#include "request/dialects/dialects.h"
#include "tests/unit/unit_arena.h"

enum dialect { YAML, JSON, SCRIPT, OPENPAI_1, OPENPAI_2, DLWORKSPACE, DRAFT, DIALECTS };

/* A good file of each, with room for more after its fields and after those of its role. */
#define YAML_WITH(fields, role)                                                                    \
    "name: a\nlibrary: any\ntype: roles\n" fields "tasks:\n  main:\n    command: [run]\n" role
#define JSON_WITH(fields, role)                                                                    \
    "{\"name\": \"a\", \"library\": \"any\", \"type\": \"roles\", " fields                         \
    "\"tasks\": {\"main\": {\"command\": [\"run\"]" role "}}}"
#define SCRIPT_WITH(fields, role)                                                                  \
    "#!/bin/bash\n#DL name=a\n#DL library=any\n#DL type=roles\n" fields role "run\n"
#define OPENPAI_1_WITH(fields, role)                                                               \
    "{\"jobName\": \"a\", \"image\": \"b\", " fields                                               \
    "\"taskRoles\": [{\"name\": \"main\", \"command\": \"run\"" role "}]}"
#define OPENPAI_2_WITH(fields, role)                                                               \
    "protocolVersion: 2\nname: a\ntype: job\nprerequisites: [{type: dockerimage, name: i, uri: "   \
    "b}]\n" fields "taskRoles:\n  main:\n    dockerImage: i\n    commands: [run]\n"                \
    "    resourcePerInstance: {cpu: 1, memoryMB: 1024, gpu: 0}\n" role
#define DLWORKSPACE_WITH(fields)                                                                   \
    "{\"jobName\": \"a\", \"image\": \"b\", " fields "\"cmd\": \"run\"}"
#define DRAFT_WITH(fields, role)                                                                   \
    "user: {vc_name: v}\njob:\n  name: a\n" fields                                                 \
    "  roles:\n    main:\n      image: b\n      cmd: run\n" role

static const char *const file_names[DIALECTS] = {"f.yaml", "f.json", "f.sh",  "f.json",
                                                 "f.yaml", "f.json", "f.yaml"};

static struct description *read_as(enum dialect dialect, struct text source)
{
    return dialects_read(arena, source, file_names[dialect], &error);
}

static struct description *good(enum dialect dialect, const char *source)
{
    struct description *job = read_as(dialect, text_of(source));
    if (!job)
        fail_msg("%s\n   was refused: %s", source, error.text);
    return job;
}

static void good_files_are_good(void **state)
{
    (void)state;
    good(YAML, YAML_WITH("", ""));
    good(JSON, JSON_WITH("", ""));
    good(SCRIPT, SCRIPT_WITH("", "#DL tasks.main.count=1\n"));
    good(OPENPAI_1, OPENPAI_1_WITH("", ""));
    good(OPENPAI_2, OPENPAI_2_WITH("", ""));
    good(DLWORKSPACE, DLWORKSPACE_WITH(""));
    good(DRAFT, DRAFT_WITH("", ""));
}

/* A mistake in one dialect, and what the sentence about it holds: place, field, and what is wrong.
 */
struct mistake {
    enum dialect dialect;
    const char *source, *sentence;
};

static void check(const struct mistake *mistakes, size_t count)
{
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mistake *mistake = &mistakes[i];
        seen |= 1u << mistake->dialect;
        if (read_as(mistake->dialect, text_of(mistake->source)))
            fail_msg("%s\n   was accepted, expected %s", mistake->source, mistake->sentence);
        if (!strstr(error.text, mistake->sentence))
            fail_msg("%s\n   gave     %s\n   expected %s", mistake->source, error.text,
                     mistake->sentence);
    }
    assert_int_equal(seen, (1u << DIALECTS) - 1);
}

#define CHECK(mistakes) check(mistakes, ARRAY_COUNT(mistakes))

static void wrong_types(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, YAML_WITH("retries: [1]\n", ""), "f.yaml:4:10: retries: found a list, expected"},
        {YAML, YAML_WITH("", "    count: two\n"), "f.yaml:7:12: tasks.main.count: found \"two\""},
        {JSON, JSON_WITH("\"retries\": {}, ", ""), "f.json:1:61: retries: found a map"},
        {JSON, JSON_WITH("", ", \"gpus\": \"all\""), "tasks.main.gpus: found \"all\", expected"},
        {SCRIPT, SCRIPT_WITH("#DL retries=[1]\n", ""), "f.sh:5:13: retries: found a list"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.count=two\n"), "tasks.main.count: found \"two\""},
        {OPENPAI_1, OPENPAI_1_WITH("\"retryCount\": [1], ", ""), "retryCount: found a list"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"gpuNumber\": {}"),
         "taskRoles[0].gpuNumber: found a map"},
        {OPENPAI_2, OPENPAI_2_WITH("jobRetryCount: \"1\"\n", ""),
         "f.yaml:5:16: jobRetryCount: found"},
        {OPENPAI_2, OPENPAI_2_WITH("", "    instances: [2]\n"),
         "taskRoles.main.instances: found a"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"resourcegpu\": [1], "), "resourcegpu: found a list"},
        {DRAFT, DRAFT_WITH("", "      replicas: two\n"), "job.roles.main.replicas: found \"two\""},
    };
    CHECK(mistakes);
}

static void unknown_keys(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, YAML_WITH("retry: 1\n", ""), "f.yaml:4:1: retry: unknown field"},
        {YAML, YAML_WITH("", "    cpu: 1\n"), "tasks.main.cpu: unknown field; did you mean cpus?"},
        {JSON, JSON_WITH("\"retry\": 1, ", ""), "f.json:1:50: retry: unknown field"},
        {JSON, JSON_WITH("", ", \"cpu\": 1"), "tasks.main.cpu: unknown field; did you mean cpus?"},
        {SCRIPT, SCRIPT_WITH("#DL retry=1\n", ""), "f.sh:5:5: retry: unknown field"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.cpu=1\n"), "tasks.main.cpu: unknown field"},
        {OPENPAI_1, OPENPAI_1_WITH("\"retries\": 1, ", ""), "retries: unknown field"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"cpuNum\": 1"),
         "taskRoles[0].cpuNum: unknown field; did you mean cpuNumber?"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"portList\": [{\"label\": \"a\", \"begin\": 1}]"),
         "taskRoles[0].portList[0].begin: unknown field"},
        {OPENPAI_2, OPENPAI_2_WITH("retryCount: 1\n", ""), "f.yaml:5:1: retryCount: unknown field"},
        {OPENPAI_2, OPENPAI_2_WITH("", "    instance: 1\n"),
         "taskRoles.main.instance: unknown field"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"gpus\": 1, "), "f.json:1:32: gpus: unknown field"},
        {DRAFT, DRAFT_WITH("", "      replica: 1\n"), "job.roles.main.replica: unknown field"},
    };
    CHECK(mistakes);
}

static void missing_fields(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, "name: a\ntype: roles\ntasks: {m: {cpus: 1}}\n",
         "f.yaml:1:1: nothing says what runs"},
        {JSON, "{\"name\": \"a\", \"library\": \"any\", \"program\": \"/p\"}",
         "f.json:1:1: entry: missing"},
        {SCRIPT, "#!/bin/sh\n#DL name=a\n#DL type=single\n", "found nothing but comments"},
        {OPENPAI_1, "{\"jobName\": \"a\", \"taskRoles\": [{\"name\": \"m\", \"command\": \"c\"}]}",
         "f.json:1:1: image: missing"},
        {OPENPAI_1, "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"m\"}]}",
         "taskRoles[0].command: missing"},
        {OPENPAI_2, "protocolVersion: 2\nname: a\ntype: job\n", "f.yaml:1:1: taskRoles: missing"},
        {OPENPAI_2, "protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {m: {commands: [c]}}\n",
         "taskRoles.m.resourcePerInstance: missing"},
        {DLWORKSPACE, "{\"jobName\": \"a\", \"jobtrainingtype\": \"RegularJob\"}", "cmd: missing"},
        {DRAFT, "job: {name: a, roles: {m: {image: b}}}\n", "job.roles.m.cmd: missing"},
    };
    CHECK(mistakes);
}

/* In a map a role twice is a key twice. */
static void a_role_twice(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, YAML_WITH("", "  main: {command: [b]}\n"),
         "f.yaml:7:3: the key \"main\" is given twice"},
        {JSON, JSON_WITH("", "}, \"main\": {"), "duplicate object key near '\"main\"'"},
        {SCRIPT, SCRIPT_WITH("#DL tasks.main={}\n", "#DL tasks.main={}\n"),
         "f.sh:6:5: tasks.main: given twice"},
        {OPENPAI_1, OPENPAI_1_WITH("", "}, {\"name\": \"main\", \"command\": \"b\""),
         "taskRoles[1].name: found \"main\" a second time"},
        {OPENPAI_2, OPENPAI_2_WITH("", "  main: {}\n"),
         "f.yaml:10:3: the key \"main\" is given twice"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"cmd\": \"a\", "), "duplicate object key near '\"cmd\"'"},
        {DRAFT, DRAFT_WITH("", "    main: {cmd: b}\n"),
         "f.yaml:8:5: the key \"main\" is given twice"},
    };
    CHECK(mistakes);
}

static void ports_that_cannot_be(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, YAML_WITH("", "    ports: {a: 0}\n"), "tasks.main.ports.a: found 0, expected"},
        {YAML, YAML_WITH("", "    ports: {a: 1001}\n"), "tasks.main.ports.a: found 1001, expected"},
        {JSON, JSON_WITH("", ", \"ports\": {\"a\": 0}"), "tasks.main.ports.a: found 0, expected"},
        {JSON, JSON_WITH("", ", \"ports\": {\"a\": -1}"), "tasks.main.ports.a: found -1, expected"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.ports.a=0\n"), "tasks.main.ports.a: found 0"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.ports={a: 1001}\n"), "ports.a: found 1001"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"portList\": [{\"label\": \"a\", \"beginAt\": 65536}]"),
         "taskRoles[0].portList[0].beginAt: found 65536, expected a whole number from 0 to 65535"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"portList\": [{\"label\": \"a\", \"portNumber\": 0}]"),
         "taskRoles[0].portList[0].portNumber: found 0"},
        {OPENPAI_1,
         OPENPAI_1_WITH("", ", \"portList\": [{\"label\": \"a\", \"beginAt\": 65535, "
                            "\"portNumber\": 2}]"),
         "taskRoles[0].portList[0].beginAt: found ports 65535 to 65536"},
        {OPENPAI_2,
         "protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {m: {resourcePerInstance: {ports: {a: "
         "-1}}}}\n",
         "taskRoles.m.resourcePerInstance.ports.a: found -1, expected a whole number from 0"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"interactivePort\": \"80, 65536\", "),
         "interactivePort: found \"80, 65536\""},
        {DRAFT, DRAFT_WITH("", "      ports: {a: 1}\n"), "job.roles.main.ports: unknown field"},
    };
    CHECK(mistakes);
}

/* Names of roles, and of jobs, with bytes that only some dialects take. */
static void names_with_dots_tildes_and_hyphens(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, "name: a\nlibrary: any\ntype: roles\ntasks: {a.b: {command: [r]}}\n",
         "f.yaml:4:9: tasks.a.b: found the role \"a.b\""},
        {YAML, "name: a~b\nlibrary: any\ntype: single\nscript: x\n",
         "f.yaml:1:7: name: found \"a~b\""},
        {JSON,
         "{\"name\": \"a\", \"library\": \"any\", \"type\": \"roles\", \"tasks\": {\"a~b\": "
         "{\"command\": [\"r\"]}}}",
         "tasks.a~b: found the role \"a~b\""},
        {JSON, "{\"name\": \"a~b\", \"library\": \"any\", \"type\": \"single\", \"script\": \"x\"}",
         "f.json:1:10: name: found \"a~b\""},
        {SCRIPT, "#!/bin/sh\n#DL name=a~b\n#DL library=any\n#DL type=single\nx\n",
         "f.sh:2:10: name: found \"a~b\""},
        {SCRIPT, "#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=roles\n#DL tasks={a~b: {}}\nx\n",
         "tasks.a~b: found the role \"a~b\""},
        {OPENPAI_1,
         "{\"jobName\": \"a~b\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"m\", "
         "\"command\": \"c\"}]}",
         "f.json:1:13: jobName: found \"a~b\""},
        {OPENPAI_1,
         "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"a-b\", "
         "\"command\": \"c\"}]}",
         "taskRoles[0].name: found \"a-b\""},
        {OPENPAI_2, "protocolVersion: 2\nname: a.b\ntype: job\ntaskRoles: {m: {}}\n",
         "f.yaml:2:7: name: found \"a.b\""},
        {OPENPAI_2, "protocolVersion: 2\nname: a~b\ntype: job\ntaskRoles: {m: {}}\n",
         "f.yaml:2:7: name: found \"a~b\""},
        {OPENPAI_2, "protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {a-b: {}}\n",
         "taskRoles.a-b: found the name \"a-b\""},
        {OPENPAI_2, "protocolVersion: 2\nname: a\ntype: job\ntaskRoles: {a.b: {}}\n",
         "taskRoles.a.b: found the name \"a.b\""},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"envs\": [{\"name\": \"a~b\", \"value\": 1}], "),
         "envs.a~b: found the name \"a~b\""},
        {DRAFT, "job: {name: a, roles: {a~b: {cmd: c}}}\n",
         "job.roles.a~b: found the name \"a~b\""},
    };
    CHECK(mistakes);
    good(YAML, "name: a.b-c\nlibrary: any\ntype: roles\ntasks: {a-b: {command: [r]}}\n");
    good(JSON,
         "{\"name\": \"a.b-c\", \"library\": \"any\", \"type\": \"single\", \"script\": \"x\"}");
    good(SCRIPT, "#!/bin/sh\n#DL name=a.b-c\n#DL library=any\n#DL type=single\nx\n");
    good(OPENPAI_1,
         "{\"jobName\": \"a.b-c\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"a.b~c\", "
         "\"command\": \"c\"}]}");
    assert_true(
        text_is(good(OPENPAI_2,
                     OPENPAI_2_WITH("", "  a_b: {dockerImage: i, commands: [c], "
                                        "resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}}\n"))
                    ->tasks[1]
                    .role,
                "a-b"));
    good(DLWORKSPACE, "{\"jobName\": \"a.b~c-d\", \"image\": \"b\", \"cmd\": \"run\"}");
}

static void numbers_below_the_least(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {YAML, YAML_WITH("", "    count: 0\n"), "f.yaml:7:12: tasks.main.count: found 0"},
        {YAML, YAML_WITH("retries: -1\n", ""), "f.yaml:4:10: retries: found -1"},
        {JSON, JSON_WITH("", ", \"cpus\": 0"), "tasks.main.cpus: found 0"},
        {JSON, JSON_WITH("", ", \"memory\": 0"), "tasks.main.memory: found 0"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.gpus=-1\n"), "tasks.main.gpus: found -1"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.memory=1Ki\n"),
         "tasks.main.memory: found \"1Ki\""},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"taskNumber\": 0"), "taskNumber: found 0, expected"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"cpuNumber\": 0"), "cpuNumber: found 0, expected"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"memoryMB\": 99"), "memoryMB: found 99, expected"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"gpuNumber\": -1"), "gpuNumber: found -1, expected"},
        {OPENPAI_1, OPENPAI_1_WITH("\"retryCount\": -3, ", ""), "retryCount: found -3, expected"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"minFailedTaskCount\": 0"),
         "minFailedTaskCount: found 0"},
        {OPENPAI_2, OPENPAI_2_WITH("", "    instances: 0\n"), "taskRoles.main.instances: found 0"},
        {OPENPAI_2, OPENPAI_2_WITH("jobRetryCount: -1\n", ""), "jobRetryCount: found -1, expected"},
        {OPENPAI_2, OPENPAI_2_WITH("", "    completion: {minFailedInstances: -2}\n"),
         "taskRoles.main.completion.minFailedInstances: found -2"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"resourcegpu\": -1, "), "resourcegpu: found -1, expected"},
        {DLWORKSPACE, DLWORKSPACE_WITH("\"jobPriority\": 0, "), "jobPriority: found 0, expected"},
        {DRAFT, DRAFT_WITH("", "      replicas: 0\n"), "job.roles.main.replicas: found 0"},
    };
    CHECK(mistakes);
}

/* A comment starts outside of texts only. */
static void what_looks_like_a_comment_inside_a_text(void **state)
{
    (void)state;
    static const char command[] = "curl http://h/x#y // z # 'q'";
    static const struct {
        enum dialect dialect;
        const char *source;
    } files[] = {
        {YAML,
         "name: a # why\nlibrary: any\ntype: single\nscript: \"curl http://h/x#y // z # 'q'\""},
        {JSON, "{\"name\": \"a\", \"library\": \"any\", \"type\": \"single\",\n"
               "\"script\": \"curl http://h/x#y // z # 'q'\"}"},
        {SCRIPT, "#!/bin/sh\n#DL name=a # why\n#DL library=any\n#DL type=single\n"
                 "#DL env.A=\"x # y // z\" # why\ncurl http://h/x#y // z # 'q'\n"},
        {OPENPAI_1, "{// \"why\n\"jobName\": \"a\", \"image\": \"b\", // \\\" why\n\"taskRoles\": "
                    "[{\"name\": \"m\", \"command\": \"curl http://h/x#y // z # 'q'\"}]}// end"},
        {OPENPAI_2,
         OPENPAI_2_WITH(
             "# why\n",
             "") "    # \"why\n"
                 "  other:\n    dockerImage: i\n    commands: [\"curl http://h/x#y // z # 'q'\"]\n"
                 "    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0} # why\n"},
        {DLWORKSPACE, "{\"jobName\": \"a\", \"image\": \"b\",\n"
                      "\"cmd\": \"curl http://h/x#y // z # 'q'\"}"},
        {DRAFT, "job:\n  name: a # why\n  roles:\n    m:\n      image: b\n"
                "      cmd: \"curl http://h/x#y // z # 'q'\"\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct description *job = good(files[i].dialect, files[i].source);
        const struct task_role *last = &job->tasks[job->tasks_count - 1];
        struct text got = job->script.length ? job->script : last->script;
        if (files[i].dialect == OPENPAI_1)
            got = last->command[2];
        if (!text_contains(got, TEXT(command)))
            fail_msg("%s\n   became %.*s", files[i].source, (int)got.length, got.data);
    }
    assert_true(
        text_is(good(SCRIPT, files[2].source)->environment.variables[0].value, "x # y // z"));
}

static void five_hundred_tasks(void **state)
{
    (void)state;
    static const struct {
        enum dialect dialect;
        const char *good, *bad, *sentence;
    } files[] = {
        {YAML, YAML_WITH("", "    count: 500\n"), YAML_WITH("", "    count: 10001\n"),
         "tasks.main.count: found 10001"},
        {JSON, JSON_WITH("", ", \"count\": 500"), JSON_WITH("", ", \"count\": 1e9"),
         "tasks.main.count: found 1e9"},
        {SCRIPT, SCRIPT_WITH("", "#DL tasks.main.count=500\n"),
         SCRIPT_WITH("", "#DL tasks.main.count=10001\n"), "tasks.main.count: found 10001"},
        {OPENPAI_1, OPENPAI_1_WITH("", ", \"taskNumber\": 500"),
         OPENPAI_1_WITH("", ", \"taskNumber\": 10001"), "taskRoles[0].taskNumber: found 10001"},
        {OPENPAI_2, OPENPAI_2_WITH("", "    instances: 500\n"),
         OPENPAI_2_WITH("", "    instances: 10001\n"), "taskRoles.main.instances: found 10001"},
        {DLWORKSPACE,
         DLWORKSPACE_WITH("\"jobtrainingtype\": \"PSDistJob\", \"numpsworker\": 499, "),
         DLWORKSPACE_WITH("\"jobtrainingtype\": \"PSDistJob\", \"numpsworker\": 10000, "),
         "numpsworker"},
        {DRAFT, DRAFT_WITH("", "      replicas: 500\n"), DRAFT_WITH("", "      replicas: 10001\n"),
         "job.roles.main.replicas: found 10001"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct description *job = good(files[i].dialect, files[i].good);
        int tasks = 0;
        for (size_t j = 0; j < job->tasks_count; j++)
            tasks += job->tasks[j].count;
        assert_int_equal(tasks, 500);
        assert_null(read_as(files[i].dialect, text_of(files[i].bad)));
        if (!strstr(error.text, files[i].sentence))
            fail_msg("%s gave %s", files[i].bad, error.text);
    }
}

/* 1 MiB to the byte, most of it in a text where that is not what a task is given, and one byte
 * more. */
static void a_mebibyte(void **state)
{
    (void)state;
    static const struct {
        enum dialect dialect;
        const char *head, *tail;
        char filling;
    } files[] = {
        {YAML, "name: a\nlibrary: any\ntype: single\nscript: \"", "\"\n", 'x'},
        {JSON, "{\"name\": \"a\", \"library\": \"any\", \"type\": \"single\", \"script\": \"",
         "\"}", 'x'},
        {SCRIPT, "#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=single\necho ", "\n", 'x'},
        {OPENPAI_1, "{\"tmp\": \"",
         "\", \"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": "
         "[{\"name\": \"m\", \"command\": \"c\"}]}",
         'x'},
        {OPENPAI_2, "description: \"", "\"\n" OPENPAI_2_WITH("", ""), 'x'},
        {DLWORKSPACE, "{", "\"jobName\": \"a\", \"image\": \"b\", \"cmd\": \"c\"}", ' '},
        {DRAFT, "#", "\n" DRAFT_WITH("", ""), 'x'},
    };
    enum { MEBIBYTE = 1 << 20 };
    struct buffer source = {0};
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        buffer_clear(&source);
        buffer_add_string(&source, files[i].head);
        while (source.length + strlen(files[i].tail) < MEBIBYTE)
            buffer_add_byte(&source, files[i].filling);
        buffer_add_string(&source, files[i].tail);
        assert_int_equal(source.length, MEBIBYTE);
        if (!read_as(files[i].dialect, buffer_text(&source)))
            fail_msg("%s... was refused: %s", files[i].head, error.text);
        buffer_add_byte(&source, ' ');
        assert_null(read_as(files[i].dialect, buffer_text(&source)));
        assert_non_null(strstr(error.text, "1048577 bytes; at most 1048576 are read"));
    }
    buffer_free(&source);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(good_files_are_good),
        TEST(wrong_types),
        TEST(unknown_keys),
        TEST(missing_fields),
        TEST(a_role_twice),
        TEST(ports_that_cannot_be),
        TEST(names_with_dots_tildes_and_hyphens),
        TEST(numbers_below_the_least),
        TEST(what_looks_like_a_comment_inside_a_text),
        TEST(five_hundred_tasks),
        TEST(a_mebibyte),
    };
    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
