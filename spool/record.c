/* spool/record.c - <id>/job.yaml: the facts of a job
 *
 * One table says which field of the struct stands under which name and how it is written; reading
 * and writing both follow it (spool/record_fields.h).  The file's first line is a checksum of
 * the others: attempts and owners decide what runs, and as whom, and no parser notices a changed
 * digit.
 */
#include "spool/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/yaml.h"
#include "spool/file.h"
#include "spool/record_fields.h"
#include "spool/spool.h"

enum { RECORD_LIMIT = 256 * 1024, RECORD_MODE = 0644 }; /* bytes; a record is about 1 KiB */

#define FIELD(name, kind, member, needed)                                                          \
    {                                                                                              \
        name, kind, offsetof(struct job_record, member), needed                                    \
    }
static const struct record_field fields[] = {
    FIELD("id", FIELD_TEXT, id, true),
    FIELD("name", FIELD_TEXT, name, false),
    FIELD("owner", FIELD_TEXT, owner, false),
    FIELD("home", FIELD_TEXT, home, false),
    FIELD("uid", FIELD_UINT, uid, true),
    FIELD("gid", FIELD_UINT, gid, true),
    FIELD("accepted", FIELD_TIME, accepted, true),
    FIELD("source", FIELD_TEXT, source, false),
    FIELD("request_file", FIELD_TEXT, request_file, false),
    FIELD("request_sha256", FIELD_TEXT, request_sha256, false),
    FIELD("seal", FIELD_TEXT, seal, false),
    FIELD("library", FIELD_TEXT, library, false),
    FIELD("version", FIELD_TEXT, version, false),
    FIELD("library_version", FIELD_TEXT, library_version, false),
    FIELD("type", FIELD_TEXT, type, false),
    FIELD("priority", FIELD_INT, priority, false),
    FIELD("priority_class", FIELD_TEXT, priority_class, false),
    FIELD("priority_from", FIELD_TEXT, priority_from, false),
    FIELD("top", FIELD_TIME, top, false),
    FIELD("ordered", FIELD_TIME, ordered, false),
    FIELD("retries", FIELD_INT, retries, false),
    FIELD("retried", FIELD_INT, retried, false),
    FIELD("backoff_ms", FIELD_INT64, backoff, false),
    FIELD("time_limit_ms", FIELD_INT64, time_limit, false),
    FIELD("cpus_milli", FIELD_INT64, cpus, false),
    FIELD("memory_bytes", FIELD_INT64, memory, false),
    FIELD("gpus", FIELD_INT, gpus, false),
    FIELD("executor", FIELD_TEXT, executor, false),
    FIELD("template_commit", FIELD_TEXT, commit, false),
    FIELD("template_path", FIELD_TEXT, template_path, false),
    FIELD("image", FIELD_TEXT, image, false),
    FIELD("image_line", FIELD_INT, image_line, false),
    FIELD("manifest_sha256", FIELD_TEXT, manifest_sha256, false),
    FIELD("attempt", FIELD_INT, attempt, false),
    FIELD("array", FIELD_TEXT, array, false),
    FIELD("array_at_once", FIELD_COUNT, array_at_once, false),
    FIELD("array_left", FIELD_TEXT, array_left, false),
    FIELD("array_killed", FIELD_TEXT, array_killed, false),
    FIELD("array_aside", FIELD_TEXT, array_aside, false),
    FIELD("array_held", FIELD_TEXT, array_held, false),
    FIELD("dlspool", FIELD_TEXT, dlspool, false),
    FIELD("released", FIELD_TIME, released, false),
    FIELD("held", FIELD_TIME, held, false),
    FIELD("begin", FIELD_TIME, begin, false),
    FIELD("deadline", FIELD_TIME, deadline, false),
    FIELD("deadline_mode", FIELD_TEXT, deadline_mode, false),
    FIELD("weight", FIELD_DOUBLE, weight, false),
    FIELD("size", FIELD_AMOUNT, size, false),
    FIELD("size_asked", FIELD_AMOUNT, size_asked, false),
    FIELD("size_now", FIELD_AMOUNT, size_now, false),
    FIELD("size_next", FIELD_AMOUNT, size_next, false),
    FIELD("resizes", FIELD_COUNT, resizes, false),
    FIELD("resized", FIELD_TIME, resized, false),
    FIELD("gpu_type", FIELD_TEXT, gpu_type, false),
    FIELD("queue", FIELD_TEXT, queue, false),
    FIELD("privileges", FIELD_TEXT, privileges, false),
    FIELD("host_network", FIELD_COUNT, host_network, false),
    FIELD("unlisted_images", FIELD_TEXT, unlisted, false),
    FIELD("wants", FIELD_TEXT, wants, false),
    FIELD("first_manifest_sha256", FIELD_TEXT, first_manifest_sha256, false),
    FIELD("change_since", FIELD_TIME, change_since, false),
    FIELD("arguments_sha256", FIELD_TEXT, arguments_sha256, false),
};

/* Members of `units`, `sizes` and `checkpoint`. */
static const struct record_field units_fields[] = {
    FIELD("total", FIELD_DOUBLE, units_total, false),
    FIELD("file", FIELD_TEXT, units_file, false),
    FIELD("pattern", FIELD_TEXT, units_pattern, false),
};

static const struct record_field sizes_fields[] = {
    FIELD("of", FIELD_SIZE_KIND, sizes.kind, true),
    FIELD("least", FIELD_AMOUNT, sizes.least, true),
    FIELD("most", FIELD_AMOUNT, sizes.most, true),
    FIELD("step", FIELD_AMOUNT, sizes.step, false),
};

static const struct record_field signal_fields[] = {
    FIELD("name", FIELD_TEXT, signal_name, true),
    FIELD("before_ms", FIELD_AMOUNT, signal_before, false),
};

static const struct record_field checkpoint_fields[] = {
    FIELD("signal", FIELD_TEXT, checkpoint_signal, true),
    FIELD("grace_ms", FIELD_AMOUNT, checkpoint_grace, false),
    FIELD("interval_ms", FIELD_AMOUNT, checkpoint_interval, false),
};
#undef FIELD

#define FIELD(name, kind, member)                                                                  \
    {                                                                                              \
        name, kind, offsetof(struct failure, member), false                                        \
    }
static const struct record_field failure_fields[] = {
    FIELD("retry", FIELD_WHEN, when),        FIELD("reason", FIELD_TEXT, reason),
    FIELD("class", FIELD_TEXT, class),       FIELD("exit_code", FIELD_INT, exit_code),
    FIELD("failed", FIELD_TIME, failed),     FIELD("next", FIELD_TIME, next),
    FIELD("delay_ms", FIELD_INT64, delay),   FIELD("commit", FIELD_TEXT, commit),
    FIELD("settings", FIELD_TEXT, settings), FIELD("capacity", FIELD_TEXT, capacity),
};
#undef FIELD

#define FIELD(name, kind, member, needed)                                                          \
    {                                                                                              \
        name, kind, offsetof(struct awaited, member), needed                                       \
    }
static const struct record_field awaited_fields[] = {
    FIELD("condition", FIELD_TEXT, condition, true),
    FIELD("job", FIELD_TEXT, job, true),
    FIELD("id", FIELD_TEXT, id, false),
};
#undef FIELD

/* Fields of the record that are written in a map of their own, unless all are empty. */
static const struct record_group {
    const char *name;
    const struct record_field *fields;
    size_t count;
} groups[] = {
    {"units", units_fields, ARRAY_COUNT(units_fields)},
    {"sizes", sizes_fields, ARRAY_COUNT(sizes_fields)},
    {"checkpoint", checkpoint_fields, ARRAY_COUNT(checkpoint_fields)},
    {"signal", signal_fields, ARRAY_COUNT(signal_fields)},
};

/* Writing */

int record_format(const struct job_record *record, struct buffer *out, struct error *error)
{
    struct arena *arena = arena_new();
    struct value *object = value_object(arena);
    value_put(arena, object, "format", value_number(arena, 1));
    record_fields_put(arena, object, fields, ARRAY_COUNT(fields), record);
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        struct value *group = value_object(arena);
        record_fields_put(arena, group, groups[i].fields, groups[i].count, record);
        if (group->object.count)
            value_put(arena, object, groups[i].name, group);
    }
    if (record->after_count) {
        struct value *list = value_list(arena);
        for (size_t i = 0; i < record->after_count; i++) {
            struct value *item = value_object(arena);
            record_fields_put(arena, item, awaited_fields, ARRAY_COUNT(awaited_fields),
                              &record->after[i]);
            value_append(arena, list, item);
        }
        value_put(arena, object, "after", list);
    }
    if (record->failed) {
        struct value *failure = value_object(arena);
        record_fields_put(arena, failure, failure_fields, ARRAY_COUNT(failure_fields),
                          &record->failure);
        value_put(arena, object, "failure", failure);
    }
    int result = yaml_write(out, object, error);
    arena_free(arena);
    if (result)
        error_prefix(error, "job.yaml");
    return result;
}

/* The checksum line of a job.yaml with the other lines `rest`. */
enum { SUM_DIGITS = 16, SUM_LENGTH = sizeof("sum: \"\"\n") - 1 + SUM_DIGITS };
static void format_sum(struct text rest, char line[static SUM_LENGTH + 1])
{
    char digest[SHA256_HEX_SIZE];
    sha256_hex(rest, digest);
    snprintf(line, SUM_LENGTH + 1, "sum: \"%.*s\"\n", SUM_DIGITS, digest);
}

/* Check the checksum.  A file without one, of an older dlspool or edited by hand, is accepted. */
static int check_sum(struct text bytes, struct error *error)
{
    char line[SUM_LENGTH + 1];
    if (!text_starts(bytes, "sum: "))
        return 0;
    if (bytes.length >= SUM_LENGTH) {
        format_sum((struct text){bytes.data + SUM_LENGTH, bytes.length - SUM_LENGTH}, line);
        if (memcmp(bytes.data, line, SUM_LENGTH) == 0)
            return 0;
    }
    return error_set(error, "job.yaml is damaged: it is not what its first line, sum, was made of");
}

static int write_record(int job, const struct job_record *record, bool create, struct error *error)
{
    struct buffer fields_text = {0}, bytes = {0};
    char sum[SUM_LENGTH + 1];
    int result = record_format(record, &fields_text, error);
    format_sum(buffer_text(&fields_text), sum);
    buffer_add_string(&bytes, sum);
    buffer_add_text(&bytes, buffer_text(&fields_text));
    buffer_free(&fields_text);
    if (!result)
        result = create
                     ? spool_file_create(job, "job.yaml", buffer_text(&bytes), RECORD_MODE, error)
                     : spool_file_replace(job, "job.yaml", buffer_text(&bytes), RECORD_MODE, error);
    buffer_free(&bytes);
    return result;
}

int record_create(int job, const struct job_record *record, struct error *error)
{
    return write_record(job, record, true, error);
}

int record_replace(int job, const struct job_record *record, struct error *error)
{
    return write_record(job, record, false, error);
}

/* Reading */

static int read_awaited(struct arena *arena, const struct value *list, struct job_record *record,
                        struct error *error)
{
    if (!list)
        return 0;
    if (list->kind != VALUE_LIST)
        return error_set(error, "job.yaml:%u:%u: damaged: after is %s, expected a list", list->line,
                         list->column, value_kind_name(list->kind));
    record->after_count = list->list.count;
    record->after = arena_allocate(arena, (list->list.count + 1) * sizeof(*record->after));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct awaited *awaited = &record->after[i];
        if (item->kind != VALUE_OBJECT)
            return error_set(error, "job.yaml:%u:%u: damaged: after has %s, expected fields",
                             item->line, item->column, value_kind_name(item->kind));
        if (record_fields_read(item, awaited_fields, ARRAY_COUNT(awaited_fields), awaited, error))
            return -1;
        if (awaited->id.length && !id_valid(awaited->id))
            return error_set(error, "job.yaml:%u:%u: damaged: after has an id that is not one",
                             item->line, item->column);
    }
    return 0;
}

static int read_groups(const struct value *object, struct job_record *record, struct error *error)
{
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++) {
        const struct value *group = value_get(object, groups[i].name);
        if (group && group->kind != VALUE_OBJECT)
            return error_set(error, "job.yaml:%u:%u: damaged: %s is %s, expected fields",
                             group->line, group->column, groups[i].name,
                             value_kind_name(group->kind));
        if (group && record_fields_read(group, groups[i].fields, groups[i].count, record, error))
            return -1;
    }
    return 0;
}

static bool is_size(const struct sizes *sizes, int64_t size)
{
    return size == 0 || (size >= sizes->least && size <= sizes->most);
}

/* Check that the planned and rendered sizes are among the sizes of the job. */
static int check_sizes(const struct job_record *record, struct error *error)
{
    const struct sizes *sizes = &record->sizes;
    if (sizes->kind == SIZE_FIXED)
        return 0;
    if (sizes->least < 1 || sizes->most < sizes->least)
        return error_set(error, "job.yaml is damaged: sizes are not what they should be");
    if (!is_size(sizes, record->size) || !is_size(sizes, record->size_asked) ||
        !is_size(sizes, record->size_now) || !is_size(sizes, record->size_next))
        return error_set(error, "job.yaml is damaged: its size is none of its sizes");
    return 0;
}

int record_parse(struct arena *arena, struct text source, struct job_record *record,
                 struct error *error)
{
    *record = (struct job_record){.failure.exit_code = -1};
    const struct value *object = yaml_read(arena, source, "job.yaml", &yaml_request_limits, error);
    if (!object)
        return -1;
    if (object->kind != VALUE_OBJECT)
        return error_set(error, "job.yaml is damaged: found %s, expected the fields of a job",
                         value_kind_name(object->kind));
    if (record_fields_read(object, fields, ARRAY_COUNT(fields), record, error))
        return -1;
    if (read_groups(object, record, error) || check_sizes(record, error))
        return -1;
    if (read_awaited(arena, value_get(object, "after"), record, error))
        return -1;
    const struct value *failure = value_get(object, "failure");
    record->failed = failure != NULL;
    if (failure && failure->kind != VALUE_OBJECT)
        return error_set(error, "job.yaml:%u:%u: damaged: failure is %s, expected fields",
                         failure->line, failure->column, value_kind_name(failure->kind));
    if (failure && record_fields_read(failure, failure_fields, ARRAY_COUNT(failure_fields),
                                      &record->failure, error))
        return -1;
    if (!id_valid(record->id))
        return error_set(error, "job.yaml is damaged: its id is not one");
    /* The token of the submission is made of both. */
    if (record->manifest_sha256.length && record->attempt < 1)
        return error_set(error,
                         "job.yaml is damaged: attempt is %s, expected 1 or more, since "
                         "there is a manifest",
                         value_get(object, "attempt") ? "less than 1" : "missing");
    return 0;
}

/* For a file with a checksum. */
static bool has_own_sum(void *context, struct text bytes)
{
    bool *sound = context;
    *sound = text_starts(bytes, "sum: ") && check_sum(bytes, NULL) == 0;
    return *sound;
}

int record_read(int job, struct arena *arena, struct job_record *record, struct error *error)
{
    struct buffer bytes = {0};
    bool sound = false;
    *record = (struct job_record){.failure.exit_code = -1};
    int result =
        file_read_sound_at(job, "job.yaml", RECORD_LIMIT, &bytes, has_own_sum, &sound, error);
    int number = errno;
    if (!result) {
        result = sound ? 0 : check_sum(buffer_text(&bytes), error);
        if (!result)
            result = record_parse(arena, buffer_text(&bytes), record, error);
        number = result ? EBADMSG : number;
    }
    if (!result)
        log_owner(record->id, record->owner);
    buffer_free(&bytes);
    errno = number;
    return result;
}
