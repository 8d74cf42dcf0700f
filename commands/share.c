/* commands/share.c - dlspool share: what users and groups have used of late, and what part is to be theirs
 *
 * It is counted as the submit stage does (stages/shared/decayed_use.h), from the accounts and from what runs.  Those
 * whose jobs wait in rendered/ take part, too.
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "spool/jobs.h"
#include "spool/settings.h"
#include "stages/shared/decayed_use.h"

enum { NAME_SIZE = 80 };
static const double hour = 3600000; /* milliseconds */

struct share_line { /* a user or a group */
    struct decayed_user user;
    bool is_group;
    double used, weight;
    double share, theirs; /* parts of all: 0 to 1 */
};

struct sharing {
    const struct spool *spool;
    const struct fair_share *rules;
    struct decayed_use *use;
    struct arena *arena;
    struct share_line *sharers; /* groups, where these share, and users */
    size_t count, capacity;
};

/* ---- who takes part ---- */

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

static struct share_line *add_sharer(struct sharing *sharing, const struct decayed_user *user,
                                     bool is_group)
{
    sharing->sharers = memory_grow(sharing->sharers, sharing->count, &sharing->capacity,
                                   sizeof(*sharing->sharers));
    struct share_line *sharer = &sharing->sharers[sharing->count++];
    *sharer = (struct share_line){.user = *user,
                                  .is_group = is_group,
                                  .weight = is_group ? user->group_weight : user->weight};
    return sharer;
}

static struct share_line *find_group(struct sharing *sharing, gid_t gid)
{
    for (size_t i = 0; i < sharing->count; i++)
        if (sharing->sharers[i].is_group && sharing->sharers[i].user.gid == gid)
            return &sharing->sharers[i];
    return NULL;
}

static void take_user(void *context, const struct decayed_user *user)
{
    struct sharing *sharing = context;
    struct share_line *group = find_group(sharing, user->gid);
    if (sharing->rules->has_groups && !group)
        group = add_sharer(sharing, user, true);
    if (group)
        group->used += user->used;
    add_sharer(sharing, user, false)->used = user->used;
}

/* ---- shares ---- */

/* What all of a kind have together: the groups; or the users, of that group where groups share. */
static void sum_up(const struct sharing *sharing, bool groups, gid_t gid, double *used,
                   double *weights)
{
    *used = *weights = 0;
    for (size_t i = 0; i < sharing->count; i++) {
        const struct share_line *sharer = &sharing->sharers[i];
        if (sharer->is_group != groups || (!groups && sharer->user.gid != gid))
            continue;
        *used += sharer->used;
        *weights += sharer->weight;
    }
}

static void set_shares(struct sharing *sharing)
{
    double all, of_groups, used, weights;
    bool groups = sharing->rules->has_groups;
    sum_up(sharing, groups, 0, &all, &of_groups);
    for (size_t i = 0; i < sharing->count; i++) {
        struct share_line *sharer = &sharing->sharers[i];
        sum_up(sharing, sharer->is_group, sharer->user.gid, &used, &weights);
        double above = groups && !sharer->is_group ? sharer->user.group_weight / of_groups : 1;
        sharer->share = all > 0 ? sharer->used / all : 0;
        sharer->theirs = above * sharer->weight / weights;
    }
}

/* Groups first; of each kind the one who is next. */
static int by_turn(const void *a, const void *b)
{
    const struct share_line *first = a, *second = b;
    if (first->is_group != second->is_group)
        return first->is_group ? -1 : 1;
    double due = first->used / first->weight, other = second->used / second->weight;
    if (due < other || due > other)
        return due < other ? -1 : 1;
    return first->user.uid < second->user.uid ? -1 : first->user.uid > second->user.uid;
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
    for (size_t i = 0; i < sharing->count; i++) {
        const struct share_line *sharer = &sharing->sharers[i];
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
    for (size_t i = 0; i < sharing->count; i++) {
        const struct share_line *sharer = &sharing->sharers[i];
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
        decayed_use_walk(sharing.use, take_user, &sharing);
    set_shares(&sharing);
    if (sharing.count)
        qsort(sharing.sharers, sharing.count, sizeof(*sharing.sharers), by_turn);
    if (result)
        complain("%s", error.text);
    else if (json)
        print_tree(&sharing);
    else if (!rules->row_count)
        puts("dlspool.yaml has no shares.weights: users take turns, whatever they use");
    else if (!sharing.count)
        puts("nobody has jobs, or has used anything of late");
    else
        print_sharers(&sharing);
    free(sharing.sharers);
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
    struct error error;
    int operand_count, status;
    if (!options_read(&usage, argument_count, arguments, &operand_count, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (settings_read(&settings, &spool, &error)) {
        complain("%s", error.text);
        spool_close(&spool);
        return STATUS_FAILED;
    }
    status = show_shares(&spool, &settings.shares, json);
    settings_free(&settings);
    spool_close(&spool);
    return status;
}
