/* watcher/probe.h - one look at a file that still lies in the drop directory
 *
 * What a look finds is evidence for watcher/settle.h and nothing more: whoever dropped the file
 * can still swap it.  It is opened as watcher/drop.h opens it: never through a link, never
 * waiting for anybody, and read only when it is a regular file that nobody writes to.
 */
#ifndef WATCHER_PROBE_H
#define WATCHER_PROBE_H

#include "watcher/settle.h"

/* Look.  `local` says whether the directory's file system is (mount_is_local()); `bytes` is room
 * for the content, which the caller keeps from look to look.  Fills all of *look but `flags` and
 * `first_and_last`.  0, or -1 with errno set: ENOENT when it is gone. */
int probe_file(int directory, const char *name, bool local, struct buffer *bytes,
               struct settle_look *look);

#endif
