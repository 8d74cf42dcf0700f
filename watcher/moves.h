/* watcher/moves.h - the names that leave a few directories, or that come into them
 *
 * inotify tells of each name that was moved or removed, or moved or made, by whichever process of this machine.  A
 * name is told afterwards, perhaps repeatedly, and without the directory.  Nothing wakes the consumer, who asks when
 * it has something else to do, too.
 *
 * Known weakness: as that of watcher/mount.h.
 */
#ifndef WATCHER_MOVES_H
#define WATCHER_MOVES_H

#include <stddef.h>

#include "base/text.h"

struct moves;

enum moves_way { MOVES_OUT, MOVES_IN };

/* The descriptors of the directories may be closed afterwards.  NULL where a name could move untold: other machines
 * may write to the file system, or inotify is not available. */
struct moves *moves_open(enum moves_way way, const int *directories, size_t count);
void moves_close(struct moves *moves); /* NULL is fine */

/* Hand out the names that have moved since the last call.  False when some were lost: then any name may have moved. */
typedef void moves_visit(void *context, struct text name);
bool moves_collect(struct moves *moves, moves_visit *visit, void *context);

#endif
