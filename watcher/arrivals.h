/* watcher/arrivals.h - the files in the drop directory that are complete
 *
 * Puts watcher/watch.h (which names need a look), watcher/probe.h (one look) and watcher/settle.h
 * (what the looks mean) together, and remembers the files that are not complete yet.  Intake
 * asks for one arrival after the other, claims it and reads it (watcher/drop.h).
 *
 * A file is handed out once; if it is then left where it is, the next scan hands it out again.
 * What was renamed into place is handed out without being opened; how that and other files were
 * known to be complete is told with each.  What waits is looked at
 * when an event says so and when its time has come.  Every file is handed out in the end, to be
 * taken or to be refused, but for names that are somebody's work in progress, and files that a
 * program holds open for writing, of which the log says so once after a minute.
 *
 * Owners take turns (watcher/turns.h): however many files one user drops, those of another are
 * looked at and handed out every second time.  What is new, by inotify or by a scan, is sorted
 * by owner before anything else is looked at, a time slice at each arrivals_collect(), which is
 * therefore to be called between batches.
 *
 * At most `pending` waiting files are remembered.  When there are more, whoever has most there
 * makes room; what does not fit is found by another scan, which begins when half of the table is
 * free.  When all of an owner's files in a full table only wait, others of theirs are judged at each
 * scan by their ctime alone, so that a file is not kept waiting by many that are half written.  On
 * a remote file system, whose clock is not ours, they wait for room in the table.
 *
 * Known weaknesses: what was renamed into place by somebody with `pending` files waiting, is
 * judged as if it had been copied, as is what inotify lost.  With 1,000,000 files of one user the
 * scans that fill the table again take about a third of the time.
 */
#ifndef WATCHER_ARRIVALS_H
#define WATCHER_ARRIVALS_H

#include "watcher/settle.h"
#include "watcher/watch.h"

struct arrivals_settings { /* 0 and NULL stand for the defaults */
    struct watch_settings watch;
    const struct settle_settings *settle; /* settle_local or settle_remote, as it is */
    /* Whether a file of this name was renamed into place, where that is not seen otherwise (NFS):
     * names that a program of ours makes, and uses for nothing else.  NULL: there are none. */
    bool (*published)(struct text name);
    size_t pending; /* files remembered; 32768 */
    int64_t notice; /* milliseconds of waiting until the log says so; 60000 */
};

struct arrivals;

struct arrival {
    char name[NAME_MAX + 1]; /* raw bytes and a NUL */
    size_t length;
    uid_t owner;          /* (uid_t)-1: not learned */
    bool cut;             /* it does not end with a whole line */
    const char *complete; /* how it is known to be complete: `rename`, `link`,
                                         * `end-mark`, `no-writer` or `quiet`; NULL: not */
    bool refuse;          /* take it away, and refuse it for the reason in `why` */
    struct error why;     /* "it is empty, and nobody ..."; set when `refuse` is */
};

/* Watch a drop directory; descriptor and path as watch_open().  The settings are copied, those of
 * settle, too.  NULL and a sentence. */
struct arrivals *arrivals_open(int directory, const char *path,
                               const struct arrivals_settings *settings, struct error *error);
void arrivals_close(struct arrivals *arrivals); /* NULL is fine */

int arrivals_descriptor(const struct arrivals *arrivals); /* as watch_descriptor() */
int64_t arrivals_due(const struct arrivals *arrivals);    /* as watch_due() */

/* As watch_collect(), and sorts what is new by owner.  Stops after 50 ms or so; arrivals_due() is
 * then 0. */
int arrivals_collect(struct arrivals *arrivals, struct error *error);
bool arrivals_lost(const struct arrivals *arrivals); /* as watch_lost() */

/* The next file that is ready or to be refused.  False when there is none just now, or after many
 * looks at files that wait; arrivals_due() tells. */
bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival);

/* Hand out nothing of this owner's until then. */
void arrivals_rest(struct arrivals *arrivals, uid_t owner, int64_t until);

size_t arrivals_pending(const struct arrivals *arrivals); /* how many files wait */

#endif
