/* watcher/probe.h - one look at a file that still lies in the drop directory
 *
 * A look is only evidence for watcher/settle.h: the user can still swap the file.  It is opened as
 * in watcher/drop.h: no link is followed and the open never blocks; it is read only when it is a
 * regular file without writers.
 */
#ifndef WATCHER_PROBE_H
#define WATCHER_PROBE_H

#include "watcher/settle.h"

/* Look.  `local` says whether the directory's file system is local (mount_is_local()); `bytes` is a
 * buffer for the content, which the caller reuses for the next look.  Fills all of *look but
 * `flags` and `first_and_last`.  0, or -1 with errno set: ENOENT when it is gone. */
int probe_file(int directory, const char *name, bool local, struct buffer *bytes,
               struct settle_look *look);

#endif
