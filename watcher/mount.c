/* watcher/mount.c - is this file system known to live on this machine alone?
 *
 * The numbers are those of statfs(2) and of <linux/magic.h>.
 */
#include "watcher/mount.h"

#include <stddef.h>

#include "base/array.h"
#include "base/system.h"

bool mount_is_local(int file)
{
    static const unsigned int local[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x794c7630, /* overlayfs */
        0x2fc12fc1, /* zfs */
        0xf2f52010, /* f2fs */
        0xca451a4e, /* bcachefs */
        0x3153464a, /* jfs */
        0x52654973, /* reiserfs */
    };
    struct statfs status;
    if (sys.fstatfs(file, &status))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(local); i++)
        if ((unsigned int)status.f_type == local[i])
            return true;
    return false;
}
