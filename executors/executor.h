/* executors/executor.h - what dlspool asks of a container scheduler
 *
 * An executor is a table of functions over a state of its own.  Calls do not block longer than
 * the executor's time-outs.  Every submission carries a token (the job's id and attempt number)
 * that the scheduler can be asked about, so that a submission whose outcome is unknown is looked
 * up and adopted, never repeated.
 *
 * Work is handed over in batches: the executor keeps as many requests in flight as it likes and
 * fills in each item's outcome before it returns.
 */
#ifndef EXECUTORS_EXECUTOR_H
#define EXECUTORS_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "base/value.h"
#include "executors/resources.h"
#include "job/grant.h"
#include "job/sizes.h"

struct names; /* base/names.h */
struct nodes; /* executors/nodes.h */

/* The outcome of a submission. */
enum submit_outcome {
    SUBMIT_ACCEPTED,    /* the scheduler has it, or had it already under this token */
    SUBMIT_NO_ROOM,     /* it fits, but not now */
    SUBMIT_UNAVAILABLE, /* the scheduler is down, throttles or times out */
    SUBMIT_NEVER_FITS,  /* it requests more than exists: a smaller job or more capacity fixes it */
    SUBMIT_REFUSED,     /* the scheduler refuses this manifest: see `mender` */
    SUBMIT_UNKNOWN      /* sent without an answer: ask again under the same token */
};

/* Who can fix the cause of a refusal. */
enum submit_mender {
    MENDER_MANIFEST, /* whoever changes the manifest: the job's owner, or the templates */
    MENDER_IMAGE,    /* whoever named the image: the job's owner, or images.txt */
    MENDER_OWNER,    /* the job's owner, outside the spool: a path, a mode */
    MENDER_SITE,     /* an administrator, outside the spool: a program, a device, a right */
    MENDER_TIME      /* perhaps nobody: a registry that does not answer now */
};

struct submission {
    const char *id; /* the job's id */
    int attempt;    /* from 1 */
    uid_t uid;      /* who asked; containers run as this user where that is possible */
    gid_t gid;
    int64_t time_limit;   /* milliseconds of running; 0: none */
    struct text manifest; /* the bytes of manifest.yaml */
    struct text gpu_type; /* that was asked for; may be empty.  An executor whose manifests do not
                                   say it gives GPUs of that type, or refuses the job */
    struct text
        gpus_wanted; /* types of GPU that other jobs wait for, with commas between them, the most
                                   urgent first: where this one names none, it gets these last */
    /* What its tasks have beyond the usual, of what registry_check_grant() lets the executor give; NULL: nothing. */
    const struct grant *grant;
    bool repeated; /* it was submitted under this token before, with unknown outcome */
    /* What the scheduler's objects may say of where they come from; each may be empty: */
    struct text owner; /* user name */
    struct text request_sha256, commit, image;
    /* filled in: */
    enum submit_outcome outcome;
    struct error error;        /* the sentence for every outcome but SUBMIT_ACCEPTED */
    int64_t rest;              /* with SUBMIT_UNAVAILABLE or SUBMIT_UNKNOWN: milliseconds that the
                                   scheduler asks for before it is asked again; 0: it does not say */
    bool alone;                /* ... and that is for this submission: it takes others */
    char note[512];            /* for the job's log, beside "accepted"; may be "" */
    bool unsettled;            /* with SUBMIT_REFUSED: it is not known whether the scheduler has
                                   the job from an earlier try under this token */
    enum submit_mender mender; /* with SUBMIT_REFUSED */
    char remedy[512];          /* with SUBMIT_REFUSED: what to do about it, a sentence without
                                   its full stop that begins with a capital; "" when there is no better
                                   one than to change the job file */
};

/* The state of a job at the scheduler. */
enum job_phase {
    PHASE_UNKNOWN,  /* the scheduler could not be asked */
    PHASE_VANISHED, /* the scheduler does not know this token */
    PHASE_WAITING,  /* accepted, not yet running */
    PHASE_RUNNING,
    PHASE_SUCCEEDED,
    PHASE_FAILED
};

enum { IMAGE_RAN_SIZE = 96, ADDRESS_SIZE = 96 };

struct task_state {
    char role[64];
    int index;       /* of the task in its role, from 0 */
    bool waits;      /* it has not started, while others may have */
    int64_t started; /* time of day; 0: it has not, or that is not known */
    bool ended;
    int exit_code;   /* when ended: 0 to 255, 128 + signal for a signal */
    char reason[64]; /* "", "Exited", "OOMKilled", "TimeLimit", "StartError", ... */
    char image
        [IMAGE_RAN_SIZE]; /* what it runs or ran in, once that is known, else "": "host"; an image's
                                   digest, "sha256:..."; or words that tell which file it was */
    char address
        [ADDRESS_SIZE]; /* where others can connect to it, "host:port", of a task that listens for
                                   them at a port that was chosen when it started; else "" */
    const char
        *unreachable; /* its machine does not answer, so that nobody knows whether it runs: the
                                   name at the scheduler of what does, until poll()'s arena is reset; NULL:
                                   it is not so */
    bool killed;      /* job_poll.killed has it: it has failed, whatever it ended with, and another
                                   one's failure goes before its own */
};

struct job_poll {
    const char *id;
    int attempt;
    bool ending;            /* it is being stopped: no waiting task of it is started */
    const char *waited_for; /* a `detail` that was the last with PHASE_WAITING, perhaps before the
                               executor was opened; NULL or "": none */
    int64_t waited_since;   /* ... the time of day since when */
    const struct names *unreachable; /* since when tasks were `unreachable`, as far as that is known
                                        (int64_t, a time of day, by that name): patience with them
                                        began then; NULL: none was */
    const bool *killed;  /* of an array: tasks that are to end by themselves, or were told to, */
    size_t killed_count; /* ... by their indexes below this; of them, too, none is started that
                                   waits for its turn: it has ended, with the reason "Killed" */
    /* filled in, from `phase` on: */
    enum job_phase phase;
    int64_t started, ended; /* times of day; 0: not known */
    /* Its name at the scheduler, and its state there in the scheduler's own word; "" where the
     * scheduler has none, or it is not known. */
    char scheduler_id[64], scheduler_state[32];
    char node[64];    /* where its first task runs, or its nodes; "" when that is not known */
    int exit_code;    /* of the task that made the job fail */
    char reason[64];  /* one word of the executor for a failure, as in task_state */
    char detail[512]; /* a sentence: which task, what happened, or why it waits */
    struct task_state *tasks; /* in the arena given to poll(), may be 0 of them */
    size_t task_count;
    int64_t cpu_time;    /* milliseconds of CPU time that all its tasks have used so far
                                   in this attempt, as far as it was seen: it may go down when
                                   dlspool was restarted; -1 or 0: not known */
    int64_t memory_peak; /* bytes that the task held at a time that held most; 0: not known */
    int64_t task_time;   /* milliseconds that its tasks have run, the sum; 0: not known */
    int nodes;           /* on which its tasks run or ran; 0: not known */
    bool untimed;        /* its time limit is the caller's to keep: see suspend() */
    bool stands;         /* tasks of it stand still, as by suspend() */
};

/* A request for one job of many: to stop it, to copy its output, to remove it. */
struct job_call {
    const char *id;
    int attempt;
    bool force; /* cancel: with force (SIGKILL), not politely (SIGTERM) */
    const int
        *tasks; /* cancel, signal: only these tasks of an array, by their ascending indexes; */
    size_t task_count; /* ... 0: all of the job (signal: only where `warns` is false) */
    int signal;        /* signal: its number */
    bool suspend;      /* suspend: stop it; else it goes on */
    int directory;     /* output: descriptor of where its files are */
    bool last;         /* output: the job has ended, and this is the last time */
    bool ending;       /* output: it is told to end next, or was (of an array, those of `tasks`):
                          what it prints from now on goes with its containers, unless it is seen to */
    /* filled in: */
    /* Of cancel, politely: milliseconds that the scheduler gives the tasks before it ends them by
     * force itself; 0: it is left to the caller. */
    int64_t grace;
    int64_t
        rest; /* with -1: milliseconds that the scheduler asks for before it is asked for this again;
                          0: it does not say */
    int result; /* 0, or -1 with ... */
    struct error error;
};

/* The outcome of a request to resize a running job. */
enum resize_outcome {
    RESIZE_DONE,         /* it has the size, or will have it without another request */
    RESIZE_NO_ROOM,      /* not now */
    RESIZE_NOT_POSSIBLE, /* not while it runs */
    RESIZE_UNAVAILABLE   /* not done yet: the scheduler could not be asked, has not answered
                                   yet, or the job does not run now; retry it */
};

struct job_resize {
    const char *id;
    int attempt;
    enum size_kind kind; /* SIZE_TASKS, SIZE_GPUS or SIZE_CPUS */
    int64_t size;        /* job/sizes.h */
    /* filled in: */
    enum resize_outcome outcome;
    struct error error; /* the sentence for every outcome but RESIZE_DONE */
};

enum { MOST_GPU_TYPES = 32 };

struct gpu_capacity {
    char type[GPU_TYPE_SIZE]; /* as a job's gpu_type names it where the scheduler tells; or a
                                   resource's name */
    int count, free;
};

struct capacity {
    int64_t cpus, cpus_free;     /* thousandths */
    int64_t memory, memory_free; /* bytes */
    int gpus, gpus_free;
    int nodes, nodes_ready; /* machines that take jobs, of all; 0 and 0 where there is only this */
    struct gpu_capacity gpu_types[MOST_GPU_TYPES]; /* where they are told apart */
    size_t gpu_type_count;
    char note[256]; /* what the figures are of, when not of the whole cluster; or "" */
};

struct executor;

typedef void executor_tell(void *context, const char *sentence);
typedef void executor_take(void *context, const char *id, int attempt);

struct executor_operations {
    const char *name; /* "local", "null" */
    /* What tasks print goes with them when they are told to end: output() is called with `ending`
     * before cancel(). */
    bool loses_output;
    /* Of a job with `signal` the manifest has its programs be sent that before the time limit; where it has not,
     * the caller sends it by signal(). */
    bool warns;
    bool of_this_machine; /* another host's executor of this name does not know our jobs */
    /* Does it accept submissions at all?  -1 and the reason when not. */
    int (*ready)(struct executor *executor, struct error *error);
    void (*submit)(struct executor *executor, struct submission **batch, size_t count);
    /* Ask for the state of many jobs at once, and do what the jobs need to go on there, such as starting tasks
     * whose turn has come, or submitting again what the scheduler has forgotten.  -1 and a sentence when the
     * scheduler cannot be asked: then all phases are PHASE_UNKNOWN. */
    int (*poll)(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                size_t count, struct error *error);
    /* For each job of the batch: tell its tasks to end, politely or with force.  Returns at once;
     * poll() tells when they have.  Tasks that never started are ended for good.  Not knowing the
     * job is success.  Of single tasks, those that cannot be told yet may be left to the next call. */
    void (*cancel)(struct executor *executor, struct job_call **batch, size_t count);
    /* For each: append to the files <role>-<index>.log in `directory` what the job's tasks have
     * printed since they were last called for.  The files say how far it is, so the directory must
     * hold this attempt's output and no other's.  All there is is copied, up to the executor's own
     * limit for a task; nothing is synced: make it durable before remove().  NULL: tasks print nothing. */
    void (*output)(struct executor *executor, struct job_call **batch, size_t count);
    /* Remove each ended job from the scheduler.  A job that the scheduler does not have is success. */
    void (*remove)(struct executor *executor, struct job_call **batch, size_t count);
    /* Call take() for each job that this spool has certainly submitted (under its identity, or to a podman
     * of its own) and that the executor still has something of.  Perhaps more than once; not for what the
     * executor will remove by itself.  At most a request or two, or a list in pages; where one that poll()
     * requested is at hand, that one, some seconds old.  -1 and a sentence when it cannot be asked.  NULL: it
     * never has anything. */
    int (*list)(struct executor *executor, executor_take *take, void *context, struct error *error);
    /* The number of objects that the manifest makes at the scheduler, which live_max counts.  NULL: one. */
    int (*weight)(struct executor *executor, struct text manifest);
    /* What the scheduler would make of the submission; nothing stays there: appended to
     * `answer`.  -1 and the scheduler's sentence when it would not take it.  NULL: it cannot be
     * asked that. */
    int (*try_out)(struct executor *executor, struct submission *submission, struct buffer *answer,
                   struct error *error);
    /* What is sent to the scheduler to create it, with all that the executor adds to the manifest: appended to
     * `answer`; nobody is asked.  -1 and a sentence when it would send nothing.  NULL: it adds nothing that
     * the manifest could have. */
    int (*sent)(struct executor *executor, struct submission *submission, struct buffer *answer,
                struct error *error);
    /* What must be free of the capacity for a job of this manifest to start: the executor starts what
     * there is room for, has no queue of its own, and whose turn it is is the caller's to decide.  -1:
     * the manifest does not tell.  NULL: the scheduler keeps those that wait. */
    int (*needs)(struct executor *executor, struct text manifest, struct demand *demand);
    int (*capacity)(struct executor *executor, struct capacity *capacity, struct error *error);
    /* The same by the same requests, with the nodes that it is of added to `nodes`, which is empty.  Perhaps none: then
     * capacity->note says why.  NULL: there are none to tell apart. */
    int (*nodes)(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                 struct error *error);
    /* Look whether what the settings name is there, such as devices, and tell a sentence of each thing
     * that is not.  NULL: there is nothing to look for. */
    void (*inspect)(struct executor *executor, executor_tell *tell, void *context);
    /* Is the image here, so that it need not be fetched?  1, 0, or -1 and a sentence.  NULL: it cannot
     * be told. */
    int (*has_image)(struct executor *executor, struct text image, struct error *error);
    /* Can a job of this manifest be given another size while it runs?  Asks nobody, or only once.
     * NULL: none can. */
    bool (*resizable)(struct executor *executor, struct text manifest, enum size_kind kind);
    /* For each: do so.  To ask again for the same size does no harm.  NULL: none can. */
    void (*resize)(struct executor *executor, struct job_resize **batch, size_t count);
    /* For each: have a signal sent to the programs that its running tasks run and that catch it, so
     * that they save their state; nothing ends of it that does not catch it.  Not knowing the job is
     * success.  NULL: cancel() does that before it ends the tasks, with the signal and the time that
     * the manifest says. */
    void (*signal)(struct executor *executor, struct job_call **batch, size_t count);
    /* For each: stop all its running tasks where they are, with their memory, or have them go on.  To ask for what is
     * so already does no harm, and a job that is told to end goes on for that by itself.  The job still runs, and keeps
     * all that it has; its time limit does not run, so the caller keeps that of jobs that are `untimed`.
     * NULL: none can; nor where `suspends` of the executor is false. */
    void (*suspend)(struct executor *executor, struct job_call **batch, size_t count);
    /* End what the executor runs for itself (not the jobs), at a clean stop of `dlspool run`.  Any
     * later call starts it again.  NULL: there is nothing to end. */
    void (*stop)(struct executor *executor);
    void (*close)(struct executor *executor);
};

enum { EXECUTOR_IDENTITY_SIZE = 17 }; /* 16 hexadecimal digits and the final NUL */

struct executor {
    const struct executor_operations *operations;
    int64_t live_max; /* the most objects at the scheduler; 0: no bound */
    bool suspends;    /* the settings allow suspend() */
    /* Distinguishes this spool from others, even of the same name: jobs are submitted with it.  Whoever
     * opens the executor sets it.  "": not known; then list() leaves out jobs that another spool may have
     * submitted. */
    char identity[EXECUTOR_IDENTITY_SIZE];
};

/* For how long to leave alone what the scheduler has put off: as it asks, and up to a quarter longer, so
 * that what it puts off together does not come back together.  0 of 0. */
int64_t executor_spread_rest(int64_t rest);
/* Does poll->killed have the task of that index? */
bool executor_task_is_killed(const struct job_poll *poll, int index);
/* Clear what poll() fills in. */
void executor_clear_poll(struct job_poll *poll);
/* The entry of the capacity for that type of GPU, which is added when it is new; a longer name is cut.
 * NULL when there are MOST_GPU_TYPES others. */
struct gpu_capacity *executor_gpu_type(struct capacity *capacity, struct text type);
/* Raise what is free to 0 where it is negative, since more is taken than there is. */
void executor_clamp_capacity(struct capacity *capacity);
/* Is the task of that index among call->tasks, or are all meant? */
bool executor_call_names_task(const struct job_call *call, int index);

/* The same for one job.  -1 and a sentence. */
int executor_cancel(struct executor *executor, const char *id, int attempt, bool force,
                    struct error *error);
int executor_output(struct executor *executor, const char *id, int attempt, int directory,
                    bool last, struct error *error);
int executor_remove(struct executor *executor, const char *id, int attempt, struct error *error);

/* Make the calls one after another.  After one that took longer than `patience` (milliseconds) the others
 * fail at once, so that a scheduler that hangs delays nobody for longer. */
void executor_one_by_one(struct executor *executor, struct job_call **batch, size_t count,
                         int (*one)(struct executor *executor, struct job_call *call),
                         int64_t patience);

/* How each executor is opened; executors/registry/registry.h chooses among them. */
struct executor *executor_null_open(const struct value *settings, struct error *error);
struct executor *executor_local_open(const struct value *settings, const char *spool,
                                     const char *directory, struct error *error);
struct executor *executor_kubernetes_open(const struct value *settings, const char *spool,
                                          const char *directory, struct error *error);
struct executor *executor_slurm_open(const struct value *settings, const char *spool,
                                     const char *directory, struct error *error);

#endif
