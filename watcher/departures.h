/* watcher/departures.h - the names that leave a few directories
 *
 * inotify tells of each name that was moved out of one of the directories, or removed there, by whichever process of
 * this machine.  A name is told after it has left, perhaps repeatedly, and without the directory.  Nothing wakes the
 * consumer, who asks when it has something else to do, too.
 *
 * Known weakness: as that of watcher/mount.h.
 */
#ifndef WATCHER_DEPARTURES_H
#define WATCHER_DEPARTURES_H

#include <stddef.h>

#include "base/text.h"

struct departures;

/* The descriptors of the directories may be closed afterwards.  NULL where a name could leave untold: other machines
 * may write to the file system, or inotify is not available. */
struct departures *departures_open(const int *directories, size_t count);
void departures_close(struct departures *departures); /* NULL is fine */

/* Hand out the names that have left since the last call.  False when some were lost: then any name may have left. */
typedef void departures_visit(void *context, struct text name);
bool departures_collect(struct departures *departures, departures_visit *visit, void *context);

#endif
