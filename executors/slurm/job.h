/* executors/slurm/job.h - what is remembered about one job between two polls */
#ifndef EXECUTORS_SLURM_JOB_H
#define EXECUTORS_SLURM_JOB_H

#include "executors/completion.h"
#include "executors/slurm/inside.h"

/* What the files of one task say, or of one element of an array. */
struct slurm_task {
    struct text role;
    int index; /* of the task in its role; of an array the element's */
    bool ended;
    bool begun;     /* of an element: its marker is there */
    bool timed_out; /* of an element */
    int exit_code;
    char *image; /* of its role, IMAGE_RAN_SIZE bytes: the image that it runs in; "": unknown */
    const char *address; /* where it listens for others; NULL: unknown, or it does not listen */
    char reason[64];     /* of an element that ended without saying so; else "" */
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
    bool begun, ended, timed_out; /* of the batch script */
    int exit_code;                /* ... when it has ended */
    char begun_as[64];            /* Slurm's number of the job that runs it */
    int64_t alive;                /* a mark that changes while a script runs */
    int64_t alive_since;          /* of clock_elapsed(): when it was seen to change last */
    int64_t beaten;               /* of the file server's clock: the last heartbeat; 0: none */
    int64_t looked;               /* of clock_elapsed(); 0: never */
    bool ran;                     /* Slurm reported it as running, when last asked */
    /* of clock_elapsed(): since when its files say that it has ended while Slurm frees its
     * nodes; 0: not so */
    int64_t completing;
    /* of clock_elapsed(): since when it has ended without its files saying so; 0: they do */
    int64_t silent;
    /* How it has ended, where that was decided while tasks still ran: */
    bool decided;
    enum job_phase phase;
    int decided_code;
    char reason[64], detail[512];
    /* Slurm does not know it: */
    int64_t missing; /* of clock_elapsed(): since when; 0: it does */
    int handed_in_again;
    int given_back; /* how often it was, of these (numbers.h) */
};

#endif
