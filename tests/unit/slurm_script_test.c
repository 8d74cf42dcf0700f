/* tests/unit/slurm_script_test.c - what a program gets from a batch script is what its user wrote
 *
 * Jobs whose strings are made of what means something to a shell are rendered for Slurm, and bash
 * runs their scripts (tests/unit/slurm_node.bash).  A program that prints its arguments and its
 * environment must have got every string byte for byte; the scripts inline must be there byte for
 * byte; and nothing else may have been printed, neither by a shell nor by a command that a string
 * smuggled in.  Cases come from a fixed seed; DLSPOOL_SEED gives other ones,
 * DLSPOOL_CASES more (one for 100 of structure_test, as each starts some sixty processes), and
 * DLSPOOL_CASE runs a single one again.
 *
 * Can it fail?  The last test leaves out the quotes of one word, and requires that the harness
 * objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "renderer/context.h"
#include "renderer/manifest.h"
#include "tests/unit/scratch_repository.h"
#include "tests/unit/slurm_node.h"

enum { CASES = 12, WORDS = 12, VARIABLES = 16, TASKS = 2 };

static struct scratch scratch;
static struct repository *repository;
static uint64_t state_of_chance;
static char recorder[128], directory[128];

static uint64_t chance(void)
{
    state_of_chance ^= state_of_chance << 13;
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return state_of_chance;
}

static size_t below(size_t limit)
{
    return (size_t)(chance() % limit);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static const char *const fragments[] = {
    "'",
    "''",
    "'\\''",
    "\"",
    "\\",
    "\\\\",
    "\\n",
    "\n",
    "\r\n",
    "\t",
    "`",
    "`touch /tmp/x`",
    "$(exit 7)",
    "$(",
    ")",
    "${",
    "}",
    "${HOME}",
    "$HOME",
    "$rank",
    "\"${hosts[0]}\"",
    "$'\\n'",
    "$\"",
    "$$",
    "$",
    "*",
    "?",
    "[a-z]",
    "~",
    "~root",
    "{a,b}",
    "!",
    "!!",
    "#",
    " #",
    "&",
    "&&",
    ";",
    ";;",
    "|",
    "||",
    "<",
    ">",
    ">>/tmp/x",
    "<<EOF\n",
    "\nEOF\n",
    "(",
    "((1+1))",
    "=",
    "a=b",
    "-",
    "--",
    "-n",
    "-x",
    "--help",
    "%",
    "%s",
    "%n",
    "\x01",
    "\x1b[2J",
    "\x7f",
    "caf\xc3\xa9",
    "\xe6\xbc\xa2",
    "\xf0\x9f\x98\x80",
    "\xe2\x80\xa8",
    " ",
    "  ",
    "x",
    "train.py",
    "/job/output",
    "..",
    "/",
    "<rank>",
    "<host>",
    "<address:x>",
    "@000001",
    "@files:",
    "]}\"'>",
    "esac",
    "done",
    "fi",
    "}\n",
    "task",
    "batch",
    "\n}\nexit 9\n",
    "exit",
    "eval",
    "'; exit 3; '",
    "\"; exit 3; \"",
    "`exit 3`",
    "\\\n",
    "$((",
    "))",
    "=~",
    "-eq",
};

static struct text hostile(struct arena *arena, size_t most)
{
    struct buffer out = {0};
    buffer_add(&out, "", 0);
    size_t pieces = below(400) == 0 ? 20000 : below(most + 1);
    for (size_t i = 0; i < pieces; i++)
        if (below(5) == 0)
            buffer_add_byte(&out, (char)(1 + below(127)));
        else
            buffer_add_string(&out, fragments[below(ARRAY_COUNT(fragments))]);
    struct text text = arena_text(arena, out.data, out.length);
    buffer_free(&out);
    return text;
}

/* Names of variables that a shell or the script itself gives a meaning. */
static const char *const names[] = {
    "A",
    "hosts",
    "nodes",
    "command",
    "environment",
    "odd",
    "pair",
    "name",
    "exported",
    "rank",
    "index",
    "files",
    "directory",
    "status",
    "program",
    "role",
    "setup",
    "step",
    "IFS",
    "SECONDS",
    "RANDOM",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "GROUPS",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "BASH_VERSION",
    "LC_ALL",
    "LANG",
    "POSIXLY_CORRECT",
    "OPTIND",
    "OPTARG",
    "REPLY",
    "PS4",
    "TMOUT",
    "PWD",
    "SHLVL",
    "CDPATH",
    "GLOBIGNORE",
    "HOME",
    "USER",
    "FUNCNAME",
    "EPOCHSECONDS",
    "DIRSTACK",
    "HISTFILE",
    "suffix",
    "element",
    "SLURM_JOB_NAME",
    "MAPFILE",
    "COPROC",
    "ENV",
    "A~B",
    "x.y",
    "-n",
    "a b",
    "told_as",
    "heartbeat",
    "i",
    "signals",
    "sum",
    "_",
};

struct job {
    struct text words[WORDS], args[WORDS], script;
    size_t word_count, arg_count;
    struct value *env;
};

static struct job random_job(struct arena *arena)
{
    struct job job = {.word_count = 1 + below(WORDS - 1), .arg_count = below(WORDS)};
    job.words[0] = text_of(recorder);
    for (size_t i = 1; i < job.word_count; i++)
        job.words[i] = hostile(arena, 6);
    for (size_t i = 0; i < job.arg_count; i++)
        job.args[i] = hostile(arena, 6);
    job.script = hostile(arena, 40);
    job.env = value_object(arena);
    for (size_t i = below(VARIABLES); i > 0; i--) {
        const char *name = names[below(ARRAY_COUNT(names))];
        value_set(arena, job.env, text_of(name), value_text(arena, hostile(arena, 6)));
    }
    return job;
}

/* The manifest of such a job; NULL where the template does not take it. */
static struct slurm_manifest *render(struct arena *arena, const struct job *job)
{
    struct context_role role = {.role = TEXT("worker"),
                                .count = TASKS,
                                .cpus = 1000,
                                .memory = 1 << 20,
                                .command = job->words,
                                .command_count = job->word_count};
    struct context_job context = {
        .id = TEXT("hostile-0123456789abc"),
        .name = job->args[0],
        .owner = TEXT("ann"),
        .library = TEXT("any"),
        .type = TEXT("distributed"),
        .script = job->script,
        .args = job->args,
        .args_count = job->arg_count,
        .env = job->env,
        .attempt = 1,
        .roles = &role,
        .roles_count = 1,
    };
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

static struct text read_whole(struct arena *arena, const char *name)
{
    char path[256];
    struct buffer out = {0};
    struct error error;
    buffer_add(&out, "", 0);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (file_read_at(AT_FDCWD, path, 64 << 20, &out, &error))
        return (struct text){NULL, 0};
    struct text text = arena_text(arena, out.data, out.length);
    buffer_free(&out);
    return text;
}

/* Is the text next in the rest? */
static bool next_is(struct text *rest, struct text wanted)
{
    struct text found;
    return text_next(rest, '\0', &found) && text_equal(found, wanted);
}

/* What the recorder printed: how many arguments, each, and the environment. */
static const char *compare(struct arena *arena, const struct job *job, struct text log)
{
    struct text rest = log, line;
    char count[16];
    snprintf(count, sizeof(count), "%zu", job->word_count - 1 + job->arg_count);
    if (!next_is(&rest, text_of(count)))
        return "another number of arguments, or something before them";
    for (size_t i = 1; i < job->word_count; i++)
        if (!next_is(&rest, job->words[i]))
            return "a word of the command";
    for (size_t i = 0; i < job->arg_count; i++)
        if (!next_is(&rest, job->args[i]))
            return "an argument";
    struct value *seen = value_object(arena);
    while (text_next(&rest, '\0', &line)) {
        const char *equals = line.length ? memchr(line.data, '=', line.length) : NULL;
        if (!equals)
            return line.length ? "something after the environment" : NULL;
        value_set(arena, seen, (struct text){line.data, (size_t)(equals - line.data)},
                  value_text(arena, (struct text){equals + 1,
                                                  line.length - 1 - (size_t)(equals - line.data)}));
        if (rest.length == 0)
            break;
    }
    for (size_t i = 0; i < job->env->object.count; i++) {
        const struct member *wanted = &job->env->object.members[i];
        const struct member *found = value_member(seen, wanted->key);
        if (!found || !text_equal(found->value->string, wanted->value->string))
            return wanted->key.data;
    }
    return NULL;
}

/* What the script and its first task printed, for people. */
static void show_logs(void)
{
    char command[512];
    snprintf(command, sizeof(command), "head -c 2000 %s/batch.log %s/worker-0.log | cat -v >&2",
             directory, directory);
    (void)!system(command);
}

/* Run the script; NULL, or what is wrong. */
static const char *run(struct arena *arena, const struct job *job,
                       const struct slurm_manifest *manifest)
{
    char command[1024], path[160];
    snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", directory, directory);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/.script", directory);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fwrite(manifest->script.data, 1, manifest->script.length, stream);
    fclose(stream);
    snprintf(command, sizeof(command),
             "bash -n %s && env -i timeout 60 bash tests/unit/slurm_node.bash %s %s batch", path,
             path, directory);
    if (system(command) != 0)
        return "the script's status";
    if (read_whole(arena, "batch.log").length)
        return "batch.log is not empty";
    if (!text_equal(read_whole(arena, "job/script"), job->script) && job->script.length)
        return "the inline script";
    for (int task = 0; task < TASKS; task++) {
        char name[32];
        snprintf(name, sizeof(name), "worker-%d.log", task);
        const char *wrong = compare(arena, job, read_whole(arena, name));
        snprintf(name, sizeof(name), "worker-%d.ended", task);
        if (!wrong && !text_is(read_whole(arena, name), "0\n"))
            wrong = "the task's end";
        if (wrong)
            return wrong;
    }
    return text_is(read_whole(arena, "ended"), "0\n") ? NULL : "the end";
}

static void every_string_comes_out_as_it_was(void **state)
{
    (void)state;
    uint64_t seed = number_from("DLSPOOL_SEED", 20261122);
    size_t first = (size_t)number_from("DLSPOOL_CASE", 0);
    size_t cases = getenv("DLSPOOL_CASE") ? first + 1
                                          : (size_t)number_from("DLSPOOL_CASES", CASES * 100) / 100;
    struct arena *arena = arena_new();
    for (size_t i = first; i < cases; i++) {
        state_of_chance = (seed + i * 0x9e3779b97f4a7c15u) | 1;
        for (int warm = 0; warm < 8; warm++)
            chance();
        arena_reset(arena);
        struct job job = random_job(arena);
        const char *wrong = run(arena, &job, render(arena, &job));
        if (wrong)
            show_logs();
        if (wrong)
            fail_msg("DLSPOOL_SEED=%llu DLSPOOL_CASE=%zu: %s", (unsigned long long)seed, i, wrong);
    }
    arena_free(arena);
}

/* Every name and every fragment, whatever chance has it. */
static void every_name_and_fragment_comes_out(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct job job = {.word_count = 1, .arg_count = WORDS, .script = TEXT("#!/bin/sh\n")};
    size_t at = 0, count = ARRAY_COUNT(fragments);
    job.words[0] = text_of(recorder);
    while (at < count) {
        job.env = value_object(arena);
        for (size_t i = 0; i < WORDS; i++, at++)
            job.args[i] = text_of(fragments[at % count]);
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            value_set(arena, job.env, text_of(names[i]),
                      value_text(arena, text_of(fragments[(at + i) % count])));
        const char *wrong = run(arena, &job, render(arena, &job));
        if (wrong)
            show_logs();
        if (wrong)
            fail_msg("fragments up to %zu: %s", at, wrong);
    }
    arena_free(arena);
}

static void a_word_without_quotes_is_noticed(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct job job = {.word_count = 1, .arg_count = 1, .script = TEXT("#!/bin/sh\n")};
    job.words[0] = text_of(recorder);
    job.args[0] = TEXT("$HOME");
    job.env = value_object(arena);
    struct slurm_manifest *manifest = render(arena, &job);
    assert_null(run(arena, &job, manifest));
    char *script = memory_copy_string(manifest->script.data), *word = strstr(script, "' '$HOME')");
    assert_non_null(word);
    memcpy(word, "' \"$HOME\")", 10);
    manifest->script = text_of(script);
    assert_non_null(run(arena, &job, manifest));
    free(script);
    arena_free(arena);
}

static int set_up(void **state)
{
    (void)state;
    struct error error;
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    if (!repository || repository_refresh(repository, &error))
        return -1;
    snprintf(directory, sizeof(directory), "%s/node", scratch.path);
    snprintf(recorder, sizeof(recorder), "%s/recorder", scratch.path);
    /* This program under another name. */
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (length < 0)
        return -1;
    own[length] = '\0';
    return symlink(own, recorder);
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    scratch_close(&scratch);
    return 0;
}

/* Print the number of arguments, these, and the environment, a NUL behind each. */
static int record(int argc, char **argv)
{
    printf("%d%c", argc - 1, 0);
    for (int i = 1; i < argc; i++)
        printf("%s%c", argv[i], 0);
    for (char **variable = environ; *variable; variable++)
        printf("%s%c", *variable, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    if (slash && strcmp(slash, "/recorder") == 0)
        return record(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_and_fragment_comes_out),
        cmocka_unit_test(every_string_comes_out_as_it_was),
        cmocka_unit_test(a_word_without_quotes_is_noticed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
