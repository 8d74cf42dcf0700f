/* request/openpai/v1_role.c - the task roles of OpenPAI's version 1: taskRoles[] */
#include "request/openpai/v1_role.h"

#include <inttypes.h>
#include <stddef.h>

#include "request/notes.h"
#include "request/openpai/values.h"
#include "request/roles.h"
#include "request/tasks.h"

enum {
    DEFAULT_MEMORY_MB = 100,
    DEFAULT_SHM_MB = 64,
    MEMORY_MB_LEAST = 100,
    PORT_LAST = 65535,
    PORTS_MOST = 10000, /* of one label, and of a whole job */
    STORAGE_GB_MOST = 1 << 20,
};

/* A role as it stands in the file. */
struct role {
    struct text name;
    const struct value *command, *ports;
    bool infiniband, main;
    int64_t count, cpus, memory, shm, gpus, storage;
    int64_t failed, succeeded;
};

/* Check the type only; openpai_values_command() reads the text. */
static void read_command(struct reading *reading, const struct value_path *path,
                         const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_STRING)
        problems_expected(reading, path, value, "a text: a command for bash");
    else
        *(const struct value **)into = value;
}

static void read_flag(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_BOOLEAN)
        problems_expected(reading, path, value, "true or false");
    else
        *(bool *)into = value->boolean;
}

#define MEMBER(name) .offset = offsetof(struct role, name)

static const struct field fields[] = {
    {FIELD_NAME("name"), openpai_name, MEMBER(name)},
    {FIELD_NAME("taskNumber"), openpai_integer, MEMBER(count), .least = 1, .most = TASKS_MOST},
    {FIELD_NAME("cpuNumber"), openpai_integer, MEMBER(cpus), .least = 1, .most = 100000},
    {FIELD_NAME("memoryMB"), openpai_integer, MEMBER(memory), .least = MEMORY_MB_LEAST,
     .most = (int64_t)256 << 20},
    {FIELD_NAME("shmMB"), openpai_integer, MEMBER(shm), .least = 0, .most = (int64_t)256 << 20},
    {FIELD_NAME("gpuNumber"), openpai_integer, MEMBER(gpus), .least = 0, .most = GPUS_MOST},
    {FIELD_NAME("storageGB"), openpai_integer, MEMBER(storage), .least = 0,
     .most = STORAGE_GB_MOST},
    {FIELD_NAME("portList"), openpai_list, MEMBER(ports)},
    {FIELD_NAME("command"), read_command, MEMBER(command)},
    /* From OpenI, a fork of OpenPAI. */
    {FIELD_NAME("needIBDevice"), read_flag, MEMBER(infiniband)},
    {FIELD_NAME("isMainRole"), read_flag, MEMBER(main)},
    {FIELD_NAME("minFailedTaskCount"), openpai_integer, MEMBER(failed), .least = 1,
     .most = TASKS_MOST},
    {FIELD_NAME("minSucceededTaskCount"), openpai_integer, MEMBER(succeeded), .least = 1,
     .most = TASKS_MOST},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "a task role of OpenPAI's version 1",
};

/* An item of portList. */
struct port {
    struct text label;
    int64_t first, count;
};

static const struct field port_fields[] = {
    {FIELD_NAME("label"), openpai_name, .offset = offsetof(struct port, label)},
    {FIELD_NAME("beginAt"), openpai_integer, .offset = offsetof(struct port, first), .least = 0,
     .most = PORT_LAST},
    {FIELD_NAME("portNumber"), openpai_integer, .offset = offsetof(struct port, count), .least = 1,
     .most = PORTS_MOST},
};

static const struct field_table port_table = {
    .fields = port_fields,
    .count = ARRAY_COUNT(port_fields),
    .owner = "a port of OpenPAI's version 1",
};

static const char *const nothing[] = {NULL};

static void read_port(struct reading *reading, const struct value_path *path,
                      const struct value *value, struct port *port)
{
    static const char *const names[] = {"label", NULL};
    static const char *const expected[] = {"the name of the ports, such as http"};
    *port = (struct port){.count = 1};
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value, "a map such as {\"label\": \"http\"}");
        return;
    }
    openpai_values_refuse_nulls(reading, path, value, &port_table, nothing);
    openpai_values_require(reading, path, value, names, expected);
    fields_read(reading, path, value, &port_table, port);
    struct value_path number = {.above = path, .name = TEXT("beginAt")};
    if (port->first && port->first + port->count - 1 > PORT_LAST)
        problems_add(reading, &number, value->line, value->column,
                     "found ports %" PRId64 " to %" PRId64 ", expected none above %d", port->first,
                     port->first + port->count - 1, (int)PORT_LAST);
}

/* Add a port; of two with the same label the later one counts, as in OpenPAI's launcher. */
static void add_port(struct task_role *task, const struct port *port)
{
    struct port_request asked = {port->label, (int)port->count, (int)port->first};
    for (size_t i = 0; i < task->ports_count; i++)
        if (text_equal(task->ports[i].label, port->label)) {
            task->ports[i] = asked;
            return;
        }
    task->ports[task->ports_count++] = asked;
}

static const char *field_of(struct arena *arena, size_t index, const char *name)
{
    return arena_printf(arena, "taskRoles[%zu].%s", index, name).data;
}

enum { ROLE_PORTS_MOST = 1000 };

/* Read portList and add the usual ports.  A fixed port of several tasks gets a note. */
static void read_ports(struct reading *reading, const struct value_path *role_path, size_t index,
                       const struct value *list, struct task_role *task, struct notes *notes)
{
    struct value_path path = {.above = role_path, .name = TEXT("portList")};
    size_t count = list ? list->list.count : 0;
    if (count > ROLE_PORTS_MOST) {
        problems_add(reading, &path, list->line, list->column,
                     "found %zu ports, expected at most "
                     "%d",
                     count, (int)ROLE_PORTS_MOST);
        count = 0;
    }
    task->ports = arena_allocate(reading->arena, (count + 2) * sizeof(*task->ports));
    for (size_t i = 0; i < count; i++) {
        struct value_path item = {.above = &path, .index = i};
        struct port port;
        read_port(reading, &item, list->list.items[i], &port);
        add_port(task, &port);
        if (port.first && task->count > 1)
            request_notes_add(reading->arena, notes, field_of(reading->arena, index, "portList"),
                              "port %" PRId64
                              " is fixed for %d tasks: where they share one address, only "
                              "one of them can have it",
                              port.first, task->count);
    }
    openpai_values_usual_ports(task);
}

/* Add problems where the rule about the job's end cannot be met. */
static void check_rule(struct reading *reading, const struct value_path *role_path,
                       const struct value *map, const char *name, int64_t number, int64_t count)
{
    struct value_path path = {.above = role_path, .name = text_of(name)};
    const struct value *value = fields_given(map, name);
    if (value && number > count)
        problems_add(reading, &path, value->line, value->column,
                     "found %" PRId64 ", expected at most %" PRId64 ", the role's taskNumber",
                     number, count);
}

static bool is_null(const struct value *map, const char *name)
{
    const struct value *value = value_get(map, name);
    return value && value->kind == VALUE_NULL;
}

/* Add notes on fields whose effect the owner may not expect. */
static void note_role(struct arena *arena, size_t index, const struct value *map,
                      const struct role *role, struct notes *notes)
{
    bool odd = false;
    for (size_t i = 0; i < role->name.length; i++)
        odd = odd || role->name.data[i] == '.' || role->name.data[i] == '~';
    if (odd)
        request_notes_add(arena, notes, field_of(arena, index, "name"),
                          "no shell can name the variables of a role whose name holds . or ~; on "
                          "Kubernetes, those with ~ are left out");
    if (role->infiniband)
        request_notes_add(
            arena, notes, field_of(arena, index, "needIBDevice"),
            "no effect: how tasks reach a fast network is in the templates and site.yaml");
    if (role->main)
        request_notes_add(arena, notes, field_of(arena, index, "isMainRole"),
                          "the job ends well when %" PRId64
                          " of this role's tasks have succeeded, whatever "
                          "the other roles do",
                          role->succeeded);
    if (is_null(map, "minFailedTaskCount") && role->count == 1)
        request_notes_add(arena, notes, field_of(arena, index, "minFailedTaskCount"),
                          "null: the job does not fail when this role's only task fails");
}

static void check_shm(struct reading *reading, const struct value_path *role_path,
                      const struct value *map, const struct role *role)
{
    struct value_path path = {.above = role_path, .name = TEXT("shmMB")};
    const struct value *value = fields_given(map, "shmMB");
    if (role->shm > role->memory)
        problems_add(reading, &path, value ? value->line : map->line,
                     value ? value->column : map->column,
                     "found %" PRId64 ", expected at most memoryMB, %" PRId64 "%s", role->shm,
                     role->memory, fields_given(map, "memoryMB") ? "" : " (the default)");
}

/* Read the fields of a role with OpenPAI's defaults.  `minFailedTaskCount: null` means that no
 * failure ends the job; the success of all tasks of a main role does. */
static void read_fields_of(struct reading *reading, const struct value_path *path,
                           const struct value *map, struct role *role)
{
    static const char *const may_be_null[] = {"minFailedTaskCount", "minSucceededTaskCount", NULL};
    static const char *const names[] = {"name", "command", NULL};
    static const char *const expected[] = {"the role's name", "the command that its tasks run"};
    *role = (struct role){
        .count = 1,
        .cpus = 1,
        .memory = DEFAULT_MEMORY_MB,
        .shm = DEFAULT_SHM_MB,
        .failed = is_null(map, "minFailedTaskCount") ? -1 : 1,
        .succeeded = -1,
    };
    size_t found = reading->found;
    openpai_values_refuse_nulls(reading, path, map, &table, may_be_null);
    openpai_values_require(reading, path, map, names, expected);
    fields_read(reading, path, map, &table, role);
    if (reading->found != found)
        return;
    if (role->main && role->succeeded < 0)
        role->succeeded = role->count;
    /* Docker takes 0 for its default size. */
    if (role->shm == 0)
        role->shm = DEFAULT_SHM_MB;
    check_shm(reading, path, map, role);
    check_rule(reading, path, map, "minFailedTaskCount", role->failed, role->count);
    check_rule(reading, path, map, "minSucceededTaskCount", role->succeeded, role->count);
}

/* Read a role into a role of tasks and its rule of completion.  When a field is wrong, neither is
 * changed. */
static void read_role(struct reading *reading, const struct value_path *path, size_t index,
                      const struct value *map, struct role_names *names, struct description *job)
{
    struct task_role *task = &job->tasks[job->tasks_count++];
    struct role role;
    if (map->kind != VALUE_OBJECT) {
        problems_expected(reading, path, map, "a map of the role's fields");
        return;
    }
    size_t found = reading->found;
    read_fields_of(reading, path, map, &role);
    struct value_path name_path = {.above = path, .name = TEXT("name")};
    const struct value *name = value_get(map, "name");
    struct error_quote_buffer buffer;
    if (role.name.length && !roles_is_new(reading->arena, names, role.name))
        problems_add(reading, &name_path, name->line, name->column,
                     "found \"%s\" a second time, expected a name for each role",
                     error_quote(&buffer, role.name.data, role.name.length));
    struct value_path command_path = {.above = path, .name = TEXT("command")};
    if (role.command)
        openpai_values_command(reading, &command_path, role.command->string, role.command, task);
    task->count = (int)role.count;
    read_ports(reading, path, index, role.ports, task, &job->notes);
    if (reading->found != found)
        return;
    task->role = roles_label(reading->arena, names, role.name);
    task->name = role.name;
    task->cpus = role.cpus * 1000;
    task->memory = role.memory << 20;
    task->shm = role.shm << 20;
    task->gpus = (int)role.gpus;
    task->storage = role.storage << 30;
    job->complete[job->complete_count++] =
        (struct completion){task->role, (int)role.failed, (int)role.succeeded};
    note_role(reading->arena, index, map, &role, &job->notes);
}

/* Check the sums over all roles: tasks and ports. */
static void check_sums(struct reading *reading, const struct value_path *path,
                       const struct value *list, const struct description *job)
{
    int64_t tasks = 0, ports = 0;
    for (size_t i = 0; i < job->tasks_count; i++) {
        const struct task_role *task = &job->tasks[i];
        tasks += task->count;
        for (size_t j = 0; j < task->ports_count; j++)
            if (!task->ports[j].first)
                ports += (int64_t)task->count * task->ports[j].count;
    }
    if (tasks > TASKS_MOST)
        problems_add(reading, path, list->line, list->column,
                     "found %" PRId64 " tasks in all roles, expected at most %d", tasks,
                     (int)TASKS_MOST);
    else if (ports > PORTS_MOST && ports > 2 * tasks)
        problems_add(reading, path, list->line, list->column,
                     "found %" PRId64 " ports for all tasks, expected at most %d", ports,
                     (int)PORTS_MOST);
}

void openpai_v1_roles_read(struct reading *reading, const struct value *list,
                           struct description *job)
{
    struct value_path path = {.name = TEXT("taskRoles")};
    struct role_names names;
    size_t count = list->list.count, found = reading->found;
    if (count > TASKS_MOST) {
        problems_add(reading, &path, list->line, list->column,
                     "found %zu roles, expected at most %d", count, (int)TASKS_MOST);
        return;
    }
    roles_start(reading->arena, &names);
    job->tasks = arena_allocate(reading->arena, count * sizeof(*job->tasks));
    job->complete = arena_allocate(reading->arena, count * sizeof(*job->complete));
    for (size_t i = 0; i < count; i++) {
        struct value_path item = {.above = &path, .index = i};
        read_role(reading, &item, i, list->list.items[i], &names, job);
    }
    if (reading->found == found)
        check_sums(reading, &path, list, job);
}
