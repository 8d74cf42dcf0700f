/* watcher/settle.h - is a dropped file complete?
 *
 * A pure function of what looks at the file have found: it reads no clock and no file, so every
 * rule can be tested by itself.  watcher/probe.h makes the looks, watcher/arrivals.h remembers and
 * repeats them.
 *
 * In this order:
 *
 *  1. Names that begin with `.` or end in `~ .tmp .part .swp .filepart` are work in progress and
 *     are always ignored (settle_ignores()).
 *  2. A file that is not regular, or is larger than a job file may be, is ready at once, because
 *     waiting cannot help; whoever takes it refuses it with the reason (watcher/drop.h).  A file
 *     that everybody may write to is refused at once, even if it is empty or held open: it may be a
 *     trap into which another user copies a job file.
 *  3. A file that was renamed into place is ready.  One that has several links was linked into
 *     place; it is ready when the other link is gone, which is soon when it was published by link
 *     and unlink; after `link_patience` it is ready as it is, and will be refused.
 *  4. While somebody has it open for writing (watcher/writers.h) it waits, without limit: the
 *     writer holds it open until it has finished or died.
 *  5. Content that says that it is complete, or that is not text (watcher/content.h), is ready.
 *  6. Where writers cannot be detected and `only_complete` is set, nothing else is taken: it is
 *     refused after `cut_patience`.  What could not be read is left to its reader to refuse.
 *  7. Otherwise it must have been quiet (same inode, size and mtime, not closed by a writer) for:
 *       - `closed_quiet` where it is known that nobody has it open for writing, as after `cp`.  Its
 *         last line may be incomplete: many editors do not end it, and the file's reader decides
 *         whether it is usable.  Not so when a writer was seen to hold it open for that long: a
 *         writer that takes so long and stops in the middle of a line was killed;
 *       - `quiet` where writers cannot be detected, where the file was seen to grow after it had
 *         been closed once (a script that appends line by line), and where a JSON value does not
 *         close;
 *       - `doubtful_quiet` where writers cannot be detected and the content may be incomplete: the
 *         file was seen to grow, or further lines could continue its last one, and its mtime is not
 *         older than its ctime by that much (as it is when an old file was moved here);
 *       - `cut_patience` where writers cannot be detected, or one held the file open for
 *         `closed_quiet`, and the content is cut off in the middle of a line or of a JSON value;
 *         then it is refused;
 *       - `quiet` if it is empty and nobody has it open, or `empty_patience` if it is empty and
 *         that is not known; then it is refused.
 *
 * A file without a writer counts at its first look as quiet since its last change (its ctime, which
 * users cannot set), so a backlog found at the start does not wait.
 *
 * Known weaknesses, when a file is not renamed into place, does not end in `...` and is not JSON:
 *   - a writer that opens and closes it for each piece, ends each piece with a newline, and rests
 *     longer than `closed_quiet` after the first or `quiet` after a later one, loses the race;
 *   - a writer that is killed just after a newline leaves a file that looks complete;
 *   - a writer that is killed in the middle of a line within `closed_quiet`, or between looks,
 *     leaves a file that may still parse;
 *   - where writers cannot be detected (NFS, or files of other users without CAP_LEASE), the same
 *     goes for a writer that holds the file open but pauses at the end of a field longer than
 *     `quiet` before the file was ever seen to grow, or longer than `doubtful_quiet`.  An NFS
 *     client sends its writes after 30 to 35 s at the latest, sooner at fsync or when memory is
 *     short; so `doubtful_quiet` is longer on NFS.
 * Renaming into place (`dlspool submit`, mv, rsync) has none of these weaknesses.  `only_complete`
 * closes the last one.
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
    SETTLE_READY,  /* take it; drop_read() may still refuse it */
    SETTLE_WAIT,   /* look again */
    SETTLE_REFUSE, /* remove it, and refuse it for the reason given */
};

struct settle_settings { /* milliseconds */
    int64_t quiet;
    int64_t closed_quiet;
    int64_t doubtful_quiet;
    int64_t link_patience;
    int64_t cut_patience;
    int64_t empty_patience;
    bool only_complete; /* quiet is not enough where writers cannot be detected */
};

extern const struct settle_settings settle_local;  /* 2 s, 0.5 s, 2 s, 1 s, 60 s, 60 s */
extern const struct settle_settings settle_remote; /* quiet 5 s, doubtful_quiet 40 s */

struct settle_look { /* what one look at a file found */
    struct stat status;
    unsigned int flags; /* WATCH_ flags since the previous look */
    enum writers writers;
    enum content content;
    int64_t age;         /* since its last change by its ctime; 0: unknown */
    bool first_and_last; /* no later look will follow: believe the age */
};

/* What is remembered of a file from one look to the next.  Zero it before the first. */
struct settle_memory {
    bool known, linked, closed, reopened, grew, held;
    bool cut;             /* SETTLE_READY: its last line is incomplete */
    const char *complete; /* SETTLE_READY: how it is known to be complete, a
                                         * word for the job's log; NULL: it is not */
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
/* The name without the dot or suffix that marks work in progress; empty when nothing is left. */
struct text settle_plain_name(struct text name);

/* Judge.  `now` is clock_elapsed() time, as is *again.  SETTLE_WAIT sets *again to the time of the
 * next look if no event comes first, and `why` to what the file is waiting for; SETTLE_REFUSE sets
 * `why` to the reason.  Neither sentence names the file. */
enum settle settle_judge(const struct settle_settings *settings, struct settle_memory *memory,
                         const struct settle_look *look, int64_t now, int64_t *again,
                         struct error *why);

#endif
