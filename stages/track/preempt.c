/* stages/track/preempt.c - stops running jobs at their checkpoint, to continue at another size, or later
 *
 * The job's log says so, durably, before it gets its signal, so that its end is not taken for a failure
 * after a crash.  When its grace period is over it is ended like a killed job.  How it continues is
 * decided when it has ended: by then it may have done all its work, or somebody may have killed it.
 */
#include "stages/track/inside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"

/* Milliseconds for which the signal is tried, beside the grace period. */
static const int64_t most_tries = 60000;

void preempt_begin(struct tracked *tracked, const struct resize_request *request)
{
    if (!tracked->preemption)
        tracked->preemption = memory_allocate(sizeof(*tracked->preemption));
    *tracked->preemption = (struct preemption){.request = *request};
}

void preempt_recall(struct tracked *tracked, struct text log)
{
    struct arena *arena = arena_new();
    struct event event, found = {0};
    while (eventlog_next(&log, &event)) {
        if (text_is(event.name, "resize"))
            tracked->sized = true;
        if (text_is(event.name, "intent"))
            found = (struct event){0};
        else if (text_is(event.name, "stopping"))
            found = event;
    }
    if (found.name.length) {
        struct resize_request request = {
            .generation = (int)eventlog_get_number(&found, "generation", 0),
            .from = eventlog_get_number(&found, "from", 0),
            .to = eventlog_get_number(&found, "to", 0),
            .loses = !eventlog_get(arena, &found, "signal").length,
            .when = found.time,
        };
        struct text reason = eventlog_get(arena, &found, "reason");
        snprintf(request.reason, sizeof(request.reason), "%.*s", (int)reason.length,
                 reason.length ? reason.data : "");
        preempt_begin(tracked, &request);
    }
    arena_free(arena);
}

int track_signal_number(struct text name)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {
        {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"HUP", SIGHUP}};
    for (size_t i = 0; i < ARRAY_COUNT(signals); i++)
        if (text_is(name, signals[i].name))
            return signals[i].number;
    return SIGTERM; /* which is what a stop is, whatever the job understands */
}

/* Is the job preempted, and not yet signalled? */
static bool is_to_be_told(const struct followed *followed)
{
    const struct preemption *preemption = followed->tracked->preemption;
    return preemption && !preemption->told && followed->fate == FATE_NONE && !followed->killed &&
           !followed->tracked->stopping &&
           (followed->poll.phase == PHASE_RUNNING || followed->poll.phase == PHASE_WAITING);
}

/* The job's signal and its grace period; 0 when nothing needs saving, or that cannot be determined now. */
static int prepare_telling(struct tracker *tracker, struct followed *followed, int64_t *grace)
{
    struct job_record record;
    struct error error;
    *grace = 0;
    if (followed->poll.phase == PHASE_WAITING) {
        followed->tracked->preemption->told = true;
        followed->tracked->preemption->until = clock_elapsed();
        return 0;
    }
    if (track_read_record(tracker, followed->job, followed->place.id, &record, &error)) {
        log_warn("%s: %s", followed->place.id, error.text);
        return 0;
    }
    *grace = record.checkpoint_signal.length ? record.checkpoint_grace
                                             : tracker->stage.settings.kill_grace;
    return track_signal_number(record.checkpoint_signal);
}

/* Can the executor send only SIGTERM? */
static bool sends_term_only(const struct tracker *tracker)
{
    return !tracker->executor->operations->signal;
}

static void note_told(const struct tracker *tracker, struct followed *followed, int64_t grace)
{
    struct tracked *tracked = followed->tracked;
    if (followed->call.result) {
        log_warn("%s: could not be told to save its state, and is retried: %s", followed->place.id,
                 followed->call.error.text);
        track_rest(tracked, &followed->call);
        /* The job is ended all the same, since that was decided. */
        if (!tracked->preemption->until)
            tracked->preemption->until = clock_elapsed() + grace + most_tries;
        return;
    }
    tracked->preemption->told = true;
    tracked->preemption->until = clock_elapsed() + grace;
    if (sends_term_only(tracker)) {
        tracked->preemption->cancelled = true;
        tracked->stopping = true;
        tracked->stop_time = tracked->preemption->until;
    }
}

void preempt_signal_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    const struct executor_operations *operations = tracker->executor->operations;
    struct followed *told[BATCH];
    int64_t grace[BATCH];
    size_t count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!is_to_be_told(followed))
            continue;
        followed->call.signal = prepare_telling(tracker, followed, &grace[count]);
        followed->call.force = false;
        if (!followed->call.signal)
            continue;
        told[count] = followed;
        round->calls[count++] = &followed->call;
    }
    if (!count)
        return;
    if (sends_term_only(tracker))
        follow_output_before_end(tracker, told, count);
    (sends_term_only(tracker) ? operations->cancel : operations->signal)(tracker->executor,
                                                                         round->calls, count);
    for (size_t i = 0; i < count; i++)
        note_told(tracker, told[i], grace[i]);
}

bool preempt_ends(const struct tracked *tracked)
{
    return tracked->preemption && tracked->preemption->until &&
           clock_elapsed() >= tracked->preemption->until;
}

bool preempt_goes_on(const struct tracked *tracked, const struct job_poll *poll)
{
    const struct preemption *preemption = tracked->preemption;
    bool complete = measure_complete(tracked->measure);
    if (!preemption || (poll->phase != PHASE_SUCCEEDED && poll->phase != PHASE_FAILED))
        return false;
    /* A job that succeeds has done its work, unless its units say that it has not.  When the signal
     * is the executor's cancel, how the job ended is unknown; then its units decide, if it had its
     * time to save. */
    if (poll->phase == PHASE_SUCCEEDED)
        return measure_progress(tracked->measure)->total > 0 && !complete;
    return !(preemption->cancelled && complete && !tracked->forced);
}

void preempt_diagnosis(const struct tracked *tracked, const struct circumstances *circumstances,
                       const struct job_poll *poll, struct job_record *record,
                       struct diagnosis *diagnosis)
{
    const struct resize_request *request = &tracked->preemption->request;
    diagnosis_resized(diagnosis, circumstances, record->sizes.kind, request, poll->exit_code);
    if (request->generation > record->resizes)
        record->resizes++;
    if (request->to >= record->sizes.least && request->to <= record->sizes.most)
        record->size_next = request->to;
}
