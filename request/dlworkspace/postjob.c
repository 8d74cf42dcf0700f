/* request/dlworkspace/postjob.c - the parameters of DLWorkspace's PostJob, as a job file
 *
 * The command becomes a bash script that first sets the variables that DLWorkspace gave its
 * programs.  jobtrainingtype decides the roles.
 */
#include "request/dlworkspace/postjob.h"

#include <stdio.h>
#include <string.h>

#include "request/dlworkspace/fields.h"
#include "request/notes.h"
#include "request/privileged.h"
#include "request/tasks.h"
#include "request/values.h"

enum {
    PRIORITY_USUAL = 100, /* there; 0 here */
    PRIORITY_USERS = 200, /* the highest for users there; 100 here */
    PRIORITY_LOWEST = -100,
    GPU_TYPE_LONGEST = 63,
    NEVER = -1,
};

/* Set at run time; all other variables are in the environment. */
#define VARIABLES                                                                                  \
    "export DLWS_JOB_ID=\"$DLSPOOL_JOB_ID\" DLTS_JOB_ID=\"$DLSPOOL_JOB_ID\"\n"                     \
    "export DLWS_ROLE_IDX=\"$DLSPOOL_INDEX\" DLTS_ROLE_IDX=\"$DLSPOOL_INDEX\"\n"                   \
    "export DLWS_USER_NAME=\"$USER\" DLTS_USER_NAME=\"$USER\"\n"                                   \
    "export DLWS_UID=\"$(id -u)\" DLWS_GID=\"$(id -g)\"\n"

struct work {
    struct reading *reading;
    const struct value *root;
    struct dlworkspace given;
    struct description *job;
};

bool dlworkspace_postjob_recognise(const struct value *root)
{
    return value_get(root, "jobName") &&
           (value_get(root, "jobtrainingtype") || value_get(root, "cmd"));
}

static void problem_of(struct work *work, const char *name, const char *sentence)
{
    const struct value *value = fields_given(work->root, name);
    struct value_path path = {.name = text_of(name)};
    if (!value)
        value = work->root;
    problems_add(work->reading, &path, value->line, value->column, "%s", sentence);
}

static void note_field(struct work *work, const char *field, const char *sentence)
{
    request_notes_add(work->reading->arena, &work->job->notes, field, "%s", sentence);
}

/* ---- roles ---- */

static void add_variable(struct environment *environment, const char *name, struct text value)
{
    environment->variables[environment->count++] =
        (struct environment_variable){text_of(name), value};
}

static struct text number_text(struct work *work, int number)
{
    return arena_printf(work->reading->arena, "%d", number);
}

/* The environment that DLWorkspace gave a program, overridden by the user's own. */
static struct environment environment_of(struct work *work, const char *role)
{
    enum { OWN = 14 };
    const struct dlworkspace *given = &work->given;
    const struct environment *users = &given->environment;
    struct environment all = {
        .variables =
            arena_allocate(work->reading->arena, (users->count + OWN) * sizeof(*all.variables)),
    };
    static const char *const prefixes[] = {"DLWS", "DLTS"};
    for (size_t i = 0; i < ARRAY_COUNT(prefixes); i++) {
        struct arena *arena = work->reading->arena;
        const char *prefix = prefixes[i];
        add_variable(&all, arena_printf(arena, "%s_ROLE_NAME", prefix).data, text_of(role));
        add_variable(&all, arena_printf(arena, "%s_NUM_PS", prefix).data,
                     number_text(work, given->servers));
        add_variable(&all, arena_printf(arena, "%s_NUM_WORKER", prefix).data,
                     number_text(work, given->workers));
        add_variable(&all, arena_printf(arena, "%s_NUM_GPU_PER_WORKER", prefix).data,
                     number_text(work, given->gpus));
        add_variable(&all, arena_printf(arena, "%s_VC_NAME", prefix).data,
                     given->cluster.length ? given->cluster : TEXT(""));
        add_variable(&all, arena_printf(arena, "%s_PREEMPTIBLE", prefix).data,
                     given->preemptible > 0 ? TEXT("true") : TEXT("false"));
    }
    for (size_t i = 0; i < users->count; i++)
        all.variables[all.count++] = users->variables[i];
    return all;
}

static struct task_role *add_role(struct work *work, const char *name, int count, int gpus,
                                  struct text command)
{
    const struct dlworkspace *given = &work->given;
    struct task_role *role = &work->job->tasks[work->job->tasks_count++];
    int64_t cpus = given->cpu_limit ? given->cpu_limit : given->cpu_request;
    int64_t memory = given->memory_limit ? given->memory_limit : given->memory_request;
    *role = (struct task_role){
        .role = text_of(name),
        .count = count,
        .cpus = cpus ? cpus : DEFAULT_CPUS,
        .memory = memory ? memory : DEFAULT_MEMORY,
        .gpus = gpus,
        .environment = environment_of(work, name),
        .script = arena_printf(work->reading->arena, "#!/bin/bash\n" VARIABLES "%.*s\n",
                               (int)command.length, command.data),
    };
    return role;
}

static void add_rule(struct work *work, const char *role, int failed, int succeeded)
{
    work->job->complete[work->job->complete_count++] =
        (struct completion){.role = text_of(role), .failed = failed, .succeeded = succeeded};
}

static void give_ports(struct work *work, struct task_role *role)
{
    role->ports = work->given.ports;
    role->ports_count = work->given.ports_count;
}

static void regular_job(struct work *work)
{
    work->job->type = TEXT("single");
    give_ports(work, add_role(work, "master", 1, work->given.gpus, work->given.command));
}

/* Build a distributed job: the command runs in the parameter servers, and the workers wait for
 * them. */
static void distributed_job(struct work *work)
{
    const struct dlworkspace *given = &work->given;
    int servers = given->servers ? given->servers : 1;
    if (given->workers < 1) {
        problem_of(work, "numpsworker", "expected at least one, as jobtrainingtype is PSDistJob");
        return;
    }
    if (servers + given->workers > TASKS_MOST) {
        problem_of(work, "numpsworker", "expected at most 10000 tasks with those of numps");
        return;
    }
    work->job->type = TEXT("roles");
    give_ports(work, add_role(work, "ps", servers, 0, given->command));
    add_role(work, "worker", given->workers, given->gpus, TEXT("exec sleep infinity"));
    add_rule(work, "ps", 1, servers);
    add_rule(work, "worker", 1, NEVER);
    note_field(
        work, "jobtrainingtype",
        "workers wait for the parameter server's commands: no ssh server is started in them, so "
        "the image has to bring what it reaches them by");
}

static void mpi_job(struct work *work)
{
    const struct dlworkspace *given = &work->given;
    if (given->mpi_workers < 1 || given->mpi_workers >= TASKS_MOST) {
        problem_of(work, "nummpiworker", "expected 1 to 9999, as jobtrainingtype is MPIDistJob");
        return;
    }
    work->job->type = TEXT("mpi");
    give_ports(work, add_role(work, "launcher", 1, 0, given->command));
    struct task_role *workers = add_role(work, "worker", given->mpi_workers, given->gpus, TEXT(""));
    workers->script = (struct text){NULL, 0};
}

/* Build an inference job: resourcegpu replicas with one GPU each, which run until they are
 * stopped. */
static void inference_job(struct work *work)
{
    int replicas = work->given.gpus ? work->given.gpus : 1;
    work->job->type = TEXT("roles");
    struct task_role *role =
        add_role(work, "inference", replicas, work->given.gpus ? 1 : 0, work->given.command);
    if (replicas == 1)
        give_ports(work, role);
    else if (work->given.ports_count)
        note_field(work, "interactivePort",
                   "no effect here: several replicas cannot have one port");
    add_rule(work, "inference", 1, NEVER);
    note_field(work, "jobtrainingtype",
               "a replica that ends is not started again by itself: one that "
               "fails ends the job, which is then retried or not");
}

static const struct {
    const char *name;
    void (*make)(struct work *work);
} kinds[] = {
    {"RegularJob", regular_job},
    {"PSDistJob", distributed_job},
    {"MPIDistJob", mpi_job},
    {"InferenceJob", inference_job},
};

static void make_roles(struct work *work)
{
    enum { ROLES_MOST = 2 };
    struct arena *arena = work->reading->arena;
    struct text kind = work->given.training.length ? work->given.training : TEXT("RegularJob");
    work->job->tasks = arena_allocate(arena, ROLES_MOST * sizeof(*work->job->tasks));
    work->job->complete = arena_allocate(arena, ROLES_MOST * sizeof(*work->job->complete));
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (!text_is(kind, kinds[i].name))
            continue;
        kinds[i].make(work);
        return;
    }
    problems_expected(work->reading, &(struct value_path){.name = TEXT("jobtrainingtype")},
                      value_get(work->root, "jobtrainingtype"),
                      "RegularJob, PSDistJob, MPIDistJob or InferenceJob");
}

/* ---- registries ---- */

/* Read an item {registry, username, password}; its values are never quoted. */
static void read_registry(struct work *work, const struct value_path *path,
                          const struct value *item)
{
    static const char *const names[] = {"registry", "username", "password"};
    struct text texts[3];
    for (size_t i = 0; i < 3; i++) {
        const struct value *value = value_get(item, names[i]);
        struct value_path field = {.above = path, .name = text_of(names[i])};
        if (!value || value->kind != VALUE_STRING ||
            memchr(value->string.data, '\0', value->string.length)) {
            problems_add(work->reading, &field, value ? value->line : item->line,
                         value ? value->column : item->column, "%s a text",
                         value ? "found something else, expected" : "missing, expected");
            return;
        }
        texts[i] = value->string;
    }
    work->job->registries[work->job->registries_count++] =
        (struct registry){.server = texts[0], .user = texts[1], .password = texts[2]};
}

/* Read the plugins: imagePull gives registries; any other plugin that is not empty gets a note. */
static void read_plugins(struct work *work)
{
    const struct value *plugins = work->given.plugins;
    struct value_path above = {.name = TEXT("plugins")};
    for (size_t i = 0; plugins && i < plugins->object.count; i++) {
        const struct member *member = &plugins->object.members[i];
        struct value_path path = {.above = &above, .name = member->key};
        struct error_quote_buffer buffer;
        bool pull = text_is(member->key, "imagePull");
        if (member->value->kind == VALUE_LIST && member->value->list.count == 0)
            continue;
        if (!pull) {
            error_quote(&buffer, member->key.data, member->key.length);
            note_field(work, arena_printf(work->reading->arena, "plugins.%s", buffer.text).data,
                       "no effect here: there is no such plugin");
            continue;
        }
        if (member->value->kind != VALUE_LIST) {
            problems_add(work->reading, &path, member->line, member->column,
                         "expected a list of maps of registry, username and password");
            continue;
        }
        work->job->registries = arena_allocate(work->reading->arena,
                                               member->value->list.count * sizeof(struct registry));
        for (size_t j = 0; j < member->value->list.count; j++) {
            struct value_path item = {.above = &path, .index = j};
            read_registry(work, &item, member->value->list.items[j]);
        }
    }
}

/* ---- the rest ---- */

static void read_priority(struct work *work)
{
    const struct dlworkspace *given = &work->given;
    int priority = given->priority ? given->priority : PRIORITY_USUAL;
    if (priority > PRIORITY_USERS) {
        priority = PRIORITY_USERS;
        note_field(work, "jobPriority", "taken as 200, which is the highest of users");
    }
    work->job->has_priority = given->priority || given->preemptible > 0;
    work->job->priority = given->preemptible > 0 ? PRIORITY_LOWEST : priority - PRIORITY_USUAL;
}

static void read_gpu_type(struct work *work)
{
    const struct dlworkspace *given = &work->given;
    struct text type = given->gpu_type.length ? given->gpu_type : given->sku;
    const char *field = given->gpu_type.length ? "gpuType" : "sku";
    if (type.length && !values_is_word(type, GPU_TYPE_LONGEST))
        problem_of(work, field,
                   "expected letters, digits and . _ -, the first of them a letter "
                   "or a digit");
    work->job->gpu_type = type;
    if (given->gpu_type.length && given->sku.length)
        note_field(work, "sku", "no effect here beside gpuType");
}

/* A path below one of DLWorkspace's shares, as site.yaml knows it: data/..., work/... */
static struct text share_location(struct work *work, const char *share, struct text path,
                                  int enabled)
{
    if (!path.length || enabled < 0)
        return (struct text){NULL, 0};
    return arena_printf(work->reading->arena, "%s/%.*s", share, (int)path.length, path.data);
}

static void read_platform(struct work *work)
{
    const struct dlworkspace *given = &work->given;
    work->job->platform = (struct platform){
        .name = TEXT("dlworkspace"),
        .cluster = given->cluster,
        .data = share_location(work, "data", given->data_path, given->enable_data),
        .output = share_location(work, "work", given->job_path, given->enable_job),
        .code = share_location(work, "work", given->work_path, given->enable_work),
    };
}

static void say_of_kind(struct work *work)
{
    const struct text kind = work->given.kind;
    if (kind.length && !text_is(kind, "training"))
        note_field(work, "jobType", "no effect here: taken as training");
    if (work->given.cpu_request && work->given.cpu_limit &&
        work->given.cpu_request != work->given.cpu_limit)
        note_field(work, "cpurequest", "no effect here beside cpulimit");
    if (work->given.memory_request && work->given.memory_limit &&
        work->given.memory_request != work->given.memory_limit)
        note_field(work, "memoryrequest", "no effect here beside memorylimit");
}

struct description *dlworkspace_postjob_read(struct reading *reading, const struct value *root)
{
    struct work work = {.reading = reading, .root = root};
    work.job = arena_allocate(reading->arena, sizeof(*work.job));
    fields_read(reading, NULL, root, &dlworkspace_fields, &work.given);
    if (!fields_given(root, "jobName"))
        problem_of(&work, "jobName", "missing, expected the job's name");
    if (!fields_given(root, "cmd"))
        problem_of(&work, "cmd", "missing, expected the command that is to run");
    if (reading->found)
        return NULL;
    work.job->name = work.given.name;
    work.job->library = TEXT("any");
    work.job->image = work.given.image;
    if (work.given.privileged > 0)
        work.job->privileges = TEXT(PRIVILEGED_TRUE);
    read_platform(&work);
    make_roles(&work);
    read_plugins(&work);
    read_priority(&work);
    read_gpu_type(&work);
    say_of_kind(&work);
    dlworkspace_fields_note_ineffective(reading->arena, root, &work.job->notes);
    return reading->found ? NULL : work.job;
}
