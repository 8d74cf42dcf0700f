/* stages/intake/owner.c - who else may have written a dropped file */
#include "stages/intake/owner.h"

#include <stdio.h>

#include "base/system.h"
#include "stages/users.h"

static int refuse_file(const struct drop *drop, struct text shown, const struct user *user,
                       const char *who, struct error *error)
{
    struct error_quote_buffer quote;
    error_set(
        error,
        "\"%s\" may be written to by %s (its mode is %04o), so it need not be what %s wrote; chmod g-w it, or "
        "setfacl -b where there is an access control list, and drop it again, or use `dlspool submit`",
        error_quote(&quote, shown.data, shown.length), who, (unsigned int)drop->mode & 07777,
        user->name);
    return 1;
}

int owner_check(const struct spool *spool, const struct drop *drop, struct text shown,
                struct error *error)
{
    const struct writable *writable = &drop->writable;
    struct user user;
    struct stat incoming;
    char who[64];
    if (!writable->others && writable->group_count == 0)
        return 0;
    users_find(drop->uid, &user);
    if (writable->others)
        return refuse_file(drop, shown, &user, "other users", error);
    if (sys.fstat(spool->incoming, &incoming))
        return error_errno(error, "incoming/ could not be looked at");
    for (size_t i = 0; i < writable->group_count; i++) {
        gid_t group = writable->groups[i];
        if (group == incoming.st_gid || (user.known && group == user.gid))
            continue;
        snprintf(who, sizeof(who), "the members of group %u", group);
        return refuse_file(drop, shown, &user, who, error);
    }
    return 0;
}
