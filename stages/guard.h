/* stages/guard.h - over which job a process was when it ended
 *
 * What strangers wrote is read by processes that may crash or stall over it.  Before such a process
 * turns to a job file it notes the name in a page of memory that it shares with its parent, and
 * clears the note after: two copies in memory, no system call.  When the process ends within, by a
 * fault, by the limits below or by somebody's hand, the note stays, and whoever comes next knows
 * whom to count it against.
 *
 * The limits, for a process that has called guard_limit(): `guard_patience` of processor time for
 * one job file, and `guard_memory` of memory in all.  Time that passes while a file system does not
 * answer counts for nothing, so that nobody is blamed for a slow disk.
 *
 * The stages that submit, follow and resubmit jobs note the job that they are about in the same way,
 * or, while they ask the executor about many at once, that they are about a batch.  After an end over
 * a batch the next process takes a sixteenth of it at a time, until it is one job; when all of them
 * went well for a while, sixteen times as many.  stages/shared/give_up.h sets a job aside over which a stage
 * has ended three times.
 *
 * Weaknesses: a process that sleeps for ever over a job file is not noticed; nothing that reads one
 * sleeps.  A process that is killed from outside while it reads one is counted against that file,
 * too; three times in a row for the same one does not happen by chance.
 */
#ifndef STAGES_GUARD_H
#define STAGES_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    GUARD_MOST_TRIES = 3, /* ends of a process over one job file or job; then it is set aside */
    GUARD_COUNTED = 32,   /* jobs whose ends are counted at a time */
    GUARD_STALLED = 112   /* the exit status of a process that took too long over one */
};
extern const int guard_patience;   /* seconds of processor time */
extern const int64_t guard_memory; /* bytes */

struct guard {
    volatile uint64_t reading; /* counts up; 0: no job file is being read */
    uint64_t count;
    uint32_t tries;          /* of the one below, before this one */
    uint32_t ends;           /* of processes, since the last batch that went well */
    int64_t time;            /* of clock_elapsed(): of the last end over a batch */
    uint64_t done;           /* for whoever forks: what the process counts */
    char name[NAME_MAX + 1]; /* of the job file, or job, that is or was being read; "": a batch */
    struct guard_counted {
        char name[NAME_MAX + 1];
        uint32_t tries;       /* 0: free */
        int64_t time;         /* of clock_elapsed(): of the last end over it */
    } counted[GUARD_COUNTED]; /* by guard_count() */
};

/* A page that this process and those it will fork share; NULL and a sentence when there is none to
 * be had.  guard_free(NULL) is fine. */
struct guard *guard_new(struct error *error);
void guard_free(struct guard *guard);

/* The guard of the stage that will be, or is, this process: what the supervisor gave, or one of its
 * own.  NULL when there is no memory for one: then nobody is blamed. */
void guard_give(struct guard *guard);
struct guard *guard_own(void);

/* NULL is fine for these, too.  guard_leave() also forgets what the last process left: it has been
 * counted, or the end was not the file's fault. */
void guard_enter(struct guard *guard, const char *name, int tries);
void guard_leave(struct guard *guard);
/* To read a job in passing, whatever the process is about: false when the stage has ended over that job
 * too often, and it is not to be read.  guard_return() is about what it was about before. */
struct guard_before {
    bool reading;
    uint32_t tries;
    char name[NAME_MAX + 1];
};
bool guard_look(struct guard *guard, const char *name, struct guard_before *before);
void guard_return(struct guard *guard, const struct guard_before *before);
/* Was a job file being read when the last process with this guard ended? */
bool guard_blames(const struct guard *guard);
/* How the process ended, for people: "signal 11", "status 1", "more than 5 s of processor time". */
enum { GUARD_END_SIZE = 64 };
const char *guard_describe_end(int status, char buffer[static GUARD_END_SIZE]);

/* For a stage that begins: count what the process before it has left, and say so.  A job that cannot
 * be counted because too many are takes the place of the one with the fewest ends. */
void guard_count(struct guard *guard, const char *stage);
/* How often the stage has ended over that job since it last went well. */
int guard_tries(const struct guard *guard, const char *name);
/* It is gone from where the stage works: nothing is counted any more. */
void guard_forget(struct guard *guard, const char *name);
/* The stage is done with that job for now, and has not ended over it; which is forgotten ten minutes after
 * the last end, since a fault may show at every second look only. */
void guard_passed(struct guard *guard, const char *name);
/* It is left alone until it leaves the directory (stages/shared/give_up.h), or dlspool is started again. */
void guard_shun(struct guard *guard, const char *name);
enum { GUARD_SHUNNED = 1000 }; /* what guard_tries() says of one that is */
/* Forget all, of a guard that no process has. */
void guard_clear(struct guard *guard);
/* How many of `most` to take together; and that all that there was has gone well at that, which counts
 * from a minute after the last end on. */
size_t guard_narrow(const struct guard *guard, size_t most);
bool guard_is_narrow(const struct guard *guard);
void guard_widen(struct guard *guard);

/* Put this process under the limits.  Not for those that follow jobs: to copy what a healthy job has
 * printed may take long. */
int guard_limit(struct guard *guard, struct error *error);

#endif
