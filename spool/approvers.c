/* spool/approvers.c - `approvers` of dlspool.yaml */
#include "spool/approvers.h"

#include <math.h>
#include <pwd.h>

int approvers_read(const struct section *section, const struct value *list,
                   struct approvers *approvers)
{
    *approvers = (struct approvers){.count = 0};
    if (list->kind != VALUE_LIST)
        return section_expected(section, list, "approvers", "a list of user names");
    approvers->users =
        arena_allocate(section->arena, (list->list.count + 1) * sizeof(*approvers->users));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct approver *approver = &approvers->users[approvers->count++];
        const struct passwd *user = section_is_plain(item) ? getpwnam(item->string.data) : NULL;
        bool number = item->kind == VALUE_NUMBER && item->number >= 0 && item->number < (uid_t)-1 &&
                      item->number == floor(item->number);
        if (!user && !number)
            return section_expected(section, item, "approvers",
                                    "the name or number of a user that this machine knows");
        approver->uid = user ? user->pw_uid : (uid_t)item->number;
        approver->name = user ? item->string : arena_printf(section->arena, "%u", approver->uid);
    }
    return 0;
}

bool approvers_have(const struct approvers *approvers, uid_t uid)
{
    for (size_t i = 0; i < approvers->count; i++)
        if (approvers->users[i].uid == uid)
            return true;
    return false;
}
