/* stages/shared/use.h - how much users, groups and queues use, for the rows of limits.rows (spool/limit_row.h)
 *
 * The jobs in the spool's directories are counted: those in rendered/ and held/ wait, those in submitted/ run.
 * A look at them reads the record of each job once, when it is first seen; so after a restart the count is the
 * same.  What a process has itself decided since counts at once: a job that it adds counts until it drops it, or
 * until a look that began later no longer finds it.
 *
 * A job that can be resized counts with the size that it has, and from when a larger one is asked for with that
 * (stages/shared/resize.h).
 */
#ifndef STAGES_SHARED_USE_H
#define STAGES_SHARED_USE_H

#include "spool/jobs.h"
#include "spool/record.h"
#include "spool/settings.h"
#include "stages/shared/cohort.h"

struct use;

enum use_phase { USE_WAITING, USE_RUNNING, USE_PHASES };

struct use_amounts {
    int64_t jobs, cpus, memory, gpus; /* number, thousandths, bytes, number */
    int64_t gpu_time;                 /* of gpu_hours: a GPU for a millisecond */
};

/* What a job takes at the size that it has, or is rendered at; of gpu_time its GPUs until its time limit, and a little
 * where it has GPUs and no limit. */
struct use_amounts use_of(const struct job_record *record);

/* Jobs of the directories in `states` (1 << STATE_...) count.  Both arguments must outlive the result. */
struct use *use_new(const struct spool *spool, const struct limit_row *rows, size_t count,
                    unsigned int states);
void use_free(struct use *use); /* NULL is fine */

/* From the next look on, count for rows with gpu_hours what was used, too (stages/shared/gpu_time.h). */
void use_count_gpu_time(struct use *use);

/* Look at the directories.  -1 and a sentence when one of them, or a job in it that is not known yet, cannot be read
 * now; then what was known still counts, and more may be used than that.  A job whose files are damaged
 * (file_is_damaged()) counts for nothing. */
int use_look(struct use *use, struct error *error);

/* Who else looks at submitted/: it is called for each job there in each look, so that the directory is read once. */
void use_look_together(struct use *use, job_visit *see, void *context);

/* The job counts in that phase from now on, in place of how it did before; `held`: also while no look finds it. */
void use_add(struct use *use, const char *id, const struct job_record *record, enum use_phase phase,
             bool held);
bool use_has(const struct use *use, const char *id);
/* A job that was added is where looks find it, if it still is. */
void use_settle(struct use *use, const char *id);
/* It counts no longer, unless a look has found it since it was added. */
void use_drop(struct use *use, const char *id);

/* Would that much more exceed the limit?  Who wants none of it never does. */
static inline bool use_is_exceeded(int64_t used, int64_t more, int64_t limit)
{
    return limit >= 0 && more > 0 && used > limit - more;
}

/* Which row a job would exceed, and for whom. */
struct use_over {
    const struct limit_row *row;
    /* It tells rows and subjects apart: what one key waits for is the same.  Valid until the next question or
     * addition. */
    struct text key;
    struct use_amounts used;
    /* Of used.gpu_time: how much of it by attempts that have ended, and when that will be little enough for the job
     * if nobody uses more; 0: not as long as what runs may use so much. */
    int64_t spent, falls;
};

/* Would this job, which does not count yet, exceed what may run?  The first such row.  A row that record->wants has
 * does not hold for it: whoever asks has seen to the approval. */
bool use_exceeds_running(struct use *use, const struct job_record *record, struct use_over *over);
/* ... and would it, with this record in place of how it counts now, when it runs at another size? */
bool use_exceeds_instead(struct use *use, const char *id, const struct job_record *record);
/* ... what may wait, or what is refused instead of waiting? */
bool use_exceeds_waiting(struct use *use, const struct job_record *record, struct use_over *over);

/* The first of the rows that hold for this job of which `asks` says so; it may fill in what is used. */
typedef bool use_question(void *context, struct use_over *over);
bool use_find_row(struct use *use, const struct job_record *record, use_question *asks,
                  void *context, struct use_over *over);

/* Would the job exceed that row with all that runs and waits? */
bool use_exceeds_in_all(struct use *use, const struct use_over *over,
                        const struct job_record *record);

/* What that row leaves for that subject to run; INT64_MAX of what it does not limit, never below 0.  What runs counts
 * for gpu_time until its time limit; where it has none, until now. */
struct use_amounts use_room(struct use *use, const struct use_over *over);

/* The queues that share GPUs with that row's, itself among them, as they stand now; none when it shares none.  Valid
 * until the next call. */
struct use_cohort {
    struct cohort_queue *queues;         /* without claims */
    const struct limit_row *const *rows; /* of each */
    size_t count, which;                 /* `which` is that row */
};
struct use_cohort use_cohort(struct use *use, const struct limit_row *row);

/* Visit what is counted, in no order. */
struct use_view {
    const struct limit_row *row;
    struct text
        subject; /* whom it is about: the name of the user or queue, or the number of the group */
    /* gpu_time of what runs is what was used until now, also by what has ended in the row's period. */
    struct use_amounts amounts[USE_PHASES];
    int64_t borrowed, lent; /* GPUs, of a queue that shares them */
    /* When gpu_time will have fallen below the limit, if nobody uses more; 0: it has not reached it. */
    int64_t falls;
};
typedef void use_visit(void *context, const struct use_view *view);
void use_walk(struct use *use, use_visit *visit, void *context);

#endif
