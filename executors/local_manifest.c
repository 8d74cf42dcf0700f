/* executors/local_manifest.c - what a template sends to the local executor
 *
 * Each kind of object is a table of its fields; one function reads any of them.
 */
#include "executors/local_manifest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "base/yaml.h"
#include "executors/completion.h"

enum {
    TASKS_MAX = 512,
    INDEX_MAX = 9999,
    ROLE_MAX = 15,
    GPUS_MAX = 1024,
    PORT_LEAST = 1024,
    PORT_MAX = 65535,
    LISTEN_MAX = 512,
    WORDS_MAX = 4096,
    PATH_MAX_BYTES = 4095,
    FIELDS_MAX = 16
};

/* Where in the document we are, for sentences: tasks[0].mounts[1].source */
struct place {
    const struct place *parent;
    const char *field; /* NULL: an item of a list */
    size_t index;
};

struct reading {
    struct arena *arena;
    struct error *error;
};

static void add_place(struct buffer *out, const struct place *place)
{
    if (!place)
        return;
    add_place(out, place->parent);
    if (place->field)
        buffer_printf(out, "%s%s", out->length ? "." : "", place->field);
    else
        buffer_printf(out, "[%zu]", place->index);
}

static void add_found(struct buffer *out, const struct value *value)
{
    struct error_quote_room room;
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_STRING:
        buffer_printf(out, "\"%s\"", error_quote(&room, value->string.data, value->string.length));
        break;
    case VALUE_NUMBER:
        number_format(value->number, number);
        buffer_add_string(out, number);
        break;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        break;
    default:
        buffer_add_string(out, value_kind_name(value->kind));
    }
}

static int expected(struct reading *reading, const struct place *place, const struct value *value,
                    const char *what)
{
    struct buffer path = {0}, found = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    add_found(&found, value);
    error_set(reading->error, "manifest.yaml:%u:%u: %s: found %s, expected %s", value->line,
              value->column, path.length ? path.data : "the document", found.data, what);
    buffer_free(&path);
    buffer_free(&found);
    return -1;
}

/* ---- fields ---- */

struct field {
    const char *name;
    bool required;
    int (*read)(struct reading *reading, const struct place *place, struct value *value,
                void *target);
    size_t offset; /* of the target in the struct */
};

static int unknown_field(struct reading *reading, const struct place *place,
                         const struct field *fields, const struct member *member)
{
    const char *names[FIELDS_MAX + 1] = {NULL};
    for (size_t i = 0; fields[i].name && i < FIELDS_MAX; i++)
        names[i] = fields[i].name;
    struct buffer path = {0}, list = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    for (size_t i = 0; names[i]; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
    struct error_quote_room room;
    error_quote(&room, member->key.data, member->key.length);
    const char *nearest = nearest_word(member->key, names);
    const char *separator = path.length ? "." : "";
    if (nearest)
        error_set(reading->error,
                  "manifest.yaml:%u:%u: %s%s%s: unknown field; did you mean \"%s\"?", member->line,
                  member->column, path.data, separator, room.text, nearest);
    else
        error_set(reading->error, "manifest.yaml:%u:%u: %s%s%s: unknown field, expected one of %s",
                  member->line, member->column, path.data, separator, room.text, list.data);
    buffer_free(&path);
    buffer_free(&list);
    return -1;
}

static int missing_field(struct reading *reading, const struct place *place,
                         const struct value *value, const char *name)
{
    struct buffer path = {0};
    buffer_add(&path, "", 0);
    add_place(&path, place);
    error_set(reading->error, "manifest.yaml:%u:%u: %s%s%s: missing", value->line, value->column,
              path.data, path.length ? "." : "", name);
    buffer_free(&path);
    return -1;
}

static int read_fields(struct reading *reading, const struct place *place,
                       const struct value *value, const struct field *fields, void *target)
{
    if (value->kind != VALUE_OBJECT)
        return expected(reading, place, value, "an object");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct field *field = fields;
        while (field->name && !text_is(member->key, field->name))
            field++;
        if (!field->name)
            return unknown_field(reading, place, fields, member);
        struct place inner = {.parent = place, .field = field->name};
        if (field->read(reading, &inner, member->value, (char *)target + field->offset))
            return -1;
    }
    for (const struct field *field = fields; field->name; field++)
        if (field->required && !value_get(value, field->name))
            return missing_field(reading, place, value, field->name);
    return 0;
}

/* ---- leaves ---- */

static bool is_plain_string(const struct value *value)
{
    return value->kind == VALUE_STRING && !memchr(value->string.data, '\0', value->string.length);
}

static int read_content(struct reading *reading, const struct place *place, struct value *value,
                        void *target)
{
    if (value->kind != VALUE_STRING)
        return expected(reading, place, value, "a string");
    *(struct text *)target = value->string;
    return 0;
}

static int read_role(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    static const char what[] = "a name of at most 15 small letters, digits and inner hyphens that "
                               "starts with a letter";
    if (value->kind != VALUE_STRING || value->string.length == 0 || value->string.length > ROLE_MAX)
        return expected(reading, place, value, what);
    struct text role = value->string;
    for (size_t i = 0; i < role.length; i++) {
        char byte = role.data[i];
        bool letter = byte >= 'a' && byte <= 'z';
        bool digit = byte >= '0' && byte <= '9';
        bool hyphen = byte == '-' && i + 1 < role.length;
        if (!letter && (i == 0 || (!digit && !hyphen)))
            return expected(reading, place, value, what);
    }
    *(struct text *)target = role;
    return 0;
}

static int read_image(struct reading *reading, const struct place *place, struct value *value,
                      void *target)
{
    if (value->kind != VALUE_STRING || value->string.length == 0)
        return expected(reading, place, value, "`host` or an image reference");
    for (size_t i = 0; i < value->string.length; i++)
        if (value->string.data[i] <= ' ' || value->string.data[i] == 0x7f)
            return expected(reading, place, value, "`host` or an image reference");
    *(struct text *)target = value->string;
    return 0;
}

/* An absolute path without "." and ".." and other than "/" itself. */
static int read_path(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    static const char what[] = "an absolute path without \"..\"";
    if (!is_plain_string(value) || !text_starts(value->string, "/") ||
        value->string.length > PATH_MAX_BYTES)
        return expected(reading, place, value, what);
    struct text rest = value->string, part;
    while (text_next(&rest, '/', &part))
        if (text_is(part, "..") || text_is(part, "."))
            return expected(reading, place, value, what);
    *(struct text *)target = value->string;
    return 0;
}

static int read_bytes(struct reading *reading, const struct place *place, struct value *value,
                      void *target)
{
    static const char what[] = "a number of bytes from 1, or a size such as \"2Gi\"";
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62 &&
        floor(value->number) == value->number)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        return expected(reading, place, value, what);
    if (bytes < 1)
        return expected(reading, place, value, what);
    *(int64_t *)target = bytes;
    return 0;
}

static int read_cpus(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    enum { CPUS_MAX = 1000000 };
    static const char what[] = "a number of processors such as 2 or 0.5, from 0.01";
    if (value->kind != VALUE_NUMBER || value->number < 0.01 || value->number > CPUS_MAX)
        return expected(reading, place, value, what);
    *(int64_t *)target = (int64_t)floor(value->number * 1000 + 0.5);
    return 0;
}

static int read_count(struct reading *reading, const struct place *place, struct value *value,
                      int max, const char *what, void *target)
{
    if (value->kind != VALUE_NUMBER || value->number < 0 || value->number > max ||
        floor(value->number) != value->number)
        return expected(reading, place, value, what);
    *(int *)target = (int)value->number;
    return 0;
}

static int read_index(struct reading *reading, const struct place *place, struct value *value,
                      void *target)
{
    return read_count(reading, place, value, INDEX_MAX, "a whole number from 0 to 9999", target);
}

static int read_gpus(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    return read_count(reading, place, value, GPUS_MAX, "a whole number from 0 to 1024", target);
}

static int read_parallelism(struct reading *reading, const struct place *place,
                            struct value *value, void *target)
{
    static const char what[] = "a whole number from 1 to 10000";
    if (value->kind == VALUE_NUMBER && value->number < 1)
        return expected(reading, place, value, what);
    return read_count(reading, place, value, INDEX_MAX + 1, what, target);
}

static int read_boolean(struct reading *reading, const struct place *place, struct value *value,
                        void *target)
{
    if (value->kind != VALUE_BOOLEAN)
        return expected(reading, place, value, "true or false");
    *(bool *)target = value->boolean;
    return 0;
}

static int read_mode(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    static const char what[] = "three octal digits in a string, such as \"0644\" or \"755\"";
    if (value->kind != VALUE_STRING)
        return expected(reading, place, value, what);
    struct text digits = value->string;
    if (digits.length == 4 && digits.data[0] == '0')
        digits = (struct text){digits.data + 1, 3};
    if (digits.length != 3)
        return expected(reading, place, value, what);
    unsigned int mode = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '7')
            return expected(reading, place, value, what);
        mode = mode * 8 + (unsigned int)(digits.data[i] - '0');
    }
    *(unsigned int *)target = mode;
    return 0;
}

static int read_command(struct reading *reading, const struct place *place, struct value *value,
                        void *target)
{
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > WORDS_MAX)
        return expected(reading, place, value, "a list of 1 to 4096 words");
    for (size_t i = 0; i < value->list.count; i++) {
        struct place item = {.parent = place, .index = i};
        if (!is_plain_string(value->list.items[i]))
            return expected(reading, &item, value->list.items[i], "a string without NUL bytes");
    }
    if (value->list.items[0]->string.length == 0) {
        struct place item = {.parent = place, .index = 0};
        return expected(reading, &item, value->list.items[0], "the name of a program");
    }
    *(struct value **)target = value;
    return 0;
}

static int read_env(struct reading *reading, const struct place *place, struct value *value,
                    void *target)
{
    if (value->kind != VALUE_OBJECT)
        return expected(reading, place, value, "an object of strings");
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        struct error_quote_room room;
        struct place inner = {.parent = place,
                              .field = error_quote(&room, member->key.data, member->key.length)};
        if (member->key.length == 0 || memchr(member->key.data, '=', member->key.length) ||
            memchr(member->key.data, '\0', member->key.length))
            return expected(reading, &inner, member->value,
                            "the name before it to be one of a variable");
        if (!is_plain_string(member->value))
            return expected(reading, &inner, member->value, "a string without NUL bytes");
    }
    *(struct value **)target = value;
    return 0;
}

/* ---- objects ---- */

static const struct field mount_fields[] = {
    {"source", true, read_path, offsetof(struct local_mount, source)},
    {"target", true, read_path, offsetof(struct local_mount, target)},
    {"readonly", false, read_boolean, offsetof(struct local_mount, readonly)},
    {NULL, false, NULL, 0},
};

static const struct field file_fields[] = {
    {"path", true, read_path, offsetof(struct local_file, path)},
    {"content", true, read_content, offsetof(struct local_file, content)},
    {"mode", false, read_mode, offsetof(struct local_file, mode)},
    {NULL, false, NULL, 0},
};

static int read_mounts(struct reading *reading, const struct place *place, struct value *value,
                       void *target)
{
    if (value->kind != VALUE_LIST)
        return expected(reading, place, value, "a list of mounts");
    struct local_task *task = target;
    task->mounts = arena_allocate(reading->arena, (value->list.count + 1) * sizeof(*task->mounts));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_mount *mount = &task->mounts[i];
        struct place item = {.parent = place, .index = i};
        mount->readonly = true;
        if (read_fields(reading, &item, value->list.items[i], mount_fields, mount))
            return -1;
        if (mount->target.length == 1)
            return expected(reading, &item, value->list.items[i], "a target other than / itself");
    }
    task->mount_count = value->list.count;
    return 0;
}

static int read_files(struct reading *reading, const struct place *place, struct value *value,
                      void *target)
{
    if (value->kind != VALUE_LIST)
        return expected(reading, place, value, "a list of files");
    struct local_task *task = target;
    task->files = arena_allocate(reading->arena, (value->list.count + 1) * sizeof(*task->files));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_file *file = &task->files[i];
        struct place item = {.parent = place, .index = i};
        file->mode = 0644;
        if (read_fields(reading, &item, value->list.items[i], file_fields, file))
            return -1;
        if (text_ends(file->path, "/"))
            return expected(reading, &item, value->list.items[i], "a path that names a file");
    }
    task->file_count = value->list.count;
    return 0;
}

static const struct field task_fields[] = {
    {"role", true, read_role, offsetof(struct local_task, role)},
    {"index", false, read_index, offsetof(struct local_task, index)},
    {"image", true, read_image, offsetof(struct local_task, image)},
    {"command", true, read_command, offsetof(struct local_task, command)},
    {"env", false, read_env, offsetof(struct local_task, env)},
    {"cpus", true, read_cpus, offsetof(struct local_task, cpus)},
    {"memory", true, read_bytes, offsetof(struct local_task, memory)},
    {"shm", false, read_bytes, offsetof(struct local_task, shm)},
    {"gpus", false, read_gpus, offsetof(struct local_task, gpus)},
    {"workdir", false, read_path, offsetof(struct local_task, workdir)},
    {"mounts", false, read_mounts, 0},
    {"files", false, read_files, 0},
    {NULL, false, NULL, 0},
};

static int read_tasks(struct reading *reading, const struct place *place, struct value *value,
                      void *target)
{
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > TASKS_MAX)
        return expected(reading, place, value, "a list of 1 to 512 tasks");
    struct local_manifest *manifest = target;
    manifest->tasks = arena_allocate(reading->arena, value->list.count * sizeof(*manifest->tasks));
    for (size_t i = 0; i < value->list.count; i++) {
        struct local_task *task = &manifest->tasks[i];
        struct place item = {.parent = place, .index = i};
        if (read_fields(reading, &item, value->list.items[i], task_fields, task))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (manifest->tasks[j].index == task->index &&
                text_equal(manifest->tasks[j].role, task->role))
                return expected(reading, &item, value->list.items[i],
                                "a role and index that no task before it has");
    }
    manifest->task_count = value->list.count;
    return 0;
}

static int read_network(struct reading *reading, const struct place *place, struct value *value,
                        void *target)
{
    static const char *const names[] = {
        [NETWORK_PRIVATE] = "private", [NETWORK_HOST] = "host", [NETWORK_BRIDGE] = "bridge"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (value->kind != VALUE_STRING || !text_is(value->string, names[i]))
            continue;
        *(enum local_network *)target = (enum local_network)i;
        return 0;
    }
    return expected(reading, place, value, "private, host or bridge");
}

static int read_complete(struct reading *reading, const struct place *place, struct value *value,
                         void *target)
{
    struct error problem;
    if (!completion_of(reading->arena, value, &problem)) {
        char what[ERROR_TEXT_SIZE + 32];
        snprintf(what, sizeof(what), "a rule for each role (%s)", problem.text);
        return expected(reading, place, value, what);
    }
    *(struct value **)target = value;
    return 0;
}

/* Each role of the rule is one of a task. */
static int check_complete(struct reading *reading, const struct local_manifest *manifest)
{
    const struct value *rule = manifest->complete;
    for (size_t i = 0; rule && i < rule->object.count; i++) {
        const struct member *member = &rule->object.members[i];
        struct place place = {.field = "complete"};
        size_t task = 0;
        while (task < manifest->task_count && !text_equal(manifest->tasks[task].role, member->key))
            task++;
        if (task == manifest->task_count)
            return expected(reading, &place, member->value, "only roles that tasks have");
    }
    return 0;
}

static int read_listen(struct reading *reading, const struct place *place, struct value *value,
                       void *target)
{
    static const char what[] = "a port number from 1024 to 65535 that is not there before";
    struct local_manifest *manifest = target;
    if (value->kind != VALUE_LIST || value->list.count == 0 || value->list.count > LISTEN_MAX)
        return expected(reading, place, value, "a list of 1 to 512 port numbers");
    manifest->listen = arena_allocate(reading->arena, value->list.count * sizeof(int));
    for (size_t i = 0; i < value->list.count; i++) {
        struct place item = {.parent = place, .index = i};
        int *port = &manifest->listen[i];
        if (read_count(reading, &item, value->list.items[i], PORT_MAX, what, port))
            return -1;
        for (size_t j = 0; j <= i; j++)
            if (j < i ? manifest->listen[j] == *port : *port < PORT_LEAST)
                return expected(reading, &item, value->list.items[i], what);
    }
    manifest->listen_count = value->list.count;
    return 0;
}

/* A private network has no way in. */
static int check_listen(struct reading *reading, const struct value *document,
                        const struct local_manifest *manifest)
{
    struct place place = {.field = "network"};
    const struct value *network = value_get(document, "network");
    if (!manifest->listen_count)
        return 0;
    if (manifest->parallelism) {
        place.field = "listen";
        return expected(reading, &place, value_get(document, "listen"),
                        "none, as tasks that take turns cannot have ports in common");
    }
    if (manifest->network != NETWORK_PRIVATE)
        return 0;
    return expected(reading, &place, network ? network : document,
                    "host or bridge, as the job is to listen");
}

/* Tasks that take turns take one another's place. */
static int check_parallelism(struct reading *reading, const struct value *document,
                             const struct local_manifest *manifest)
{
    const struct local_task *first = &manifest->tasks[0];
    struct place tasks = {.field = "tasks"};
    for (size_t i = 1; manifest->parallelism && i < manifest->task_count; i++) {
        const struct local_task *task = &manifest->tasks[i];
        struct place place = {.parent = &tasks, .index = i};
        if (task->cpus != first->cpus || task->memory != first->memory || task->gpus != first->gpus)
            return expected(reading, &place, value_get(document, "tasks")->list.items[i],
                            "the cpus, memory and gpus of tasks[0], as there is parallelism");
    }
    return 0;
}

static int read_kind(struct reading *reading, const struct place *place, struct value *value,
                     void *target)
{
    (void)target;
    if (value->kind != VALUE_STRING || !text_is(value->string, "dlspool/local/v1"))
        return expected(reading, place, value, "dlspool/local/v1");
    return 0;
}

static const struct field manifest_fields[] = {
    {"kind", true, read_kind, 0},
    {"network", false, read_network, offsetof(struct local_manifest, network)},
    {"complete", false, read_complete, offsetof(struct local_manifest, complete)},
    {"parallelism", false, read_parallelism, offsetof(struct local_manifest, parallelism)},
    {"env", false, read_env, offsetof(struct local_manifest, env)},
    {"ssh", false, read_boolean, offsetof(struct local_manifest, ssh)},
    {"listen", false, read_listen, 0},
    {"tasks", true, read_tasks, 0},
    {NULL, false, NULL, 0},
};

struct local_manifest *local_manifest_read(struct arena *arena, struct text source,
                                           struct error *error)
{
    struct reading reading = {.arena = arena, .error = error};
    struct value *document = yaml_read(arena, source, "manifest.yaml", &yaml_trusted_limits, error);
    if (!document)
        return NULL;
    struct local_manifest *manifest = arena_allocate(arena, sizeof(*manifest));
    if (read_fields(&reading, NULL, document, manifest_fields, manifest) ||
        check_complete(&reading, manifest) || check_listen(&reading, document, manifest) ||
        check_parallelism(&reading, document, manifest))
        return NULL;
    return manifest;
}
