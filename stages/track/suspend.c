/* stages/track/suspend.c - running jobs that are held with their memory: they stand still where they are, and go on
 *
 * The request is the file `hold` of the job, which says so (control_file.h), for as long as it is there; the job
 * stays in submitted/, as the executor has it, with all that it was given.  What was done is noted in its log
 * afterwards: after a crash between the two it is asked for again, which does no harm.  It may have been released
 * meanwhile, so the executor is believed when it says that the job stands still.  A job that is killed, or
 * stopped for another reason, goes on for that, and the executor sees to it.
 *
 * While it stands still its time limit does not run.  So the executor does not keep the limit, and is told to end
 * the job here; it is not kept while no daemon serves the spool.
 */
#include "stages/track/inside.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"

/* ---- what has been ---- */

static void fold_event(struct tracked *tracked, const struct event *event, int attempt)
{
    if (eventlog_get_number(event, "attempt", 0) != attempt)
        return;
    if (text_is(event->name, "suspended") && !tracked->suspended) {
        tracked->suspended = event->time;
    } else if (text_is(event->name, "continued") && tracked->suspended) {
        tracked->suspended_for += event->time - tracked->suspended;
        tracked->suspended = 0;
    }
}

void suspend_learn(struct tracked *tracked, const struct job_record *record, struct text log)
{
    struct event event;
    tracked->time_limit = record->time_limit;
    tracked->may_stand = true;
    while (eventlog_next(&log, &event))
        fold_event(tracked, &event, record->attempt);
}

int64_t suspend_time(const struct tracked *tracked, int64_t now)
{
    int64_t standing = tracked->suspended ? now - tracked->suspended : 0;
    return tracked->suspended_for + (standing > 0 ? standing : 0);
}

/* How late it is for a job that runs: by the clock when it was first seen to run, and from then on by the one that
 * nobody can set, as a clock that is set forward must end no job. */
static int64_t steady_now(struct tracked *tracked)
{
    if (!tracked->seen_running) {
        tracked->seen_running = true;
        tracked->clock_ahead = clock_now() - clock_elapsed();
    }
    return clock_elapsed() + tracked->clock_ahead;
}

bool suspend_limit_is_over(struct tracked *tracked, const struct job_poll *poll)
{
    if (!poll->untimed || !tracked->time_limit || !poll->started || tracked->array ||
        poll->phase != PHASE_RUNNING || tracked->suspended)
        return false;
    return steady_now(tracked) - poll->started - tracked->suspended_for >= tracked->time_limit;
}

/* ---- what is to be ---- */

/* Is another state wanted than the one that it is in?  *stop tells which. */
static bool is_due(const struct tracker *tracker, const struct followed *followed, bool *stop,
                   struct control_request *request)
{
    const struct tracked *tracked = followed->tracked;
    bool ends = followed->killed || tracked->stopping || tracked->preemption;
    bool stands = tracked->suspended || (tracked->may_stand && followed->poll.stands);
    if (followed->fate != FATE_NONE || followed->poll.phase != PHASE_RUNNING || tracked->array ||
        !tracker->executor->operations->suspend ||
        (!stands && (ends || !tracker->executor->suspends)))
        return false;
    int held = control_file_pending(followed->job, CONTROL_HOLD, request);
    if (held < 0)
        return false;
    *stop = held && request->keeps_memory && !ends;
    return *stop ? !tracked->suspended : stands;
}

static int note(const struct followed *followed, bool stop, const struct control_request *request,
                int64_t now, struct error *error)
{
    struct buffer line = {0};
    if (stop)
        eventlog_start(&line, now, "suspended");
    else
        eventlog_start(&line, now, "continued");
    eventlog_add_number(&line, "attempt", followed->tracked->attempt);
    if (stop)
        eventlog_add_string(&line, "by", request->by);
    eventlog_end(&line);
    int result = eventlog_append(followed->job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

static void suspend_one(struct tracker *tracker, struct followed *followed, bool stop,
                        const struct control_request *request)
{
    struct tracked *tracked = followed->tracked;
    struct job_call call = {.id = followed->place.id, .attempt = tracked->attempt, .suspend = stop};
    struct job_call *batch = &call;
    int64_t now = clock_now();
    tracker->executor->operations->suspend(tracker->executor, &batch, 1);
    if (!call.result)
        call.result = note(followed, stop, request, now, &call.error);
    tracked->may_stand = call.result != 0;
    if (call.result) {
        log_warn("%s: could not be %s, and is retried: %s", followed->place.id,
                 stop ? "suspended" : "continued", call.error.text);
        return;
    }
    tracked->suspended_for = suspend_time(tracked, now);
    tracked->suspended = stop ? now : 0;
    log_detail("%s: %s", followed->place.id, stop ? "suspended" : "continued");
}

static int compare_indexes(const void *a, const void *b)
{
    const int *first = a, *second = b;
    return (*first > *second) - (*first < *second);
}

/* Of an array each task has the limit by itself, and none stands still. */
static void end_late_tasks(struct tracker *tracker, struct followed *followed)
{
    const struct job_poll *poll = &followed->poll;
    int *late = arena_allocate(tracker->arena, (poll->task_count + 1) * sizeof(*late));
    struct job_call call = {
        .id = followed->place.id, .attempt = poll->attempt, .force = true, .tasks = late};
    struct job_call *batch = &call;
    int64_t now = clock_now();
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!task->ended && !task->waits && task->started &&
            now - task->started >= followed->tracked->time_limit)
            late[call.task_count++] = task->index;
    }
    if (!call.task_count)
        return;
    qsort(late, call.task_count, sizeof(*late), compare_indexes);
    tracker->executor->operations->cancel(tracker->executor, &batch, 1);
    if (call.result)
        log_warn("%s: tasks whose time limit is over could not be ended: %s", followed->place.id,
                 call.error.text);
}

void suspend_jobs(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct control_request request;
        bool stop;
        if (is_due(round->tracker, &round->jobs[i], &stop, &request))
            suspend_one(round->tracker, &round->jobs[i], stop, &request);
        else if (round->jobs[i].poll.phase == PHASE_RUNNING)
            round->jobs[i].tracked->may_stand = false;
        const struct followed *followed = &round->jobs[i];
        if (followed->tracked->array && followed->poll.untimed && followed->tracked->time_limit &&
            followed->fate == FATE_NONE && followed->poll.phase == PHASE_RUNNING)
            end_late_tasks(round->tracker, &round->jobs[i]);
    }
}
