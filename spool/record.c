/* spool/record.c - <id>/job.yaml: the facts of a job
 *
 * One table says which field of the struct stands under which name and how it is written; reading
 * and writing both follow it.  The file's first line is a sum over the others: what it says of
 * attempts and owners decides what runs, and as whom, and a changed digit is still a digit.
 */
#include "spool/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/system.h"
#include "base/yaml.h"
#include "spool/spool.h"

enum { RECORD_LIMIT = 256 * 1024, RECORD_MODE = 0644 };         /* bytes; a record is about 1 KiB */

enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_UINT, FIELD_INT64, FIELD_TIME, FIELD_WHEN };

struct record_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    bool needed;                /* a record without it is damaged */
};

#define FIELD(name, kind, member, needed) {name, kind, offsetof(struct job_record, member), needed}
static const struct record_field fields[] = {
    FIELD("id", FIELD_TEXT, id, true),
    FIELD("name", FIELD_TEXT, name, false),
    FIELD("owner", FIELD_TEXT, owner, false),
    FIELD("uid", FIELD_UINT, uid, true),
    FIELD("gid", FIELD_UINT, gid, true),
    FIELD("accepted", FIELD_TIME, accepted, true),
    FIELD("source", FIELD_TEXT, source, false),
    FIELD("request_file", FIELD_TEXT, request_file, false),
    FIELD("request_sha256", FIELD_TEXT, request_sha256, false),
    FIELD("library", FIELD_TEXT, library, false),
    FIELD("version", FIELD_TEXT, version, false),
    FIELD("type", FIELD_TEXT, type, false),
    FIELD("priority", FIELD_INT, priority, false),
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
    FIELD("array_left", FIELD_TEXT, array_left, false),
    FIELD("dlspool", FIELD_TEXT, dlspool, false),
    FIELD("released", FIELD_TIME, released, false),
    FIELD("held", FIELD_TIME, held, false),
};
#undef FIELD

#define FIELD(name, kind, member) {name, kind, offsetof(struct failure, member), false}
static const struct record_field failure_fields[] = {
    FIELD("retry", FIELD_WHEN, when),           FIELD("reason", FIELD_TEXT, reason),
    FIELD("class", FIELD_TEXT, class),          FIELD("exit_code", FIELD_INT, exit_code),
    FIELD("failed", FIELD_TIME, failed),        FIELD("next", FIELD_TIME, next),
    FIELD("delay_ms", FIELD_INT64, delay),      FIELD("commit", FIELD_TEXT, commit),
    FIELD("settings", FIELD_TEXT, settings),
};
#undef FIELD

#define FIELD(name, kind, member, needed) {name, kind, offsetof(struct awaited, member), needed}
static const struct record_field awaited_fields[] = {
    FIELD("condition", FIELD_TEXT, condition, true),
    FIELD("job", FIELD_TEXT, job, true),
    FIELD("id", FIELD_TEXT, id, false),
};
#undef FIELD

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const when_names[] = {"never", "at", "room", "executor", "change"};

const char *retry_when_name(enum retry_when when)
{
    return when_names[when];
}

/* Writing */

static struct value *field_value(struct arena *arena, const struct record_field *field,
                                 const void *base)
{
    const void *at = (const char *)base + field->offset;
    char time[CLOCK_TEXT_SIZE];
    switch (field->kind) {
    case FIELD_TEXT: {
        const struct text *text = at;
        return text->length ? value_text(arena, *text) : NULL;
    }
    case FIELD_INT:
        return value_number(arena, *(const int *)at);
    case FIELD_UINT:
        return value_number(arena, *(const unsigned int *)at);
    case FIELD_INT64:
        return value_number(arena, (double)*(const int64_t *)at);
    case FIELD_TIME:
        if (*(const int64_t *)at == 0 && !field->needed)
            return NULL;
        return value_string(arena, clock_format(*(const int64_t *)at, time));
    case FIELD_WHEN:
        return value_text(arena, text_of(when_names[*(const enum retry_when *)at]));
    }
    return NULL;
}

static void put_fields(struct arena *arena, struct value *object,
                       const struct record_field *table, size_t count, const void *base)
{
    for (size_t i = 0; i < count; i++) {
        struct value *value = field_value(arena, &table[i], base);
        if (value)
            value_put(arena, object, table[i].name, value);
    }
}

int record_format(const struct job_record *record, struct buffer *out, struct error *error)
{
    struct arena *arena = arena_new();
    struct value *object = value_object(arena);
    value_put(arena, object, "format", value_number(arena, 1));
    put_fields(arena, object, fields, COUNT(fields), record);
    if (record->after_count) {
        struct value *list = value_list(arena);
        for (size_t i = 0; i < record->after_count; i++) {
            struct value *item = value_object(arena);
            put_fields(arena, item, awaited_fields, COUNT(awaited_fields), &record->after[i]);
            value_append(arena, list, item);
        }
        value_put(arena, object, "after", list);
    }
    if (record->failed) {
        struct value *failure = value_object(arena);
        put_fields(arena, failure, failure_fields, COUNT(failure_fields), &record->failure);
        value_put(arena, object, "failure", failure);
    }
    int result = yaml_write(out, object, error);
    arena_free(arena);
    if (result)
        error_prefix(error, "job.yaml");
    return result;
}

/* The first line of a job.yaml whose other lines are `rest`. */
enum { SUM_DIGITS = 16, SUM_LENGTH = sizeof("sum: \"\"\n") - 1 + SUM_DIGITS };
static void format_sum(struct text rest, char line[static SUM_LENGTH + 1])
{
    char digest[SHA256_HEX_SIZE];
    sha256_hex(rest, digest);
    snprintf(line, SUM_LENGTH + 1, "sum: \"%.*s\"\n", SUM_DIGITS, digest);
}

/* A file without a sum, of an older dlspool or edited by hand, is taken for what it says. */
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

static int write_record(int job, const struct job_record *record, bool create,
                        struct error *error)
{
    struct buffer fields_text = {0}, bytes = {0};
    char sum[SUM_LENGTH + 1];
    int result = record_format(record, &fields_text, error);
    format_sum(buffer_text(&fields_text), sum);
    buffer_add_string(&bytes, sum);
    buffer_add_text(&bytes, buffer_text(&fields_text));
    buffer_free(&fields_text);
    if (!result)
        result = create ? job_file_create(job, "job.yaml", buffer_text(&bytes), RECORD_MODE, error)
                        : job_file_replace(job, "job.yaml", buffer_text(&bytes), RECORD_MODE,
                                           error);
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

static int read_when(struct text word, enum retry_when *when)
{
    for (size_t i = 0; i < COUNT(when_names); i++) {
        if (text_is(word, when_names[i])) {
            *when = (enum retry_when)i;
            return 0;
        }
    }
    return -1;
}

static int read_field(const struct record_field *field, const struct value *value, void *base)
{
    void *at = (char *)base + field->offset;
    bool number = field->kind == FIELD_INT || field->kind == FIELD_UINT ||
                  field->kind == FIELD_INT64;
    if (value->kind != (number ? VALUE_NUMBER : VALUE_STRING))
        return -1;
    const double range = field->kind == FIELD_INT64 ? 9e15 : field->kind == FIELD_UINT ? 4294967295.0
                                                                                       : 2147483647.0;
    if (number && (value->number < (field->kind == FIELD_UINT ? 0 : -range) ||
                   value->number > range || value->number != floor(value->number)))
        return -1;
    switch (field->kind) {
    case FIELD_TEXT:
        *(struct text *)at = value->string;
        return 0;
    case FIELD_INT:
        *(int *)at = (int)value->number;
        return 0;
    case FIELD_UINT:
        *(unsigned int *)at = (unsigned int)value->number;
        return 0;
    case FIELD_INT64:
        *(int64_t *)at = (int64_t)value->number;
        return 0;
    case FIELD_TIME:
        return clock_parse(value->string, at);
    case FIELD_WHEN:
        return read_when(value->string, at);
    }
    return -1;
}

static int read_fields(const struct value *object, const struct record_field *table,
                       size_t count, void *base, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *value = value_get(object, table[i].name);
        if (!value && table[i].needed)
            return error_set(error, "job.yaml is damaged: the field %s is missing",
                             table[i].name);
        if (value && read_field(&table[i], value, base))
            return error_set(error, "job.yaml:%u:%u: damaged: %s is not what it should be",
                             value->line, value->column, table[i].name);
    }
    return 0;
}

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
        if (read_fields(item, awaited_fields, COUNT(awaited_fields), awaited, error))
            return -1;
        if (awaited->id.length && !id_valid(awaited->id))
            return error_set(error, "job.yaml:%u:%u: damaged: after has an id that is not one",
                             item->line, item->column);
    }
    return 0;
}

int record_parse(struct arena *arena, struct text source, struct job_record *record,
                 struct error *error)
{
    *record = (struct job_record){.failure.exit_code = -1};
    const struct value *object =
        yaml_read(arena, source, "job.yaml", &yaml_request_limits, error);
    if (!object)
        return -1;
    if (object->kind != VALUE_OBJECT)
        return error_set(error, "job.yaml is damaged: found %s, expected the fields of a job",
                         value_kind_name(object->kind));
    if (read_fields(object, fields, COUNT(fields), record, error))
        return -1;
    if (read_awaited(arena, value_get(object, "after"), record, error))
        return -1;
    const struct value *failure = value_get(object, "failure");
    record->failed = failure != NULL;
    if (failure && failure->kind != VALUE_OBJECT)
        return error_set(error, "job.yaml:%u:%u: damaged: failure is %s, expected fields",
                         failure->line, failure->column, value_kind_name(failure->kind));
    if (failure && read_fields(failure, failure_fields, COUNT(failure_fields), &record->failure,
                               error))
        return -1;
    if (!id_valid(record->id))
        return error_set(error, "job.yaml is damaged: its id is not one");
    /* The token under which it is submitted is made of this. */
    if (record->manifest_sha256.length && record->attempt < 1)
        return error_set(error, "job.yaml is damaged: attempt is %s, expected 1 or more, since "
                                "there is a manifest",
                         value_get(object, "attempt") ? "less than 1" : "missing");
    return 0;
}

int record_read(int job, struct arena *arena, struct job_record *record, struct error *error)
{
    struct buffer bytes = {0};
    *record = (struct job_record){.failure.exit_code = -1};
    int result = file_read_at(job, "job.yaml", RECORD_LIMIT, &bytes, error);
    int number = errno;
    if (!result) {
        result = check_sum(buffer_text(&bytes), error);
        if (!result)
            result = record_parse(arena, buffer_text(&bytes), record, error);
        number = result ? EBADMSG : number;
    }
    buffer_free(&bytes);
    errno = number;
    return result;
}
