/* stages/track/follow_output.c - copies what the tasks of submitted jobs print, and measures progress */
#include "stages/track/inside.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/shared/output.h"

static const int64_t output_interval = 2000; /* milliseconds between copies of a job's output */
static const int64_t output_patience =
    600000; /* ... that an ended job waits for the last of them */

/* Log trouble once for each job, until its output can be copied again.  The output of an ended job is removed
 * with its containers, so the job waits for it, but not for ever. */
static void note_copied(struct followed *followed)
{
    struct tracked *tracked = followed->tracked;
    if (followed->call.result == 0) {
        tracked->output_trouble = 0;
        return;
    }
    if (!tracked->output_trouble) {
        log_warn("%s: copying its output failed: %s", followed->place.id,
                 followed->call.error.text);
        tracked->output_trouble = clock_elapsed();
    }
    track_rest(tracked, &followed->call);
    if (!followed->call.last)
        return;
    if (clock_elapsed() - tracked->output_trouble < output_patience)
        followed->end = false;
    else
        log_warn("%s: ended, and the rest of its output could not be copied", followed->place.id);
}

/* Have the executor copy what the tasks of these jobs have printed. */
static void copy_output(struct round *round)
{
    struct executor *executor = round->tracker->executor;
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->copy)
            continue;
        followed->call.last = followed->end;
        followed->call.ending =
            followed->tracked->stopping ||
            (followed->tracked->preemption && followed->tracked->preemption->told);
        followed->call.result = -1;
        followed->call.directory =
            output_open(followed->job, followed->tracked->gid, &followed->call.error);
        if (followed->call.directory >= 0)
            round->calls[count++] = &followed->call;
    }
    if (count)
        executor->operations->output(executor, round->calls, count);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->copy)
            continue;
        if (followed->call.directory >= 0)
            sys.close(followed->call.directory);
        note_copied(followed);
    }
}

void follow_output_copy(struct round *round)
{
    if (round->tracker->executor->operations->output)
        copy_output(round);
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->copy)
            continue;
        if (!followed->end)
            measure_update(followed->tracked->measure, followed->job, &followed->poll);
        followed->tracked->next_output = clock_elapsed() + output_interval;
    }
}

void follow_output_before_end(struct tracker *tracker, struct followed *const *told, size_t count)
{
    struct job_call *calls[BATCH];
    size_t asked = 0;
    for (size_t i = 0; i < count && tracker->executor->operations->loses_output; i++) {
        struct job_call *call = &told[i]->call;
        call->last = false;
        call->ending = true;
        call->directory = output_open(told[i]->job, told[i]->tracked->gid, &call->error);
        if (call->directory >= 0)
            calls[asked++] = call;
        else
            log_warn("%s: its last output may be lost: %s", call->id, call->error.text);
    }
    if (asked)
        tracker->executor->operations->output(tracker->executor, calls, asked);
    for (size_t i = 0; i < asked; i++)
        sys.close(calls[i]->directory); /* a failure is retried, and logged, by the next copy */
}

static void add_double(struct buffer *line, const char *key, double value)
{
    char buffer[32];
    snprintf(buffer, sizeof(buffer), "%.6g", value);
    eventlog_add_string(line, key, buffer);
}

void follow_output_add_measured(struct buffer *lines, const struct tracked *tracked,
                                const struct job_record *record)
{
    struct progress progress = *measure_progress(tracked->measure);
    const struct progress_at_size *now = progress_file_entry(&progress);
    if (!now)
        return;
    eventlog_start(lines, clock_now(), "measured");
    eventlog_add_number(lines, "attempt", tracked->attempt);
    if (record && record->sizes.kind != SIZE_FIXED)
        eventlog_add_number(lines, "size", now->size);
    add_double(lines, "seconds", (double)now->running / 1000);
    if (now->units > 0)
        add_double(lines, "units", now->units);
    if (now->rate > 0)
        add_double(lines, "rate", now->rate);
    if (progress.start_up >= 0)
        add_double(lines, "start_up", (double)progress.start_up / 1000);
    if (now->cpu_used >= 0 && now->cpu_allocated > 0)
        eventlog_add_number(lines, "cpu_percent",
                            (now->cpu_used * 100 + now->cpu_allocated / 2) / now->cpu_allocated);
    eventlog_end(lines);
}
