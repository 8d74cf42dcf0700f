/* spool/progress_file.h - <id>/progress: the progress of a running job
 *
 * The track stage replaces it as a whole while the job runs; it is not synced, since it can be
 * measured again.  The submit stage, which plans, and commands read it.  It stays with the job
 * after its end.  Lines of `key value`, one for each of the last sizes that the job has run at;
 * described in docs/spool.md.
 */
#ifndef SPOOL_PROGRESS_FILE_H
#define SPOOL_PROGRESS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { PROGRESS_MOST_SIZES = 24 };

/* Measurements of an attempt of the job at one size. */
struct progress_at_size {
    int attempt;
    int64_t size;    /* job/sizes.h; of a job of fixed size 1 */
    double rate;     /* units per second, a windowed median; 0: not known */
    double units;    /* units done at this size, including those repeated after a checkpoint */
    int64_t running; /* milliseconds */
    /* milliseconds that the change to this size in place cost; -1: unknown, or it started at
     * this size */
    int64_t resize;
    int64_t cpu_used, cpu_allocated; /* processor milliseconds; used: -1 when it is not known */
};

struct progress {
    int64_t time;       /* time of day of the measurement */
    int attempt;        /* of the job */
    int64_t started;    /* time of day: start of this attempt */
    double done, total; /* units, of the whole job, not only of this attempt; total 0: not
                                   known */
    double most;        /* units: the most that were ever done, before going back to a checkpoint */
    int64_t unit;       /* time of day when the last unit was seen; 0: none yet in this attempt */
    int64_t size;       /* it has now */
    int64_t since;      /* time of day since when it runs at that size */
    double rate;        /* units per second now; 0: not known yet */
    double spread;      /* relative, of a unit's time: 1.4826 MAD / median; 0: not known */
    int samples;        /* pieces of time (at most a window of them) that the rate is based on */
    int64_t start_up;   /* milliseconds from the start of this attempt to its first unit; -1 */
    /* milliseconds that stopping it for another size and restarting it cost, up to the first new
     * unit; -1: unknown */
    int64_t restart;
    int64_t memory; /* bytes that a task of this attempt has held at most; 0: not known */
    int64_t tasks; /* milliseconds that its tasks have run in this attempt, the sum; 0: not known */
    int64_t earlier; /* milliseconds that it ran at sizes that `sizes` no longer lists */
    /* In the order in which the job had them, those of former attempts first.  When there are too
     * many, the first is dropped. */
    struct progress_at_size sizes[PROGRESS_MOST_SIZES];
    int size_count;
};

/* The entry of the present size, among those of the present attempt.  NULL: none. */
struct progress_at_size *progress_file_entry(struct progress *progress);

/* The entry of that attempt and size, added if it is missing. */
struct progress_at_size *progress_file_entry_at(struct progress *progress, int attempt,
                                                int64_t size);

/* Milliseconds that the job has run: all attempts, or only the present one. */
int64_t progress_file_running(const struct progress *progress, bool all);

/* The progress of a job that has no such file, of whose attempt its log tells when it started and ended.  size: 1 of a
 * job of fixed size. */
void progress_file_assume(struct progress *progress, int attempt, int64_t size, int64_t started,
                          int64_t ended);

/* Read it from the job directory `job`.  1: there is none; -1 and a sentence when it is damaged or
 * cannot be read. */
int progress_file_read(int job, struct progress *progress, struct error *error);
int progress_file_write(int job, const struct progress *progress, struct error *error);

/* The same from the bytes of a file, and the other way: appended. */
int progress_file_parse(struct text source, struct progress *progress, struct error *error);
void progress_file_format(const struct progress *progress, struct buffer *out);

#endif
