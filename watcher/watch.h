/* watcher/watch.h - the names in one directory that need a look
 *
 * inotify says when to look, a scan says what is there; both are always on.  A name is delivered
 *   - soon after it was moved or linked into the directory, made there, closed after writing, or
 *     had its times or mode changed (touching a job's directory is how one stage notifies
 *     another), as far as inotify reports it: what other machines do on NFS it does not report;
 *   - at every scan for as long as it is there, whatever inotify said.
 * So nothing in the directory stays unseen for longer than a scan's interval, and a consumer must
 * expect any name again and again, and names that are gone by the time it looks.
 *
 * A name that waits to be handed out is there once, with all that was seen of it.  At most
 * `names` of them wait.  What does not fit is left where it is: the scan stops and goes on from
 * the same place when those that wait have been handed out, and when inotify's own queue runs
 * over (16,384 events by default) one whole scan follows.  One scan begins when all names of the
 * one before have been handed out, and rests as long as that one took, up to ten seconds: neither
 * a flood nor a slow consumer makes it scan in a loop.
 *
 * Names that begin with a dot are never delivered.
 *
 * The watch holds its own descriptors: the directory itself (it follows the directory, not the
 * path), inotify's, and one while a scan is under way.  Each scan opens the directory afresh,
 * which is what shows new names on NFS at once.  The directory need not be writable.
 *
 * inotify is asked for through /proc/self/fd.  Where it cannot be had (no instances or watches
 * left, no /proc) the watch says so once through log_warn(), scans more often, and asks again
 * every minute; the descriptor can therefore change and is to be asked for before each poll(2).
 *
 * Known weaknesses: a file system mounted over the directory later is not seen.  Memory-mapped
 * writes and changes of the link count make no event; what waits for those must look again by
 * itself.
 */
#ifndef WATCHER_WATCH_H
#define WATCHER_WATCH_H

#include <limits.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum {                       /* what was seen of a name, or-ed together */
       WATCH_RENAMED_IN = 1, /* it was moved here from another name or directory */
       WATCH_CLOSED = 2,     /* somebody who had it open for writing closed it */
       WATCH_CHANGED = 4,    /* made, linked here, or its mode, owner or times changed */
       WATCH_SEEN = 8,       /* a scan found it */
};

struct watch_settings {      /* 0 stands for the default */
    int64_t interval;        /* milliseconds between scans of a local directory; 5000 */
    int64_t remote_interval; /* of one that is not, or that has no inotify; 2000 */
    size_t names;            /* how many names may wait; 16384 */
};

struct watch;

struct watch_name {
    char name[NAME_MAX + 1]; /* raw bytes and a NUL */
    size_t length;
    unsigned int flags;
};

/* Watch a directory; the descriptor may be closed afterwards, the settings may be NULL.  The
 * first watch_collect() scans.  NULL and a sentence when it is not a directory that can be read;
 * `path` is what sentences call it, and is copied. */
struct watch *watch_open(int directory, const char *path, const struct watch_settings *settings,
                         struct error *error);
void watch_close(struct watch *watch); /* NULL is fine */

/* For poll(2) with POLLIN; -1 while there is only scanning. */
int watch_descriptor(const struct watch *watch);

/* The clock_elapsed() time by which watch_collect() should be called although the descriptor is
 * quiet; 0 when names wait or a scan is under way. */
int64_t watch_due(const struct watch *watch);

/* Learn what is new: read inotify's queue, and scan if it is time.  Never blocks but for reading
 * the directory.  Does nothing while names wait and more would not fit or are to be scanned.
 * -1 and a sentence when the directory cannot be read just now (call again when due), or was
 * removed (noticed by the next scan), renamed or unmounted: watch_lost() is then true; hand out
 * what waits, close, and open again when there is something to open. */
int watch_collect(struct watch *watch, struct error *error);
bool watch_lost(const struct watch *watch);

/* Take the oldest name that waits.  False when there is none. */
bool watch_next(struct watch *watch, struct watch_name *name);

/* Scan as soon as may be, without waiting for the interval. */
void watch_rescan(struct watch *watch);

#endif
