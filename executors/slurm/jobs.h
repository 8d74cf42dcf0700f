/* executors/slurm/jobs.h - what is remembered about each job between two polls
 *
 * Everything here can be read again from the job's directory; decisions are written there before
 * they are reported.
 */
#ifndef EXECUTORS_SLURM_JOBS_H
#define EXECUTORS_SLURM_JOBS_H

#include "executors/completion.h"
#include "executors/slurm/inside.h"

enum { SLURM_REASON_SIZE = 64, SLURM_RINGS = 3 };

/* What the files of one task say, or of one element of an array. */
struct slurm_task {
    struct text role;
    int index; /* of the task in its role; of an array the element's */
    bool ended;
    bool begun;             /* of an element: its marker is there */
    bool timed_out;         /* of an element */
    int64_t last_heartbeat; /* of an element: as the job's */
    int exit_code;
    char *image; /* of its role, IMAGE_RAN_SIZE bytes: the image that it runs in; "": unknown */
    const char *address; /* where it listens for others; NULL: unknown, or it does not listen */
    char reason
        [SLURM_REASON_SIZE]; /* where its end is not the program's doing: a word of retry.txt; else "" */
};

struct slurm_job {
    char name[SLURM_NAME_SIZE];
    struct arena *arena;
    bool known; /* what was submitted is known: */
    struct slurm_facts facts;
    struct slurm_manifest *manifest;
    const struct completion_rule *rule;
    struct slurm_task *tasks;
    size_t task_count;
    /* What the files said at the last look: */
    bool begun, ended, timed_out;       /* of the batch script */
    int exit_code;                      /* ... when it has ended */
    char end_reason[SLURM_REASON_SIZE]; /* ... as a task's */
    char begun_as[64];                  /* Slurm's number of the job that runs it */
    int64_t alive;                      /* a number that changes while a script runs */
    int64_t alive_since;                /* of clock_elapsed(): when it was seen to change last */
    int64_t last_heartbeat; /* of the file server's clock: the last heartbeat; 0: none */
    int64_t looked;         /* of clock_elapsed(); 0: never */
    int rings; /* its script says that there is news (bells.h): how often Slurm is still asked */
    int64_t
        running; /* of clock_elapsed(): when Slurm first reported it as running; 0: it has not */
    /* of clock_elapsed(): since when its files say that it has ended while Slurm frees its
     * nodes; 0: not so */
    int64_t completing;
    /* of clock_elapsed(): since when it has ended without its files saying so; 0: they do */
    int64_t silent;
    /* What slurmdbd says that it has used: */
    int64_t usage_since; /* of clock_elapsed(): when it was asked first; 0: not yet */
    bool usage_known;    /* ... and these are its words, or it was given up */
    int64_t cpu_time, memory_peak;
    /* How it has ended, where that was decided while tasks still ran: */
    bool decided;
    enum job_phase phase;
    int decided_code;
    char reason[64], detail[512];
    /* Slurm does not know it: */
    int64_t missing;     /* of clock_elapsed(): since when; 0: it does */
    int resubmissions;   /* how often it was submitted again */
    int dropped_numbers; /* resubmissions that got a reused number (numbers.h) */
};

/* The job of that name, with what was submitted, if that can be read now.  NULL and a sentence when
 * it cannot be read, although it may exist.  Valid until the job is forgotten. */
struct slurm_job *slurm_jobs_find(struct slurm *slurm, const char *id, int attempt,
                                  struct error *error);
void slurm_jobs_forget(struct slurm *slurm, const char *name);
void slurm_jobs_free(struct slurm *slurm); /* all of them */

/* Is the record one of the job's user?  True, too, when nothing is known of the job. */
bool slurm_job_owns(const struct slurm_job *job, const struct slurm_record *record);

/* Write down how the job has ended, before its tasks have.  -1 and a sentence: then it is not
 * decided.
 */
int slurm_job_decide(struct slurm *slurm, struct slurm_job *job, const struct job_poll *poll,
                     struct error *error);

/* Write down that an element has ended without saying so itself. */
int slurm_job_note_element(struct slurm *slurm, struct slurm_job *job, struct slurm_task *task,
                           int exit_code, const char *reason, struct error *error);

#endif
