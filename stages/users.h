/* stages/users.h - looks up users by their numbers
 *
 * Looking up a user may need the network (LDAP through sssd), which a confined stage cannot reach.
 * So users_start() starts a process that does nothing else: it receives user numbers over a socket
 * and answers with name, primary group and home.  Answers are cached.  Without such a process
 * (tests, commands) users_find() looks users up itself.
 */
#ifndef STAGES_USERS_H
#define STAGES_USERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { USER_NAME_SIZE = 64, USER_HOME_SIZE = 1024 };

struct user {
    uid_t uid;
    bool known; /* the system knows the user; else `name` is the number */
    gid_t gid;  /* primary group; the group of nobody when the user is unknown */
    char name[USER_NAME_SIZE];
    char home[USER_HOME_SIZE]; /* the directory that can be a task's HOME; empty: none, as root's */
};

/* Start the process; it ends with this one.  Call this before the stage is confined. */
int users_start(struct error *error);

/* Never fails: the name of an unknown user is the number. */
void users_find(uid_t uid, struct user *user);

#endif
