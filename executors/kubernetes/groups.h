/* executors/kubernetes/groups.h - the groups of users, which their pods are given
 *
 * As this machine knows them.  They are remembered for a minute, since many jobs of one user follow one
 * another.
 */
#ifndef EXECUTORS_KUBERNETES_GROUPS_H
#define EXECUTORS_KUBERNETES_GROUPS_H

#include <sys/types.h>

#include "executors/kubernetes/inside.h"

enum { GROUPS_MOST = 256 };

struct groups {
    int64_t until; /* of clock_elapsed() */
    size_t count;
    gid_t list[GROUPS_MOST]; /* beside the primary one */
};

/* The other groups of that user.  None of one whom this machine does not know; of more than GROUPS_MOST
 * only some.  Valid until the next call. */
const struct groups *groups_of(const struct kubernetes *kubernetes, uid_t uid, gid_t gid);

#endif
