/* spool/plan_file.h - DIR/plan: the last plan, for users and commands
 *
 * The submit stage replaces it as a whole after each plan; it is not synced, because the next plan
 * writes it again.  Nothing depends on it.  The file does not exist while no job has a deadline or
 * sizes.  It has a line for the plan, one for each pool of capacity, then one for each job, in the
 * order in which jobs are submitted:
 *
 *   plan time=2026-11-22T11:05:00.000Z jobs=2
 *   pool name=cpus capacity=4000 used=1000
 *   job id=digits-0123456789abc pool=cpus standing="on track" finish=2026-... late=2026-... ...
 *
 * Values are written as in <id>/log.  docs/spool.md names all keys.
 */
#ifndef SPOOL_PLAN_FILE_H
#define SPOOL_PLAN_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "job/sizes.h"
#include "spool/spool.h"

/* A job's line.  Texts that are empty and times that are 0 are not written. */
struct planned_job {
    char id[ID_SIZE];
    struct text pool;
    struct text deadline_status; /* "on track", "at risk", "cannot meet", "late", "best effort" */
    int64_t finish, late;        /* predicted: the median, and the 80th percentile */
    int64_t deadline;
    enum size_kind kind;
    int64_t size,
        next; /* units that it has, 0: it does not run; units that the plan gives it, 0: it waits */
    int64_t amount;     /* what the plan gives it of its pool: GPUs, or thousandths of a CPU */
    struct text reason; /* a sentence: the reason for its deadline status, or why it waits */
};

struct planned_pool {
    struct text name;
    int64_t capacity, used; /* GPUs, or thousandths of a CPU; used: by jobs of the plan */
};

struct plan_file {
    int64_t time; /* when the plan was made */
    struct planned_pool *pools;
    size_t pool_count;
    struct planned_job *jobs; /* plan_file_read(): by id */
    size_t job_count;
};

int plan_file_write(struct spool *spool, const struct plan_file *plan, struct error *error);
/* Remove the file, since nothing is planned any more.  A missing file is fine. */
void plan_file_remove(const struct spool *spool);

/* Read it into the arena.  1: there is none; -1 and a sentence when it cannot be read.  Damaged
 * lines are skipped. */
int plan_file_read(const struct spool *spool, struct arena *arena, struct plan_file *plan,
                   struct error *error);

/* The same from the bytes of the file. */
void plan_file_parse(struct text source, struct arena *arena, struct plan_file *plan);

/* NULL when the plan does not contain the job. */
const struct planned_job *plan_file_find(const struct plan_file *plan, const char *id);

#endif
