/* stages/submit/inside.h - the inside of the submit stage
 *
 * Only submit.c (which jobs, and when), in_order.c (which of them when the executor has no queue),
 * admission.c (which may start under limits.rows), reclaim.c (who stops for them), sharing.c (whose turn it is by
 * shares), reorder.c (which were put somewhere else) and handover.c (how one job of a batch is submitted) include this.
 */
#ifndef STAGES_SUBMIT_INSIDE_H
#define STAGES_SUBMIT_INSIDE_H

#include "base/names.h"
#include "spool/eventlog.h"
#include "spool/job.h"
#include "spool/pause.h"
#include "stages/guard.h"
#include "stages/planning/backfill.h"
#include "stages/planning/planning.h"
#include "stages/shared/decayed_use.h"
#include "stages/shared/diagnosis.h"
#include "stages/stage.h"
#include "stages/submit/load.h"
#include "stages/submit/opened.h"
#include "stages/submit/parked.h"
#include "stages/submit/queue.h"
#include "stages/submit/waits.h"
#include "watcher/watch.h"

struct item { /* a job of the batch */
    struct job_place place;
    int job; /* its directory */
    struct open_log log;
    struct job_record record;
    struct buffer manifest;
    struct submission submission;
    struct grant grant; /* of the submission; texts are the settings' */
    enum {
        ITEM_SUBMIT,   /* to the executor; and then to submitted/ */
        ITEM_FAIL,     /* to failed/ */
        ITEM_HOLD,     /* to held/ */
        ITEM_KEEP,     /* stays, and is looked at again a little later */
        ITEM_DECLINED, /* stays: the executor has no capacity for it, or does not answer */
        ITEM_WAIT,     /* must wait for a limit: live_max */
        ITEM_SHARE     /* must wait until its owner has fewer at the executor; others go on */
    } fate;
    struct diagnosis *diagnosis; /* for ITEM_FAIL; in the arena, as few fail */
    int64_t rest; /* ITEM_DECLINED, ITEM_KEEP: milliseconds until it is retried ... */
    bool again;   /* ... and, of the former, it was not the first time */
};

enum { MOST_REORDERED = 32 };

struct submitter {
    struct stage stage;
    struct executor *executor;
    struct watch *watch;
    struct queue *queue;
    struct queue *tried; /* while batches are small: the jobs that had their turn in this round */
    struct names *unexpected;  /* entries of rendered/ that are no jobs, which were logged */
    struct planning *planning; /* while planning is on, the plan decides the order, not the queue */
    struct load *load;         /* NULL: the executor takes any number of jobs */
    char next[ID_SIZE]; /* the job that was taken from the queue and waits for a limit; or "" */
    char over[ID_SIZE]; /* a job that waits for its owner's share of that limit; or "" */
    bool is_paused;     /* by `pause`: only what the executor may have already is submitted */
    struct pause pause;
    struct use *use;       /* what runs, by the rows of limits.rows; NULL: no row limits it */
    struct parked *parked; /* with it: the jobs that are over a row */
    size_t newly_parked;   /* in this batch */
    bool uncounted;        /* what runs could not be counted for this batch, which is tried again */
    /* Ids of jobs that have left their line, and whose `why` still says what they waited for. */
    struct names *woken;
    struct allowance rows;      /* with it: what it tells the planner ... */
    struct names *hypothetical; /* ... and the ids of jobs that count while that plans */
    bool reclaims;              /* jobs may be stopped for others ... */
    int64_t reclaim_next;       /* ... which is looked at then, of clock_elapsed() */
    struct decayed_use *shares; /* NULL: owners take turns */
    int64_t shares_due,
        shares_kept; /* of clock_elapsed(): when to look at them, when they were kept last */
    struct backfill *backfill; /* NULL: the scheduler keeps those that wait */
    /* with backfill: the job that keeps its place and waits for capacity; or its id is "" */
    struct queue_job first;
    struct opened *opened;
    struct arena *arena; /* of a batch */
    /* as many as a batch; items that no batch has used are never touched, since a whole batch
     * takes megabytes.  None is open between batches. */
    struct item *items;
    size_t item_count;
    size_t logs_most;                        /* of so many items the logs may stay open */
    size_t window;                           /* jobs of the next batch: few after trouble */
    size_t took;                             /* jobs of the last batch */
    int64_t trim_due;                        /* of clock_elapsed(): memory is returned; 0: it was */
    bool looked;                             /* all of rendered/ was seen once */
    char reordered[MOST_REORDERED][ID_SIZE]; /* jobs that somebody has put somewhere else */
    size_t reordered_count;
    struct guard *guard; /* what this process works on */
    int64_t probe;       /* of clock_elapsed: when to try the executor again; 0: it answers */
    struct waits *waits;
    struct error
        reason; /* why the executor does not answer, or what `next` or `first` waits for, or is not counted */
};

/* Open a job, and see whether it must be submitted at all: ITEM_SUBMIT.  A duplicate is settled, a job whose
 * manifest does not fit its record is rendered again, and where records are sealed the manifest is verified
 * by another process, which takes as long as rendering.  False when nothing needs doing. */
bool handover_open_job(struct submitter *submitter, struct item *item, const char *id);
/* If the job must be submitted: fill in its submission, with its intent noted but not yet durable;
 * or let it wait for a limit. */
void handover_prepare(struct submitter *submitter, struct item *item);
/* May the executor already have the job of that directory?  It may when an intent was noted, and
 * not that the submission failed.  A job that was accepted and is still here was left behind by a
 * crash before it was moved.  1, 0, or -1: its log cannot be read now, as was logged under its id. */
int handover_is_unsettled(int job, const char *id);
/* Open the job only when somebody has requested to kill or hold it, and that can be done, or when
 * it is damaged.  False in all other cases. */
bool handover_open_asked(struct submitter *submitter, struct item *item, const char *id);
void handover_close(struct item *item);

/* Where limits.rows limit what runs: count it, before a batch.  -1: it cannot be counted, as was logged. */
void admission_open(struct submitter *submitter);
void admission_close(struct submitter *submitter);
int admission_begin(struct submitter *submitter);
/* May the job start, which was opened for that?  Then it counts.  Otherwise it is parked with a `why`, and closed; or
 * it is kept, as it is not known now. */
bool admission_grant(struct submitter *submitter, struct item *item);
/* It does not start after all, for want of room. */
void admission_withdraw(struct submitter *submitter, const struct item *item);
/* It has been submitted, or not: what counts follows its fate. */
void admission_end(struct submitter *submitter, const struct item *item);
/* Tell the planner what the rows leave.  After admission_open(). */
void admission_advise(struct submitter *submitter);
bool admission_is_parked(const struct submitter *submitter, const char *id);
/* Look whether the spool is paused, where that may have changed. */
void admission_look_for_pause(struct submitter *submitter, bool seen);
/* Is nothing more to be taken from the queue in this batch, because the spool is paused or many were parked? */
bool admission_is_shut(const struct submitter *submitter);

/* reclaim.c: may rows have jobs stopped for others?  And have those stopped that are to be, now and then. */
bool reclaim_is_needed(const struct job_limits *limits);
void reclaim_jobs(struct submitter *submitter);

/* Where owners share by what they have used: look at that, before a batch; note whose a job is; the job of this item is
 * charged, and it is known whether it was submitted. */
void sharing_open(struct submitter *submitter);
void sharing_close(struct submitter *submitter);
void sharing_look(struct submitter *submitter);
void sharing_note(struct submitter *submitter, const struct job_record *record);
void sharing_charge(struct submitter *submitter, const struct item *item);
void sharing_end(struct submitter *submitter, const struct item *item);

/* The job has a file that says where somebody wants it in the queue; have all such jobs where they belong. */
void reorder_note(struct submitter *submitter, const char *id);
void reorder_flush(struct submitter *submitter);

/* The job of an open item, as the queue has it. */
struct queue_job submit_queue_job(const struct submitter *submitter, const struct item *item);

/* Fill a batch for an executor that starts jobs as capacity becomes free.  Returns the number of
 * jobs. */
size_t in_order_take(struct submitter *submitter);

/* A job may be in rendered/ that is in no queue, and nothing will tell of it: the next scan is to find it. */
void submit_look_for_lost(struct submitter *submitter);

/* Nothing is submitted in this batch, as what runs could not be counted. */
void submit_note_uncounted(struct submitter *submitter, const struct error *problem);

/* How many jobs to take together now. */
size_t submit_window(const struct submitter *submitter);

/* Write down the result of a submission, or why there was none. */
void handover_note_outcome(struct submitter *submitter, struct item *item);

/* Move the first `count` items to where their fates send them.  The notes must be durable. */
void handover_move(struct submitter *submitter, size_t count);

#endif
