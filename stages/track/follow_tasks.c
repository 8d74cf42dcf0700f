/* stages/track/follow_tasks.c - kills single tasks of an array while the others go on
 *
 * Which tasks these are is written down in job.yaml before they are told to end: they have not
 * succeeded then, whatever they end with.  A task that has ended by itself meanwhile is left as it is.
 */
#include "stages/track/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/sweep.h"

struct task_kills {
    size_t count;   /* of tasks; the arrays have as many */
    bool *killed;   /* written down */
    bool *late;     /* it had ended when the kill was requested */
    int64_t *again; /* of clock_elapsed: it was told to end, and is then told again, with force;
                       0: it was not told yet */
};

static void start_following(struct tracked *tracked, struct arena *arena,
                            const struct job_record *record)
{
    size_t count;
    const bool *ranks = sweep_ranks(arena, record, record->array_killed, &count);
    struct task_kills *kills = memory_allocate(sizeof(*kills));
    *kills = (struct task_kills){.count = count,
                                 .killed = memory_allocate(count + 1),
                                 .late = memory_allocate(count + 1),
                                 .again = memory_allocate((count + 1) * sizeof(*kills->again))};
    memcpy(kills->killed, ranks, count);
    tracked->kills = kills;
}

void follow_tasks_free(struct tracked *tracked)
{
    if (tracked->kills) {
        free(tracked->kills->killed);
        free(tracked->kills->late);
        free(tracked->kills->again);
    }
    free(tracked->kills);
    tracked->kills = NULL;
}

void follow_tasks_ask(struct tracker *tracker, struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    struct job_record record;
    struct task_request request;
    if (!tracked->array)
        return;
    int asked = control_tasks_pending(followed->job, CONTROL_KILL, tracker->arena, &request);
    if (asked <= 0 && !tracked->kills)
        return;
    if (track_read_record(tracker, followed->job, followed->poll.id, &record, NULL))
        return;
    if (!tracked->kills)
        start_following(tracked, tracker->arena, &record);
    struct task_kills *kills = tracked->kills;
    size_t count;
    bool *wanted = sweep_ranks(tracker->arena, &record, request.tasks, &count);
    for (size_t i = 0; i < kills->count && i < count; i++)
        wanted[i] = kills->killed[i] || (wanted[i] && !kills->late[i]);
    if (count != kills->count)
        return;
    followed->poll.killed = wanted;
    followed->poll.killed_count = count;
}

/* Find the tasks to kill that had not ended by themselves before.  Returns whether there are any that are not
 * written down yet; *misjudged: the answer took a task for killed that had ended by itself. */
static bool find_new(const struct followed *followed, bool *killed, bool *misjudged)
{
    const struct job_poll *poll = &followed->poll;
    struct task_kills *kills = followed->tracked->kills;
    bool any = false;
    *misjudged = false;
    memcpy(killed, poll->killed, kills->count);
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!executor_task_is_killed(poll, task->index) || kills->killed[task->index] ||
            !task->ended || strcmp(task->reason, "Killed") == 0)
            continue;
        kills->late[task->index] = true;
        killed[task->index] = false;
        *misjudged = true;
    }
    for (size_t i = 0; i < kills->count; i++)
        any = any || (killed[i] && !kills->killed[i]);
    return any;
}

static int write_down(struct tracker *tracker, struct followed *followed, const bool *killed,
                      struct error *error)
{
    struct job_record record;
    if (track_read_record(tracker, followed->job, followed->poll.id, &record, error))
        return -1;
    record.array_killed = sweep_list(tracker->arena, &record, killed);
    return track_replace_record(followed, &record, error);
}

/* Take from the poll the state of the tasks to kill.  Returns whether the answer can be used. */
static bool take_answer(struct tracker *tracker, struct followed *followed)
{
    struct task_kills *kills = followed->tracked->kills;
    struct error error;
    bool misjudged, *killed = arena_allocate(tracker->arena, kills->count + 1);
    if (!find_new(followed, killed, &misjudged))
        return !misjudged;
    if (write_down(tracker, followed, killed, &error)) {
        log_warn("%s: its tasks cannot be stopped yet: %s", followed->place.id, error.text);
        return false;
    }
    memcpy(kills->killed, killed, kills->count);
    return !misjudged;
}

/* The tasks that still have to end: those not told so yet, or those whose grace period is over. */
static size_t find_running(const struct followed *followed, bool told, int *tasks)
{
    const struct job_poll *poll = &followed->poll;
    const struct task_kills *kills = followed->tracked->kills;
    int64_t now = clock_elapsed();
    size_t count = 0;
    for (size_t i = 0; i < poll->task_count; i++) {
        int index = poll->tasks[i].index;
        if (poll->tasks[i].ended || index < 0 || (size_t)index >= kills->count ||
            !kills->killed[index])
            continue;
        if (told ? kills->again[index] && kills->again[index] <= now : !kills->again[index])
            tasks[count++] = index;
    }
    return count;
}

/* Have the tasks told to end, politely first. */
static void want_stop(struct tracker *tracker, struct followed *followed)
{
    int *tasks = arena_allocate(tracker->arena, (followed->poll.task_count + 1) * sizeof(*tasks));
    size_t count = find_running(followed, false, tasks);
    bool force = count == 0 || tracker->stage.settings.kill_grace == 0;
    if (count == 0)
        count = find_running(followed, true, tasks);
    if (count == 0)
        return;
    followed->stop_tasks = true;
    followed->call.tasks = tasks;
    followed->call.task_count = count;
    followed->call.force = force;
}

static void note_told(struct followed *followed, int64_t again)
{
    const struct job_call *call = &followed->call;
    for (size_t i = 0; i < call->task_count && call->result == 0; i++)
        followed->tracked->kills->again[call->tasks[i]] = again;
    if (call->result)
        log_warn("%s: its tasks could not be stopped, and are retried: %s", followed->place.id,
                 call->error.text);
}

bool follow_tasks_decide(struct tracker *tracker, struct followed *followed)
{
    enum job_phase phase = followed->poll.phase;
    if (!followed->poll.killed || phase == PHASE_UNKNOWN || phase == PHASE_VANISHED)
        return true;
    if (!take_answer(tracker, followed))
        return false;
    for (size_t i = 0; i < followed->poll.task_count; i++)
        followed->poll.tasks[i].killed =
            executor_task_is_killed(&followed->poll, followed->poll.tasks[i].index);
    if (phase == PHASE_RUNNING || phase == PHASE_WAITING)
        want_stop(tracker, followed);
    return true;
}

void follow_tasks_stop(struct round *round)
{
    enum { LEAST_PAUSE = 1000 }; /* milliseconds between two calls */
    struct tracker *tracker = round->tracker;
    struct followed *told[BATCH];
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->stop) { /* the whole job is to end */
            followed->stop_tasks = false;
            followed->call.tasks = NULL;
            followed->call.task_count = 0;
        }
        if (!followed->stop_tasks)
            continue;
        told[count] = followed;
        round->calls[count++] = &followed->call;
    }
    if (count)
        follow_output_before_end(tracker, told, count);
    if (count)
        tracker->executor->operations->cancel(tracker->executor, round->calls, count);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->stop_tasks)
            continue;
        int64_t grace = track_grace(tracker, &followed->call);
        note_told(followed, clock_elapsed() + (grace > LEAST_PAUSE ? grace : LEAST_PAUSE));
        followed->call =
            (struct job_call){.id = followed->call.id, .attempt = followed->call.attempt};
    }
}
