/* spool/members.c - for whom something of dlspool.yaml is */
#include "spool/members.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>

enum { MOST_NAMES = 1000 };

bool members_find_user(const char *name, uid_t *uid)
{
    const struct passwd *user = getpwnam(name);
    *uid = user ? user->pw_uid : 0;
    return user != NULL;
}

bool members_find_group(const char *name, gid_t *gid)
{
    const struct group *group = getgrnam(name);
    *gid = group ? group->gr_gid : 0;
    return group != NULL;
}

/* Read the names into numbers of this machine. */
static int read_names(const struct section *section, const struct value *list, const char *field,
                      const char *expected, bool (*find)(const char *name, id_t *id), id_t **ids,
                      size_t *count)
{
    if (list->kind != VALUE_LIST || list->list.count == 0 || list->list.count > MOST_NAMES)
        return section_expected(section, list, field, "a list of at least one name, such as [ann]");
    *ids = arena_allocate(section->arena, list->list.count * sizeof(**ids));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        if (!section_is_plain(item) || strlen(item->string.data) != item->string.length ||
            !find(item->string.data, &(*ids)[i]))
            return section_expected(section, item, field, expected);
    }
    *count = list->list.count;
    return 0;
}

int members_read_users(const struct section *section, const struct value *list,
                       struct members *members)
{
    return read_names(section, list, "users",
                      "a user that this machine knows; for everybody leave out users and groups",
                      members_find_user, &members->users, &members->user_count);
}

int members_read_groups(const struct section *section, const struct value *list,
                        struct members *members)
{
    return read_names(section, list, "groups",
                      "a group that this machine knows; for everybody leave out users and groups",
                      members_find_group, &members->groups, &members->group_count);
}

bool members_are_named(const struct members *members)
{
    return members->user_count || members->group_count;
}

bool members_have(const struct members *members, uid_t uid, gid_t gid)
{
    bool found = !members_are_named(members);
    for (size_t i = 0; i < members->user_count; i++)
        found = found || members->users[i] == uid;
    for (size_t i = 0; i < members->group_count; i++)
        found = found || members->groups[i] == gid;
    return found;
}
