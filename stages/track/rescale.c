/* stages/track/rescale.c - resizes running jobs as the plan says
 *
 * Where the executor can resize a running job, it is asked to; then the new size is written down
 * and made durable; then the request is removed.  After a crash in between it is asked again, which
 * does no harm.  Otherwise the job is preempted (preempt.c): the reason why it is stopped is
 * written down and durable before it gets its signal.
 */
#include "stages/track/inside.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"

static const int64_t next_try = 2000;    /* milliseconds until the executor is asked again ... */
static const int64_t most_tries = 60000; /* ... as long as this */

enum step {
    STEP_NONE,    /* nothing to be done now */
    STEP_ASK,     /* the executor is asked */
    STEP_GRANTED, /* it has that size */
    STEP_STOP,    /* it must be stopped for it */
    STEP_REFUSED  /* it keeps the size that it has */
};

struct rescaling { /* a job with a request */
    struct followed *followed;
    struct job_record record;
    struct resize_request request;
    struct job_resize resize;
    enum step step;
    struct error why; /* of STEP_REFUSED */
};

/* Events */

static int append_event(int job, struct buffer *line, struct error *error)
{
    eventlog_end(line);
    int result = eventlog_append(job, buffer_text(line), error);
    buffer_free(line);
    return result;
}

static void add_request(struct buffer *line, const struct resize_request *request)
{
    eventlog_add_number(line, "generation", request->generation);
    eventlog_add_number(line, "from", request->from);
    eventlog_add_number(line, "to", request->to);
}

/* Before it, what was measured at the size that it had. */
static int note_granted(const struct rescaling *rescaling, struct error *error)
{
    struct buffer line = {0};
    follow_output_add_measured(&line, rescaling->followed->tracked, &rescaling->record);
    eventlog_start(&line, clock_now(), "resized");
    add_request(&line, &rescaling->request);
    eventlog_add_string(&line, "reason", rescaling->request.reason);
    return append_event(rescaling->followed->job, &line, error);
}

static int note_refused(const struct rescaling *rescaling, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "kept");
    add_request(&line, &rescaling->request);
    eventlog_add_string(&line, "why", rescaling->why.text);
    return append_event(rescaling->followed->job, &line, error);
}

static int note_stopping(const struct rescaling *rescaling, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "stopping");
    add_request(&line, &rescaling->request);
    if (rescaling->record.checkpoint_signal.length) {
        eventlog_add(&line, "signal", rescaling->record.checkpoint_signal);
        eventlog_add_number(&line, "grace_ms", rescaling->record.checkpoint_grace);
    }
    eventlog_add_string(&line, "reason", rescaling->request.reason);
    return append_event(rescaling->followed->job, &line, error);
}

/* Which requests there are */

static int64_t present_size(const struct job_record *record)
{
    return record->size_now ? record->size_now : record->size;
}

static bool refuse_request(struct rescaling *rescaling, const char *why)
{
    rescaling->step = STEP_REFUSED;
    error_set(&rescaling->why, "%s", why);
    return true;
}

/* Choose the first step for a request. */
static void choose_first_step(const struct tracker *tracker, struct rescaling *rescaling)
{
    const struct job_record *record = &rescaling->record;
    const struct resize_request *request = &rescaling->request;
    bool can_stop = record->checkpoint_signal.length > 0 || (request->loses && !request->to);
    if (request->to && (record->sizes.kind == SIZE_FIXED || request->to < record->sizes.least ||
                        request->to > record->sizes.most))
        refuse_request(rescaling, "The job cannot have that size.");
    else if (request->to && request->to == present_size(record))
        rescaling->step = STEP_GRANTED;
    else if (request->to && tracker->executor->operations->resize)
        rescaling->step = STEP_ASK;
    else if (can_stop)
        rescaling->step = STEP_STOP;
    else
        refuse_request(rescaling, "The job has no checkpoint, so it cannot be stopped and go on.");
}

/* Find a request of this job that can be handled now.  False when there is none. */
static bool find_request(struct tracker *tracker, struct followed *followed,
                         struct rescaling *rescaling)
{
    struct tracked *tracked = followed->tracked;
    enum job_phase phase = followed->poll.phase;
    struct error error;
    *rescaling = (struct rescaling){.followed = followed};
    if (!tracked->sized || followed->fate != FATE_NONE || followed->killed || tracked->stopping ||
        tracked->preemption || (phase != PHASE_RUNNING && phase != PHASE_WAITING) ||
        clock_elapsed() < tracked->next_request || !resize_is_there(followed->job))
        return false;
    if (track_read_record(tracker, followed->job, followed->place.id, &rescaling->record, &error)) {
        log_warn("%s: %s", followed->place.id, error.text);
        return false;
    }
    int pending = resize_pending(followed->job, &rescaling->record, &rescaling->request);
    if (pending == 0)
        resize_clear(followed->job, NULL); /* granted before a crash, or damaged */
    if (pending == 1)
        choose_first_step(tracker, rescaling);
    return pending == 1;
}

/* In place */

static void take_answer(struct rescaling *rescaling)
{
    struct tracked *tracked = rescaling->followed->tracked;
    switch (rescaling->resize.outcome) {
    case RESIZE_DONE:
        rescaling->step = STEP_GRANTED;
        return;
    case RESIZE_NOT_POSSIBLE:
        if (rescaling->record.checkpoint_signal.length)
            rescaling->step = STEP_STOP;
        else
            refuse_request(rescaling, rescaling->resize.error.text);
        return;
    case RESIZE_NO_ROOM:
    case RESIZE_UNAVAILABLE:
        break;
    }
    int64_t now = clock_elapsed();
    rescaling->step = STEP_NONE;
    tracked->next_request = now + next_try;
    if (!tracked->request_patience)
        tracked->request_patience = now + most_tries;
    else if (now >= tracked->request_patience)
        refuse_request(rescaling, rescaling->resize.error.text);
}

static void ask_executor(struct tracker *tracker, struct rescaling *jobs, size_t count)
{
    struct job_resize *batch[BATCH];
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].step != STEP_ASK)
            continue;
        jobs[i].resize = (struct job_resize){
            .id = jobs[i].followed->place.id,
            .attempt = jobs[i].followed->tracked->attempt,
            .kind = jobs[i].record.sizes.kind,
            .size = jobs[i].request.to,
            .outcome = RESIZE_UNAVAILABLE,
        };
        error_set(&jobs[i].resize.error, "The executor did not answer.");
        batch[asked++] = &jobs[i].resize;
    }
    if (asked)
        tracker->executor->operations->resize(tracker->executor, batch, asked);
    for (size_t i = 0; i < count; i++)
        if (jobs[i].step == STEP_ASK)
            take_answer(&jobs[i]);
}

/* Write down what was decided, before the request is removed or the job signalled. */

static int write_down(struct rescaling *rescaling, struct error *error)
{
    struct job_record *record = &rescaling->record;
    const struct resize_request *request = &rescaling->request;
    struct followed *followed = rescaling->followed;
    record->resized = clock_now();
    if (rescaling->step != STEP_STOP)
        record->resizes = request->generation;
    if (rescaling->step == STEP_GRANTED) {
        record->size_now = request->to;
        if (note_granted(rescaling, error))
            return -1;
    } else if (rescaling->step == STEP_REFUSED && note_refused(rescaling, error)) {
        return -1;
    } else if (rescaling->step == STEP_STOP && note_stopping(rescaling, error)) {
        return -1;
    }
    return track_replace_record(followed, record, error);
}

/* Finish a resize request: granted and refused ones are removed; one that needs a stop stays until the job has
 * ended. */
static void carry_on(struct rescaling *rescaling)
{
    struct followed *followed = rescaling->followed;
    struct tracked *tracked = followed->tracked;
    const struct resize_request *request = &rescaling->request;
    enum size_kind kind = rescaling->record.sizes.kind;
    char from[SIZE_TEXT_SIZE], to[SIZE_TEXT_SIZE];
    struct error error;
    size_text(kind, request->from, from);
    size_text(kind, request->to, to);
    tracked->next_request = tracked->request_patience = 0;
    switch (rescaling->step) {
    case STEP_GRANTED:
        measure_resized(tracked->measure, request->to, request->when);
        log_detail("%s: has %s instead of %s", followed->place.id, to, from);
        break;
    case STEP_STOP:
        preempt_begin(tracked, request);
        log_detail("%s: is stopped at its checkpoint for %s", followed->place.id,
                   request->to ? to : "others");
        return; /* the request stays until it has ended */
    case STEP_REFUSED:
        log_warn("%s: keeps its size: %s", followed->place.id, rescaling->why.text);
        break;
    case STEP_NONE:
    case STEP_ASK:
        return;
    }
    if (resize_clear(followed->job, &error))
        log_warn("%s: %s", followed->place.id, error.text);
}

static void write_and_carry_on(struct tracker *tracker, struct rescaling *jobs, size_t count)
{
    struct error error;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].step == STEP_NONE)
            continue;
        if (write_down(&jobs[i], &error)) {
            log_warn("%s: %s; it is resized once this works", jobs[i].followed->place.id,
                     error.text);
            jobs[i].step = STEP_NONE;
        }
        any = any || jobs[i].step != STEP_NONE;
    }
    if (!any)
        return;
    if (spool_sync(&tracker->stage.spool, &error)) {
        log_warn("%s; jobs are resized once this works", error.text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        carry_on(&jobs[i]);
}

void rescale_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct rescaling *jobs = NULL;
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct rescaling found;
        if (!find_request(tracker, &round->jobs[i], &found))
            continue;
        if (!jobs)
            jobs = arena_allocate(tracker->arena, BATCH * sizeof(*jobs));
        jobs[count++] = found;
    }
    if (count) {
        ask_executor(tracker, jobs, count);
        write_and_carry_on(tracker, jobs, count);
    }
    preempt_signal_jobs(round);
}
