/* spool/history.h - DIR/history/runs: what jobs took, for those that come after them
 *
 * A line for each size at which an attempt of a job has run, in the order in which attempts ended; for
 * `cat`, and bounded: the oldest lines go.  Nothing rests on it but predictions, and history_rebuild()
 * makes it again from done/.  Added to by the track stage only.  A line that is there twice, because a
 * crash came between, counts once.  The format is in docs/spool.md.
 */
#ifndef SPOOL_HISTORY_H
#define SPOOL_HISTORY_H

#include "base/arena.h"
#include "spool/progress_file.h"
#include "spool/record.h"
#include "spool/spool.h"

enum {
    HISTORY_BYTES = 8 << 20,         /* the file is not larger; a run is about 500 bytes of it */
    HISTORY_KEPT = HISTORY_BYTES / 2 /* of the newest lines, when it has become as large */
};

struct past_run {
    int64_t ended; /* time of day */
    struct text id;
    int attempt;
    struct text template_path, commit, image, owner;
    struct text arguments; /* a digest of what decides how much there is to do */
    struct text gpu_type;  /* that was asked for */
    enum size_kind kind;
    int64_t size;       /* job/sizes.h; of a job of fixed size 1 */
    int64_t cpus, gpus; /* that it had in all: thousandths of a processor; GPUs */
    bool finished;      /* the job ended well with this run, and `total` counts */
    bool whole;         /* ... and this run is all of it, so that `seconds` counts */
    bool deadline;      /* the job had one that counts */
    double total;       /* units of the whole job; 0: not counted in units */
    double units;       /* done in this run; of a job that is not counted: 0 */
    double rate;        /* units per second; 0: not known */
    double seconds;     /* that this run ran */
    int64_t start_up;   /* milliseconds to the first unit; -1: not known, as in the next two */
    int64_t restart;    /* that stopping for this size, and starting again, has cost */
    int64_t resize;     /* that changing to this size in place has cost */
    int64_t tail;       /* from the last unit to the end; -1 unless finished */
    int64_t cpu_used, cpu_allocated; /* milliseconds; used: -1 when it is not known */
};

struct history {
    struct past_run *runs; /* oldest first; in the arena */
    size_t count;
};

/* Read all lines; those that are damaged are passed over.  No history is an empty one.  -1 and a
 * sentence when it is there and cannot be read. */
int history_read(const struct spool *spool, struct arena *arena, struct history *history,
                 struct error *error);

/* Add the runs of the attempt that `progress` is about, which has ended.  `finished`: the job has
 * ended well.  Not synced. */
int history_add(const struct spool *spool, const struct job_record *record,
                const struct progress *progress, bool finished, int64_t now, struct error *error);

/* Make the history again from the jobs of done/, newest first, as many as there is room for; how many
 * runs.  What is added meanwhile stays. */
int history_rebuild(const struct spool *spool, size_t *runs, struct error *error);

#endif
