/* executors/slurm/request.c - the body of a submission, as each version of slurmrestd has it
 *
 * For v0.0.39 and later see src/plugins/data_parser/v0.0.N/parsers.c in Slurm's sources
 * (JOB_DESC_MSG); what v0.0.38 takes was tried with 22.05.8.
 */
#include "executors/slurm/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "executors/slurm/api.h"
#include "executors/slurm/values.h"

enum {
    MEBIBYTE = 1 << 20,
    A_MINUTE = 60000 /* milliseconds */
};

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct writing {
    struct arena *arena;
    const struct slurm_version *version;
    const struct slurm_manifest *manifest;
    const struct slurm_submission *submission;
    struct error *error;
};

/* ---- values ---- */

/* A number that may be unset. */
static struct value *optional_number(const struct writing *writing, double number)
{
    struct value *plain = value_number(writing->arena, number);
    if (!slurm_version_is_structured(writing->version))
        return plain;
    struct value *object = value_object(writing->arena);
    value_put(writing->arena, object, "set", value_boolean(writing->arena, true));
    value_put(writing->arena, object, "infinite", value_boolean(writing->arena, false));
    value_put(writing->arena, object, "number", plain);
    return object;
}

static struct value *list_of(const struct writing *writing, const char *word)
{
    struct value *list = value_list(writing->arena);
    value_append(writing->arena, list, value_string(writing->arena, word));
    return list;
}

static void add_flag(const struct writing *writing, struct value *job, const char *flag)
{
    struct value *flags = value_get(job, "flags");
    if (!flags)
        value_put(writing->arena, job, "flags", flags = value_list(writing->arena));
    value_append(writing->arena, flags, value_string(writing->arena, flag));
}

/* ---- properties, from v0.0.39 on ---- */

typedef int put_property(const struct writing *writing, struct value *job, const char *name,
                         const struct value *value);

static struct value *share_value(const struct value *value)
{
    union {
        const struct value *from;
        struct value *to;
    } share = {value};
    return share.to; /* trees are not changed once built */
}

static int put_same(const struct writing *writing, struct value *job, const char *name,
                    const struct value *value)
{
    value_put(writing->arena, job, name, share_value(value));
    return 0;
}

static int put_number(const struct writing *writing, struct value *job, const char *name,
                      const struct value *value)
{
    value_put(writing->arena, job, name, optional_number(writing, value->number));
    return 0;
}

/* Seconds since 1970, from a date and time in this machine's time zone. */
static int put_deadline(const struct writing *writing, struct value *job, const char *name,
                        const struct value *value)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    int64_t moment = 0;
    struct error_quote_buffer buffer;
    if (clock_parse(value->string, &moment)) {
        for (size_t i = 0; i < ARRAY_COUNT(forms) && !moment; i++) {
            struct tm parts = {.tm_isdst = -1};
            const char *end = strptime(value->string.data, forms[i], &parts);
            if (end && !*end)
                moment = (int64_t)mktime(&parts) * 1000;
        }
    }
    if (moment <= 0)
        return error_set(writing->error,
                         "job.deadline: found \"%s\", expected a date and time such "
                         "as 2026-12-31T18:00:00: v0.0.%d of slurmrestd's interface "
                         "takes no others",
                         error_quote(&buffer, value->string.data, value->string.length),
                         writing->version->api);
    value_put(writing->arena, job, name, value_number(writing->arena, (double)(moment / 1000)));
    return 0;
}

/* Up to v0.0.38 it is what sbatch takes for --exclusive, where "true" is nothing. */
static int put_exclusive(const struct writing *writing, struct value *job, const char *name,
                         const struct value *value)
{
    (void)name;
    if (!value->boolean)
        return 0;
    if (writing->version->api >= 40)
        value_put(writing->arena, job, "shared", list_of(writing, "none"));
    else if (writing->version->api == 39)
        value_put(writing->arena, job, "exclusive", list_of(writing, "true"));
    else
        value_put(writing->arena, job, "exclusive", value_string(writing->arena, "exclusive"));
    return 0;
}

/* "gpu:a100:2,nvme:1" becomes "gres:gpu:a100:2,gres:nvme:1". */
static int put_gres(const struct writing *writing, struct value *job, const char *name,
                    const struct value *value)
{
    (void)name;
    struct buffer out = {0};
    struct text rest = value->string, piece;
    size_t prefix = strlen(slurm_version_gpu_tres(writing->version)) - strlen("gpu");
    while (rest.length && text_next(&rest, ',', &piece)) {
        buffer_add_string(&out, out.length ? "," : "");
        buffer_add(&out, slurm_version_gpu_tres(writing->version), prefix);
        buffer_add_text(&out, piece);
    }
    value_put(writing->arena, job, "tres_per_node",
              value_string(writing->arena, out.data ? out.data : ""));
    buffer_free(&out);
    return 0;
}

static int put_gres_flags(const struct writing *writing, struct value *job, const char *name,
                          const struct value *value)
{
    (void)name;
    struct error_quote_buffer buffer;
    if (text_is(value->string, "disable-binding"))
        add_flag(writing, job, "GRES_DISABLE_BINDING");
    else if (text_is(value->string, "enforce-binding"))
        add_flag(writing, job, "GRES_ENFORCE_BINDING");
    else
        return error_set(writing->error,
                         "gres_flags: found \"%s\", expected disable-binding or enforce-binding",
                         error_quote(&buffer, value->string.data, value->string.length));
    return 0;
}

static int put_spread_job(const struct writing *writing, struct value *job, const char *name,
                          const struct value *value)
{
    (void)name;
    if (value->boolean)
        add_flag(writing, job, "SPREAD_JOB");
    return 0;
}

/* Properties that are not here have the same form in all versions. */
static const struct translation {
    const char *name;
    put_property *put;
    bool everywhere; /* also up to v0.0.38 */
} translations[] = {
    {"deadline", put_deadline, false},
    {"exclusive", put_exclusive, true},
    {"gres", put_gres, false},
    {"gres_flags", put_gres_flags, false},
    {"spread_job", put_spread_job, false},
    {"time_limit", put_number, false},
    {"time_minimum", put_number, false},
};

static int put_one(const struct writing *writing, struct value *job,
                   const struct slurm_property *property)
{
    const char *name = property->rule->name;
    bool structured = slurm_version_is_structured(writing->version);
    for (size_t i = 0; i < ARRAY_COUNT(translations); i++)
        if ((structured || translations[i].everywhere) && strcmp(translations[i].name, name) == 0)
            return translations[i].put(writing, job, name, property->value);
    return put_same(writing, job, name, property->value);
}

static int put_properties(const struct writing *writing, struct value *job,
                          const struct slurm_property_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (put_one(writing, job, &list->items[i]))
            return -1;
    return 0;
}

/* ---- what a component asks for ---- */

static void put_gpus(const struct writing *writing, struct value *job,
                     const struct slurm_component *component)
{
    struct arena *arena = writing->arena;
    struct text type = component->gpu_type;
    if (!component->gpus_per_task)
        return;
    struct text amount =
        arena_printf(arena, "%.*s%s%d", (int)type.length, type.length ? type.data : "",
                     type.length ? ":" : "", component->gpus_per_task);
    if (!slurm_version_is_structured(writing->version))
        value_put(arena, job, "gpus_per_task", value_text(arena, amount));
    else
        value_put(
            arena, job, "tres_per_task",
            value_text(arena, arena_printf(arena, "%s:%s", slurm_version_gpu_tres(writing->version),
                                           amount.data)));
}

/* The minimum number of nodes.  Up to v0.0.38 `minimum_nodes` is no number, but says which end of the
 * range is preferred. */
static void put_nodes(const struct writing *writing, struct value *job,
                      const struct slurm_component *component)
{
    struct arena *arena = writing->arena;
    if (component->nodes <= 1)
        return;
    if (slurm_version_is_structured(writing->version)) {
        value_put(arena, job, "minimum_nodes", value_number(arena, component->nodes));
        return;
    }
    int most = component->tasks > component->nodes ? component->tasks : component->nodes;
    value_put(arena, job, "nodes",
              value_text(arena, arena_printf(arena, "%d-%d", component->nodes, most)));
    value_put(arena, job, "minimum_nodes", value_boolean(arena, true));
}

static void put_resources(const struct writing *writing, struct value *job,
                          const struct slurm_component *component)
{
    struct arena *arena = writing->arena;
    int64_t memory =
        component->memory_per_task / MEBIBYTE + !!(component->memory_per_task % MEBIBYTE);
    int64_t per_cpu = memory / component->cpus_per_task + !!(memory % component->cpus_per_task);
    value_put(arena, job, "tasks", value_number(arena, component->tasks));
    value_put(arena, job, "cpus_per_task", value_number(arena, component->cpus_per_task));
    value_put(arena, job, "memory_per_cpu", optional_number(writing, (double)per_cpu));
    put_nodes(writing, job, component);
    put_gpus(writing, job, component);
}

/* ---- whose it is ---- */

static struct value *make_environment(const struct writing *writing)
{
    struct arena *arena = writing->arena;
    const struct slurm_submission *submission = writing->submission;
    const struct value *given = writing->manifest->environment;
    struct value *object = value_object(arena);
    if (!value_get(given, "PATH"))
        value_put(arena, object, "PATH", value_string(arena, default_path));
    for (size_t i = 0; given && i < given->object.count; i++)
        value_set(arena, object, given->object.members[i].key, given->object.members[i].value);
    value_put(arena, object, "DLSPOOL_DIRECTORY", value_string(arena, submission->directory));
    value_put(arena, object, "DLSPOOL_ID", value_string(arena, submission->id));
    value_put(arena, object, "DLSPOOL_ATTEMPT",
              value_text(arena, arena_printf(arena, "%d", submission->attempt)));
    if (!slurm_version_is_structured(writing->version))
        return object;
    struct value *list = value_list(arena);
    for (size_t i = 0; i < object->object.count; i++) {
        const struct member *member = &object->object.members[i];
        value_append(arena, list,
                     value_text(arena, arena_printf(arena, "%s=%s", member->key.data,
                                                    member->value->string.data)));
    }
    return list;
}

/* Whose job it is, under which token, and where it writes. */
static void put_identity(const struct writing *writing, struct value *job)
{
    struct arena *arena = writing->arena;
    const struct slurm_submission *submission = writing->submission;
    struct value *log =
        value_text(arena, arena_printf(arena, "%s/batch.log", submission->directory));
    value_put(
        arena, job, "name",
        value_text(arena, arena_printf(arena, "%s-a%d", submission->id, submission->attempt)));
    value_put(arena, job, "comment",
              value_text(arena, arena_printf(arena, "%s%s", submission->token,
                                             submission->held ? "" : SLURM_RELEASED)));
    if (submission->held)
        value_put(arena, job, "hold", value_boolean(arena, true));
    value_put(arena, job, "current_working_directory", value_string(arena, submission->directory));
    value_put(arena, job, "standard_output", log);
    value_put(arena, job, "standard_error", log);
    /* A second run, after a requeue or a resubmission, must not erase the output of the first. */
    value_put(arena, job, "open_mode",
              slurm_version_is_structured(writing->version) ? list_of(writing, "APPEND")
                                                            : value_string(arena, "append"));
    value_put(arena, job, "environment", make_environment(writing));
    if (!value_get(job, "requeue"))
        value_put(arena, job, "requeue", value_boolean(arena, false));
    if (!value_get(job, "time_limit") && submission->time_limit > 0)
        value_put(arena, job, "time_limit",
                  optional_number(writing, ceil((double)submission->time_limit / A_MINUTE)));
}

static struct value *make_job(const struct writing *writing,
                              const struct slurm_component *component)
{
    const struct slurm_manifest *manifest = writing->manifest;
    struct arena *arena = writing->arena;
    struct value *job = value_object(arena);
    if (put_properties(writing, job, &manifest->job) ||
        put_properties(writing, job, &component->properties))
        return NULL;
    put_resources(writing, job, component);
    put_identity(writing, job);
    if (manifest->array_count) {
        int last = manifest->array_count - 1, at_once = manifest->array_at_once;
        struct text indexes = at_once ? arena_printf(arena, "0-%d%%%d", last, at_once)
                                      : arena_printf(arena, "0-%d", last);
        value_put(arena, job, "array", value_text(arena, indexes));
    }
    return job;
}

int slurm_request_submit(struct buffer *out, const struct slurm_version *version,
                         const struct slurm_manifest *manifest,
                         const struct slurm_submission *submission, struct error *error)
{
    struct arena *arena = arena_new();
    const struct writing writing = {arena, version, manifest, submission, error};
    struct value *body = value_object(arena), *jobs = value_list(arena), *job = NULL;
    int result = 0;
    for (size_t i = 0; i < manifest->component_count && !result; i++) {
        job = make_job(&writing, &manifest->components[i]);
        if (job)
            value_append(arena, jobs, job);
        else
            result = -1;
    }
    value_put(arena, body, "script", value_text(arena, manifest->script));
    if (manifest->component_count > 1)
        value_put(arena, body, "jobs", jobs);
    else if (job)
        value_put(arena, body, "job", job);
    if (!result)
        result = json_write(out, body, false, error);
    arena_free(arena);
    return result;
}

static void write_hold(struct buffer *out, const struct slurm_version *version, bool hold,
                       const char *token, const char *name)
{
    buffer_printf(out, "{\"hold\":%s,\"comment\":\"%s%s\"", hold ? "true" : "false", token,
                  hold ? "" : SLURM_RELEASED);
    if (version->api == SLURM_API_OLDEST)
        buffer_printf(out, ",\"name\":\"%s\"", name);
    buffer_add_byte(out, '}');
}

void slurm_request_release(struct buffer *out, const struct slurm_version *version,
                           const char *token, const char *name)
{
    write_hold(out, version, false, token, name);
}

void slurm_request_take_back(struct buffer *out, const struct slurm_version *version,
                             const char *token, const char *name)
{
    write_hold(out, version, true, token, name);
}

int64_t slurm_request_number(const struct value *answer)
{
    double number = slurm_value_number(answer, "job_id", 0);
    if (number <= 0)
        number = slurm_value_number(value_get(answer, "result"), "job_id", 0);
    return number > 0 && number < 4294967294.0 ? (int64_t)number : 0;
}

int slurm_request_weight(const struct slurm_manifest *manifest)
{
    return manifest->array_count ? manifest->array_count : (int)manifest->component_count;
}
