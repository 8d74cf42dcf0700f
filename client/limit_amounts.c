/* client/limit_amounts.c - what a row of limits.rows limits, and how much of it is used */
#include "client/limit_amounts.h"

#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"

static const char *format_count(int64_t value, char buffer[static QUANTITY_TEXT_SIZE])
{
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%" PRId64, value);
    return buffer;
}

static const char *format_time(int64_t value, char buffer[static QUANTITY_TEXT_SIZE])
{
    char text[CLOCK_TEXT_SIZE];
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%s", duration_format(value, text));
    return buffer;
}

void limit_amounts_list(const struct use_view *view, struct limit_amount list[static LIMIT_AMOUNTS])
{
    const struct limit_row *row = view->row;
    const struct use_amounts *used = &view->amounts[USE_RUNNING];
    const struct use_amounts *waiting = &view->amounts[USE_WAITING];
    const struct limit_amount all[LIMIT_AMOUNTS] = {
        {"running", row->running, used->jobs, waiting->jobs, true, format_count},
        {"waiting", row->waiting, waiting->jobs, waiting->jobs, true, format_count},
        {"cpus", row->cpus, used->cpus, waiting->cpus, true, quantity_format_cpus},
        {"memory", row->memory, used->memory, waiting->memory, true, quantity_format_bytes},
        {"gpus", row->gpus, used->gpus, waiting->gpus, true, format_count},
        {"lend_gpus", row->lend_gpus, view->lent, 0, true, format_count},
        {"borrow_gpus", row->borrow_gpus, view->borrowed, 0, true, format_count},
        {"gpu_hours", row->gpu_time, used->gpu_time, waiting->gpu_time, true,
         quantity_format_hours},
        {"time_limit", row->time_limit, 0, 0, false, format_time},
    };
    memcpy(list, all, sizeof(all));
}

void limit_amounts_name(const struct limit_row *row, struct text subject,
                        char name[static LIMIT_AMOUNTS_NAME_SIZE])
{
    const struct group *group = NULL;
    if (!limit_row_is_for_each(row))
        subject = row->name;
    else if (row->subject == LIMIT_GROUP && subject.length)
        group = getgrgid((gid_t)strtoul(subject.data, NULL, 10));
    if (group)
        snprintf(name, LIMIT_AMOUNTS_NAME_SIZE, "%s", group->gr_name);
    else
        snprintf(name, LIMIT_AMOUNTS_NAME_SIZE, "%.*s", (int)subject.length, subject.data);
}

/* ---- all rows ---- */

struct walk {
    struct use *use;
    limit_amounts_visitor *visit;
    void *context;
    const struct limit_row *row;
    bool visited; /* of this row somebody was */
};

static void see_use(void *context, const struct use_view *view)
{
    struct walk *walk = context;
    const struct limit_row *row = view->row;
    const struct use_amounts *amounts = view->amounts;
    char name[LIMIT_AMOUNTS_NAME_SIZE];
    if (row != walk->row || (!amounts[USE_RUNNING].jobs && !amounts[USE_WAITING].jobs &&
                             !amounts[USE_RUNNING].gpu_time && !view->lent))
        return;
    limit_amounts_name(row, view->subject, name);
    walk->visit(walk->context, view, name, false);
    walk->visited = true;
}

static void walk_row(struct walk *walk, const struct limit_row *row)
{
    const struct use_view none = {.row = row};
    walk->row = row;
    walk->visited = false;
    use_walk(walk->use, see_use, walk);
    if (!walk->visited)
        walk->visit(walk->context, &none, row->name.data, limit_row_is_for_each(row));
}

int limit_amounts_walk(const struct spool *spool, const struct job_limits *limits,
                       limit_amounts_visitor *visit, void *context, struct error *error)
{
    struct walk walk = {
        .use = use_new(spool, limits->rows, limits->row_count,
                       1u << STATE_RENDERED | 1u << STATE_HELD | 1u << STATE_SUBMITTED),
        .visit = visit,
        .context = context};
    use_count_gpu_time(walk.use);
    int result = use_look(walk.use, error);
    for (size_t i = 0; i < limits->row_count && !result; i++)
        walk_row(&walk, &limits->rows[i]);
    use_free(walk.use);
    return result;
}

/* ---- for programs ---- */

static struct value *amount_tree(struct arena *arena, const struct limit_amount *amount,
                                 bool anybody)
{
    /* In the units of --json: CPUs, bytes, seconds. */
    double unit = strcmp(amount->name, "gpu_hours") == 0                     ? 3600000
                  : strcmp(amount->name, "cpus") == 0 || !amount->is_counted ? 1000
                                                                             : 1;
    struct value *tree = value_object(arena);
    bool counted = amount->is_counted && !anybody;
    value_put(arena, tree, "limit", value_number(arena, (double)amount->limit / unit));
    value_put(arena, tree, "used",
              counted ? value_number(arena, (double)amount->used / unit) : value_null(arena));
    value_put(arena, tree, "waiting",
              counted ? value_number(arena, (double)amount->waiting / unit) : value_null(arena));
    return tree;
}

struct trees {
    struct arena *arena;
    struct value *list;
};

static void add_tree(void *context, const struct use_view *view, const char *name, bool anybody)
{
    const struct trees *trees = context;
    const struct limit_row *row = view->row;
    struct arena *arena = trees->arena;
    struct value *tree = value_object(arena);
    struct limit_amount list[LIMIT_AMOUNTS];
    char falls[CLOCK_TEXT_SIZE];
    limit_amounts_list(view, list);
    value_put(arena, tree, "line", value_number(arena, row->line));
    value_put(arena, tree, "of", value_string(arena, limit_row_subject_name(row->subject)));
    value_put(arena, tree, "name", anybody ? value_null(arena) : value_string(arena, name));
    value_put(arena, tree, "gpu_type",
              row->gpu_type.length ? value_text(arena, row->gpu_type) : value_null(arena));
    value_put(arena, tree, "over", value_string(arena, limit_row_over_name(row->over)));
    for (size_t i = 0; i < LIMIT_AMOUNTS; i++)
        value_put(arena, tree, list[i].name,
                  list[i].limit < 0 ? value_null(arena) : amount_tree(arena, &list[i], anybody));
    value_put(arena, tree, "gpu_hours_period",
              row->gpu_time < 0 ? value_null(arena)
                                : value_number(arena, (double)row->gpu_period / 1000));
    value_put(arena, tree, "gpu_hours_falls",
              view->falls ? value_string(arena, clock_format(view->falls, falls))
                          : value_null(arena));
    value_append(arena, trees->list, tree);
}

struct value *limit_amounts_tree(struct arena *arena, const struct spool *spool,
                                 const struct job_limits *limits, struct error *error)
{
    struct trees trees = {arena, value_list(arena)};
    return limit_amounts_walk(spool, limits, add_tree, &trees, error) ? NULL : trees.list;
}
