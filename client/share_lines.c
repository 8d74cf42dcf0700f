/* client/share_lines.c - what users and groups have used of late, and what part is to be theirs */
#include "client/share_lines.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/system.h"
#include "spool/jobs.h"
#include "spool/record.h"

struct making {
    struct share_lines *lines;
    bool groups; /* share */
};

static struct share_line *add_sharer(struct share_lines *lines, const struct decayed_user *user,
                                     bool is_group)
{
    lines->items = memory_grow(lines->items, lines->count, &lines->capacity, sizeof(*lines->items));
    struct share_line *sharer = &lines->items[lines->count++];
    *sharer = (struct share_line){.user = *user,
                                  .is_group = is_group,
                                  .weight = is_group ? user->group_weight : user->weight};
    return sharer;
}

static struct share_line *find_group(struct share_lines *lines, gid_t gid)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->items[i].is_group && lines->items[i].user.gid == gid)
            return &lines->items[i];
    return NULL;
}

static void take_user(void *context, const struct decayed_user *user)
{
    const struct making *making = context;
    struct share_lines *lines = making->lines;
    struct share_line *group = find_group(lines, user->gid);
    if (making->groups && !group)
        group = add_sharer(lines, user, true);
    if (group)
        group->used += user->used;
    add_sharer(lines, user, false)->used = user->used;
}

/* ---- shares ---- */

/* What all of a kind have together: the groups; or the users, of that group where groups share. */
static void sum_up(const struct share_lines *lines, bool groups, gid_t gid, double *used,
                   double *weights)
{
    *used = *weights = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const struct share_line *sharer = &lines->items[i];
        if (sharer->is_group != groups || (!groups && sharer->user.gid != gid))
            continue;
        *used += sharer->used;
        *weights += sharer->weight;
    }
}

static void set_shares(struct share_lines *lines, bool groups)
{
    double all, of_groups, used, weights;
    sum_up(lines, groups, 0, &all, &of_groups);
    for (size_t i = 0; i < lines->count; i++) {
        struct share_line *sharer = &lines->items[i];
        sum_up(lines, sharer->is_group, sharer->user.gid, &used, &weights);
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

void share_lines_make(const struct fair_share *rules, const struct decayed_use *use,
                      struct share_lines *lines)
{
    struct making making = {lines, rules->has_groups};
    *lines = (struct share_lines){.count = 0};
    decayed_use_walk(use, take_user, &making);
    set_shares(lines, rules->has_groups);
    if (lines->count)
        qsort(lines->items, lines->count, sizeof(*lines->items), by_turn);
}

/* ---- the spool ---- */

struct looking {
    const struct spool *spool;
    struct decayed_use *use;
    struct arena *arena;
};

static int note_waiting(void *context, const struct job_place *place)
{
    struct looking *looking = context;
    struct job_record record;
    int job = job_open(looking->spool, place);
    if (job < 0)
        return 0;
    if (!record_read(job, looking->arena, &record, NULL))
        decayed_use_note(looking->use, record.uid, record.gid);
    arena_reset(looking->arena);
    sys.close(job);
    return 0;
}

int share_lines_look(const struct spool *spool, const struct fair_share *rules,
                     struct share_lines *lines, struct error *error)
{
    *lines = (struct share_lines){.count = 0};
    if (!rules->row_count)
        return 0;
    struct looking looking = {spool, decayed_use_new(spool, rules), arena_new()};
    int result = decayed_use_look(looking.use, error);
    if (!result && jobs_walk(spool, STATE_RENDERED, note_waiting, &looking))
        result = error_errno(error, "rendered/ could not be read");
    if (!result)
        share_lines_make(rules, looking.use, lines);
    decayed_use_free(looking.use);
    arena_free(looking.arena);
    return result;
}

void share_lines_free(struct share_lines *lines)
{
    free(lines->items);
    *lines = (struct share_lines){.count = 0};
}

const struct share_line *share_lines_find(const struct share_lines *lines, uid_t uid)
{
    for (size_t i = 0; i < lines->count; i++)
        if (!lines->items[i].is_group && lines->items[i].user.uid == uid)
            return &lines->items[i];
    return NULL;
}

/* ---- for programs ---- */

const char *share_lines_group(const struct share_line *line,
                              char name[static SHARE_LINES_NAME_SIZE])
{
    const struct group *group = getgrgid(line->user.gid);
    if (group)
        snprintf(name, SHARE_LINES_NAME_SIZE, "%s", group->gr_name);
    else
        snprintf(name, SHARE_LINES_NAME_SIZE, "%u", (unsigned int)line->user.gid);
    return name;
}

const char *share_lines_name(const struct share_line *line, char name[static SHARE_LINES_NAME_SIZE])
{
    if (line->is_group)
        return share_lines_group(line, name);
    const struct passwd *user = getpwuid(line->user.uid);
    if (user)
        snprintf(name, SHARE_LINES_NAME_SIZE, "%s", user->pw_name);
    else
        snprintf(name, SHARE_LINES_NAME_SIZE, "%u", (unsigned int)line->user.uid);
    return name;
}

static struct value *line_tree(struct arena *arena, const struct fair_share *rules,
                               const struct share_line *line)
{
    struct value *tree = value_object(arena);
    char name[SHARE_LINES_NAME_SIZE];
    bool in_group = rules->has_groups && !line->is_group;
    value_put(arena, tree, "of", value_string(arena, line->is_group ? "group" : "user"));
    value_put(arena, tree, "name", value_string(arena, share_lines_name(line, name)));
    value_put(arena, tree, "group",
              in_group ? value_string(arena, share_lines_group(line, name)) : value_null(arena));
    value_put(arena, tree, "weight", value_number(arena, line->weight));
    value_put(arena, tree, "gpu_seconds", value_number(arena, line->used / 1000));
    value_put(arena, tree, "share", value_number(arena, line->share));
    value_put(arena, tree, "theirs", value_number(arena, line->theirs));
    return tree;
}

struct value *share_lines_tree(struct arena *arena, const struct fair_share *rules,
                               const struct share_lines *lines)
{
    struct value *trees = value_list(arena);
    for (size_t i = 0; i < lines->count; i++)
        value_append(arena, trees, line_tree(arena, rules, &lines->items[i]));
    return trees;
}
