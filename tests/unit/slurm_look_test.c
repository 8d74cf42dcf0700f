/* tests/unit/slurm_look_test.c - a batch script looks for what the job file names before any task
 * starts
 *
 * Jobs are rendered for Slurm, and bash runs their whole scripts (tests/unit/slurm_node.bash).
 */
#include "base/file.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executors/slurm/manifest.h"
#include "renderer/context.h"
#include "renderer/manifest.h"
#include "tests/unit/scratch_repository.h"

enum { TASKS = 2 };

static struct scratch scratch;
static struct repository *repository;
static struct arena *arena;
static char directory[128];

static struct text path_of(const char *name)
{
    return name ? arena_printf(arena, "%s/%s", scratch.path, name) : (struct text){"", 0};
}

static void make(const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", scratch.path, name);
    if (!content) {
        assert_int_equal(mkdir(path, 0755), 0);
        return;
    }
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(content, stream);
    fclose(stream);
}

/* What a job names, below the scratch directory; NULL: nothing. */
struct paths {
    const char *program, *entry, *dataset, *output, *command;
};

static struct slurm_manifest *render(const struct paths *paths)
{
    const struct text words[] = {text_of(paths->command)};
    struct context_role role = {.role = TEXT("worker"),
                                .count = TASKS,
                                .cpus = 1000,
                                .memory = 1 << 20,
                                .command = words,
                                .command_count = paths->command != NULL};
    struct context_job context = {.id = TEXT("look-0123456789abc"),
                                  .name = TEXT("look"),
                                  .owner = TEXT("ann"),
                                  .library = TEXT("any"),
                                  .type = TEXT("distributed"),
                                  .program = path_of(paths->program),
                                  .entry = text_of(paths->entry),
                                  .dataset = path_of(paths->dataset),
                                  .output = path_of(paths->output),
                                  .env = value_object(arena),
                                  .attempt = 1,
                                  .roles = &role,
                                  .roles_count = 1};
    struct render_result result = {0};
    enum render_failure failure;
    struct error error;
    if (manifest_render_with(arena, repository, "slurm/any/distributed.yaml", TEXT("host"),
                             context_job(arena, &context), 0, &result, &failure, &error))
        fail_msg("%s", error.text);
    struct slurm_manifest *manifest = slurm_manifest_read(arena, result.manifest, &error);
    if (!manifest)
        fail_msg("%s", error.text);
    return manifest;
}

static char *read_whole(const char *name)
{
    char path[256];
    struct buffer out = {0};
    struct error error;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    buffer_add(&out, "", 0);
    file_read_at(AT_FDCWD, path, 1 << 20, &out, &error);
    return out.data;
}

/* Run it; each task has ended with that, and has printed nothing but words (a prefix), and srun was
 * asked or not. */
static void expect(const struct paths *paths, const char *ended, const char *words, bool begun)
{
    const struct slurm_manifest *manifest = render(paths);
    char command[1024], path[160];
    snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", directory, directory);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/.script", directory);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fwrite(manifest->script.data, 1, manifest->script.length, stream);
    fclose(stream);
    snprintf(command, sizeof(command),
             "env -i timeout 60 bash tests/unit/slurm_node.bash %s %s batch", path, directory);
    (void)!system(command);
    for (int task = 0; task < TASKS; task++) {
        char name[32];
        snprintf(name, sizeof(name), "worker-%d.ended", task);
        char *end = read_whole(name);
        snprintf(name, sizeof(name), "worker-%d.log", task);
        char *log = read_whole(name);
        if (strcmp(end, ended) != 0 || strncmp(log, words, strlen(words)) != 0)
            fail_msg("ended %s, and printed %s, expected %s", end, log, words);
        free(end);
        free(log);
    }
    snprintf(path, sizeof(path), "%s/.srun-words", directory);
    assert_int_equal(access(path, F_OK) == 0, begun);
}

/* "dlspool: " BEFORE path AFTER */
static const char *says(const char *before, const char *name, const char *after)
{
    return arena_printf(arena, "dlspool: %s%s/%s%s", before, scratch.path, name, after).data;
}

static void what_is_not_there_is_told_before_anything_starts(void **state)
{
    (void)state;
    expect(
        &(struct paths){.program = "code", .entry = "tran.sh"}, "195\n",
        says("entry: ", "code/tran.sh", ": No such file or directory (checked on node0 as user "),
        false);
    expect(&(struct paths){.program = "code", .entry = "train.sh/x.sh"}, "195\n",
           says("entry: ", "code/train.sh/x.sh", ": Not a directory (checked"), false);
    expect(&(struct paths){.program = "code", .entry = "inner"}, "195\n",
           says("entry: ", "code/inner", ": it is a directory; name the file"), false);
    expect(&(struct paths){.program = "cod/a/b", .entry = "train.sh"}, "195\n",
           says("program: ", "cod/a/b", ": No such file"), false);
    expect(&(struct paths){.program = "code", .entry = "train.sh", .dataset = "nothing 'x'"},
           "195\n", says("dataset: ", "nothing 'x'", ": No such file"), false);
    expect(&(struct paths){.program = "code", .entry = "train.sh", .output = "nothing"}, "195\n",
           says("output: ", "nothing", ": No such file"), false);
}

/* Another node may have it mounted. */
static void what_may_be_on_another_node_is_tried_again(void **state)
{
    (void)state;
    expect(&(struct paths){.program = "empty/code", .entry = "train.sh"}, "193 NodeRefused\n",
           says("", "empty/code", " cannot be reached on node0: No such file"), false);
    expect(&(struct paths){.program = "empty", .entry = "train.sh"}, "193 NodeRefused\n",
           says("", "empty/train.sh", " cannot be reached on node0"), false);
}

static void what_is_there_runs(void **state)
{
    (void)state;
    expect(
        &(struct paths){
            .program = "code", .entry = "train.sh", .dataset = "code", .output = "empty"},
        "0\n", "trained\n", true);
    expect(&(struct paths){.program = "code", .entry = "tran.sh", .command = "pwd"}, "0\n", "",
           true);
    expect(&(struct paths){.command = "true"}, "0\n", "", true);
}

static int set_up(void **state)
{
    (void)state;
    struct error error;
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    scratch_commit(&scratch);
    arena = arena_new();
    repository = repository_open(scratch.path, "HEAD", &error);
    if (!repository || repository_refresh(repository, &error))
        return -1;
    snprintf(directory, sizeof(directory), "%s/node", scratch.path);
    make("code", NULL);
    make("code/inner", NULL);
    make("code/train.sh", "echo trained\n");
    make("empty", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    arena_free(arena);
    scratch_close(&scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_told_before_anything_starts),
        cmocka_unit_test(what_may_be_on_another_node_is_tried_again),
        cmocka_unit_test(what_is_there_runs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
