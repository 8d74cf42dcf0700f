/* watcher/writable.h - who may write to a file besides its owner
 *
 * A file is its owner's word only if nobody else could have written it.  The mode says it for all but the group;
 * where the group may write, there may be an access control list (acl(5)), of which the mode shows only the mask:
 * an entry for another user or group counts as far as the mask lets it write.
 */
#ifndef WATCHER_WRITABLE_H
#define WATCHER_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/text.h"

/* What is said of a file that everybody may write to, after its name. */
#define WRITABLE_BY_EVERYBODY                                                                      \
    "may be written to by everybody, who could have put anything into it; chmod go-w it and drop " \
    "it again, or use `dlspool submit`"

enum { WRITABLE_GROUPS = 8 };

struct writable {
    bool
        others; /* everybody, a user whom the list names, or more groups than there are places for */
    size_t group_count;
    gid_t groups[WRITABLE_GROUPS];
};

/* Look at an open file with this status.  -1 with errno when its list cannot be read. */
int writable_look(int file, const struct stat *status, struct writable *writable);

/* Take the entries of a list as the kernel keeps it in system.posix_acl_access (linux/posix_acl_xattr.h: version 2,
 * then tag, permissions and number of each entry, little-endian).  What is none counts as open to others. */
void writable_read_list(struct text list, const struct stat *status, struct writable *writable);

#endif
