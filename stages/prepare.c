/* stages/prepare.c - from a request's bytes to the manifest */
#include "stages/prepare.h"

#include <string.h>

#include "renderer/context.h"
#include "stages/users.h"

static struct value *environment_tree(struct arena *arena, const struct environment *environment)
{
    struct value *tree = value_object(arena);
    for (size_t i = 0; i < environment->count; i++)
        value_set(arena, tree, environment->variables[i].name,
                  value_text(arena, environment->variables[i].value));
    return tree;
}

static struct value *job_tree(struct arena *arena, const struct description *description,
                              const struct job_record *record)
{
    struct context_role *roles =
        arena_allocate(arena, description->tasks_count * sizeof(*roles));
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        roles[i] = (struct context_role){
            .role = task->role,
            .count = task->count,
            .cpus = task->cpus,
            .memory = task->memory,
            .shm = task->shm,
            .gpus = task->gpus,
            .command = task->command,
            .command_count = task->command_count,
            .env = environment_tree(arena, &task->environment),
        };
    }
    struct context_job job = {
        .id = record->id,
        .name = description->name,
        .owner = record->owner,
        .uid = record->uid,
        .gid = record->gid,
        .library = description->library,
        .version = description->version,
        .type = description->type,
        .program = description->program,
        .entry = description->entry,
        .script = description->script,
        .dataset = description->dataset,
        .output = description->output,
        .args = description->args,
        .args_count = description->args_count,
        .env = environment_tree(arena, &description->environment),
        .gpu_type = description->gpu_type,
        .priority = description->priority,
        .time_limit = description->time_limit,
        .roles = roles,
        .roles_count = description->tasks_count,
    };
    return context_job(arena, &job);
}

static void take_facts(struct job_record *record, const struct description *description)
{
    record->name = description->name;
    record->library = description->library;
    record->version = description->version;
    record->type = description->type;
    record->priority = description->priority;
    record->retries = description->retries;
    record->time_limit = description->time_limit;
    record->cpus = 0;
    record->memory = 0;
    record->gpus = 0;
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        record->cpus += task->cpus * task->count;
        record->memory += task->memory * task->count;
        record->gpus += task->gpus * task->count;
    }
}

enum prepare_result prepare_request(struct arena *arena, struct text request, const char *source,
                                    struct job_record *record, struct preparation *preparation)
{
    *preparation = (struct preparation){0};
    preparation->description = request_read(arena, request, source, &preparation->error);
    if (!preparation->description)
        return PREPARE_BAD_REQUEST;
    take_facts(record, preparation->description);
    return PREPARED;
}

/* What images.txt is asked for: nothing, the type of GPU, or any GPU. */
static struct text accelerator_of(const struct description *description,
                                  const struct job_record *record)
{
    if (record->gpus == 0)
        return (struct text){NULL, 0};
    return description->gpu_type.length ? description->gpu_type : TEXT("gpu");
}

enum prepare_result prepare_manifest(struct arena *arena, struct repository *repository,
                                     struct job_record *record, struct preparation *preparation)
{
    const struct description *description = preparation->description;
    char executor[64];
    if (record->executor.length >= sizeof(executor)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        error_set(&preparation->error, "the name of the executor is longer than %zu bytes",
                  sizeof(executor) - 1);
        return PREPARE_NOT_RENDERED;
    }
    memcpy(executor, record->executor.data, record->executor.length);
    executor[record->executor.length] = '\0';

    struct render_input input = {
        .executor = executor,
        .job = job_tree(arena, description, record),
        .library = description->library,
        .version = description->version,
        .type = description->type,
        .accelerator = accelerator_of(description, record),
        .image = description->image,
        .now = record->accepted,
    };
    struct render_result *rendered = &preparation->rendered;
    if (manifest_render(arena, repository, &input, rendered, &preparation->failure,
                        &preparation->error))
        return PREPARE_NOT_RENDERED;
    char digest[SHA256_HEX_SIZE];
    sha256_hex(rendered->manifest, digest);
    record->manifest_sha256 = arena_text(arena, digest, SHA256_HEX_SIZE - 1);
    record->commit = rendered->commit;
    record->template_path = rendered->template_path;
    record->image = rendered->image;
    record->image_line = rendered->image_line;
    return PREPARED;
}

const char *prepare_request_name(struct text request)
{
    struct text start = text_trim(request);
    if (text_starts(start, "#!"))
        return "request.sh";
    return text_starts(start, "{") ? "request.json" : "request.yaml";
}

struct text prepare_owner(struct arena *arena, uid_t uid)
{
    struct user user;
    users_find(uid, &user);
    return arena_text(arena, user.name, strlen(user.name));
}
