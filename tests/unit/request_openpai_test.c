/* request_openpai_test.c - job files of OpenPAI's version 1, and of SCM */
#include "tests/unit/unit_arena.h"

#include <dirent.h>

#include "request/dialects/dialects.h"

#define ROLE "\"name\": \"main\", \"command\": \"true\""
#define JOB_WITH(fields, role)                                                                     \
    "{\"jobName\": \"a\", \"image\": \"b\"" fields ",\n\"taskRoles\": [{" ROLE role "}]}"

static struct description *read_json(const char *source)
{
    return dialects_read(arena, text_of(source), "f.json", &error);
}

static struct description *good(const char *source)
{
    struct description *job = read_json(source);
    if (!job)
        fail_msg("%s\n   was refused: %s", source, error.text);
    return job;
}

static void bad(const char *source, const char *sentence)
{
    if (read_json(source))
        fail_msg("%s\n   was accepted, expected %s", source, sentence);
    if (strcmp(error.text, sentence) != 0)
        fail_msg("%s\n   gave     %s\n   expected %s", source, error.text, sentence);
}

static void assert_text(struct text got, const char *string)
{
    if (!text_is(got, string))
        fail_msg("got \"%.*s\", expected \"%s\"", (int)got.length, got.length ? got.data : "",
                 string);
}

static bool has_note(const struct description *job, const char *field, const char *words)
{
    for (size_t i = 0; i < job->notes.count; i++)
        if (text_is(job->notes.items[i].field, field) &&
            text_contains(job->notes.items[i].sentence, text_of(words)))
            return true;
    return false;
}

static void all_fields_arrive(void **state)
{
    (void)state;
    struct description *job = good(
        "{\"jobName\": \"Night.run_2-b\", \"image\": \"docker.io/team/x:1\",\n"
        "\"authFile\": \"hdfs://h:9000/auth\", \"dataDir\": \"$PAI_DEFAULT_FS_URI/d\",\n"
        "\"outputDir\": \"hdfs://h/o\", \"codeDir\": \"hdfs://h/c\", \"virtualCluster\": \"vc1\",\n"
        "\"gpuType\": \"TITANX\", \"retryCount\": 3,\n"
        "\"jobEnvs\": {\"isDebug\": true, \"EPOCHS\": 3, \"a-b\": \"c\"}, \"extras\": {},\n"
        "\"taskRoles\": [{\"name\": \"ps_server\", \"taskNumber\": 2, \"cpuNumber\": 4,\n"
        "  \"memoryMB\": 8192, \"shmMB\": 128, \"gpuNumber\": 1, \"storageGB\": 5,\n"
        "  \"portList\": [{\"label\": \"web\", \"beginAt\": 8080, \"portNumber\": 2}],\n"
        "  \"command\": \"echo 'a'\\n$HOME\", \"minFailedTaskCount\": 2,\n"
        "  \"minSucceededTaskCount\": 1}]}");
    assert_text(job->name, "Night.run_2-b");
    assert_text(job->library, "any");
    assert_text(job->type, "roles");
    assert_text(job->image, "docker.io/team/x:1");
    assert_text(job->gpu_type, "TITANX");
    assert_int_equal(job->retries, 3);
    assert_text(job->platform.name, "openpai");
    assert_text(job->platform.cluster, "vc1");
    assert_text(job->platform.data, "$PAI_DEFAULT_FS_URI/d");
    assert_text(job->platform.output, "hdfs://h/o");
    assert_text(job->platform.code, "hdfs://h/c");
    assert_text(job->platform.credentials, "hdfs://h:9000/auth");
    assert_true(job->platform.debug);
    assert_int_equal(job->environment.count, 3);
    assert_text(job->environment.variables[1].name, "EPOCHS");
    assert_text(job->environment.variables[1].value, "3");

    assert_int_equal(job->tasks_count, 1);
    const struct task_role *task = &job->tasks[0];
    assert_text(task->name, "ps_server");
    assert_text(task->role, "ps-server");
    assert_int_equal(task->count, 2);
    assert_int_equal(task->cpus, 4000);
    assert_int_equal(task->memory, (int64_t)8192 << 20);
    assert_int_equal(task->shm, 128 << 20);
    assert_int_equal(task->gpus, 1);
    assert_int_equal(task->storage, (int64_t)5 << 30);
    assert_int_equal(task->command_count, 3);
    assert_text(task->command[0], "bash");
    assert_text(task->command[1], "-c");
    assert_text(task->command[2], "echo 'a'\n$HOME");
    assert_int_equal(task->ports_count, 3);
    assert_text(task->ports[0].label, "web");
    assert_int_equal(task->ports[0].first, 8080);
    assert_int_equal(task->ports[0].count, 2);
    assert_text(task->ports[1].label, "http");
    assert_text(task->ports[2].label, "ssh");
    assert_int_equal(job->complete_count, 1);
    assert_text(job->complete[0].role, "ps-server");
    assert_int_equal(job->complete[0].failed, 2);
    assert_int_equal(job->complete[0].succeeded, 1);
    assert_true(has_note(job, "taskRoles[0].portList", "8080"));
}

static void what_is_left_out_has_its_default(void **state)
{
    (void)state;
    struct description *job = good(JOB_WITH("", ""));
    const struct task_role *task = &job->tasks[0];
    assert_int_equal(task->count, 1);
    assert_int_equal(task->cpus, 1000);
    assert_int_equal(task->memory, 100 << 20);
    assert_int_equal(task->shm, 64 << 20);
    assert_int_equal(task->gpus, 0);
    assert_int_equal(task->storage, 0);
    assert_int_equal(task->ports_count, 2);
    assert_int_equal(job->complete[0].failed, 1);
    assert_int_equal(job->complete[0].succeeded, -1);
    assert_int_equal(job->retries, 0);
    assert_false(job->platform.debug);
    assert_int_equal(job->notes.count, 0);
}

static void values_are_taken_as_the_server_takes_them(void **state)
{
    (void)state;
    struct description *job = good(JOB_WITH(
        ", \"virtualCluster\": \"\", \"gpuType\": \"\", \"authFile\": \"\", \"retryCount\": \"-2\","
        "\"tmp\": null, \"jobEnvs\": {\"isDebug\": true}",
        ", \"taskNumber\": \"2\", \"memoryMB\": 200.0, \"shmMB\": 0, "
        "\"minFailedTaskCount\": null, \"minSucceededTaskCount\": \" 2 \""));
    assert_int_equal(job->retries, RETRIES_ALWAYS);
    assert_int_equal(job->tasks[0].count, 2);
    assert_int_equal(job->tasks[0].memory, 200 << 20);
    assert_int_equal(job->tasks[0].shm, 64 << 20);
    assert_int_equal(job->complete[0].failed, -1);
    assert_int_equal(job->complete[0].succeeded, 2);
    assert_true(job->platform.debug);
    assert_int_equal(good(JOB_WITH(", \"retryCount\": -1", ""))->retries, RETRIES_ENDLESS);
    assert_int_equal(good(JOB_WITH(", \"retryCount\": 1000", ""))->retries, 1000);
}

/* The form of SCM writes all of its fields, and one that only it reads. */
static void the_dialect_of_scm(void **state)
{
    (void)state;
    struct description *job = good(JOB_WITH(", \"jobEnvs\": {}, \"extras\": {}, \"tmp\": "
                                            "{\"vgInfo\": {\"\xe5\x90\x8d\xe7\xa7\xb0\": \"t\"}}",
                                            ", \"storageGB\": 5, \"minFailedTaskCount\": null"));
    assert_int_equal(job->tasks[0].storage, (int64_t)5 << 30);
    assert_int_equal(job->notes.count, 2);
    assert_true(has_note(job, "tmp", "no effect"));
    assert_true(has_note(job, "taskRoles[0].minFailedTaskCount", "does not fail"));
}

static void what_has_no_effect_is_noted(void **state)
{
    (void)state;
    struct description *job = good(
        JOB_WITH(", \"killAllOnCompletedTaskNumber\": 1, \"extras\": {\"a.b\": 1},"
                 "\"jobEnvs\": {\"paiAzRDMA\": true, \"1x\": 1, \"DLSPOOL_ID\": 1, \"map\": {}}",
                 ""));
    assert_true(has_note(job, "killAllOnCompletedTaskNumber", "no effect"));
    assert_true(has_note(job, "extras", "no effect"));
    assert_true(has_note(job, "jobEnvs.paiAzRDMA", "no effect"));
    assert_true(has_note(job, "jobEnvs.1x", "left out"));
    assert_true(has_note(job, "jobEnvs.DLSPOOL_ID", "left out"));
    assert_true(has_note(job, "jobEnvs.map", "left out"));
    assert_int_equal(job->environment.count, 2);
    assert_text(job->environment.variables[1].name, "PAI_KILL_ALL_ON_COMPLETED_TASK_NUM");
    assert_text(job->environment.variables[1].value, "1");
    assert_true(
        has_note(good(JOB_WITH(", \"gpuType\": \"K80,P100\"", "")), "gpuType", "no effect"));
    assert_true(has_note(good(JOB_WITH(", \"tmp\": \"\"", "")), "tmp", "no effect"));
}

/* The server looks for true and nothing else; of any other value it makes a variable. */
static void only_true_switches_on(void **state)
{
    (void)state;
    static const char *const others[] = {"\"true\"", "1", "\"\"", "null", "{}"};
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        char source[200];
        snprintf(source, sizeof(source), JOB_WITH(", \"jobEnvs\": {\"isDebug\": %s}", ""),
                 others[i]);
        struct description *job = good(source);
        assert_false(job->platform.debug);
        assert_true(has_note(job, "jobEnvs.isDebug", "only true"));
    }
    struct description *job = good(JOB_WITH(", \"jobEnvs\": {\"isDebug\": false}", ""));
    assert_false(job->platform.debug);
    assert_int_equal(job->notes.count, 0);
}

static void fields_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {JOB_WITH(", \"foo\": 1", ""),
         "f.json:1:32: foo: unknown field; the fields of a job of "
         "OpenPAI's version 1 are jobName, image, authFile, dataDir, outputDir, codeDir, "
         "virtualCluster, taskRoles, gpuType, retryCount, killAllOnCompletedTaskNumber, jobEnvs, "
         "extras, tmp"},
        {JOB_WITH(", \"retryCnt\": 1", ""),
         "f.json:1:32: retryCnt: unknown field; did you mean retryCount?"},
        {JOB_WITH("", ", \"taskNumbr\": 1"),
         "f.json:2:51: taskRoles[0].taskNumbr: unknown field; did you mean taskNumber?"},
        {JOB_WITH(", \"retryCount\": -3", ""),
         "f.json:1:46: retryCount: found -3, expected a whole number from -2 to 2147483647"},
        {JOB_WITH(", \"retryCount\": 1.5", ""),
         "f.json:1:46: retryCount: found 1.5, expected a whole number from -2 to 2147483647"},
        {JOB_WITH(", \"dataDir\": null", ""), "f.json:1:43: dataDir: found null, expected a value; "
                                              "leave the field out for its default"},
        {JOB_WITH(", \"codeDir\": 3", ""),
         "f.json:1:43: codeDir: found 3, expected a text of one line"},
        {JOB_WITH(", \"gpuType\": \"a b\"", ""),
         "f.json:1:43: gpuType: found \"a b\", expected a text of at most 256 bytes without "
         "blanks"},
        {JOB_WITH(", \"jobEnvs\": []", ""), "f.json:1:43: jobEnvs: found a list, expected a map"},
        {JOB_WITH(", \"jobEnvs\": {\"--\": 1}", ""),
         "f.json:1:44: jobEnvs.--: found a name without letters and digits, expected some"},
        {JOB_WITH("", ", \"taskNumber\": 0"), "f.json:2:65: taskRoles[0].taskNumber: found 0, "
                                              "expected a whole number from 1 to 10000"},
        {JOB_WITH("", ", \"cpuNumber\": 0"), "f.json:2:64: taskRoles[0].cpuNumber: found 0, "
                                             "expected a whole number from 1 to 100000"},
        {JOB_WITH("", ", \"cpuNumber\": \"two\""),
         "f.json:2:64: taskRoles[0].cpuNumber: found "
         "\"two\", expected a whole number from 1 to 100000"},
        {JOB_WITH("", ", \"memoryMB\": 99"), "f.json:2:63: taskRoles[0].memoryMB: found 99, "
                                             "expected a whole number from 100 to 268435456"},
        {JOB_WITH("", ", \"gpuNumber\": -1"), "f.json:2:64: taskRoles[0].gpuNumber: found -1, "
                                              "expected a whole number from 0 to 1024"},
        {JOB_WITH("", ", \"taskNumber\": true"),
         "f.json:2:65: taskRoles[0].taskNumber: found true, "
         "expected a whole number from 1 to 10000"},
        {JOB_WITH("", ", \"shmMB\": 101"),
         "f.json:2:60: taskRoles[0].shmMB: found 101, expected at "
         "most memoryMB, 100 (the default)"},
        {JOB_WITH("", ", \"minFailedTaskCount\": 2"),
         "f.json:2:73: "
         "taskRoles[0].minFailedTaskCount: found 2, expected at most 1, the role's taskNumber"},
        {JOB_WITH("", ", \"minSucceededTaskCount\": 2"),
         "f.json:2:76: "
         "taskRoles[0].minSucceededTaskCount: found 2, expected at most 1, the role's taskNumber"},
        {JOB_WITH("", ", \"minSucceededTaskCount\": 0"),
         "f.json:2:76: "
         "taskRoles[0].minSucceededTaskCount: found 0, expected a whole number from 1 to 10000"},
        {JOB_WITH("", ", \"portList\": null"),
         "f.json:2:63: taskRoles[0].portList: found null, "
         "expected a value; leave the field out for its default"},
        {JOB_WITH("", ", \"portList\": [1]"), "f.json:2:64: taskRoles[0].portList[0]: found 1, "
                                              "expected a map such as {\"label\": \"http\"}"},
        {JOB_WITH("", ", \"portList\": [{}]"),
         "f.json:2:64: taskRoles[0].portList[0].label: "
         "missing, expected the name of the ports, such as http"},
        {JOB_WITH("", ", \"portList\": [{\"label\": \"a-b\"}]"),
         "f.json:2:74: "
         "taskRoles[0].portList[0].label: found \"a-b\", expected 1 to 255 letters, digits and . _ "
         "~"},
        {JOB_WITH("", ", \"portList\": [{\"label\": \"a\", \"beginAt\": -1}]"),
         "f.json:2:90: "
         "taskRoles[0].portList[0].beginAt: found -1, expected a whole number from 0 to 65535"},
        {JOB_WITH("", ", \"portList\": [{\"label\": \"a\", \"portNumber\": 0}]"),
         "f.json:2:93: "
         "taskRoles[0].portList[0].portNumber: found 0, expected a whole number from 1 to 10000"},
        {JOB_WITH("", ", \"portList\": [{\"label\": \"a\", \"beginAt\": 65530, "
                      "\"portNumber\": 7}]"),
         "f.json:2:64: taskRoles[0].portList[0].beginAt: found ports 65530 to 65536, expected none "
         "above 65535"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        bad(cases[i].source, cases[i].sentence);
}

static void names_that_are_wrong(void **state)
{
    (void)state;
    static const char role[] = ", \"image\": \"b\", \"taskRoles\": [{" ROLE "}]}";
    char source[600];
    static const char *const names[] = {"a~b", "a b", "a/b", "", "\\u00e4"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        snprintf(source, sizeof(source), "{\"jobName\": \"%s\"%s", names[i], role);
        assert_null(read_json(source));
        assert_non_null(strstr(error.text, "f.json:1:13: jobName: found \""));
    }
    static const char *const roles[] = {"a-b", "a b", "a/b", ""};
    for (size_t i = 0; i < ARRAY_COUNT(roles); i++) {
        snprintf(source, sizeof(source),
                 "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": "
                 "[{\"name\": \"%s\", \"command\": \"c\"}]}",
                 roles[i]);
        assert_null(read_json(source));
        assert_non_null(strstr(error.text, "taskRoles[0].name: found \""));
    }
    good("{\"jobName\": \"-a.B_\", \"image\": \"b\", \"taskRoles\": [{" ROLE "}]}");
    struct description *job = good("{\"jobName\": \"a\", \"image\": \" b:1 \", \"taskRoles\": "
                                   "[{\"name\": \"a.b~c\", \"command\": \"c\"}]}");
    assert_text(job->image, "b:1");
    assert_text(job->tasks[0].role, "a-b-c");
    assert_true(has_note(job, "taskRoles[0].name", "no shell"));
}

static void what_is_missing(void **state)
{
    (void)state;
    bad("{\"jobName\": \"a\"}",
        "f.json:1:1: image: missing, expected the name of an image\n"
        "f.json:1:1: taskRoles: missing, expected a list of one or more task roles");
    bad("{\"image\": \"b\", \"taskRoles\": [{" ROLE "}]}",
        "f.json:1:1: jobName: missing, expected the job's name");
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": []}",
        "f.json:1:45: taskRoles: found an empty list, expected one of at least 1");
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": {}}",
        "f.json:1:45: taskRoles: found a map, expected a list");
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [\"x\"]}",
        "f.json:1:46: taskRoles[0]: found \"x\", expected a map of the role's fields");
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{}]}",
        "f.json:1:46: taskRoles[0].name: missing, expected the role's name\n"
        "f.json:1:46: taskRoles[0].command: missing, expected the command that its tasks run");
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"w\", \"command\": \" "
        "\"}]}",
        "f.json:1:71: taskRoles[0].command: found an empty text, expected a command");
    bad("{\"jobName\": \"a\", \"image\": \"\", \"taskRoles\": [{" ROLE "}]}",
        "f.json:1:27: image: found \"\", expected an image reference such as "
        "registry.example.org/pytorch:2.1");
}

static void roles_are_told_apart(void **state)
{
    (void)state;
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{" ROLE "},\n{" ROLE "}]}",
        "f.json:2:10: taskRoles[1].name: found \"main\" a second time, expected a name for each "
        "role");
    struct description *job =
        good("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [\n"
             "{\"name\": \"A_long_role_name_here\", \"command\": \"c\"},\n"
             "{\"name\": \"a.long.role.name.there\", \"command\": \"c\"},\n"
             "{\"name\": \"1\", \"command\": \"c\"}, {\"name\": \"~\", \"command\": \"c\"},\n"
             "{\"name\": \"r1\", \"command\": \"c\"}, {\"name\": \"R1\", \"command\": \"c\"},\n"
             "{\"name\": \"r1_2\", \"command\": \"c\"}]}");
    static const char *const labels[] = {
        "a-long-role-nam", "a-long-role-n-2", "r1", "role", "r1-2", "r1-3", "r1-2-2"};
    assert_int_equal(job->tasks_count, 7);
    for (size_t i = 0; i < job->tasks_count; i++)
        assert_text(job->tasks[i].role, labels[i]);
    assert_text(job->tasks[0].name, "A_long_role_name_here");
}

static void comments_outside_strings(void **state)
{
    (void)state;
    struct description *job = good("// first \"quoted\" { [\n"
                                   "{\"jobName\": \"a\", // it's \"here\n"
                                   "\"image\": \"b\",\n"
                                   "\"dataDir\": \"hdfs://h:1/x\\\\\", // c\n"
                                   "\"taskRoles\": [{\"name\": \"w\", // \xff\xfe\n"
                                   "\"command\": \"curl http://x // \\\" y\"}]}// last");
    assert_text(job->platform.data, "hdfs://h:1/x\\");
    assert_text(job->tasks[0].command[2], "curl http://x // \" y");
    bad("{\"jobName\": \"a\", // one\n  \"image\": 3,\n \"taskRoles\": [{" ROLE "}]}",
        "f.json:2:12: image: found 3, expected an image reference such as "
        "registry.example.org/pytorch:2.1");
    bad("{\"name\": \"a\", \"library\": \"any\",\n \"type\": \"single\", // no\n \"script\": "
        "\"x\"}",
        "f.json:2:20: found a comment, expected JSON, which has none; in YAML it starts with #");
    assert_null(read_json("{\"jobName\": \"a\" /* no */}"));
}

static void append_role(struct buffer *source, int number)
{
    buffer_printf(source, "%s{\"name\": \"role_%d\", \"command\": \"c\"}", number ? "," : "",
                  number);
}

static void many_tasks(void **state)
{
    (void)state;
    assert_int_equal(good(JOB_WITH("", ", \"taskNumber\": 500"))->tasks[0].count, 500);
    struct buffer source = {0};
    buffer_add_string(&source, "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [");
    for (int i = 0; i < 500; i++)
        append_role(&source, i);
    buffer_add_string(&source, "]}");
    struct description *job = good(source.data);
    assert_int_equal(job->tasks_count, 500);
    assert_text(job->tasks[499].role, "role-499");
    buffer_free(&source);
    bad("{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"a\", \"command\": "
        "\"c\", "
        "\"taskNumber\": 9999}, {\"name\": \"b\", \"command\": \"c\", \"taskNumber\": 2}]}",
        "f.json:1:45: taskRoles: found 10001 tasks in all roles, expected at most 10000");
    bad(JOB_WITH("", ", \"taskNumber\": 10, \"portList\": [{\"label\": \"a\", "
                     "\"portNumber\": 1000}]"),
        "f.json:2:14: taskRoles: found 10020 ports for all tasks, expected at most 10000");
}

/* A command may be as long as the kernel takes one; a file may have 1 MiB. */
static void a_mebibyte(void **state)
{
    (void)state;
    enum { WORD = 32 * 4096 - 1, FILE_MOST = 1 << 20 };
    char *word = test_malloc(FILE_MOST + 1);
    memset(word, 'x', FILE_MOST);
    word[WORD] = '\0';
    struct buffer source = {0};
    buffer_printf(&source,
                  "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"w\", "
                  "\"command\": \"%s\"}]}",
                  word);
    assert_int_equal(good(source.data)->tasks[0].command[2].length, WORD);
    buffer_clear(&source);
    buffer_printf(&source,
                  "{\"jobName\": \"a\", \"image\": \"b\", \"taskRoles\": [{\"name\": \"w\", "
                  "\"command\": \"y%s\"}]}",
                  word);
    bad(source.data, "f.json:1:71: taskRoles[0].command: found 131072 bytes, expected a command of "
                     "at most 131071");
    word[WORD] = 'x';
    word[FILE_MOST] = '\0';
    buffer_clear(&source);
    buffer_printf(&source, JOB_WITH("", "") " // %s", word);
    assert_null(dialects_read(arena, buffer_text(&source), "f.json", &error));
    buffer_free(&source);
    test_free(word);
}

/* Files that ran on a cluster of OpenPAI. */
static size_t read_files(const char *directory)
{
    struct dirent *entry;
    size_t count = 0;
    DIR *stream = opendir(directory);
    while (stream && (entry = readdir(stream))) {
        char path[4096], bytes[1 << 16];
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (!text_ends(text_of(entry->d_name), ".json"))
            continue;
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t length = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        if (!dialects_read(arena, (struct text){bytes, length}, entry->d_name, &error))
            fail_msg("%s was refused: %s", path, error.text);
        count++;
    }
    if (stream)
        closedir(stream);
    return count;
}

static void files_of_clusters(void **state)
{
    (void)state;
    char path[4096];
    const char *shared = getenv("DLSPOOL_SHARED");
    assert_int_equal(read_files("examples/openpai"), 1);
    snprintf(path, sizeof(path), "%s/data/openpai/seed", shared ? shared : "../shared");
    size_t count = read_files(path);
    snprintf(path, sizeof(path), "%s/data/openpai/v1", shared ? shared : "../shared");
    count += read_files(path);
    if (count == 0) {
        print_message("skipped: no files of clusters are here\n");
        skip();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_fields_arrive),
        TEST(what_is_left_out_has_its_default),
        TEST(values_are_taken_as_the_server_takes_them),
        TEST(the_dialect_of_scm),
        TEST(what_has_no_effect_is_noted),
        TEST(only_true_switches_on),
        TEST(fields_that_are_wrong),
        TEST(names_that_are_wrong),
        TEST(what_is_missing),
        TEST(roles_are_told_apart),
        TEST(comments_outside_strings),
        TEST(many_tasks),
        TEST(a_mebibyte),
        TEST(files_of_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
