/* executors/kubernetes/groups.c - the groups of users, which their pods are given */
#include "executors/kubernetes/groups.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/names.h"

static const int64_t remembered = 60000; /* milliseconds */

/* Ask this machine. */
static void read_groups(struct groups *groups, uid_t uid, gid_t gid)
{
    gid_t all[GROUPS_MOST + 1];
    int count = GROUPS_MOST + 1;
    const struct passwd *entry = getpwuid(uid);
    groups->count = 0;
    if (!entry)
        return;
    getgrouplist(entry->pw_name, gid, all, &count); /* of more it gives what there is room for */
    for (int i = 0; i < count && i < GROUPS_MOST + 1 && groups->count < GROUPS_MOST; i++)
        if (all[i] != gid)
            groups->list[groups->count++] = all[i];
}

const struct groups *groups_of(const struct kubernetes *kubernetes, uid_t uid, gid_t gid)
{
    char key[64];
    snprintf(key, sizeof(key), "%u:%u", (unsigned int)uid, (unsigned int)gid);
    struct groups *groups = names_find(kubernetes->groups, text_of(key));
    if (!groups && names_full(kubernetes->groups))
        names_remove(kubernetes->groups, names_first(kubernetes->groups));
    if (!groups)
        groups = names_add(kubernetes->groups, text_of(key));
    if (clock_elapsed() >= groups->until) {
        read_groups(groups, uid, gid);
        groups->until = clock_elapsed() + remembered;
    }
    return groups;
}
