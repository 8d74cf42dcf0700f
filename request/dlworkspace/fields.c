/* request/dlworkspace/fields.c - the parameters of DLWorkspace's PostJob, one by one */
#include "request/dlworkspace/fields.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "request/arguments.h"
#include "request/notes.h"
#include "request/tasks.h"
#include "request/values.h"

enum {
    NAME_LONGEST = 1024, /* bytes, as the draft of its second version allows */
    WORD_LONGEST = 255,
    IMAGE_LONGEST = 512,
    COMMAND_LONGEST = 1 << 20,
    PRIORITY_MOST = 1000,
    PORTS_MOST = 100,
    PORT_MOST = 65535,
};

#define READER(reader)                                                                             \
    static void reader(                                                                            \
        struct reading *reading, const struct value_path *path, const struct value *value,         \
        const struct field *field __attribute__((unused)), void *into __attribute__((unused)))

/* Read a number, which may be written as a text. */
static bool take_number(const struct value *value, double *number)
{
    enum { LARGEST = 999999999 };
    if (value->kind == VALUE_NUMBER) {
        *number = value->number;
        return true;
    }
    int64_t digits = value->kind == VALUE_STRING ? text_number(value->string, LARGEST) : -1;
    *number = digits < 0 ? 0 : (double)digits;
    return digits >= 0;
}

READER(read_number)
{
    double number;
    if (!take_number(value, &number) || number != floor(number) || number < (double)field->least ||
        number > (double)field->most)
        problems_expected(reading, path, value, "a whole number from %" PRId64 " to %" PRId64,
                          field->least, field->most);
    else
        *(int *)into = (int)number;
}

/* True, "true", 1 ... */
static int truth_of(const struct value *value)
{
    struct text text;
    if (!values_scalar_text(value, true, &text))
        return 0;
    if (text_is(text, "true") || text_is(text, "True") || text_is(text, "1"))
        return 1;
    bool no =
        text_is(text, "false") || text_is(text, "False") || text_is(text, "0") || text.length == 0;
    return no ? -1 : 0;
}

READER(read_truth)
{
    int found = truth_of(value);
    if (!found)
        problems_expected(reading, path, value, "true or false");
    else
        *(int *)into = found;
}

/* One line; `least` 1: not empty. */
READER(read_line)
{
    struct text text;
    bool good = values_scalar_text(value, false, &text) && text.length >= (size_t)field->least &&
                text.length <= (size_t)field->most;
    for (size_t i = 0; good && i < text.length; i++)
        good = (unsigned char)text.data[i] >= 0x20 && text.data[i] != 0x7f;
    if (!good)
        problems_expected(reading, path, value, "%sa text of at most %" PRId64 " bytes on one line",
                          field->least ? "" : "nothing, or ", field->most);
    else
        *(struct text *)into = text;
}

/* A relative path, or nothing. */
READER(read_path_below)
{
    if (value->kind == VALUE_STRING && value->string.length == 0)
        return;
    if (value->kind == VALUE_STRING && memchr(value->string.data, '\\', value->string.length))
        problems_expected(reading, path, value, "a relative path without \\");
    else
        read_relative_path(reading, path, value, field, into);
}

READER(read_image_name)
{
    struct field image = *field;
    image.most = IMAGE_LONGEST;
    read_image(reading, path, value, &image, into);
}

READER(read_map_or_list)
{
    if (value->kind != VALUE_OBJECT && value->kind != VALUE_LIST)
        problems_expected(reading, path, value, "a list or a map");
}

READER(read_plugins)
{
    if (value->kind != VALUE_OBJECT)
        problems_add(reading, path, value->line, value->column,
                     "found a %s, expected a map such as {imagePull: [...]}",
                     value_kind_name(value->kind));
    else
        *(const struct value **)into = value;
}

/* Accepts anything; never quotes it, since some of these are credentials. */
READER(read_ignored)
{
    (void)reading, (void)path, (void)value;
}

/* envs: a list of {name, value}. */
READER(read_variables)
{
    struct value *map = value_object(reading->arena);
    map->line = value->line;
    map->column = value->column;
    if (value->kind != VALUE_LIST) {
        problems_expected(reading, path, value, "a list such as [{name: EPOCHS, value: 3}]");
        return;
    }
    for (size_t i = 0; i < value->list.count; i++) {
        const struct value *item = value->list.items[i];
        struct value_path item_path = {.above = path, .index = i};
        const struct value *name = value_get(item, "name");
        struct value *of = value_get(item, "value");
        if (item->kind != VALUE_OBJECT || item->object.count != 2 || !name || !of ||
            name->kind != VALUE_STRING) {
            problems_expected(reading, &item_path, item, "a map such as {name: EPOCHS, value: 3}");
            continue;
        }
        struct member *member = value_set(reading->arena, map, name->string, of);
        member->line = name->line;
        member->column = name->column;
    }
    read_environment(reading, path, map, field, into);
}

/* interactivePort: numbers separated by , or ; */
READER(read_ports)
{
    struct text text, rest, part;
    struct port_request *ports = arena_allocate(reading->arena, PORTS_MOST * sizeof(*ports));
    size_t count = 0;
    bool good = values_scalar_text(value, false, &text);
    char *commas = good ? arena_allocate(reading->arena, text.length + 1) : NULL;
    for (size_t i = 0; good && i < text.length; i++)
        commas[i] = text.data[i] == ';' ? ',' : text.data[i];
    rest = (struct text){commas, good ? text.length : 0};
    while (good && text_next(&rest, ',', &part)) {
        double number;
        struct value word = {.kind = VALUE_STRING, .string = text_trim(part)};
        bool again = false;
        if (word.string.length == 0)
            continue;
        good = take_number(&word, &number) && number >= 1 && number <= PORT_MOST;
        for (size_t i = 0; i < count; i++)
            again = again || ports[i].first == (int)number;
        if (!good || again)
            continue;
        good = count < PORTS_MOST;
        if (good)
            ports[count++] = (struct port_request){
                .label = arena_printf(reading->arena, "port%d", (int)number),
                .count = 1,
                .first = (int)number,
            };
    }
    if (!good) {
        problems_expected(reading, path, value,
                          "at most %d numbers of ports, from 1 to %d, such "
                          "as \"8888, 6006\"",
                          (int)PORTS_MOST, (int)PORT_MOST);
        return;
    }
    *(struct port_request **)into = ports;
    *(size_t *)((char *)into - field->offset + field->count_offset) = count;
}

#define MEMBER(name) .offset = offsetof(struct dlworkspace, name)
#define IGNORED(name)                                                                              \
    {                                                                                              \
        FIELD_NAME(name), read_ignored, .offset = 0                                                \
    }
#define LINE(name, member)                                                                         \
    {                                                                                              \
        FIELD_NAME(name), read_line, MEMBER(member), .most = WORD_LONGEST                          \
    }
#define COUNT_OF(name, member)                                                                     \
    {                                                                                              \
        FIELD_NAME(name), read_number, MEMBER(member), .least = 0, .most = TASKS_MOST              \
    }

static const struct field fields[] = {
    {FIELD_NAME("jobName"), read_line, MEMBER(name), .least = 1, .most = NAME_LONGEST},
    LINE("vcName", cluster),
    LINE("jobType", kind),
    LINE("jobtrainingtype", training),
    {FIELD_NAME("image"), read_image_name, MEMBER(image)},
    {FIELD_NAME("cmd"), read_script, MEMBER(command), .most = COMMAND_LONGEST},
    {FIELD_NAME("resourcegpu"), read_number, MEMBER(gpus), .least = 0, .most = GPUS_MOST},
    COUNT_OF("numps", servers),
    COUNT_OF("numpsworker", workers),
    COUNT_OF("nummpiworker", mpi_workers),
    {FIELD_NAME("workPath"), read_path_below, MEMBER(work_path), .most = PATH_MAX - 1},
    {FIELD_NAME("dataPath"), read_path_below, MEMBER(data_path), .most = PATH_MAX - 1},
    {FIELD_NAME("jobPath"), read_path_below, MEMBER(job_path), .most = PATH_MAX - 1},
    {FIELD_NAME("enableworkpath"), read_truth, MEMBER(enable_work)},
    {FIELD_NAME("enabledatapath"), read_truth, MEMBER(enable_data)},
    {FIELD_NAME("enablejobpath"), read_truth, MEMBER(enable_job)},
    {FIELD_NAME("interactivePort"), read_ports, MEMBER(ports),
     .count_offset = offsetof(struct dlworkspace, ports_count)},
    LINE("gpuType", gpu_type),
    LINE("sku", sku),
    {FIELD_NAME("cpurequest"), read_cpus, MEMBER(cpu_request), .least = CPUS_LEAST,
     .most = CPUS_MOST},
    {FIELD_NAME("cpulimit"), read_cpus, MEMBER(cpu_limit), .least = CPUS_LEAST, .most = CPUS_MOST},
    {FIELD_NAME("memoryrequest"), read_bytes, MEMBER(memory_request), .least = MEMORY_LEAST,
     .most = MEMORY_MOST},
    {FIELD_NAME("memorylimit"), read_bytes, MEMBER(memory_limit), .least = MEMORY_LEAST,
     .most = MEMORY_MOST},
    {FIELD_NAME("preemptionAllowed"), read_truth, MEMBER(preemptible)},
    {FIELD_NAME("jobPriority"), read_number, MEMBER(priority), .least = 1, .most = PRIORITY_MOST},
    {FIELD_NAME("envs"), read_variables, MEMBER(environment)},
    {FIELD_NAME("isPrivileged"), read_truth, MEMBER(privileged)},
    {FIELD_NAME("plugins"), read_plugins, MEMBER(plugins)},
    {FIELD_NAME("labels"), read_map_or_list, .offset = 0},
    {FIELD_NAME("annotations"), read_map_or_list, .offset = 0},
    {FIELD_NAME("nodeSelector"), read_map_or_list, .offset = 0},
    {FIELD_NAME("mountpoints"), read_map_or_list, .offset = 0},
    IGNORED("userName"),
    IGNORED("userId"),
    IGNORED("jobId"),
    IGNORED("containerUserId"),
    IGNORED("runningasroot"),
    IGNORED("logDir"),
    IGNORED("hostNetwork"),
    IGNORED("hostIPC"),
    IGNORED("dnsPolicy"),
    IGNORED("ssh_public_keys"),
    IGNORED("familyToken"),
    IGNORED("isParent"),
    IGNORED("debug"),
};

const struct field_table dlworkspace_fields = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a DLWorkspace job",
};

/* ---- what has no effect ---- */

static const struct {
    const char *name, *sentence;
} ineffective[] = {
    {"userName", "no effect here: a job is of the user who drops the file"},
    {"userId", "no effect here: a job runs as the user who drops the file"},
    {"containerUserId", "no effect here: a job runs as the user who drops the file"},
    {"runningasroot", "no effect here: a job runs as the user who drops the file"},
    {"jobId", "no effect here: dlspool gives the job its id"},
    {"logDir", "no effect here: no TensorBoard is started; what tasks print is in output/"},
    {"labels", "no effect here"},
    {"annotations", "no effect here"},
    {"nodeSelector", "no effect here: gpuType and the site's queues decide where tasks run"},
    {"mountpoints", "no effect here: the site says what is mounted"},
    {"hostNetwork", "no effect here: the site says which network tasks have"},
    {"hostIPC", "no effect here"},
    {"dnsPolicy", "no effect here"},
    {"ssh_public_keys", "no effect here: no ssh server is added to tasks"},
    {"familyToken", "no effect here: jobs have no families"},
    {"isParent", "no effect here: jobs have no families"},
    {"debug", "no effect here"},
};

static bool asks_for_nothing(const struct value *value)
{
    return value->kind == VALUE_NULL || truth_of(value) == -1 ||
           (value->kind == VALUE_LIST && value->list.count == 0) ||
           (value->kind == VALUE_OBJECT && value->object.count == 0);
}

void dlworkspace_fields_note_ineffective(struct arena *arena, const struct value *root,
                                         struct notes *notes)
{
    for (size_t i = 0; i < ARRAY_COUNT(ineffective); i++) {
        const struct value *value = value_get(root, ineffective[i].name);
        if (value && !asks_for_nothing(value))
            request_notes_add(arena, notes, ineffective[i].name, "%s", ineffective[i].sentence);
    }
}
