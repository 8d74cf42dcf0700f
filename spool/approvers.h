/* spool/approvers.h - `approvers` of dlspool.yaml: who may approve what a site gives only by approval */
#ifndef SPOOL_APPROVERS_H
#define SPOOL_APPROVERS_H

#include <sys/types.h>

#include "base/section.h"

struct approver {
    uid_t uid;
    struct text name; /* as it stands there */
};

struct approvers {
    struct approver *users;
    size_t count;
};

/* Read a list of users.  -1 and a sentence. */
int approvers_read(const struct section *section, const struct value *list,
                   struct approvers *approvers);
bool approvers_have(const struct approvers *approvers, uid_t uid);

#endif
