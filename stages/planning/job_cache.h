/* stages/planning/job_cache.h - the jobs of rendered/ and submitted/, kept in memory from plan to plan
 *
 * Each refresh lists the directories and reads again only those jobs whose directory has changed:
 * what a plan needs to know about a job is in files that are replaced, which changes the
 * directory's time.  The cache holds facts; stages/planning/forecast.h says what they mean for a
 * plan.
 */
#ifndef STAGES_PLANNING_JOB_CACHE_H
#define STAGES_PLANNING_JOB_CACHE_H

#include <sys/stat.h>

#include "planner/predict.h"
#include "spool/progress_file.h"
#include "spool/record.h"
#include "spool/spool.h"

/* How much of each resource a job takes. */
struct need {
    int64_t cpus, memory; /* thousandths, bytes */
    int gpus;
};

struct cached_job {
    enum state state; /* STATE_RENDERED or STATE_SUBMITTED */
    bool readable;    /* when false, nothing below is known except `asked` */
    bool asked;       /* somebody has asked to kill or hold it */
    bool resizing;    /* a resize request waits to be granted */
    bool intended;    /* of rendered/: the executor may have it already */
    int64_t started;  /* of submitted/: when this attempt started, time of day; 0: it has not yet */
    bool promised;    /* firm, and the log has the event */
    bool predicted;   /* the log has that event */

    /* Without `after`, and with only the texts that a plan needs.  A size of 0 is changed to 1, and
     * the deadline to 0 when its mode is none. */
    struct job_record record;
    int64_t size;              /* that it has, or is rendered at */
    struct progress *progress; /* NULL: it has none */

    /* Set by stages/planning/forecast.c: */
    uint64_t predicted_of;     /* the generation of the runs; 0: not yet */
    bool known, live;          /* the run time is known; it is based on the job's own progress */
    double left, left_late;    /* units: median, and the quantile that is planned with */
    double start_up, restart;  /* seconds */
    struct plan_level *levels; /* in the pool's unit; at least one */
    size_t level_count;
    struct plan_job plan;
    char key[64]; /* plan.id */

    /* Set by stages/planning/overdue.c: */
    int standing; /* twice its priority; or one more than that of the highest that users may have */
    int64_t overdue; /* then: for so long its owner has had no turn, milliseconds; else 0 */

    /* Set by stages/planning/planning.c: */
    bool resizable, resizable_known; /* while it runs, by the executor */
    size_t pool;                     /* index */
    int64_t next;                    /* the size that the plan gives it; 0: none */
    bool over;      /* left out of the plan: a row of limits.rows keeps it from starting now ... */
    bool parked;    /* ... whoever else starts */
    bool behind;    /* left out of the plan: it may not pass the first that does not fit */
    bool outgrown;  /* it asks for more than the executor has in all, which will refuse it */
    int leaning;    /* in which direction the plan wants to resize it ... */
    int64_t leaned; /* ... and since when, of clock_elapsed(): stages/planning/resize_requests.c */

    /* The job_cache's own: */
    struct timespec changed;
    bool settled, seen;
    char *words; /* of the record's texts */
};

struct job_cache;

struct job_cache *job_cache_new(const struct spool *spool);
void job_cache_free(struct job_cache *job_cache); /* NULL is fine */

/* Look at both directories again.  -1 and a sentence when one cannot be read; what is known stays. */
int job_cache_refresh(struct job_cache *job_cache, struct error *error);

/* In the order in which they came.  A job's address is the same while it is there. */
struct cached_job *job_cache_first(struct job_cache *job_cache);
struct cached_job *job_cache_after(struct cached_job *job);
const char *job_cache_id(const struct cached_job *job);
struct cached_job *job_cache_find(struct job_cache *job_cache, const char *id); /* or NULL */
size_t job_cache_count(const struct job_cache *job_cache);

/* Does this record, or job, need planning, because it has a deadline or several sizes? */
bool job_cache_record_wants_plan(const struct job_record *record);
bool job_cache_wants_plan(const struct cached_job *job);
/* The same for the jobs of submitted/: 1 when any of them does, 0, or -1 and a sentence. */
int job_cache_submitted_wants_plan(const struct spool *spool, struct error *error);

/* Does the job take part in the plan?  The others are submitted as they are. */
bool job_cache_takes_part(const struct cached_job *job);

/* What it takes at a size. */
struct need job_cache_need(const struct cached_job *job, int64_t size);

/* The job was taken to be submitted: let the next refresh look again at what does not change its
 * directory's time (its log). */
void job_cache_doubt(struct cached_job *job);

#endif
