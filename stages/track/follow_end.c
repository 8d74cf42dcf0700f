/* stages/track/follow_end.c - writes down how submitted jobs ended, durably, and moves them */
#include "stages/track/inside.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/yaml.h"
#include "spool/eventlog.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/duplicate.h"
#include "stages/shared/end_line.h"
#include "stages/shared/hold.h"
#include "stages/shared/output.h"
#include "stages/shared/sweep.h"
#include "stages/track/progress.h"

enum { MANIFEST_LIMIT = 16 << 20 }; /* bytes */

static struct circumstances circumstances_of(const struct tracker *tracker, const char *id)
{
    return (struct circumstances){
        .settings = &tracker->stage.settings,
        .id = id,
        .commit = tracker->repository ? repository_commit(tracker->repository) : NULL,
        .now = clock_now()};
}

/* Count the retries from the log: a diagnosis that was written twice, because a crash came between, counts
 * once.  Where the log was damaged, the record says how many there were. */
static int retries_used(struct text log, const struct job_record *record)
{
    struct eventlog_fold fold;
    if (!eventlog_is_whole(log))
        return record->retried;
    eventlog_fold(log, &fold);
    return fold.retries;
}

/* What the manifest gives the job as secrets, so that it is not quoted. */
static struct mask *learn_secrets(struct tracker *tracker, int job)
{
    struct buffer manifest = {0};
    struct mask *mask = mask_new();
    if (file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &manifest, NULL) == 0)
        mask_learn_tree(mask, yaml_read(tracker->arena, buffer_text(&manifest), "manifest.yaml",
                                        &yaml_trusted_limits, NULL));
    buffer_free(&manifest);
    return mask;
}

static int judge_end(struct tracker *tracker, const struct followed *followed,
                     const struct circumstances *circumstances, struct job_record *record,
                     struct diagnosis *diagnosis, struct error *error)
{
    const struct retry_table *table;
    if (track_table(tracker, &table, error))
        return -1;
    const struct output_end printed =
        output_of_failure(tracker->arena, followed->job, &followed->poll, RETRY_LOG_LIMIT);
    struct mask *mask = learn_secrets(tracker, followed->job);
    struct circumstances masked = *circumstances;
    masked.mask = mask;
    diagnosis_ended(diagnosis, &masked, record, &followed->poll, table, &printed);
    mask_free(mask);
    return 0;
}

/* Diagnose why a job has failed, and write that into its directory.  What was asked for (killed, preempted)
 * goes before what the executor says. */
static int write_diagnosis(struct tracker *tracker, struct followed *followed,
                           const struct buffer *log, struct error *error)
{
    const struct job_poll *poll = &followed->poll;
    int job = followed->job;
    struct job_record record;
    struct diagnosis diagnosis;
    struct task_request request;
    struct circumstances circumstances = circumstances_of(tracker, poll->id);
    if (track_read_record(tracker, job, poll->id, &record, error))
        return -1;
    record.retried = retries_used(buffer_text(log), &record);
    if (!followed->killed || !record.array_left.length)
        sweep_note_left(tracker->arena, &record, poll);
    if (followed->killed)
        diagnosis_killed(&diagnosis, poll->id, followed->request.by, followed->request.when);
    else if (poll->phase != PHASE_VANISHED && record.request_file.length &&
             preempt_goes_on(followed->tracked, poll))
        preempt_diagnosis(followed->tracked, &circumstances, poll, &record, &diagnosis);
    else if (!record.request_file.length)
        diagnosis_lost_record(&diagnosis, poll->id, poll->detail);
    else if (poll->phase == PHASE_VANISHED)
        diagnosis_vanished(&diagnosis, &circumstances, &record);
    else if (sweep_is_incomplete(&record) && sweep_none_failed(poll) &&
             control_tasks_pending(job, CONTROL_KILL, tracker->arena, &request) >= 0)
        diagnosis_killed_tasks(&diagnosis, &record, &request);
    else if (judge_end(tracker, followed, &circumstances, &record, &diagnosis, error))
        return -1;
    diagnosis.log = log;
    if (diagnosis_write(&diagnosis, job, &record, false, circumstances.now, error))
        return -1;
    account_ended(tracker, followed, &record, false);
    return 0;
}

/* Read the log, and write the diagnosis.  -1 and a sentence, too, when the log cannot be read now. */
static int write_failure(struct tracker *tracker, struct followed *followed, struct error *error)
{
    struct buffer log = {0};
    int result = eventlog_read_undamaged(followed->job, &log, error);
    if (!result)
        result = write_diagnosis(tracker, followed, &log, error);
    buffer_free(&log);
    return result;
}

/* A job that succeeded before a kill reached it has succeeded.  So has a preempted job that had done all its
 * work by then. */
static bool is_done(const struct followed *followed)
{
    const struct job_poll *poll = &followed->poll;
    const struct tracked *tracked = followed->tracked;
    if (followed->killed || !tracked->preemption || poll->phase == PHASE_VANISHED)
        return poll->phase == PHASE_SUCCEEDED;
    return !preempt_goes_on(tracked, poll);
}

/* An attempt has succeeded.  Is the job done; or are tasks of an array left, because they were killed in this
 * attempt or before, or because they are held? */
static enum fate fate_of_success(struct tracker *tracker, const struct followed *followed,
                                 struct error *error)
{
    struct job_record record;
    if (!followed->tracked->array)
        return FATE_DONE;
    if (track_read_record(tracker, followed->job, followed->place.id, &record, error))
        return FATE_NONE;
    return !sweep_is_incomplete(&record)                    ? FATE_DONE
           : sweep_lacks_held(&record) && !followed->killed ? FATE_HELD
                                                            : FATE_FAILED;
}

/* The remaining tasks of an array wait in held/ until they are released. */
static int write_held(struct tracker *tracker, const struct followed *followed, struct error *error)
{
    struct job_record record;
    if (track_read_record(tracker, followed->job, followed->place.id, &record, error))
        return -1;
    record.array_left = record.array_held;
    return hold_write(&tracker->stage.settings, followed->job, &record, false, clock_now(), error);
}

/* Read the record, unless this batch has. */
static int read_record(struct tracker *tracker, struct followed *followed, struct error *error)
{
    struct job_record *record = followed->record;
    if (record)
        return 0;
    record = arena_allocate(tracker->arena, sizeof(*record));
    if (track_read_record(tracker, followed->job, followed->place.id, record, error))
        return -1;
    followed->record = record;
    return 0;
}

/* Write down how a job has ended: what was measured, how its tasks ended, why it failed, or what it waits for in held/;
 * and make its line for the accounts.  -1 and a sentence. */
static int write_end(struct tracker *tracker, struct followed *followed, struct error *error)
{
    struct job_poll *poll = &followed->poll;
    struct tracked *tracked = followed->tracked;
    if (measure_ended(tracked->measure, followed->job, poll, error))
        log_warn("%s: %s", followed->place.id, error->text);
    enum fate fate = FATE_FAILED;
    if (is_done(followed) && (fate = fate_of_success(tracker, followed, error)) == FATE_NONE)
        return -1;
    bool done = fate == FATE_DONE;
    if (read_record(tracker, followed, error))
        return -1;
    size_t before = followed->lines.length;
    if (!tracked->noted)
        follow_output_add_measured(&followed->lines, tracked, followed->record);
    if (poll->phase != PHASE_VANISHED) {
        poll->phase = fate == FATE_FAILED ? PHASE_FAILED : PHASE_SUCCEEDED;
        progress_add_ended(&followed->lines, poll, done);
    }
    if (lines_write(followed, error)) {
        followed->lines.length = before; /* they are made again */
        followed->lines.data[before] = '\0';
        return -1;
    }
    tracked->noted = true;
    if ((fate == FATE_FAILED && write_failure(tracker, followed, error)) ||
        (fate == FATE_HELD && write_held(tracker, followed, error)))
        return -1;
    if (fate != FATE_FAILED)
        account_ended(tracker, followed, followed->record, done);
    followed->done = done;
    followed->elapsed = account_elapsed(followed);
    followed->fate = fate;
    return 0;
}

void follow_end_write(struct round *round)
{
    struct error error;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        guard_enter(round->tracker->guard, followed->place.id, 0);
        if (followed->end && followed->fate == FATE_NONE &&
            write_end(round->tracker, followed, &error))
            log_warn("%s: %s", followed->place.id, error.text);
        else
            lines_write(followed, NULL); /* of one whose end is to wait */
        guard_enter(round->tracker->guard, round->about, 0);
        followed->end = followed->end && followed->fate != FATE_NONE;
    }
}

/* Ending them: durable, forgotten by the executor, moved */

/* Move a job that has ended, and say so, unless the executor could not forget it or a copy is in the way: it is tried
 * again. */
static bool move_job(struct tracker *tracker, struct followed *followed, struct job_day *day)
{
    struct spool *spool = &tracker->stage.spool;
    struct error error;
    enum state to = followed->fate == FATE_DONE   ? STATE_DONE
                    : followed->fate == FATE_HELD ? STATE_HELD
                                                  : STATE_FAILED;
    if (followed->call.result) {
        log_warn("%s: the executor could not remove what it has of it: %s", followed->place.id,
                 followed->call.error.text);
        track_rest(followed->tracked, &followed->call);
        return false;
    }
    if (to == STATE_DONE ? job_move_done(spool, &followed->place, day, clock_now(), &error)
                         : job_move(spool, &followed->place, to, clock_now(), &error)) {
        log_warn("%s", error.text);
        duplicate_settle(&tracker->stage, &followed->place, 0); /* a copy may be in the way */
        return false;
    }
    track_forget(tracker, followed->tracked);
    followed->tracked = NULL;
    if (to == STATE_HELD)
        log_detail("%s: goes to held/", followed->place.id);
    else if (followed->done)
        end_line_log_done(followed->record, followed->elapsed);
    else
        end_line_log(followed->job, followed->place.id, to);
    return true;
}

/* Move the jobs that have ended, and make each directory that they move to durable once. */
static bool move_ended(struct round *round)
{
    struct spool *spool = &round->tracker->stage.spool;
    struct job_day day = {.directory = -1};
    struct error error;
    bool touched[STATE_COUNT] = {false};
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (followed->end && move_job(round->tracker, followed, &day))
            touched[followed->place.state] = touched[STATE_SUBMITTED] = true;
    }
    if (job_close_day(spool, &day, &error))
        log_warn("%s", error.text);
    touched[STATE_DONE] = false; /* its day was made durable */
    for (int state = 0; state < STATE_COUNT; state++)
        if (touched[state] && spool_sync_state(spool, (enum state)state, &error))
            log_warn("%s", error.text);
    return touched[STATE_SUBMITTED];
}

void follow_end_jobs(struct round *round)
{
    struct tracker *tracker = round->tracker;
    struct spool *spool = &tracker->stage.spool;
    struct error error;
    size_t count = 0;
    if (account_write(round))
        return;
    for (size_t i = 0; i < round->count; i++) {
        struct followed *followed = &round->jobs[i];
        if (!followed->end)
            continue;
        if (followed->copy)
            followed->tracked->recovered = false;
        /* Remove a resize request that came too late, or was granted, which the record or the log says. */
        if (resize_is_there(followed->job) && resize_clear(followed->job, &error))
            log_warn("%s: %s", followed->place.id, error.text);
        round->calls[count++] = &followed->call;
    }
    if (count == 0)
        return;
    if (spool_sync(spool, &error)) {
        log_warn("%s; ends of jobs are written once this works", error.text);
        return;
    }
    if (stage_is_fenced(&tracker->stage)) /* a sync can take as long as a stop */
        return;
    for (size_t i = 0; i < round->count; i++)
        if (round->jobs[i].end)
            round->jobs[i].tracked->fate = round->jobs[i].fate;
    tracker->executor->operations->remove(tracker->executor, round->calls, count);
    if (stage_is_fenced(&tracker->stage) || !move_ended(round))
        return;
    spool_notify_failed(spool);
    spool_notify_rendered(spool); /* there may be room now */
}
