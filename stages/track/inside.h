/* stages/track/inside.h - the inside of the track stage: what it knows, and who does what
 *
 *   track.c          knows which jobs there are, and learns what they are
 *   follow.c         asks about a batch of them, decides what to do on each answer, and stops jobs
 *   rescale.c        resizes running jobs as the plan says
 *   preempt.c        stops those that cannot be resized while they run
 *   suspend.c        has those stand still that are held with their memory
 *   warn.c           signals those whose time is nearly over
 *   follow_output.c  copies what they print, and measures their progress
 *   follow_end.c     writes down how they ended, and moves them
 *   lines.c          appends to their logs what a round has to say
 *   account.c        writes what they used into the accounts, and their runs into the history
 *   past_days.c      has the names of jobs of past days in files, where commands look for them
 */
#ifndef STAGES_TRACK_INSIDE_H
#define STAGES_TRACK_INSIDE_H

#include "base/names.h"
#include "job/retry_table.h"
#include "spool/eventlog.h"
#include "spool/usage.h"
#include "stages/guard.h"
#include "stages/shared/control.h"
#include "stages/shared/resize.h"
#include "stages/shared/diagnosis.h"
#include "stages/stage.h"
#include "stages/track/images_ran.h"
#include "stages/track/measure.h"
#include "stages/track/past_days.h"
#include "stages/track/tasks_now.h"
#include "stages/track/unreachable.h"
#include "watcher/watch.h"

enum {
    MOST_TRACKED = 1 << 20, /* jobs; names_add() refuses more, and they wait */
    BATCH = 256,            /* jobs asked about and ended together */
    WAITING_LENGTH = 127    /* bytes of a reason to wait that are compared */
};

enum fate { FATE_NONE, FATE_DONE, FATE_FAILED, FATE_HELD };

struct preemption {                /* a job that is stopped to continue at another size, or later */
    struct resize_request request; /* its size, and why */
    bool cancelled;                /* its signal is the executor's cancel() */
    bool told;                     /* the signal was sent to save its state ... */
    int64_t until;                 /* ... and when its grace period ends, of clock_elapsed */
};

/* A name of submitted/.  There may be many before anything is learned of the first. */
struct tracked_name {
    struct tracked *tracked; /* NULL: the name alone is known */
};

struct tracked {
    struct tracked_name *name;
    bool learned; /* what follows is known */
    int attempt;
    gid_t gid;                /* the group that may read what it prints */
    uid_t uid;                /* its owner; -1: not known */
    struct usage_times times; /* that its log tells of */
    bool accounted;           /* its line is in the accounts; or */
    char *account;            /* ... is this, while it could not be written; NULL: not known yet */
    char *unwritten;          /* lines that could not be appended to its log; NULL: none */
    bool started;             /* its "started" event is written, or in a line that is to be */
    bool again;               /* its success too is followed by another attempt */
    bool elsewhere;      /* it runs on another machine, whose executor cannot be asked from here */
    bool stopping;       /* it was told to end ... */
    bool forced;         /* ... with force */
    int64_t stop_time;   /* of clock_elapsed: when the grace period ends */
    int64_t next_output; /* of clock_elapsed */
    int64_t rest; /* of clock_elapsed: the scheduler asks to be left alone with it until then */
    /* of clock_elapsed: since when its output cannot be copied; 0: it can */
    int64_t output_trouble;
    enum fate fate;        /* its end is written down already ... */
    bool recovered;        /* ... and was before this process started */
    char *waiting;         /* the last reason it waited for; NULL: none; ... */
    int64_t waiting_since; /* ... and the time of day at which its log says so */
    struct measure *measure;
    struct images_ran *images; /* that its log tells of */
    struct tasks_now *tasks;   /* that are written down */
    struct names *unreachable; /* as in job_poll; NULL: there is none */
    bool noted;                /* what was measured is written down for good */
    bool array;                /* single tasks of it can be killed ... */
    struct task_kills *kills;  /* ... and these are to be killed; NULL: nobody has requested it */
    bool sized;                /* it can be resized, or stopped and continued: look for requests */
    int64_t next_request;     /* of clock_elapsed: when a request that could not be granted is tried
                                   again ... */
    int64_t request_patience; /* ... and when to give up; 0: there is none */
    struct preemption *preemption; /* NULL: it is not stopped for that */
    struct warning *warning;       /* it is signalled before its time limit; NULL: it is not */
    int64_t time_limit;            /* milliseconds; 0: none */
    int64_t
        suspended; /* time of day since when it stands still, held with its memory; 0: it does not */
    int64_t suspended_for; /* milliseconds for which it did before, in this attempt */
    bool seen_running;     /* since this process began to track it */
    int64_t clock_ahead;   /* then: clock_now() is so much more than clock_elapsed() */
    bool may_stand;        /* it may stand still although its log does not say so */
    struct lost_job *lost; /* its directory is gone (lost.h); NULL: it exists */
    bool orphan;           /* only its id and attempt are known, from the executor */
};

struct followed {            /* a job of a batch */
    struct tracked *tracked; /* NULL: it has been moved */
    struct job_place place;
    int job;             /* its directory; -1: it is gone */
    struct open_log log; /* where this batch has learned what the job is */
    struct job_poll poll;
    struct job_call call; /* to stop it, copy its output, or forget it */
    bool stop, copy, end; /* what to do with it */
    bool stop_tasks;      /* kill some of its tasks; never with `stop` */
    int killed;           /* somebody requested its end, namely ...; -1: that is not known */
    struct control_request request;
    struct buffer lines; /* for its log, that are still to be appended */
    enum fate fate;      /* its end is written down */
    /* As this batch has read it, in the arena.  NULL: it has not, or it was replaced since */
    struct job_record *record;
    bool done;       /* the record is what ends up in done/ ... */
    int64_t elapsed; /* ... and the job ran for that long in this attempt; -1: it did not */
    struct text account, runs; /* its lines for the accounts and for the history; in the arena */
};

struct round { /* one batch */
    struct tracker *tracker;
    struct followed *jobs;
    size_t count;
    struct job_call **calls; /* room for a batch */
    const char *about;       /* the name that the guard notes for the batch: its only job, or "" */
};

struct tracker {
    struct stage stage;
    struct executor *executor;
    struct repository *repository;
    struct retry_table *table;
    char table_commit[64]; /* the commit `table` is from */
    struct watch *watch;
    struct names *jobs;  /* id -> struct tracked_name */
    struct arena *arena; /* of one batch */
    size_t logs_most;    /* of a batch, whose logs may stay open */
    struct guard *guard; /* what this process works on */
    bool executor_lost;
    bool accounts_fail;    /* they could not be written, which was said */
    int64_t orphans_next;  /* of clock_elapsed(): when jobs without a directory are looked for */
    int lost_asked;        /* about how many of them the executor was asked in this round */
    int64_t capacity_next; /* of clock_elapsed(): when DIR/capacity must be written again ... */
    bool capacity_idle;    /* ... which was done since the last job ended */
    struct past_days past; /* how far the names of jobs in done/ are in files */
};

/* Read a job's record.  A damaged one is logged, renamed, and replaced by one that is made from the job's log, as
 * the job runs whatever its files say.  One whose seal is wrong grants nothing to the job's owner.  -1 and a
 * sentence when the record cannot be read now. */
int track_read_record(struct tracker *tracker, int job, const char *id, struct job_record *record,
                      struct error *error);

/* Replace the record of a job of the batch.  -1 and a sentence. */
int track_replace_record(struct followed *followed, const struct job_record *record,
                         struct error *error);

/* Learn what a job is whose directory is open, by its record, which is read, and its log, which stays open where
 * `keeps_log`.  A copy of a job is settled instead.  False when it is not to be followed now. */
bool track_learn(struct tracker *tracker, struct followed *followed, bool keeps_log);

/* The retry.txt of the newest commit of templates.git that has a valid one; NULL when none has.  -1 with a
 * sentence while no commit can be read: what would be said of a failure might not be true. */
int track_table(struct tracker *tracker, const struct retry_table **table, struct error *error);

/* The call for it has failed: leave it alone for as long as the scheduler asks. */
void track_rest(struct tracked *tracked, const struct job_call *call);

/* Begin to track the job of that name, of which nothing is known so far. */
struct tracked *track_begin(struct tracked_name *name);
struct text track_id(const struct tracked *tracked); /* a NUL follows it */
/* Keep the reason that it waits for, cut to what is compared. */
void track_keep_waiting(struct tracked *tracked, struct text reason);
/* Forget a job that has left submitted/, and its name. */
void track_forget(struct tracker *tracker, struct tracked *tracked);

/* Ask the executor about the jobs of a batch (at most BATCH), act on its answers, and end those that
 * have ended: they are no longer in tracker->jobs then. */
void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count);

/* How long to leave alone what was told to end: the kill_grace of the settings, or longer if the scheduler's
 * grace period is. */
int64_t track_grace(const struct tracker *tracker, const struct job_call *told);

/* follow_tasks.c: single tasks of an array that somebody kills.  Before the poll: find out which. */
void follow_tasks_ask(struct tracker *tracker, struct followed *followed);
/* After the poll: decide what to do about them.  False when the answer does not tell the job's
 * state. */
bool follow_tasks_decide(struct tracker *tracker, struct followed *followed);
/* Tell them to end. */
void follow_tasks_stop(struct round *round);
void follow_tasks_free(struct tracked *tracked);

/* follow_output.c: before these jobs, or tasks of them, are told to end: where the executor loses what they
 * print then, have it see to that. */
void follow_output_before_end(struct tracker *tracker, struct followed *const *told, size_t count);

/* rescale.c: handle the resize requests as far as possible now: after the poll, before its answers
 * are acted on. */
void rescale_jobs(struct round *round);

/* warn.c: whether the job, of that record and log, is to be signalled before its time limit, and which of
 * its tasks have been. */
void warn_learn(const struct tracker *tracker, struct tracked *tracked,
                const struct job_record *record, struct text log);
/* Signal those whose time has come: after the poll. */
void warn_jobs(struct round *round);
void warn_free(struct tracked *tracked);

/* suspend.c: what the log tells. */
void suspend_learn(struct tracked *tracked, const struct job_record *record, struct text log);
/* Have jobs stand still, and go on: after the poll. */
void suspend_jobs(struct round *round);
/* Milliseconds for which the job has stood still in this attempt. */
int64_t suspend_time(const struct tracked *tracked, int64_t now);
/* Is its time limit over, which the executor does not keep? */
bool suspend_limit_is_over(struct tracked *tracked, const struct job_poll *poll);

/* preempt.c: the number of a signal that a job file may name. */
int track_signal_number(struct text name);
/* Begin to stop the job; its log says so, durably. */
void preempt_begin(struct tracked *tracked, const struct resize_request *request);
/* What the log of a job says about that, from before a restart. */
void preempt_recall(struct tracked *tracked, struct text log);
/* Signal the jobs that have not been signalled yet. */
void preempt_signal_jobs(struct round *round);
/* Must it end now, since its time to save its state is over? */
bool preempt_ends(const struct tracked *tracked);
/* Should a job that was preempted and has ended continue?  Not when all its work was done by then. */
bool preempt_goes_on(const struct tracked *tracked, const struct job_poll *poll);
/* Write so into the diagnosis and the record. */
void preempt_diagnosis(const struct tracked *tracked, const struct circumstances *circumstances,
                       const struct job_poll *poll, struct job_record *record,
                       struct diagnosis *diagnosis);

/* follow_output.c */
void follow_output_copy(struct round *round);
/* Add the line for the job's log of what was measured at the size that it has now, or had.  Does nothing when
 * nothing was measured. */
void follow_output_add_measured(struct buffer *lines, const struct tracked *tracked,
                                const struct job_record *record);

/* lines.c: the lines for a job's log that are written together.  Take up those that could not be written in an earlier
 * round. */
void lines_begin(struct followed *followed);
/* Append them.  0 when there is none left; or -1 and a sentence: then they are tried again. */
int lines_write(struct followed *followed, struct error *error);
/* The round is over: keep those that are not written, for the next one. */
void lines_keep(struct followed *followed);

/* account.c: make the lines of an attempt that has ended.  The record has the failure, if it is one. */
void account_ended(struct tracker *tracker, struct followed *followed,
                   const struct job_record *record, bool done);
/* How long the attempt ran, milliseconds; -1: it did not. */
int64_t account_elapsed(const struct followed *followed);
/* Write the line for the accounts of a job whose directory was removed, by the executor's last answer. */
void account_removed(struct tracker *tracker, const struct tracked *tracked,
                     const struct job_poll *poll);
/* Append the lines of all that end in this round.  -1, said, when they cannot be written: then nothing ends. */
int account_write(struct round *round);

/* follow_end.c: write down how jobs ended, and then move the jobs for which that is written. */
void follow_end_write(struct round *round);
void follow_end_jobs(struct round *round);

#endif
