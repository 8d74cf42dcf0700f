/* stages/track/progress.c - writes the events of a job that the executor has */
#include "stages/track/progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "spool/eventlog.h"

/* When something happened by the executor's clock, if it says so. */
static void add_time(struct buffer *line, const char *key, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        eventlog_add_string(line, key, clock_format(time, buffer));
}

int progress_started(int job, const struct job_poll *poll, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "started");
    eventlog_add_number(&line, "attempt", poll->attempt);
    add_time(&line, "at", poll->started);
    if (poll->node[0])
        eventlog_add_string(&line, "node", poll->node);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

int progress_waiting(int job, const struct job_poll *poll, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "waiting");
    eventlog_add_string(&line, "why", poll->detail);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

int progress_ended(int job, const struct job_poll *poll, bool complete, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "ended");
    eventlog_add_number(&line, "attempt", poll->attempt);
    add_time(&line, "at", poll->ended);
    eventlog_add_string(&line, "outcome", poll->phase == PHASE_SUCCEEDED ? "succeeded" : "failed");
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        char key[96];
        snprintf(key, sizeof(key), "%s-%d", task->role, task->index);
        if (task->ended)
            eventlog_add_number(&line, key, task->exit_code);
    }
    eventlog_end(&line);
    if (poll->phase == PHASE_SUCCEEDED && complete) {
        eventlog_start(&line, clock_now(), "finished");
        eventlog_add_number(&line, "attempt", poll->attempt);
        eventlog_end(&line);
    }
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}
