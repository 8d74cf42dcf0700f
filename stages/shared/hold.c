/* stages/shared/hold.c - a job goes to held/, and what stands beside it there */
#include "stages/shared/hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "request/after.h"
#include "request/description.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "spool/why.h"
#include "stages/shared/control_tasks.h"

enum { MOST_IN_SENTENCE = 4, MOST_LINES = 40 }; /* jobs that are named */

const char *hold_wanted(enum condition condition)
{
    static const char *const words[] = {[AFTER_OK] = "must succeed",
                                        [AFTER_ANY] = "must finish",
                                        [AFTER_NOT_OK] = "must fail",
                                        [AFTER_BEGUN] = "must begin",
                                        [AFTER_SINGLETON] = "must finish"};
    return words[condition];
}

static enum condition condition_of(const struct awaited *awaited)
{
    enum condition condition;
    return after_condition_find(awaited->condition, &condition) ? condition : AFTER_ANY;
}

static void add_text(struct buffer *out, struct text text)
{
    if (text.length)
        buffer_add_text(out, text);
}

static void name_job(struct buffer *out, const struct awaited *awaited)
{
    if (condition_of(awaited) == AFTER_SINGLETON && !awaited->id.length)
        buffer_add_string(out, "earlier jobs of this name");
    else
        add_text(out, awaited->id.length ? awaited->id : awaited->job);
    buffer_printf(out, " (%s)", hold_wanted(condition_of(awaited)));
}

/* In one sentence each: who holds it, until when, and for which jobs it waits. */
static void add_sentence(struct buffer *out, const struct hold_view *view)
{
    size_t shown = view->count > MOST_IN_SENTENCE ? MOST_IN_SENTENCE : view->count;
    bool one =
        strspn(view->tasks.length ? view->tasks.data : "", "0123456789") == view->tasks.length;
    char time[CLOCK_TEXT_SIZE];
    if (view->approval)
        buffer_printf(out, "%s%s", view->approval->sentence.data,
                      view->request || view->count || view->begin ? " " : "");
    if (view->request && view->tasks.length)
        buffer_printf(out, "Held by %s: %s %.*s.%s", view->request->by, one ? "task" : "tasks",
                      (int)view->tasks.length, view->tasks.data,
                      view->count && !view->begin ? " " : "");
    else if (view->request)
        buffer_printf(out, "Held by %s.%s", view->request->by,
                      view->count && !view->begin ? " " : "");
    else if (!view->count && !view->begin && !view->approval)
        buffer_add_string(out, "Nothing holds it: it goes on at once.");
    if (view->begin)
        buffer_printf(out, "%sNot before %s, as its begin says.%s", view->request ? " " : "",
                      clock_format(view->begin, time), view->count ? " " : "");
    if (!view->count)
        return;
    buffer_add_string(out, "Waiting for: ");
    for (size_t i = 0; i < shown; i++) {
        if (i)
            buffer_add_string(out, ", ");
        name_job(out, view->reasons[i].awaited);
    }
    if (shown < view->count)
        buffer_printf(out, ", and %zu more", view->count - shown);
    buffer_add_byte(out, '.');
}

/* How it is with one job that is waited for.  Of a singleton nothing is known before it was looked for. */
static void add_line(struct buffer *out, const struct hold_reason *reason)
{
    const struct awaited *awaited = reason->awaited;
    if (condition_of(awaited) == AFTER_SINGLETON && !awaited->id.length)
        return;
    add_text(out, awaited->condition);
    buffer_add_byte(out, ':');
    add_text(out, awaited->job);
    if (!awaited->id.length) {
        buffer_add_string(out, " is not known yet: no job of that name was submitted.\n");
        return;
    }
    if (!text_equal(awaited->id, awaited->job)) {
        buffer_add_string(out, " is ");
        add_text(out, awaited->id);
        buffer_add_byte(out, ',');
    }
    switch (reason->dependency) {
    case DEPENDENCY_HELD:
        buffer_add_string(out, " which waits in held/ itself.\n");
        break;
    case DEPENDENCY_FAILED:
        buffer_printf(out, " which has failed (%s) and can still be retried.\n", reason->reason);
        break;
    default:
        buffer_printf(out, " which has not %s.\n",
                      condition_of(awaited) == AFTER_BEGUN ? "begun" : "ended");
        break;
    }
}

/* What happens next, and what somebody can do about it. */
static void add_next(struct buffer *out, const struct hold_view *view)
{
    char time[CLOCK_TEXT_SIZE];
    bool unknown = false;
    if (view->approval) {
        buffer_printf(out, "%s%s", view->approval->next.data,
                      view->count || view->begin || view->request ? "\n" : "");
    }
    for (size_t i = 0; i < view->count; i++)
        unknown = unknown || (!view->reasons[i].awaited->id.length &&
                              condition_of(view->reasons[i].awaited) != AFTER_SINGLETON);
    if (view->count)
        buffer_printf(out, "it is queued when %s, and fails if %s can no longer be met.",
                      view->count == 1 ? "this condition is met" : "all conditions are met",
                      view->count == 1 ? "it" : "one");
    else if (view->begin && !view->request)
        buffer_printf(out, "it is queued then; to have it begin before: dlspool release %s",
                      view->id);
    if (unknown && view->patience_ends)
        buffer_printf(out, " A job that has not come by %s is not waited for any longer.",
                      clock_format(view->patience_ends, time));
    if (view->request)
        buffer_printf(out, "%s %s releases it: dlspool release %s",
                      view->count ? " It is held until" : "not started until",
                      view->by_owner ? "its owner or an administrator" : "an administrator",
                      view->id);
    else if (unknown)
        buffer_printf(
            out,
            " If the name is wrong, change the job file and submit it again; to end this one: "
            "dlspool kill %s",
            view->id);
}

void hold_explain(struct buffer *why, const struct hold_view *view)
{
    struct buffer sentence = {0}, detail = {0}, next = {0};
    add_sentence(&sentence, view);
    if (view->approval && view->approval->detail.length)
        buffer_add_text(&detail, buffer_text(&view->approval->detail));
    for (size_t i = 0; i < view->count && i < MOST_LINES; i++)
        add_line(&detail, &view->reasons[i]);
    add_next(&next, view);
    struct why parts = {sentence.data, detail.data, next.length ? next.data : "nothing."};
    why_format(&parts, why);
    buffer_free(&sentence);
    buffer_free(&detail);
    buffer_free(&next);
}

int hold_keep_tasks(int job, const struct job_record *record, struct arena *arena,
                    struct held_tasks *held)
{
    struct sweep_choice choice;
    *held = (struct held_tasks){.tasks = {"", 0}};
    if (!record->array.length)
        return 0;
    int result = hold_tasks_pending(job, arena, held);
    if (result > 0 && control_tasks_choose(job, false, arena, &choice, NULL))
        return -1;
    return result > 0 ? sweep_waits(arena, record, &choice) : result;
}

int hold_awaits(const struct settings *settings, int job, const struct job_record *record)
{
    if (record->after_count && !record->released)
        return 1;
    int64_t until = control_file_until(job, record->begin);
    return until < 0 ? -1 : until > 0 ? 1 : approval_is_due(settings, record, job);
}

int hold_is_due(const struct settings *settings, int job, const struct job_record *record,
                bool *held, struct control_request *request)
{
    int pending = control_file_pending(job, CONTROL_HOLD, request);
    *held = pending > 0;
    return pending ? pending : hold_awaits(settings, job, record);
}

static int note_held(int job, const struct job_record *record, const struct hold_view *view,
                     struct error *error)
{
    struct buffer line = {0};
    char time[CLOCK_TEXT_SIZE];
    eventlog_start(&line, record->held, "held");
    eventlog_add_string(&line, "cause",
                        view->approval  ? "approval"
                        : view->request ? "hold"
                        : view->count   ? "after"
                                        : "begin");
    if (view->approval)
        eventlog_add(&line, "wants", record->wants);
    if (view->begin)
        eventlog_add_string(&line, "until", clock_format(view->begin, time));
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

/* The words for an approval that the job waits for.  1; 0 when it waits for none; -1: not known now. */
static int find_approval(const struct settings *settings, int job, const struct job_record *record,
                         struct approval_words *words)
{
    struct approval approval;
    struct error reason;
    enum approval_answer answer = approval_judge(settings, NULL, record, job, &approval, &reason);
    if (answer == APPROVAL_UNKNOWN || answer == APPROVAL_NOT_WANTED || answer == APPROVAL_GIVEN)
        return answer == APPROVAL_UNKNOWN ? -1 : 0;
    approval_words_make(settings, record, answer, &reason, words);
    return 1;
}

int hold_write(const struct settings *settings, int job, struct job_record *record, bool create,
               int64_t now, struct error *error)
{
    struct hold_reason *reasons = memory_allocate((record->after_count + 1) * sizeof(*reasons));
    struct buffer why = {0};
    struct control_request request;
    struct hold_view view = {.id = record->id.data, .reasons = reasons};
    struct arena *arena = arena_new();
    struct held_tasks tasks;
    struct approval_words words = {.sentence = {0}};
    bool held;
    int result = hold_is_due(settings, job, record, &held, &request);
    int wanted = find_approval(settings, job, record, &words);
    int kept = result < 0 || held ? 0 : hold_keep_tasks(job, record, arena, &tasks);
    view.begin = control_file_until(job, record->begin);
    view.approval = wanted > 0 ? &words : NULL;
    if (result < 0 || kept < 0 || view.begin < 0 || wanted < 0) {
        result = -1;
        error_set(error, "whether the job is held is unknown at the moment");
        goto done;
    }
    for (size_t i = 0; i < record->after_count && !record->released; i++)
        reasons[view.count++] = (struct hold_reason){.awaited = &record->after[i], .reason = ""};
    view.request = held ? &request : kept ? &tasks.request : NULL;
    view.tasks = kept ? sweep_shortened(arena, tasks.tasks) : TEXT("");
    view.by_owner = view.request && view.request->uid == record->uid;
    hold_explain(&why, &view);
    record->held = now;
    result = (create ? record_create : record_replace)(job, record, error);
    if (!result)
        result = spool_file_replace(job, "why", buffer_text(&why), 0644, error);
    if (!result)
        result = note_held(job, record, &view, error);
done:
    approval_words_free(&words);
    arena_free(arena);
    buffer_free(&why);
    free(reasons);
    return result ? -1 : 0;
}
