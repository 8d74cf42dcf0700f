/* stages/guard.h - which job a process was working on when it died
 *
 * A process that reads untrusted text may crash or stall over it.  Before such a process reads a
 * job file it notes the name in a page of memory that it shares with its parent, and clears the
 * note afterwards: two copies in memory, no system call.  When the process dies in between, by a
 * fault, by the limits below or because somebody killed it, the note stays, and the next process
 * counts the crash against that file.
 *
 * The limits, for a process that has called guard_limit(): `guard_patience` of processor time for
 * one job file, and `guard_memory` of memory in all.  Time spent waiting for a file system does not
 * count, so that no job is blamed for a slow disk.
 *
 * The stages that submit, follow and resubmit jobs note the job that they work on in the same way,
 * or, while they ask the executor about many jobs at once, that they work on a batch.  After a
 * crash over a batch the next process takes batches of a sixteenth of that size, down to one job;
 * when all has gone well for a while, batches grow by sixteen again. stages/shared/give_up.h sets
 * aside a job over which a stage has crashed three times.
 *
 * Weaknesses: a process that sleeps for ever while it reads a job file is not noticed; but no code
 * that reads one sleeps.  A process that is killed from outside while it reads one is counted
 * against that file, too; three times in a row for the same one does not happen by chance.
 */
#ifndef STAGES_GUARD_H
#define STAGES_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    GUARD_MOST_TRIES = 3, /* crashes over one job file or job, after which it is set aside */
    GUARD_COUNTED = 32,   /* jobs whose crashes are counted at a time */
    GUARD_STALLED = 112   /* the exit status of a process that took too long over a job file */
};
extern const int guard_patience;   /* seconds of processor time */
extern const int64_t guard_memory; /* bytes */

struct guard {
    volatile uint64_t reading; /* counts up; 0: no job file is being read */
    uint64_t count;
    uint32_t tries;          /* of the one below, before this one */
    uint32_t ends;           /* of processes, since the last batch that went well */
    int64_t time;            /* of clock_elapsed(): of the last end over a batch */
    uint64_t done;           /* for the process that forks: what the child counts */
    char name[NAME_MAX + 1]; /* of the job file, or job, that is or was being read; "": a batch */
    struct guard_counted {
        char name[NAME_MAX + 1];
        uint32_t tries;       /* 0: free */
        int64_t time;         /* of clock_elapsed(): of the last end over it */
    } counted[GUARD_COUNTED]; /* by guard_count() */
};

/* Allocate a page that this process and those it will fork share; NULL and a sentence on failure.
 * guard_free(NULL) is fine. */
struct guard *guard_new(struct error *error);
void guard_free(struct guard *guard);

/* The guard of the stage that this process is or will be: the one that the supervisor gave, or one
 * of its own.  NULL when there is no memory for one: then crashes are not counted. */
void guard_set(struct guard *guard);
struct guard *guard_own(void);

/* These accept NULL, too. guard_leave() also forgets what the previous process left: its crash has
 * been counted, or was not the file's fault. */
void guard_enter(struct guard *guard, const char *name, int tries);
void guard_leave(struct guard *guard);
/* Note a job that is read in passing, while the process works on something else.  False when the
 * stage has crashed over that job too often: it must not be read. guard_return() notes again what
 * the process worked on before. */
struct guard_before {
    bool reading;
    uint32_t tries;
    char name[NAME_MAX + 1];
};
bool guard_begin(struct guard *guard, const char *name, struct guard_before *before);
void guard_return(struct guard *guard, const struct guard_before *before);
/* Was a job file being read when the last process with this guard died? */
bool guard_blames(const struct guard *guard);
/* How the process ended, as text: "signal 11", "status 1", "more than 5 s of processor time". */
enum { GUARD_END_SIZE = 64 };
const char *guard_describe_end(int status, char buffer[static GUARD_END_SIZE]);

/* For a stage that starts: count the crash of the process before it, and log it.  When too many
 * jobs are counted already, the job takes the place of the one with the fewest crashes. */
void guard_count(struct guard *guard, const char *stage);
/* How often the stage has crashed over that job since it last went well. */
int guard_tries(const struct guard *guard, const char *name);
/* The job has left the directory where the stage works: forget its crashes. */
void guard_forget(struct guard *guard, const char *name);
/* The stage is done with that job for now and has not crashed over it.  Its crashes are forgotten
 * ten minutes after the last one, not at once, since a fault may strike only every second time. */
void guard_passed(struct guard *guard, const char *name);
/* Pass the job over until it leaves the directory (stages/shared/give_up.h) or dlspool is
 * restarted. */
void guard_shun(struct guard *guard, const char *name);
enum { GUARD_SHUNNED = 1000 }; /* what guard_tries() returns for a job that is passed over */
/* Forget everything; only for a guard that no process uses. */
void guard_clear(struct guard *guard);
/* guard_narrow(): how many of `most` to take together. guard_widen() says that all jobs went well
 * at that size; it has an effect only from one minute after the last crash on. */
size_t guard_narrow(const struct guard *guard, size_t most);
bool guard_is_narrow(const struct guard *guard);
void guard_widen(struct guard *guard);

/* Put this process under the limits.  Not for processes that follow jobs: copying what a healthy
 * job has printed may take long. */
int guard_limit(struct guard *guard, struct error *error);

#endif
