/* spool/fair_share.c - `shares` of dlspool.yaml: what part of the machine users, groups and queues are to have */
#include "spool/fair_share.h"

#include <string.h>

enum { MOST_ROWS = 1000 };
static const double MOST_WEIGHT = 1e6, LEAST_WEIGHT = 1e-6;

static int read_subject(const struct section *section, enum limit_subject subject,
                        const struct value *value)
{
    struct share_row *row = section->target;
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

static int read_weight(const struct section *section, const struct value *value)
{
    struct share_row *row = section->target;
    if (value->kind != VALUE_NUMBER || !(value->number >= LEAST_WEIGHT) ||
        !(value->number <= MOST_WEIGHT))
        return section_expected(section, value, "weight",
                                "a number from 0.000001 to 1000000, such as 2");
    row->weight = value->number;
    return 0;
}

static const struct section_field table[] = {
    {"user", .read = read_user},
    {"group", .read = read_group},
    {"queue", .read = read_queue},
    {"weight", .read = read_weight},
};

/* Does a row before that one name the same? */
static bool is_named(const struct fair_share *share, const struct share_row *row)
{
    for (const struct share_row *other = share->rows; other < row; other++)
        if (other->subject == row->subject && text_equal(other->name, row->name))
            return true;
    return false;
}

int fair_share_read_rows(const struct section *section, const struct value *list,
                         struct fair_share *share)
{
    share->rows = NULL;
    share->row_count = 0;
    share->has_groups = false;
    if (list->kind != VALUE_LIST || list->list.count > MOST_ROWS)
        return section_expected(section, list, "shares.weights",
                                "a list of at most 1000 rows such as {user: ann, weight: 2}");
    share->rows = arena_allocate(section->arena, (list->list.count + 1) * sizeof(*share->rows));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct share_row *row = &share->rows[i];
        const struct section inner = {"shares.weights", row, section->arena, section->error};
        *row = (struct share_row){.name = {"", 0}};
        if (item->kind != VALUE_OBJECT)
            return section_expected(&inner, item, "", "a row such as {user: ann, weight: 2}");
        if (section_read(&inner, item, table, ARRAY_COUNT(table)))
            return -1;
        if (!row->name.length || row->weight <= 0)
            return section_expected(&inner, item, "",
                                    "one of user, group and queue, and weight, in each row");
        if (is_named(share, row))
            return section_expected(&inner, item, "", "each user, group and queue in one row only");
        share->has_groups = share->has_groups || row->subject == LIMIT_GROUP;
        share->row_count = i + 1;
    }
    return 0;
}

static bool is_for(const struct share_row *row, id_t id, struct text queue)
{
    return row->subject == LIMIT_QUEUE ? text_equal(row->name, queue) : row->id == id;
}

static double weight_of(const struct fair_share *share, enum limit_subject subject, id_t id,
                        struct text queue)
{
    double others = 1;
    for (size_t i = 0; i < share->row_count; i++) {
        const struct share_row *row = &share->rows[i];
        if (row->subject != subject)
            continue;
        if (text_is(row->name, "*"))
            others = row->weight;
        else if (is_for(row, id, queue))
            return row->weight;
    }
    return others;
}

double fair_share_of_user(const struct fair_share *share, uid_t uid)
{
    return weight_of(share, LIMIT_USER, uid, TEXT(""));
}

double fair_share_of_group(const struct fair_share *share, gid_t gid)
{
    return weight_of(share, LIMIT_GROUP, gid, TEXT(""));
}

double fair_share_of_queue(const struct fair_share *share, struct text queue)
{
    return weight_of(share, LIMIT_QUEUE, 0, queue);
}

double fair_share_amount(const struct fair_share *share, double cpus, double gpus)
{
    double as_gpus = cpus / 1000 / share->gpu;
    return as_gpus > gpus ? as_gpus : gpus;
}
