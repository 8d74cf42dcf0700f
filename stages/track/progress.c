/* stages/track/progress.c - the events of a job that the executor has */
#include "stages/track/progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "spool/eventlog.h"

/* When something happened by the executor's clock, if it says so. */
static void add_time(struct buffer *lines, const char *key, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        eventlog_add_string(lines, key, clock_format(time, buffer));
}

void progress_add_started(struct buffer *lines, const struct job_poll *poll)
{
    eventlog_start(lines, clock_now(), "started");
    eventlog_add_number(lines, "attempt", poll->attempt);
    add_time(lines, "at", poll->started);
    if (poll->node[0])
        eventlog_add_string(lines, "node", poll->node);
    eventlog_end(lines);
}

void progress_add_waiting(struct buffer *lines, const struct job_poll *poll)
{
    eventlog_start(lines, clock_now(), "waiting");
    eventlog_add_string(lines, "why", poll->detail);
    eventlog_end(lines);
}

void progress_add_ended(struct buffer *lines, const struct job_poll *poll, bool complete)
{
    eventlog_start(lines, clock_now(), "ended");
    eventlog_add_number(lines, "attempt", poll->attempt);
    add_time(lines, "at", poll->ended);
    eventlog_add_string(lines, "outcome", poll->phase == PHASE_SUCCEEDED ? "succeeded" : "failed");
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        char key[96];
        snprintf(key, sizeof(key), "%s-%d", task->role, task->index);
        if (task->ended)
            eventlog_add_number(lines, key, task->exit_code);
    }
    eventlog_end(lines);
    if (poll->phase == PHASE_SUCCEEDED && complete) {
        eventlog_start(lines, clock_now(), "finished");
        eventlog_add_number(lines, "attempt", poll->attempt);
        eventlog_end(lines);
    }
}
