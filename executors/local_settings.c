/* executors/local_settings.c - the part `local:` of dlspool.yaml */
#include "executors/local_settings.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/system.h"

enum {
    PIDS_DEFAULT = 4096,
    PIDS_MAX = 4194304,              /* the kernel's PID_MAX_LIMIT */
    REQUEST_TIMEOUT_DEFAULT = 30000, /* milliseconds */
    PULL_TIMEOUT_DEFAULT = 120000,
    IN_FLIGHT_DEFAULT = 8,
    IN_FLIGHT_MAX = 256,
    LOG_LIMIT_DEFAULT = 100 << 20, /* bytes */
    KEPT_FOR_THE_MACHINE = 1 << 30 /* bytes of memory that are not given to jobs */
};

static int expected(struct error *error, const struct value *value, const char *field,
                    const char *what)
{
    struct error_quote_room room;
    if (value->kind == VALUE_STRING)
        return error_set(error, "dlspool.yaml:%u: local.%s: found \"%s\", expected %s", value->line,
                         field, error_quote(&room, value->string.data, value->string.length), what);
    char number[NUMBER_TEXT_SIZE];
    const char *found = value_kind_name(value->kind);
    if (value->kind == VALUE_NUMBER) {
        number_format(value->number, number);
        found = number;
    }
    return error_set(error, "dlspool.yaml:%u: local.%s: found %s, expected %s", value->line, field,
                     found, what);
}

/* ---- this machine ---- */

static int64_t machine_cpus(void)
{
    cpu_set_t set;
    long count =
        sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
    return (count > 0 ? count : 1) * (int64_t)1000;
}

static int64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    int64_t total = pages > 0 && size > 0 ? (int64_t)pages * size : 0;
    return total > 2 * (int64_t)KEPT_FOR_THE_MACHINE ? total - KEPT_FOR_THE_MACHINE : total / 2;
}

/* ---- fields ---- */

struct field_reader {
    struct local_settings *local;
    struct arena *arena;
    struct error *error;
};

static int read_path(const struct field_reader *reader, const struct value *value,
                     const char *field, struct text *target)
{
    if (value->kind != VALUE_STRING ||
        (value->string.length && (!text_starts(value->string, "/") ||
                                  memchr(value->string.data, '\0', value->string.length))))
        return expected(reader->error, value, field, "an absolute path");
    *target = arena_text(reader->arena, value->string.data, value->string.length);
    while (target->length > 1 && text_ends(*target, "/"))
        *target = arena_text(reader->arena, target->data, target->length - 1);
    return 0;
}

static int read_socket(const struct field_reader *reader, const struct value *value)
{
    return read_path(reader, value, "socket", &reader->local->socket);
}

static int read_storage(const struct field_reader *reader, const struct value *value)
{
    return read_path(reader, value, "storage", &reader->local->storage);
}

static int read_runtime(const struct field_reader *reader, const struct value *value)
{
    if (value->kind != VALUE_STRING || value->string.length == 0 ||
        memchr(value->string.data, '\0', value->string.length))
        return expected(reader->error, value, "runtime", "the name of an OCI runtime");
    reader->local->runtime = arena_text(reader->arena, value->string.data, value->string.length);
    return 0;
}

static int read_cpus(const struct field_reader *reader, const struct value *value)
{
    enum { CPUS_MAX = 1000000 };
    if (value->kind != VALUE_NUMBER || value->number < 0.01 || value->number > CPUS_MAX)
        return expected(reader->error, value, "cpus", "a number of processors such as 8");
    reader->local->cpus = (int64_t)floor(value->number * 1000 + 0.5);
    return 0;
}

static int read_bytes(const struct field_reader *reader, const struct value *value,
                      const char *field, int64_t *target)
{
    int64_t bytes = 0;
    if (value->kind == VALUE_NUMBER && value->number >= 1 && value->number < 0x1p62)
        bytes = (int64_t)value->number;
    else if (value->kind != VALUE_STRING || quantity_parse_bytes(value->string, &bytes))
        bytes = 0;
    if (bytes < 1)
        return expected(reader->error, value, field, "a size such as \"16Gi\"");
    *target = bytes;
    return 0;
}

static int read_memory(const struct field_reader *reader, const struct value *value)
{
    return read_bytes(reader, value, "memory", &reader->local->memory);
}

static int read_log_limit(const struct field_reader *reader, const struct value *value)
{
    return read_bytes(reader, value, "log_limit", &reader->local->log_limit);
}

/* Device names end up in a label with commas between them. */
static bool is_device(const struct value *value)
{
    if (value->kind != VALUE_STRING || value->string.length == 0)
        return false;
    for (size_t i = 0; i < value->string.length; i++)
        if (value->string.data[i] <= ' ' || value->string.data[i] == ',' ||
            value->string.data[i] == 0x7f)
            return false;
    return true;
}

static int read_gpus(const struct field_reader *reader, const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return expected(reader->error, value, "gpus", "a list of devices such as nvidia.com/gpu=0");
    struct local_settings *local = reader->local;
    local->gpu_count = value->list.count;
    local->gpus = arena_allocate(reader->arena, (local->gpu_count + 1) * sizeof(*local->gpus));
    for (size_t i = 0; i < local->gpu_count; i++) {
        const struct value *item = value->list.items[i];
        if (!is_device(item))
            return expected(reader->error, item, "gpus", "a device such as nvidia.com/gpu=0");
        local->gpus[i] = arena_text(reader->arena, item->string.data, item->string.length);
        for (size_t j = 0; j < i; j++)
            if (text_equal(local->gpus[i], local->gpus[j]))
                return expected(reader->error, item, "gpus", "each device only once");
    }
    return 0;
}

static int read_count(const struct field_reader *reader, const struct value *value,
                      const char *field, int max, int *target)
{
    char what[64];
    snprintf(what, sizeof(what), "a whole number from 1 to %d", max);
    if (value->kind != VALUE_NUMBER || value->number < 1 || value->number > max ||
        floor(value->number) != value->number)
        return expected(reader->error, value, field, what);
    *target = (int)value->number;
    return 0;
}

static int read_pids(const struct field_reader *reader, const struct value *value)
{
    return read_count(reader, value, "pids", PIDS_MAX, &reader->local->pids);
}

static int read_in_flight(const struct field_reader *reader, const struct value *value)
{
    return read_count(reader, value, "in_flight", IN_FLIGHT_MAX, &reader->local->in_flight);
}

static int read_duration(const struct field_reader *reader, const struct value *value,
                         const char *field, int64_t *target)
{
    enum { DAY = 86400 }; /* seconds */
    int64_t duration = 0;
    if (value->kind == VALUE_NUMBER && value->number > 0 && value->number <= DAY)
        duration = (int64_t)(value->number * 1000);
    else if (value->kind != VALUE_STRING || duration_parse(value->string, &duration))
        duration = 0;
    if (duration < 1 || duration > (int64_t)DAY * 1000)
        return expected(reader->error, value, field, "a duration such as 30s, at most one day");
    *target = duration;
    return 0;
}

static int read_request_timeout(const struct field_reader *reader, const struct value *value)
{
    return read_duration(reader, value, "request_timeout", &reader->local->request_timeout);
}

static int read_pull_timeout(const struct field_reader *reader, const struct value *value)
{
    return read_duration(reader, value, "pull_timeout", &reader->local->pull_timeout);
}

static const struct {
    const char *name;
    int (*read)(const struct field_reader *reader, const struct value *value);
} fields[] = {
    {"socket", read_socket},
    {"storage", read_storage},
    {"cpus", read_cpus},
    {"memory", read_memory},
    {"gpus", read_gpus},
    {"runtime", read_runtime},
    {"pids", read_pids},
    {"request_timeout", read_request_timeout},
    {"in_flight", read_in_flight},
    {"log_limit", read_log_limit},
    {"pull_timeout", read_pull_timeout},
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

static int unknown_field(struct error *error, const struct member *member)
{
    const char *names[FIELD_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        names[i] = fields[i].name;
    struct error_quote_room room;
    error_quote(&room, member->key.data, member->key.length);
    const char *nearest = nearest_word(member->key, names);
    return error_set(error, "dlspool.yaml:%u: local.%s: unknown setting%s%s%s", member->line,
                     room.text, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

int local_settings_read(struct local_settings *local, struct arena *arena,
                        const struct value *settings, struct error *error)
{
    *local = (struct local_settings){
        .runtime = TEXT("runc"),
        .cpus = machine_cpus(),
        .memory = machine_memory(),
        .pids = PIDS_DEFAULT,
        .request_timeout = REQUEST_TIMEOUT_DEFAULT,
        .pull_timeout = PULL_TIMEOUT_DEFAULT,
        .in_flight = IN_FLIGHT_DEFAULT,
        .log_limit = LOG_LIMIT_DEFAULT,
    };
    const struct value *tree = value_get(settings, "local");
    if (!tree || tree->kind == VALUE_NULL)
        return 0;
    if (tree->kind != VALUE_OBJECT)
        return error_set(error, "dlspool.yaml:%u: local: found %s, expected an object of settings",
                         tree->line, value_kind_name(tree->kind));
    struct field_reader reader = {local, arena, error};
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        size_t at = 0;
        while (at < FIELD_COUNT && !text_is(member->key, fields[at].name))
            at++;
        if (at == FIELD_COUNT)
            return unknown_field(error, member);
        if (member->value->kind != VALUE_NULL && fields[at].read(&reader, member->value))
            return -1;
    }
    return 0;
}
