/* watcher/writers.c - does anybody have this file open for writing?
 *
 * An NFS client without a delegation answers EAGAIN to every request for a lease, so the kind of
 * file system is asked first.
 */
#include "watcher/writers.h"

#include <errno.h>
#include <fcntl.h>

#include "base/system.h"
#include "watcher/mount.h"

enum writers writers_hold(int file)
{
    if (!mount_is_local(file))
        return WRITERS_UNKNOWN;
    if (sys.lease(file, F_RDLCK) == 0)
        return WRITERS_NONE;
    return errno == EAGAIN ? WRITERS_SOME : WRITERS_UNKNOWN;
}

void writers_release(int file)
{
    (void)sys.lease(file, F_UNLCK);
}
