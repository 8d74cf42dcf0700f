/* executors/slurm/assess_parts.h - what the parts of assessing a job share
 *
 *   assess_records.c  which of Slurm's records is the job
 *   assess_tasks.c    how its tasks fare, and what the rule of completion says
 *   assess_array.c    arrays
 *   assess.c          all other jobs, and the beginning
 */
#ifndef EXECUTORS_SLURM_ASSESS_PARTS_H
#define EXECUTORS_SLURM_ASSESS_PARTS_H

#include "executors/slurm/jobs.h"

struct slurm_need; /* assess.h */

enum { SLURM_LAUNCHES_MOST = 3 }; /* launches that may fail before the job or the element has */

struct slurm_assessment {
    struct slurm *slurm;
    struct arena *arena;
    struct slurm_job *job;
    const struct slurm_records *records;
    struct job_poll *poll;
    struct slurm_need *need;
    const struct slurm_record *leader; /* not of an array */
    size_t end_capacity;               /* of need->end */
    bool over;                         /* nothing of it is left at Slurm */
};

/* The record that counts: of the job that runs the program, else one that was released, and of these one that is not
 * over; NULL when there is none. */
const struct slurm_record *slurm_assess_records_choose(const struct slurm_job *job,
                                                       const struct slurm_records *records);

/* The record, which is over: where its job failed by SIGKILL and Slurm says in batch.log that it needed too much
 * memory, a copy in the assessment's arena that says so. */
const struct slurm_record *slurm_assess_records_read_log(const struct slurm_assessment *assessment,
                                                         const struct slurm_record *record);

/* Have the record cancelled; `why` goes on after "which". */
void slurm_assess_records_cancel(struct slurm_assessment *assessment,
                                 const struct slurm_record *record, const char *why);

/* Have the duplicates of the chosen job cancelled.  One that was released may begin at any moment, and then be the one
 * that runs the program: it is held first, and only if the chosen one may run, too.  One that runs is cancelled when
 * the chosen one runs the program: it only waits for its end, and has nodes. */
void slurm_assess_records_end_others(struct slurm_assessment *assessment,
                                     const struct slurm_record *chosen);

/* Take the job's node and its times from one of its records, `over`: also its end. */
void slurm_assess_records_take_times(struct job_poll *poll, const struct slurm_record *record,
                                     bool over);

/* Fill in the poll's tasks with what their files say. */
void slurm_assess_tasks_fill(struct slurm_assessment *assessment);

/* Mark all tasks as ended, whatever their files say. */
void slurm_assess_tasks_end(struct job_poll *poll, int exit_code, const char *reason);

/* The job has failed, with a word of retry.txt as its reason; or by the end of one of its tasks, which also gives the
 * sentence. */
void slurm_assess_tasks_fail_job(struct job_poll *poll, int exit_code, const char *reason);
void slurm_assess_tasks_fail_by(struct job_poll *poll, const struct task_state *task);

bool slurm_assess_tasks_any_failed(const struct job_poll *poll);

/* What the rule of completion says of the poll's tasks. */
struct completion_outcome slurm_assess_tasks_outcome(const struct slurm_assessment *assessment);

/* The job runs, unless the rule of completion has decided.  When all tasks have ended, it runs until Slurm says that
 * it has ended, which is soon. */
void slurm_assess_tasks_run(struct slurm_assessment *assessment);

/* Report an earlier decision, with the tasks as they are now. */
void slurm_assess_tasks_repeat(struct slurm_assessment *assessment);

/* Has Slurm been `completing` the job for longer than patience lasts?  A node that is down, or a process that cannot be
 * killed, can keep a job COMPLETING for hours, and a slurmctld that restarted with an older state has a job RUNNING
 * until its time limit that has no process.  Remembers in the job since when. */
bool slurm_assess_tasks_linger(struct slurm_job *job, bool completing);

/* Decide the state of an array by its elements, and write down the ends that no file tells.  When none has begun, the
 * array is as the record says that is returned, and is to be assessed by it; NULL: it is decided. */
const struct slurm_record *slurm_assess_array(struct slurm_assessment *assessment);

#endif
