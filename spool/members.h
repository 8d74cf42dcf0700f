/* spool/members.h - for whom something of dlspool.yaml is: `users` and `groups` beside it */
#ifndef SPOOL_MEMBERS_H
#define SPOOL_MEMBERS_H

#include <sys/types.h>

#include "base/section.h"

/* Neither users nor groups: it is for everybody. */
struct members {
    uid_t *users;
    gid_t *groups; /* the primary ones */
    size_t user_count, group_count;
};

/* Find the user, or group, of this machine.  False when there is none. */
bool members_find_user(const char *name, uid_t *uid);
bool members_find_group(const char *name, gid_t *gid);

/* Read a list of the names of users, or of groups, of this machine.  -1 and a sentence. */
int members_read_users(const struct section *section, const struct value *list,
                       struct members *members);
int members_read_groups(const struct section *section, const struct value *list,
                        struct members *members);

/* Is it named whose it is? */
bool members_are_named(const struct members *members);
bool members_have(const struct members *members, uid_t uid, gid_t gid);

#endif
