/* stages/requeue.c - a failed job goes back to rendered/, or is killed where it waits */
#include "stages/requeue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "spool/eventlog.h"
#include "stages/control.h"
#include "stages/prepare.h"
#include "stages/twin.h"
#include "stages/verdict.h"

enum { REQUEST_LIMIT = 1 << 20, LOG_LIMIT = 16 << 20 };         /* bytes */

/* Whether the log tells of the job from its beginning on. */
static bool begins_well(struct text log)
{
    struct event event;
    return eventlog_next(&log, &event) && text_is(event.name, "accepted");
}

/* A job that the executor had gets a new attempt number, and with it a new token.  Computed from
 * the log, so that doing it twice is the same as once; where the log does not tell, or lines of it
 * are missing, the executor may have had it.  -1 and a sentence when the log cannot be read just
 * now. */
static int next_attempt(int job, const struct job_record *record, struct error *error)
{
    struct buffer log = {0};
    struct eventlog_fold fold = {0};
    int result = file_read_at(job, "log", LOG_LIMIT, &log, error);
    if (!result)
        eventlog_fold(buffer_text(&log), &fold);
    else if (file_is_damaged(errno))
        result = 0;
    /* Two lines tell the attempt, of which one may be damaged; there is none before the first. */
    int submitted = (int)event_get_number(&fold.submitted, "attempt", 0);
    int last = submitted > fold.attempt ? submitted : fold.attempt;
    bool had = fold.accepted || fold.started || fold.ended || record->failure.exit_code >= 0 ||
               text_is(record->failure.reason, "Vanished");
    if (!result && last > 0)
        result = last + had > record->attempt ? last + had : record->attempt;
    else if (!result)
        result = record->attempt > 0 ? record->attempt + (had || !begins_well(buffer_text(&log)))
                                     : 1;
    buffer_free(&log);
    return result;
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

static int note_requeued(int job, const struct job_record *record, const char *cause,
                         struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "requeued");
    eventlog_add_string(&line, "cause", cause);
    eventlog_add_number(&line, "attempt", record->attempt);
    eventlog_add(&line, "commit", record->commit);
    eventlog_add(&line, "image", record->image);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

/* Read the bytes that were dropped, and see that they are still those.  As file_read_at(). */
static int read_request(int job, const struct job_record *record, struct buffer *request,
                        struct error *error)
{
    char name[32], digest[SHA256_HEX_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)record->request_file.length,
             record->request_file.data);
    if (file_read_at(job, name, REQUEST_LIMIT, request, error))
        return -1;
    sha256_hex(buffer_text(request), digest);
    if (!record->request_sha256.length || text_is(record->request_sha256, digest))
        return 0;
    error_set(error, "%s: found SHA-256 %s, expected the one in job.yaml", name, digest);
    errno = EBADMSG;
    return -1;
}

/* Render the job anew and write what has changed into its directory.  0: it may go back; 1: it
 * stays, with the reason written; -1 and a sentence: trouble. */
static int renew_job(struct requeuer *requeuer, int job, struct job_record *record,
                     const char *cause, struct error *error)
{
    struct buffer request = {0};
    struct preparation preparation;
    struct verdict verdict;
    int result = -1;
    int64_t now = clock_now();
    if (!record->request_file.length) {
        error_set(error, "there is no job file to try again; drop one into incoming/");
        return -1;
    }
    if (read_request(job, record, &request, error)) {
        if (file_is_damaged(errno)) {
            verdict_damaged(&verdict, error);
            result = verdict_write(&verdict, job, record, false, now, error) ? -1 : 1;
        }
        goto done;
    }
    int before = record->attempt;
    int attempt = next_attempt(job, record, error);
    if (attempt < 0)
        goto done;
    record->executor = requeuer->stage->settings.executor;
    record->attempt = attempt;
    enum prepare_result prepared =
        prepare_request(requeuer->arena, buffer_text(&request), record->source.data, record,
                        &preparation);
    if (prepared == PREPARED)
        prepared = prepare_manifest(requeuer->arena, requeuer->repository, record,
                                    &preparation);
    if (prepared != PREPARED) {
        record->attempt = before;
        struct circumstances circumstances = {
            .settings = &requeuer->stage->settings,
            .commit = repository_commit(requeuer->repository),
            .now = now,
        };
        if (prepared == PREPARE_BAD_REQUEST)
            verdict_bad_request(&verdict, record->source.data, &preparation.error);
        else
            verdict_render(&verdict, &circumstances, preparation.failure, &preparation.error);
        verdict.failure.settings =
            verdict.failure.when == RETRY_CHANGE ? text_of(requeuer->settings)
                                                 : verdict.failure.settings;
        result = verdict_write(&verdict, job, record, false, now, error) ? -1 : 1;
        goto done;
    }
    /* The record goes on saying why the job failed until it has left failed/: a crash before that
     * leaves it there, to be found by the next pass. */
    if (attempt > before && keep_output(job, before, error))
        goto done;
    if (job_file_replace_private(job, "manifest.yaml", preparation.rendered.manifest, record->gid,
                                 error))
        goto done;
    if (record_replace(job, record, error) || note_requeued(job, record, cause, error))
        goto done;
    result = 0;
done:
    buffer_free(&request);
    return result;
}

static void send_back(struct requeuer *requeuer, struct job_place *place, int job,
                    struct job_record *record, const char *cause)
{
    struct spool *spool = &requeuer->stage->spool;
    struct error error;
    int renewed = renew_job(requeuer, job, record, cause, &error);
    if (renewed < 0) {
        /* The wish to try again stays where only trouble, such as a full disk, is in its way. */
        log_warn("%s cannot be tried again: %s", place->id, error.text);
        if (!record->request_file.length)
            control_clear(job, CONTROL_RETRY, NULL);
        return;
    }
    if (renewed > 0) {
        control_clear(job, CONTROL_RETRY, NULL);
        log_detail("%s still fails: %s", place->id, record->failure.reason.data);
        return;
    }
    if (spool_sync(spool, &error) ||
        job_move(spool, place, STATE_RENDERED, clock_now(), &error) ||
        control_clear(job, CONTROL_KILL, &error) || control_clear(job, CONTROL_RETRY, &error) ||
        why_remove(job, &error) || spool_sync_state(spool, STATE_RENDERED, &error) ||
        spool_sync_state(spool, STATE_FAILED, &error)) {
        log_warn("%s: %s", place->id, error.text);
        return;
    }
    requeuer->requeued++;
    log_detail("%s goes back to rendered/ (%s)", place->id, cause);
}

static void kill_waiting(struct requeuer *requeuer, int job, struct job_record *record)
{
    struct verdict verdict;
    struct error error;
    struct wish wish;
    if (control_pending(job, CONTROL_KILL, &wish) != 1)
        return;
    verdict_killed(&verdict, wish.by, wish.when);
    if (verdict_write(&verdict, job, record, false, clock_now(), &error) ||
        spool_sync(&requeuer->stage->spool, &error))
        log_warn("%s: %s", record->id.data, error.text);
}

void requeue_job(struct requeuer *requeuer, const struct requeue_deed *deed)
{
    struct job_place place = {.state = STATE_FAILED};
    struct job_record record;
    struct error error;
    memcpy(place.id, deed->id, sizeof(place.id));
    int job = job_open(&requeuer->stage->spool, &place);
    if (job < 0)
        return;
    if (stage_is_fenced(requeuer->stage)) {
        sys.close(job);
        return;
    }
    if (record_read(job, requeuer->arena, &record, &error)) {
        bool damaged = file_is_damaged(errno);
        log_warn("%s cannot be tried again: %s", place.id, error.text);
        if (damaged)
            control_clear(job, CONTROL_RETRY, NULL);
    } else if (twin_settle(requeuer->stage, &place, record.accepted)) {
        log_detail("%s was a copy", place.id);
    } else if (deed->kind == DEED_KILL) {
        kill_waiting(requeuer, job, &record);
    } else {
        send_back(requeuer, &place, job, &record, deed->cause);
    }
    sys.close(job);
    arena_reset(requeuer->arena);
}
