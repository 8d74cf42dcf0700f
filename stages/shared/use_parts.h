/* stages/shared/use_parts.h - what the parts of counting use share
 *
 *   use_look.c   the jobs that count, and the looks that find them
 *   use_tally.c  what the jobs of a row and a subject come to together
 *   use_over.c   which row a job would exceed, and what rows leave
 *   use_walk.c   what is counted, to be shown
 *
 * Each pair of a row and a subject has a tally.  Rows are few and tallies are found by a hash, so a job costs
 * as many steps as there are rows, once when it comes and once when it goes.
 */
#ifndef STAGES_SHARED_USE_PARTS_H
#define STAGES_SHARED_USE_PARTS_H

#include "base/large_sum.h"
#include "base/names.h"
#include "stages/shared/gpu_time.h"
#include "stages/shared/use.h"

enum { USE_MOST_COUNTED = 1 << 21, USE_MOST_TALLIES = 1 << 20, USE_MOST_WORDS = 1 << 16 };
#define USE_UNKNOWN INT64_MIN

/* How long GPUs are held by what has started: the sum of the GPUs, and of GPUs times the start of each job, so that
 * GPUs times now less that sum is what was held until now. */
struct use_holding {
    int64_t gpus, since;
};

/* Users may ask for any amounts, of which some would overflow together, and then leave room for all others. */
struct use_sums {
    int64_t jobs, cpus, gpus;
    struct large_sum memory, gpu_time;
};

struct use_tally {
    const struct limit_row *row;
    struct text subject;
    struct use_sums sums[USE_PHASES];
    struct use_holding all, open; /* of what runs; of those without a time limit */
};

struct use_job {
    uid_t uid;
    gid_t gid;
    struct text owner, queue, gpu_type; /* in `words` */
    struct use_amounts amounts;
    int64_t started; /* since the beginning of `use`; USE_UNKNOWN: not yet, or no matter */
    bool open;       /* it has no time limit */
    bool sized;      /* it can have another size, which changes the time of its directory ... */
    bool settled;    /* ... to another than this */
    struct timespec changed;
    enum use_phase phase;
    bool held, seen; /* counts although no look finds it; was found by this look */
};

struct use {
    const struct spool *spool;
    const struct limit_row *rows;
    size_t row_count;
    unsigned int states;
    struct names *jobs;    /* id -> struct use_job */
    struct names *tallies; /* row and subject -> struct use_tally */
    struct names *words;
    struct arena *arena;
    struct gpu_time *time;       /* NULL: gpu_hours do not count */
    int64_t begun;               /* time of day */
    int64_t starts_next;         /* of clock_elapsed(): when to look who has started */
    bool seek_starts;            /* in this look */
    struct cohort_queue *queues; /* of use_cohort() */
    const struct limit_row **queue_rows;
    job_visit *see; /* of use_look_together(); or NULL */
    void *see_context;
    enum use_phase phase; /* of the directory that is looked at */
    struct error unread;  /* a job that this look could not read now; or "" */
};

/* ---- use_tally.c ---- */

/* The tally of that row for a job like this; NULL when the row is not for it, or there are too many. */
struct use_tally *use_tally_find(struct use *use, const struct limit_row *row,
                                 const struct use_job *job);

/* A sum as amounts. */
struct use_amounts use_tally_sum(const struct use_sums *sums);

/* What counts in a phase; of gpu_time what was used, and what the jobs that run may still use. */
struct use_amounts use_tally_amounts(const struct use *use, const struct use_tally *tally,
                                     enum use_phase phase);

/* The time for which GPUs were held until `now`, of clock_now(). */
int64_t use_tally_held_until(const struct use *use, const struct use_holding *holding, int64_t now);

/* Add (`sign` is 1) or take away (-1) the job in each of its rows. */
void use_tally_count(struct use *use, const struct use_job *job, int sign);

/* How a job with this record counts, in no phase yet.  Words and tallies may be counted anew, so no tally that was
 * found before is valid any more. */
struct use_job use_tally_job(struct use *use, const struct job_record *record);

#endif
