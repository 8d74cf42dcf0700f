/* stages/prepare/renew.c - the next attempt of a job: rendered again, and its files written */
#include "stages/prepare/renew.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/order_request.h"
#include "spool/file.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/prepare.h"
#include "stages/prepare/wanted.h"
#include "stages/shared/approval.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/hold.h"
#include "stages/shared/resize.h"
#include "stages/shared/sweep.h"
#include "stages/shared/diagnosis.h"

enum { WHY_LIMIT = 64 * 1024 }; /* bytes */

/* A job that the executor had gets a new attempt number, and with it a new token.  The number is
 * computed from the log, so repeating it changes nothing; when the log does not say, or lines of it
 * are missing, the executor may have had the job.  -1 and a sentence when the log cannot be read
 * now. */
static int next_attempt(int job, const struct job_record *record, struct error *error)
{
    struct buffer log = {0};
    struct eventlog_fold fold = {0};
    int result = eventlog_read(job, &log, error);
    if (!result)
        eventlog_fold(buffer_text(&log), &fold);
    else if (file_is_damaged(errno))
        result = 0;
    /* Two lines give the attempt, and one of them may be damaged; before the first attempt there is
     * none. */
    int submitted = (int)eventlog_get_number(&fold.submitted, "attempt", 0);
    int last = submitted > fold.attempt ? submitted : fold.attempt;
    bool had = fold.accepted || fold.started || fold.ended || record->failure.exit_code >= 0 ||
               text_is(record->failure.reason, "Vanished");
    if (!result && last > 0)
        result = last + had > record->attempt ? last + had : record->attempt;
    else if (!result)
        result = record->attempt > 0
                     ? record->attempt + (had || !eventlog_is_whole(buffer_text(&log)))
                     : 1;
    buffer_free(&log);
    return result;
}

/* Set the size at which the job is rendered: the one that is wanted next, or else the one that it was given
 * while it ran. */
static void take_size(struct job_record *record, int64_t wanted)
{
    if (wanted)
        record->size = wanted;
    else if (record->size_next)
        record->size = record->size_next;
    else if (record->size_now)
        record->size = record->size_now;
    record->size_next = record->size_now = 0;
}

/* output/ is of one attempt: that of attempt 1 becomes output-1/, and so on. */
static int keep_output(int job, int attempt, struct error *error)
{
    char name[32];
    snprintf(name, sizeof(name), "output-%d", attempt);
    if (sys.renameat(job, "output", job, name) && errno != ENOENT)
        return error_errno(error, "output could not be renamed to %s", name);
    return 0;
}

/* Write the event `requeued`; `priority` is what the job had before. */
static int note_requeued(struct arena *arena, int job, const struct job_record *record,
                         const char *cause, int priority, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "requeued");
    eventlog_add_string(&line, "cause", cause);
    eventlog_add_number(&line, "attempt", record->attempt);
    eventlog_add(&line, "commit", record->commit);
    eventlog_add(&line, "image", record->image);
    if (record->size)
        eventlog_add_number(&line, "size", record->size);
    if (record->array.length)
        eventlog_add(&line, "array", sweep_shortened(arena, record->array));
    if (record->priority != priority)
        eventlog_add_number(&line, "priority", record->priority);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

/* Write into the job's directory where it goes; `priority` is what it had before. */
static int note_going(const struct renewer *renewer, int job, struct job_record *record,
                      const struct renewal_order *order, enum state to, int priority,
                      struct error *error)
{
    int64_t now = clock_now();
    if (to == STATE_HELD)
        return hold_write(&renewer->stage->settings, job, record, false, now, error);
    if (record->after_count && !record->released)
        record->released = now;
    if (record->begin > now)
        record->begin = 0; /* it was released from that, for good */
    return record_replace(job, record, error) ||
                   note_requeued(renewer->arena, job, record, order->cause, priority, error)
               ? -1
               : 0;
}

/* Is the manifest still the one that the executor has refused? */
static bool is_as_refused(const struct job_record *before, const struct job_record *now)
{
    return (text_is(before->failure.reason, REASON_REFUSED) ||
            text_is(before->failure.reason, REASON_NEVER_FITS)) &&
           text_equal(before->manifest_sha256, now->manifest_sha256);
}

/* Does rendering still fail for the reason that `why` gives?  (For a missing template, `why` also names the
 * commit.) */
static bool fails_as_before(int job, const struct job_record *before,
                            const struct preparation *preparation)
{
    struct buffer why = {0};
    struct text rest, line = {"", 0}, now = text_of(preparation->error.text), sentence;
    if (file_read_at(job, "why", WHY_LIMIT, &why, NULL) == 0) {
        rest = buffer_text(&why);
        text_next(&rest, '\n', &line);
    }
    text_next(&now, '\n', &sentence);
    bool none = preparation->description && preparation->failure == RENDER_NO_TEMPLATE &&
                text_is(before->failure.reason, REASON_NO_TEMPLATE);
    bool result = before->failed && (none || text_equal(line, sentence));
    buffer_free(&why);
    return result;
}

/* The job stays in failed/; it is not looked at again before the next change. */
static int note_looked_at(const struct renewer *renewer, int job, struct job_record *record,
                          struct error *error)
{
    record->failure.commit = text_of(repository_commit(renewer->repository));
    record->failure.settings = text_of(renewer->settings);
    return record_replace(job, record, error);
}

static void put_back(struct job_record *record, const struct job_record *kept)
{
    record->attempt = kept->attempt;
    record->array = kept->array;
    record->array_left = kept->array_left;
    record->array_killed = kept->array_killed;
    record->array_aside = kept->array_aside;
    record->size = kept->size;
    record->size_now = kept->size_now;
    record->size_next = kept->size_next;
}

/* Rendering has failed: write the diagnosis.  -1 and a sentence on failure. */
static int write_unprepared(const struct renewer *renewer, int job, struct job_record *record,
                            enum prepare_result prepared, const struct preparation *preparation,
                            struct error *error)
{
    struct diagnosis diagnosis;
    struct circumstances circumstances = {
        .settings = &renewer->stage->settings,
        .id = record->id.data,
        .commit = repository_commit(renewer->repository),
        .now = clock_now(),
        .change_since = record->change_since,
    };
    if (prepared == PREPARE_BAD_REQUEST)
        diagnosis_bad_request(&diagnosis, record->source.data, &preparation->error);
    else
        diagnosis_render(&diagnosis, &circumstances, preparation->failure, &preparation->error);
    if (diagnosis.failure.when == RETRY_CHANGE)
        diagnosis.failure.settings = text_of(renewer->settings);
    return diagnosis_write(&diagnosis, job, record, false, clock_now(), error);
}

enum tasks_chosen { TASKS_UNKNOWN = -1, TASKS_KILLED, TASKS_HELD, TASKS_RUN };

/* Choose the tasks of an array that the next attempt runs.  TASKS_KILLED: none, since somebody has killed all
 * that are left, with the diagnosis; TASKS_UNKNOWN: and a sentence. */
static enum tasks_chosen choose_tasks(const struct renewer *renewer, int job,
                                      struct job_record *record, const char *cause,
                                      struct diagnosis *diagnosis, struct error *error)
{
    struct task_request kill;
    struct sweep_choice choice;
    struct arena *arena = renewer->arena;
    if (!record->array.length)
        return TASKS_RUN;
    if (control_tasks_choose(job, strcmp(cause, "asked") == 0, arena, &choice, error) ||
        control_tasks_pending(job, CONTROL_KILL, arena, &kill) < 0)
        return TASKS_UNKNOWN;
    if (sweep_continue(arena, record, &choice))
        return TASKS_RUN;
    if (sweep_waits(arena, record, &choice))
        return TASKS_HELD;
    if (!record->array_left.length)
        record->array_left = sweep_join(arena, record->array, record->array_aside);
    record->array_killed = sweep_join(arena, record->array_killed, kill.tasks);
    diagnosis_killed_tasks(diagnosis, record, &kill);
    return TASKS_KILLED;
}

/* A job of rendered/ keeps what it was accepted with; one that comes back is held to the present limits. */
static enum prepare_result hold_to_limits(const struct renewer *renewer,
                                          const struct renewal_order *order,
                                          const struct job_record *before,
                                          struct job_record *record,
                                          struct preparation *preparation)
{
    const struct limits limits = {&renewer->stage->settings, &renewer->stage->spool, true};
    if (order->from != STATE_RENDERED)
        return limits_hold_again(renewer->arena, &limits, renewer->repository, before, record,
                                 preparation);
    limits_keep(before, record, preparation->description);
    return PREPARED;
}

static enum prepare_result prepare_again(const struct renewer *renewer, struct text request,
                                         struct job_record *record,
                                         const struct renewal_order *order,
                                         struct preparation *preparation)
{
    const struct job_record before = *record;
    record->executor = renewer->stage->settings.executor;
    take_size(record, order->size);
    enum prepare_result prepared =
        prepare_request(renewer->arena, request, record->source.data, record, preparation);
    if (prepared == PREPARED)
        prepared = hold_to_limits(renewer, order, &before, record, preparation);
    if (prepared == PREPARED)
        prepared = prepare_manifest(renewer->arena, renewer->repository, record, preparation);
    if (prepared != PREPARED)
        return prepared;
    wanted_settle(renewer->arena, &renewer->stage->settings, record);
    if (wanted_bind(renewer->arena, renewer->repository, request, record, &preparation->error)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        return PREPARE_NOT_RENDERED;
    }
    return PREPARED;
}

/* A retry after a change does not restart the wait for a change; any other cause ends it. */
static void keep_wait(struct job_record *record, const struct renewal_order *order)
{
    bool goes_on = strcmp(order->cause, "change") == 0 || strcmp(order->cause, "capacity") == 0;
    if (order->from == STATE_FAILED && !goes_on)
        record->change_since = 0;
    else if (order->from == STATE_FAILED && !record->change_since) /* of an older version */
        record->change_since = record->failure.failed;
}

/* Write the result of a choice of tasks that leaves nothing to render: all that is left was killed, or is
 * held. */
static int write_chosen(const struct settings *settings, int job, struct job_record *record,
                        enum tasks_chosen chosen, struct diagnosis *diagnosis, int64_t now,
                        struct error *error)
{
    if (chosen == TASKS_HELD)
        return hold_write(settings, job, record, false, now, error) ? RENEW_TROUBLE : RENEW_HELD;
    return chosen == TASKS_UNKNOWN || diagnosis_write(diagnosis, job, record, false, now, error)
               ? RENEW_TROUBLE
               : RENEW_FAILED;
}

enum renewal renew_job(const struct renewer *renewer, int job, struct job_record *record,
                       const struct renewal_order *order, struct error *error)
{
    struct buffer request = {0};
    struct preparation preparation;
    struct diagnosis diagnosis;
    enum renewal result = RENEW_TROUBLE;
    int64_t now = clock_now();
    if (!record->request_file.length) {
        error_set(error, "there is no job file to run again; submit one");
        return RENEW_TROUBLE;
    }
    if (order_request_take(job, renewer->arena, record) < 0) {
        error_set(error, "where it is to stand among others is unknown at the moment");
        return RENEW_TROUBLE;
    }
    if (prepare_read(job, record, &request, error)) {
        if (file_is_damaged(errno)) {
            diagnosis_damaged(&diagnosis, record->id.data, error);
            result = diagnosis_write(&diagnosis, job, record, false, now, error) ? RENEW_TROUBLE
                                                                                 : RENEW_FAILED;
        }
        goto done;
    }
    const struct job_record kept = *record;
    int before = record->attempt;
    int attempt = next_attempt(job, record, error);
    if (attempt < 0)
        goto done;
    enum tasks_chosen chosen = choose_tasks(renewer, job, record, order->cause, &diagnosis, error);
    if (chosen != TASKS_RUN) {
        result =
            write_chosen(&renewer->stage->settings, job, record, chosen, &diagnosis, now, error);
        goto done;
    }
    record->attempt = attempt;
    keep_wait(record, order);
    enum prepare_result prepared =
        prepare_again(renewer, buffer_text(&request), record, order, &preparation);
    bool for_change = strcmp(order->cause, "change") == 0;
    if (for_change && (prepared == PREPARED ? is_as_refused(&kept, record)
                                            : fails_as_before(job, &kept, &preparation))) {
        *record = kept;
        result = note_looked_at(renewer, job, record, error) ? RENEW_TROUBLE : RENEW_FAILED;
        goto done;
    }
    if (prepared == PREPARE_NOT_RENDERED && preparation.failure == RENDER_REPOSITORY) {
        error_set(error, "%s", preparation.error.text);
        goto done;
    }
    if (prepared != PREPARED) {
        put_back(record, &kept);
        result = write_unprepared(renewer, job, record, prepared, &preparation, error)
                     ? RENEW_TROUBLE
                     : RENEW_FAILED;
        goto done;
    }
    /* The record goes on saying why the job failed until it has left failed/: a crash before that
     * leaves it there, to be found by the next pass. */
    if (attempt > before && keep_output(job, before, error))
        goto done;
    if (spool_file_replace_private(job, "manifest.yaml", preparation.rendered.manifest, record->gid,
                                   error) ||
        resize_clear(job, error))
        goto done;
    /* An approval is of what was rendered: that may be something else now. */
    int waits = approval_is_due(&renewer->stage->settings, record, job);
    if (waits < 0) {
        error_set(error, "whether the job is approved is unknown at the moment");
        goto done;
    }
    if (note_going(renewer, job, record, order, waits ? STATE_HELD : order->to, kept.priority,
                   error))
        goto done;
    result = waits ? RENEW_HELD : RENEW_DONE;
done:
    buffer_free(&request);
    return result;
}
