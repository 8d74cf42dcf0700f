/* watcher/watch.h - the names in one directory that need a look
 *
 * inotify says when to look, a scan says what exists; both are always used.  A name is delivered
 *   - soon after it was moved or linked into the directory, made there, closed after writing, or
 *     had its times or mode changed (touching a job's directory is how one stage notifies
 *     another), as far as inotify reports it: what other machines do on NFS it does not report;
 *   - at every scan for as long as it exists, whatever inotify said.
 * So nothing in the directory stays unseen for longer than a scan's interval.  A consumer must
 * expect the same name repeatedly, and names that no longer exist when it looks.
 *
 * A name that waits to be handed out is stored once, with the flags of all its events.  At most
 * `names` names wait.  When the table is full, the scan stops and continues from the same place
 * when the waiting names have been handed out.  When inotify's own queue overflows (16,384 events
 * by default), one whole scan follows.  A scan begins only when all names of the previous one have
 * been handed out and a rest as long as that scan, up to ten seconds, has passed: neither a flood
 * nor a slow consumer makes it scan in a loop.
 * Where inotify tells everything, a scan is only an insurance: with `longest`, it and the looks of the consumer at what
 * it found take at most a hundredth of the time, so that a large directory is scanned the less often.
 * What a scan finds after events were lost, or without inotify, may have changed untold: it has WATCH_CHANGED, too.
 *
 * Names that begin with a dot are never delivered.
 *
 * The watch holds its own descriptors: the directory itself (it follows the directory, not the
 * path), inotify's, and one while a scan is running.  Each scan opens the directory again, which
 * makes new names on NFS visible at once.  The directory need not be writable.
 *
 * The inotify watch is set through /proc/self/fd.  When that fails (no instances or watches left,
 * no /proc), the watch logs one warning, scans more often and tries again every minute; so the
 * descriptor can change: call watch_descriptor() before each poll(2).
 *
 * Known weaknesses: a file system mounted over the directory later is not seen.  Memory-mapped
 * writes and changes of the link count make no event; a caller that waits for those must look again
 * by itself.
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
    int64_t remote_interval; /* of a remote one, or one without inotify; 2000 */
    /* Of a local directory which only our own processes change, each time with an event: the most milliseconds between
     * scans, however long they take; none: the interval. */
    int64_t longest;
    size_t names; /* how many names may wait; 16384 */
};

struct watch;

struct watch_name {
    char name[NAME_MAX + 1]; /* raw bytes and a NUL */
    size_t length;
    unsigned int flags;
};

/* Watch a directory.  The descriptor may be closed afterwards; the settings may be NULL; `path`
 * names the directory in sentences and is copied.  The first watch_collect() scans.  NULL and a
 * sentence when it is not a readable directory. */
struct watch *watch_open(int directory, const char *path, const struct watch_settings *settings,
                         struct error *error);
void watch_close(struct watch *watch); /* NULL is fine */

/* The descriptor for poll(2) with POLLIN; -1 while inotify is not available. */
int watch_descriptor(const struct watch *watch);

/* The clock_elapsed() time by which watch_collect() should be called although the descriptor is
 * quiet; 0 when names wait or a scan is under way. */
int64_t watch_due(const struct watch *watch);

/* Collect new names: read inotify's queue, and scan if a scan is due.  Blocks only to read the
 * directory.  Does nothing while names wait and the table is full or a scan is due.  -1 and a
 * sentence when the directory cannot be read now (call again when due), or was removed (noticed by
 * the next scan), renamed or unmounted.  In the latter cases watch_lost() is true: hand out the
 * waiting names, close, and open again when the directory is back. */
int watch_collect(struct watch *watch, struct error *error);
bool watch_lost(const struct watch *watch);

/* Take the oldest waiting name.  False when there is none. */
bool watch_next(struct watch *watch, struct watch_name *name);

/* Does inotify tell of every change that makes an event, so that a scan is only an insurance? */
bool watch_hears_all(const struct watch *watch);

/* How many whole scans there were. */
uint64_t watch_scans(const struct watch *watch);

/* Scan as soon as the rest after the last scan allows, without waiting for the interval. */
void watch_rescan(struct watch *watch);

/* Something in the directory has to be looked at again, of which no event will tell: scan when the interval is over,
 * however long the last scan took. */
void watch_expect(struct watch *watch);

#endif
