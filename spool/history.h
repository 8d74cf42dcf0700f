/* spool/history.h - DIR/history/runs: what past jobs took, for predicting later ones
 *
 * A line for each size at which an attempt of a job has run, in the order in which attempts ended.
 * The file is text for `cat`, and bounded: the oldest lines are dropped.  Only predictions depend
 * on it, and history_rebuild() makes it again from done/.  Only the track stage adds to it.  A line
 * that is there twice, because of a crash, counts once.  The format is in docs/spool.md.
 */
#ifndef SPOOL_HISTORY_H
#define SPOOL_HISTORY_H

#include "base/arena.h"
#include "spool/progress_file.h"
#include "spool/record.h"
#include "spool/spool.h"

enum {
    HISTORY_BYTES = 8 << 20, /* maximum size of the file; a run takes about 500 bytes */
    HISTORY_KEPT = HISTORY_BYTES /
                   2 /* bytes of the newest lines that are kept when it has reached that size */
};

struct past_run {
    int64_t ended; /* time of day */
    struct text id;
    int attempt;
    struct text template_path, commit, image, owner;
    struct text arguments; /* a digest of what decides the amount of work */
    struct text gpu_type;  /* that was asked for */
    enum size_kind kind;
    int64_t size;       /* job/sizes.h; of a job of fixed size 1 */
    int64_t cpus, gpus; /* that it had in all: thousandths of a CPU; GPUs */
    bool finished;      /* the job succeeded with this run, and `total` is valid */
    bool whole;         /* ... and this run is the whole job, so that `seconds` is valid */
    bool deadline;      /* the job had one that counts */
    double total;       /* units of the whole job; 0: the job has no units */
    double units;       /* units done in this run; 0 for a job without units */
    double rate;        /* units per second; 0: not known */
    double seconds;     /* that this run ran */
    int64_t start_up;   /* milliseconds to the first unit; -1: not known, as in the next two */
    int64_t restart;    /* that stopping for this size, and restarting, cost */
    int64_t resize;     /* that changing to this size in place cost */
    int64_t tail;       /* from the last unit to the end; -1 unless finished */
    int64_t cpu_used, cpu_allocated; /* milliseconds; used: -1 when it is not known */
};

struct history {
    struct past_run *runs; /* oldest first; in the arena */
    size_t count;
};

/* Read all lines; damaged ones are skipped.  A missing file is an empty history.  -1 and a sentence
 * when it exists but cannot be read. */
int history_read(const struct spool *spool, struct arena *arena, struct history *history,
                 struct error *error);

/* Append to `lines` those of the runs of the attempt in `progress`, which has ended at `now`.  `finished`: the job
 * has succeeded. */
void history_format(const struct job_record *record, const struct progress *progress, bool finished,
                    int64_t now, struct buffer *lines);

/* Append such lines, of any number of jobs, to the file.  Not synced.  -1 and a sentence. */
int history_append(const struct spool *spool, struct text lines, struct error *error);

/* All CPUs (thousandths) and GPUs that a job has at that size. */
void history_amounts(const struct job_record *record, int64_t size, int64_t *cpus, int64_t *gpus);

/* Open DIR/history, and make it first if requested.  Returns a descriptor, or -1 with errno and a
 * sentence. */
int history_open(const struct spool *spool, bool make, struct error *error);

/* Make the history again from the jobs of done/, newest first, as many as fit; returns the number
 * of runs.  Lines that are added meanwhile stay. */
int history_rebuild(const struct spool *spool, size_t *runs, struct error *error);

#endif
