/* commands/limits.c - dlspool limits: what users, groups and queues may have, have, and wait for
 *
 * The jobs of rendered/, held/ and submitted/ are counted as the stages count them (stages/shared/use.h).
 */
#include <stdio.h>

#include "base/clock.h"
#include "client/limit_amounts.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"

/* Print a line for each thing that the row limits. */
static void print_amounts(void *context, const struct use_view *view, const char *name,
                          bool anybody)
{
    bool *titled = context;
    const struct limit_row *row = view->row;
    struct limit_amount list[LIMIT_AMOUNTS];
    char who[LIMIT_AMOUNTS_NAME_SIZE + 16], used[QUANTITY_TEXT_SIZE], waiting[QUANTITY_TEXT_SIZE];
    char limit[QUANTITY_TEXT_SIZE], falls[CLOCK_TEXT_SIZE];
    limit_amounts_list(view, list);
    if (!*titled)
        printf("%4s  %-24s %-12s %-10s %10s %10s %10s\n", "LINE", "WHO", "GPU TYPE", "OF", "LIMIT",
               "USED", "WAITING");
    *titled = true;
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

static int print_tree(const struct spool *spool, const struct job_limits *limits,
                      struct error *error)
{
    struct arena *arena = arena_new();
    const struct value *tree = limit_amounts_tree(arena, spool, limits, error);
    if (tree)
        print_json(tree);
    arena_free(arena);
    return tree ? 0 : -1;
}

static int show_limits(const struct spool *spool, const struct job_limits *limits, bool json)
{
    struct error error;
    bool titled = false;
    int result = json ? print_tree(spool, limits, &error)
                      : limit_amounts_walk(spool, limits, print_amounts, &titled, &error);
    if (result)
        complain("%s", error.text);
    else if (!json && !limits->row_count)
        puts("dlspool.yaml has no limits.rows: nobody's use is limited");
    return result ? STATUS_FAILED : STATUS_DONE;
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
    status = show_limits(&spool, &settings.limits, json);
    settings_free(&settings);
    spool_close(&spool);
    return status;
}
