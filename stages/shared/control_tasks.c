/* stages/shared/control_tasks.c - what is asked for of single tasks of an array */
#include "stages/shared/control_tasks.h"

#include <errno.h>

#include "base/file.h"
#include "base/log.h"
#include "executors/registry/registry.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "stages/shared/control_file.h"
#include "stages/shared/hold_tasks.h"

enum { TASKS_LIMIT = 8 * 1024 }; /* bytes of a request's file */

static const char *file_of(enum control_verb verb)
{
    return verb == CONTROL_KILL ? "kill-tasks" : "retry";
}

/* What the verb does to a task, as a sentence tells it. */
static const char *verb_participle(enum control_verb verb)
{
    return verb == CONTROL_KILL    ? "killed"
           : verb == CONTROL_RETRY ? "retried"
           : verb == CONTROL_HOLD  ? "held"
                                   : "released";
}

/* control_tasks_allow() for all verbs but kill: these depend on which tasks are held. */
static bool allow_by_held(enum control_verb verb, const struct job_place *place, int job,
                          const struct job_record *record, struct text tasks, struct error *error)
{
    struct arena *arena = arena_new();
    struct held_tasks held;
    struct control_request whole;
    int result = hold_tasks_pending(job, arena, &held);
    if (result < 0)
        error_set(error, "%s: which tasks are held is unknown at the moment", place->id);
    else if (verb == CONTROL_RETRY)
        result = sweep_check_retry(record, held.tasks, place->id, tasks, error);
    else if (verb == CONTROL_HOLD)
        result = sweep_check_hold(record, held.tasks, place->id, tasks, error);
    else if (control_file_pending(job, CONTROL_HOLD, &whole) > 0)
        result = sweep_check_release(sweep_waiting(arena, record), place->id, tasks, error);
    else
        result = sweep_check_release(held.tasks, place->id, tasks, error);
    arena_free(arena);
    return result == 0;
}

bool control_tasks_allow(enum control_verb verb, const struct job_place *place, int job,
                         const struct job_record *record, struct text tasks, struct error *error)
{
    const char *id = place->id;
    struct error_quote_buffer buffer;
    if (!record || place->state == STATE_DONE)
        return true; /* nothing can be asked of a job that is done, as control_allows() tells */
    if (verb == CONTROL_TOP) {
        error_set(error, "%s: found tasks, expected the whole job: its tasks stay together", id);
        return false;
    }
    if (!text_is(record->type, "array")) {
        error_set(error, "%s is no array (its type is %s): only the whole job can be %s", id,
                  error_quote(&buffer, record->type.data, record->type.length),
                  verb_participle(verb));
        return false;
    }
    if (verb == CONTROL_HOLD && place->state == STATE_SUBMITTED) {
        error_set(
            error,
            "%s is in submitted/; its tasks can be held only before that; end some with dlspool "
            "kill %s/%.*s, and run them later with dlspool retry %s/%.*s",
            id, id, (int)tasks.length, tasks.data, id, (int)tasks.length, tasks.data);
        return false;
    }
    if (verb != CONTROL_KILL)
        return allow_by_held(verb, place, job, record, tasks, error);
    if (place->state == STATE_FAILED && record->failed && record->failure.when == RETRY_NEVER) {
        error_set(error, "%s has ended; there is no task to be killed", id);
        return false;
    }
    if (!registry_ends_tasks(record->executor)) {
        error_set(error, "single tasks cannot be killed at the executor %s, only the whole job",
                  error_quote(&buffer, record->executor.data, record->executor.length));
        return false;
    }
    bool waits = place->state != STATE_SUBMITTED;
    return sweep_check_kill(record, waits, id, tasks, error) == 0;
}

int control_tasks_write(int job, enum control_verb verb, struct text tasks, struct text by,
                        uid_t uid, int64_t now, struct error *error)
{
    struct buffer line = {0}, all = {0};
    if (file_read_at(job, file_of(verb), TASKS_LIMIT, &all, error) && errno != ENOENT &&
        !file_is_damaged(errno)) {
        buffer_free(&all);
        return -1;
    }
    eventlog_start(&line, now, verb == CONTROL_KILL ? "kill" : "retry");
    eventlog_add(&line, "by", by);
    eventlog_add_number(&line, "uid", uid);
    eventlog_add(&line, "array", tasks);
    eventlog_end(&line);
    buffer_add(&all, line.data, line.length);
    int result = 1;
    if (all.length > TASKS_LIMIT)
        error_set(error,
                  "too many tasks were asked for one by one; name several at once, as in 0-99");
    else
        result = spool_file_replace(job, file_of(verb), buffer_text(&all), 0644, error);
    if (!result)
        result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    buffer_free(&all);
    return result;
}

/* Whether all lines name tasks: one that names none means the whole job. */
static bool take_lines(struct text rest, struct arena *arena, struct task_request *request)
{
    struct event event;
    bool all = true;
    while (eventlog_next(&rest, &event)) {
        struct text by = eventlog_get(arena, &event, "by"),
                    tasks = eventlog_get(arena, &event, "array");
        request->several = request->several || (request->by[0] && !text_is(by, request->by));
        control_file_copy_by(request->by, by);
        request->when = event.time;
        all = all && tasks.length;
        request->tasks = sweep_join(arena, request->tasks, tasks);
    }
    return all;
}

int control_tasks_pending(int job, enum control_verb verb, struct arena *arena,
                          struct task_request *request)
{
    struct buffer bytes = {0};
    *request = (struct task_request){.tasks = {"", 0}};
    int result = 1;
    if (file_read_at(job, file_of(verb), TASKS_LIMIT, &bytes, NULL))
        result = errno == ENOENT || file_is_damaged(errno) ? 0 : -1;
    if (result == 1 && !take_lines(buffer_text(&bytes), arena, request))
        request->tasks = (struct text){"", 0};
    buffer_free(&bytes);
    return result;
}

int control_tasks_choose(int job, bool by_hand, struct arena *arena, struct sweep_choice *choice,
                         struct error *error)
{
    struct task_request retry, kill;
    struct held_tasks held;
    if (control_tasks_pending(job, CONTROL_RETRY, arena, &retry) < 0 ||
        control_tasks_pending(job, CONTROL_KILL, arena, &kill) < 0 ||
        hold_tasks_pending(job, arena, &held) < 0)
        return error_set(error, "what its owner asks for its tasks is unknown at the moment");
    *choice = (struct sweep_choice){
        .by_hand = by_hand, .only = retry.tasks, .killed = kill.tasks, .held = held.tasks};
    return 0;
}

int control_tasks_clear(int job, struct error *error)
{
    if (sys.unlinkat(job, file_of(CONTROL_KILL), 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", file_of(CONTROL_KILL));
    return 0;
}
