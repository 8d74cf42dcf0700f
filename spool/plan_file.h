/* spool/plan_file.h - DIR/plan: what was planned last, for people and commands
 *
 * Written by the submit stage after each plan, as a whole and in place of the old one; not synced,
 * because it is planned again.  Nothing rests on it.  There is none while no job has a deadline or
 * sizes.  A line for the plan, one for each pool of capacity, then one for each job, in the order in
 * which jobs are handed over:
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
    int64_t finish, late; /* predicted: median, and what four of five are predicted not to exceed */
    int64_t deadline;
    enum size_kind kind;
    int64_t size, next; /* that it has, 0: it does not run; that it is to have, 0: it waits */
    struct text reason; /* a sentence: why it stands so, or waits */
};

struct planned_pool {
    struct text name;
    int64_t capacity, used; /* GPUs, or thousandths of a processor; used: by jobs of the plan */
};

struct plan_file {
    int64_t time; /* when it was planned */
    struct planned_pool *pools;
    size_t pool_count;
    struct planned_job *jobs; /* plan_file_read(): by id */
    size_t job_count;
};

int plan_file_write(struct spool *spool, const struct plan_file *plan, struct error *error);
/* Nothing is planned any more.  Not being there is fine. */
void plan_file_remove(const struct spool *spool);

/* Read it into the arena.  1: there is none; -1 and a sentence when it cannot be read.  Lines that are
 * damaged are passed over. */
int plan_file_read(const struct spool *spool, struct arena *arena, struct plan_file *plan,
                   struct error *error);

/* NULL when the plan does not have it. */
const struct planned_job *plan_file_find(const struct plan_file *plan, const char *id);

#endif
