/* watcher/arrivals.h - the files in the drop directory that are complete
 *
 * Puts watcher/watch.h (which names need a look), watcher/probe.h (one look) and watcher/settle.h
 * (what the looks mean) together, and remembers the files that are not complete yet.  Intake
 * asks for one arrival after the other, claims it and reads it (watcher/drop.h).
 *
 * A file is handed out once; if it is then left where it is, the next scan hands it out again.
 * What was renamed into place is handed out without being looked at.  What waits is looked at
 * when an event says so and when its time has come.  Every file is handed out in the end, to be
 * taken or to be refused, but for names that are somebody's work in progress, and files that a
 * program holds open for writing, of which the log says so once after a minute.
 *
 * At most `pending` waiting files are remembered; those beyond are judged at each scan by their
 * ctime alone, so that nobody can keep others' files waiting by leaving many of his own half
 * written.  On a remote file system, whose clock is not ours, they wait for room in the table.
 */
#ifndef WATCHER_ARRIVALS_H
#define WATCHER_ARRIVALS_H

#include "watcher/settle.h"
#include "watcher/watch.h"

struct arrivals_settings {              /* 0 and NULL stand for the defaults */
    struct watch_settings watch;
    const struct settle_settings *settle;       /* settle_local or settle_remote, as it is */
    size_t pending;                     /* files remembered; 16384 */
    int64_t notice;                     /* milliseconds of waiting until the log says so; 60000 */
};

struct arrivals;

struct arrival {
    char name[NAME_MAX + 1];            /* raw bytes and a NUL */
    size_t length;
    bool refuse;                        /* take it away, and refuse it for the reason in `why` */
    struct error why;                   /* "it is empty, and nobody ..."; set when `refuse` is */
};

/* Watch a drop directory; descriptor and path as watch_open().  The settings are copied, those of
 * settle, too.  NULL and a sentence. */
struct arrivals *arrivals_open(int directory, const char *path,
                               const struct arrivals_settings *settings, struct error *error);
void arrivals_close(struct arrivals *arrivals); /* NULL is fine */

int arrivals_descriptor(const struct arrivals *arrivals);       /* as watch_descriptor() */
int64_t arrivals_due(const struct arrivals *arrivals);          /* as watch_due() */
int arrivals_collect(struct arrivals *arrivals, struct error *error);   /* as watch_collect() */
bool arrivals_lost(const struct arrivals *arrivals);            /* as watch_lost() */
void arrivals_rescan(struct arrivals *arrivals);                /* as watch_rescan() */

/* The next file that is ready or to be refused.  False when there is none just now. */
bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival);

size_t arrivals_pending(const struct arrivals *arrivals);       /* how many files wait */

#endif
