/* stages/track/account.c - what each attempt that has ended leaves: a line in the accounts, and its runs in the history
 *
 * The lines of a batch are one write to each file, after the ends are written down and before the sync that makes all
 * durable; no job leaves submitted/ before its account is written.  An attempt whose end was written down before this
 * process started gets its lines from its files: it may have them, and readers count them once.
 */
#include <stdlib.h>
#include <string.h>

#include "stages/track/inside.h"

#include "base/clock.h"
#include "base/log.h"
#include "spool/history.h"
#include "stages/shared/account_files.h"

/* What was measured at each size is for the prediction of other jobs. */
static void add_runs(struct tracker *tracker, struct followed *followed,
                     const struct job_record *record, const struct progress *progress, bool done)
{
    struct buffer lines = {0};
    if (record->request_file.length) /* else it is made from the log, and knows no template */
        history_format(record, progress, done, clock_now(), &lines);
    followed->runs = arena_take(tracker->arena, &lines);
}

static void add_line(struct tracker *tracker, struct followed *followed, struct usage *usage)
{
    const struct job_poll *poll = &followed->poll;
    struct buffer line = {0};
    usage->written = clock_now();
    usage->node = text_of(poll->node);
    usage->nodes = poll->nodes > 0 ? poll->nodes : -1;
    usage->scheduler_id = text_of(poll->scheduler_id);
    usage_format(usage, &line);
    followed->account = arena_take(tracker->arena, &line);
}

int64_t account_elapsed(const struct followed *followed)
{
    const struct job_poll *poll = &followed->poll;
    int64_t started = poll->started ? poll->started : followed->tracked->times.started;
    int64_t ended = poll->ended ? poll->ended : clock_now();
    return started && ended >= started ? ended - started : -1;
}

void account_ended(struct tracker *tracker, struct followed *followed,
                   const struct job_record *record, bool done)
{
    const struct job_poll *poll = &followed->poll;
    struct tracked *tracked = followed->tracked;
    struct usage_times times = tracked->times;
    struct usage usage;
    if (tracked->accounted)
        return;
    times.started = poll->started ? poll->started : times.started;
    times.ended = poll->ended ? poll->ended : clock_now();
    usage_of(&usage, record, measure_progress(tracked->measure), &times, done);
    add_line(tracker, followed, &usage);
    add_runs(tracker, followed, record, measure_progress(tracked->measure), done);
}

void account_removed(struct tracker *tracker, const struct tracked *tracked,
                     const struct job_poll *poll)
{
    const struct usage_times *times = &tracked->times;
    struct buffer line = {0};
    struct usage usage;
    struct error error;
    int64_t now = clock_now();
    usage_clear(&usage);
    usage.written = now;
    usage.id = text_of(poll->id);
    usage.attempt = poll->attempt;
    usage.uid = tracked->uid == (uid_t)-1 ? -1 : (int64_t)tracked->uid;
    usage.executor = text_of(tracker->executor->operations->name);
    usage.submitted = times->submitted;
    usage.eligible = times->eligible;
    usage.accepted = times->accepted;
    usage.started = poll->started ? poll->started : times->started;
    usage.ended = poll->ended ? poll->ended : now;
    usage.outcome = TEXT("removed");
    usage.node = text_of(poll->node);
    usage.nodes = poll->nodes > 0 ? poll->nodes : -1;
    usage.cpu_used = poll->cpu_time > 0 ? poll->cpu_time : -1;
    usage.memory_peak = poll->memory_peak > 0 ? poll->memory_peak : -1;
    usage_format(&usage, &line);
    if (usage_append(&tracker->stage.spool, buffer_text(&line), now, &error))
        log_warn("%s: what it used is not in the accounts: %s", poll->id, error.text);
    buffer_free(&line);
}

/* What is written down of an attempt that ended before this process started. */
static void account_recovered(struct tracker *tracker, struct followed *followed)
{
    struct job_record record;
    struct progress progress;
    struct error error;
    struct buffer line = {0};
    if (track_read_record(tracker, followed->job, followed->place.id, &record, &error)) {
        log_warn("%s: it ends once its account can be written: %s", followed->place.id, error.text);
        followed->end = false;
        return;
    }
    bool done = followed->fate == FATE_DONE;
    account_files_line(followed->job, &record, done, tracker->arena, &progress, &line);
    followed->account = arena_take(tracker->arena, &line);
    add_runs(tracker, followed, &record, &progress, done);
}

/* Nothing waits for the history: what cannot be written is said, and missing. */
static void write_runs(struct round *round)
{
    struct buffer lines = {0};
    struct error error;
    for (size_t i = 0; i < round->count; i++)
        if (round->jobs[i].end && !round->jobs[i].tracked->accounted && round->jobs[i].runs.length)
            buffer_add_text(&lines, round->jobs[i].runs);
    if (history_append(&round->tracker->stage.spool, buffer_text(&lines), &error))
        log_warn("measurements of jobs that have ended are not kept: %s", error.text);
    buffer_free(&lines);
}

/* The accounts cannot be written now: what is known of an end, which its log has, is not worked out and written
 * again. */
static void keep_ends(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        struct tracked *tracked = followed->tracked;
        if (!followed->end || tracked->account || !followed->account.length)
            continue;
        tracked->account = memory_allocate(followed->account.length + 1);
        memcpy(tracked->account, followed->account.data, followed->account.length);
        tracked->fate = followed->fate;
    }
}

int account_write(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct buffer lines = {0};
    struct error error;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->account.length && followed->tracked->account)
            followed->account = text_of(followed->tracked->account);
        if (followed->end && !followed->tracked->accounted && !followed->account.length)
            account_recovered(tracker, followed);
        if (followed->end && !followed->tracked->accounted)
            buffer_add_text(&lines, followed->account);
    }
    int result = 0;
    if (lines.length)
        result = usage_append(&tracker->stage.spool, buffer_text(&lines), clock_now(), &error);
    if (result && !tracker->accounts_fail)
        log_warn("%s; jobs that have ended stay in submitted/ until this works", error.text);
    tracker->accounts_fail = result != 0;
    buffer_free(&lines);
    if (result) {
        keep_ends(round);
        return -1;
    }
    write_runs(round);
    for (size_t i = 0; i < round->count; i++)
        if (round->jobs[i].end)
            round->jobs[i].tracked->accounted = true;
    return 0;
}
