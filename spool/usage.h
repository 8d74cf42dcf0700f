/* spool/usage.h - DIR/history/usage/YYYY-MM: what each attempt has used, for accounts
 *
 * A line for each attempt of a job that an executor had accepted and that has ended, appended when it has
 * ended and before the job moves on, in the file of that month (UTC).  Lines are kept when jobs are removed.
 * The format is in docs/spool.md.
 *
 * A line can be there twice, because of a crash: id and attempt are its key, and readers count it once, as
 * usage_scan() does.  One that a crash cut short lacks its last pair, `whole`, and does not count.
 */
#ifndef SPOOL_USAGE_H
#define SPOOL_USAGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "spool/eventlog.h"
#include "spool/progress_file.h"
#include "spool/record.h"
#include "spool/spool.h"

/* Times are of day, 0 unless known; other numbers are -1 unless known. */
struct usage {
    int64_t written; /* when the line was */
    struct text id;
    int attempt;
    struct text name, user;
    int64_t uid, gid;
    struct text library, type, queue, gpu_type, array, executor;
    int priority;
    struct text priority_class;
    int64_t submitted; /* it came, or was to be tried again */
    int64_t eligible;  /* what it waited for (`after`, a release) had come */
    int64_t accepted;  /* the executor took it */
    int64_t started, ended;
    struct text outcome;       /* "succeeded", "failed", or "removed": its directory was */
    struct text reason, class; /* of a failure, as in job.yaml */
    int exit_code;
    struct text node, scheduler_id;
    int64_t nodes;
    int64_t time_limit;             /* milliseconds; 0: none */
    int64_t cpus, memory, gpus;     /* that it had: thousandths, bytes, GPUs; of an array a task */
    int64_t cpus_asked, gpus_asked; /* that its manifest asked for: it may have been resized */
    int64_t cpu_held, gpu_held;     /* ... and for how long: milliseconds of a CPU, and of a GPU */
    int64_t cpu_used;               /* milliseconds */
    int64_t memory_peak;            /* bytes; of the task that held most */
    int64_t deadline;               /* 0: none that counts */
    struct text met;                /* "yes", "no", or "" while the job may still meet it */
    bool whole;
};

/* What the log of a job tells of an attempt; 0 unless known.  Of a log that is not read to its end, what is
 * known by then. */
struct usage_times {
    int64_t submitted, eligible, accepted, started, ended;
};
/* *node is in the arena. */
void usage_recall(struct text log, int attempt, struct arena *arena, struct usage_times *times,
                  struct text *node);

/* Nothing is known of it. */
void usage_clear(struct usage *usage);

/* Fill in the usage of the attempt in record->attempt; its texts are those of the record.  `done`: the job is.
 * Left to the caller: node, nodes and scheduler_id. */
void usage_of(struct usage *usage, const struct job_record *record, const struct progress *progress,
              const struct usage_times *times, bool done);

/* Append its line. */
void usage_format(const struct usage *usage, struct buffer *out);
/* Read it; texts are in the arena or in the line.  False: it is damaged, or no such line. */
bool usage_parse(struct arena *arena, const struct event *event, struct usage *usage);

/* Make the directory of the accounts, where there is none.  -1 and a sentence. */
int usage_make(const struct spool *spool, struct error *error);

/* Append lines to the file of the month of `now`.  Not synced.  -1 and a sentence. */
int usage_append(const struct spool *spool, struct text lines, int64_t now, struct error *error);

/* Call take() for each attempt that was written since then, once, oldest first; a result other than 0 ends that
 * and is returned.  The usage is valid until take() returns.  Memory: a few dozen bytes for each.  -1 and a
 * sentence when a file is there and cannot be read. */
typedef int usage_take(void *context, const struct usage *usage);
int usage_scan(const struct spool *spool, int64_t since, usage_take *take, void *context,
               struct error *error);

/* How far lines have been read; all zero: none. */
struct usage_mark {
    char file[8];   /* "2026-11": the newest that was begun */
    int64_t offset; /* bytes of it */
};
/* The same for lines behind the mark, which is moved behind what was read.  A line whose attempt is in the last
 * 2 MiB before the mark is left out, too: what a crash doubles is as near as a batch of jobs. */
int usage_scan_on(const struct spool *spool, struct usage_mark *mark, usage_take *take,
                  void *context, struct error *error);

#endif
