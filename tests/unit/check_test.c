/* tests/unit/check_test.c - what is wrong with a commit is found, all of it, with file and line */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/check.h"
#include "renderer/samples.h"
#include "tests/unit/scratch_repository.h"

static struct scratch scratch;
static struct buffer report;
static struct check_result result;

static int set_up(void **state)
{
    (void)state;
    scratch_open(&scratch);
    scratch_put(&scratch, "images.txt", "* * * * host\n");
    scratch_put(&scratch, "site.yaml", "colour: red\n");
    scratch_put(&scratch, "retry.txt", "exit 1 unknown\n");
    scratch_put(&scratch, "common/part.yaml",
                "{name: '${job.name}', index: {$eval: task.index}}\n");
    scratch_put(&scratch, "local/any/single.yaml",
                "tasks:\n"
                "  $map: {$eval: job.tasks}\n"
                "  each(task): {$include: common/part.yaml}\n");
    buffer_clear(&report);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_close(&scratch);
    return 0;
}

static int check_with(const struct check_options *options)
{
    struct error error;
    buffer_clear(&report);
    scratch_commit(&scratch);
    struct repository *repository = repository_open(scratch.path, "HEAD", &error);
    assert_non_null(repository);
    repository_serve_faulty(repository);
    assert_int_equal(repository_refresh(repository, &error), 0);
    int outcome = check_repository(repository, options, &report, &result);
    repository_close(repository);
    return outcome;
}

static void expect_clean(void)
{
    int outcome = check_with(NULL);
    if (outcome || report.length)
        print_message("%s", report.data);
    assert_int_equal(outcome, 0);
    assert_int_equal(result.problems, 0);
}

/* The commit has one problem, and this is the beginning of its line. */
static void expect_problem(const char *line)
{
    assert_int_equal(check_with(NULL), -1);
    if (strncmp(report.data, line, strlen(line)) != 0 || result.problems != 1)
        print_message("got %zu:\n%swanted: %s\n", result.problems, report.data, line);
    assert_int_equal(result.problems, 1);
    assert_int_equal(strncmp(report.data, line, strlen(line)), 0);
}

static void expect_warning(const char *line)
{
    assert_int_equal(check_with(NULL), 0);
    if (!report.data || !strstr(report.data, line))
        print_message("got:\n%swanted: %s\n", report.data ? report.data : "", line);
    assert_int_equal(result.warnings, 1);
    assert_non_null(strstr(report.data, line));
}

static void a_sound_commit_has_no_findings(void **state)
{
    (void)state;
    expect_clean();
    assert_int_equal(result.warnings, 0);
    assert_int_equal(result.templates, 1);
    assert_true(result.renderings > 100);
}

static void what_a_new_spool_starts_with_is_sound(void **state)
{
    (void)state;
    struct scratch kept = scratch;
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    expect_clean();
    assert_int_equal(result.warnings, 0);
    assert_true(result.templates >= 7);
    /* Libraries differ so little that two of three manifests are the same as another. */
    assert_true(result.manifests > 10000 && result.looked_at * 3 < result.manifests);
    scratch_close(&scratch);
    scratch = kept;
}

static void wrong_tables_are_found(void **state)
{
    (void)state;
    scratch_put(&scratch, "images.txt", "* * * * host\nx * * y\n");
    expect_problem("images.txt:2: 4 columns, expected 5");
    scratch_put(&scratch, "images.txt", "* * * * host\n");
    scratch_put(&scratch, "retry.txt", "exit 1 forever\n");
    expect_problem("retry.txt:1: the class is \"forever\"");
    scratch_put(&scratch, "retry.txt", "exit 1 unknown\n");
    scratch_put(&scratch, "site.yaml", "ports: {first: 1}\n");
    expect_problem("site.yaml:1:8: ports: expected {first, last}, numbers from 1 to 65535");
    scratch_put(&scratch, "site.yaml", "openpai:\n  paths: [{prefix: a, path: b}]\n");
    expect_problem("site.yaml:2:10: openpai.paths: expected a list of {prefix, path}, each path an "
                   "absolute one");
    scratch_put(&scratch, "site.yaml", "openpai: {images: [1]}\n");
    expect_problem("site.yaml:1:19: openpai.images: expected true, false, or a list of names");
    scratch_put(&scratch, "site.yaml", "openpai: {unmapped: stop}\n");
    expect_problem("site.yaml:1:21: openpai.unmapped: expected note or refuse");
    scratch_put(&scratch, "site.yaml", "kubernetes: {home: nfs}\n");
    expect_problem("site.yaml:1:20: kubernetes.home: expected user or none");
    scratch_put(&scratch, "site.yaml", "a: 1\na: 2\n");
    expect_problem("site.yaml:2:1: the key \"a\" is given twice");
    scratch_remove(&scratch, "site.yaml");
    expect_problem("site.yaml:1: site.yaml is missing");
}

static void faults_of_templates_are_found(void **state)
{
    (void)state;
    scratch_put(&scratch, "local/any/single.yaml", "a: [\n");
    expect_problem("local/any/single.yaml:2:1: ");
    scratch_put(&scratch, "local/any/single.yaml", "a: b\nc: ${1 +}\n");
    expect_problem("local/any/single.yaml:2:");
    scratch_put(&scratch, "local/any/single.yaml", "a: b\nc: ${jobb.name}\n");
    expect_problem("local/any/single.yaml:2:");
    scratch_put(&scratch, "local/any/single.yaml", "a: b\nc: {$eval: job.nam}\n");
    expect_problem("local/any/single.yaml:2:");
    scratch_put(&scratch, "local/any/single.yaml", "a: {$include: common/none.yaml}\n");
    expect_problem("local/any/single.yaml:1:");
    scratch_put(&scratch, "local/any/single.yaml", "a: b\n");
    scratch_put(&scratch, "common/other.yaml", "a: {$include: common/none.yaml}\n");
    expect_problem("common/other.yaml:1:4: $include: there is no file common/none.yaml");
    scratch_remove(&scratch, "common/other.yaml");
    scratch_put(&scratch, "local/any/single.yaml", "a: {$include: common/part.yaml}\n");
    expect_problem("common/part.yaml:1:");
    scratch_put(&scratch, "local/any/single.yaml", "a: b\n");
    expect_clean();
    scratch_put(&scratch, "common/part.yaml", "a: ${(}\n");
    expect_problem("common/part.yaml:1:");
}

/* A fault that only some jobs meet. */
static void what_only_some_jobs_reach_is_found(void **state)
{
    (void)state;
    const char *conditions[] = {
        "job.dataset",          "!(job.dataset)",    "job.output",
        "job.script",           "!(job.script)",     "job.program && !(job.entry)",
        "job.tasks[0].command", "job.gpu_type",      "job.tasks[0].shm",
        "!(job.tasks[0].shm)",  "job.time_limit",    "job.args",
        "image == \"host\"",    "image != \"host\"", "job.version"};
    for (size_t i = 0; i < ARRAY_COUNT(conditions); i++) {
        char template[256];
        snprintf(template, sizeof(template), "a: b\nc:\n  $if: '%s'\n  then: ${nobody}\n",
                 conditions[i]);
        scratch_put(&scratch, "local/any/single.yaml", template);
        expect_problem("local/any/single.yaml:4:");
    }
}

static void every_problem_is_reported_once(void **state)
{
    (void)state;
    scratch_put(&scratch, "images.txt", "a\nb\n");
    scratch_put(&scratch, "common/part.yaml", "${nobody}\n");
    scratch_put(&scratch, "local/any/distributed.yaml", "a: {$include: common/part.yaml}\n");
    scratch_put(&scratch, "other.yaml", "a: ${)}\n");
    assert_int_equal(check_with(NULL), -1);
    if (result.problems != 4)
        print_message("%s", report.data);
    assert_int_equal(result.problems, 4);
}

static void doubtful_things_are_warnings(void **state)
{
    (void)state;
    scratch_put(&scratch, "images.txt", "any * single * host\npytorch * * * host\n");
    scratch_put(&scratch, "local/mxnet/single.yaml", "a: b\n");
    expect_warning("local/mxnet/single.yaml:1: warning: no row of images.txt fits library mxnet "
                   "and type single");
    scratch_remove(&scratch, "local/mxnet/single.yaml");
    scratch_put(&scratch, "local/pytorch/distribted.yaml", "a: b\n");
    expect_warning("local/pytorch/distribted.yaml:1: warning: distribted is no job type that is "
                   "known; did you mean distributed?");
    scratch_remove(&scratch, "local/pytorch/distribted.yaml");
    scratch_put(&scratch, "local/pytorch/single.yml", "a: b\n");
    expect_warning("local/pytorch/single.yml:1: warning: it is not read");
    scratch_remove(&scratch, "local/pytorch/single.yml");
    scratch_remove(&scratch, "retry.txt");
    expect_warning("retry.txt:1: warning: it is missing");
    scratch_put(&scratch, "retry.txt", "");
    scratch_put(&scratch, "local/any/single.yaml", "$eval: refuse(\"no\")\n");
    expect_warning("local/any/single.yaml:1: warning: it refuses every sample job");
}

static void links_and_large_files_are_problems(void **state)
{
    (void)state;
    scratch_put_as(&scratch, "local/any/ps.yaml", "single.yaml", 11, 0120000);
    expect_problem("local/any/ps.yaml:1: local/any/ps.yaml cannot be used: it is a symbolic link");
}

static int refuse_manifest(void *context, const char *executor, struct text manifest,
                           struct value *tree, struct error *error)
{
    assert_string_equal(executor, "local");
    assert_true(manifest.length > 0 && tree->kind == VALUE_OBJECT);
    ++*(int *)context;
    return error_set(error, "tasks[0]: no");
}

static void the_executor_is_asked(void **state)
{
    (void)state;
    int calls = 0;
    struct check_options options = {.accept = refuse_manifest, .accept_context = &calls};
    assert_int_equal(check_with(&options), -1);
    assert_int_equal(result.problems, 1);
    assert_true(calls > 0);
    assert_non_null(strstr(report.data, "local/any/single.yaml:1: the executor refuses the "
                                        "manifest: tasks[0]: no [a Python entry"));
}

/* Which manifests an executor refuses: those in which this stands. */
static int refuse_some(void *context, const char *executor, struct text manifest,
                       struct value *tree, struct error *error)
{
    (void)executor, (void)tree;
    if (!text_contains(manifest, text_of(context)))
        return 0;
    return error_set(error, "it holds \"%s\"", (const char *)context);
}

/* The same for one that only perhaps refuses them. */
static int doubt_some(void *context, const char *executor, struct text manifest, struct value *tree,
                      struct error *error)
{
    return -refuse_some(context, executor, manifest, tree, error);
}

static size_t count_lines_with(const char *words)
{
    struct text rest = buffer_text(&report), line;
    size_t count = 0;
    while (text_next(&rest, '\n', &line))
        count += text_contains(line, text_of(words));
    return count;
}

/* The same for one whose process ends. */
static int end_over_some(void *context, const char *executor, struct text manifest,
                         struct value *tree, struct error *error)
{
    (void)executor, (void)tree, (void)error;
    if (text_contains(manifest, text_of(context)))
        raise(SIGKILL);
    return 0;
}

static void put_three_libraries(const char *first, const char *second, const char *third)
{
    scratch_put(&scratch, "local/caffe/single.yaml", first);
    scratch_put(&scratch, "local/keras/single.yaml", second);
    scratch_put(&scratch, "local/mxnet/single.yaml", third);
}

static const char same[] = "a: {$eval: job.name}\nb: 1\n";

static void the_same_manifest_is_looked_at_once(void **state)
{
    (void)state;
    struct check_options options = {.accept = refuse_some, .accept_context = (char[]){"nothing"}};
    scratch_remove(&scratch, "local/any/single.yaml");
    put_three_libraries(same, same, same);
    assert_int_equal(check_with(&options), 0);
    assert_int_equal(result.manifests, result.renderings);
    assert_int_equal(result.renderings, 3 * samples_count("single"));
    assert_int_equal(result.looked_at, 1);
    /* Another order of members, or another kind of value, is another manifest. */
    put_three_libraries(same, "b: 1\na: {$eval: job.name}\n", "a: {$eval: job.name}\nb: '1'\n");
    assert_int_equal(check_with(&options), 0);
    assert_int_equal(result.looked_at, 3);
}

static void what_an_executor_doubts_is_a_warning_for_each_template(void **state)
{
    (void)state;
    scratch_remove(&scratch, "local/any/single.yaml");
    for (unsigned processes = 0; processes < 3; processes++) {
        struct check_options options = {
            .accept = doubt_some, .accept_context = (char[]){"b"}, .processes = processes};
        put_three_libraries(same, "a: 1\n", same);
        assert_int_equal(check_with(&options), 0);
        assert_int_equal(count_lines_with(".yaml:1: warning: the executor may refuse the manifest: "
                                          "it holds \"b\" ["),
                         2);
        assert_int_equal(result.problems, 0);
    }
}

static void a_wrong_manifest_is_found_beside_good_ones(void **state)
{
    (void)state;
    for (unsigned processes = 0; processes < 4; processes++) {
        struct check_options options = {
            .accept = refuse_some, .accept_context = (char[]){"wrong"}, .processes = processes};
        put_three_libraries(
            same, "a: {$eval: job.name}\nb: 1\nc: {$if: job.dataset, then: wrong}\n", same);
        assert_int_equal(check_with(&options), -1);
        assert_int_equal(result.problems, 1);
        assert_non_null(strstr(report.data,
                               "local/keras/single.yaml:1: the executor refuses the "
                               "manifest: it holds \"wrong\" [a Python entry, a dataset"));
        /* What was refused is not taken for good when it comes again. */
        put_three_libraries(same, "a: wrong\n", "a: wrong\n");
        assert_int_equal(check_with(&options), -1);
        assert_int_equal(result.problems, 2);
        assert_non_null(strstr(report.data, "local/keras/single.yaml:1: the executor refuses"));
        assert_non_null(strstr(report.data, "local/mxnet/single.yaml:1: the executor refuses"));
    }
}

/* One report, whoever renders: the same lines in the same order, and the same counts. */
static void several_processes_say_what_one_says(void **state)
{
    (void)state;
    struct check_options options = {.accept = refuse_some, .accept_context = (char[]){"wrong"}};
    put_three_libraries("a: ${nobody}\n", "a: {$include: common/part.yaml}\n", "a: wrong\n");
    scratch_put(&scratch, "local/mxnet/distributed.yaml", "a: {$if: job.gpu_type, then: wrong}\n");
    scratch_put(&scratch, "slurm/any/distribted.yaml", "a: {$eval: job.nam}\n");
    scratch_put(&scratch, "slurm/any/ps.yaml", "$eval: refuse(\"no\")\n");
    scratch_put(&scratch, "kubernetes/any/single.yaml", same);
    assert_int_equal(check_with(&options), -1);
    struct buffer first = report;
    struct check_result counts = result;
    report = (struct buffer){0};
    assert_true(counts.problems >= 5 && counts.warnings >= 2 && counts.looked_at > 2);
    const char *caffe = strstr(first.data, "local/caffe/"),
               *part = strstr(first.data, "common/part");
    assert_true(caffe && part && caffe < part && part < strstr(first.data, "local/mxnet/dist"));
    for (options.processes = 1; options.processes < 8; options.processes++) {
        assert_int_equal(check_with(&options), -1);
        assert_string_equal(report.data, first.data);
        assert_memory_equal(&result, &counts, sizeof(result));
    }
    buffer_free(&first);
}

static void an_end_of_a_process_is_a_problem(void **state)
{
    (void)state;
    for (unsigned processes = 1; processes < 4; processes++) {
        struct check_options options = {
            .accept = end_over_some, .accept_context = (char[]){"wrong"}, .processes = processes};
        put_three_libraries(same, "a: wrong\n", "a: ${nobody}\n");
        scratch_put(&scratch, "local/mxnet/distributed.yaml", same);
        assert_int_equal(check_with(&options), -1);
        assert_int_equal(result.problems, 2);
        assert_int_equal(result.templates, 5);
        /* Of this one, nothing is counted. */
        assert_int_equal(result.renderings,
                         3 * samples_count("single") + samples_count("distributed"));
        assert_non_null(strstr(report.data,
                               "local/keras/single.yaml:1: the process that rendered its sample "
                               "jobs was ended by signal 9 (Killed); "));
        assert_non_null(strstr(report.data, "local/mxnet/single.yaml:1:"));
    }
}

/* What any three options of a job come to, in all their combinations, is seen. */
static void samples_cover_every_three_options(void **state)
{
    (void)state;
    static const char *const words[] = {"a dataset",  "an output",  "GPUs",  "shm",
                                        "time_limit", "image host", "values"};
    enum { OPTIONS = ARRAY_COUNT(words) };
    bool seen[OPTIONS][OPTIONS][OPTIONS][8] = {0};
    struct arena *arena = arena_new();
    size_t count = samples_count("array");
    for (size_t number = 0; number < count; number++) {
        const char *description = samples_build(arena, "any", "array", number).description;
        bool given[OPTIONS];
        for (size_t i = 0; i < OPTIONS; i++)
            given[i] = strstr(description, words[i]) != NULL;
        for (size_t i = 0; i < OPTIONS; i++)
            for (size_t j = 0; j < OPTIONS; j++)
                for (size_t k = 0; k < OPTIONS; k++)
                    seen[i][j][k][given[i] + 2 * given[j] + 4 * given[k]] = true;
    }
    for (size_t i = 0; i < OPTIONS; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < j; k++)
                for (size_t way = 0; way < 8; way++)
                    assert_true(seen[i][j][k][way]);
    arena_free(arena);
}

static int release(void **state)
{
    (void)state;
    buffer_free(&report);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sound_commit_has_no_findings),
        TEST(what_a_new_spool_starts_with_is_sound),
        TEST(wrong_tables_are_found),
        TEST(faults_of_templates_are_found),
        TEST(what_only_some_jobs_reach_is_found),
        TEST(every_problem_is_reported_once),
        TEST(doubtful_things_are_warnings),
        TEST(links_and_large_files_are_problems),
        TEST(the_executor_is_asked),
        TEST(the_same_manifest_is_looked_at_once),
        TEST(what_an_executor_doubts_is_a_warning_for_each_template),
        TEST(a_wrong_manifest_is_found_beside_good_ones),
        TEST(several_processes_say_what_one_says),
        TEST(an_end_of_a_process_is_a_problem),
        TEST(samples_cover_every_three_options),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
