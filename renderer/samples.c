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

enum { FORMS = ARRAY_COUNT(forms) };

/* Optional parts of a job, one bit each. */
enum option {
    WITH_DATASET = 1,
    WITH_OUTPUT = 2,
    WITH_GPUS = 4,
    WITH_SHM = 8,
    WITH_LIMITS = 16, /* time_limit, checkpoint, signal, version, args, env, debug, complete */
    WITH_HOST_IMAGE = 32,
    WITH_PLATFORM = 64, /* only of type roles */
    WITH_CHOICES = 64,  /* only of type array */
};

/* Not all combinations of seven options are tried, but any three options occur in all eight
 * combinations: the sets are the words of the extended Hamming code of length 8, which is its own
 * dual and has distance 4. */
enum { OPTION_SETS = 16 };

static size_t option_set(size_t number)
{
    size_t a = number & 1, b = number >> 1 & 1, c = number >> 2 & 1, d = number >> 3 & 1;
    return number | (a ^ b ^ c) << 4 | (a ^ b ^ d) << 5 | (a ^ c ^ d) << 6;
}

/* The roles of a job type, and how many tasks each has. */
enum { MOST_ROLES = 3 };

struct shape {
    const char *type;
    size_t count;
    const char *roles[MOST_ROLES];
    int counts[MOST_ROLES];
};

/* Libraries name the servers of a ps job differently. */
static const struct shape shapes[] = {
    {"single", 1, {"main"}, {1}},
    {"notebook", 1, {"main"}, {1}},
    {"distributed", 1, {"worker"}, {2}},
    {"distributed", 2, {"master", "worker"}, {1, 2}},
    {"elastic", 1, {"worker"}, {2}},
    {"array", 1, {"main"}, {2}},
    {"serving", 1, {"server"}, {1}},
    {"ps", 2, {"ps", "worker"}, {1, 2}},
    {"ps", 2, {"server", "worker"}, {2, 2}},
    {"ps", 3, {"scheduler", "server", "worker"}, {1, 2, 2}},
    {"mpi", 2, {"launcher", "worker"}, {1, 2}},
    {NULL, 2, {"master", "worker"}, {1, 2}}, /* any other type */
};

static const struct shape *first_shape(const char *type)
{
    const struct shape *shape = shapes;
    while (shape->type && strcmp(shape->type, type) != 0)
        shape++;
    return shape;
}

static size_t shape_count(const struct shape *first)
{
    size_t count = 1;
    while (first->type && first[count].type && strcmp(first->type, first[count].type) == 0)
        count++;
    return count;
}

size_t samples_count(const char *type)
{
    return shape_count(first_shape(type)) * FORMS * OPTION_SETS;
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

static const char *describe_sample(struct arena *arena, const struct form *form, size_t options,
                                   const struct shape *shape)
{
    int tasks = 0;
    for (size_t i = 0; i < shape->count; i++)
        tasks += shape->counts[i];
    return arena_printf(
               arena, "%s%s%s%s%s%s%s%s, %d %s", form->description,
               options & WITH_DATASET ? ", a dataset" : "",
               options & WITH_OUTPUT ? ", an output" : "", options & WITH_GPUS ? ", GPUs" : "",
               options & WITH_SHM ? ", shm" : "",
               options & WITH_LIMITS
                   ? ", time_limit, checkpoint, signal, version, args, env, debug, complete"
                   : "",
               options & WITH_HOST_IMAGE ? ", image host" : "",
               options & WITH_CHOICES && strcmp(shape->type ? shape->type : "", "array") == 0
                   ? ", values"
                   : "",
               tasks, tasks == 1 ? "task" : "tasks")
        .data;
}

/* Give a role its own script and so on, as in jobs that were written for another system. */
static void add_script(struct context_role *role, bool second)
{
    role->script = TEXT("#!/bin/bash\necho hello\n");
    role->secret = second;
    if (second)
        role->image = TEXT("registry.example.org/team/y:1");
}

/* A sweep over indexes with gaps, as in a second attempt, or over values. */
static struct array sample_array(bool choices, bool at_once)
{
    static const int gaps[] = {3, 7}, all[] = {0, 1};
    static const struct text rates[] = {{"0.1", 3}}, sizes[] = {{"32", 2}, {"64", 2}};
    static const struct array_choice values[] = {{{"RATE", 4}, rates, 1, 2},
                                                 {{"SIZE", 4}, sizes, 2, 1}};
    return (struct array){.indexes = choices ? all : gaps,
                          .count = 2,
                          .at_once = at_once,
                          .choices = values,
                          .choices_count = choices ? 2 : 0};
}

struct sample samples_build(struct arena *arena, const char *library, const char *type,
                            size_t number)
{
    static const struct text words[] = {{"train", 5}, {"--rate=0.1", 10}};
    static const struct registry registries[] = {
        {{"registry.example.org", 20}, {"somebody", 8}, {"secret", 6}}};
    static const struct port_request ports[] = {{{"http", 4}, 1, 0}, {{"data.x", 6}, 2, 0}};
    const struct form *form = &forms[number / OPTION_SETS % FORMS];
    const struct shape *shape = first_shape(type) + number / OPTION_SETS / FORMS;
    size_t options = option_set(number % OPTION_SETS);
    bool array = strcmp(type, "array") == 0;
    bool platform = (options & WITH_PLATFORM) && strcmp(type, "roles") == 0;
    bool batch = (options & WITH_PLATFORM) && !platform && form->script;
    size_t count = shape->count;
    struct context_role *roles = arena_allocate(arena, count * sizeof(*roles));
    /* Its number of processors can change while it runs. */
    bool grows = (options & WITH_SHM) && strcmp(type, "single") == 0;
    for (size_t i = 0; i < count; i++) {
        roles[i] = (struct context_role){.role = text_of(shape->roles[i]),
                                         .count = shape->counts[i],
                                         .cpus = 1500,
                                         .cpus_most = grows ? 4000 : 0,
                                         .memory = (int64_t)1 << 30,
                                         .shm = options & WITH_SHM ? 1 << 26 : 0,
                                         .gpus = options & WITH_GPUS ? 1 : 0,
                                         .command = words,
                                         .command_count = form->command ? 2 : 0};
        if (options & WITH_LIMITS)
            roles[i].env = sample_env(arena, "ROLE_SETTING", "on");
        if ((options & WITH_LIMITS) || platform) {
            roles[i].ports = ports;
            roles[i].ports_count = 2;
            roles[i].storage = (int64_t)1 << 30;
        }
        if (platform && !form->command)
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
    else
        job.home = TEXT("/home/somebody");
    if (options & WITH_GPUS)
        job.gpu_type = TEXT("a100");
    if (options & WITH_LIMITS) {
        job.time_limit = 3600 * 1000;
        job.checkpoint_signal = TEXT("USR1");
        job.checkpoint_grace = 45 * 1000;
        job.spread = TEXT("require");
        job.exclusive = true;
        job.host_network = true;
        job.signal_name = TEXT("USR2");
        job.signal_before = 120 * 1000;
        job.version = TEXT("2.1");
        job.args = words;
        job.args_count = 2;
        job.env = sample_env(arena, "SETTING", "on");
        job.debug = 600 * 1000;
        /* An array has none, as each of its tasks is judged by itself. */
        job.complete = array ? NULL : sample_rule(arena, shape->roles[0]);
    }
    if (array)
        job.array = sample_array(options & WITH_CHOICES, options & WITH_LIMITS);
    if (strcmp(type, "elastic") == 0) {
        job.size_min = 1;
        job.size_max = options & WITH_LIMITS ? 4 : 2;
    }
    if (platform && !form->command) {
        job.registries = registries;
        job.registries_count = 1;
    }
    if (platform)
        job.platform = (struct context_platform){.name = TEXT("openpai"),
                                                 .data = TEXT("hdfs://example.org:9000/data"),
                                                 .code = TEXT("hdfs://example.org:9000/code")};
    if (batch)
        job.platform.name = TEXT("sbatch");
    return (struct sample){
        .job = context_job(arena, &job),
        .image = options & WITH_HOST_IMAGE ? TEXT("host") : TEXT("registry.example.org/team/x:1"),
        .description = describe_sample(arena, form, options, shape),
    };
}
