/* commands/share.c - dlspool share: what users and groups have used of late, and what part is to be theirs
 *
 * It is counted as the submit stage does (stages/shared/decayed_use.h), from the accounts and from what runs.  Those
 * whose jobs wait in rendered/ take part, too.
 */
#include <stdio.h>

#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "client/share_lines.h"
#include "spool/settings.h"

static const double hour = 3600000; /* milliseconds */

static void print_lines(const struct fair_share *rules, const struct share_lines *lines)
{
    char name[SHARE_LINES_NAME_SIZE], who[SHARE_LINES_NAME_SIZE + 8], group[SHARE_LINES_NAME_SIZE];
    printf("%-24s %-16s %8s %12s %8s %8s\n", "WHO", "GROUP", "WEIGHT", "GPU HOURS", "SHARE",
           "THEIRS");
    for (size_t i = 0; i < lines->count; i++) {
        const struct share_line *line = &lines->items[i];
        bool in_group = rules->has_groups && !line->is_group;
        snprintf(who, sizeof(who), "%s %s", line->is_group ? "group" : "user",
                 share_lines_name(line, name));
        printf("%-24s %-16s %8g %12.2f %7.1f%% %7.1f%%\n", who,
               in_group ? share_lines_group(line, group) : "-", line->weight, line->used / hour,
               100 * line->share, 100 * line->theirs);
    }
}

static void print_tree(const struct fair_share *rules, const struct share_lines *lines)
{
    struct arena *arena = arena_new();
    print_json(share_lines_tree(arena, rules, lines));
    arena_free(arena);
}

/* Count, and print it. */
static int show_shares(const struct spool *spool, const struct fair_share *rules, bool json)
{
    struct error error;
    struct share_lines lines;
    if (share_lines_look(spool, rules, &lines, &error)) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    if (json)
        print_tree(rules, &lines);
    else if (!rules->row_count)
        puts("dlspool.yaml has no shares.weights: users take turns, whatever they use");
    else if (!lines.count)
        puts("nobody has jobs, or has used anything of late");
    else
        print_lines(rules, &lines);
    share_lines_free(&lines);
    return STATUS_DONE;
}

int command_share(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, a list"}, {0}};
    const struct verb_usage usage = {
        "share",
        "",
        0,
        0,
        "Show what users and groups have used of late, and what part is to be theirs.",
        "A line for each who has used something, or has jobs, where dlspool.yaml has shares.weights; the first\n"
        "is next.\n",
        options};
    struct settings settings;
    struct spool spool;
    int operand_count, status;
    if (!options_read(&usage, argument_count, arguments, &operand_count, &status))
        return status;
    if (open_spool_and_settings(&spool, &settings))
        return STATUS_FAILED;
    status = show_shares(&spool, &settings.shares, json);
    settings_free(&settings);
    spool_close(&spool);
    return status;
}
