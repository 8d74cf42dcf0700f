/* tests/unit/libraries_test.c - what each library's tasks are told, on every executor
 *
 * docs/libraries.md has a table of what tasks find in their environment.  For each of its rows jobs
 * are rendered for each executor, the tasks' environment is made of the manifest as the executor
 * does it (for a cluster a real shell runs the line that starts a pod, and for Slurm the batch
 * script), and compared with the row: name for name, value for value.  Nothing may be there that
 * the table does not have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "executors/executor.h"
#include "executors/kubernetes/manifest.h"
#include "executors/local/manifest.h"
#include "executors/registry/registry.h"
#include "executors/slurm/manifest.h"
#include "renderer/context.h"
#include "renderer/manifest.h"
#include "tests/unit/kubelet.h"
#include "tests/unit/scratch_repository.h"
#include "tests/unit/slurm_node.h"

static const char *const libraries[] = {
    "tensorflow", "pytorch", "mxnet",  "paddle", "jax",     "mindspore", "deepspeed", "horovod",
    "keras",      "caffe",   "caffe2", "cntk",   "chainer", "sklearn",   "xgboost",   "any"};
static const char *const types[] = {"single", "distributed", "ps",       "mpi",  "elastic",
                                    "array",  "serving",     "notebook", "roles"};
static const char *const executors[] = {"local", "kubernetes", "slurm"};

/* What a pod is told when it asks for the address of a name. */
#define FOUND_ADDRESS "10.9.8.7"

/* Every host is found, at once.  (As functions of the shell: some thousand processes take longest here.) */
static const char finds_all[] = "getent() { echo \"" FOUND_ADDRESS "  $2\"; }; date() { echo 0; }";

static struct scratch scratch;
static struct repository *repository;
static struct arena *arena; /* of one test */
static struct arena *kept;  /* of all tests */
static struct error error;
static struct text page;

static int read_file(const char *path, struct buffer *out)
{
    return file_read_at(AT_FDCWD, path, 1 << 20, out, &error);
}

/* ---- the table ---- */

static const char table_head[] = "| library | type | role | sets |";
static const char slurm_table_head[] = "| library | type | role | sets on Slurm |";

struct row {
    struct text library, type, role, sets;
};

static struct text column(struct text *line)
{
    struct text cell;
    assert_true(text_next(line, '|', &cell));
    return text_trim(cell);
}

static struct text word_column(struct text *line)
{
    struct text cell = column(line);
    if (cell.length > 2 && cell.data[0] == '`' && !memchr(cell.data + 1, '`', cell.length - 2))
        cell = (struct text){cell.data + 1, cell.length - 2};
    return cell;
}

/* The rows below a line such as "| library | type | role | sets |". */
static struct row *read_table(const char *head, size_t *count)
{
    struct text rest = page, line, none;
    struct row *rows = arena_allocate(arena, 256 * sizeof(*rows));
    bool inside = false;
    *count = 0;
    while (text_next(&rest, '\n', &line)) {
        if (text_is(line, head))
            inside = true;
        else if (inside && line.length == 0)
            return rows;
        else if (inside && !text_starts(line, "|---")) {
            text_next(&line, '|', &none);
            rows[*count].library = word_column(&line);
            rows[*count].type = word_column(&line);
            rows[*count].role = word_column(&line);
            rows[(*count)++].sets = column(&line);
        }
    }
    fail_msg("docs/libraries.md has no table %s", head);
    return NULL;
}

static bool fits(struct text cell, const char *word)
{
    return text_is(cell, "*") || text_is(cell, word);
}

/* ---- jobs ---- */

enum { MOST_ROLES = 4, LEAST = 1, MOST = 5 };

struct shape {
    const char *type, *roles[MOST_ROLES];
    int counts[MOST_ROLES];
};

static const struct shape shapes[] = {
    {"single", {"main"}, {1}},
    {"array", {"main"}, {3}},
    {"serving", {"server"}, {1}},
    {"serving", {"server"}, {2}},
    {"notebook", {"main"}, {1}},
    {"elastic", {"worker"}, {3}},
    {"roles", {"master", "worker"}, {1, 2}},
    {"mpi", {"launcher", "worker"}, {1, 2}},
    {"distributed", {"worker"}, {3}},
    {"distributed", {"master", "worker"}, {1, 2}},
    {"distributed", {"worker"}, {1}},
    {"distributed", {"evaluator", "watch", "worker"}, {1, 1, 2}},
    {"distributed", {"worker", "chief", "evaluator"}, {1, 1, 1}},
    {"ps", {"ps", "worker"}, {2, 2}},
    {"ps", {"chief", "ps", "worker", "evaluator"}, {1, 2, 2, 1}},
    {"ps", {"server", "worker"}, {2, 2}},
    {"ps", {"scheduler", "server", "worker"}, {1, 2, 2}},
};

static struct context_role roles[MOST_ROLES];
static const struct text watching = {"watch", 5};
static struct array sweep; /* instead of the usual one, when it has a count */

/* The others run the job's program. */
static bool has_own_command(const char *role)
{
    return strcmp(role, "watch") == 0 || strcmp(role, "chief") == 0;
}

/* Is the role one whose tasks work as one (docs/libraries.md)? */
static bool is_counted(const char *role)
{
    return strcmp(role, "evaluator") != 0 && strcmp(role, "watch") != 0;
}

static struct value *job_of(const char *library, const struct shape *shape)
{
    static const int indexes[] = {0, 1, 2};
    struct context_job job = {
        .id = TEXT("cell-0123456789abc"),
        .name = TEXT("cell"),
        .owner = TEXT("ann"),
        .uid = 1234,
        .gid = 100,
        .library = text_of(library),
        .type = text_of(shape->type),
        .program = TEXT("/data/program"),
        .entry = TEXT("train.py"),
        .attempt = 1,
        .roles = roles,
    };
    for (; job.roles_count < MOST_ROLES && shape->roles[job.roles_count]; job.roles_count++) {
        const char *name = shape->roles[job.roles_count];
        roles[job.roles_count] = (struct context_role){
            .role = text_of(name),
            .count = shape->counts[job.roles_count],
            .cpus = 9500,
            .memory = 1 << 30,
            .gpus = strcmp(name, "worker") == 0 ? 2 : 0,
            .command = &watching,
            .command_count = has_own_command(name),
        };
    }
    if (strcmp(shape->type, "array") == 0)
        job.array =
            sweep.count ? sweep : (struct array){.indexes = indexes, .count = 3, .at_once = 2};
    if (strcmp(shape->type, "elastic") == 0) {
        job.size_min = LEAST;
        job.size_max = MOST;
    }
    return context_job(arena, &job);
}

/* A task as its manifest makes it. */
struct told {
    struct text role;
    int index;
    struct value *env;
};

struct rendered {
    struct told *tasks;
    size_t count;
};

static void merge(struct value *into, const struct value *from)
{
    for (size_t i = 0; from && i < from->object.count; i++)
        value_set(arena, into, from->object.members[i].key, from->object.members[i].value);
}

static struct rendered read_local(struct text source)
{
    struct local_manifest *manifest = local_manifest_read(arena, source, &error);
    if (!manifest)
        fail_msg("%s", error.text);
    struct rendered result = {arena_allocate(arena, manifest->task_count * sizeof(struct told)),
                              manifest->task_count};
    for (size_t i = 0; i < manifest->task_count; i++) {
        const struct local_task *task = &manifest->tasks[i];
        result.tasks[i] = (struct told){task->role, task->index, value_object(arena)};
        merge(result.tasks[i].env, manifest->env);
        merge(result.tasks[i].env, task->env);
    }
    return result;
}

static struct rendered read_kubernetes(struct text source)
{
    struct kubernetes_manifest *manifest = kubernetes_manifest_read(arena, source, &error);
    if (!manifest)
        fail_msg("%s", error.text);
    struct rendered result = {arena_allocate(arena, 64 * sizeof(struct told)), 0};
    for (size_t i = 0; i < manifest->count; i++) {
        const struct kubernetes_object *object = &manifest->objects[i];
        if (strcmp(object->kind->kind, "Job") != 0)
            continue;
        const struct value *spec = value_get(object->tree, "spec");
        const struct value *pod = value_get(value_get(spec, "template"), "spec");
        const struct value *container = value_get(pod, "containers")->list.items[0];
        int count = (int)value_get_number(spec, "completions", 0);
        for (int index = 0; index < count; index++)
            result.tasks[result.count++] = (struct told){
                object->role, index, kubelet_seen(arena, container, index, finds_all)};
    }
    return result;
}

static struct rendered read_slurm(struct text source)
{
    char directory[128];
    struct slurm_manifest *manifest = slurm_manifest_read(arena, source, &error);
    if (!manifest)
        fail_msg("%s", error.text);
    struct rendered result = {
        arena_allocate(arena, (size_t)manifest->task_total * sizeof(struct told)), 0};
    snprintf(directory, sizeof(directory), "%s/node", scratch.path);
    slurm_node_run(manifest, directory);
    for (size_t i = 0; i < manifest->tasks_count; i++)
        for (int index = 0; index < manifest->tasks[i].count; index++) {
            struct text role = manifest->tasks[i].role;
            struct value *env = slurm_node_seen(arena, directory, role, index);
            if (env)
                result.tasks[result.count++] = (struct told){role, index, env};
        }
    return result;
}

static struct rendered read_tasks(const char *executor, struct text source)
{
    return strcmp(executor, "local") == 0   ? read_local(source)
           : strcmp(executor, "slurm") == 0 ? read_slurm(source)
                                            : read_kubernetes(source);
}

/* What tasks are told follows from the manifest alone.  Libraries differ so little that most manifests
 * come again, and shells take most of the time: each runs once. */
static struct rendered tasks_of(const char *executor, struct text source)
{
    static struct {
        const char *executor;
        struct text source;
        struct rendered rendered;
    } known[1024];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(known[i].executor, executor) == 0 && text_equal(known[i].source, source))
            return known[i].rendered;
    assert_true(count < ARRAY_COUNT(known));
    struct arena *own = arena;
    arena = kept;
    known[count].executor = executor;
    known[count].source = arena_text(kept, source.data, source.length);
    known[count].rendered = read_tasks(executor, source);
    arena = own;
    return known[count++].rendered;
}

/* Render; false when the template refuses the job. */
static bool render(const char *executor, const char *library, const struct shape *shape,
                   struct rendered *rendered)
{
    enum render_failure failure;
    struct render_result result;
    struct render_input input = {
        .executor = executor,
        .job = job_of(library, shape),
        .library = text_of(library),
        .type = text_of(shape->type),
        .accelerator = TEXT("none"),
    };
    if (manifest_render(arena, repository, &input, &result, &failure, &error)) {
        if (failure != RENDER_NOT_ALLOWED)
            fail_msg("%s/%s/%s: %s", executor, library, shape->type, error.text);
        return false;
    }
    if (registry_check_manifest(executor, result.manifest, &error))
        fail_msg("%s/%s/%s: %s", executor, library, shape->type, error.text);
    *rendered = tasks_of(executor, result.manifest);
    return true;
}

/* ---- what the table's words stand for ---- */

struct facts {
    const char *executor;
    const struct shape *shape;
    struct text role;
    int index, rank, tasks, port, processes;
    /* Of a row for those that are counted: how many they are, the task's number among them, and the rank of the
     * first; otherwise of all tasks. */
    int counted, number, first;
};

static int role_number(const struct facts *facts, struct text role)
{
    for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++)
        if (text_is(role, facts->shape->roles[i]))
            return i;
    fail_msg("the table speaks of the role %.*s", (int)role.length, role.data);
    return 0;
}

static int first_rank(const struct facts *facts, int number)
{
    int rank = 0;
    for (int i = 0; i < number; i++)
        rank += facts->shape->counts[i];
    return rank;
}

/* What differs in rows for the tasks that are counted. */
static void count_tasks(struct facts *facts, bool all)
{
    int skipped = 0, own = role_number(facts, facts->role);
    facts->first = -1;
    facts->counted = 0;
    for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++) {
        bool counted = all || is_counted(facts->shape->roles[i]);
        if (counted && facts->first < 0)
            facts->first = first_rank(facts, i);
        facts->counted += counted ? facts->shape->counts[i] : 0;
        skipped += !counted && i < own ? facts->shape->counts[i] : 0;
    }
    facts->number = facts->rank - skipped;
}

/* The tasks that TensorFlow calls workers, and those before the task's own role. */
static int find_workers(const struct facts *facts, int *ranks, int *before)
{
    int count = 0;
    for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++) {
        const char *name = facts->shape->roles[i];
        if (text_is(facts->role, name))
            *before = count;
        for (int index = 0; index < facts->shape->counts[i]; index++)
            if (is_counted(name) && strcmp(name, "chief") != 0)
                ranks[count++] = first_rank(facts, i) + index;
    }
    return count;
}

static bool is_slurm(const struct facts *facts)
{
    return strcmp(facts->executor, "slurm") == 0;
}

static void add_host(struct buffer *out, const struct facts *facts, int rank)
{
    int number = 0;
    bool alone = facts->tasks == 1, several = facts->shape->roles[1] != NULL;
    if (strcmp(facts->executor, "local") == 0 || alone) {
        buffer_add_string(out, "127.0.0.1");
        return;
    }
    if (is_slurm(facts)) {
        /* The launcher has no node of its own. */
        bool mpi = strcmp(facts->shape->type, "mpi") == 0;
        buffer_printf(out, "node%d", mpi && rank > 0 ? rank - 1 : rank);
        return;
    }
    while (rank >= first_rank(facts, number + 1))
        number++;
    buffer_printf(out, "cell-0123456789abc-a1%s%s-%d.cell-0123456789abc-a1", several ? "-" : "",
                  several ? facts->shape->roles[number] : "", rank - first_rank(facts, number));
}

static void add_peers(struct buffer *out, const struct facts *facts, int first, int count,
                      const char *quote)
{
    for (int rank = first; rank < first + count; rank++) {
        buffer_printf(out, "%s%s", rank == first ? "" : ",", quote);
        add_host(out, facts, rank);
        buffer_printf(out, ":%d%s", facts->port + rank, quote);
    }
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static void add_cluster(struct buffer *out, const struct facts *facts, bool ports)
{
    const char *names[MOST_ROLES];
    size_t count = 0;
    const char *between = "{";
    for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++)
        names[count++] = facts->shape->roles[i];
    qsort(names, count, sizeof(*names), by_name);
    for (size_t i = 0; i < count; i++) {
        int number = role_number(facts, text_of(names[i])), first = first_rank(facts, number);
        if (strcmp(names[i], "evaluator") == 0)
            continue;
        buffer_printf(out, "%s\"%s\":[", between, names[i]);
        between = ",";
        if (!ports)
            add_peers(out, facts, first, facts->shape->counts[number], "\"");
        for (int rank = first; ports && rank < first + facts->shape->counts[number]; rank++) {
            buffer_printf(out, "%s{\"port\":%d,\"url\":\"", rank == first ? "" : ",",
                          facts->port + rank);
            add_host(out, facts, rank);
            buffer_add_string(out, "\"}");
        }
        buffer_add_byte(out, ']');
    }
    buffer_add_byte(out, '}');
}

/* Of a distributed job. */
static void add_training_cluster(struct buffer *out, const struct facts *facts)
{
    int ranks[64], before = 0, count = find_workers(facts, ranks, &before);
    buffer_add_byte(out, '{');
    for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++)
        if (strcmp(facts->shape->roles[i], "chief") == 0) {
            buffer_add_string(out, "\"chief\":[");
            add_peers(out, facts, first_rank(facts, i), 1, "\"");
            buffer_add_string(out, "],");
        }
    buffer_add_string(out, "\"worker\":[");
    for (int i = 0; i < count; i++) {
        buffer_add_string(out, i > 0 ? "," : "");
        add_peers(out, facts, ranks[i], 1, "\"");
    }
    buffer_add_string(out, "]}");
}

/* Every name has the same. */
static void add_address(struct buffer *out, const struct facts *facts)
{
    bool alone = strcmp(facts->executor, "local") == 0 || facts->tasks == 1;
    buffer_add_string(out, alone ? "127.0.0.1" : FOUND_ADDRESS);
}

static void add_word(struct buffer *out, const struct facts *facts, struct text word)
{
    static const char of[] = " of ";
    const char *found = NULL;
    for (size_t i = 0; i + sizeof(of) - 1 <= word.length && !found; i++)
        if (memcmp(word.data + i, of, sizeof(of) - 1) == 0)
            found = word.data + i;
    if (found) {
        struct text kind = {word.data, (size_t)(found - word.data)};
        struct text role = {found + 4, word.length - kind.length - 4};
        int number = role_number(facts, role), first = first_rank(facts, number);
        if (text_is(kind, "tasks"))
            buffer_printf(out, "%d", facts->shape->counts[number]);
        else if (text_is(kind, "port"))
            buffer_printf(out, "%d", facts->port + first);
        else if (text_is(kind, "host"))
            add_host(out, facts, first);
        else if (text_is(kind, "address"))
            add_address(out, facts);
        else if (text_is(kind, "addresses"))
            for (int rank = first; rank < first + facts->shape->counts[number]; rank++) {
                buffer_add_string(out, rank > first ? "," : "");
                add_address(out, facts);
                buffer_printf(out, ":%d", facts->port + rank);
            }
        else if (text_is(kind, "peers"))
            add_peers(out, facts, first, facts->shape->counts[number], "");
        else
            fail_msg("the table has <%.*s>", (int)word.length, word.data);
    } else if (text_is(word, "rank")) {
        buffer_printf(out, "%d", facts->number);
    } else if (text_is(word, "index")) {
        buffer_printf(out, "%d", facts->index);
    } else if (text_is(word, "tasks")) {
        buffer_printf(out, "%d", facts->counted);
    } else if (text_is(word, "all processes")) {
        buffer_printf(out, "%d", facts->counted * facts->processes);
    } else if (text_is(word, "worker number")) {
        int ranks[64], before = 0;
        find_workers(facts, ranks, &before);
        buffer_printf(out, "%d", before + facts->index);
    } else if (text_is(word, "only process")) {
        buffer_add_byte(out, '0');
    } else if (text_is(word, "devices")) {
        buffer_add_string(out, "0,1");
    } else if (text_is(word, "least index")) {
        buffer_add_string(out, "0");
    } else if (text_is(word, "greatest index")) {
        buffer_printf(out, "%d", facts->tasks - 1);
    } else if (text_is(word, "port")) {
        buffer_printf(out, "%d", facts->port + facts->first);
    } else if (text_is(word, "port after the last")) {
        buffer_printf(out, "%d", facts->port + facts->tasks);
    } else if (text_is(word, "own port")) {
        buffer_printf(out, "%d", facts->port + facts->rank);
    } else if (text_is(word, "own host")) {
        add_host(out, facts, facts->rank);
    } else if (text_is(word, "listening port")) {
        bool shared = strcmp(facts->executor, "kubernetes") != 0;
        buffer_printf(out, "%d", facts->port + (shared ? facts->rank : 0));
    } else if (text_is(word, "first address") || text_is(word, "own address")) {
        add_address(out, facts);
    } else if (text_is(word, "first host")) {
        add_host(out, facts, facts->first);
    } else if (text_is(word, "master")) {
        bool is_it = facts->rank == facts->first && facts->tasks > 1;
        if (is_it && strcmp(facts->executor, "kubernetes") == 0)
            buffer_add_string(out, KUBELET_ADDRESS);
        else if (is_it && is_slurm(facts))
            buffer_add_string(out, FOUND_ADDRESS);
        else
            add_host(out, facts, facts->first);
    } else if (text_is(word, "other hosts")) {
        const char *between = "";
        for (int i = 0; i < MOST_ROLES && facts->shape->roles[i]; i++)
            for (int index = 0; index < facts->shape->counts[i]; index++) {
                int rank = first_rank(facts, i) + index;
                if (rank == facts->first || !is_counted(facts->shape->roles[i]))
                    continue;
                buffer_add_string(out, between);
                between = ",";
                add_host(out, facts, rank);
            }
    } else if (text_is(word, "temporary")) {
        buffer_printf(out, "%s%s", is_slurm(facts) ? scratch.path : "",
                      is_slurm(facts) ? "/node/job/tmp" : "/tmp");
    } else if (text_is(word, "files")) {
        buffer_printf(out, "%s/node/job", scratch.path);
    } else if (text_is(word, "hosts")) {
        for (int number = 1; number < MOST_ROLES && facts->shape->roles[number]; number++)
            for (int index = 0; index < facts->shape->counts[number]; index++)
                buffer_printf(out, "%s%s-%d", number + index > 1 ? " " : "",
                              facts->shape->roles[number], index);
    } else if (text_is(word, "peers")) {
        add_peers(out, facts, 0, facts->tasks, "");
    } else if (text_is(word, "workers")) {
        add_training_cluster(out, facts);
    } else if (text_is(word, "cluster")) {
        add_cluster(out, facts, false);
    } else if (text_is(word, "cluster with ports")) {
        add_cluster(out, facts, true);
    } else if (text_is(word, "processes")) {
        buffer_printf(out, "%d", facts->processes);
    } else if (text_is(word, "is first")) {
        buffer_printf(out, "%d", facts->rank == 0);
    } else if (text_is(word, "id")) {
        buffer_add_string(out, "cell-0123456789abc-a1");
    } else if (text_is(word, "role")) {
        buffer_add_text(out, facts->role);
    } else if (text_is(word, "least")) {
        buffer_printf(out, "%d", LEAST);
    } else if (text_is(word, "most")) {
        buffer_printf(out, "%d", MOST);
    } else {
        fail_msg("the table has <%.*s>", (int)word.length, word.data);
    }
}

static struct text expand(const struct facts *facts, struct text value)
{
    struct buffer out = {0};
    for (size_t i = 0; i < value.length; i++) {
        const char *end =
            value.data[i] == '<' ? memchr(value.data + i, '>', value.length - i) : NULL;
        if (end) {
            struct text word = {value.data + i + 1, (size_t)(end - value.data) - i - 1};
            add_word(&out, facts, word);
            i += word.length + 1;
        } else {
            buffer_add_byte(&out, value.data[i]);
        }
    }
    struct text result = arena_text(arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    return result;
}

/* Values that only tasks with several GPUs, or only others, have. */
static bool is_unset(struct text value, const struct facts *facts)
{
    return text_is(value, facts->processes > 1 ? "<only process>" : "<devices>");
}

/* What the row sets: every `NAME=value` in it. */
static struct value *wanted_of(const struct row *row, const struct facts *facts)
{
    struct value *wanted = value_object(arena);
    struct text rest = row->sets, span;
    bool code = false;
    for (; text_next(&rest, '`', &span); code = !code) {
        const char *equals = code ? memchr(span.data, '=', span.length) : NULL;
        if (equals) {
            struct text name = arena_text(arena, span.data, (size_t)(equals - span.data));
            struct text value = {equals + 1, span.length - name.length - 1};
            if (!is_unset(value, facts))
                value_set(arena, wanted, name, value_text(arena, expand(facts, value)));
        }
    }
    return wanted;
}

/* ---- comparing ---- */

static bool is_of(const char *const *list, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++)
        if (text_is(name, list[i]))
            return true;
    return false;
}

/* What every task has (the page's other table), what an executor needs to get there, and what a
 * shell adds. */
static bool is_common(struct text name)
{
    static const char *const names[] = {
        "DLSPOOL_JOB_ID",
        "DLSPOOL_JOB_NAME",
        "DLSPOOL_ROLE",
        "DLSPOOL_INDEX",
        "DLSPOOL_RANK",
        "DLSPOOL_ATTEMPT",
        "DLSPOOL_TASK_COUNT",
        "DLSPOOL_PROGRAM",
        "DLSPOOL_DATASET",
        "DLSPOOL_OUTPUT",
        "DLSPOOL_PORTS",
        "HOME",
        "USER",
        "LOGNAME",
        "PYTHONUNBUFFERED",
        "OMP_NUM_THREADS",
    };
    return is_of(names, ARRAY_COUNT(names), name);
}

static bool is_the_executors(struct text name)
{
    static const char *const names[] = {
        "PATH",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "NVIDIA_VISIBLE_DEVICES",
        "SLURMD_NODENAME",
        "FOUND_ADDRESS",
        "DLSPOOL_FIRST",
        "DLSPOOL_MASTER",
        "DLSPOOL_LEADER",
        "DLSPOOL_SKIPPED",
        "DLSPOOL_ADDRESS",
        "DLSPOOL_BASE_PORT",
        "DLSPOOL_LATE",
        "DLSPOOL_PEER_WAIT",
        "DLSPOOL_WAIT_FOR",
        "DLSPOOL_ENTRY",
        "GLOO_SOCKET_IFNAME",
        "NCCL_SOCKET_IFNAME",
        "TP_SOCKET_IFNAME",
        "DMLC_INTERFACE",
        "HOROVOD_GLOO_IFACE",
        "OMPI_MCA_btl_tcp_if_include",
        "OMPI_MCA_oob_tcp_if_include",
    };
    return is_of(names, ARRAY_COUNT(names), name) || text_starts(name, "DLSPOOL_LATE_") ||
           text_starts(name, "SLURM_");
}

static void compare(const struct value *wanted, const struct told *told, const char *what)
{
    for (size_t i = 0; i < wanted->object.count; i++) {
        const struct member *member = &wanted->object.members[i];
        const struct member *found = value_member(told->env, member->key);
        if (!found)
            fail_msg("%s: %s is not set", what, member->key.data);
        if (!text_equal(found->value->string, member->value->string))
            fail_msg("%s: %s is %s, expected %s", what, member->key.data, found->value->string.data,
                     member->value->string.data);
    }
    for (size_t i = 0; i < told->env->object.count; i++) {
        struct text name = told->env->object.members[i].key;
        if (!is_common(name) && !is_the_executors(name) && !value_member(wanted, name))
            fail_msg("%s: %s is set, and not in the table", what, name.data);
    }
}

static bool is_mpi_on_slurm(const char *executor, const char *type)
{
    return strcmp(executor, "slurm") == 0 && strcmp(type, "mpi") == 0;
}

/* The processes that a launcher starts in a task share its processors: torchrun's and paddle's one for each GPU,
 * MPI's one for each slot of its host, which is a GPU or, without, a processor.  (On Slurm the ranks
 * inherit from the launcher.) */
static int threads_of(const char *executor, const char *library, const char *type, bool worker)
{
    enum { CPUS = 9, GPUS = 2 };
    bool mpi = strcmp(type, "mpi") == 0;
    bool launched = strcmp(type, "distributed") == 0 || strcmp(type, "elastic") == 0;
    if (mpi)
        return worker || is_mpi_on_slurm(executor, type) ? CPUS / GPUS : 1;
    launched =
        launched && (strcmp(library, "pytorch") == 0 || strcmp(library, "deepspeed") == 0 ||
                     (strcmp(type, "distributed") == 0 &&
                      (strcmp(library, "paddle") == 0 || strcmp(library, "mindspore") == 0)));
    return launched && worker ? CPUS / GPUS : CPUS;
}

static void compare_threads(const struct told *told, int expected, const char *what)
{
    const struct value *threads = value_get(told->env, "OMP_NUM_THREADS");
    assert_non_null(threads);
    if (atoi(threads->string.data) != expected)
        fail_msg("%s: OMP_NUM_THREADS is %s, expected %d", what, threads->string.data, expected);
}

/* TensorFlow has a row of its own for the chief. */
static bool speaks_of(const struct row *row, struct text role)
{
    bool tensorflow =
        text_starts(row->sets, "`TF_CONFIG") || text_starts(row->sets, "as TensorFlow");
    if (text_is(row->role, "counted"))
        return is_counted(role.data) && !(tensorflow && text_is(role, "chief"));
    return text_is(row->role, "*") || text_equal(row->role, role);
}

static void compare_job(const struct row *row, const char *library, const struct shape *shape,
                        const char *executor, const struct rendered *rendered)
{
    struct facts facts = {.executor = executor, .shape = shape};
    for (int i = 0; i < MOST_ROLES && shape->roles[i]; i++)
        facts.tasks += shape->counts[i];
    facts.port = context_port(TEXT("cell-0123456789abc"));
    /* (Hosts of MPI have nothing to run on Slurm.) */
    if (!is_mpi_on_slurm(executor, shape->type))
        assert_int_equal(rendered->count, facts.tasks);
    for (size_t i = 0; i < rendered->count; i++) {
        const struct told *told = &rendered->tasks[i];
        facts.role = told->role;
        facts.index = told->index;
        facts.rank = first_rank(&facts, role_number(&facts, told->role)) + told->index;
        facts.processes = text_is(told->role, "worker") ? 2 : 1;
        if (!speaks_of(row, told->role))
            continue;
        count_tasks(&facts, text_is(row->role, "*"));
        struct text what =
            arena_printf(arena, "%s/%s/%s, %.*s %d of %d tasks", executor, library, shape->type,
                         (int)told->role.length, told->role.data, told->index, facts.tasks);
        compare(wanted_of(row, &facts), told, what.data);
        compare_threads(told,
                        threads_of(executor, library, shape->type, text_is(told->role, "worker")),
                        what.data);
    }
}

/* ---- tests ---- */

/* One of two tables: MPI jobs are told something else on Slurm. */
static void check_table(const char *head, size_t least)
{
    size_t count;
    bool slurm = strcmp(head, slurm_table_head) == 0;
    struct row *rows = read_table(head, &count);
    assert_true(count >= least);
    for (size_t i = 0; i < count; i++) {
        size_t compared = 0;
        for (size_t l = 0; l < ARRAY_COUNT(libraries); l++)
            for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
                if (!fits(rows[i].library, libraries[l]) || !fits(rows[i].type, shapes[s].type))
                    continue;
                for (size_t e = 0; e < ARRAY_COUNT(executors); e++) {
                    struct rendered rendered;
                    if (slurm != is_mpi_on_slurm(executors[e], shapes[s].type) ||
                        !render(executors[e], libraries[l], &shapes[s], &rendered))
                        continue;
                    compare_job(&rows[i], libraries[l], &shapes[s], executors[e], &rendered);
                    compared++;
                }
            }
        if (compared < (slurm ? 1 : 2))
            fail_msg("no job fits the row of %s and %s", rows[i].library.data, rows[i].type.data);
    }
}

static void every_row_says_what_tasks_are_told(void **state)
{
    (void)state;
    check_table(table_head, 25);
    check_table(slurm_table_head, 1);
}

/* Tasks beside those that are counted are told nothing but what rows of their role say. */
static void who_is_not_counted_is_told_nothing(void **state)
{
    (void)state;
    struct row nothing = {TEXT("*"), TEXT("distributed"), TEXT("watch"), TEXT("")};
    size_t jobs = 0;
    for (size_t role = 0; role < 2; role++)
        for (size_t l = 0; l < ARRAY_COUNT(libraries); l++)
            for (size_t s = 0; s < ARRAY_COUNT(shapes); s++)
                for (size_t e = 0; e < ARRAY_COUNT(executors); e++) {
                    struct rendered rendered;
                    bool tensorflow = strcmp(libraries[l], "tensorflow") == 0 ||
                                      strcmp(libraries[l], "keras") == 0;
                    nothing.role = role ? TEXT("evaluator") : TEXT("watch");
                    if (strcmp(shapes[s].type, "distributed") != 0 ||
                        strcmp(libraries[l], "any") == 0 || (role && tensorflow) ||
                        !render(executors[e], libraries[l], &shapes[s], &rendered))
                        continue;
                    compare_job(&nothing, libraries[l], &shapes[s], executors[e], &rendered);
                    jobs++;
                }
    assert_true(jobs > 50);
}

/* JAX goes by Slurm's variables there, which count all tasks. */
static void jax_on_slurm_counts_as_others_do(void **state)
{
    (void)state;
    static const struct shape beside = {"distributed", {"evaluator", "worker"}, {1, 2}};
    static const struct shape equals = {"distributed", {"master", "worker"}, {1, 2}};
    for (size_t e = 0; e < ARRAY_COUNT(executors); e++) {
        bool slurm = strcmp(executors[e], "slurm") == 0;
        struct rendered rendered;
        assert_true(render(executors[e], "jax", &beside, &rendered));
        assert_int_equal(rendered.count, 3);
        for (size_t i = 0; i < rendered.count; i++) {
            const struct told *told = &rendered.tasks[i];
            bool counted = slurm && text_is(told->role, "worker");
            struct text tasks = value_get_text(told->env, "SLURM_NTASKS");
            assert_true(text_is(tasks, counted ? "2" : ""));
            if (counted)
                assert_true(text_equal(value_get_text(told->env, "SLURM_PROCID"),
                                       arena_printf(arena, "%d", told->index)));
        }
        assert_true(render(executors[e], "jax", &equals, &rendered));
        for (size_t i = 0; i < rendered.count; i++)
            assert_null(value_get(rendered.tasks[i].env, "SLURM_NTASKS"));
    }
}

static bool is_in_table(const struct row *rows, size_t count, const char *library, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (fits(rows[i].library, library) && text_is(rows[i].type, type))
            return true;
    return false;
}

static bool has_template(const char *executor, const char *library, const char *type)
{
    char path[128];
    snprintf(path, sizeof(path), "templates/%s/%s/%s.yaml", executor, library, type);
    return access(path, R_OK) == 0;
}

static void the_table_has_every_template(void **state)
{
    (void)state;
    size_t count, templates = 0;
    struct row *rows = read_table(table_head, &count);
    for (size_t l = 0; l < ARRAY_COUNT(libraries); l++)
        for (size_t t = 0; t < ARRAY_COUNT(types); t++) {
            bool is_there = has_template("local", libraries[l], types[t]);
            if (is_there != has_template("kubernetes", libraries[l], types[t]))
                fail_msg("only one executor has a template for %s and %s", libraries[l], types[t]);
            if (is_there != has_template("slurm", libraries[l], types[t]))
                fail_msg("Slurm has no template for %s and %s, or only it", libraries[l], types[t]);
            if (is_there != is_in_table(rows, count, libraries[l], types[t]))
                fail_msg("%s and %s: %s", libraries[l], types[t],
                         is_there ? "a template, and no row of the table"
                                  : "a row of the table, and no template");
            templates += is_there;
        }
    assert_true(templates >= 80);
}

/* What the same task of the same job has in common on two executors. */
static void compare_executors(const char *what, const struct rendered *one,
                              const struct rendered *other, bool other_places)
{
    static const char *const places[] = {"HOME", "DLSPOOL_PROGRAM", "DLSPOOL_DATASET",
                                         "DLSPOOL_OUTPUT"};
    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_true(text_equal(one->tasks[i].role, other->tasks[i].role));
        assert_int_equal(one->tasks[i].index, other->tasks[i].index);
        for (size_t v = 0; v < one->tasks[i].env->object.count; v++) {
            const struct member *member = &one->tasks[i].env->object.members[v];
            const struct member *same = value_member(other->tasks[i].env, member->key);
            if (!is_common(member->key) ||
                (other_places && is_of(places, ARRAY_COUNT(places), member->key)))
                continue;
            if (!same || !text_equal(same->value->string, member->value->string))
                fail_msg("%s: %s is %s here and %s there", what, member->key.data,
                         member->value->string.data, same ? same->value->string.data : "not set");
        }
    }
}

/* What is said to who asks a library for several tasks that it would let work each for itself, or NULL. */
static const char *refusal_of(const char *library, const char *type)
{
    static const struct {
        const char *library, *type;
    } instead[] = {{"horovod", "mpi"},
                   {"cntk", "mpi"},
                   {"chainer", "mpi"},
                   {"caffe", "single"},
                   {"caffe2", "single"},
                   {"mxnet", "ps"},
                   {"sklearn", "single, or array for a sweep"}};
    static const char *const several[] = {"distributed", "ps", "elastic"};
    for (size_t i = 0; i < ARRAY_COUNT(instead); i++)
        if (strcmp(instead[i].library, library) == 0 && strcmp(instead[i].type, type) != 0 &&
            is_of(several, ARRAY_COUNT(several), text_of(type)))
            return instead[i].type;
    return NULL;
}

/* Each of the pairs gets a template, whose manifest the executor would take; and the tasks are the
 * same on each.  What a library cannot do is refused with the type that it can. */
static void every_pair_renders_for_every_executor(void **state)
{
    (void)state;
    for (size_t l = 0; l < ARRAY_COUNT(libraries); l++)
        for (size_t t = 0; t < ARRAY_COUNT(types); t++) {
            char what[128];
            bool some = false;
            const char *instead = refusal_of(libraries[l], types[t]);
            snprintf(what, sizeof(what), "%s and %s", libraries[l], types[t]);
            for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
                struct rendered one, other;
                if (strcmp(shapes[s].type, types[t]) != 0)
                    continue;
                bool taken = render("local", libraries[l], &shapes[s], &one);
                some = some || taken;
                for (size_t e = 1; e < ARRAY_COUNT(executors); e++) {
                    if (taken != render(executors[e], libraries[l], &shapes[s], &other))
                        fail_msg("not every executor refuses %s: %s", what, error.text);
                    if (taken && !is_mpi_on_slurm(executors[e], types[t]))
                        compare_executors(what, &one, &other, strcmp(executors[e], "slurm") == 0);
                }
            }
            if (some == (instead != NULL))
                fail_msg("%s: %s", what, some ? "expected to be refused" : error.text);
            if (instead &&
                !strstr(error.text, arena_printf(arena, "; ask for the type %s. (", instead).data))
                fail_msg("%s: expected the type %s, and found: %s", what, instead, error.text);
        }
}

/* Indexes with gaps, as a second attempt has them, and values that a shell would like to read. */
static void an_array_gives_each_task_its_own(void **state)
{
    (void)state;
    static const int indexes[] = {3, 6, 11};
    const struct text rates[] = {TEXT("0.1"), TEXT("it's $HOME `x` \"2\""), TEXT("")};
    const struct text sizes[] = {TEXT("32"), TEXT("$(DLSPOOL_INDEX) $$ 64\n"), TEXT("a b"),
                                 TEXT("-n")};
    const struct array_choice choices[] = {{TEXT("RATE"), rates, 3, 4},
                                           {TEXT("SIZE"), sizes, 4, 1}};
    static const struct shape shape = {"array", {"main"}, {3}};
    sweep = (struct array){.indexes = indexes,
                           .count = 3,
                           .total = 12,
                           .greatest = 11,
                           .at_once = 2,
                           .choices = choices,
                           .choices_count = 2};
    for (size_t e = 0; e < ARRAY_COUNT(executors); e++) {
        struct rendered rendered;
        assert_true(render(executors[e], "pytorch", &shape, &rendered));
        assert_int_equal(rendered.count, 3);
        for (int task = 0; task < 3; task++) {
            const struct value *env = rendered.tasks[task].env;
            struct text index = arena_printf(arena, "%d", indexes[task]);
            assert_true(text_equal(value_get_text(env, "DLSPOOL_ARRAY_INDEX"), index));
            assert_true(text_equal(value_get_text(env, "SLURM_ARRAY_TASK_ID"), index));
            assert_true(text_is(value_get_text(env, "SLURM_ARRAY_TASK_MIN"), "0"));
            assert_true(text_is(value_get_text(env, "SLURM_ARRAY_TASK_MAX"), "11"));
            assert_true(text_is(value_get_text(env, "SLURM_ARRAY_TASK_COUNT"), "12"));
            assert_true(text_equal(value_get_text(env, "RATE"), rates[indexes[task] / 4 % 3]));
            assert_true(text_equal(value_get_text(env, "SIZE"), sizes[indexes[task] % 4]));
        }
    }
    sweep.count = 0;
}

/* What is shipped, with storage for the jobs' program. */
static void put_site(void)
{
    static const char nowhere[] = "storage: []";
    struct buffer site = {0};
    struct buffer out = {0};
    scratch_require(read_file("templates/site.yaml", &site) == 0, "templates/site.yaml");
    const char *found = strstr(site.data, nowhere);
    scratch_require(found != NULL, nowhere);
    buffer_add(&out, site.data, (size_t)(found - site.data));
    buffer_add_string(&out, "storage: [{prefix: /, nfs: {server: nas, path: /}}]");
    buffer_add_string(&out, found + sizeof(nowhere) - 1);
    scratch_put(&scratch, "site.yaml", out.data);
    buffer_free(&out);
    buffer_free(&site);
}

static int set_up(void **state)
{
    (void)state;
    struct buffer bytes = {0};
    kept = arena_new();
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    put_site();
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    scratch_require(repository && repository_refresh(repository, &error) == 0, "repository");
    scratch_require(read_file("docs/libraries.md", &bytes) == 0, "docs/libraries.md");
    page = buffer_text(&bytes);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free((char *)(uintptr_t)page.data);
    repository_close(repository);
    scratch_close(&scratch);
    arena_free(kept);
    return 0;
}

static int start(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int finish(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_row_says_what_tasks_are_told, start, finish),
        cmocka_unit_test_setup_teardown(who_is_not_counted_is_told_nothing, start, finish),
        cmocka_unit_test_setup_teardown(jax_on_slurm_counts_as_others_do, start, finish),
        cmocka_unit_test_setup_teardown(the_table_has_every_template, start, finish),
        cmocka_unit_test_setup_teardown(an_array_gives_each_task_its_own, start, finish),
        cmocka_unit_test_setup_teardown(every_pair_renders_for_every_executor, start, finish),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
