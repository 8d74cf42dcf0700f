/* stages/prepare/platform.c - maps the storage and queues of another system to those of this site */
#include "stages/prepare/platform.h"

#include <string.h>

#include "base/path.h"
#include "stages/prepare/option_rules.h"

/* The names of a platform's fields, and what follows when the site has no counterpart. */
struct words {
    const char *platform;
    const char *data, *output, *code, *cluster; /* fields of its job files */
    const char *no_data, *no_output, *no_code;
    const char *registries;
};

static const struct words words[] = {
    {"openpai", "dataDir", "outputDir", "codeDir", "virtualCluster",
     "nothing is staged, and PAI_DATA_DIR says what was written",
     "nothing is made, and PAI_OUTPUT_DIR says what was written", "nothing is copied to the tasks",
     "prerequisites.auth"},
    {"dlworkspace", "dataPath", "jobPath", "workPath", "vcName", "the tasks do not see it",
     "the tasks do not see it", "the tasks do not see it", "plugins.imagePull"},
};

struct resolving {
    const struct words *words;
    struct arena *arena;
    const struct value *site, *map; /* site.yaml, and its member of the platform's name */
    const struct description *description;
    const struct job_record *record;
    struct context_job *job;
    struct notes *notes;
    struct error *error;
};

/* Variables in locations */

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Is that a variable's name at the start, and not the beginning of a longer one? */
static bool starts_variable(struct text text, const char *name)
{
    size_t length = strlen(name);
    return text_starts(text, name) && (text.length == length || !is_word_byte(text.data[length]));
}

static struct text owner_and_name(struct resolving *work)
{
    return arena_printf(work->arena, "%.*s~%.*s", (int)work->record->owner.length,
                        work->record->owner.data, (int)work->description->name.length,
                        work->description->name.data);
}

static struct text without_slash(struct text text)
{
    while (text.length && text.data[text.length - 1] == '/')
        text.length--;
    return text;
}

/* The location with the platform's variables replaced: the file system's only the first time, and
 * only where the site gives one. */
static struct text expand_location(struct resolving *work, struct text location)
{
    static const char file_system[] = "$PAI_DEFAULT_FS_URI";
    struct text uri = without_slash(value_get_text(work->map, "default_fs"));
    struct buffer out = {0};
    bool replaced = uri.length == 0;
    while (location.length) {
        size_t used = 1;
        if (!replaced && text_starts(location, file_system)) {
            buffer_add_text(&out, uri);
            used = sizeof(file_system) - 1;
            replaced = true;
        } else if (starts_variable(location, "$PAI_JOB_NAME")) {
            buffer_add_text(&out, owner_and_name(work));
            used = sizeof("$PAI_JOB_NAME") - 1;
        } else if (starts_variable(location, "$PAI_USER_NAME")) {
            buffer_add_text(&out, work->record->owner);
            used = sizeof("$PAI_USER_NAME") - 1;
        } else if (starts_variable(location, "$PAI_USERNAME")) {
            buffer_add_text(&out, work->record->owner);
            used = sizeof("$PAI_USERNAME") - 1;
        } else {
            buffer_add_byte(&out, location.data[0]);
        }
        location.data += used;
        location.length -= used;
    }
    struct text expanded = arena_text(work->arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    return expanded;
}

/* Locations to paths */

/* Does the location lie at or below the prefix, which has no slash at its end? */
static bool lies_below(struct text location, struct text prefix)
{
    return location.length >= prefix.length &&
           memcmp(location.data, prefix.data, prefix.length) == 0 &&
           (location.length == prefix.length || location.data[prefix.length] == '/');
}

/* The item of `paths` with the longest prefix that fits, and what follows that prefix. */
static const struct value *find_place(struct resolving *work, struct text location,
                                      struct text *rest)
{
    const struct value *paths = value_get(work->map, "paths"), *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; paths && paths->kind == VALUE_LIST && i < paths->list.count; i++) {
        const struct value *place = paths->list.items[i];
        struct text prefix = without_slash(expand_location(work, value_get_text(place, "prefix")));
        if (!value_get_text(place, "path").length || !lies_below(location, prefix) ||
            (best && prefix.length <= longest))
            continue;
        best = place;
        longest = prefix.length;
        *rest = (struct text){location.data + longest, location.length - longest};
    }
    return best;
}

/* The path of a location; empty, and *why says why, when it has none. */
static struct text map_location(struct resolving *work, struct text location, const char **why)
{
    struct text rest, part;
    const struct value *place = find_place(work, location, &rest);
    *why = arena_printf(work->arena, "site.yaml maps it to no directory (%s.paths)",
                        work->words->platform)
               .data;
    if (!place)
        return (struct text){NULL, 0};
    *why = "it has .. parts";
    if (path_climbs(rest))
        return (struct text){NULL, 0};
    struct buffer path = {0};
    buffer_add_text(&path, without_slash(value_get_text(place, "path")));
    while (text_next(&rest, '/', &part))
        if (part.length && !text_is(part, ".")) {
            buffer_add_byte(&path, '/');
            buffer_add_text(&path, part);
        }
    struct text mapped = arena_text(work->arena, path.data ? path.data : "", path.length);
    buffer_free(&path);
    return mapped;
}

/* Map one directory: *seen is what programs are told it was, *path where it is at this site. */
static int resolve_directory(struct resolving *work, const char *field, struct text location,
                             const char *effect, struct text *seen, struct text *path)
{
    const char *why;
    struct error_quote_buffer buffer;
    if (!location.length)
        return 0;
    *seen = expand_location(work, location);
    *path = map_location(work, *seen, &why);
    if (path->length)
        return 0;
    error_quote(&buffer, seen->data, seen->length);
    bool code = strcmp(field, work->words->code) == 0;
    if (text_is(value_get_text(work->map, "unmapped"), "refuse") ||
        (code && value_get_boolean(work->map, "strict", false)))
        return error_set(work->error, "%s: found \"%s\", expected a place that this site has: %s",
                         field, buffer.text, why);
    request_notes_add(work->arena, work->notes, field, "no effect: %s: %s; %s", buffer.text, why,
                      effect);
    return 0;
}

static int resolve_directories(struct resolving *work)
{
    const struct platform *platform = &work->description->platform;
    struct context_platform *context = &work->job->platform;
    struct context_job *job = work->job;
    const struct words *names = work->words;
    if (resolve_directory(work, names->data, platform->data, names->no_data, &context->data,
                          &job->dataset) ||
        resolve_directory(work, names->output, platform->output, names->no_output, &context->output,
                          &job->output) ||
        resolve_directory(work, names->code, platform->code, names->no_code, &context->code,
                          &job->program))
        return -1;
    struct text uri = value_get_text(work->map, "default_fs");
    if (!platform->output.length && uri.length)
        context->output = arena_printf(
            work->arena, "%.*s/Output/%.*s/%s", (int)without_slash(uri).length, uri.data,
            (int)work->record->owner.length, work->record->owner.data, owner_and_name(work).data);
    return 0;
}

/* Queues and kinds of GPUs */

static bool list_names(const struct value *list, struct text name)
{
    for (size_t i = 0; list && list->kind == VALUE_LIST && i < list->list.count; i++)
        if (list->list.items[i]->kind == VALUE_STRING &&
            text_equal(list->list.items[i]->string, name))
            return true;
    return false;
}

static bool is_empty(const struct value *map)
{
    return !map || map->kind != VALUE_OBJECT || map->object.count == 0;
}

/* site.yaml's member of the platform's name. */
static const struct value *map_of(const struct value *site, struct text platform)
{
    char name[64];
    size_t length = platform.length < sizeof(name) ? platform.length : sizeof(name) - 1;
    memcpy(name, length ? platform.data : "", length);
    name[length] = '\0';
    return length ? value_get(site, name) : NULL;
}

/* What site.yaml maps the virtual cluster to, or a queue of that name. */
static struct text queue_of_cluster(const struct value *site, const struct description *description)
{
    const struct text none = {NULL, 0};
    struct text cluster = description->platform.cluster;
    const struct value *map = map_of(site, description->platform.name);
    const struct member *member = value_member(value_get(map, "virtual_clusters"), cluster);
    if (member)
        return member->value->kind == VALUE_STRING ? member->value->string : none;
    bool named = cluster.length && !text_is(cluster, "default");
    return named && list_names(value_get(site, "queues"), cluster) ? cluster : none;
}

static bool is_batch_script(struct text platform)
{
    return text_is(platform, "sbatch") || text_is(platform, "pbs");
}

struct text platform_queue(struct arena *arena, const struct value *site,
                           const struct description *description, const struct job_record *record)
{
    struct context_job job = {.queue = {NULL, 0}};
    struct notes notes = {0};
    struct error unread; /* platform_resolve() tells it */
    if (is_batch_script(description->platform.name))
        option_rules_apply(arena, map_of(site, description->platform.name), description, record,
                           &job, &notes, &unread);
    else
        job.queue = queue_of_cluster(site, description);
    return arena_text(arena, job.queue.length ? job.queue.data : "", job.queue.length);
}

/* Which of the scheduler's queues a virtual cluster means (queue_of_cluster()).
 * Where the site maps none, it has no effect and a note says so; a name that is in neither is refused. */
static int resolve_queue(struct resolving *work)
{
    struct text cluster = work->description->platform.cluster;
    const struct value *map = value_get(work->map, "virtual_clusters");
    struct text queue = queue_of_cluster(work->site, work->description);
    struct error_quote_buffer buffer;
    work->job->platform.cluster = cluster;
    if (queue.length)
        work->job->queue = queue;
    if (queue.length || value_member(map, cluster) || !cluster.length ||
        text_is(cluster, "default"))
        return 0;
    const char *name = error_quote(&buffer, cluster.data, cluster.length);
    if (is_empty(map))
        request_notes_add(work->arena, work->notes, work->words->cluster,
                          "no effect: site.yaml names no queue for the virtual cluster %s "
                          "(%s.virtual_clusters); the job goes to the default queue",
                          name, work->words->platform);
    else
        return error_set(work->error,
                         "%s: found \"%s\", expected one that site.yaml of templates.git names "
                         "(%s.virtual_clusters)",
                         work->words->cluster, name, work->words->platform);
    return 0;
}

static void resolve_gpu_type(struct resolving *work)
{
    const struct member *member =
        value_member(value_get(work->map, "gpu_types"), work->description->gpu_type);
    if (member && member->value->kind == VALUE_STRING)
        work->job->gpu_type = member->value->string;
}

/* Images */

static void resolve_images(struct resolving *work)
{
    struct context_job *job = work->job;
    struct context_role *roles =
        arena_allocate(work->arena, (job->roles_count + 1) * sizeof(*roles));
    for (size_t i = 0; i < job->roles_count; i++) {
        roles[i] = job->roles[i];
        roles[i].image = platform_image(work->arena, work->site, work->description->platform.name,
                                        roles[i].image);
    }
    job->roles = roles;
}

/* What cannot work */

/* Refuse a job that is sure to fail, where the site asks for that: one whose ranks are started over an ssh
 * that tasks do not have. */
static int check_ssh(struct resolving *work)
{
    static const char *const needing[] = {"mpirun", "mpiexec", "horovodrun"};
    bool noted = false;
    for (size_t i = 0; i < work->notes->count && i < NOTES_MOST; i++)
        noted = noted || text_ends(work->notes->items[i].field, "plugin ssh");
    for (size_t i = 0; noted && i < work->description->tasks_count; i++)
        for (size_t j = 0; j < ARRAY_COUNT(needing); j++)
            if (text_contains(work->description->tasks[i].script, text_of(needing[j])))
                return error_set(work->error,
                                 "the commands of the task role %s run %s, which needs the ssh "
                                 "that OpenPAI adds to "
                                 "tasks and dlspool does not: write the job as one of type: mpi",
                                 work->description->tasks[i].role.data, needing[j]);
    return 0;
}

/* The rest */

static void resolve_credentials(struct resolving *work)
{
    struct text file = work->description->platform.credentials;
    if (!file.length)
        return;
    const struct value *map = value_get(work->map, "auth_files");
    const struct member *member = value_member(map, file);
    if (!member)
        member = value_member(map, expand_location(work, file));
    if (member && member->value->kind == VALUE_STRING) {
        struct text *secrets = arena_allocate(work->arena, sizeof(*secrets));
        secrets[0] = member->value->string;
        work->job->pull_secrets = secrets;
        work->job->pull_secrets_count = 1;
        if (text_is(work->record->executor, "kubernetes"))
            return;
    }
    request_notes_add(work->arena, work->notes, "authFile",
                      "no effect: it is not read; images come with what the administrators gave %s",
                      text_is(work->record->executor, "kubernetes")
                          ? "the cluster (openpai.auth_files, kubernetes.image_pull_secrets)"
                          : "the container engine");
}

/* Only a cluster accepts credentials for a job's images. */
static void note_registries(struct resolving *work)
{
    if (work->description->registries_count && !text_is(work->record->executor, "kubernetes"))
        request_notes_add(
            work->arena, work->notes, work->words->registries,
            "no effect: the executor %.*s fetches images with what the administrators gave "
            "its container engine",
            (int)work->record->executor.length, work->record->executor.data);
}

static void note_storage(struct resolving *work)
{
    const struct description *description = work->description;
    if (text_is(work->record->executor, "kubernetes"))
        return;
    for (size_t i = 0; i < description->tasks_count; i++)
        if (description->tasks[i].storage)
            request_notes_add(work->arena, work->notes,
                              arena_printf(work->arena, "taskRoles[%zu].storageGB", i).data,
                              "no effect: the executor %s does not count disk space",
                              work->record->executor.data);
}

static int resolve_platform(struct resolving *work)
{
    enum { WEEK = 7 * 24 * 60 * 60 };
    const struct platform *platform = &work->description->platform;
    if (!platform->name.length)
        return 0;
    work->job->platform.name = platform->name;
    if (is_batch_script(platform->name))
        return option_rules_apply(work->arena, work->map, work->description, work->record,
                                  work->job, work->notes, work->error);
    work->words = words;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (text_is(platform->name, words[i].platform))
            work->words = &words[i];
    if (platform->debug)
        work->job->platform.debug = (int64_t)value_get_number(work->map, "debug", WEEK);
    if (resolve_directories(work) || resolve_queue(work))
        return -1;
    resolve_gpu_type(work);
    resolve_images(work);
    resolve_credentials(work);
    note_registries(work);
    note_storage(work);
    return value_get_boolean(work->map, "strict", false) ? check_ssh(work) : 0;
}

/* Ports */

static int resolve_ports(struct resolving *work)
{
    const struct description *description = work->description;
    const struct value *ports = value_get(work->site, "ports");
    struct port_range *range = &work->job->port_range;
    int64_t wanted = 0;
    *range = (struct port_range){
        (int)value_get_number(ports, "first", port_range_usual.first),
        (int)value_get_number(ports, "last", port_range_usual.last),
    };
    if (range->first < 1 || range->last > 65535 || range->first > range->last)
        return error_set(work->error,
                         "site.yaml of templates.git gives ports %d to %d (ports), "
                         "expected 1 to 65535",
                         range->first, range->last);
    for (size_t i = 0; i < description->tasks_count; i++) {
        const struct task_role *task = &description->tasks[i];
        for (size_t j = 0; j < task->ports_count; j++)
            wanted += (int64_t)task->count * (task->ports[j].count + 1);
    }
    if (wanted > range->last - range->first + 1)
        return error_set(work->error,
                         "the job's tasks request %lld ports in total, and site.yaml "
                         "of templates.git provides %d (ports)",
                         (long long)wanted / 2, (range->last - range->first + 1) / 2);
    return 0;
}

int platform_resolve(struct arena *arena, const struct value *site,
                     const struct description *description, const struct job_record *record,
                     struct context_job *job, struct notes *notes, struct error *error)
{
    struct resolving work = {
        .arena = arena,
        .site = site,
        .map = map_of(site, description->platform.name),
        .description = description,
        .record = record,
        .job = job,
        .notes = notes,
        .error = error,
    };
    return resolve_platform(&work) || resolve_ports(&work) ? -1 : 0;
}
