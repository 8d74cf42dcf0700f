/* spool/limit_row.c - `limits.rows` of dlspool.yaml */
#include "spool/limit_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/quantity.h"

enum { MOST_ROWS = 1000 };

static const char *const subject_names[] = {"user", "group", "queue"};
static const char *const over_names[] = {
    [LIMIT_WAIT] = "wait", [LIMIT_REFUSE] = "refuse", [LIMIT_APPROVE] = "approve"};

const char *limit_row_subject_name(enum limit_subject subject)
{
    return subject_names[subject];
}

const char *limit_row_over_name(enum limit_over over)
{
    return over_names[over];
}

void limit_row_describe_limits(const struct limit_row *row, struct buffer *out)
{
    const struct {
        const char *name;
        int64_t limit;
    } limits[] = {{"running", row->running},
                  {"waiting", row->waiting},
                  {"cpus_milli", row->cpus},
                  {"memory_bytes", row->memory},
                  {"gpus", row->gpus},
                  {"time_limit_ms", row->time_limit},
                  {"gpu_time_ms", row->gpu_time},
                  {"gpu_period_ms", row->gpu_time < 0 ? -1 : row->gpu_period}};
    buffer_printf(out, "%s %s", subject_names[row->subject], row->name.data);
    if (row->gpu_type.length)
        buffer_printf(out, " gpu_type=%s", row->gpu_type.data);
    for (size_t i = 0; i < ARRAY_COUNT(limits); i++)
        if (limits[i].limit >= 0)
            buffer_printf(out, " %s=%lld", limits[i].name, (long long)limits[i].limit);
}

bool limit_row_is_for_each(const struct limit_row *row)
{
    return text_is(row->name, "*");
}

bool limit_row_holds_for(const struct limit_row *row, uid_t uid, gid_t gid, struct text queue,
                         struct text gpu_type)
{
    if (row->gpu_type.length && !text_equal(row->gpu_type, gpu_type))
        return false;
    if (limit_row_is_for_each(row))
        return row->subject != LIMIT_QUEUE || queue.length;
    switch (row->subject) {
    case LIMIT_USER:
        return row->id == uid;
    case LIMIT_GROUP:
        return row->id == gid;
    case LIMIT_QUEUE:
        return text_equal(row->name, queue);
    }
    return false;
}

bool limit_row_is_open_to(const struct limit_row *row, uid_t uid, gid_t gid)
{
    return row->subject != LIMIT_QUEUE || members_have(&row->members, uid, gid);
}

bool limit_row_shares(const struct limit_row *row)
{
    return row->borrow_gpus >= 0;
}

int64_t limit_row_most_gpus(const struct limit_row *row)
{
    return limit_row_shares(row) ? row->gpus + row->borrow_gpus : row->gpus;
}

bool limit_row_key(const struct limit_row *row, size_t index, uid_t uid, gid_t gid,
                   struct text queue, struct text gpu_type, char key[static LIMIT_ROW_KEY_SIZE])
{
    if (!limit_row_holds_for(row, uid, gid, queue, gpu_type))
        return false;
    if (row->subject == LIMIT_QUEUE)
        snprintf(key, LIMIT_ROW_KEY_SIZE, "%zu:%.*s", index, (int)queue.length, queue.data);
    else
        snprintf(key, LIMIT_ROW_KEY_SIZE, "%zu:%u", index,
                 (unsigned int)(row->subject == LIMIT_USER ? uid : gid));
    return true;
}

const char *limit_row_describe(const struct limit_row *row, char buffer[static LIMIT_ROW_TEXT_SIZE])
{
    snprintf(buffer, LIMIT_ROW_TEXT_SIZE,
             "limits.rows of dlspool.yaml, line %u, which an administrator can change", row->line);
    return buffer;
}

static bool find_id(enum limit_subject subject, const char *name, id_t *id)
{
    return subject == LIMIT_USER ? members_find_user(name, id) : members_find_group(name, id);
}

int limit_row_read_whose(const struct section *section, enum limit_subject subject,
                         const struct value *value, const struct limit_whose *whose)
{
    static const char *const expected[] = {
        [LIMIT_USER] = "a user that this machine knows, or \"*\"",
        [LIMIT_GROUP] = "a group that this machine knows, or \"*\"",
        [LIMIT_QUEUE] = "the name of a queue, or \"*\""};
    const char *field = subject_names[subject];
    if (whose->name->length)
        return section_expected(section, value, field, "one of user, group and queue in each row");
    bool plain = section_is_plain(value) && value->string.length &&
                 strlen(value->string.data) == value->string.length;
    if (!plain || (subject != LIMIT_QUEUE && !text_is(value->string, "*") &&
                   !find_id(subject, value->string.data, whose->id)))
        return section_expected(section, value, field, expected[subject]);
    *whose->subject = subject;
    *whose->name = arena_text(section->arena, value->string.data, value->string.length);
    return 0;
}

static int read_subject(const struct section *section, enum limit_subject subject,
                        const struct value *value)
{
    struct limit_row *row = section->target;
    const struct limit_whose whose = {&row->subject, &row->name, &row->id};
    return limit_row_read_whose(section, subject, value, &whose);
}

static int read_user(const struct section *section, const struct value *value)
{
    return read_subject(section, LIMIT_USER, value);
}

static int read_group(const struct section *section, const struct value *value)
{
    return read_subject(section, LIMIT_GROUP, value);
}

static int read_queue(const struct section *section, const struct value *value)
{
    return read_subject(section, LIMIT_QUEUE, value);
}

static int read_cpus(const struct section *section, const struct value *value)
{
    struct limit_row *row = section->target;
    bool number = value->kind == VALUE_NUMBER && value->number >= 0 && value->number < 1e9;
    if (number)
        row->cpus = (int64_t)(value->number * 1000 + 0.5);
    else if (value->kind != VALUE_STRING || quantity_parse_cpus(value->string, &row->cpus))
        return section_expected(section, value, "cpus",
                                "a number of processors, such as 64 or 0.5");
    return 0;
}

static int read_preempt(const struct section *section, const struct value *value)
{
    struct limit_row *row = section->target;
    row->preempts = value->kind == VALUE_STRING && text_is(value->string, "lower");
    if (!row->preempts && (value->kind != VALUE_STRING || !text_is(value->string, "never")))
        return section_expected(section, value, "preempt", "never or lower");
    return 0;
}

/* `2000/30d`: hours of a GPU, and the period. */
static int read_gpu_hours(const struct section *section, const struct value *value)
{
    static const int64_t least = 60000,
                         most = 315360000000; /* of the period: a minute, ten years */
    struct limit_row *row = section->target;
    char *end = NULL;
    bool plain = section_is_plain(value);
    double hours = plain ? strtod(value->string.data, &end) : -1;
    struct text period = plain && *end == '/' ? text_of(end + 1) : TEXT("");
    if (!(hours >= 0 && hours < 1e9) || end == value->string.data || !period.length ||
        duration_parse(period, &row->gpu_period) || row->gpu_period < least ||
        row->gpu_period > most)
        return section_expected(section, value, "gpu_hours",
                                "hours of a GPU, and the period from 1m to 3650d within which they "
                                "may be used, such as 2000/30d");
    row->gpu_time = (int64_t)(hours * 3600000 + 0.5);
    return 0;
}

static int read_over(const struct section *section, const struct value *value)
{
    struct limit_row *row = section->target;
    for (size_t i = 0; i < ARRAY_COUNT(over_names); i++) {
        if (value->kind != VALUE_STRING || !text_is(value->string, over_names[i]))
            continue;
        row->over = (enum limit_over)i;
        return 0;
    }
    return section_expected(section, value, "over", "wait, refuse or approve");
}

static int read_members(const struct section *section, const struct value *list)
{
    struct limit_row *row = section->target;
    return members_read_users(section, list, &row->members);
}

static int read_member_groups(const struct section *section, const struct value *list)
{
    struct limit_row *row = section->target;
    return members_read_groups(section, list, &row->members);
}

/* clang-format off */
#define AT(member) offsetof(struct limit_row, member)
enum { JOBS_MOST = 1000000000 };
static const struct section_field table[] = {
    {"user", .read = read_user},
    {"group", .read = read_group},
    {"queue", .read = read_queue},
    {"gpu_type", SECTION_TEXT, AT(gpu_type), .what = "a type of GPU, such as A100"},
    {"running", SECTION_WHOLE, AT(running), LIMIT_NONE, 0, JOBS_MOST, .what = NULL},
    {"waiting", SECTION_WHOLE, AT(waiting), LIMIT_NONE, 0, JOBS_MOST, .what = NULL},
    {"cpus", .read = read_cpus},
    {"memory", SECTION_BYTES, AT(memory), LIMIT_NONE, .what = "a size such as 512Gi"},
    {"gpus", SECTION_WHOLE, AT(gpus), LIMIT_NONE, 0, JOBS_MOST, .what = NULL},
    {"time_limit", SECTION_DURATION, AT(time_limit), LIMIT_NONE, 1000, 315360000000, .what = NULL},
    {"lend_gpus", SECTION_WHOLE, AT(lend_gpus), LIMIT_NONE, 0, JOBS_MOST, .what = NULL},
    {"borrow_gpus", SECTION_WHOLE, AT(borrow_gpus), LIMIT_NONE, 0, JOBS_MOST, .what = NULL},
    {"preempt", .read = read_preempt},
    {"exempt", SECTION_DURATION, AT(exempt), 0, 0, 315360000000, .what = NULL},
    {"gpu_hours", .read = read_gpu_hours},
    {"over", .read = read_over},
    {"users", .read = read_members},
    {"groups", .read = read_member_groups},
};
#undef AT
/* clang-format on */

/* What is for queues alone.  One that names how many GPUs it lends or borrows lends all of its own, and borrows none,
 * where it does not say. */
static int check_queue(const struct section *section, const struct value *item,
                       struct limit_row *row)
{
    bool shares = row->lend_gpus >= 0 || row->borrow_gpus >= 0;
    const char *field = row->borrow_gpus >= 0     ? "borrow_gpus"
                        : row->lend_gpus >= 0     ? "lend_gpus"
                        : row->preempts           ? "preempt"
                        : row->exempt             ? "exempt"
                        : row->members.user_count ? "users"
                                                  : "groups";
    bool named = members_are_named(&row->members);
    if ((shares || row->preempts || row->exempt || named) && row->subject != LIMIT_QUEUE)
        return section_expected(section, value_get(item, field), field,
                                "it beside queue only, as queues alone may have it");
    if (named && (limit_row_is_for_each(row) || row->gpu_type.length))
        return section_expected(section, value_get(item, field), field,
                                "the name of one queue beside it, and no gpu_type");
    if (!shares)
        return 0;
    if (limit_row_is_for_each(row) || row->gpus < 0)
        return section_expected(section, value_get(item, field), field,
                                "the name of one queue beside it, and gpus: how many are its own");
    if (row->over != LIMIT_WAIT)
        return section_expected(section, value_get(item, "over"), "over",
                                "wait in the row of a queue that shares its GPUs");
    if (row->lend_gpus > row->gpus)
        return section_expected(section, value_get(item, "lend_gpus"), "lend_gpus",
                                "at most gpus: no queue lends more than its own");
    if (row->lend_gpus < 0)
        row->lend_gpus = row->gpus;
    if (row->borrow_gpus < 0)
        row->borrow_gpus = 0;
    return 0;
}

/* What a row says must be about somebody, and limit something. */
static int check_row(const struct section *section, const struct value *item, struct limit_row *row)
{
    if (!row->name.length)
        return section_expected(section, item, "", "one of user, group and queue in each row");
    if (check_queue(section, item, row))
        return -1;
    if (row->running < 0 && row->waiting < 0 && row->cpus < 0 && row->memory < 0 && row->gpus < 0 &&
        row->time_limit < 0 && row->gpu_time < 0 && !row->preempts &&
        !members_are_named(&row->members))
        return section_expected(section, item, "",
                                "at least one of running, waiting, cpus, memory, gpus, time_limit, "
                                "gpu_hours, preempt, users and groups in each row");
    return 0;
}

int limit_row_read_all(const struct section *section, const struct value *list,
                       struct limit_row **rows, size_t *count)
{
    *rows = NULL;
    *count = 0;
    if (list->kind != VALUE_LIST || list->list.count > MOST_ROWS)
        return section_expected(section, list, "limits.rows",
                                "a list of at most 1000 rows such as {user: \"*\", gpus: 8}");
    *rows = arena_allocate(section->arena, (list->list.count + 1) * sizeof(**rows));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct limit_row *row = &(*rows)[i];
        const struct section inner = {"limits.rows", row, section->arena, section->error};
        *row = (struct limit_row){.cpus = LIMIT_NONE, .gpu_time = LIMIT_NONE, .line = item->line};
        if (item->kind != VALUE_OBJECT)
            return section_expected(&inner, item, "", "a row such as {user: \"*\", gpus: 8}");
        if (section_read(&inner, item, table, ARRAY_COUNT(table)) || check_row(&inner, item, row))
            return -1;
    }
    *count = list->list.count;
    return 0;
}
