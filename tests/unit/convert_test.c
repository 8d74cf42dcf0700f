/* tests/unit/convert_test.c - job files of other systems as job files of dlspool's own
 *
 * Every file of the corpora that is a job of another system is converted, and what comes out is a
 * job file that, converted again, stays as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "request/convert.h"
#include "request/dialects/dialects.h"

static struct error error;

static struct value *converted(struct arena *arena, struct text source, const char *name,
                               struct buffer *out)
{
    struct description *job = dialects_read(arena, source, name, &error);
    if (!job)
        return NULL;
    struct value *tree = convert_description(arena, job);
    assert_int_equal(yaml_write(out, tree, &error), 0);
    return tree;
}

/* Whether the file is a job. */
static bool check(const char *path)
{
    struct arena *arena = arena_new();
    struct buffer source = {0}, once = {0}, twice = {0};
    assert_int_equal(file_read_at(AT_FDCWD, path, 1 << 20, &source, &error), 0);
    struct value *tree = converted(arena, buffer_text(&source), path, &once);
    if (tree) {
        struct value *again = converted(arena, buffer_text(&once), "b.yaml", &twice);
        if (!again)
            fail_msg("%s: %s\n%s", path, error.text, once.data);
        if (!value_equal(tree, again))
            fail_msg("%s becomes\n%s\nand then\n%s", path, once.data, twice.data);
    }
    buffer_free(&source);
    buffer_free(&once);
    buffer_free(&twice);
    arena_free(arena);
    return tree != NULL;
}

static void every_sample_becomes_a_job_file_of_ones_own(void **state)
{
    (void)state;
    static const char *const corpora[] = {"tests/fuzz/corpus/openpai",
                                          "tests/fuzz/corpus/request_openpai_v2",
                                          "tests/fuzz/corpus/request_dlworkspace",
                                          "tests/fuzz/corpus/request_sbatch", "examples/openpai"};
    for (size_t i = 0; i < ARRAY_COUNT(corpora); i++) {
        int jobs = 0;
        DIR *directory = opendir(corpora[i]);
        assert_non_null(directory);
        for (struct dirent *entry; (entry = readdir(directory));) {
            char path[512];
            snprintf(path, sizeof(path), "%s/%s", corpora[i], entry->d_name);
            jobs += entry->d_name[0] != '.' && check(path);
        }
        closedir(directory);
        if (jobs == 0)
            fail_msg("%s holds no job", corpora[i]);
    }
}

static void what_it_asks_for_is_kept(void **state)
{
    (void)state;
    static const char source[] =
        "{\"jobName\": \"a\", \"image\": \"i/j\", \"retryCount\": -2, \"taskRoles\": [{\"name\": "
        "\"w_1\", "
        "\"taskNumber\": 3, \"cpuNumber\": 2, \"memoryMB\": 1024, \"gpuNumber\": 1, "
        "\"minSucceededTaskCount\": 2, \"command\": \"echo a; echo b\"}], \"jobEnvs\": {\"A\": "
        "\"1\"}}";
    struct arena *arena = arena_new();
    struct buffer out = {0};
    assert_non_null(converted(arena, text_of(source), "a.json", &out));
    struct description *job = dialects_read(arena, buffer_text(&out), "b.yaml", &error);
    assert_non_null(job);
    const struct task_role *task = &job->tasks[0];
    assert_true(text_is(task->role, "w-1") && text_is(job->image, "i/j"));
    assert_int_equal(task->count, 3);
    assert_int_equal(task->cpus, 2000);
    assert_int_equal(task->memory, 1024 << 20);
    assert_int_equal(task->gpus, 1);
    assert_int_equal(job->retries, 100);
    assert_int_equal(job->complete[0].succeeded, 2);
    assert_true(text_is(task->command[2], "echo a; echo b"));
    assert_true(text_is(job->environment.variables[0].value, "1"));
    buffer_free(&out);
    arena_free(arena);
}

static void what_a_batch_script_asks_for_is_kept(void **state)
{
    (void)state;
    static const char source[] = "#!/bin/bash\n"
                                 "#SBATCH -J train -t 1:30:00 -c 4 --mem=5000K -a 7 -H --nice=5\n"
                                 "#SBATCH -d afterok:a,afternotok:b -p gpu -D /srv/out\n"
                                 "#SBATCH --mail-type=END,FAIL --mail-user=ann@example.org\n"
                                 "#DL checkpoint={signal: USR1}\n"
                                 "#DL args=[x]\n"
                                 "#DL retries=2\n"
                                 "echo hello\n";
    struct arena *arena = arena_new();
    struct buffer out = {0};
    struct description *job = dialects_read(arena, text_of(source), "a.sh", &error);
    if (!job)
        fail_msg("%s", error.text);
    struct value *tree = convert_description(arena, job);
    static const char *const left_out[] = {"args", "checkpoint", "queue", "env"};
    assert_true(job->notes.count >= ARRAY_COUNT(left_out));
    for (size_t i = 0; i < ARRAY_COUNT(left_out); i++)
        assert_true(text_is(job->notes.items[job->notes.count - ARRAY_COUNT(left_out) + i].field,
                            left_out[i]));
    assert_int_equal(yaml_write(&out, tree, &error), 0);
    job = dialects_read(arena, buffer_text(&out), "b.yaml", &error);
    if (!job)
        fail_msg("%s", error.text);
    assert_true(text_is(job->name, "train") && text_is(job->output, "/srv/out"));
    assert_true(text_is(job->script, source));
    assert_int_equal(job->time_limit, 90 * 60 * 1000);
    assert_int_equal(job->tasks[0].cpus, 4000);
    assert_int_equal(job->tasks[0].memory, 5000 << 10);
    assert_int_equal(job->array.indexes[0], 7);
    assert_int_equal(job->after_count, 2);
    assert_int_equal(job->after[1].condition, AFTER_NOT_OK);
    assert_int_equal(job->priority, -5);
    assert_int_equal(job->retries, 2);
    assert_true(job->hold);
    assert_int_equal(job->messages.events, 1u << MESSAGE_END | 1u << MESSAGE_FAIL);
    assert_true(text_is(job->messages.mail, "ann@example.org"));
    buffer_free(&out);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_batch_script_asks_for_is_kept),
        cmocka_unit_test(every_sample_becomes_a_job_file_of_ones_own),
        cmocka_unit_test(what_it_asks_for_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
