/* watcher/arrivals.h - the files in the drop directory that are complete
 *
 * Combines watcher/watch.h (which names need a look), watcher/probe.h (one look) and
 * watcher/settle.h (what the looks mean), and remembers the files that are not complete yet.
 * Intake asks for one arrival after another, claims it and reads it (watcher/drop.h).
 *
 * A file is handed out once; if it is then left where it is, the next scan hands it out again.  A
 * file that was renamed into place is handed out without being opened.  Each arrival says how the
 * file was known to be complete.  A waiting file is looked at when it has an event and when its
 * next look is due.  Every file is handed out in the end, to be taken or refused, except names of
 * work in progress and files that a program holds open for writing; the log mentions such a file
 * once after a minute.
 *
 * Owners take turns (watcher/turns.h): however many files one user drops, every second look goes to
 * a file of the other.  New names, from inotify or a scan, are sorted by owner before any file is
 * looked at, one time slice per arrivals_collect(); so call that between batches.
 *
 * At most `pending` waiting files are remembered.  When there are more, the owner with the most
 * makes room; another scan, which begins when half of the table is free, finds the rest.  When all
 * of an owner's entries in a full table are incomplete files, the owner's other files are judged at
 * each scan by their ctime alone, so that many half-written files do not delay a complete one.  On
 * a remote file system, whose clock differs from ours, they wait for room in the table.
 *
 * Known weaknesses: a file renamed into place by an owner who has `pending` files waiting is judged
 * as if it had been copied; so is a file whose event inotify lost.  With 1,000,000 files of one
 * user, scans that refill the table take about a third of the time.
 */
#ifndef WATCHER_ARRIVALS_H
#define WATCHER_ARRIVALS_H

#include "watcher/settle.h"
#include "watcher/watch.h"

struct arrivals_settings { /* 0 and NULL stand for the defaults */
    struct watch_settings watch;
    const struct settle_settings *settle; /* settle_local or settle_remote, by the file system */
    /* Was a file of this name renamed into place?  Asked where events do not show it (NFS); true
     * for names that only a program of ours makes, and only by renaming.  NULL: no such names. */
    bool (*published)(struct text name);
    size_t pending; /* files remembered; 32768 */
    int64_t notice; /* milliseconds of waiting until the log says so; 60000 */
};

struct arrivals;

struct arrival {
    char name[NAME_MAX + 1]; /* raw bytes and a NUL */
    size_t length;
    uid_t owner;          /* (uid_t)-1: not known */
    bool cut;             /* its last line is incomplete */
    const char *complete; /* how it is known to be complete: `rename`, `link`,
                                         * `end-mark`, `no-writer` or `quiet`; NULL: not */
    bool refuse;          /* remove it, and refuse it for the reason in `why` */
    struct error why;     /* "it is empty, and nobody ..."; set when `refuse` is */
};

/* Watch a drop directory; descriptor and path as watch_open().  The settings, including those of
 * settle, are copied.  NULL and a sentence on failure. */
struct arrivals *arrivals_open(int directory, const char *path,
                               const struct arrivals_settings *settings, struct error *error);
void arrivals_close(struct arrivals *arrivals); /* NULL is fine */

int arrivals_descriptor(const struct arrivals *arrivals); /* as watch_descriptor() */
int64_t arrivals_due(const struct arrivals *arrivals);    /* as watch_due() */

/* As watch_collect(); also sorts new names by owner.  Stops after about 50 ms; arrivals_due() is
 * then 0. */
int arrivals_collect(struct arrivals *arrivals, struct error *error);
bool arrivals_lost(const struct arrivals *arrivals); /* as watch_lost() */

/* The next file that is ready or must be refused.  False when there is none now, or after 256 looks
 * at incomplete files; arrivals_due() says when to call again. */
bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival);

/* Hand out no file of this owner before `until` (clock_elapsed()). */
void arrivals_rest(struct arrivals *arrivals, uid_t owner, int64_t until);

size_t arrivals_pending(const struct arrivals *arrivals); /* how many files wait */

#endif
