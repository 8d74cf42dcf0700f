/* stages/tracker.h - the inside of the track stage: what it knows, and who does what
 *
 * Only track.c (which jobs there are) and follow.c (what becomes of them) include this.
 */
#ifndef STAGES_TRACKER_H
#define STAGES_TRACKER_H

#include "stages/stage.h"
#include "renderer/retry_table.h"
#include "watcher/names.h"
#include "watcher/watch.h"

enum {
    MOST_TRACKED = 1 << 20,     /* jobs; names_add() refuses more, and they wait */
    BATCH = 256,                /* jobs asked about and ended together */
    LOG_LIMIT = 16 << 20        /* bytes of a job's event log that are read */
};

enum fate { FATE_NONE, FATE_DONE, FATE_FAILED };

struct tracked {
    int attempt;
    gid_t gid;                  /* who beside us may read what it prints */
    bool started;               /* its "started" event is written */
    bool again;                 /* its success too is followed by another attempt */
    bool elsewhere;             /* it runs on a machine whose executor is not ours to ask */
    bool stopping;              /* it was told to end ... */
    bool forced;                /* ... with force */
    int64_t stop_time;          /* of clock_elapsed: when the grace is over */
    int64_t next_output;        /* of clock_elapsed */
    int64_t output_trouble;     /* of clock_elapsed: since when it cannot be copied; 0: it can */
    enum fate fate;             /* its end is written down already ... */
    bool recovered;             /* ... and was before this process started */
    char waiting[128];          /* the last reason it waited for */
};

struct tracker {
    struct stage stage;
    struct executor *executor;
    struct repository *repository;
    struct retry_table *table;
    char table_commit[64];      /* the commit `table` is from */
    struct watch *watch;
    struct names *jobs;         /* id -> struct tracked */
    struct arena *arena;        /* of one batch */
    bool executor_lost;
};

/* Read a job's record.  One that is damaged is followed to its end by what its log tells: whatever
 * its files say, it runs.  -1 and a sentence when it cannot be read just now. */
int tracker_read_record(struct tracker *tracker, int job, const char *id,
                        struct job_record *record, struct error *error);

/* The retry.txt of the newest commit of templates.git that has a good one; NULL when none had. */
const struct retry_table *tracker_table(struct tracker *tracker);

/* Ask the executor about the jobs of a batch (at most BATCH), act on its answers, and end those that
 * have ended: they are no longer in tracker->jobs then. */
void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count);

#endif
