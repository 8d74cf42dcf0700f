/* stages/shared/diagnosis.c - why a job goes to failed/, and what brings it back */
#include "stages/shared/diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "request/description.h"
#include "spool/eventlog.h"
#include "spool/id.h"
#include "spool/why.h"
#include "stages/guard.h"
#include "stages/shared/resize.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/start_refused.h"
#include "stages/shared/sweep.h"

enum { SOURCE_SIZE = 256 }; /* bytes of a file's name, with its NUL */

static void begin_diagnosis(struct diagnosis *diagnosis, const char *reason, const char *class,
                            enum retry_when when)
{
    *diagnosis = (struct diagnosis){0};
    snprintf(diagnosis->reason, sizeof(diagnosis->reason), "%s", reason);
    snprintf(diagnosis->class, sizeof(diagnosis->class), "%s", class);
    diagnosis->failure.when = when;
    diagnosis->failure.exit_code = -1;
}

/* Set what happens next.  Whoever reads `why` is told what they can do themselves, with the command to type. */
static void say_next(struct diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_next(struct diagnosis *diagnosis, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnosis->next, sizeof(diagnosis->next), format, arguments);
    va_end(arguments);
}

/* Have the job retried when something changes, but only for a while, as its owner may have forgotten it by
 * then.  `what` says which change would help. */
static void wait_for_change(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                            const char *advice, const char *what)
{
    char until[CLOCK_TEXT_SIZE], waited[CLOCK_TEXT_SIZE];
    struct failure *failure = &diagnosis->failure;
    const struct settings *settings = circumstances->settings;
    int64_t since = circumstances->change_since, now = circumstances->now;
    if (!since || since > now)
        since = now;
    failure->failed = now;
    if (now >= since + settings->retry_change) {
        failure->when = RETRY_NEVER;
        say_next(
            diagnosis,
            "%s. It is not retried by itself any more: its cause was not fixed within %s. To retry it now: "
            "dlspool retry %s",
            advice, duration_format(settings->retry_change, waited), circumstances->id);
        return;
    }
    failure->when = RETRY_CHANGE;
    failure->commit = text_of(circumstances->commit);
    failure->settings = text_of(settings->sha256);
    diagnosis->change_since = since;
    say_next(diagnosis,
             "%s. If %s before %s, it is retried by itself. To retry it now: dlspool retry %s",
             advice, what, clock_format(since + settings->retry_change, until), circumstances->id);
}

/* Double the last delay, within the settings' bounds, and spread the result by a fifth, so that
 * what failed together does not come back together.  It is retried so `most` times for this reason;
 * 0: the job's `retries` bound it. */
static void wait_for_time(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                          const struct job_record *record, int most)
{
    const struct settings *settings = circumstances->settings;
    int64_t delay = record->backoff * 2;
    if (delay < settings->retry_first)
        delay = settings->retry_first;
    if (delay > settings->retry_longest)
        delay = settings->retry_longest;
    int64_t spread = delay / 5;
    int64_t jitter = spread ? (int64_t)(random() % (spread + 1)) - spread / 2 : 0;
    char time[CLOCK_TEXT_SIZE], wait[CLOCK_TEXT_SIZE];
    diagnosis->failure.when = RETRY_AT;
    diagnosis->most_retries = most;
    diagnosis->failure.delay = delay;
    diagnosis->failure.next = circumstances->now + delay + jitter;
    say_next(diagnosis,
             "it is retried by itself at %s (in about %s). To retry it now: dlspool retry %s",
             clock_format(diagnosis->failure.next, time), duration_format(delay, wait),
             circumstances->id);
}

static void wait_for_nothing(struct diagnosis *diagnosis, const char *id)
{
    diagnosis->failure.when = RETRY_NEVER;
    say_next(diagnosis, "not retried. To run it again: dlspool retry %s", id);
}

/* The first line of an error is the sentence; more lines are detail. */
static void take_error(struct diagnosis *diagnosis, const char *prefix, const struct error *error)
{
    const char *newline = strchr(error->text, '\n');
    int length = newline ? (int)(newline - error->text) : (int)strlen(error->text);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "%s%.*s", prefix, length,
             error->text);
    snprintf(diagnosis->detail, sizeof(diagnosis->detail), "%s", newline ? newline + 1 : "");
}

/* The name of the file as its owner knows it: `submit` puts a token into it.  NULL when a shell
 * would not take it as one word. */
static const char *name_of(const char *source, char buffer[static SOURCE_SIZE])
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+,:=@%";
    struct text token;
    snprintf(buffer, SOURCE_SIZE, "%s", source ? source : "");
    if (id_token_in_file_name(text_of(buffer), &token))
        memmove(buffer + (token.data - 1 - buffer), token.data + token.length,
                strlen(token.data + token.length) + 1);
    return buffer[0] && buffer[0] != '-' && !buffer[strspn(buffer, plain)] ? buffer : NULL;
}

void diagnosis_bad_request(struct diagnosis *diagnosis, const char *source,
                           const struct error *error)
{
    char buffer[SOURCE_SIZE];
    const char *name = name_of(source, buffer);
    begin_diagnosis(diagnosis, "BadRequest", "permanent", RETRY_NEVER);
    take_error(diagnosis, "The job file cannot be used: ", error);
    say_next(diagnosis, "not retried. Correct %s and submit it again: dlspool submit %s",
             name ? name : "the file", name ? name : "FILE");
}

void diagnosis_refused_request(struct diagnosis *diagnosis, const struct error *error)
{
    begin_diagnosis(diagnosis, "BadControl", "permanent", RETRY_NEVER);
    take_error(diagnosis, "The request cannot be carried out: ", error);
    say_next(diagnosis,
             "not retried. The job that it names has not changed. To see the jobs, and whose they "
             "are: dlspool list --all");
}

void diagnosis_refused_file(struct diagnosis *diagnosis, const struct error *error)
{
    begin_diagnosis(diagnosis, "BadFile", "permanent", RETRY_NEVER);
    take_error(diagnosis, "The file cannot be a job: ", error);
    say_next(diagnosis,
             "not retried. Submit a job file, a plain file of at most 1 MiB: dlspool submit FILE\n"
             "What was dropped is kept here, as `dropped`.");
}

void diagnosis_too_many(struct diagnosis *diagnosis, const char *id, bool over,
                        const struct error *error)
{
    begin_diagnosis(diagnosis, over ? "OverLimit" : "TooManyWaiting", "permanent", RETRY_NEVER);
    take_error(diagnosis, "", error);
    say_next(diagnosis, "not retried. Once %s: dlspool retry %s",
             over ? "there is room under the limit (dlspool limits)"
                  : "fewer of its owner's jobs wait (dlspool list)",
             id);
}

void diagnosis_render(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                      enum render_failure failure, const struct error *error)
{
    static const char *const reasons[] = {[RENDER_NO_TEMPLATE] = REASON_NO_TEMPLATE,
                                          [RENDER_NO_IMAGE] = "NoImage",
                                          [RENDER_TEMPLATE_FAULT] = "TemplateFault",
                                          [RENDER_NOT_ALLOWED] = "NotAllowed",
                                          [RENDER_REPOSITORY] = "TemplatesUnreadable"};
    begin_diagnosis(diagnosis, reasons[failure], "permanent", RETRY_CHANGE);
    take_error(diagnosis, "", error);
    if (failure == RENDER_NOT_ALLOWED) {
        diagnosis->failure.when = RETRY_NEVER;
        say_next(diagnosis,
                 "not retried. Change the job file and submit it again. If the site's rules have "
                 "changed: dlspool retry %s",
                 circumstances->id);
        return;
    }
    wait_for_change(diagnosis, circumstances,
                    failure == RENDER_NO_TEMPLATE || failure == RENDER_NO_IMAGE
                        ? "change the job file and submit it again, or tell an administrator"
                        : "tell an administrator: the job file is not at fault",
                    "the templates are changed so that it can be rendered");
}

/* The executor refused the job.  Whoever can mend that is told how. */
static void diagnosis_refused(struct diagnosis *diagnosis,
                              const struct circumstances *circumstances,
                              const struct job_record *record, const struct submission *submission)
{
    enum submit_mender mender = submission->mender;
    const char *remedy = submission->remedy, *id = circumstances->id;
    begin_diagnosis(diagnosis, REASON_REFUSED, "permanent", RETRY_NEVER);
    if (mender == MENDER_IMAGE) /* `image` of the job file comes from no line of images.txt */
        mender = record->image_line ? MENDER_MANIFEST : MENDER_OWNER;
    if (mender == MENDER_MANIFEST && submission->mender == MENDER_IMAGE)
        remedy =
            "ask an administrator, as images.txt names that image; or choose another version, library or "
            "image in the job file, and submit it again";
    if (mender == MENDER_TIME) {
        begin_diagnosis(diagnosis, REASON_REFUSED, "transient", RETRY_AT);
        wait_for_time(diagnosis, circumstances, record, circumstances->settings->transient_retries);
        size_t length = strlen(diagnosis->next);
        snprintf(diagnosis->next + length, sizeof(diagnosis->next) - length, "\nIf it goes on: %s.",
                 remedy);
    } else if (mender == MENDER_OWNER && submission->mender == MENDER_IMAGE)
        say_next(diagnosis,
                 "not retried. %s, and submit it again. To retry it as it is: dlspool retry %s",
                 *remedy ? remedy : "Change image in the job file", id);
    else if (mender == MENDER_OWNER)
        say_next(
            diagnosis,
            "not retried. %s, then run: dlspool retry %s\nIf it is not what was meant, change the job "
            "file and submit it again.",
            *remedy ? remedy : "Fix the cause", id);
    else if (mender == MENDER_SITE)
        say_next(diagnosis, "not retried. %s, then run: dlspool retry %s",
                 *remedy ? remedy : "Ask an administrator to fix the cause", id);
    else
        wait_for_change(diagnosis, circumstances,
                        *remedy ? remedy
                                : "fix the cause, or change the job file and submit it again",
                        "the templates are changed so that it is rendered to something else");
}

void diagnosis_submission(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                          const struct job_record *record, const struct submission *submission)
{
    if (submission->outcome == SUBMIT_NEVER_FITS) {
        begin_diagnosis(diagnosis, REASON_NEVER_FITS, "permanent", RETRY_CHANGE);
        snprintf(diagnosis->capacity, sizeof(diagnosis->capacity), "%s",
                 circumstances->capacity ? circumstances->capacity : "");
        wait_for_change(diagnosis, circumstances, "change the job file and submit it again",
                        "there is as much as it requests");
    } else {
        diagnosis_refused(diagnosis, circumstances, record, submission);
    }
    take_error(diagnosis, "", &submission->error);
}

/* What the task that decided printed last, and the command that shows all of it. */
static void add_excerpt(struct buffer *detail, const struct circumstances *circumstances,
                        const struct job_poll *poll, const struct output_end *printed)
{
    size_t before = detail->length;
    if (!printed->task[0])
        return;
    buffer_printf(detail, "The last lines that %s printed:\n", printed->task);
    size_t start = detail->length;
    excerpt_write(printed->bytes, circumstances->mask, detail);
    if (detail->length == start) {
        detail->length = before;
        buffer_printf(detail, "%s printed nothing.\n", printed->task);
        return;
    }
    buffer_printf(detail, "All of it: dlspool logs %s%s%s\n", circumstances->id,
                  poll->task_count > 1 ? " " : "", poll->task_count > 1 ? printed->task : "");
}

/* The evidence first, then what retry.txt makes of it. */
static void explain_failure(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                            const struct job_poll *poll, const struct output_end *printed,
                            const struct retry_decision *decision)
{
    struct buffer detail = {0}, hint = {0};
    buffer_add(&detail, "", 0);
    add_excerpt(&detail, circumstances, poll, printed);
    diagnosis->retry_line = decision->line;
    diagnosis->quotes = printed->bytes.length > 0;
    if (decision->hint.length) {
        retry_table_hint(decision, &hint);
        mask_write(circumstances->mask, buffer_text(&hint), &detail);
        buffer_free(&hint);
        buffer_printf(&detail, " (%s: line %d of retry.txt)",
                      retry_table_class_name(decision->class), decision->line);
    } else if (decision->line) {
        buffer_printf(&detail, "Line %d of retry.txt says that this is %s.", decision->line,
                      retry_table_class_name(decision->class));
    }
    snprintf(diagnosis->detail, sizeof(diagnosis->detail), "%s", detail.data ? detail.data : "");
    buffer_free(&detail);
}

/* How it ended, in a sentence. */
static void tell_end(struct diagnosis *diagnosis, const struct mask *mask,
                     const struct job_record *record, const struct job_poll *poll,
                     struct text refused)
{
    struct buffer sentence = {0};
    sweep_describe(&sentence, record);
    if (sentence.length)
        buffer_add_string(&sentence, ": ");
    if (refused.length && poll->exit_code == START_REFUSED)
        buffer_add_string(&sentence, "Nothing was started");
    else
        mask_write(mask,
                   text_of(poll->detail[0] ? poll->detail : "The job failed at the executor."),
                   &sentence);
    if (refused.length) {
        buffer_add_string(&sentence, ": ");
        excerpt_line(refused, mask, &sentence);
    }
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "%s", sentence.data);
    buffer_free(&sentence);
}

void diagnosis_ended(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                     struct job_record *record, const struct job_poll *poll,
                     const struct retry_table *table, const struct output_end *printed)
{
    struct retry_decision decision =
        retry_table_decide(table, poll->exit_code, text_of(poll->reason), printed->bytes);
    struct text refused = start_refused_by(poll->exit_code, printed->bytes);
    bool bad_path = refused.length && poll->exit_code == START_REFUSED;
    begin_diagnosis(diagnosis,
                    bad_path          ? "StartError"
                    : poll->reason[0] ? poll->reason
                                      : "Exited",
                    retry_table_class_name(decision.class), RETRY_NEVER);
    diagnosis->failure.exit_code = poll->exit_code;
    tell_end(diagnosis, circumstances->mask, record, poll, refused);
    explain_failure(diagnosis, circumstances, poll, printed, &decision);
    bool endless = record->retries == RETRIES_ALWAYS ||
                   (record->retries == RETRIES_ENDLESS && decision.class == RETRY_UNKNOWN);
    if (endless) {
        wait_for_time(diagnosis, circumstances, record, RETRY_MOST);
    } else if (decision.class == RETRY_TRANSIENT) {
        wait_for_time(diagnosis, circumstances, record,
                      decision.most ? decision.most : circumstances->settings->transient_retries);
    } else if (decision.class == RETRY_UNKNOWN && record->retried < record->retries) {
        record->retried++;
        wait_for_time(diagnosis, circumstances, record, 0);
        size_t used = strlen(diagnosis->next);
        snprintf(diagnosis->next + used, sizeof(diagnosis->next) - used,
                 "\nThis is retry %d of %d.", record->retried, record->retries);
    } else {
        wait_for_nothing(diagnosis, circumstances->id);
    }
}

void diagnosis_vanished(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                        const struct job_record *record)
{
    begin_diagnosis(diagnosis, "Vanished", "transient", RETRY_AT);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence),
             "The executor no longer knows this job: somebody removed it there, or the executor "
             "lost it.");
    wait_for_time(diagnosis, circumstances, record, circumstances->settings->transient_retries);
}

void diagnosis_resized(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                       enum size_kind kind, const struct resize_request *request, int exit_code)
{
    char old[SIZE_TEXT_SIZE], new[SIZE_TEXT_SIZE];
    const int64_t to = request->to;
    const char *why = request->reason;
    bool held = !to && strncmp(why, RESIZE_HELD, strlen(RESIZE_HELD)) == 0;
    begin_diagnosis(diagnosis, to ? REASON_RESIZED : REASON_PREEMPTED, "transient", RETRY_AT);
    diagnosis->failure.exit_code = exit_code;
    diagnosis->failure.next = circumstances->now;
    if (to)
        snprintf(diagnosis->sentence, sizeof(diagnosis->sentence),
                 "The job was stopped at its checkpoint to go on with %s instead of %s: %s",
                 size_text(kind, to, new), size_text(kind, request->from, old), why);
    else
        snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "The job was stopped%s%s%s",
                 request->loses ? "" : " at its checkpoint",
                 held ? ", as " : " to free resources for other jobs: ", why);
    snprintf(
        diagnosis->next, sizeof(diagnosis->next),
        held
            ? "the job waits in held/ until it is released, and goes on from its checkpoint. This uses up no retry."
        : to
            ? "the job is rendered at that size and submitted again at once. This uses up no retry."
        : request->loses
            ? "the job goes back to rendered/ at once, and begins anew as soon as there is room for it, as it has no "
              "checkpoint. This uses up no retry."
            : "the job goes back to rendered/ at once, and goes on from its checkpoint as soon as there is room for "
              "it. This uses up no retry.");
}

void diagnosis_killed(struct diagnosis *diagnosis, const char *id, const char *by, int64_t when)
{
    char time[CLOCK_TEXT_SIZE];
    begin_diagnosis(diagnosis, "Killed", "permanent", RETRY_NEVER);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "The job was killed by %s at %s.",
             by, clock_format(when, time));
    wait_for_nothing(diagnosis, id);
}

void diagnosis_killed_tasks(struct diagnosis *diagnosis, const struct job_record *record,
                            const struct task_request *request)
{
    char time[CLOCK_TEXT_SIZE];
    struct buffer sweep = {0};
    begin_diagnosis(diagnosis, record->array_killed.length ? "Killed" : REASON_TASKS_LEFT,
                    "permanent", RETRY_NEVER);
    sweep_describe(&sweep, record);
    buffer_add(&sweep, "", 0);
    if (record->array_killed.length && request->by[0])
        snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "%s, by %s%s at %s.", sweep.data,
                 request->by, request->several ? " and others" : "",
                 clock_format(request->when, time));
    else
        snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "%s.", sweep.data);
    buffer_free(&sweep);
    say_next(diagnosis, "not retried. To run the tasks that have not succeeded: dlspool retry %s",
             record->id.data);
}

void diagnosis_stops(struct diagnosis *diagnosis, const char *source, const char *stage, int tries)
{
    char buffer[SOURCE_SIZE];
    const char *name = name_of(source, buffer);
    begin_diagnosis(diagnosis, "StopsReader", "permanent", RETRY_NEVER);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence),
             "Reading this job file ended dlspool's %s %d times, so it is not read again.", stage,
             tries);
    snprintf(diagnosis->detail, sizeof(diagnosis->detail),
             "Each time the process that read it crashed, was killed, or took more than %d s of "
             "processor time. That is a fault of dlspool or of the template, or the file asks for "
             "far too much. It is kept here: `dropped`, or request.*.",
             guard_patience);
    say_next(
        diagnosis,
        "not retried. Show the file to an administrator, or simplify it and submit it again: dlspool "
        "submit %s",
        name ? name : "FILE");
}

void diagnosis_stops_stage(struct diagnosis *diagnosis, const char *id, const char *stage,
                           int tries)
{
    begin_diagnosis(diagnosis, REASON_STOPS_STAGE, "permanent", RETRY_NEVER);
    snprintf(
        diagnosis->sentence, sizeof(diagnosis->sentence),
        "This job ended dlspool's %s stage %d times, and was quarantined so that other jobs go on.",
        stage, tries);
    snprintf(
        diagnosis->detail, sizeof(diagnosis->detail),
        "Each time the process crashed or was killed while it worked on this job. That is a fault of "
        "dlspool. The output so far is in output/. Tasks that were running were told to end.");
    snprintf(
        diagnosis->next, sizeof(diagnosis->next),
        "not retried. Tell an administrator: the service's log says how the process ended. Once the "
        "fault is repaired and dlspool was restarted: dlspool retry %s",
        id);
}

void diagnosis_dependency(struct diagnosis *diagnosis, const char *id, const char *reason,
                          const char *sentence)
{
    begin_diagnosis(diagnosis, reason, "permanent", RETRY_NEVER);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "%s", sentence);
    say_next(diagnosis, "not retried. To check its conditions again: dlspool retry %s", id);
}

void diagnosis_not_approved(struct diagnosis *diagnosis, const char *id, const char *by,
                            struct text words)
{
    begin_diagnosis(diagnosis, REASON_NOT_APPROVED, "permanent", RETRY_NEVER);
    snprintf(diagnosis->sentence, sizeof(diagnosis->sentence), "Refused by %s: %.*s", by,
             (int)words.length, words.length ? words.data : "");
    say_next(diagnosis,
             "not retried. To ask again: dlspool retry %s, or submit a job that asks for less", id);
}

void diagnosis_damaged(struct diagnosis *diagnosis, const char *id, const struct error *error)
{
    begin_diagnosis(diagnosis, "DamagedRecord", "permanent", RETRY_NEVER);
    take_error(diagnosis, "The spool's own files of this job are damaged: ", error);
    say_next(diagnosis,
             "not retried. To run it again, submit its job file, in the spool's directory: dlspool "
             "submit failed/%s/request.*",
             id);
}

void diagnosis_unsealed(struct diagnosis *diagnosis, const char *id, const struct error *error)
{
    begin_diagnosis(diagnosis, "Unsealed", "permanent", RETRY_NEVER);
    take_error(diagnosis, "The job is not run: ", error);
    say_next(diagnosis,
             "not retried. To run it, its owner submits its job file, in the spool's directory: "
             "dlspool submit failed/%s/request.*\nJobs from before `user` was set, or of a version "
             "of dlspool that did not seal them, have no seal. If it is none of those, tell an "
             "administrator: somebody other than dlspool may have made it.",
             id);
}

void diagnosis_differs(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                       const struct job_record *record, const struct error *error)
{
    begin_diagnosis(diagnosis, "ManifestDiffers", "transient", RETRY_AT);
    take_error(diagnosis, "The job is not run as it is: ", error);
    wait_for_time(diagnosis, circumstances, record, circumstances->settings->transient_retries);
}

void diagnosis_lost_record(struct diagnosis *diagnosis, const char *id, const char *detail)
{
    struct error error;
    error_set(&error, "job.yaml was damaged while the job ran.\n%s", detail);
    diagnosis_damaged(diagnosis, id, &error);
}

/* Failures that pass by themselves are retried without using up the job's `retries`, but not for ever.  -1 and
 * a sentence when the log cannot be read now. */
static int bound_retries(struct diagnosis *diagnosis, int job, const char *id, struct error *error)
{
    struct buffer own = {0};
    const struct buffer *log = diagnosis->log ? diagnosis->log : &own;
    if (!diagnosis->most_retries || diagnosis->failure.when != RETRY_AT)
        return 0;
    if (log == &own && eventlog_read_undamaged(job, &own, error))
        return -1;
    int count = eventlog_count_retries(buffer_text(log), diagnosis->reason, diagnosis->class,
                                       diagnosis->failure.exit_code);
    buffer_free(&own);
    if (count < diagnosis->most_retries)
        return 0;
    diagnosis->failure.when = RETRY_NEVER;
    diagnosis->failure.next = diagnosis->failure.delay = 0;
    say_next(
        diagnosis,
        "not retried any more: it was retried %d times for this reason. When the cause is gone, run: dlspool "
        "retry %s",
        count, id);
    return 0;
}

int diagnosis_write(struct diagnosis *diagnosis, int job, struct job_record *record, bool create,
                    int64_t now, struct error *error)
{
    if (!create && bound_retries(diagnosis, job, record->id.data, error))
        return -1;
    record->failed = true;
    record->failure = diagnosis->failure;
    record->failure.reason = text_of(diagnosis->reason);
    record->failure.class = text_of(diagnosis->class);
    record->failure.capacity = text_of(diagnosis->capacity);
    if (!record->failure.failed)
        record->failure.failed = now;
    record->change_since = diagnosis->change_since;
    if (diagnosis->failure.delay)
        record->backoff = diagnosis->failure.delay;
    struct why why = {diagnosis->sentence, diagnosis->detail, diagnosis->next};
    if ((create ? record_create : record_replace)(job, record, error) ||
        (diagnosis->quotes ? why_write_private(job, &why, record->gid, error)
                           : why_write(job, &why, error)))
        return -1;

    struct arena *arena = arena_new();
    struct buffer line = {0};
    eventlog_start(&line, now, "failed");
    eventlog_add_string(&line, "reason", diagnosis->reason);
    eventlog_add_string(&line, "class", diagnosis->class);
    if (diagnosis->failure.exit_code >= 0)
        eventlog_add_number(&line, "exit_code", diagnosis->failure.exit_code);
    if (diagnosis->retry_line)
        eventlog_add_number(&line, "retry_txt_line", diagnosis->retry_line);
    eventlog_add_string(&line, "retry", retry_when_name(diagnosis->failure.when));
    if (diagnosis->failure.next) {
        char time[CLOCK_TEXT_SIZE];
        eventlog_add_string(&line, "next", clock_format(diagnosis->failure.next, time));
    }
    if (record->array_left.length)
        eventlog_add(&line, "array_left", sweep_shortened(arena, record->array_left));
    eventlog_add_string(&line, "why", diagnosis->sentence);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    arena_free(arena);
    return result;
}
