/* commands/limits.c - dlspool limits: what users, groups and queues may have, have, and wait for
 *
 * The jobs of rendered/, held/ and submitted/ are counted as the stages count them (stages/shared/use.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/limit_amounts.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"

struct listing {
    struct arena *arena;
    struct value *tree; /* for --json; else NULL */
    struct use *use;
    const struct limit_row *row;
    bool shown; /* of this row somebody was */
    bool titled;
};

/* Print a line for each thing that the row limits. */
static void print_amounts(struct listing *listing, const struct use_view *view, const char *name,
                          bool anybody)
{
    const struct limit_row *row = view->row;
    struct limit_amount list[LIMIT_AMOUNTS];
    char who[LIMIT_AMOUNTS_NAME_SIZE + 16], used[QUANTITY_TEXT_SIZE], waiting[QUANTITY_TEXT_SIZE];
    char limit[QUANTITY_TEXT_SIZE], falls[CLOCK_TEXT_SIZE];
    limit_amounts_list(view, list);
    if (!listing->titled)
        printf("%4s  %-24s %-12s %-10s %10s %10s %10s\n", "LINE", "WHO", "GPU TYPE", "OF", "LIMIT",
               "USED", "WAITING");
    listing->titled = true;
    snprintf(who, sizeof(who), "%s%s %s", anybody ? "each " : "",
             limit_row_subject_name(row->subject), anybody ? "" : name);
    for (size_t i = 0; i < LIMIT_AMOUNTS; i++) {
        const struct limit_amount *amount = &list[i];
        bool counted = amount->is_counted && !anybody;
        if (amount->limit < 0)
            continue;
        printf("%4u  ", row->line);
        printf("%-24s %-12s %-10s %10s %10s %10s\n", who,
               row->gpu_type.length ? row->gpu_type.data : "-", amount->name,
               amount->format(amount->limit, limit),
               counted ? amount->format(amount->used, used) : "-",
               counted ? amount->format(amount->waiting, waiting) : "-");
    }
    if (view->falls)
        printf("%4s  below its gpu_hours again %s, if no more is used\n", "",
               clock_format(view->falls, falls));
}

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

static void add_tree(struct listing *listing, const struct use_view *view, const char *name,
                     bool anybody)
{
    const struct limit_row *row = view->row;
    struct arena *arena = listing->arena;
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
    value_append(arena, listing->tree, tree);
}

static void show_use(struct listing *listing, const struct use_view *view, const char *name,
                     bool anybody)
{
    if (listing->tree)
        add_tree(listing, view, name, anybody);
    else
        print_amounts(listing, view, name, anybody);
}

static void see_use(void *context, const struct use_view *view)
{
    struct listing *listing = context;
    const struct limit_row *row = view->row;
    const struct use_amounts *amounts = view->amounts;
    char name[LIMIT_AMOUNTS_NAME_SIZE];
    if (row != listing->row || (!amounts[USE_RUNNING].jobs && !amounts[USE_WAITING].jobs &&
                                !amounts[USE_RUNNING].gpu_time && !view->lent))
        return;
    limit_amounts_name(row, view->subject, name);
    show_use(listing, view, name, false);
    listing->shown = true;
}

/* A row in whose name nobody has anything is shown by itself. */
static void show_row(struct listing *listing, const struct limit_row *row)
{
    const struct use_view none = {.row = row};
    listing->row = row;
    listing->shown = false;
    use_walk(listing->use, see_use, listing);
    if (!listing->shown)
        show_use(listing, &none, row->name.data, limit_row_is_for_each(row));
}

static int show_limits(const struct spool *spool, const struct settings *settings, bool json)
{
    const struct job_limits *limits = &settings->limits;
    struct arena *arena = arena_new();
    struct error error;
    struct listing listing = {
        .arena = arena,
        .tree = json ? value_list(arena) : NULL,
        .use = use_new(spool, limits->rows, limits->row_count,
                       1u << STATE_RENDERED | 1u << STATE_HELD | 1u << STATE_SUBMITTED)};
    int status = STATUS_DONE;
    use_count_gpu_time(listing.use);
    if (use_look(listing.use, &error)) {
        complain("%s", error.text);
        status = STATUS_FAILED;
    }
    for (size_t i = 0; i < limits->row_count && status == STATUS_DONE; i++)
        show_row(&listing, &limits->rows[i]);
    if (json && status == STATUS_DONE)
        print_json(listing.tree);
    else if (!limits->row_count)
        puts("dlspool.yaml has no limits.rows: nobody's use is limited");
    use_free(listing.use);
    arena_free(arena);
    return status;
}

int command_limits(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, a list"}, {0}};
    const struct verb_usage usage = {
        "limits",
        "",
        0,
        0,
        "Show what users, groups and queues may have, have, and wait for.",
        "A line for each thing that a row of limits.rows in dlspool.yaml limits, by the row's line there, for\n"
        "each user, group or queue who has jobs or is named by it.\n",
        options};
    struct settings settings;
    struct spool spool;
    int operand_count, status;
    if (!options_read(&usage, argument_count, arguments, &operand_count, &status))
        return status;
    if (open_spool_and_settings(&spool, &settings))
        return STATUS_FAILED;
    status = show_limits(&spool, &settings, json);
    settings_free(&settings);
    spool_close(&spool);
    return status;
}
