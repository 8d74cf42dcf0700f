/* stages/follow.c - what becomes of submitted jobs: asked about, copied, stopped, ended
 *
 * All that the executor is asked goes in batches, so that it can have many requests under way and
 * one job that hangs delays no other: first how the jobs fare; then what each answer calls for is
 * decided; then those that are to stop are told so, and what tasks have printed is copied; then
 * the ends are written down, made durable, forgotten by the executor, and the jobs moved.
 */
#include "stages/tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/control.h"
#include "stages/output.h"
#include "stages/progress.h"
#include "stages/sweep.h"
#include "stages/twin.h"
#include "stages/verdict.h"

static const int64_t output_interval = 2000;    /* milliseconds between copies of a job's output */
static const int64_t output_patience = 600000;  /* ... that an ended job waits for the last of them */

struct followed {               /* a job of the batch */
    struct tracked *tracked;
    struct job_place place;
    int job;                    /* its directory; -1: it is gone */
    struct job_poll poll;
    struct job_call call;       /* to stop it, copy its output, or forget it */
    bool stop, copy, end;       /* what is to be done with it */
    int killed;                 /* somebody wants it to end, who is ...; -1: that is not known */
    struct wish wish;
    enum fate fate;             /* its end is written down */
};

struct round {                  /* one batch */
    struct tracker *tracker;
    struct followed *jobs;
    size_t count;
    struct job_call **calls;    /* room for a batch */
};

static struct circumstances circumstances_of(const struct tracker *tracker)
{
    return (struct circumstances){.settings = &tracker->stage.settings,
                                  .commit = tracker->repository
                                                ? repository_commit(tracker->repository)
                                                : NULL,
                                  .now = clock_now()};
}

/* Opening the batch, and asking about it */

static bool open_job(struct round *round, struct tracked *tracked)
{
    struct followed *followed = &round->jobs[round->count];
    struct text id = names_text(tracked);
    *followed = (struct followed){.tracked = tracked, .place.state = STATE_SUBMITTED,
                                  .fate = tracked->fate};
    memcpy(followed->place.id, id.data, id.length);
    followed->job = job_open(&round->tracker->stage.spool, &followed->place);
    if (followed->job < 0 && errno == ENOENT) {
        names_remove(round->tracker->jobs, tracked);    /* it was moved by hand */
        return false;
    }
    if (followed->job < 0)
        log_warn("%s cannot be followed just now: %s", followed->place.id, strerror(errno));
    followed->poll = (struct job_poll){.id = followed->place.id, .attempt = tracked->attempt};
    followed->call = (struct job_call){.id = followed->place.id, .attempt = tracked->attempt};
    return followed->job >= 0;
}

static void open_jobs(struct round *round, struct tracked **batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (open_job(round, batch[i]))
            round->count++;
}

/* A job whose end is written down is not asked about again.  False when the executor cannot be asked.
 */
static bool ask(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct job_poll *asked[BATCH];
    struct error error;
    size_t count = 0;
    bool fenced = stage_is_fenced(&tracker->stage);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->fate != FATE_NONE)
            continue;
        followed->killed = control_pending(followed->job, CONTROL_KILL, &followed->wish);
        followed->poll.ending = followed->killed != 0 || followed->tracked->stopping || fenced;
        asked[count++] = &followed->poll;
    }
    if (count && tracker->executor->operations->poll(tracker->executor, tracker->arena, asked,
                                                     count, &error)) {
        if (!tracker->executor_lost)
            log_warn("the executor cannot be asked about its jobs: %s", error.text);
        tracker->executor_lost = true;
        return false;
    }
    if (count && tracker->executor_lost) {
        tracker->executor_lost = false;
        log_say("the executor answers again");
    }
    return true;
}

/* What an answer calls for */

static bool all_tasks_ended(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (!poll->tasks[i].ended)
            return false;
    return true;
}

/* Said once for each reason, not at every poll. */
static void note_waiting(struct tracked *tracked, int job, const struct job_poll *poll)
{
    if (strncmp(tracked->waiting, poll->detail, sizeof(tracked->waiting) - 1) == 0)
        return;
    snprintf(tracked->waiting, sizeof(tracked->waiting), "%.*s",
             (int)sizeof(tracked->waiting) - 1, poll->detail);
    progress_waiting(job, poll, NULL);
}

/* It is told to end politely, and with force once its grace is over. */
static void want_stop(const struct tracker *tracker, struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    if (tracked->stopping && (tracked->forced || clock_elapsed() < tracked->stop_time))
        return;
    followed->stop = true;
    followed->call.force = tracked->stopping || tracker->stage.settings.kill_grace == 0;
}

/* A service has not done its work when it ends. */
static void run_again(struct job_poll *poll)
{
    poll->phase = PHASE_FAILED;
    poll->exit_code = 0;
    snprintf(poll->reason, sizeof(poll->reason), "Completed");
    snprintf(poll->detail, sizeof(poll->detail),
             "The job ended well, and asks to be run again whenever it ends (retryCount -2).");
}

static void decide(const struct tracker *tracker, struct followed *followed)
{
    const struct job_poll *poll = &followed->poll;
    struct tracked *tracked = followed->tracked;
    bool killed = followed->killed > 0;
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;

    if (poll->phase == PHASE_UNKNOWN || followed->killed < 0)
        return;
    if (poll->phase == PHASE_SUCCEEDED && tracked->again && !killed)
        run_again(&followed->poll);
    if (poll->phase == PHASE_WAITING && poll->detail[0])
        note_waiting(tracked, followed->job, poll);
    if (!tracked->started && (poll->phase == PHASE_RUNNING || (ended && poll->started)))
        tracked->started = progress_started(followed->job, poll, NULL) == 0;
    if (poll->phase != PHASE_VANISHED && poll->phase != PHASE_SUCCEEDED && (killed || ended) &&
        !all_tasks_ended(poll))
        want_stop(tracker, followed);
    else if (poll->phase == PHASE_WAITING && killed)
        want_stop(tracker, followed);
    else if (ended || poll->phase == PHASE_VANISHED)
        followed->end = followed->copy = true;
    else
        followed->copy = clock_elapsed() >= tracked->next_output;
}

/* Acting on it */

/* What of an array is left when it is killed is written down before it is told to end: what a kill
 * ends may say that it ended well, as programs do that save their state.  -1 and a sentence. */
static int note_left(struct tracker *tracker, const struct followed *followed, struct error *error)
{
    struct job_record record;
    if (tracker_read_record(tracker, followed->job, followed->poll.id, &record, error))
        return -1;
    if (!record.array.length || record.array_left.length)
        return 0;
    sweep_note_left(tracker->arena, &record, &followed->poll);
    return record_replace(followed->job, &record, error);
}

static void stop_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct error error;
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->stop && followed->killed > 0 && !followed->tracked->stopping &&
            note_left(tracker, followed, &error)) {
            log_warn("%s cannot be stopped yet: %s", followed->place.id, error.text);
            followed->stop = false;
        }
        if (followed->stop)
            round->calls[count++] = &followed->call;
    }
    if (count)
        tracker->executor->operations->cancel(tracker->executor, round->calls, count);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        struct tracked *tracked = followed->tracked;
        if (!followed->stop)
            continue;
        if (followed->call.result) {
            log_warn("%s could not be stopped, and is tried again: %s", followed->place.id,
                     followed->call.error.text);
            continue;
        }
        if (!tracked->stopping)
            tracked->stop_time = clock_elapsed() + tracker->stage.settings.kill_grace;
        tracked->stopping = true;
        tracked->forced = followed->call.force;
    }
}

/* Trouble is said once for each job, until its output can be copied again.  What an ended job has
 * printed goes with its containers, so the job waits for it; but not for ever. */
static void note_copied(struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    if (followed->call.result == 0) {
        tracked->output_trouble = 0;
        return;
    }
    if (!tracked->output_trouble) {
        log_warn("%s: the output could not be copied: %s", followed->place.id,
                 followed->call.error.text);
        tracked->output_trouble = clock_elapsed();
    }
    if (!followed->call.last)
        return;
    if (clock_elapsed() - tracked->output_trouble < output_patience)
        followed->end = false;
    else
        log_warn("%s ends without the rest of its output", followed->place.id);
}

static void copy_output(struct round *round)
{
    struct tracker *tracker = round->tracker;
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->copy)
            continue;
        followed->call.last = followed->end;
        followed->call.result = -1;
        followed->call.directory = output_open(followed->job, followed->tracked->gid, &followed->call.error);
        if (followed->call.directory >= 0)
            round->calls[count++] = &followed->call;
    }
    if (count)
        tracker->executor->operations->output(tracker->executor, round->calls, count);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->copy)
            continue;
        if (followed->call.directory >= 0)
            sys.close(followed->call.directory);
        note_copied(followed);
        followed->tracked->next_output = clock_elapsed() + output_interval;
    }
}

/* Writing down how jobs ended */

/* Counted from the log: a verdict that was written twice, because a crash came between, counts
 * once.  -1 and a sentence when the log cannot be read just now. */
static int retries_used(int job, struct error *error)
{
    struct buffer log = {0};
    struct eventlog_fold fold = {0};
    int result = file_read_at(job, "log", LOG_LIMIT, &log, error);
    if (!result)
        eventlog_fold(buffer_text(&log), &fold);
    else if (file_is_damaged(errno))
        result = 0;
    buffer_free(&log);
    return result ? -1 : fold.retries;
}

static int write_failure(struct tracker *tracker, const struct followed *followed,
                         struct error *error)
{
    const struct job_poll *poll = &followed->poll;
    int job = followed->job;
    struct job_record record;
    struct verdict verdict;
    struct circumstances circumstances = circumstances_of(tracker);
    if (tracker_read_record(tracker, job, poll->id, &record, error))
        return -1;
    record.retried = retries_used(job, error);
    if (record.retried < 0)
        return -1;
    if (!followed->killed || !record.array_left.length)
        sweep_note_left(tracker->arena, &record, poll);
    if (followed->killed)
        verdict_killed(&verdict, followed->wish.by, followed->wish.when);
    else if (!record.request_file.length)
        verdict_lost_record(&verdict, poll->detail);
    else if (poll->phase == PHASE_VANISHED)
        verdict_vanished(&verdict, &circumstances, &record);
    else
        verdict_ended(&verdict, &circumstances, &record, poll, tracker_table(tracker),
                      output_of_failure(tracker->arena, job, poll, RETRY_LOG_LIMIT));
    return verdict_write(&verdict, job, &record, false, circumstances.now, error);
}

static int write_end(struct tracker *tracker, struct followed *followed, struct error *error)
{
    const struct job_poll *poll = &followed->poll;
    if (poll->phase != PHASE_VANISHED && progress_ended(followed->job, poll, error))
        return -1;
    /* A job that succeeded before the kill reached it has succeeded. */
    if (poll->phase != PHASE_SUCCEEDED && write_failure(tracker, followed, error))
        return -1;
    followed->fate = poll->phase == PHASE_SUCCEEDED ? FATE_DONE : FATE_FAILED;
    return 0;
}

static void write_ends(struct round *round)
{
    struct error error;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->end && followed->fate == FATE_NONE &&
            write_end(round->tracker, followed, &error))
            log_warn("%s: %s", followed->place.id, error.text);
        followed->end = followed->end && followed->fate != FATE_NONE;
    }
}

/* Ending them: durable, forgotten by the executor, moved */

/* The end that a job's log tells of may have come to the disk before what its tasks had printed: it
 * is copied again.  Once it has been forgotten by the executor there is nothing more to copy. */
static void take_up_ended(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->fate == FATE_NONE)
            continue;
        followed->end = true;
        followed->copy = followed->tracked->recovered;
    }
}

static bool move_job(struct tracker *tracker, struct followed *followed)
{
    struct error error;
    enum state to = followed->fate == FATE_DONE ? STATE_DONE : STATE_FAILED;
    if (followed->call.result) {
        log_warn("%s: the executor could not be made to forget it: %s", followed->place.id,
                 followed->call.error.text);
        return false;
    }
    if (job_move(&tracker->stage.spool, &followed->place, to, clock_now(), &error)) {
        log_warn("%s", error.text);
        twin_settle(&tracker->stage, &followed->place, 0);     /* a copy may be in the way */
        return false;
    }
    names_remove(tracker->jobs, followed->tracked);
    log_detail("%s: %s", followed->place.id, state_name(to));
    return true;
}

/* Move those that have ended, and make each directory that they come to durable once. */
static bool move_ended(struct round *round)
{
    struct spool *spool = &round->tracker->stage.spool;
    const struct job_place *day = NULL;
    struct error error;
    bool moved = false;
    for (size_t i = 0; i < round->count; i++) {
        const struct job_place *place = &round->jobs[i].place;
        if (!round->jobs[i].end || !move_job(round->tracker, &round->jobs[i]))
            continue;
        moved = true;
        if (place->state != STATE_DONE)
            continue;
        /* A batch may end at midnight. */
        if (day && strcmp(day->date, place->date) != 0 && spool_sync_place(spool, day, &error))
            log_warn("%s", error.text);
        day = place;
    }
    if (day && spool_sync_place(spool, day, &error))
        log_warn("%s", error.text);
    return moved;
}

static void end_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct spool *spool = &tracker->stage.spool;
    struct error error;
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->end)
            continue;
        if (followed->copy)
            followed->tracked->recovered = false;
        round->calls[count++] = &followed->call;
    }
    if (count == 0 || stage_is_fenced(&tracker->stage))
        return;
    if (spool_sync(spool, &error)) {
        log_warn("%s; jobs end when it can be", error.text);
        return;
    }
    for (size_t i = 0; i < round->count; i++)
        if (round->jobs[i].end)
            round->jobs[i].tracked->fate = round->jobs[i].fate;
    tracker->executor->operations->remove(tracker->executor, round->calls, count);
    if (!move_ended(round))
        return;
    spool_ring_failed(spool);   /* there may be room now */
    if (spool_sync_state(spool, STATE_FAILED, &error) ||
        spool_sync_state(spool, STATE_SUBMITTED, &error))
        log_warn("%s", error.text);
}

void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count)
{
    struct round round = {
        .tracker = tracker,
        .jobs = arena_allocate(tracker->arena, BATCH * sizeof(*round.jobs)),
        .calls = arena_allocate(tracker->arena, BATCH * sizeof(struct job_call *)),
    };
    open_jobs(&round, batch, count);
    bool answered = ask(&round);
    for (size_t i = 0; i < round.count && answered; i++)
        if (round.jobs[i].fate == FATE_NONE)
            decide(tracker, &round.jobs[i]);
    take_up_ended(&round);
    if (!stage_is_fenced(&tracker->stage)) {
        stop_jobs(&round);
        copy_output(&round);
        write_ends(&round);
        end_jobs(&round);
    }
    for (size_t i = 0; i < round.count; i++)
        sys.close(round.jobs[i].job);
    arena_reset(tracker->arena);
}
