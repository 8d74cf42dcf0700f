/* renderer/samples.c - sample jobs, which show whether a template renders */
#include "renderer/samples.h"

#include <string.h>

#include "renderer/context.h"

/* What the job runs. */
struct form {
    const char *description, *program, *entry, *script;
    bool command;
};

static const struct form forms[] = {
    {"a Python entry", "/data/program", "train.py", NULL, false},
    {"a shell entry", "/data/program", "bin/train.sh", NULL, false},
    {"an entry of another kind", "/data/program", "x", NULL, false},
    {"a program without entry", "/data/program.py", NULL, NULL, false},
    {"a script with an interpreter line", NULL, NULL, "#!/bin/sh\necho hello\n", false},
    {"a script", NULL, NULL, "echo hello\n", false},
    {"a command of the role", NULL, NULL, NULL, true},
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* What a job may give or leave out: one bit each. */
enum option {
    WITH_DATASET = 1,
    WITH_OUTPUT = 2,
    WITH_GPUS = 4,
    WITH_SHM = 8,
    WITH_LIMITS = 16, /* time_limit, version, args, env, debug, complete */
    WITH_HOST_IMAGE = 32,
    OPTIONS = 64,
    WITH_PLATFORM = 64, /* only of type roles */
};

/* The roles of a job type, and how many tasks each has. */
struct shape {
    const char *type, *roles[2];
    int counts[2];
};

static const struct shape shapes[] = {
    {"single", {"main", NULL}, {1, 0}},        {"notebook", {"main", NULL}, {1, 0}},
    {"distributed", {"worker", NULL}, {2, 0}}, {"elastic", {"worker", NULL}, {2, 0}},
    {"array", {"main", NULL}, {2, 0}},         {"serving", {"server", NULL}, {1, 0}},
    {"ps", {"ps", "worker"}, {1, 2}},          {"mpi", {"launcher", "worker"}, {1, 2}},
    {NULL, {"master", "worker"}, {1, 2}}, /* any other type */
};

static const struct shape *shape_of(const char *type)
{
    const struct shape *shape = shapes;
    while (shape->type && strcmp(shape->type, type) != 0)
        shape++;
    return shape;
}

static size_t option_count(const char *type)
{
    return strcmp(type, "roles") == 0 ? 2 * OPTIONS : OPTIONS;
}

size_t sample_count(const char *type)
{
    return FORMS * option_count(type);
}

static struct value *sample_env(struct arena *arena, const char *name, const char *value)
{
    struct value *env = value_object(arena);
    value_put(arena, env, name, value_string(arena, value));
    return env;
}

static struct value *sample_rule(struct arena *arena, const char *role)
{
    struct value *rule = value_object(arena), *numbers = value_object(arena);
    value_put(arena, numbers, "succeeded", value_number(arena, 1));
    value_put(arena, rule, role, numbers);
    return rule;
}

static const char *describe(struct arena *arena, const struct form *form, size_t options,
                            const struct shape *shape)
{
    return arena_printf(
               arena, "%s%s%s%s%s%s%s, %d %s", form->description,
               options & WITH_DATASET ? ", a dataset" : "",
               options & WITH_OUTPUT ? ", an output" : "", options & WITH_GPUS ? ", GPUs" : "",
               options & WITH_SHM ? ", shm" : "",
               options & WITH_LIMITS ? ", time_limit, version, args, env, debug, complete" : "",
               options & WITH_HOST_IMAGE ? ", image host" : "", shape->counts[0] + shape->counts[1],
               shape->counts[0] + shape->counts[1] == 1 ? "task" : "tasks")
        .data;
}

/* What roles of jobs that were written for another system may have of their own. */
static void add_script(struct context_role *role, bool second)
{
    role->script = TEXT("#!/bin/bash\necho hello\n");
    role->secret = second;
    if (second)
        role->image = TEXT("registry.example.org/team/y:1");
}

struct sample sample_build(struct arena *arena, const char *library, const char *type,
                           size_t number)
{
    static const struct text words[] = {{"train", 5}, {"--rate=0.1", 10}};
    static const struct context_registry registries[] = {
        {{"registry.example.org", 20}, {"somebody", 8}, {"secret", 6}}};
    static const struct role_port ports[] = {{{"http", 4}, 1, 0}, {{"data.x", 6}, 2, 0}};
    const struct form *form = &forms[number / option_count(type) % FORMS];
    const struct shape *shape = shape_of(type);
    size_t options = number % option_count(type);
    struct context_role *roles = arena_allocate(arena, 2 * sizeof(*roles));
    size_t count = shape->roles[1] ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        roles[i] = (struct context_role){.role = text_of(shape->roles[i]),
                                         .count = shape->counts[i],
                                         .cpus = 1500,
                                         .memory = (int64_t)1 << 30,
                                         .shm = options & WITH_SHM ? 1 << 26 : 0,
                                         .gpus = options & WITH_GPUS ? 1 : 0,
                                         .command = words,
                                         .command_count = form->command ? 2 : 0};
        if (options & WITH_LIMITS)
            roles[i].env = sample_env(arena, "ROLE_SETTING", "on");
        if (options & (WITH_LIMITS | WITH_PLATFORM)) {
            roles[i].ports = ports;
            roles[i].ports_count = 2;
            roles[i].storage = (int64_t)1 << 30;
        }
        if ((options & WITH_PLATFORM) && !form->command)
            add_script(&roles[i], i > 0);
    }
    struct context_job job = {
        .id = TEXT("sample-0123456789"),
        .name = TEXT("sample"),
        .owner = TEXT("somebody"),
        .uid = 1000,
        .gid = 1000,
        .library = text_of(library),
        .type = text_of(type),
        .program = text_of(form->program),
        .entry = text_of(form->entry),
        .script = text_of(form->script),
        .roles = roles,
        .roles_count = count,
    };
    if (options & WITH_DATASET)
        job.dataset = TEXT("/data/set");
    if (options & WITH_OUTPUT)
        job.output = TEXT("/data/results");
    if (options & WITH_GPUS)
        job.gpu_type = TEXT("a100");
    if (options & WITH_LIMITS) {
        job.time_limit = 3600 * 1000;
        job.version = TEXT("2.1");
        job.args = words;
        job.args_count = 2;
        job.env = sample_env(arena, "SETTING", "on");
        job.debug = 600 * 1000;
        job.complete = sample_rule(arena, shape->roles[0]);
    }
    if ((options & WITH_PLATFORM) && !form->command) {
        job.registries = registries;
        job.registries_count = 1;
    }
    if (options & WITH_PLATFORM)
        job.platform = (struct context_platform){.name = TEXT("openpai"),
                                                 .data = TEXT("hdfs://example.org:9000/data"),
                                                 .code = TEXT("hdfs://example.org:9000/code")};
    return (struct sample){
        .job = context_job(arena, &job),
        .image = options & WITH_HOST_IMAGE ? TEXT("host") : TEXT("registry.example.org/team/x:1"),
        .description = describe(arena, form, options, shape),
    };
}
