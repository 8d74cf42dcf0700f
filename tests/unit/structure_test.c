/* tests/unit/structure_test.c - no string of a job changes the structure of its manifest
 *
 * Every shipped template renders jobs whose strings are made of what means something to YAML,
 * JSON, JSON-e, shells and terminals.  The manifest with its leaves taken out must be that of a
 * harmless job of the same shape, must hold the strings unchanged (on a cluster: after what a
 * kubelet makes of them), and must read back as what was rendered (manifest_render_with()
 * compares).  Cases come from a fixed seed; DLSPOOL_SEED and DLSPOOL_CASES give other ones, and
 * DLSPOOL_CASE runs a single one again.
 *
 * Can it fail?  The last test puts the same harness before templates that are open to injection,
 * and requires that it objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "renderer/context.h"
#include "renderer/manifest.h"
#include "tests/unit/kubelet.h"
#include "tests/unit/scratch_repository.h"

#if defined(__SANITIZE_ADDRESS__)
enum { DEFAULT_CASES = 4000 }; /* the sanitizers make each case ten times as slow */
#else
enum { DEFAULT_CASES = 12000 }; /* make check-long has 60000 */
#endif

enum { MOST_TEMPLATES = 512, SHAPES = 64, FEW_TASKS = 8 };

static struct scratch scratch;
static struct repository *repository;
static char *paths[MOST_TEMPLATES]; /* of the shipped templates */
static size_t path_count;
static uint64_t state_of_chance;

/* Each case starts from a number of its own (splitmix64), so that it can be run alone. */
static void start_case(uint64_t seed, size_t number)
{
    uint64_t x = seed + number * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    state_of_chance = (x ^ (x >> 31)) | 1;
}

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

/* Strings */

static const char *const fragments[] = {
    "${",
    "${job.id}",
    "$${",
    "$eval",
    "$if",
    "$include",
    "$let",
    "}",
    "{",
    "{{",
    "}}",
    "<%",
    "%>",
    "${now}",
    "$json",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\n- ",
    "\n  ",
    ": ",
    ":",
    "- ",
    "? ",
    "#",
    " #",
    "&a",
    "*a",
    "!!str",
    "!",
    "|",
    ">",
    "'",
    "''",
    "\"",
    "\\",
    "\\\"",
    "\\n",
    "\\u0000",
    "%",
    "@",
    "`",
    "`id`",
    "$(id)",
    "$HOME",
    ";",
    "&&",
    "||",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    ",",
    "~",
    "null",
    "true",
    "no",
    "010",
    "1e3",
    "0x10",
    "-",
    "--",
    "---\n",
    "...\n",
    "...",
    "<<",
    "=",
    " ",
    "  ",
    "\x01",
    "\x07",
    "\x08",
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x7f",
    "\xc2\x85",
    "\xc2\x9b",
    "\xc2\xa0",
    "\xe2\x80\xa8",
    "\xe2\x80\xa9",
    "\xef\xbb\xbf",
    "\xef\xbf\xbd",
    "\xef\xbf\xbe",
    "\xef\xbf\xbf",
    "\xe2\x80\xae",
    "caf\xc3\xa9",
    "\xe6\xbc\xa2\xe5\xad\x97",
    "\xf0\x9f\x98\x80",
    "\xf4\x8f\xbf\xbf",
    "/",
    "..",
    "../",
    "/etc/passwd",
    "x",
    "train",
    ".py",
    ".sh",
    "#!",
    "</script>",
    "<b>",
    "&amp;",
    "\"}],\"x\":[{\"",
    "'; rm -rf / #",
    "kind: evil\n",
    "tasks: []",
    "$",
    "$$",
    "$(",
    "$(DLSPOOL_INDEX)",
    "$$(HOME)",
    "$(DLSPOOL_JOB_NAME)",
};

enum { FRAGMENTS = ARRAY_COUNT(fragments) };

static struct text hostile(struct arena *arena, bool may_be_empty)
{
    struct buffer buffer = {0};
    size_t pieces = below(6) + !may_be_empty;
    if (below(2000) == 0)
        pieces = 5000;
    for (size_t i = 0; i < pieces; i++) {
        if (below(4) == 0) {
            /* Any byte of ASCII but NUL. */
            buffer_add_byte(&buffer, (char)(1 + below(127)));
        } else {
            buffer_add_string(&buffer, fragments[below(FRAGMENTS)]);
        }
    }
    struct text text = arena_text(arena, buffer.data ? buffer.data : "", buffer.length);
    buffer_free(&buffer);
    return text;
}

/* A harmless string that a template may treat alike: it begins and ends alike, and is empty when
 * the other one is. */
static struct text harmless(struct arena *arena, struct text text)
{
    const char *start = text_starts(text, "#!") ? "#!" : "";
    const char *end = text_ends(text, ".py") ? ".py" : text_ends(text, ".sh") ? ".sh" : "";
    return text.length ? arena_printf(arena, "%sx%s", start, end) : TEXT("");
}

/* Jobs */

struct pair {
    struct context_job evil, tame;
};

static void both(struct arena *arena, struct text *evil, struct text *tame, bool may_be_empty)
{
    *evil = hostile(arena, may_be_empty);
    *tame = harmless(arena, *evil);
}

/* The templates for a cluster look where an absolute path lies. */
static void both_paths(struct arena *arena, struct text *evil, struct text *tame, bool rooted)
{
    both(arena, evil, tame, false);
    if (!rooted)
        return;
    *evil = arena_printf(arena, "/%s", evil->data);
    *tame = arena_printf(arena, "/%s", tame->data);
}

static void both_envs(struct arena *arena, struct value **evil, struct value **tame, size_t count,
                      bool wild_names)
{
    static const char *const names[] = {"A", "PATH", "HOME",     "RANK", "DLSPOOL_JOB_ID",
                                        "_", "z9",   "TF_CONFIG"};
    if (count == 0)
        return;
    *evil = value_object(arena);
    *tame = value_object(arena);
    for (size_t i = 0; i < count; i++) {
        struct text one, other;
        struct text name = wild_names ? hostile(arena, true) : text_of(names[i]);
        if (name.length > 100)
            name.length = 0;
        both(arena, &one, &other, true);
        value_set(arena, *evil, name, value_text(arena, one));
        value_set(arena, *tame, name, value_text(arena, other));
    }
}

static void both_words(struct arena *arena, const struct text **evil, const struct text **tame,
                       size_t count)
{
    struct text *one = arena_allocate(arena, (count + 1) * sizeof(*one));
    struct text *other = arena_allocate(arena, (count + 1) * sizeof(*other));
    for (size_t i = 0; i < count; i++)
        both(arena, &one[i], &other[i], true);
    *evil = one;
    *tame = other;
}

static bool is_single(const char *path)
{
    return strstr(path, "/single.yaml") != NULL;
}

static bool is_for_cluster(const char *path)
{
    return text_starts(text_of(path), "kubernetes/");
}

static bool is_for_slurm(const char *path)
{
    return text_starts(text_of(path), "slurm/");
}

/* A shape, 0 to 63, says which fields a job has; the strings in them come from chance. */
static struct pair make_pair(struct arena *arena, const char *path, size_t shape, bool wild_names)
{
    bool single = is_single(path), rooted = is_for_cluster(path);
    struct pair pair = {0};
    struct context_job *evil = &pair.evil, *tame = &pair.tame;
    struct context_role *role = arena_allocate(arena, 2 * sizeof(*role));
    *evil = (struct context_job){.uid = 1000, .gid = 1000, .roles_count = 1};
    evil->size_min = strstr(path, "/elastic.yaml") ? 1 : 0;
    evil->size_max = evil->size_min ? 4 : 0;
    evil->args_count = shape % 3;
    *tame = *evil;

    both(arena, &evil->id, &tame->id, false);
    both(arena, &evil->name, &tame->name, false);
    both(arena, &evil->owner, &tame->owner, false);
    both(arena, &evil->library, &tame->library, false);
    both(arena, &evil->version, &tame->version, true);
    both(arena, &evil->type, &tame->type, false);
    if (shape & 1)
        both_paths(arena, &evil->dataset, &tame->dataset, rooted);
    if (shape & 2)
        both_paths(arena, &evil->output, &tame->output, rooted);
    if (shape & 4)
        both(arena, &evil->gpu_type, &tame->gpu_type, false);
    if (shape & 8) {
        both(arena, &evil->script, &tame->script, false);
    } else {
        both_paths(arena, &evil->program, &tame->program, rooted);
        if (shape & 16)
            both(arena, &evil->entry, &tame->entry, false);
    }
    both_words(arena, &evil->args, &tame->args, evil->args_count);
    both_envs(arena, &evil->env, &tame->env, shape & 32 ? 4 : 0, wild_names);

    role[0] = (struct context_role){.count = single ? 1 : 2, .cpus = 500, .memory = 1 << 20};
    role[0].command_count = (shape & 24) == 24 ? 2 : 0;
    role[1] = role[0];
    both(arena, &role[0].role, &role[1].role, false);
    both_words(arena, &role[0].command, &role[1].command, role[0].command_count);
    both_envs(arena, &role[0].env, &role[1].env, shape & 4 ? 3 : 0, wild_names);
    evil->roles = &role[0];
    tame->roles = &role[1];
    return pair;
}

/* Manifests */

enum { PORT_FIRST = 15000, PORT_LAST = 31999 };

/* Append what is left of a tree without its leaves: kinds, keys, numbers of items; numbers and
 * booleans are no user's text and stay.  TF_CONFIG holds JSON, whose strings are ours. */
static void add_skeleton(struct buffer *out, const struct value *value)
{
    switch (value->kind) {
    case VALUE_LIST:
        buffer_add_byte(out, '[');
        for (size_t i = 0; i < value->list.count; i++)
            add_skeleton(out, value->list.items[i]);
        buffer_add_byte(out, ']');
        break;
    case VALUE_OBJECT:
        buffer_add_byte(out, '{');
        for (size_t i = 0; i < value->object.count; i++) {
            buffer_printf(out, "%zu:", value->object.members[i].key.length);
            buffer_add_text(out, value->object.members[i].key);
            /* Its keys are names of roles, which the request checks. */
            if (text_is(value->object.members[i].key, "complete"))
                buffer_printf(out, "{%zu}", value->object.members[i].value->object.count);
            else
                add_skeleton(out, value->object.members[i].value);
        }
        buffer_add_byte(out, '}');
        break;
    case VALUE_NUMBER:
        /* A job's port follows from its id, and those of its tasks, which are few, lie behind it. */
        if (value->number >= PORT_FIRST && value->number < PORT_LAST + FEW_TASKS)
            buffer_add_string(out, "port;");
        else
            buffer_printf(out, "%g;", value->number);
        break;
    case VALUE_BOOLEAN:
        buffer_add_byte(out, value->boolean ? 't' : 'f');
        break;
    default:
        buffer_printf(out, "<%s>", value_kind_name(value->kind));
    }
}

/* The skeleton of the manifest of a job; "" and a word on standard error when there is none. */
static void render_skeleton(struct arena *arena, const char *path, const struct context_job *job,
                            struct buffer *out, struct render_result *result)
{
    enum render_failure failure;
    struct error error;
    buffer_clear(out);
    if (manifest_render_with(arena, repository, path, TEXT("host"), context_job(arena, job), 0,
                             result, &failure, &error)) {
        print_message("%s: %s\n", path, error.text);
        return;
    }
    add_skeleton(out, result->tree);
}

static bool last_words_are(const struct value *command, const struct text *words, size_t count)
{
    if (!command || command->kind != VALUE_LIST || command->list.count < count)
        return false;
    struct value **last = command->list.items + command->list.count - count;
    for (size_t i = 0; i < count; i++)
        if (last[i]->kind != VALUE_STRING || !text_equal(last[i]->string, words[i]))
            return false;
    return true;
}

static bool env_holds(const struct value *env, const struct value *wanted, const char *executor)
{
    for (size_t i = 0; wanted && i < wanted->object.count; i++) {
        const struct member *member = &wanted->object.members[i];
        const struct member *found = value_member(env, member->key);
        if (!found || found->value->kind != VALUE_STRING)
            return false;
        if (!text_starts(member->key, executor) &&
            !text_equal(found->value->string, member->value->string))
            return false;
    }
    return true;
}

/* What the user wrote is there as written. */
static bool holds_strings(const struct value *tree, const struct context_job *job)
{
    const struct value *tasks = value_get(tree, "tasks");
    for (size_t i = 0; i < tasks->list.count; i++) {
        const struct value *task = tasks->list.items[i], *env = value_get(task, "env");
        const struct value *files = value_get(task, "files");
        if (!last_words_are(value_get(task, "command"), job->args, job->args_count) ||
            !env_holds(env, job->roles[0].env, "DLSPOOL_") ||
            !text_equal(value_get_text(value_get(tree, "env"), "DLSPOOL_JOB_NAME"), job->name) ||
            !text_equal(value_get_text(task, "role"), job->roles[0].role))
            return false;
        if (!job->roles[0].env && !env_holds(env, job->env, "DLSPOOL_"))
            return false;
        if (job->script.length &&
            !text_equal(value_get_text(files->list.items[0], "content"), job->script))
            return false;
    }
    return tasks->list.count > 0;
}

/* Is there a volume of that name that stands for the path? */
static bool has_volume(const struct value *pod, const char *name, struct text path)
{
    const struct value *volumes = value_get(pod, "volumes");
    for (size_t i = 0; i < volumes->list.count; i++) {
        const struct value *volume = volumes->list.items[i];
        struct text found = value_get_text(value_get(volume, "hostPath"), "path");
        if (text_is(value_get_text(volume, "name"), name) && text_starts(found, "/all") &&
            text_equal((struct text){found.data + 4, found.length - 4}, path))
            return true;
    }
    return path.length == 0;
}

/* Is its script an annotation of its pods, as a short one is? */
static bool is_annotated(const struct context_job *job)
{
    enum { MOST = 4096 };
    size_t characters = 0, copies = 1;
    for (size_t i = 0; i < job->script.length; i++)
        characters += (job->script.data[i] & 0xc0) != 0x80;
    for (size_t i = 0; i < job->roles_count; i++)
        copies += (size_t)job->roles[i].count;
    return characters > 0 && characters * copies <= MOST;
}

/* The same for a cluster: what the program would see. */
static bool cluster_holds_strings(struct arena *arena, const struct value *tree,
                                  const struct context_job *job)
{
    const struct value *items = value_get(tree, "items"), *first = items->list.items[0];
    const struct value *template = value_get(value_get(first, "spec"), "template");
    const struct value *pod = value_get(template, "spec");
    const struct value *container = value_get(pod, "containers")->list.items[0];
    const struct value *env = kubelet_environment(arena, container, 0);
    const char *key = value_get(container, "args") ? "args" : "command";
    const struct value *labels = value_get(value_get(first, "metadata"), "labels");
    const struct value *wanted = job->roles[0].env ? job->roles[0].env : job->env;
    const struct value *annotations = value_get(value_get(template, "metadata"), "annotations");
    const struct value *script = is_annotated(job)
                                     ? value_get(annotations, "dlspool-script")
                                     : value_get(value_get(items->list.items[1], "data"), "script");
    if (job->script.length && !(script && text_equal(script->string, job->script)))
        return false;
    return last_words_are(kubelet_words(arena, container, key, env), job->args, job->args_count) &&
           env_holds(env, wanted, "DLSPOOL_") &&
           text_equal(value_get_text(env, "DLSPOOL_JOB_NAME"), job->name) &&
           text_equal(value_get_text(labels, "dlspool/role"), job->roles[0].role) &&
           has_volume(pod, "program", job->program) && has_volume(pod, "dataset", job->dataset) &&
           has_volume(pod, "output", job->output);
}

static void add_quoted(struct buffer *out, const char *before, struct text word)
{
    buffer_printf(out, "'%s", before);
    for (size_t i = 0; i < word.length; i++)
        if (word.data[i] == '\'')
            buffer_add_string(out, "'\\''");
        else
            buffer_add_byte(out, word.data[i]);
    buffer_add_byte(out, '\'');
}

static bool script_has(const struct value *tree, struct buffer *words)
{
    bool has = text_contains(value_get_text(tree, "script"), buffer_text(words));
    buffer_clear(words);
    return has;
}

/* The same for Slurm: every string is a quoted word of the script (what bash makes of that
 * slurm_script_test.c shows). */
static bool script_holds_strings(const struct value *tree, const struct context_job *job)
{
    struct buffer words = {0};
    const struct value *env = job->roles[0].env ? job->roles[0].env : job->env;
    bool held = true;
    buffer_add(&words, "", 0);
    for (size_t i = 0; i < job->args_count; i++) {
        buffer_add_byte(&words, ' ');
        add_quoted(&words, "", job->args[i]);
    }
    buffer_add_string(&words, ")\n");
    held = held && script_has(tree, &words);
    for (size_t i = 0; env && i < env->object.count; i++) {
        char name[128];
        struct text key = env->object.members[i].key;
        if (text_starts(key, "DLSPOOL_"))
            continue;
        snprintf(name, sizeof(name), "%.*s=", (int)key.length, key.data);
        if (memchr(key.data, '\'', key.length))
            continue;
        add_quoted(&words, name, env->object.members[i].value->string);
        held = held && script_has(tree, &words);
    }
    if (job->script.length) {
        buffer_add_string(&words, "printf '%s' ");
        add_quoted(&words, "", job->script);
        buffer_add_string(&words, " >\"$made\"/'script' ");
        held = held && script_has(tree, &words);
    }
    add_quoted(&words, "DLSPOOL_JOB_NAME=", job->name);
    held = held && script_has(tree, &words);
    buffer_free(&words);
    return held;
}

/* What a template may rightly look at in a job's strings: 0 to CLASSES - 1. */
enum { CLASSES = 36 };

static size_t ending(struct text text)
{
    return text_ends(text, ".py") ? 1 : text_ends(text, ".sh") ? 2 : 0;
}

static size_t class_of(const struct context_job *job)
{
    return ((is_annotated(job) * 2 + text_starts(job->script, "#!")) * 3 + ending(job->entry)) * 3 +
           ending(job->program);
}

/* The skeleton of the harmless job is the same for all cases of a path, shape and class. */
static char *tame_skeletons[MOST_TEMPLATES][SHAPES][CLASSES];

static const char *tame_skeleton(struct arena *arena, size_t path, size_t shape,
                                 const struct context_job *tame)
{
    static struct buffer skeleton;
    struct render_result result = {0};
    char **kept = &tame_skeletons[path][shape][class_of(tame)];
    if (!*kept) {
        render_skeleton(arena, paths[path], tame, &skeleton, &result);
        *kept = memory_copy_string(skeleton.data ? skeleton.data : "");
    }
    return *kept;
}

/* Where a template looks at the length of a script, the harmless one has a length of the same kind. */
static void fit_script(struct arena *arena, struct pair *pair)
{
    enum { LONG = 5000 };
    if (is_annotated(&pair->evil) == is_annotated(&pair->tame))
        return;
    assert_true(pair->tame.script.length < LONG);
    char *script = arena_allocate(arena, LONG + 1);
    memset(script, 'x', LONG);
    memcpy(script, pair->tame.script.data, pair->tame.script.length);
    pair->tame.script = (struct text){script, LONG};
}

/* One case; false when the manifest's structure or strings changed. */
static bool case_holds(struct arena *arena, size_t path, size_t shape, bool wild_names,
                       bool strings)
{
    static struct buffer evil, tame;
    struct render_result result = {0}, other = {0};
    struct pair pair = make_pair(arena, paths[path], shape, wild_names);
    fit_script(arena, &pair);
    render_skeleton(arena, paths[path], &pair.evil, &evil, &result);
    if (evil.length == 0)
        return false;
    if (wild_names)
        render_skeleton(arena, paths[path], &pair.tame, &tame, &other);
    const char *wanted = wild_names ? tame.data : tame_skeleton(arena, path, shape, &pair.tame);
    if (strcmp(evil.data, wanted) != 0)
        return false;
    if (!strings)
        return true;
    if (is_for_slurm(paths[path]))
        return script_holds_strings(result.tree, &pair.evil);
    return is_for_cluster(paths[path]) ? cluster_holds_strings(arena, result.tree, &pair.evil)
                                       : holds_strings(result.tree, &pair.evil);
}

/* Tests */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void run_cases(size_t cases, bool wild_names)
{
    struct arena *arena = arena_new();
    uint64_t seed = number_from("DLSPOOL_SEED", 20261121);
    size_t first = (size_t)number_from("DLSPOOL_CASE", 0);
    for (size_t i = first; i < (getenv("DLSPOOL_CASE") ? first + 1 : cases); i++) {
        start_case(seed, i);
        arena_reset(arena);
        if (!case_holds(arena, i % path_count, i / path_count % SHAPES, wild_names, true))
            fail_msg("%s, shape %zu: the manifest changed; DLSPOOL_SEED=%llu DLSPOOL_CASE=%zu runs "
                     "this case alone",
                     paths[i % path_count], i / path_count % SHAPES, (unsigned long long)seed, i);
    }
    arena_free(arena);
}

static void strings_never_change_the_structure(void **state)
{
    (void)state;
    run_cases((size_t)number_from("DLSPOOL_CASES", DEFAULT_CASES), false);
}

static void names_of_variables_change_nothing_but_themselves(void **state)
{
    (void)state;
    run_cases((size_t)number_from("DLSPOOL_CASES", DEFAULT_CASES) / 10, true);
}

static void forget_skeletons(void)
{
    char **kept = &tame_skeletons[0][0][0];
    for (size_t i = 0; i < (size_t)MOST_TEMPLATES * SHAPES * CLASSES; i++) {
        free(kept[i]);
        kept[i] = NULL;
    }
}

static void templates_open_to_injection_are_caught(void **state)
{
    (void)state;
    static const char *const open_templates[] = {
        "tasks: [{'${job.name}': 1}]\n",
        "tasks: {$eval: 'split(job.name, \" \")'}\n",
        "tasks:\n- $if: job.name == \"x\"\n  then: 1\n",
        "tasks: [{$merge: [{'a': 1}, {'${job.owner}': 2}]}]\n",
        "tasks: {$eval: len(job.name)}\n",
    };
    struct arena *arena = arena_new();
    char *kept = paths[0];
    paths[0] = memory_copy_string("local/open/single.yaml");
    for (size_t i = 0; i < ARRAY_COUNT(open_templates); i++) {
        struct error error;
        scratch_put(&scratch, "local/open/single.yaml", open_templates[i]);
        scratch_commit(&scratch);
        assert_int_equal(repository_refresh(repository, &error), 0);
        forget_skeletons();
        bool held = true;
        for (size_t tries = 0; tries < 200 && held; tries++) {
            start_case(1, tries);
            arena_reset(arena);
            held = case_holds(arena, 0, tries % SHAPES, false, false);
        }
        assert_false(held);
    }
    free(paths[0]);
    paths[0] = kept;
    arena_free(arena);
}

static int collect_path(void *context, const char *path)
{
    (void)context;
    struct text text = text_of(path);
    /* (ps templates want roles of certain names, and are else made of the same parts.) */
    bool wanted = (text_starts(text, "local/") || is_for_cluster(path) || is_for_slurm(path)) &&
                  !text_ends(text, "/ps.yaml");
    if (wanted && text_ends(text, ".yaml") && path_count < MOST_TEMPLATES)
        paths[path_count++] = memory_copy_string(path);
    return 0;
}

/* The shipped site.yaml, with all directories at hand for pods. */
static void put_site(void)
{
    static const char without[] = "storage: []", with[] = "storage: [{prefix: /, hostPath: {path: "
                                                          "/all}}]";
    FILE *stream = fopen("templates/site.yaml", "r");
    struct buffer site = {0};
    size_t got;
    assert_non_null(stream);
    while ((got = fread(buffer_reserve(&site, 4096), 1, 4096, stream)) > 0)
        site.length += got;
    fclose(stream);
    buffer_add_byte(&site, '\0');
    char *place = strstr(site.data, without);
    assert_non_null(place);
    *place = '\0';
    struct buffer whole = {0};
    buffer_printf(&whole, "%s%s%s", site.data, with, place + strlen(without));
    scratch_put(&scratch, "site.yaml", whole.data);
    buffer_free(&whole);
    buffer_free(&site);
}

static int set_up(void **state)
{
    (void)state;
    struct error error;
    scratch_open(&scratch);
    scratch_import_shipped(&scratch);
    put_site();
    scratch_commit(&scratch);
    repository = repository_open(scratch.path, "HEAD", &error);
    if (!repository || repository_refresh(repository, &error)) {
        print_message("%s\n", error.text);
        return -1;
    }
    repository_walk(repository, collect_path, NULL);
    return path_count >= 14 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < path_count; i++)
        free(paths[i]);
    forget_skeletons();
    repository_close(repository);
    scratch_close(&scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_never_change_the_structure),
        cmocka_unit_test(names_of_variables_change_nothing_but_themselves),
        cmocka_unit_test(templates_open_to_injection_are_caught),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
