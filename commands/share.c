/* commands/share.c - dlspool share: what users and groups have used of late, and what part is to be theirs
 *
 * It is counted as the submit stage does (stages/shared/decayed_use.h), from the accounts and from what runs.  Those
 * whose jobs wait in rendered/ take part, too.
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>

#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "client/share_lines.h"
#include "spool/jobs.h"
#include "spool/settings.h"

enum { NAME_SIZE = 80 };
static const double hour = 3600000; /* milliseconds */

struct sharing {
    const struct spool *spool;
    const struct fair_share *rules;
    struct decayed_use *use;
    struct arena *arena;
    struct share_lines lines;
};

static int note_waiting(void *context, const struct job_place *place)
{
    struct sharing *sharing = context;
    struct job_record record;
    int job = job_open(sharing->spool, place);
    if (job < 0)
        return 0;
    if (!record_read(job, sharing->arena, &record, NULL))
        decayed_use_note(sharing->use, record.uid, record.gid);
    arena_reset(sharing->arena);
    sys.close(job);
    return 0;
}

/* ---- output ---- */

static const char *group_name(gid_t gid, char name[static NAME_SIZE])
{
    const struct group *group = getgrgid(gid);
    if (group)
        snprintf(name, NAME_SIZE, "%s", group->gr_name);
    else
        snprintf(name, NAME_SIZE, "%u", (unsigned int)gid);
    return name;
}

static const char *sharer_name(const struct share_line *sharer, char name[static NAME_SIZE])
{
    if (sharer->is_group)
        return group_name(sharer->user.gid, name);
    const struct passwd *user = getpwuid(sharer->user.uid);
    if (user)
        snprintf(name, NAME_SIZE, "%s", user->pw_name);
    else
        snprintf(name, NAME_SIZE, "%u", (unsigned int)sharer->user.uid);
    return name;
}

static void print_sharers(const struct sharing *sharing)
{
    char name[NAME_SIZE], who[NAME_SIZE + 8], group[NAME_SIZE];
    printf("%-24s %-16s %8s %12s %8s %8s\n", "WHO", "GROUP", "WEIGHT", "GPU HOURS", "SHARE",
           "THEIRS");
    for (size_t i = 0; i < sharing->lines.count; i++) {
        const struct share_line *sharer = &sharing->lines.items[i];
        bool in_group = sharing->rules->has_groups && !sharer->is_group;
        snprintf(who, sizeof(who), "%s %s", sharer->is_group ? "group" : "user",
                 sharer_name(sharer, name));
        printf("%-24s %-16s %8g %12.2f %7.1f%% %7.1f%%\n", who,
               in_group ? group_name(sharer->user.gid, group) : "-", sharer->weight,
               sharer->used / hour, 100 * sharer->share, 100 * sharer->theirs);
    }
}

static void print_tree(const struct sharing *sharing)
{
    struct arena *arena = sharing->arena;
    struct value *tree = value_list(arena);
    char name[NAME_SIZE];
    for (size_t i = 0; i < sharing->lines.count; i++) {
        const struct share_line *sharer = &sharing->lines.items[i];
        struct value *object = value_object(arena);
        bool in_group = sharing->rules->has_groups && !sharer->is_group;
        value_put(arena, object, "of", value_string(arena, sharer->is_group ? "group" : "user"));
        value_put(arena, object, "name", value_string(arena, sharer_name(sharer, name)));
        value_put(arena, object, "group",
                  in_group ? value_string(arena, group_name(sharer->user.gid, name))
                           : value_null(arena));
        value_put(arena, object, "weight", value_number(arena, sharer->weight));
        value_put(arena, object, "gpu_seconds", value_number(arena, sharer->used / 1000));
        value_put(arena, object, "share", value_number(arena, sharer->share));
        value_put(arena, object, "theirs", value_number(arena, sharer->theirs));
        value_append(arena, tree, object);
    }
    print_json(tree);
}

/* Count, and print it. */
static int show_shares(const struct spool *spool, const struct fair_share *rules, bool json)
{
    struct error error;
    struct sharing sharing = {.spool = spool, .rules = rules, .arena = arena_new()};
    sharing.use = decayed_use_new(spool, rules);
    int result = rules->row_count ? decayed_use_look(sharing.use, &error) : 0;
    if (!result && rules->row_count && jobs_walk(spool, STATE_RENDERED, note_waiting, &sharing))
        result = error_errno(&error, "rendered/ could not be read");
    if (!result && rules->row_count)
        share_lines_make(rules, sharing.use, &sharing.lines);
    if (result)
        complain("%s", error.text);
    else if (json)
        print_tree(&sharing);
    else if (!rules->row_count)
        puts("dlspool.yaml has no shares.weights: users take turns, whatever they use");
    else if (!sharing.lines.count)
        puts("nobody has jobs, or has used anything of late");
    else
        print_sharers(&sharing);
    share_lines_free(&sharing.lines);
    decayed_use_free(sharing.use);
    arena_free(sharing.arena);
    return result ? STATUS_FAILED : STATUS_DONE;
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
