/* executors/local/settings.c - the part `local:` of dlspool.yaml */
#include "executors/local/settings.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/section.h"

enum {
    PIDS_MAX = 4194304,            /* the kernel's PID_MAX_LIMIT */
    A_DAY = 86400000,              /* milliseconds */
    KEPT_FOR_THE_MACHINE = 1 << 30 /* bytes of memory that are not given to jobs */
};

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

static struct local_settings *local_of(const struct section *section)
{
    return section->target;
}

static int read_runtime(const struct section *section, const struct value *value)
{
    if (value->kind != VALUE_STRING || value->string.length == 0 ||
        memchr(value->string.data, '\0', value->string.length))
        return section_expected(section, value, "runtime", "the name of an OCI runtime");
    local_of(section)->runtime =
        arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_cpus(const struct section *section, const struct value *value)
{
    enum { CPUS_MAX = 1000000 };
    if (value->kind != VALUE_NUMBER || value->number < 0.01 || value->number > CPUS_MAX)
        return section_expected(section, value, "cpus", "a number of CPUs such as 8");
    local_of(section)->cpus = (int64_t)floor(value->number * 1000 + 0.5);
    return 0;
}

/* A device's name becomes a part of a label, with commas between the names. */
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

enum { LONGEST_TYPE = 63 }; /* bytes */

static bool is_type(const struct value *value)
{
    return value && value->kind == VALUE_STRING && value->string.length <= LONGEST_TYPE &&
           !memchr(value->string.data, '\0', value->string.length);
}

/* Read an item: a device, or {device: ..., type: ...}. */
static int read_gpu(const struct section *section, const struct value *item, struct text *device,
                    struct text *type)
{
    const struct value *name = item, *kind = NULL;
    if (item->kind == VALUE_OBJECT) {
        name = value_get(item, "device");
        kind = value_get(item, "type");
        if (!name || !is_type(kind) || !kind->string.length || item->object.count != 2)
            return section_expected(section, item, "gpus",
                                    "a device, or {device: nvidia.com/gpu=0, type: A100} with a "
                                    "type of at most 63 bytes");
    }
    if (!is_device(name))
        return section_expected(section, name, "gpus", "a device such as nvidia.com/gpu=0");
    *device = arena_text(section->arena, name->string.data, name->string.length);
    if (kind)
        *type = arena_text(section->arena, kind->string.data, kind->string.length);
    return 0;
}

static int read_gpus(const struct section *section, const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return section_expected(section, value, "gpus",
                                "a list of devices such as nvidia.com/gpu=0");
    struct local_settings *local = local_of(section);
    local->gpu_count = value->list.count;
    local->gpus = arena_allocate(section->arena, (local->gpu_count + 1) * sizeof(*local->gpus));
    local->gpu_types =
        arena_allocate(section->arena, (local->gpu_count + 1) * sizeof(*local->gpu_types));
    for (size_t i = 0; i < local->gpu_count; i++) {
        const struct value *item = value->list.items[i];
        if (read_gpu(section, item, &local->gpus[i], &local->gpu_types[i]))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (text_equal(local->gpus[i], local->gpus[j]))
                return section_expected(section, item, "gpus", "each device only once");
    }
    return 0;
}

static int read_gpu_type(const struct section *section, const struct value *value)
{
    if (!is_type(value))
        return section_expected(section, value, "gpu_type",
                                "the type of the GPUs, such as A100, at most 63 bytes");
    local_of(section)->gpu_type =
        arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_locked_memory(const struct section *section, const struct value *value)
{
    struct local_settings *local = local_of(section);
    if (value->kind == VALUE_STRING && text_is(value->string, "unlimited")) {
        local->locked_memory = LOCKED_UNLIMITED;
        return 0;
    }
    return section_bytes(section, value, "locked_memory", "unlimited, or a size such as \"8Gi\"",
                         &local->locked_memory);
}

/* clang-format off */
#define AT(member) offsetof(struct local_settings, member)
static const char a_size[] = "a size such as \"16Gi\"";
static const struct section_field fields[] = {
    {"socket", SECTION_PATH, AT(socket), .what = NULL},
    {"storage", SECTION_PATH, AT(storage), .what = NULL},
    {"cpus", .read = read_cpus},
    {"memory", SECTION_BYTES, AT(memory), .what = a_size},
    {"gpus", .read = read_gpus},
    {"locked_memory", .read = read_locked_memory},
    {"gpu_type", .read = read_gpu_type},
    {"runtime", .read = read_runtime},
    {"user_namespaces", SECTION_BOOLEAN, AT(user_namespaces), .what = NULL},
    {"pids", SECTION_COUNT, AT(pids), 4096, 1, PIDS_MAX, .what = NULL},
    {"request_timeout", SECTION_DURATION, AT(request_timeout), 30000, 1, A_DAY, .what = NULL},
    {"in_flight", SECTION_COUNT, AT(in_flight), 8, 1, 256, .what = NULL},
    {"log_limit", SECTION_BYTES, AT(log_limit), 100 << 20, .what = a_size},
    {"suspend", SECTION_BOOLEAN, AT(suspend), .what = NULL},
    {"pull_timeout", SECTION_DURATION, AT(pull_timeout), 120000, 1, A_DAY, .what = NULL},
};
#undef AT
/* clang-format on */

int local_settings_read(struct local_settings *local, struct arena *arena,
                        const struct value *settings, struct error *error)
{
    *local = (struct local_settings){.runtime = TEXT("runc"), .cpus = machine_cpus()};
    const struct section section = {"local", local, arena, error};
    if (section_read(&section, value_get(settings, section.name), fields, ARRAY_COUNT(fields)))
        return -1;
    if (!local->memory)
        local->memory = machine_memory();
    for (size_t i = 0; i < local->gpu_count; i++)
        if (!local->gpu_types[i].length)
            local->gpu_types[i] = local->gpu_type;
    return 0;
}
