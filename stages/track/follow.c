/* stages/track/follow.c - what becomes of submitted jobs: asked about, copied, stopped, ended
 *
 * All that the executor is asked goes in batches, so that it can have many requests under way and
 * one job that hangs delays no other: first how the jobs fare; then those that are to have another
 * size are seen to, and what each answer calls for is decided; then those that are to stop are told
 * so, and what tasks have printed is copied; then the ends are written down, made durable, forgotten
 * by the executor, and the jobs moved.
 */
#include "stages/track/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/shared/give_up.h"
#include "stages/shared/sweep.h"
#include "stages/track/lost.h"
#include "stages/track/progress.h"

/* Opening the batch, and asking about it */

static void close_job(struct followed *followed)
{
    (void)eventlog_close(&followed->log, NULL);
    sys.close(followed->job);
}

/* Learn what a job is of which only the name is known.  One over which the stage has died too often is given up, and
 * what cannot be followed now is forgotten until its name is met again.  False when this round has nothing to do with
 * it. */
static bool learn_job(struct round *round, struct followed *followed)
{
    struct tracker *tracker = round->tracker;
    bool known = false;
    if (!give_up(&tracker->stage, tracker->guard, &followed->place, tracker->executor)) {
        guard_enter(tracker->guard, followed->place.id, 0);
        followed->job = job_open(&tracker->stage.spool, &followed->place);
        followed->record = arena_allocate(tracker->arena, sizeof(*followed->record));
        known =
            followed->job >= 0 && track_learn(tracker, followed, round->count < tracker->logs_most);
    }
    guard_enter(tracker->guard, round->about, 0);
    if (known && !followed->tracked->elsewhere)
        return true;
    if (followed->job >= 0)
        close_job(followed);
    if (!known) {
        watch_expect(tracker->watch);
        track_forget(tracker, followed->tracked);
    }
    return false;
}

/* Open the directory of a job for this round.  False when it is missing or cannot be opened.  The tasks of a
 * removed job are ended at the executor; an orphan whose directory is back is followed like any other job. */
static bool open_job(struct round *round, struct tracked *tracked)
{
    struct followed *followed = &round->jobs[round->count];
    struct text id = track_id(tracked);
    *followed = (struct followed){
        .tracked = tracked, .place.state = STATE_SUBMITTED, .job = -1, .log.file = -1};
    memcpy(followed->place.id, id.data, id.length);
    if (!tracked->learned && !learn_job(round, followed))
        return false;
    followed->fate = tracked->fate;
    if (followed->job < 0)
        followed->job = job_open(&round->tracker->stage.spool, &followed->place);
    if (followed->job < 0 && errno == ENOENT) {
        if (lost_handle_job(round->tracker, tracked))
            track_forget(round->tracker, tracked);
        return false;
    }
    if (followed->job >= 0 && tracked->orphan) {
        sys.close(followed->job);
        watch_expect(round->tracker->watch);
        track_forget(round->tracker,
                     tracked); /* it has come back, and will be followed like any other */
        return false;
    }
    if (followed->job >= 0) {
        free(tracked->lost);
        tracked->lost = NULL;
    }
    if (followed->job < 0)
        log_warn("%s: following it failed, and is retried: %s", followed->place.id,
                 strerror(errno));
    followed->poll = (struct job_poll){.id = followed->place.id, .attempt = tracked->attempt};
    followed->call = (struct job_call){.id = followed->place.id, .attempt = tracked->attempt};
    if (followed->job >= 0)
        lines_begin(followed);
    return followed->job >= 0;
}

static void open_jobs(struct round *round, struct tracked **batch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (open_job(round, batch[i]))
            round->count++;
}

/* Ask the executor about the jobs whose end is not written down yet.  False when it cannot be asked. */
static bool ask_executor(struct round *round)
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
        followed->killed = control_file_pending(followed->job, CONTROL_KILL, &followed->request);
        followed->poll.ending = followed->killed != 0 || followed->tracked->stopping ||
                                followed->tracked->preemption || fenced;
        followed->poll.waited_for = followed->tracked->waiting ? followed->tracked->waiting : "";
        followed->poll.waited_since = followed->tracked->waiting_since;
        followed->poll.unreachable = followed->tracked->unreachable;
        follow_tasks_ask(tracker, followed);
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
static void note_waiting(struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    const struct job_poll *poll = &followed->poll;
    if (tracked->waiting && strncmp(tracked->waiting, poll->detail, WAITING_LENGTH) == 0)
        return;
    track_keep_waiting(tracked, text_of(poll->detail));
    tracked->waiting_since = clock_now();
    progress_add_waiting(&followed->lines, poll);
}

/* Have the job told to end: politely first, and with force once its grace period is over. */
static void want_stop(const struct tracker *tracker, struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    if (tracked->stopping && (tracked->forced || clock_elapsed() < tracked->stop_time))
        return;
    followed->stop = true;
    followed->call.force = tracked->stopping || tracker->stage.settings.kill_grace == 0;
}

/* Turn the success of a job that is to run again into a failure, so that it is retried: a service's work is
 * never done. */
static void run_again(struct job_poll *poll)
{
    poll->phase = PHASE_FAILED;
    poll->exit_code = 0;
    snprintf(poll->reason, sizeof(poll->reason), "Completed");
    snprintf(
        poll->detail, sizeof(poll->detail),
        "The job succeeded, and its job file asks for another run whenever it ends (retryCount -2).");
}

/* Decide from the executor's answer what this round does with a job: stop it, end it, or copy its output. */
static void decide_action(struct tracker *tracker, struct followed *followed)
{
    const struct job_poll *poll = &followed->poll;
    struct tracked *tracked = followed->tracked;
    bool killed = followed->killed > 0;
    bool late = suspend_limit_is_over(tracked, poll);
    bool stop = killed || late || preempt_ends(tracked);
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;

    if (poll->phase == PHASE_UNKNOWN || followed->killed < 0 ||
        !follow_tasks_decide(tracker, followed))
        return;
    if (poll->phase == PHASE_SUCCEEDED && tracked->again && !killed)
        run_again(&followed->poll);
    if (poll->phase == PHASE_WAITING && poll->detail[0])
        note_waiting(followed);
    if (!tracked->started && (poll->phase == PHASE_RUNNING || (ended && poll->started))) {
        progress_add_started(&followed->lines, poll);
        tracked->started = true;
        tracked->times.started = poll->started ? poll->started : clock_now();
    }
    images_ran_note(&tracked->images, poll, &followed->lines);
    if (!ended)
        lines_write(followed, NULL); /* those of an end are written with it */
    tasks_now_note(&tracked->tasks, followed->job, poll, tracked->array);
    unreachable_note(&tracked->unreachable, followed->job, poll);
    bool runs =
        poll->phase != PHASE_VANISHED && poll->phase != PHASE_SUCCEEDED && !all_tasks_ended(poll);
    if (runs && (stop || ended)) {
        want_stop(tracker, followed);
        followed->call.force = followed->call.force || late; /* as where the executor keeps it */
        followed->copy = clock_elapsed() >= tracked->next_output;
    } else if (poll->phase == PHASE_WAITING && stop) {
        want_stop(tracker, followed);
    } else if (ended || poll->phase == PHASE_VANISHED) {
        followed->end = followed->copy = true;
    } else {
        followed->copy = clock_elapsed() >= tracked->next_output;
    }
}

/* Acting on it */

int64_t track_grace(const struct tracker *tracker, const struct job_call *told)
{
    int64_t grace = tracker->stage.settings.kill_grace;
    return told->grace > grace ? told->grace : grace;
}

/* Write down which tasks of an array are left before it is told to end: killed tasks may end with exit code 0,
 * as programs do that save their state.  -1 and a sentence. */
static int note_left(struct tracker *tracker, struct followed *followed, struct error *error)
{
    struct job_record record;
    if (track_read_record(tracker, followed->job, followed->poll.id, &record, error))
        return -1;
    if (!record.array.length || record.array_left.length)
        return 0;
    sweep_note_left(tracker->arena, &record, &followed->poll);
    return track_replace_record(followed, &record, error);
}

/* Ask the executor to stop the jobs that must stop.  For a killed array, first note which tasks
 * were left; the grace period runs from the first request. */
static void stop_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct error error;
    struct followed *told[BATCH];
    size_t count = 0, first = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->stop && followed->killed > 0 && !followed->tracked->stopping &&
            note_left(tracker, followed, &error)) {
            log_warn("%s: cannot be stopped yet: %s", followed->place.id, error.text);
            followed->stop = false;
        }
        if (!followed->stop)
            continue;
        if (!followed->tracked->stopping)
            told[first++] = followed;
        round->calls[count++] = &followed->call;
    }
    if (first)
        follow_output_before_end(tracker, told, first);
    if (count)
        tracker->executor->operations->cancel(tracker->executor, round->calls, count);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        struct tracked *tracked = followed->tracked;
        if (!followed->stop)
            continue;
        if (followed->call.result) {
            log_warn("%s: could not be stopped, and is retried: %s", followed->place.id,
                     followed->call.error.text);
            track_rest(tracked, &followed->call);
            continue;
        }
        if (!tracked->stopping)
            tracked->stop_time = clock_elapsed() + track_grace(tracker, &followed->call);
        tracked->stopping = true;
        tracked->forced = followed->call.force;
    }
}

/* Go on with jobs whose end the log tells.  Output that was printed before may not have been on disk, so it is
 * copied again, unless the executor has forgotten the job. */
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

void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count)
{
    struct round round = {
        .tracker = tracker,
        .jobs = arena_allocate(tracker->arena, count * sizeof(*round.jobs)),
        .calls = arena_allocate(tracker->arena, count * sizeof(struct job_call *)),
    };
    char only[ID_SIZE] = "";
    if (count == 1)
        snprintf(only, sizeof(only), "%s", track_id(batch[0]).data);
    round.about = only;
    guard_enter(tracker->guard, only, 0);
    open_jobs(&round, batch, count);
    bool answered = ask_executor(&round);
    if (answered && !stage_is_fenced(&tracker->stage)) {
        rescale_jobs(&round);
        suspend_jobs(&round);
    }
    for (size_t i = 0; i < round.count && answered; i++)
        if (round.jobs[i].fate == FATE_NONE)
            decide_action(tracker, &round.jobs[i]);
    take_up_ended(&round);
    if (!stage_is_fenced(&tracker->stage)) {
        warn_jobs(&round);
        follow_tasks_stop(&round);
        stop_jobs(&round);
        follow_output_copy(&round);
        follow_end_write(&round);
        follow_end_jobs(&round);
    }
    guard_leave(tracker->guard);
    for (size_t i = 0; i < round.count; i++) {
        guard_passed(tracker->guard, round.jobs[i].place.id);
        lines_keep(&round.jobs[i]);
        close_job(&round.jobs[i]);
    }
    arena_reset(tracker->arena);
}
