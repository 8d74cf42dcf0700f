/* stages/submit/handover.c - one job of a batch: what is submitted, and the outcome */
#include "base/file.h"
#include "stages/submit/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "spool/eventlog.h"
#include "stages/prepare/rerender.h"
#include "stages/prepare/wanted.h"
#include "stages/shared/approval.h"
#include "stages/prepare/verify.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/control.h"
#include "stages/shared/end_line.h"
#include "stages/shared/hold.h"
#include "stages/shared/sweep.h"
#include "stages/shared/duplicate.h"

enum { MANIFEST_LIMIT = 16 << 20 };        /* bytes */
static const int64_t declined_rest = 1000; /* milliseconds, at least */

void handover_close(struct item *item)
{
    (void)eventlog_close(&item->log, NULL);
    if (item->job >= 0)
        sys.close(item->job);
    item->job = -1;
    buffer_free(&item->manifest);
}

static void fail_item(struct item *item)
{
    item->fate = ITEM_FAIL;
}

static struct circumstances circumstances_of(const struct submitter *submitter,
                                             const struct job_record *record)
{
    return (struct circumstances){.settings = &submitter->stage.settings,
                                  .id = record->id.data,
                                  .commit = record->commit.length ? record->commit.data : NULL,
                                  .now = clock_now(),
                                  .change_since = record->change_since};
}

/* A diagnosis for it, to be filled in. */
static struct diagnosis *begin_diagnosis(struct submitter *submitter, struct item *item)
{
    return item->diagnosis = arena_allocate(submitter->arena, sizeof(*item->diagnosis));
}

/* Diagnose why the executor does not have the job.  For one that asks for too much the present capacity is
 * noted, so that it is retried when there is more. */
static void judge_submission(struct submitter *submitter, struct item *item)
{
    struct circumstances circumstances = circumstances_of(submitter, &item->record);
    struct executor *executor = submitter->executor;
    struct capacity capacity = {.cpus = 0};
    struct error error;
    char there[GROWTH_TEXT_SIZE] = "";
    if (item->submission.outcome == SUBMIT_NEVER_FITS &&
        executor->operations->capacity(executor, &capacity, &error) == 0)
        growth_describe(executor, &capacity, there);
    circumstances.capacity = there;
    diagnosis_submission(begin_diagnosis(submitter, item), &circumstances, &item->record,
                         &item->submission);
}

struct expected {
    struct text digest; /* of the manifest that was rendered */
    char found[SHA256_HEX_SIZE];
    bool is_found;
};

static bool is_as_rendered(void *context, struct text manifest)
{
    struct expected *expected = context;
    sha256_hex(manifest, expected->found);
    expected->is_found = text_is(expected->digest, expected->found);
    return expected->is_found;
}

/* Read the manifest, and check that it is the one that was rendered.  A batch keeps as many as it has jobs, so each
 * keeps no more room than it needs. */
static int read_manifest(struct item *item, struct error *error)
{
    struct expected expected = {.digest = item->record.manifest_sha256};
    buffer_clear(&item->manifest);
    if (file_read_sound_at(item->job, "manifest.yaml", MANIFEST_LIMIT, &item->manifest,
                           is_as_rendered, &expected, error))
        return -1;
    buffer_fit(&item->manifest);
    if (expected.is_found || is_as_rendered(&expected, buffer_text(&item->manifest)))
        return 0;
    error_set(error, "manifest.yaml: found SHA-256 %s, expected the one in job.yaml",
              expected.found);
    errno = EBADMSG;
    return -1;
}

/* Is the record this job's?  A directory that was copied under another name has the record, and the token, of
 * another job. */
static bool has_own_record(struct item *item, struct error *error)
{
    if (text_is(item->record.id, item->place.id))
        return true;
    error_set(error, "job.yaml has the id of another job");
    item->record.id = text_of(item->place.id);
    errno = EBADMSG;
    return false;
}

static void note_intent(struct submitter *submitter, struct item *item, struct error *error)
{
    struct buffer line = {0};
    if (!item->submission.repeated)
        planning_add_prediction(submitter->planning, item->place.id, &line);
    eventlog_start(&line, clock_now(), "intent");
    eventlog_add_number(&line, "attempt", item->record.attempt);
    eventlog_add_string(&line, "executor", submitter->executor->operations->name);
    eventlog_add(&line, "manifest_sha256", item->record.manifest_sha256);
    if (submitter->stage.key.needed) {
        char seal[SEAL_SIZE];
        seal_make_manifest(&submitter->stage.key, &item->record, seal);
        eventlog_add_string(&line, "seal", seal);
    }
    eventlog_end(&line);
    if (eventlog_extend(item->job, &item->log, buffer_text(&line), error))
        item->fate = ITEM_KEEP;
    buffer_free(&line);
}

/* Is it unknown by the log, which was read or not, what has become of an intent? */
static bool is_unsettled(int read, struct buffer *log)
{
    struct eventlog_fold fold = {0};
    if (!read)
        eventlog_fold(buffer_text(log), &fold);
    buffer_free(log);
    return read || (fold.intent && !fold.failed);
}

int handover_is_unsettled(int job, const char *id)
{
    struct buffer log = {0};
    struct error error;
    int read = eventlog_read(job, &log, &error);
    bool passes = read && !file_is_damaged(errno);
    if (passes)
        log_warn("%s: %s; it is retried", id, error.text);
    bool unsettled = is_unsettled(read, &log);
    return passes ? -1 : unsettled;
}

/* The same of a job that is submitted now, where -1 is as good as 1: the executor is asked.  Its log stays open for
 * what is to be noted, where that may be. */
static bool open_log(const struct submitter *submitter, struct item *item)
{
    struct buffer log = {0};
    if ((size_t)(item - submitter->items) >= submitter->logs_most)
        return handover_is_unsettled(item->job, item->place.id) != 0;
    int read = eventlog_open(item->job, &item->log, &log, NULL);
    return is_unsettled(read, &log);
}

/* The record or the manifest could not be read.  A damaged one makes the job fail; when it is only out of
 * reach now, the job is kept. */
static void judge_unreadable(struct submitter *submitter, struct item *item, bool readable,
                             const struct error *problem)
{
    if (!file_is_damaged(errno)) {
        item->fate = ITEM_KEEP;
        log_warn("%s: %s; it is retried", item->place.id, problem->text);
        return;
    }
    if (!readable)
        quarantine_salvage(item->job, item->place.id, submitter->arena, &item->record);
    diagnosis_damaged(begin_diagnosis(submitter, item), item->place.id, problem);
    fail_item(item);
}

/* A crash while a job was rendered at another size, or with another priority (stages/prepare/rerender.h), leaves a
 * manifest that does not fit the record: render the job once more.  True when that is done. */
static bool renew_manifest(struct submitter *submitter, struct item *item, struct error *error)
{
    struct rerender job = {.size = 0};
    struct error problem;
    int number = errno;
    struct stat status;
    bool torn = number == EBADMSG &&
                (item->record.sizes.kind != SIZE_FIXED ||
                 !sys.fstatat(item->job, "order", &status, AT_SYMLINK_NOFOLLOW)) &&
                handover_is_unsettled(item->job, item->place.id) == 0 &&
                !stage_is_fenced(&submitter->stage);
    memcpy(job.id, item->place.id, sizeof(job.id));
    if (torn && rerender_jobs(&submitter->stage, &job, 1, &problem) == 0 && job.done)
        return record_read(item->job, submitter->arena, &item->record, error) == 0 &&
               read_manifest(item, error) == 0;
    errno = number;
    return false;
}

/* May the scheduler have this job now?  Otherwise its fate is to wait, or to fail. */
static bool is_within_load(struct submitter *submitter, struct item *item)
{
    struct submission *submission = &item->submission;
    if (!submitter->load)
        return true;
    switch (load_take(submitter->load, item->place.id, item->record.uid,
                      buffer_text(&item->manifest), &submission->error)) {
    case LOAD_TAKEN:
        return true;
    case LOAD_FULL:
        submitter->reason = submission->error;
        item->fate = ITEM_WAIT;
        return false;
    case LOAD_SHARE:
        submitter->reason = submission->error;
        item->fate = ITEM_SHARE;
        return false;
    case LOAD_NEVER:
        break;
    }
    submission->outcome = SUBMIT_NEVER_FITS;
    judge_submission(submitter, item);
    fail_item(item);
    return false;
}

/* Is the job held, or are tasks of it held that it was rendered with, or tasks released that it lacks?  Then
 * it goes to held/, and comes back from there with the tasks that it is to run.  1, 0, or -1: not known now. */
static int is_to_be_held(struct submitter *submitter, const struct item *item)
{
    struct control_request hold;
    struct held_tasks tasks;
    int held = control_file_pending(item->job, CONTROL_HOLD, &hold);
    if (held || !item->record.array.length)
        return held;
    held = hold_tasks_pending(item->job, submitter->arena, &tasks);
    return held < 0 ? held : sweep_is_outdated(submitter->arena, &item->record, tasks.tasks);
}

/* Has this stage noted an intent to submit this manifest in this attempt? */
static bool was_verified(struct submitter *submitter, const struct item *item)
{
    struct buffer log = {0};
    struct event event;
    char seal[SEAL_SIZE];
    bool found = false;
    seal_make_manifest(&submitter->stage.key, &item->record, seal);
    if (!eventlog_read(item->job, &log, NULL)) {
        struct text rest = buffer_text(&log);
        while (!found && eventlog_next(&rest, &event))
            found = text_is(event.name, "intent") &&
                    seal_equal(seal, eventlog_get(submitter->arena, &event, "seal"));
    }
    buffer_free(&log);
    return found;
}

/* Where records are sealed, a job is submitted only if its seal says whose job it is, and its manifest is what
 * its request is rendered to: others than root have written its files.  That is verified once, as the
 * templates, or this program, may change later. */
static void judge_origin(struct submitter *submitter, struct item *item)
{
    struct circumstances circumstances = circumstances_of(submitter, &item->record);
    struct error error;
    if (seal_check(&submitter->stage.key, &item->record, &error)) {
        diagnosis_unsealed(begin_diagnosis(submitter, item), item->place.id, &error);
        fail_item(item);
        return;
    }
    enum verified verified = was_verified(submitter, item)
                                 ? VERIFY_SAME
                                 : verify_job(&submitter->stage, &item->record, &error);
    if (verified == VERIFY_SAME)
        return;
    log_warn("%s: %s", item->place.id, error.text);
    if (verified == VERIFY_TROUBLE) {
        item->fate = ITEM_KEEP;
        return;
    }
    diagnosis_differs(begin_diagnosis(submitter, item), &circumstances, &item->record, &error);
    fail_item(item);
}

/* A job that lacks an approval goes to held/, but for one of which the executor may have this manifest from an earlier
 * try, for which all was in order.  Where records are sealed, only what this stage has sealed itself shows that. */
static void hold_unapproved(struct submitter *submitter, struct item *item)
{
    int unsettled = handover_is_unsettled(item->job, item->place.id);
    if (unsettled < 0)
        item->fate = ITEM_KEEP;
    else if (!unsettled || (submitter->stage.key.needed && !was_verified(submitter, item)))
        item->fate = ITEM_HOLD;
}

/* What the site gives only by approval, this stage gives only if it is approved now; what is wanted is found
 * out again, as others may have written the record, and the settings may be others now.  Otherwise the job
 * waits in held/. */
static void judge_approval(struct submitter *submitter, struct item *item)
{
    const struct settings *settings = &submitter->stage.settings;
    struct job_record *record = &item->record;
    struct circumstances circumstances = circumstances_of(submitter, record);
    struct approval approval;
    struct error error;
    if (approval_find_grant(submitter->arena, settings, record, &item->grant, &error)) {
        diagnosis_render(begin_diagnosis(submitter, item), &circumstances, RENDER_NOT_ALLOWED,
                         &error);
        fail_item(item);
        return;
    }
    /* What a job is rendered with is in its record, from which it is verified. */
    if ((record->host_network != 0) != item->grant.host_network) {
        error_set(&error,
                  "job.yaml and dlspool.yaml differ in whether it has the machine's network");
        log_warn("%s: %s", item->place.id, error.text);
        diagnosis_differs(begin_diagnosis(submitter, item), &circumstances, record, &error);
        fail_item(item);
        return;
    }
    wanted_settle(submitter->arena, settings, record);
    switch (approval_judge(settings, &submitter->stage.key, record, item->job, &approval, &error)) {
    case APPROVAL_UNKNOWN:
        item->fate = ITEM_KEEP;
        break;
    case APPROVAL_MISSING:
    case APPROVAL_VOID:
        hold_unapproved(submitter, item);
        break;
    default:
        break;
    }
    if (item->fate != ITEM_HOLD || !error.text[0])
        return;
    log_warn("%s: an approval does not count: %s", item->place.id, error.text);
    /* What lacks only the seal would be taken for an approval by those who cannot know seals. */
    if (!approval_is_due(settings, record, item->job) &&
        control_file_clear(item->job, CONTROL_APPROVE, &error))
        log_warn("%s: %s", item->place.id, error.text);
}

/* Does it ask for anything that may have to be approved? */
static bool is_special(const struct submitter *submitter, const struct item *item)
{
    const struct job_limits *limits = &submitter->stage.settings.limits;
    for (size_t i = 0; i < limits->row_count; i++)
        if (limits->rows[i].over == LIMIT_APPROVE)
            return true;
    return item->record.privileges.length || item->record.host_network ||
           item->record.unlisted.length || item->record.wants.length;
}

bool handover_open_job(struct submitter *submitter, struct item *item, const char *id)
{
    struct error error;
    struct control_request kill;
    int killed, held, unsettled = 0;
    item->place = (struct job_place){.state = STATE_RENDERED};
    memcpy(item->place.id, id, strlen(id) + 1);
    item->job = -1;
    item->log.file = -1;
    item->fate = ITEM_SUBMIT;
    item->submission = (struct submission){0};
    item->grant = (struct grant){.host_network = false};
    item->rest = 0;
    if (guard_tries(submitter->guard, id) >= GUARD_MOST_TRIES)
        return false; /* The plan may contain the job, but the stage passes it over. */
    guard_enter(submitter->guard, item->place.id, 0);
    item->job = opened_take(submitter->opened, id, &item->record);
    bool readable = item->job >= 0;
    if (!readable)
        item->job = job_open(&submitter->stage.spool, &item->place);
    if (item->job < 0) {
        if (errno != ENOENT)
            submit_look_for_lost(submitter);
        waits_forget(submitter->waits, item->place.id);
        admission_withdraw(submitter, item);
        if (submitter->load)
            load_release(submitter->load, item->place.id, false);
        guard_leave(submitter->guard);
        return false; /* It was moved by hand, or is held. */
    }
    if (!readable)
        readable = record_read(item->job, submitter->arena, &item->record, &error) == 0;
    if (duplicate_settle(&submitter->stage, &item->place, readable ? item->record.accepted : 0)) {
        handover_close(item);
        admission_withdraw(submitter, item);
        if (submitter->load)
            load_release(submitter->load, item->place.id, false);
        guard_leave(submitter->guard);
        return false;
    }
    if (!readable || !has_own_record(item, &error) ||
        (read_manifest(item, &error) && !renew_manifest(submitter, item, &error))) {
        judge_unreadable(submitter, item, readable, &error);
    } else if ((killed = control_file_pending(item->job, CONTROL_KILL, &kill)) < 0 ||
               (held = is_to_be_held(submitter, item)) < 0 ||
               ((killed || held) &&
                (unsettled = handover_is_unsettled(item->job, item->place.id)) < 0)) {
        item->fate = ITEM_KEEP;
    } else if ((killed || held) && !unsettled) {
        item->fate = killed ? ITEM_FAIL : ITEM_HOLD;
        if (killed)
            diagnosis_killed(begin_diagnosis(submitter, item), item->place.id, kill.by, kill.when);
    } else if (submitter->stage.key.needed) {
        judge_origin(submitter, item);
    }
    if (item->fate == ITEM_SUBMIT && is_special(submitter, item))
        judge_approval(submitter, item);
    return true;
}

static bool is_given(const struct grant *grant)
{
    return grant->capability_count || grant->device_count || grant->host_network;
}

/* Fill in its submission, and note the intent. */
static void prepare_submission(struct submitter *submitter, struct item *item)
{
    struct error error;
    if (item->record.failed) {
        /* A diagnosis that a crash left behind, before the job was moved, is void. */
        item->record.failed = false;
        if (record_replace(item->job, &item->record, &error))
            log_warn("%s: %s", item->place.id, error.text);
    }
    item->submission = (struct submission){.id = item->place.id,
                                           .attempt = item->record.attempt,
                                           .uid = item->record.uid,
                                           .gid = item->record.gid,
                                           .time_limit = item->record.time_limit,
                                           .manifest = buffer_text(&item->manifest),
                                           .repeated = open_log(submitter, item),
                                           .gpu_type = item->record.gpu_type,
                                           .owner = item->record.owner,
                                           .request_sha256 = item->record.request_sha256,
                                           .grant = is_given(&item->grant) ? &item->grant : NULL,
                                           .commit = item->record.commit,
                                           .image = item->record.image};
    note_intent(submitter, item, &error);
    if (item->fate == ITEM_KEEP)
        log_warn("%s: %s", item->place.id, error.text);
}

void handover_prepare(struct submitter *submitter, struct item *item)
{
    if (item->fate == ITEM_SUBMIT && is_within_load(submitter, item))
        prepare_submission(submitter, item);
    sharing_charge(submitter, item);
}

bool handover_open_asked(struct submitter *submitter, struct item *item, const char *id)
{
    if (!handover_open_job(submitter, item, id))
        return false;
    if (item->fate == ITEM_FAIL || item->fate == ITEM_HOLD)
        return true;
    handover_close(item);
    return false;
}

static void note_submitted(const struct submitter *submitter, struct item *item,
                           struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "submitted");
    eventlog_add_number(&line, "attempt", item->submission.attempt);
    if (submitter->executor->operations->of_this_machine)
        eventlog_add_string(&line, "host", submitter->stage.host);
    if (item->submission.note[0])
        eventlog_add_string(&line, "note", item->submission.note);
    eventlog_end(&line);
    if (why_remove(item->job, error) ||
        eventlog_extend(item->job, &item->log, buffer_text(&line), error) ||
        eventlog_close(&item->log, error))
        item->fate = ITEM_KEEP;
    buffer_free(&line);
}

/* The executor did not take the job, which waits in rendered/.  The intent is noted as declined, so that the
 * job can be killed, held and rendered at another size meanwhile. */
static void note_declined(struct submitter *submitter, struct item *item)
{
    const struct settings *settings = &submitter->stage.settings;
    bool away = item->submission.outcome != SUBMIT_NO_ROOM;
    int64_t asked = away ? executor_spread_rest(item->submission.rest) : 0;
    int64_t least = asked ? asked : away ? settings->probe_interval : declined_rest;
    struct buffer line = {0};
    struct error error;
    eventlog_start(&line, clock_now(), "declined");
    eventlog_add_number(&line, "attempt", item->submission.attempt);
    eventlog_add_string(&line, "reason", away ? "ExecutorUnavailable" : "NoRoom");
    eventlog_add_string(&line, "why", item->submission.error.text);
    eventlog_end(&line);
    item->fate = ITEM_DECLINED;
    item->rest = waits_decline(submitter->waits, item->place.id, least, settings->retry_longest,
                               &item->again);
    if (eventlog_extend(item->job, &item->log, buffer_text(&line), &error)) {
        item->fate = ITEM_KEEP;
        log_warn("%s: %s", item->place.id, error.text);
    } else if (waits_explain(item->job, away ? WAITING_EXECUTOR : WAITING_ROOM,
                             item->submission.error.text, &error)) {
        log_warn("%s: %s", item->place.id, error.text);
    }
    buffer_free(&line);
}

/* May the executor have the job from an earlier try?  Then it stays, and is asked about under this token. */
static bool may_be_there(const struct submission *submission)
{
    return submission->repeated &&
           (submission->outcome == SUBMIT_UNAVAILABLE ||
            (submission->outcome == SUBMIT_REFUSED && submission->unsettled));
}

/* Write down what the executor answered, and when to ask it again about this job, or about any. */
static void note_answer(struct submitter *submitter, struct item *item, struct error *error)
{
    const struct submission *submission = &item->submission;
    if (submission->outcome == SUBMIT_UNAVAILABLE && !submission->alone) {
        int64_t asked = executor_spread_rest(submission->rest);
        log_warn("the executor cannot take submissions: %s", submission->error.text);
        submitter->probe =
            clock_elapsed() + (asked ? asked : submitter->stage.settings.probe_interval);
        submitter->reason = submission->error;
    }
    item->rest = executor_spread_rest(submission->rest);
    if (submission->outcome == SUBMIT_ACCEPTED) {
        note_submitted(submitter, item, error);
    } else if (submission->outcome == SUBMIT_UNKNOWN) {
        item->fate = ITEM_KEEP;
        log_warn("%s: the outcome of the submission is unknown; asking the executor again: %s",
                 item->place.id, submission->error.text);
    } else if (may_be_there(submission)) {
        item->fate = ITEM_KEEP;
        if (submission->outcome != SUBMIT_UNAVAILABLE)
            log_warn("%s: it is unknown whether the executor has it; asking again: %s",
                     item->place.id, submission->error.text);
    } else if (submission->outcome == SUBMIT_UNAVAILABLE || submission->outcome == SUBMIT_NO_ROOM) {
        note_declined(submitter, item);
    } else {
        judge_submission(submitter, item);
        fail_item(item);
    }
}

static void note_outcome(struct submitter *submitter, struct item *item)
{
    struct error error = {""};
    if (item->fate == ITEM_SUBMIT)
        note_answer(submitter, item, &error);
    if (item->fate == ITEM_FAIL &&
        diagnosis_write(item->diagnosis, item->job, &item->record, false, clock_now(), &error))
        item->fate = ITEM_KEEP;
    if (item->fate == ITEM_HOLD && hold_write(&submitter->stage.settings, item->job, &item->record,
                                              false, clock_now(), &error))
        item->fate = ITEM_KEEP;
    if (item->fate == ITEM_KEEP && error.text[0])
        log_warn("%s: %s", item->place.id, error.text);
}

void handover_note_outcome(struct submitter *submitter, struct item *item)
{
    struct guard_before before;
    if (item->fate == ITEM_KEEP)
        return; /* It was not submitted, and the reason is logged. */
    bool looks = guard_begin(submitter->guard, item->place.id, &before);
    note_outcome(submitter, item);
    if (looks)
        guard_return(submitter->guard, &before);
}

static void say_end(struct submitter *submitter, const struct item *item)
{
    struct guard_before before;
    if (!guard_begin(submitter->guard, item->place.id, &before))
        return;
    end_line_log(item->job, item->place.id, STATE_FAILED);
    guard_return(submitter->guard, &before);
}

void handover_move(struct submitter *submitter, size_t count)
{
    struct spool *spool = &submitter->stage.spool;
    struct error error;
    bool moved[STATE_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        struct item *item = &submitter->items[i];
        if (item->fate == ITEM_KEEP || item->fate == ITEM_DECLINED)
            continue;
        enum state to = item->fate == ITEM_SUBMIT ? STATE_SUBMITTED
                        : item->fate == ITEM_HOLD ? STATE_HELD
                                                  : STATE_FAILED;
        if (job_move(spool, &item->place, to, clock_now(), &error)) {
            item->fate = ITEM_KEEP;
            log_warn("%s", error.text);
            continue;
        }
        moved[to] = moved[STATE_RENDERED] = true;
        waits_forget(submitter->waits, item->place.id);
        if (to == STATE_SUBMITTED)
            log_detail("%s: submitted", item->place.id);
        else if (to == STATE_FAILED)
            say_end(submitter, item);
    }
    for (int state = 0; state < STATE_COUNT; state++)
        if (moved[state] && spool_sync_state(spool, (enum state)state, &error))
            log_warn("%s", error.text);
}
