/* watcher/settle.h - is a dropped file complete?
 *
 * A pure judgement over what looks at the file have found: no clock, no file is touched here, so
 * every rule can be tested by itself.  watcher/probe.h makes the looks, watcher/arrivals.h
 * remembers and repeats them.
 *
 * In this order:
 *
 *  1. Names that begin with `.` or end in `~ .tmp .part .swp .filepart` are somebody's work in
 *     progress and are ignored, for ever (settle_ignores()).
 *  2. What is not a regular file, or is larger than a job file may be, will not become better:
 *     it is ready, and whoever takes it refuses it with the reason (watcher/drop.h).
 *     What everybody may write to is refused at once, also where it is empty or somebody holds it open: it
 *     may wait there for somebody else to copy their job file into it.
 *  3. A file that was renamed into place is ready.  One that has several links was linked into
 *     place; it is ready as soon as the other link is gone, which is to be soon, as publishing by
 *     link and unlink does; after `link_patience` it is ready as it is, and will be refused.
 *  4. While somebody has it open for writing (watcher/writers.h) it waits, however long: the writer
 *     holds it open until it is written or the writer is dead.
 *  5. Content that says that it is all there, or that it is no text (watcher/content.h), is ready.
 *  6. Otherwise it must have been quiet, that is, of the same inode, size and mtime, and not
 *     closed by a writer:
 *       - `closed_quiet` where it is known that nobody has it open for writing: this is how a
 *         `cp` ends.  Its last line need not be whole: many editors do not end it, and whoever
 *         reads the file finds out whether it can be used as it is;
 *         but not when a writer was seen to hold it open for as long: who takes so long over a job
 *         file and leaves it in the middle of a line was killed;
 *       - `quiet` where that cannot be known, where the file was seen to grow after it had
 *         already been closed once (a script that appends line by line), and where a JSON value
 *         does not close;
 *       - `doubtful_quiet` where writers cannot be known of, and there is reason to doubt that
 *         this is all: it was seen to grow, or its last line is in the midst of what may go on, and its
 *         mtime is not older than its ctime by as much, as that of what was moved here is;
 *       - `cut_patience` where writers cannot be known of, or one was seen for so long, and the
 *         content is cut off in the middle of a line or of a JSON value; then it is refused;
 *       - where it is empty, `quiet` if it is known that nobody has it open, and otherwise
 *         `empty_patience`, and then it is refused.
 *
 * A file seen for the first time which is known to have no writer is credited with the time since
 * its last change (its ctime, which users cannot set): a backlog found at the start waits for
 * nobody.
 *
 * Known weaknesses, when a file is not renamed into place, does not end in `...`, is not JSON:
 *   - a writer that opens and closes it for each piece, ends each piece with a newline, and rests
 *     longer than `closed_quiet` after the first or `quiet` after a later one, loses the race;
 *   - one that was killed just after a newline leaves a file that looks complete;
 *   - one that was killed in the middle of a line within `closed_quiet`, or while nobody looked,
 *     leaves one that may still parse;
 *   - where writers cannot be known of (NFS, or files of other users without CAP_LEASE), so does
 *     one that holds it open but rests longer than `quiet` before it was ever seen to grow, at
 *     the end of a field, or longer than `doubtful_quiet`.  An NFS client shows what was
 *     written after 30 to 35 s at the latest, when memory is short or at fsync sooner; so
 *     `doubtful_quiet` is longer on NFS.
 * Renaming into place (`dlspool submit`, mv, rsync) has none of them.
 */
#ifndef WATCHER_SETTLE_H
#define WATCHER_SETTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "watcher/content.h"
#include "watcher/writers.h"

enum settle {
    SETTLE_READY,  /* take it; taking may still refuse it for what it is */
    SETTLE_WAIT,   /* look again */
    SETTLE_REFUSE, /* take it away and refuse it for the reason given */
};

struct settle_settings { /* milliseconds */
    int64_t quiet;
    int64_t closed_quiet;
    int64_t doubtful_quiet;
    int64_t link_patience;
    int64_t cut_patience;
    int64_t empty_patience;
};

extern const struct settle_settings settle_local;  /* 2 s, 0.5 s, 2 s, 1 s, 60 s, 60 s */
extern const struct settle_settings settle_remote; /* 5 s, and 40 s with doubt */

struct settle_look { /* what one look at a file found */
    struct stat status;
    unsigned int flags; /* WATCH_ flags that came since the look before */
    enum writers writers;
    enum content content;
    int64_t age;         /* since its last change by its ctime; 0: cannot be told */
    bool first_and_last; /* nothing will be remembered: believe the age */
};

/* What is remembered of a file from one look to the next.  Zero it before the first. */
struct settle_memory {
    bool known, linked, closed, reopened, grew, held;
    bool cut;             /* what is ready does not end with a whole line */
    const char *complete; /* what is ready: by what it is known to be complete, a
                                         * word for the job's log; NULL: it is none */
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime;
    int64_t first; /* when it was seen first */
    int64_t since; /* since when it has been quiet */
    int64_t linked_since;
    int64_t held_since; /* when a writer was seen first; 0: none has it open */
};

bool settle_ignores(struct text name);
/* The name without what makes it one of work in progress; empty when nothing else is left. */
struct text settle_plain_name(struct text name);

/* Judge.  `now` is clock_elapsed() time, as is *again, which is set with SETTLE_WAIT: the time by
 * which to look again if no event comes before.  `why` gets a sentence without the file's name in
 * front with SETTLE_REFUSE, and with SETTLE_WAIT one that says what it is waiting for. */
enum settle settle_judge(const struct settle_settings *settings, struct settle_memory *memory,
                         const struct settle_look *look, int64_t now, int64_t *again,
                         struct error *why);

#endif
