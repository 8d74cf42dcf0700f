/* executors/local/manifest.c - what a template sends to the local executor
 *
 * Each kind of object is a table of its fields; one function reads any of them.
 */
#include "executors/local/manifest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/yaml.h"
#include "executors/manifest_fields.h"

enum {
    TASKS_MAX = 512,
    INDEX_MAX = 9999,
    GPUS_MAX = 1024,
    PORT_LEAST = 1024,
    PORT_MAX = 65535,
    LISTEN_MAX = 512,
    WORDS_MAX = 4096,
    PATH_MAX_BYTES = 4095
};

static int read_image(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    if (value->kind != VALUE_STRING || value->string.length == 0)
        return manifest_fields_expected(reading, place, value, "`host` or an image reference");
    for (size_t i = 0; i < value->string.length; i++)
        if (value->string.data[i] <= ' ' || value->string.data[i] == 0x7f)
            return manifest_fields_expected(reading, place, value, "`host` or an image reference");
    *(struct text *)target = value->string;
    return 0;
}

/* An absolute path without "." and ".." and other than "/" itself. */
static int read_path(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    static const char what[] = "an absolute path without \"..\"";
    if (!manifest_fields_is_plain(value) || !text_starts(value->string, "/") ||
        value->string.length > PATH_MAX_BYTES || !path_is_plain(value->string))
        return manifest_fields_expected(reading, place, value, what);
    *(struct text *)target = value->string;
    return 0;
}

static int read_cpus(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    enum { CPUS_MAX = 1000000 };
    static const char what[] = "a number of CPUs such as 2 or 0.5, from 0.01";
    if (value->kind != VALUE_NUMBER || value->number < 0.01 || value->number > CPUS_MAX)
        return manifest_fields_expected(reading, place, value, what);
    *(int64_t *)target = (int64_t)floor(value->number * 1000 + 0.5);
    return 0;
}

static int read_index(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    return manifest_fields_read_count(reading, place, value, INDEX_MAX,
                                      "a whole number from 0 to 9999", target);
}

static int read_gpus(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    return manifest_fields_read_count(reading, place, value, GPUS_MAX,
                                      "a whole number from 0 to 1024", target);
}

static int read_parallelism(struct manifest_reading *reading, const struct value_path *place,
                            struct value *value, void *target)
{
    static const char what[] = "a whole number from 1 to 10000";
    if (value->kind == VALUE_NUMBER && value->number < 1)
        return manifest_fields_expected(reading, place, value, what);
    return manifest_fields_read_count(reading, place, value, INDEX_MAX + 1, what, target);
}

static int read_below(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    static const char what[] = "a path below the source, without \"..\"";
    if (!manifest_fields_is_plain(value) || text_starts(value->string, "/") ||
        value->string.length == 0 || value->string.length > PATH_MAX_BYTES ||
        path_climbs(value->string))
        return manifest_fields_expected(reading, place, value, what);
    *(struct text *)target = value->string;
    return 0;
}

static int read_mode(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    static const char what[] = "three octal digits in a string, such as \"0644\" or \"755\"";
    if (value->kind != VALUE_STRING)
        return manifest_fields_expected(reading, place, value, what);
    struct text digits = value->string;
    if (digits.length == 4 && digits.data[0] == '0')
        digits = (struct text){digits.data + 1, 3};
    if (digits.length != 3)
        return manifest_fields_expected(reading, place, value, what);
    unsigned int mode = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '7')
            return manifest_fields_expected(reading, place, value, what);
        mode = mode * 8 + (unsigned int)(digits.data[i] - '0');
    }
    *(unsigned int *)target = mode;
    return 0;
}

static int read_command(struct manifest_reading *reading, const struct value_path *place,
                        struct value *value, void *target)
{
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > WORDS_MAX)
        return manifest_fields_expected(reading, place, value, "a list of 1 to 4096 words");
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = place, .index = i};
        if (!manifest_fields_is_plain(value->list.items[i]))
            return manifest_fields_expected(reading, &item, value->list.items[i],
                                            "a string without NUL bytes");
    }
    if (value->list.items[0]->string.length == 0) {
        struct value_path item = {.above = place, .index = 0};
        return manifest_fields_expected(reading, &item, value->list.items[0],
                                        "the name of a program");
    }
    *(struct value **)target = value;
    return 0;
}

/* ---- objects ---- */

static const struct manifest_field mount_fields[] = {
    {"source", true, read_path, offsetof(struct local_mount, source)},
    {"target", true, read_path, offsetof(struct local_mount, target)},
    {"readonly", false, manifest_fields_read_boolean, offsetof(struct local_mount, readonly)},
    {"must_write", false, manifest_fields_read_boolean, offsetof(struct local_mount, must_write)},
    {"entry", false, read_below, offsetof(struct local_mount, entry)},
    {"executable", false, manifest_fields_read_boolean, offsetof(struct local_mount, executable)},
    {NULL, false, NULL, 0},
};

static const struct manifest_field file_fields[] = {
    {"path", true, read_path, offsetof(struct local_file, path)},
    {"content", true, manifest_fields_read_content, offsetof(struct local_file, content)},
    {"mode", false, read_mode, offsetof(struct local_file, mode)},
    {NULL, false, NULL, 0},
};

static int read_mounts(struct manifest_reading *reading, const struct value_path *place,
                       struct value *value, void *target)
{
    if (value->kind != VALUE_LIST)
        return manifest_fields_expected(reading, place, value, "a list of mounts");
    struct local_task *task = target;
    task->mounts = arena_allocate(reading->arena, (value->list.count + 1) * sizeof(*task->mounts));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_mount *mount = &task->mounts[i];
        struct value_path item = {.above = place, .index = i};
        mount->readonly = mount->must_write = true;
        if (manifest_fields_read(reading, &item, value->list.items[i], mount_fields, mount))
            return -1;
        if (mount->target.length == 1)
            return manifest_fields_expected(reading, &item, value->list.items[i],
                                            "a target other than / itself");
    }
    task->mount_count = value->list.count;
    return 0;
}

static int read_files(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    if (value->kind != VALUE_LIST)
        return manifest_fields_expected(reading, place, value, "a list of files");
    struct local_task *task = target;
    task->files = arena_allocate(reading->arena, (value->list.count + 1) * sizeof(*task->files));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_file *file = &task->files[i];
        struct value_path item = {.above = place, .index = i};
        file->mode = 0644;
        if (manifest_fields_read(reading, &item, value->list.items[i], file_fields, file))
            return -1;
        if (text_ends(file->path, "/"))
            return manifest_fields_expected(reading, &item, value->list.items[i],
                                            "a path that names a file");
    }
    task->file_count = value->list.count;
    return 0;
}

static const struct manifest_field task_fields[] = {
    {"role", true, manifest_fields_read_role, offsetof(struct local_task, role)},
    {"index", false, read_index, offsetof(struct local_task, index)},
    {"image", true, read_image, offsetof(struct local_task, image)},
    {"command", true, read_command, offsetof(struct local_task, command)},
    {"env", false, manifest_fields_read_environment, offsetof(struct local_task, env)},
    {"cpus", true, read_cpus, offsetof(struct local_task, cpus)},
    {"memory", true, manifest_fields_read_bytes, offsetof(struct local_task, memory)},
    {"shm", false, manifest_fields_read_bytes, offsetof(struct local_task, shm)},
    {"gpus", false, read_gpus, offsetof(struct local_task, gpus)},
    {"workdir", false, read_path, offsetof(struct local_task, workdir)},
    {"mounts", false, read_mounts, 0},
    {"files", false, read_files, 0},
    {NULL, false, NULL, 0},
};

static int read_tasks(struct manifest_reading *reading, const struct value_path *place,
                      struct value *value, void *target)
{
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > TASKS_MAX)
        return manifest_fields_expected(reading, place, value, "a list of 1 to 512 tasks");
    struct local_manifest *manifest = target;
    manifest->tasks = arena_allocate(reading->arena, value->list.count * sizeof(*manifest->tasks));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_task *task = &manifest->tasks[i];
        struct value_path item = {.above = place, .index = i};
        if (manifest_fields_read(reading, &item, value->list.items[i], task_fields, task))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (manifest->tasks[j].index == task->index &&
                text_equal(manifest->tasks[j].role, task->role))
                return manifest_fields_expected(reading, &item, value->list.items[i],
                                                "a role and index that no task before it has");
    }
    manifest->task_count = value->list.count;
    return 0;
}

static int read_network(struct manifest_reading *reading, const struct value_path *place,
                        struct value *value, void *target)
{
    static const char *const names[] = {
        [NETWORK_PRIVATE] = "private",
        [NETWORK_HOST] = "host",
        [NETWORK_BRIDGE] = "bridge",
        [NETWORK_OUTGOING] = "outgoing",
    };
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (value->kind != VALUE_STRING || !text_is(value->string, names[i]))
            continue;
        *(enum local_network *)target = (enum local_network)i;
        return 0;
    }
    return manifest_fields_expected(reading, place, value, "private, outgoing, host or bridge");
}

static int read_listen(struct manifest_reading *reading, const struct value_path *place,
                       struct value *value, void *target)
{
    static const char what[] = "a port number from 1024 to 65535 that is not there before";
    struct local_manifest *manifest = target;
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > LISTEN_MAX)
        return manifest_fields_expected(reading, place, value, "a list of 1 to 512 port numbers");
    manifest->listen = arena_allocate(reading->arena, value->list.count * sizeof(int));
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = place, .index = i};
        int *port = &manifest->listen[i];
        if (manifest_fields_read_count(reading, &item, value->list.items[i], PORT_MAX, what, port))
            return -1;
        for (size_t j = 0; j <= i; j++)
            if (j < i ? manifest->listen[j] == *port : *port < PORT_LEAST)
                return manifest_fields_expected(reading, &item, value->list.items[i], what);
    }
    manifest->listen_count = value->list.count;
    return 0;
}

/* Nothing can connect to a private or an outgoing network. */
static int check_listen(struct manifest_reading *reading, const struct value *document,
                        const struct local_manifest *manifest)
{
    struct value_path place = {.name = TEXT("network")};
    const struct value *network = value_get(document, "network");
    if (!manifest->listen_count)
        return 0;
    if (manifest->parallelism) {
        place.name = TEXT("listen");
        return manifest_fields_expected(
            reading, &place, value_get(document, "listen"),
            "none, as tasks that take turns cannot have ports in common");
    }
    if (manifest->network == NETWORK_HOST || manifest->network == NETWORK_BRIDGE)
        return 0;
    return manifest_fields_expected(reading, &place, network ? network : document,
                                    "host or bridge, as the job is to listen");
}

/* A task that takes a turn takes another's place, so all ask for the same. */
static int check_parallelism(struct manifest_reading *reading, const struct value *document,
                             const struct local_manifest *manifest)
{
    const struct local_task *first = &manifest->tasks[0];
    struct value_path tasks = {.name = TEXT("tasks")};
    for (size_t i = 1; manifest->parallelism && i < manifest->task_count; i++) {
        const struct local_task *task = &manifest->tasks[i];
        struct value_path place = {.above = &tasks, .index = i};
        if (task->cpus != first->cpus || task->memory != first->memory || task->gpus != first->gpus)
            return manifest_fields_expected(
                reading, &place, value_get(document, "tasks")->list.items[i],
                "the cpus, memory and gpus of tasks[0], as there is parallelism");
    }
    return 0;
}

static int read_kind(struct manifest_reading *reading, const struct value_path *place,
                     struct value *value, void *target)
{
    (void)target;
    if (value->kind != VALUE_STRING || !text_is(value->string, "dlspool/local/v1"))
        return manifest_fields_expected(reading, place, value, "dlspool/local/v1");
    return 0;
}

static const struct manifest_field manifest_fields[] = {
    {"kind", true, read_kind, 0},
    {"network", false, read_network, offsetof(struct local_manifest, network)},
    {"complete", false, manifest_fields_read_complete, offsetof(struct local_manifest, complete)},
    {"parallelism", false, read_parallelism, offsetof(struct local_manifest, parallelism)},
    {"env", false, manifest_fields_read_environment, offsetof(struct local_manifest, env)},
    {"ssh", false, manifest_fields_read_boolean, offsetof(struct local_manifest, ssh)},
    {"home", false, manifest_fields_read_boolean, offsetof(struct local_manifest, home)},
    {"listen", false, read_listen, 0},
    {"tasks", true, read_tasks, 0},
    {NULL, false, NULL, 0},
};

struct local_manifest *local_manifest_of(struct arena *arena, struct value *document,
                                         struct error *error)
{
    struct manifest_reading reading = {.arena = arena, .error = error};
    struct local_manifest *manifest = arena_allocate(arena, sizeof(*manifest));
    if (manifest_fields_read(&reading, NULL, document, manifest_fields, manifest) ||
        manifest_fields_check_complete(&reading, manifest->complete, &manifest->tasks->role,
                                       manifest->task_count, sizeof(*manifest->tasks)) ||
        check_listen(&reading, document, manifest) ||
        check_parallelism(&reading, document, manifest))
        return NULL;
    return manifest;
}

struct local_manifest *local_manifest_read(struct arena *arena, struct text source,
                                           struct error *error)
{
    struct value *document = yaml_read(arena, source, "manifest.yaml", &yaml_trusted_limits, error);
    return document ? local_manifest_of(arena, document, error) : NULL;
}
