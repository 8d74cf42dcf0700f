/* stages/track/inside.h - the inside of the track stage: what it knows, and who does what
 *
 *   track.c          which jobs there are
 *   follow.c         asks about a batch of them, decides what each answer calls for, and stops jobs
 *   rescale.c        gives running jobs the sizes that the plan has for them
 *   preempt.c       stops those that cannot get them while they run
 *   follow_output.c  copies what they print, and measures how far they are
 *   follow_end.c     writes down how they ended, and moves them
 */
#ifndef STAGES_TRACK_INSIDE_H
#define STAGES_TRACK_INSIDE_H

#include "base/names.h"
#include "job/retry_table.h"
#include "stages/guard.h"
#include "stages/shared/control.h"
#include "stages/shared/resize.h"
#include "stages/shared/diagnosis.h"
#include "stages/stage.h"
#include "stages/track/images_ran.h"
#include "stages/track/measure.h"
#include "watcher/watch.h"

enum {
    MOST_TRACKED = 1 << 20, /* jobs; names_add() refuses more, and they wait */
    BATCH = 256             /* jobs asked about and ended together */
};

enum fate { FATE_NONE, FATE_DONE, FATE_FAILED, FATE_HELD };

struct preemption {                /* a job that is stopped to go on at another size, or later */
    struct resize_request request; /* its size, and why */
    bool cancelled;                /* its signal is the executor's cancel() */
    bool told;                     /* the signal was sent to save its state ... */
    int64_t until;                 /* ... and its grace is over then, of clock_elapsed */
};

struct tracked {
    int attempt;
    gid_t gid;              /* who beside us may read what it prints */
    bool started;           /* its "started" event is written */
    bool again;             /* its success too is followed by another attempt */
    bool elsewhere;         /* it runs on a machine whose executor is not ours to ask */
    bool stopping;          /* it was told to end ... */
    bool forced;            /* ... with force */
    int64_t stop_time;      /* of clock_elapsed: when the grace is over */
    int64_t next_output;    /* of clock_elapsed */
    int64_t output_trouble; /* of clock_elapsed: since when it cannot be copied; 0: it can */
    enum fate fate;         /* its end is written down already ... */
    bool recovered;         /* ... and was before this process started */
    char waiting[128];      /* the last reason it waited for */
    struct measure *measure;
    struct images_ran *images; /* that its log tells of */
    bool noted;                /* what was measured is written down for good */
    bool array;                /* single tasks of it can be killed ... */
    struct task_kills *kills;  /* ... and these are; NULL: nobody has asked */
    bool sized;                /* it can have other sizes, or be stopped and go on: requests are
                                   looked for */
    int64_t next_request;     /* of clock_elapsed: when a request that could not be granted is tried
                                   again ... */
    int64_t request_patience; /* ... and when no more; 0: there is none */
    struct preemption *preemption; /* NULL: it is not stopped for that */
    struct lost_job *lost;         /* its directory is gone (lost.h); NULL: it is there */
    bool orphan;                   /* nothing but its id and attempt is known, from the executor */
};

struct followed { /* a job of a batch */
    struct tracked *tracked;
    struct job_place place;
    int job; /* its directory; -1: it is gone */
    struct job_poll poll;
    struct job_call call; /* to stop it, copy its output, or forget it */
    bool stop, copy, end; /* what to do with it */
    bool stop_tasks;      /* some tasks of it are to end; never with `stop` */
    int killed;           /* somebody wants it to end, who is ...; -1: that is not known */
    struct control_request request;
    enum fate fate; /* its end is written down */
};

struct round { /* one batch */
    struct tracker *tracker;
    struct followed *jobs;
    size_t count;
    struct job_call **calls; /* room for a batch */
    const char *about;       /* what the guard says of the whole: its only job, or "" */
};

struct tracker {
    struct stage stage;
    struct executor *executor;
    struct repository *repository;
    struct retry_table *table;
    char table_commit[64]; /* the commit `table` is from */
    struct watch *watch;
    struct names *jobs;  /* id -> struct tracked */
    struct arena *arena; /* of one batch */
    struct guard *guard; /* what this process is about */
    bool executor_lost;
    int64_t orphans_next;  /* of clock_elapsed(): when jobs without a directory are looked for */
    int lost_asked;        /* of how many of them the executor was asked in this round */
    int64_t capacity_next; /* of clock_elapsed(): when DIR/capacity must be written again ... */
    bool capacity_idle;    /* ... which it was since the last job went */
};

/* Read a job's record.  One that is damaged is followed to its end by what its log tells: whatever
 * its files say, it runs.  -1 and a sentence when it cannot be read now. */
int track_read_record(struct tracker *tracker, int job, const char *id, struct job_record *record,
                      struct error *error);

/* The retry.txt of the newest commit of templates.git that has a good one; NULL when none had. */
const struct retry_table *track_table(struct tracker *tracker);

/* Forget a job that has moved on. */
void track_forget(struct tracker *tracker, struct tracked *tracked);

/* Ask the executor about the jobs of a batch (at most BATCH), act on its answers, and end those that
 * have ended: they are no longer in tracker->jobs then. */
void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count);

/* follow_tasks.c: tasks of an array that somebody kills by themselves.  Before the poll: which these are.  */
void follow_tasks_ask(struct tracker *tracker, struct followed *followed);
/* After it: what to do about them.  False when the answer says nothing of how the job stands. */
bool follow_tasks_decide(struct tracker *tracker, struct followed *followed);
/* Tell them to end. */
void follow_tasks_stop(struct round *round);
void follow_tasks_free(struct tracked *tracked);

/* rescale.c: do about the requests for other sizes what can be done now: after the poll, before it is
 * decided what its answers call for. */
void rescale_jobs(struct round *round);

/* preempt.c: from now on the job is to end; that is in its log, and durable. */
void preempt_begin(struct tracked *tracked, const struct resize_request *request);
/* What the log of a job says of that, from before a restart. */
void preempt_recall(struct tracked *tracked, struct text log);
/* Tell those that have not been told yet. */
void preempt_tell(struct round *round);
/* Is it to end now, having had its time to save its state? */
bool preempt_ends(const struct tracked *tracked);
/* Whether a job that has ended, if it gave way, is to go on.  It is not when all was done by then. */
bool preempt_goes_on(const struct tracked *tracked, const struct job_poll *poll);
/* Write that into the diagnosis and the record. */
void preempt_diagnosis(const struct tracked *tracked, const struct circumstances *circumstances,
                       const struct job_poll *poll, struct job_record *record,
                       struct diagnosis *diagnosis);

/* follow_output.c */
void follow_output_copy(struct round *round);
/* What was measured of the size that a job has now, or had: an event in its log.  Nothing when nothing
 * was.  -1 and a sentence. */
int follow_output_note_measured(int job, const struct tracked *tracked,
                                const struct job_record *record, struct error *error);

/* follow_end.c: of the jobs that are to end, write down how; and end those that are written down. */
void follow_end_write(struct round *round);
void follow_end_jobs(struct round *round);

#endif
