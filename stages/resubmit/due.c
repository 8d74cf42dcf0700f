/* stages/resubmit/due.c - which jobs of failed/ are due, and for what */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/resubmit/inside.h"
#include "stages/shared/change_wait.h"
#include "stages/shared/control.h"

static bool executor_ready(struct resubmitter *resubmitter)
{
    struct error error;
    if (!resubmitter->asked_ready && resubmitter->executor) {
        resubmitter->asked_ready = true;
        resubmitter->ready =
            resubmitter->executor->operations->ready(resubmitter->executor, &error) == 0;
        if (!resubmitter->ready)
            log_warn("jobs in failed/ wait for the executor: %s", error.text);
    }
    return resubmitter->ready;
}

/* Ask the executor for its capacity, unless that was done in this pass. */
static void ask_capacity(struct resubmitter *resubmitter)
{
    struct error error;
    if (resubmitter->asked_capacity || !executor_ready(resubmitter))
        return;
    resubmitter->asked_capacity = true;
    resubmitter->have_capacity = resubmitter->executor->operations->capacity(
                                     resubmitter->executor, &resubmitter->capacity, &error) == 0;
}

/* Take what a job needs from the free capacity, if there is enough. */
static bool take_capacity(struct resubmitter *resubmitter, const struct waiting *waiting)
{
    struct capacity *capacity = &resubmitter->capacity;
    ask_capacity(resubmitter);
    /* An executor that takes jobs but cannot report its capacity is tried; the back-off keeps that rare. */
    if (resubmitter->asked_capacity && !resubmitter->have_capacity)
        return true;
    if (!resubmitter->have_capacity || waiting->cpus > capacity->cpus_free ||
        waiting->memory > capacity->memory_free || waiting->gpus > capacity->gpus_free)
        return false;
    capacity->cpus_free -= waiting->cpus;
    capacity->memory_free -= waiting->memory;
    capacity->gpus_free -= waiting->gpus;
    return true;
}

static bool has_changed(const struct resubmitter *resubmitter, const struct waiting *waiting)
{
    const char *commit =
        resubmitter->repository ? repository_commit(resubmitter->repository) : NULL;
    return (commit && strcmp(commit, waiting->commit) != 0) ||
           strcmp(resubmitter->settings, waiting->settings) != 0;
}

/* Check from time to time whether the capacity has changed. */
static void look_for_growth(struct resubmitter *resubmitter)
{
    char now[GROWTH_TEXT_SIZE];
    if (clock_elapsed() < resubmitter->capacity_due)
        return;
    ask_capacity(resubmitter);
    if (!resubmitter->have_capacity)
        return;
    resubmitter->capacity_due = clock_elapsed() + resubmitter->stage.settings.probe_interval;
    growth_describe(resubmitter->executor, &resubmitter->capacity, now);
    if (resubmitter->capacity_changes && strcmp(now, resubmitter->capacity_text) == 0)
        return;
    memcpy(resubmitter->capacity_text, now, sizeof(now));
    resubmitter->capacity_changes++;
}

/* Is there as much capacity now as the job asked for?  Its record is read only when the capacity has changed
 * since the last answer. */
static bool has_grown(struct resubmitter *resubmitter, struct waiting *waiting, int job)
{
    struct job_record record;
    look_for_growth(resubmitter);
    if (!resubmitter->have_capacity || waiting->capacity_seen == resubmitter->capacity_changes)
        return false;
    waiting->capacity_seen = resubmitter->capacity_changes;
    struct growth_wanted wanted = {waiting->cpus, waiting->memory, waiting->gpus};
    bool result = record_read(job, resubmitter->arena, &record, NULL) == 0 &&
                  growth_is_enough(record.failure.capacity, resubmitter->executor,
                                   &resubmitter->capacity, waiting->array ? NULL : &wanted);
    arena_reset(resubmitter->arena);
    return result;
}

/* Is the back-off over?  A time further away than the back-off can be was computed while the clock was wrong:
 * the job does not wait for it. */
static bool has_waited(const struct waiting *waiting, int64_t now)
{
    return now >= waiting->next || waiting->next - now > waiting->delay + waiting->delay / 5;
}

/* The cause of a retry, for the log, when the job is due; otherwise NULL. */
static const char *is_due(struct resubmitter *resubmitter, struct waiting *waiting, int job,
                          int64_t now)
{
    switch (waiting->when) {
    case RETRY_NEVER:
        return NULL;
    case RETRY_AT:
        return has_waited(waiting, now) && executor_ready(resubmitter) ? "time" : NULL;
    case RETRY_ROOM:
        return has_waited(waiting, now) && take_capacity(resubmitter, waiting) ? "room" : NULL;
    case RETRY_EXECUTOR:
        return has_waited(waiting, now) && executor_ready(resubmitter) ? "executor" : NULL;
    case RETRY_CHANGE:
        return waiting->too_much && has_grown(resubmitter, waiting, job) ? "capacity"
               : has_changed(resubmitter, waiting)                       ? "change"
                                                                         : NULL;
    }
    return NULL;
}

/* Has a job waited for a change for long enough, or from a time in the future? */
static bool is_wait_over(const struct resubmitter *resubmitter, const struct waiting *waiting,
                         int64_t now)
{
    const struct job_record record = {.change_since = waiting->change_since};
    return waiting->when == RETRY_CHANGE &&
           change_wait_judge(&resubmitter->stage.settings, &record, now) != CHANGE_WAITS;
}

/* Must the job wait in held/ instead?  So must one that was rendered once and that somebody holds. */
static bool is_to_be_held(int job, const struct waiting *waiting)
{
    struct control_request request;
    return (waiting->when == RETRY_AT || waiting->when == RETRY_ROOM ||
            waiting->when == RETRY_EXECUTOR) &&
           control_file_pending(job, CONTROL_HOLD, &request) == 1;
}

bool due_may_be(const struct resubmitter *resubmitter, const struct waiting *waiting, int64_t now)
{
    if (waiting->is_asked)
        return true;
    if (waiting->when == RETRY_NEVER)
        return false;
    if (waiting->when != RETRY_CHANGE)
        return has_waited(waiting, now);
    return waiting->too_much || has_changed(resubmitter, waiting) ||
           is_wait_over(resubmitter, waiting, now);
}

/* Decide what to do with a candidate. */
void due_decide(struct resubmitter *resubmitter, struct requeue_action *action, int64_t now)
{
    struct job_place place = {.state = STATE_FAILED};
    struct control_request request;
    memcpy(place.id, action->id, sizeof(place.id));
    struct waiting *waiting = names_find(resubmitter->jobs, text_of(action->id));
    int job = job_open(&resubmitter->stage.spool, &place);
    int asked = job < 0 ? -1 : control_file_pending(job, CONTROL_RETRY, &request);
    int killed = asked ? 0 : control_file_pending(job, CONTROL_KILL, &request);
    if (waiting && asked >= 0 && killed >= 0) {
        if (asked) {
            action->cause = "asked";
            action->kind = ACTION_REQUEUE;
        } else if (killed && waiting->when != RETRY_NEVER) {
            action->kind = ACTION_KILL;
        } else if (is_to_be_held(job, waiting)) {
            action->cause = "hold";
            action->kind = ACTION_REQUEUE;
        } else if (is_wait_over(resubmitter, waiting, now)) {
            action->kind = ACTION_END_WAIT;
        } else if ((action->cause = is_due(resubmitter, waiting, job, now))) {
            action->kind = ACTION_REQUEUE;
        }
    }
    if (job >= 0)
        sys.close(job);
}
