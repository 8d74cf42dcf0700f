/* stages/prepare/prepare.c - from a request's bytes to the manifest */
#include "stages/prepare/prepare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "renderer/context.h"
#include "renderer/functions.h"
#include "request/arguments.h"
#include "request/dialects/dialects.h"
#include "spool/submission_key.h"
#include "stages/prepare/platform.h"
#include "stages/prepare/without_effect.h"
#include "stages/shared/sweep.h"
#include "stages/users.h"

enum { REQUEST_LIMIT = 1 << 20 }; /* bytes */

static struct value *environment_tree(struct arena *arena, const struct environment *environment)
{
    struct value *tree = value_object(arena);
    for (size_t i = 0; i < environment->count; i++)
        value_set(arena, tree, environment->variables[i].name,
                  value_text(arena, environment->variables[i].value));
    return tree;
}

static void put_number(struct arena *arena, struct value *object, const char *key, int number)
{
    if (number)
        value_put(arena, object, key, value_number(arena, number));
}

static struct value *complete_tree(struct arena *arena, const struct description *description)
{
    if (!description->complete_count)
        return NULL;
    struct value *tree = value_object(arena);
    for (size_t i = 0; i < description->complete_count; i++) {
        const struct completion *entry = &description->complete[i];
        struct value *role = value_object(arena);
        put_number(arena, role, "failed", entry->failed);
        put_number(arena, role, "succeeded", entry->succeeded);
        value_set(arena, tree, entry->role, role);
    }
    return tree;
}

/* What templates see of a job, field by field; nothing is copied. */
static struct context_job context_of(struct arena *arena, const struct description *description,
                                     const struct job_record *record)
{
    struct context_role *roles = arena_allocate(arena, description->tasks_count * sizeof(*roles));
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        roles[i] = (struct context_role){
            .role = task->role,
            .count = task->count,
            .cpus = task->cpus,
            .cpus_most = description->sizes.kind == SIZE_CPUS ? description->sizes.most : 0,
            .memory = task->memory,
            .shm = task->shm,
            .gpus = task->gpus,
            .command = task->command,
            .command_count = task->command_count,
            .env = environment_tree(arena, &task->environment),
            .name = task->name,
            .storage = task->storage,
            .ports = task->ports,
            .ports_count = task->ports_count,
            .image = task->image,
            .script = task->script,
            .secret = task->script_secret,
        };
    }
    return (struct context_job){
        .id = record->id,
        .name = description->name,
        .owner = record->owner,
        .home = record->home,
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
        .features = description->features,
        .features_count = description->features_count,
        .spread = description->spread,
        .host_network = description->host_network,
        .priority = description->priority,
        .exclusive = description->exclusive,
        .time_limit = description->time_limit,
        .checkpoint_signal = description->checkpoint.signal,
        .checkpoint_grace = description->checkpoint.grace,
        .signal_name = description->signal.name,
        .signal_before = description->signal.before,
        .attempt = record->attempt,
        .queue = description->queue,
        .debug = description->debug,
        .complete = complete_tree(arena, description),
        .array = description->array,
        .size_min = description->size_min,
        .size_max = description->size_max,
        .roles = roles,
        .roles_count = description->tasks_count,
        .registries = description->registries,
        .registries_count = description->registries_count,
    };
}

static void take_facts(struct job_record *record, const struct description *description)
{
    record->name = description->name;
    record->library = description->library;
    record->version = description->version;
    record->type = description->type;
    record->priority = description->priority;
    record->retries = description->retries;
    record->privileges = description->privileges;
    record->time_limit = description->time_limit;
    record->cpus = 0;
    record->memory = 0;
    record->gpus = 0;
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        /* An array begins when there is room for one of its tasks. */
        int count = description->array.count ? 1 : task->count;
        record->cpus += task->cpus * count;
        record->memory += task->memory * count;
        record->gpus += task->gpus * count;
    }
}

static void add_count(struct buffer *out, size_t count)
{
    buffer_add_count(out, count);
    buffer_add_byte(out, '\n');
}

/* Add a number before each text, so that different lists never give the same bytes. */
static void add_words(struct buffer *out, const struct text *words, size_t count)
{
    add_count(out, count);
    for (size_t i = 0; i < count; i++) {
        add_count(out, words[i].length);
        buffer_add_text(out, words[i]);
    }
}

static void add_environment(struct buffer *out, const struct environment *environment)
{
    add_count(out, environment->count);
    for (size_t i = 0; i < environment->count; i++)
        add_words(out,
                  (struct text[]){environment->variables[i].name, environment->variables[i].value},
                  2);
}

/* Add the script without the lines that carry fields: they say nothing about its work. */
static void add_script(struct buffer *out, struct text script)
{
    struct text rest = script, line;
    while (text_next(&rest, '\n', &line))
        if (!text_starts(text_trim(line), "#DL "))
            add_words(out, &line, 1);
    add_words(out, NULL, 0);
}

/* The digest of all that decides the amount of work: jobs with the same digest have the same, whatever
 * their sizes are. */
static struct text arguments_sum(struct arena *arena, const struct description *description)
{
    struct buffer out = {0};
    char digest[SHA256_HEX_SIZE];
    add_words(&out, (struct text[]){description->program, description->entry, description->dataset},
              3);
    add_script(&out, description->script);
    add_words(&out, description->args, description->args_count);
    add_environment(&out, &description->environment);
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        add_words(&out, (struct text[]){task->role, task->script}, 2);
        add_words(&out, task->command, task->command_count);
        add_environment(&out, &task->environment);
    }
    sha256_hex(buffer_text(&out), digest);
    buffer_free(&out);
    return arena_text(arena, digest, SHA256_HEX_SIZE - 1);
}

/* Give the job the size that the record says it is rendered at; at first that is what its user
 * asked for. */
static void take_size(struct job_record *record, struct description *description)
{
    const struct sizes *sizes = &description->sizes;
    record->sizes = *sizes;
    if (sizes->kind == SIZE_FIXED) {
        record->size = record->size_asked = 0;
        return;
    }
    record->size_asked = description->size;
    if (!record->size)
        record->size = description->size;
    if (record->size < sizes->least)
        record->size = sizes->least;
    if (record->size > sizes->most)
        record->size = sizes->most;
    description_resize(description, record->size);
}

/* Fill in what the planner uses: the deadline, sizes and units. */
static void take_terms(struct arena *arena, struct job_record *record,
                       const struct description *description)
{
    record->deadline_mode = description->deadline_mode;
    record->weight = description->weight;
    record->units_total = description->units.total;
    record->units_file = description->units.file;
    record->units_pattern = description->units.pattern;
    record->checkpoint_signal = description->checkpoint.signal;
    record->checkpoint_grace = description->checkpoint.grace;
    record->checkpoint_interval = description->checkpoint.interval;
    record->signal_name = description->signal.name;
    record->signal_before = description->signal.before;
    record->gpu_type = description->gpu_type;
    record->queue = description->queue;
    record->arguments_sha256 = arguments_sum(arena, description);
}

/* The name that the user gave the file: commands put a token into it, or the hash of a key. */
static const char *name_without_token(struct arena *arena, const char *source)
{
    struct text name = text_of(source), token, stem;
    if (submission_key_in_name(name, &stem, &token))
        return arena_printf(arena, "%.*s%s", (int)stem.length, stem.data, token.data + token.length)
            .data;
    if (!source || !id_token_in_file_name(name, &token))
        return source;
    const char *ending = token.data + token.length;
    return arena_printf(arena, "%.*s%s", (int)(token.data - 1 - source), source, ending).data;
}

enum prepare_result prepare_request(struct arena *arena, struct text request, const char *source,
                                    struct job_record *record, struct preparation *preparation)
{
    *preparation = (struct preparation){0};
    const char *name = name_without_token(arena, source);
    struct description *description = dialects_read(arena, request, name, &preparation->error);
    if (!description || description_deadline(description, name, record->accepted, &record->deadline,
                                             &preparation->error))
        return PREPARE_BAD_REQUEST;
    preparation->description = description;
    preparation->notes = description->notes;
    if (description_begin(description, name, record->accepted, record->deadline,
                          &preparation->begin, &preparation->error))
        return PREPARE_BAD_REQUEST;
    sweep_select(arena, record, description);
    take_size(record, description);
    take_facts(record, description);
    take_terms(arena, record, description);
    return PREPARED;
}

/* The accelerator column of images.txt that the job needs: none, its type of GPU, or any GPU. */
static struct text accelerator_of(const struct context_job *job, const struct job_record *record)
{
    if (record->gpus == 0)
        return (struct text){NULL, 0};
    return job->gpu_type.length ? job->gpu_type : TEXT("gpu");
}

/* Note fields that have no effect, or that nobody checks. */
static void note_fields(struct arena *arena, const char *executor,
                        const struct description *description, const struct job_record *record,
                        const struct value *site, struct notes *notes)
{
    const struct value *queues = site ? value_get(site, "queues") : NULL;
    bool listed = queues && queues->kind == VALUE_LIST && queues->list.count > 0;
    bool machine = strcmp(executor, "local") == 0 || strcmp(executor, "null") == 0;
    if (description->queue.length && !description->usual_queue && machine && !listed)
        request_notes_add(
            arena, notes, "queue",
            "counts here only for what the site allows to queues: jobs of this machine have one queue");
    if (description->version.length && description->image.length &&
        !text_is(description->image, "host"))
        request_notes_add(
            arena, notes, "version",
            "not checked beside an image of your own; leave image out to get that version or be refused");
    if (description->spread.length && machine)
        request_notes_add(arena, notes, "spread", "no effect here: there is one machine");
    if (description->exclusive && machine)
        request_notes_add(arena, notes, "exclusive",
                          "no effect here: others may use the rest of the machine; the job has the "
                          "CPUs, the memory and the GPUs that it asks for");
    if (description->signal.name.length && !record->time_limit)
        request_notes_add(arena, notes, "signal",
                          "no effect: the job has no time_limit, before which it could be sent");
    if (description->gpu_type.length && record->gpus == 0)
        request_notes_add(
            arena, notes, "gpu_type",
            "no effect: no task asks for GPUs; say how many in gpus of tasks, such as "
            "tasks: {main: {gpus: 1}}");
}

/* Take the notes that the template gives. */
static void take_notes(struct arena *arena, struct notes *notes)
{
    size_t count;
    const struct template_note *told = functions_notes(&count);
    for (size_t i = 0; i < count; i++)
        request_notes_add(arena, notes, told[i].field.text, "%s", told[i].sentence.text);
}

enum prepare_result prepare_manifest(struct arena *arena, struct repository *repository,
                                     struct job_record *record, struct preparation *preparation)
{
    const struct description *description = preparation->description;
    struct error unread;
    char executor[64];
    if (record->executor.length >= sizeof(executor)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        error_set(&preparation->error, "the name of the executor is longer than %zu bytes",
                  sizeof(executor) - 1);
        return PREPARE_NOT_RENDERED;
    }
    memcpy(executor, record->executor.data, record->executor.length);
    executor[record->executor.length] = '\0';

    /* A site.yaml that cannot be read is manifest_render()'s to report. */
    const struct value *site =
        repository_commit(repository) ? repository_site(repository, &unread) : NULL;
    struct context_job job = context_of(arena, description, record);
    if (platform_resolve(arena, site, description, record, &job, &preparation->notes,
                         &preparation->error)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        return PREPARE_NOT_RENDERED;
    }
    note_fields(arena, executor, description, record, site, &preparation->notes);
    record->gpu_type = job.gpu_type;
    struct render_input input = {
        .executor = executor,
        .job = context_job(arena, &job),
        .library = description->library,
        .version = description->version,
        .type = description->type,
        .accelerator = accelerator_of(&job, record),
        .image = platform_image(arena, site, description->platform.name, description->image),
        .now = record->accepted,
    };
    struct render_result *rendered = &preparation->rendered;
    if (manifest_render(arena, repository, &input, rendered, &preparation->failure,
                        &preparation->error))
        return PREPARE_NOT_RENDERED;
    take_notes(arena, &preparation->notes);
    if (without_effect_tell(arena, executor, description, rendered, &preparation->notes,
                            &preparation->error)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        return PREPARE_NOT_RENDERED;
    }
    char digest[SHA256_HEX_SIZE];
    sha256_hex(rendered->manifest, digest);
    record->manifest_sha256 = arena_text(arena, digest, SHA256_HEX_SIZE - 1);
    record->commit = rendered->commit;
    record->template_path = rendered->template_path;
    record->image = rendered->image;
    record->image_line = rendered->image_line;
    record->unlisted = rendered->unlisted;
    record->library_version = rendered->version;
    return PREPARED;
}

int prepare_read(int job, const struct job_record *record, struct buffer *request,
                 struct error *error)
{
    char name[32], digest[SHA256_HEX_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)record->request_file.length,
             record->request_file.length ? record->request_file.data : "");
    if (file_read_at(job, name, REQUEST_LIMIT, request, error))
        return -1;
    sha256_hex(buffer_text(request), digest);
    if (!record->request_sha256.length || text_is(record->request_sha256, digest))
        return 0;
    error_set(error, "%s: found SHA-256 %s, expected the one in job.yaml", name, digest);
    errno = EBADMSG;
    return -1;
}

const char *prepare_request_name(struct text request)
{
    struct text start = text_trim(request);
    if (text_starts(start, "#!"))
        return "request.sh";
    return text_starts(json_after_comments(start), "{") ? "request.json" : "request.yaml";
}

void prepare_owner(struct arena *arena, struct job_record *record)
{
    struct user user;
    users_find(record->uid, &user);
    record->gid = user.gid;
    record->owner = text_of(arena_string(arena, user.name));
    record->home = text_of(arena_string(arena, user.home));
}
