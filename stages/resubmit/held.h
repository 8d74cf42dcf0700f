/* stages/resubmit/held.h - the jobs of held/: what they wait for, and whether the wait is over
 *
 * held_pass.c and its parts (held_parts.h) read and decide; they write nothing, so that code that
 * only wants to know whether anything is left to do can use them, too. held_act.c, a part of the
 * resubmit stage, writes what was decided.
 *
 * Facts about a job stay in memory between passes, and are read again when its directory has
 * changed.  A job of which there is nothing to tell rests, and no pass looks at it, until it is woken: its
 * files were read again, its time has come, or it is not as it was with a job that it waits for.  So a pass
 * costs what has changed, not what waits.  The state of another job is looked up again
 * (stages/shared/dependencies.h) when that job was met in failed/ or held/, or has left submitted/, failed/ or
 * held/ (watcher/moves.h).  Where this is not told, as on NFS, each pass looks at all; and so does one now
 * and then, as an insurance.
 *
 * One walk over the spool looks for all names of jobs that are not resolved yet.  A job that waits for a name is
 * woken when a job has come that may have it.  One that waits for another to begin that is in rendered/ or
 * submitted/ does not rest.
 *
 * A job that closes a cycle (stages/resubmit/cycles.h) is refused, and the older ones of the cycle go on
 * waiting for a job of that name.
 */
#ifndef STAGES_RESUBMIT_HELD_H
#define STAGES_RESUBMIT_HELD_H

#include <time.h>

#include "base/names.h"
#include "request/description.h"
#include "spool/settings.h"
#include "stages/shared/hold.h"
#include "watcher/moves.h"
#include "watcher/watch.h"

enum held_decision {
    HELD_WAITS,
    HELD_GOES_ON, /* to rendered/ */
    HELD_REFUSED, /* it waits for itself, or for a job that does not exist */
    HELD_LOST,    /* what it waits for can no longer happen */
    HELD_KILLED,
    HELD_NOT_APPROVED, /* an approver has refused it */
    HELD_DAMAGED
};

/* There may be millions. */
struct held_condition {
    struct dependency_waiter waits; /* for the job that is meant, once that is known */
    struct held *held;              /* whose condition it is */
    uint32_t job_at;                /* held_job_name(), in the block with the conditions */
    enum condition condition : 8;
    bool found : 1;     /* the id is not in job.yaml yet */
    bool none_left : 1; /* no job that a singleton would wait for was found */
    bool holds : 1;
    bool unheard : 1; /* no job that is meant was found, and arrivals are heard since before that */
};

/* An approval that a job waits for. */
struct held_approval {
    char *sentence, *detail, *next; /* what its owner is told */
    bool is_refused;                /* an approver has refused the job: */
    struct control_request refusal;
    char *refusal_words;
};

/* There may be a hundred thousand, most of which wait for one thing: the rest is allocated where it is there.  Small
 * members stand together. */
struct held {
    struct timespec changed; /* mtime of its directory when it was read; 0: to be read again */
    uint32_t met;            /* the last pass that found it */
    uint32_t number;         /* in `by_age`, unless it rests */
    uint32_t count;          /* of conditions */
    uid_t uid;
    struct held_condition *conditions;  /* and behind them its name; NULL: none */
    const struct control_request *hold; /* by whom this was asked for; NULL: by nobody ... */
    struct control_request *kill;       /* ... and this */
    char *tasks;                        /* of an array only these are held; NULL: the whole job */
    struct held_approval *approval;     /* it waits for one; NULL: for none */
    int64_t begin;                      /* its own time; 0: none, or it was released from that */
    int64_t accepted, since;            /* when it came into the spool, and into held/ */
    uint64_t why;                       /* digest of what is in `why`; 0: not known */
    char *sentence;                     /* of a decision that ends the waiting */
    int priority;
    int stops;    /* how often the process that read its request has crashed over it */
    bool arrived; /* it was not there in the previous pass */
    bool readable;
    bool looked_for; /* its names were searched for in all of done/ */
    bool released;   /* what it waited for has happened once */
    bool approved;
    bool rests;            /* `why` says what it waits for, which stays so until it is woken, */
    bool rests_until_time; /* and that is at a time at the latest */
    enum held_decision decision : 8;
};

/* Names that are waited for, and that no job has yet (held_unheard.c). */
struct held_unheard {
    uint32_t *hashes; /* of their families; 0: free */
    size_t count, capacity;
    size_t conditions; /* that wait for one */
    bool any_come;     /* a job of such a family */
};

struct held_jobs {
    const struct spool *spool;
    const struct settings *settings;
    struct names *jobs;       /* id -> struct held */
    struct names *holders;    /* who holds jobs -> struct control_request, without its time */
    struct watch *watch;      /* on held/; NULL: a pass looks at all jobs */
    struct moves *departures; /* of jobs that may be waited for; NULL: a pass looks at all those */
    struct moves *arrivals;   /* of jobs in rendered/; NULL: a pass looks for all names */
    struct held_unheard unheard;
    struct dependencies *dependencies;
    struct arena *arena;
    uint32_t pass;
    /* When to look again: the first time at which a job that waits for nothing else begins, or soon where one waits
     * for another to begin, of which no directory tells; 0: no such job. */
    int64_t soonest;
    int64_t next_time;    /* the first until which one rests, or sooner; 0: none */
    struct held **by_age; /* those of `jobs` that do not rest */
    size_t count;         /* of them; 0 where the last pass could not decide */
    size_t kept;          /* of them, in any case */
    size_t capacity;
    bool is_sorted; /* by age, those of `by_age` */
};

struct held_jobs *held_jobs_new(const struct spool *spool, const struct settings *settings);
void held_jobs_free(struct held_jobs *jobs);
/* Watch held/ from now on, so that a pass looks at what has changed (stages/resubmit/news.h).  -1 and a sentence. */
int held_jobs_watch(struct held_jobs *jobs, const struct watch_settings *settings,
                    struct error *error);

/* Make a pass: look at all jobs of held/ and decide about each.  The decisions are valid until the
 * next pass.  -1 and a sentence when a directory could not be read: then nothing is decided. */
int held_jobs_decide(struct held_jobs *jobs, int64_t now, struct error *error);

/* Something may have happened to the job with that id, for which others may wait by its id or its name. */
void held_jobs_doubt(struct held_jobs *jobs, struct text id);
/* Let the job rest, of which there is no news, if nothing but what would wake it can change that. */
void held_jobs_let_rest(struct held_jobs *jobs, struct held *held, int64_t now);
/* Once that was done, passes no longer look at those that rest. */
void held_jobs_leave_out_resting(struct held_jobs *jobs);

struct text held_id(const struct held *held);
/* The job of a condition: as the job file has it, and its id, "" while it is not known. */
const char *held_job_name(const struct held_condition *condition);
struct text held_job_id(const struct held_condition *condition);
/* Append the bytes of `why` for a job that waits. */
void held_explain(const struct held_jobs *jobs, const struct held *held, struct buffer *why);

#endif
