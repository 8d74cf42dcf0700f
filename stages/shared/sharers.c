/* stages/shared/sharers.c - the users and groups who share: what each has used for the weight */
#include "stages/shared/sharers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"

enum { MOST_USERS = 65535, NUMBER_SIZE = 24 };

struct sharers {
    const struct fair_share *share;
    struct names *users, *groups; /* by number */
};

struct sharers *sharers_new(const struct fair_share *share)
{
    struct sharers *sharers = memory_allocate(sizeof(*sharers));
    *sharers = (struct sharers){.share = share,
                                .users = names_new(MOST_USERS, sizeof(struct sharer)),
                                .groups = names_new(MOST_USERS, sizeof(struct sharing_group))};
    return sharers;
}

void sharers_free(struct sharers *sharers)
{
    if (!sharers)
        return;
    names_free(sharers->users);
    names_free(sharers->groups);
    free(sharers);
}

static struct text number_text(id_t id, char buffer[static NUMBER_SIZE])
{
    snprintf(buffer, NUMBER_SIZE, "%ju", (uintmax_t)id);
    return text_of(buffer);
}

struct sharer *sharers_find(const struct sharers *sharers, uid_t uid)
{
    char number[NUMBER_SIZE];
    return names_find(sharers->users, number_text(uid, number));
}

/* The group; one for all where groups do not share.  NULL: there are too many. */
static struct sharing_group *know_group(struct sharers *sharers, gid_t gid)
{
    char number[NUMBER_SIZE];
    bool share = sharers->share->has_groups;
    struct text key = number_text(share ? gid : 0, number);
    struct sharing_group *group = names_find(sharers->groups, key);
    if (!group && (group = names_add(sharers->groups, key)))
        *group = (struct sharing_group){
            .gid = share ? gid : 0, .weight = share ? fair_share_of_group(sharers->share, gid) : 1};
    return group;
}

static void set_due(struct sharer *user)
{
    user->due = user->used / user->weight;
    user->group->due = user->group->used / user->group->weight;
}

struct sharer *sharers_know(struct sharers *sharers, uid_t uid, gid_t gid)
{
    char number[NUMBER_SIZE];
    struct sharer *user = sharers_find(sharers, uid);
    struct sharing_group *group = user && gid == (gid_t)-1 ? user->group : know_group(sharers, gid);
    if (!group || (user && user->group == group))
        return group ? user : NULL;
    if (user) { /* who has moved to another group */
        user->group->used -= user->used;
        set_due(user);
    } else if ((user = names_add(sharers->users, number_text(uid, number)))) {
        *user = (struct sharer){.uid = uid, .weight = fair_share_of_user(sharers->share, uid)};
    } else {
        return NULL;
    }
    user->group = group;
    group->used += user->used;
    set_due(user);
    return user;
}

struct sharer *sharers_first(const struct sharers *sharers)
{
    return names_first(sharers->users);
}

struct sharer *sharers_after(struct sharer *user)
{
    return names_after(user);
}

size_t sharers_count(const struct sharers *sharers)
{
    return names_count(sharers->users);
}

void sharers_clear(struct sharers *sharers)
{
    for (struct sharing_group *group = names_first(sharers->groups); group;
         group = names_after(group))
        group->used = group->due = 0;
    for (struct sharer *user = names_first(sharers->users); user; user = names_after(user))
        user->used = user->due = 0;
}

void sharers_use(struct sharer *user, double amount)
{
    user->used += amount;
    user->group->used += amount;
    set_due(user);
}

static int compare_sharers(const struct sharer *first, const struct sharer *second)
{
    double due = first ? first->due : 0, other = second ? second->due : 0;
    if (first && second && first->group != second->group) {
        due = first->group->due;
        other = second->group->due;
    }
    return due < other ? -1 : due > other;
}

int sharers_compare(const struct sharers *sharers, uid_t a, uid_t b)
{
    return compare_sharers(sharers_find(sharers, a), sharers_find(sharers, b));
}

/* ---- places ---- */

struct line { /* the jobs of an owner that have no place yet */
    struct sharer *user;
    struct sharing_turn *first, *end;
};

static size_t list_lines(const struct sharers *sharers, struct sharing_turn *turns, size_t count,
                         struct line *lines)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || turns[i].uid != turns[i - 1].uid)
            lines[found++] = (struct line){sharers_find(sharers, turns[i].uid), &turns[i], NULL};
        lines[found - 1].end = &turns[i + 1];
    }
    return found;
}

static bool goes_before(const struct line *line, const struct line *other)
{
    int order = compare_sharers(line->user, other->user);
    return order ? order < 0 : text_compare(line->first->age, other->first->age) < 0;
}

static void charge(const struct line *line, double amount)
{
    if (line->user)
        sharers_use(line->user, amount);
}

void sharers_place(struct sharers *sharers, struct sharing_turn *turns, size_t count)
{
    struct line *lines = memory_allocate((count + 1) * sizeof(*lines));
    size_t left = list_lines(sharers, turns, count, lines);
    for (size_t place = 0; left > 0; place++) {
        struct line *next = &lines[0];
        for (size_t i = 1; i < left; i++)
            if (goes_before(&lines[i], next))
                next = &lines[i];
        next->first->place = place;
        charge(next, next->first->amount);
        if (++next->first == next->end)
            *next = lines[--left];
    }
    for (size_t i = 0; i < count; i++) {
        struct sharer *user = sharers_find(sharers, turns[i].uid);
        if (user)
            sharers_use(user, -turns[i].amount);
    }
    free(lines);
}
