/* stages/shared/control.c - kill, retry, hold, release, top and priority files */
#include "stages/shared/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/meant.h"
#include "spool/order_request.h"
#include "spool/pause.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/hold_tasks.h"
#include "stages/shared/resize.h"
#include "stages/users.h"

enum { MOST_MOVES = 10 }; /* of a job while it is looked for */

enum {
    IN_RENDERED = 1 << STATE_RENDERED,
    IN_SUBMITTED = 1 << STATE_SUBMITTED,
    IN_FAILED = 1 << STATE_FAILED,
    IN_HELD = 1 << STATE_HELD,
    WAITING = IN_RENDERED | IN_FAILED | IN_HELD,
    UNFINISHED = IN_RENDERED | IN_SUBMITTED | IN_FAILED | IN_HELD,
};

#define HAS_ORDER                                                                                  \
    "the executor has it, and starts what it has in its own order; only jobs that wait here can be put in order"

static const struct {
    unsigned int states; /* in which a job may be for it */
    const char *rule;    /* the end of the sentence when it is in another */
    const char *phrase;  /* what the asker may not do; NULL: the verb, to it */
} verbs[CONTROL_VERBS] = {
    [CONTROL_KILL] = {.states = UNFINISHED},
    [CONTROL_RETRY] = {.states = IN_FAILED, .rule = "only a job in failed/ can be retried"},
    [CONTROL_HOLD] = {.states = UNFINISHED},
    [CONTROL_SUSPEND] = {.states = IN_SUBMITTED,
                         .rule = "only a job that runs can be held with its memory"},
    [CONTROL_RELEASE] = {.states = UNFINISHED},
    [CONTROL_TOP] = {.states = WAITING, .rule = HAS_ORDER, .phrase = "put it on top"},
    [CONTROL_PRIORITY] = {.states = WAITING, .rule = HAS_ORDER, .phrase = "change its priority"},
    [CONTROL_APPROVE] = {.states = IN_HELD, .rule = "only a job in held/ waits for an approval"},
    [CONTROL_REFUSE] = {.states = IN_HELD, .rule = "only a job in held/ waits for an approval"},
};

bool control_decides(enum control_verb verb)
{
    return verb == CONTROL_APPROVE || verb == CONTROL_REFUSE;
}

bool control_allows(enum control_verb verb, const struct job_place *place,
                    const struct job_record *record, struct error *error)
{
    if (place->state == STATE_DONE)
        error_set(error, "%s has finished already (done/%s)", place->id, place->date);
    else if (!(verbs[verb].states & 1u << place->state))
        error_set(error, "%s is in %s/; %s", place->id, spool_state_name(place->state),
                  verbs[verb].rule);
    else if (record && verb == CONTROL_HOLD && place->state == STATE_SUBMITTED &&
             (record->array.length || !record->checkpoint_signal.length))
        error_set(
            error,
            "%s is in submitted/ and %s, so it would begin anew; only a job that has not begun, or has a "
            "checkpoint (docs/job-file.md), can be held; to end it: dlspool kill %s",
            place->id, record->array.length ? "is an array" : "names no checkpoint", place->id);
    else if (record && verb == CONTROL_SUSPEND && record->array.length)
        error_set(error,
                  "%s is an array, whose tasks take turns; an array cannot be held with its memory",
                  place->id);
    else if (record && verb == CONTROL_RETRY && !record->request_file.length)
        error_set(error, "%s was not made from a job file; submit one", place->id);
    else if (record && verb != CONTROL_KILL && verb != CONTROL_RETRY && verb != CONTROL_RELEASE &&
             place->state == STATE_FAILED && record->failed && record->failure.when == RETRY_NEVER)
        error_set(error, "%s has failed permanently; there is nothing to %s", place->id,
                  verb == CONTROL_HOLD ? "hold" : "put in order");
    else if (record && control_decides(verb) && !record->wants.length)
        error_set(error, "%s waits for no approval", place->id);
    else
        return true;
    return false;
}

/* Is there anything of it that a kill would end: does it wait, run, or come back by itself? */
static bool is_unfinished(const struct job_place *place, const struct job_record *record)
{
    if (place->state != STATE_FAILED || !record)
        return place->state != STATE_FAILED;
    return record->failed && record->failure.when != RETRY_NEVER &&
           record->failure.when != RETRY_CHANGE;
}

bool control_applies(void *context, const struct job_place *place, const struct job_record *record)
{
    const struct control_question *question = context;
    struct control_request request;
    if (!control_allows(question->verb, place, record, NULL))
        return false;
    if (question->verb == CONTROL_KILL)
        return is_unfinished(place, record);
    if (question->verb != CONTROL_HOLD && question->verb != CONTROL_SUSPEND &&
        question->verb != CONTROL_RELEASE)
        return true;
    int job = job_open(question->spool, place);
    bool held = job >= 0 && control_file_pending(job, CONTROL_HOLD, &request) != 0;
    bool partly = job >= 0 && (held || hold_tasks_any(job) ||
                               control_file_until(job, record ? record->begin : 0) > 0);
    if (job >= 0)
        sys.close(job);
    bool so = held && (question->verb == CONTROL_SUSPEND) == request.keeps_memory;
    return question->verb == CONTROL_RELEASE ? partly : !so;
}

/* Open the job that a control file of the user `uid` names, wherever it is; it may be moving.  The result
 * as that of control_apply(). */
static int open_job(const struct stage *stage, struct name_index *names,
                    const struct control *control, uid_t uid, struct job_place *place, int *job,
                    struct error *error)
{
    struct control_question question = {.spool = &stage->spool, .verb = control->verb};
    const struct meaning meaning = {.spool = &stage->spool,
                                    .word = control->id,
                                    .asker = uid,
                                    .applies = control_applies,
                                    .context = &question,
                                    .index = names};
    for (int tries = 0; tries < MOST_MOVES; tries++) {
        struct meant meant;
        int found = meant_job(&meaning, &meant, error);
        if (found)
            return found;
        *place = meant.places[0];
        if (!control_allows(control->verb, place, NULL, error))
            return 1;
        *job = job_open(&stage->spool, place);
        if (*job >= 0)
            return 0;
    }
    return error_errno(error, "%s could not be opened wherever it was seen", place->id);
}

/* Somebody who asks for something to be done to a job. */
struct asking {
    enum control_verb verb;
    const struct control *control;
    struct text tasks; /* of an array; empty: the whole job is meant */
    const struct job_place *place;
    int job;
    struct job_record *record;
    struct arena *arena;
    struct user asker;
    bool administrator;
    const struct settings *settings;
    control_witness *witness; /* NULL: nothing is sealed */
    void *context;
};

/* 0; 1 and a sentence when the request cannot be granted. */
static int check_request(const struct asking *asking, struct error *error)
{
    const struct job_record *record = asking->record;
    const char *id = asking->place->id;
    int result = 0;
    if (control_decides(asking->verb))
        return !control_allows(asking->verb, asking->place, record, error) ||
               approval_may_decide(asking->settings, record, asking->asker.uid, asking->asker.name,
                                   error);
    if (record->uid != asking->asker.uid && !asking->administrator)
        result =
            error_set(error, "%s belongs to %.*s; %s may not %s%s", id, (int)record->owner.length,
                      record->owner.length ? record->owner.data : "", asking->asker.name,
                      verbs[asking->verb].phrase ? verbs[asking->verb].phrase
                                                 : request_control_name(asking->verb),
                      verbs[asking->verb].phrase ? "" : " it");
    else if (asking->verb == CONTROL_SUSPEND && !control_may_suspend(asking->settings, error))
        result = -1;
    else if ((asking->tasks.length && !control_tasks_allow(asking->verb, asking->place, asking->job,
                                                           record, asking->tasks, error)) ||
             !control_allows(asking->verb, asking->place, record, error))
        result = -1;
    return result ? 1 : 0;
}

bool control_is_held_from(const char *id, const struct control_request *hold, uid_t owner,
                          struct error *error)
{
    if (hold->uid == owner)
        return false;
    error_set(error, "%s is held by %s; only an administrator may release it", id, hold->by);
    return true;
}

/* What to do about a request to hold or release: 0: nothing, since it is so already; 1: write it; 2
 * and a sentence: it is refused; -1: that cannot be determined. */
static int weigh_hold(const struct asking *asking, struct error *error)
{
    struct control_request hold;
    int held = control_file_pending(asking->job, CONTROL_HOLD, &hold);
    if (held < 0)
        return error_set(error, "%s: whether it is held is unknown at the moment",
                         asking->place->id);
    bool forbidden = held && !asking->administrator &&
                     control_is_held_from(asking->place->id, &hold, asking->record->uid, error);
    if (asking->verb == CONTROL_HOLD || asking->verb == CONTROL_SUSPEND)
        return !forbidden;
    return forbidden ? 2 : held;
}

static struct control_request request_of(const struct asking *asking, int64_t now)
{
    struct control_request request = {.uid = asking->asker.uid, .when = now};
    snprintf(request.by, sizeof(request.by), "%s", asking->asker.name);
    return request;
}

static int note_release(const struct asking *asking, struct text tasks, int64_t now,
                        struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, now, "release");
    eventlog_add_string(&line, "by", asking->asker.name);
    eventlog_add_number(&line, "uid", asking->asker.uid);
    eventlog_add(&line, "array", tasks);
    eventlog_end(&line);
    int result = eventlog_append(asking->job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

/* The job is held as a whole, by somebody whose hold may be ended.  Instead, that person now holds all tasks
 * except those that are released. */
static int hold_the_others(const struct asking *asking, struct error *error)
{
    struct control_request holder;
    struct held_tasks held;
    if (control_file_pending(asking->job, CONTROL_HOLD, &holder) <= 0)
        return 0;
    if (hold_tasks_pending(asking->job, asking->arena, &held) < 0)
        return error_set(error, "%s: which tasks are held is unknown at the moment",
                         asking->place->id);
    struct text out = sweep_join(asking->arena, asking->tasks, held.tasks);
    struct text others =
        sweep_without(asking->arena, sweep_waiting(asking->arena, asking->record), out);
    int result = others.length ? hold_tasks_add(asking->job, others, &holder, error) : 0;
    return result ? result : control_file_clear(asking->job, CONTROL_HOLD, error);
}

/* Have a job that has failed for good retried when tasks of it are released: nothing else would run them.  Not
 * one that was killed as a whole. */
static int retry_released(const struct asking *asking, struct text tasks, int64_t now,
                          struct error *error)
{
    const struct job_record *record = asking->record;
    bool killed = text_is(record->failure.reason, "Killed") && !record->array_killed.length;
    if (asking->place->state != STATE_FAILED || !record->failed || killed ||
        record->failure.when != RETRY_NEVER || !tasks.length)
        return 0;
    return control_tasks_write(asking->job, CONTROL_RETRY, tasks, text_of(asking->asker.name),
                               asking->asker.uid, now, error);
}

/* Release `tasks`, or all tasks when that is empty, of an array that may be held as a whole. */
static int release_tasks(const struct asking *asking, int64_t now, struct error *error)
{
    struct held_tasks held;
    const struct releaser releaser = {.id = asking->place->id,
                                      .owner = asking->record->uid,
                                      .administrator = asking->administrator,
                                      .by = request_of(asking, now)};
    if (hold_tasks_pending(asking->job, asking->arena, &held) < 0)
        return error_set(error, "%s: which tasks are held is unknown at the moment",
                         asking->place->id);
    struct text let_go =
        asking->tasks.length ? sweep_common(asking->arena, asking->tasks, held.tasks) : held.tasks;
    int result = asking->tasks.length ? hold_the_others(asking, error) : 0;
    if (!result)
        result = hold_tasks_release(asking->job, asking->tasks, &releaser, error);
    if (!result)
        result = retry_released(asking, let_go, now, error);
    struct text told = asking->tasks.length ? asking->tasks : let_go;
    return result || !told.length ? result : note_release(asking, told, now, error);
}

/* Nobody holds it: what its time keeps back begins now. */
static int begin_now(const struct asking *asking, int64_t now, struct error *error)
{
    int64_t until = control_file_until(asking->job, asking->record->begin);
    if (until < 0)
        return error_set(error, "%s: whether it was released is unknown at the moment",
                         asking->place->id);
    return until ? control_file_write_begin(asking->job, text_of(asking->asker.name),
                                            asking->asker.uid, now, error)
                 : 0;
}

static int decide_tasks(const struct asking *asking, int64_t now, struct error *error)
{
    struct control_request request = request_of(asking, now);
    if (asking->verb == CONTROL_HOLD)
        return hold_tasks_add(asking->job, asking->tasks, &request, error);
    if (asking->verb == CONTROL_RELEASE) {
        int weight = weigh_hold(asking, error);
        if (weight < 0 || weight == 2)
            return weight == 2 ? 1 : weight;
        return release_tasks(asking, now, error);
    }
    int result = control_tasks_write(asking->job, asking->verb, asking->tasks, text_of(request.by),
                                     request.uid, now, error);
    /* A killed task does not wait any longer, whoever held it. */
    const struct releaser releaser = {.id = asking->place->id, .administrator = true};
    if (!result && asking->verb == CONTROL_KILL)
        result = hold_tasks_release(asking->job, asking->tasks, &releaser, error);
    return result;
}

/* A job that runs is held by stopping it at its checkpoint: like a preempted job it goes to failed/, and from
 * there to held/.  One that is released before it has stopped goes on running. */
static int stop_or_go_on(const struct asking *asking, int64_t now, struct error *error)
{
    const struct job_record *record = asking->record;
    struct resize_request request;
    if (asking->place->state != STATE_SUBMITTED || asking->verb == CONTROL_SUSPEND)
        return 0;
    bool pending = resize_pending(asking->job, record, &request) == 1 && request.to == 0;
    if (asking->verb == CONTROL_RELEASE)
        return pending && strncmp(request.reason, RESIZE_HELD, strlen(RESIZE_HELD)) == 0
                   ? resize_clear(asking->job, error)
                   : 0;
    if (pending)
        return 0; /* it is stopped for others, and waits in held/ then */
    request = (struct resize_request){.generation = record->resizes + 1,
                                      .from = record->size_now ? record->size_now : record->size,
                                      .to = 0,
                                      .when = now};
    snprintf(request.reason, sizeof(request.reason), RESIZE_HELD "%s", asking->asker.name);
    return resize_write(asking->job, record, &request, error);
}

int control_may_set_priority(const struct job_record *record, bool administrator, int priority,
                             struct error *error)
{
    if (administrator || priority <= record->priority)
        return 0;
    return error_set(error,
                     "%.*s has priority %d, and %d is higher; its owner may only lower it, and an "
                     "administrator may raise it",
                     (int)record->id.length, record->id.data, record->priority, priority);
}

static int note_order(const struct asking *asking, int before, int64_t now, struct error *error)
{
    const struct job_record *record = asking->record;
    struct buffer line = {0};
    eventlog_start(&line, now, request_control_name(asking->verb));
    eventlog_add_string(&line, "by", asking->asker.name);
    eventlog_add_number(&line, "uid", asking->asker.uid);
    if (asking->verb == CONTROL_PRIORITY) {
        eventlog_add_number(&line, "value", record->priority);
        eventlog_add_number(&line, "before", before);
        if (record->priority_class.length)
            eventlog_add(&line, "priority_class", record->priority_class);
    }
    eventlog_end(&line);
    int result = eventlog_append(asking->job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

/* Put the job somewhere else among those that wait. */
static int put_in_order(const struct asking *asking, int64_t now, struct error *error)
{
    const struct control *control = asking->control;
    struct job_record *record = asking->record;
    if (order_request_take(asking->job, asking->arena, record) < 0)
        return error_set(error, "%s: where it stands is unknown at the moment", asking->place->id);
    int before = record->priority;
    bool named = control->value.length && !strchr("-0123456789", control->value.data[0]);
    if (asking->verb == CONTROL_TOP) {
        record->top = now;
    } else if (control_may_set_priority(record, asking->administrator, control->number, error)) {
        return 1;
    } else {
        record->priority = control->number;
        record->priority_class = named ? control->value : TEXT("");
        record->priority_from = asking->administrator ? TEXT("administrator") : TEXT("owner");
    }
    return order_request_write(asking->job, record, now, error) ||
                   note_order(asking, before, now, error)
               ? -1
               : 0;
}

/* An approver decides about a job that waits for that.  0, 1 and -1 as control_apply(). */
static int decide_approval(const struct asking *asking, int64_t now, struct error *error)
{
    struct approval approval;
    const struct control *control = asking->control;
    if (asking->verb == CONTROL_REFUSE)
        return approval_file_refuse(asking->job, asking->asker.name, asking->asker.uid,
                                    control->words, now, error);
    if (control->manifest.length &&
        !text_equal(control->manifest, asking->record->first_manifest_sha256)) {
        error_set(error,
                  "%s: its manifest is another one now than the one that was to be approved; look "
                  "at it again: dlspool show %s",
                  asking->place->id, asking->place->id);
        return 1;
    }
    approval_make(asking->settings, asking->record, asking->asker.uid, asking->asker.name, now,
                  &approval);
    if (asking->witness && asking->witness(asking->context, asking->place->id, &approval, error))
        return 1;
    return approval_file_write(asking->job, &approval, error);
}

/* 0, 1 and -1 as control_apply(). */
static int decide_request(const struct asking *asking, int64_t now, struct error *error)
{
    int result = check_request(asking, error);
    if (result)
        return result;
    if (asking->verb == CONTROL_TOP || asking->verb == CONTROL_PRIORITY)
        return put_in_order(asking, now, error);
    if (control_decides(asking->verb))
        return decide_approval(asking, now, error);
    if (asking->tasks.length)
        return decide_tasks(asking, now, error);
    if (asking->verb == CONTROL_HOLD || asking->verb == CONTROL_SUSPEND ||
        asking->verb == CONTROL_RELEASE) {
        int weight = weigh_hold(asking, error);
        bool partly = asking->verb == CONTROL_RELEASE && weight >= 0 && weight != 2;
        if (partly && (result = release_tasks(asking, now, error)))
            return result;
        if (weight == 0 && asking->verb == CONTROL_RELEASE)
            return begin_now(asking, now, error);
        if (weight != 1)
            return weight == 2 ? 1 : weight;
        if (stop_or_go_on(asking, now, error))
            return -1;
    }
    return control_file_write(asking->job, asking->verb, text_of(asking->asker.name),
                              asking->asker.uid, now, error);
}

/* Pause the spool, or let it go on. */
static int apply_to_spool(struct stage *stage, const struct control *control, uid_t uid,
                          int64_t now, struct error *error)
{
    struct user asker;
    struct pause pause = {.uid = uid, .since = now};
    users_find(uid, &asker);
    if (!settings_is_administrator(&stage->settings, &stage->spool, uid)) {
        error_set(error, "only an administrator may %s the spool; %s is none",
                  request_control_name(control->verb), asker.name);
        return 1;
    }
    snprintf(pause.by, sizeof(pause.by), "%s", asker.name);
    snprintf(pause.reason, sizeof(pause.reason), "%.*s", (int)control->words.length,
             control->words.data);
    bool pauses = control->verb == CONTROL_PAUSE;
    int result =
        pauses ? pause_write(&stage->spool, &pause, error) : pause_remove(&stage->spool, error);
    if (!result)
        log_say("the spool %s, as %s has asked%s%s", pauses ? "is paused" : "goes on", asker.name,
                pauses && *pause.reason ? ": " : "", pauses ? pause.reason : "");
    return result;
}

/* Has this user decided so already?  A control file that is met again after a crash asks for nothing more, but that
 * crash may have come before the job's stage was notified. */
static bool is_decided(const struct stage *stage, const struct control *control, uid_t uid,
                       const struct job_place *place)
{
    struct approval approval;
    struct control_request refusal;
    struct buffer words = {0};
    int job = control_decides(control->verb) && place->id[0] ? job_open(&stage->spool, place) : -1;
    bool decided = false;
    if (job >= 0 && control->verb == CONTROL_APPROVE)
        decided = approval_file_read(job, &approval) > 0 && approval.uid == uid;
    else if (job >= 0)
        decided = approval_file_refused(job, &refusal, &words) > 0 && refusal.uid == uid;
    if (decided)
        job_notify(&stage->spool, place, job);
    if (job >= 0)
        sys.close(job);
    buffer_free(&words);
    return decided;
}

bool control_may_suspend(const struct settings *settings, struct error *error)
{
    const struct value *local = value_get(settings->tree, "local");
    if (text_is(settings->executor, "local") && value_get_boolean(local, "suspend", false))
        return true;
    error_set(
        error,
        "jobs cannot be held with their memory here: that takes the executor local, and local.suspend: true in "
        "dlspool.yaml");
    return false;
}

int control_apply(struct stage *stage, struct name_index *names, const struct control *control,
                  uid_t uid, int64_t now, struct error *error)
{
    return control_apply_witnessed(stage, names, control, uid, now, NULL, NULL, error);
}

int control_apply_witnessed(struct stage *stage, struct name_index *names,
                            const struct control *control, uid_t uid, int64_t now,
                            control_witness *witness, void *context, struct error *error)
{
    struct job_place place = {.id = ""};
    struct job_record record;
    struct asking asking = {.verb = control->verb,
                            .control = control,
                            .tasks = control->tasks,
                            .place = &place,
                            .record = &record,
                            .settings = &stage->settings,
                            .witness = witness,
                            .context = context};
    if (control->verb == CONTROL_PAUSE || control->verb == CONTROL_RESUME)
        return apply_to_spool(stage, control, uid, now, error);
    int result = open_job(stage, names, control, uid, &place, &asking.job, error);
    if (result)
        return result > 0 && is_decided(stage, control, uid, &place) ? 0 : result;
    struct arena *arena = asking.arena = arena_new();
    users_find(uid, &asking.asker);
    asking.administrator = settings_is_administrator(&stage->settings, &stage->spool, uid);
    if (record_read(asking.job, arena, &record, error)) {
        /* Nobody can be shown to own a damaged record; only an administrator may act on it. */
        if (!file_is_damaged(errno))
            result = -1;
        record = (struct job_record){.uid = (uid_t)-1, .owner = TEXT("nobody")};
    }
    if (!result)
        result = decide_request(&asking, now, error);
    if (!result)
        job_notify(&stage->spool, &place, asking.job);
    arena_free(arena);
    sys.close(asking.job);
    return result;
}
