/* watcher/mount.h - is this file system known to live on this machine alone?
 *
 * On a local file system inotify reports every change, leases show every writer, and timestamps
 * come from our own clock.  On NFS, SMB, FUSE, 9p, Ceph, Lustre and the like other machines may
 * write unseen, so a file system that is not in the list of local ones counts as remote: that costs
 * some waiting and scanning, never a job.
 *
 * Known weakness: a local file system that this machine itself exports is local here, although
 * its clients write through the server in ways that inotify and leases show only in part.
 */
#ifndef WATCHER_MOUNT_H
#define WATCHER_MOUNT_H

#include <stdbool.h>

bool mount_is_local(int file); /* any open descriptor; false when unknown */

#endif
