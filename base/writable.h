/* base/writable.h - who may write to a file besides its owner
 *
 * A file speaks for its owner only if nobody else could have written it.  The mode answers that,
 * except where the group may write: the file may then have an access control list (acl(5)), and the
 * mode's group bits are only the list's mask.  An entry for another user or group counts if it
 * grants writing.
 */
#ifndef BASE_WRITABLE_H
#define BASE_WRITABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/text.h"

/* The sentence about a file that everybody may write to; it follows the file's name. */
#define WRITABLE_BY_EVERYBODY                                                                      \
    "may be written to by everybody, who could have put anything into it; chmod go-w it and drop " \
    "it again, or use `dlspool submit`"

enum { WRITABLE_GROUPS = 8 };

struct writable {
    bool others; /* everybody, a user in the list, or more than WRITABLE_GROUPS groups */
    size_t group_count;
    gid_t groups[WRITABLE_GROUPS];
};

/* Examine an open file with this status.  -1 with errno when its list cannot be read. */
int writable_look(int file, const struct stat *status, struct writable *writable);

/* Add the entries of a list in the kernel's format of system.posix_acl_access
 * (linux/posix_acl_xattr.h: version 2, then tag, permissions and number of each entry,
 * little-endian).  A malformed list counts as writable by others. */
void writable_read_list(struct text list, const struct stat *status, struct writable *writable);

#endif
