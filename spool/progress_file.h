/* spool/progress_file.h - <id>/progress: how far a running job is
 *
 * Written by the track stage while the job runs, as a whole and in place of the old one; not synced,
 * since it can be measured again.  Read by the submit stage, which plans, and by commands.  It stays
 * with the job when that has ended.  Lines of `key value`, one for each size that the job has run at
 * last; described in docs/spool.md.
 */
#ifndef SPOOL_PROGRESS_FILE_H
#define SPOOL_PROGRESS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { PROGRESS_MOST_SIZES = 24 };

/* What was measured while an attempt of the job ran at one size. */
struct progress_at_size {
    int attempt;
    int64_t size;    /* job/sizes.h; of a job of fixed size 1 */
    double rate;     /* units per second, a windowed median; 0: not known */
    double units;    /* done at this size, those done again after a checkpoint included */
    int64_t running; /* milliseconds */
    int64_t resize;  /* milliseconds that the change to this size in place has cost; -1: not
                                   known, or it began with this size */
    int64_t cpu_used, cpu_allocated; /* processor milliseconds; used: -1 when it is not known */
};

struct progress {
    int64_t time;       /* of day, when it was measured */
    int attempt;        /* of the job */
    int64_t started;    /* of day: this attempt */
    double done, total; /* units, of the whole job, not only of this attempt; total 0: not
                                   known */
    double most;        /* units: the most that were ever done, before it went back */
    int64_t unit;       /* of day: when the last unit was seen; 0: none yet in this attempt */
    int64_t size;       /* it has now */
    int64_t since;      /* of day: it runs at that size since then */
    double rate;        /* units per second now; 0: not known yet */
    double spread;      /* relative, of a unit's time: 1.4826 MAD / median; 0: not known */
    int samples;        /* pieces of time (at most a window of them) that the rate rests on */
    int64_t start_up;   /* milliseconds from the start of this attempt to its first unit; -1 */
    int64_t restart;    /* milliseconds that stopping it for another size, and starting it
                                   again, has cost, up to the first unit that is new; -1: not known */
    int64_t earlier;    /* milliseconds that it ran in what `sizes` no longer lists */
    /* In the order in which it had them, those of former attempts first.  When there are too many the
     * first goes. */
    struct progress_at_size sizes[PROGRESS_MOST_SIZES];
    int size_count;
};

/* Of the sizes, those of the attempt that it is about: the entry of its present size.  NULL: none. */
struct progress_at_size *progress_file_entry(struct progress *progress);

/* The entry of that attempt and size, made if it is not there. */
struct progress_at_size *progress_file_entry_at(struct progress *progress, int attempt,
                                                int64_t size);

/* Milliseconds that the job has run: all attempts, or only the present one. */
int64_t progress_file_running(const struct progress *progress, bool all);

/* Read it from the job directory `job`.  1: there is none; -1 and a sentence when it is damaged or
 * cannot be read. */
int progress_file_read(int job, struct progress *progress, struct error *error);
int progress_file_write(int job, const struct progress *progress, struct error *error);

/* The same from the bytes of a file, and the other way: appended. */
int progress_file_parse(struct text source, struct progress *progress, struct error *error);
void progress_file_format(const struct progress *progress, struct buffer *out);

#endif
