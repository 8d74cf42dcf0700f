/* client/view.c - jobs as the commands show them */
#include "client/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "client/put.h"
#include "spool/eventlog.h"
#include "spool/order_request.h"
#include "stages/shared/hold_tasks.h"

enum { WHY_LIMIT = 64 * 1024 }; /* bytes */

/* The reason from the log, which has the first sentence of why.  why itself may quote the job's
 * output, and then not everybody may read it. */
static struct text sentence_of_log(int job, struct arena *arena)
{
    struct buffer log = {0};
    struct event event;
    struct text result = {"", 0};
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            if (text_is(event.name, "failed"))
                result = eventlog_get(arena, &event, "why");
    }
    result =
        result.length ? arena_printf(arena, "%.*s\n", (int)result.length, result.data) : result;
    buffer_free(&log);
    return result;
}

/* Which tasks of an array are held now: not of one that is done. */
static struct text held_now(int job, const struct job_place *place, struct arena *arena,
                            const struct job_record *record)
{
    struct held_tasks held = {.tasks = {"", 0}};
    if (record->array.length && place->state != STATE_DONE)
        hold_tasks_pending(job, arena, &held);
    return held.tasks;
}

/* What the executor says of the tasks of this attempt.  Of a job that is done there is nothing to
 * tell: they have succeeded. */
static void read_tasks(int job, struct arena *arena, struct job_view *view)
{
    bool told = view->place.state == STATE_SUBMITTED || view->place.state == STATE_FAILED;
    if (!told || tasks_file_read(job, arena, &view->tasks, NULL) ||
        view->tasks.attempt != view->record.attempt)
        view->tasks = (struct tasks_file){.attempt = 0};
}

static struct text lost_sentence(struct arena *arena, const char *lost)
{
    bool several = strchr(lost, ',') != NULL;
    return arena_printf(arena, "%s %s lost, and the job goes on without %s\n", lost,
                        several ? "are" : "is", several ? "them" : "it");
}

static struct text suspended_sentence(struct arena *arena, const struct job_view *view)
{
    char time[CLOCK_TEXT_SIZE];
    return arena_printf(
        arena,
        "Held by %s where it is, since %s: it stands still, and keeps its CPUs, memory and "
        "GPUs. To have it go on: dlspool release %s\n",
        view->situation.suspended_by, clock_local(view->situation.suspended, time), view->place.id);
}

int view_read(const struct spool *spool, const struct job_place *place, struct arena *arena,
              struct job_view *view)
{
    struct buffer why = {0};
    *view = (struct job_view){.place = *place};
    int job = job_open(spool, place);
    if (job < 0) {
        view->record = (struct job_record){.id = text_of(view->place.id)};
        return -1;
    }
    view->readable = record_read(job, arena, &view->record, &view->unreadable) == 0;
    if (view->readable && place->state != STATE_DONE && place->state != STATE_SUBMITTED)
        order_request_take(job, arena, &view->record);
    if (!view->readable)
        view->record = (struct job_record){.id = text_of(view->place.id)};
    if (file_read_at(job, "why", WHY_LIMIT, &why, NULL) == 0)
        view->why = arena_text(arena, buffer_text(&why).data, why.length);
    else if (errno == EACCES)
        view->why = sentence_of_log(job, arena);
    buffer_free(&why);
    job_state_read_situation(job, place, &view->situation);
    view->tasks_held = held_now(job, place, arena, &view->record);
    read_tasks(job, arena, view);
    if (!view->why.length && view->situation.lost[0] && place->state == STATE_SUBMITTED)
        view->why = lost_sentence(arena, view->situation.lost);
    if (view->situation.suspended && view->situation.state == JOB_RUNNING)
        view->why = suspended_sentence(arena, view);
    if (!view->why.length && view->situation.state == JOB_QUEUED)
        view->why = arena_text(arena, view->situation.waits, strlen(view->situation.waits));
    sys.close(job);
    return 0;
}

struct text view_sentence(const struct job_view *view)
{
    struct text rest = view->why, line = {"", 0};
    if (rest.length)
        text_next(&rest, '\n', &line);
    return line;
}

void view_take_waiting(struct job_view *view, const struct waiting_file *waiting,
                       struct arena *arena)
{
    struct text own = view_sentence(view);
    struct error sentence;
    if (view->place.state != STATE_RENDERED)
        return;
    waiting_reason(waiting, view->place.id, own, &sentence);
    if (!text_is(own, sentence.text))
        view->why = arena_printf(arena, "%s\n", sentence.text);
}

bool view_has_ended(const struct job_view *view)
{
    enum retry_when when = view->record.failure.when;
    if (view->place.state == STATE_DONE)
        return true;
    return view->place.state == STATE_FAILED &&
           (!view->record.failed || when == RETRY_NEVER || when == RETRY_CHANGE);
}

int64_t view_elapsed(const struct job_view *view)
{
    const struct job_situation *situation = &view->situation;
    bool runs = view->place.state == STATE_SUBMITTED;
    if (!situation->started || (!runs && situation->ended < situation->started))
        return -1;
    int64_t elapsed = (runs ? clock_now() : situation->ended) - situation->started;
    return elapsed > 0 ? elapsed : 0;
}

void view_print_tasks(const struct job_view *view, struct buffer *out)
{
    const struct tasks_file *tasks = &view->tasks;
    const struct {
        int number;
        const char *word;
    } counts[] = {{tasks->waiting, "waiting"},
                  {tasks->running, "running"},
                  {tasks->succeeded, "succeeded"},
                  {tasks->failed, "failed"}};
    bool any = false;
    for (size_t i = 0; i < ARRAY_COUNT(counts) && tasks_file_total(tasks) > 1; i++) {
        if (!counts[i].number)
            continue;
        buffer_printf(out, "%s%d %s", any ? ", " : "", counts[i].number, counts[i].word);
        any = true;
    }
}

int view_exit_code(const struct job_view *view)
{
    if (view->place.state == STATE_DONE)
        return 0;
    return view->place.state == STATE_FAILED && view->record.failed ? view->record.failure.exit_code
                                                                    : -1;
}

/* The tasks of an array, by their indexes. */
static struct value *array_tree(struct arena *arena, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    if (!record->array.length)
        return value_null(arena);
    struct value *tree = value_object(arena);
    put_text(arena, tree, "tasks", record->array);
    put_text(arena, tree, "killed", record->array_killed);
    put_text(arena, tree, "aside", record->array_aside);
    put_text(arena, tree, "held", view->tasks_held);
    put_text(arena, tree, "left", record->array_left);
    return tree;
}

/* What the scheduler has of it, in its own words. */
static struct value *scheduler_tree(struct arena *arena, const struct tasks_file *tasks)
{
    if (!tasks->scheduler_id[0])
        return value_null(arena);
    struct value *tree = value_object(arena);
    put_text(arena, tree, "id", text_of(tasks->scheduler_id));
    put_text(arena, tree, "state", text_of(tasks->scheduler_state));
    return tree;
}

/* How many tasks wait, run and have ended. */
static struct value *tasks_tree(struct arena *arena, const struct tasks_file *tasks)
{
    if (!tasks_file_total(tasks))
        return value_null(arena);
    struct value *tree = value_object(arena);
    value_put(arena, tree, "waiting", value_number(arena, tasks->waiting));
    value_put(arena, tree, "running", value_number(arena, tasks->running));
    value_put(arena, tree, "succeeded", value_number(arena, tasks->succeeded));
    value_put(arena, tree, "failed", value_number(arena, tasks->failed));
    return tree;
}

static struct value *lost_tree(struct arena *arena, const char *lost)
{
    struct value *list = value_list(arena);
    struct text rest = text_of(lost), name;
    while (rest.length && text_next(&rest, ',', &name))
        value_append(arena, list, value_text(arena, text_trim(name)));
    return list;
}

static struct value *after_tree(struct arena *arena, const struct job_record *record)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < record->after_count; i++) {
        struct value *item = value_object(arena);
        put_text(arena, item, "condition", record->after[i].condition);
        put_text(arena, item, "job", record->after[i].job);
        put_text(arena, item, "id", record->after[i].id);
        value_append(arena, list, item);
    }
    return list;
}

static struct value *ran_tree(struct arena *arena, const struct job_situation *situation)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < situation->ran_count; i++) {
        struct value *item = value_object(arena);
        value_put(arena, item, "role", value_string(arena, situation->ran[i].role));
        value_put(arena, item, "image", value_string(arena, situation->ran[i].image));
        value_append(arena, list, item);
    }
    return list;
}

static struct value *number_or_null(struct arena *arena, int number)
{
    return number >= 0 ? value_number(arena, number) : value_null(arena);
}

static struct value *failure_tree(struct arena *arena, const struct job_view *view)
{
    const struct failure *failure = &view->record.failure;
    if (view->place.state != STATE_FAILED || !view->record.failed)
        return value_null(arena);
    struct value *tree = value_object(arena);
    put_text(arena, tree, "reason", failure->reason);
    put_text(arena, tree, "class", failure->class);
    value_put(arena, tree, "retry", value_string(arena, retry_when_name(failure->when)));
    put_time(arena, tree, "next", failure->next);
    value_put(arena, tree, "exit_code", number_or_null(arena, view_exit_code(view)));
    return tree;
}

struct value *view_tree(struct arena *arena, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    struct value *tree = value_object(arena);
    char place[PLACE_TEXT_SIZE];
    value_put(arena, tree, "id", value_string(arena, view->place.id));
    value_put(arena, tree, "state", value_string(arena, job_state_name(view->situation.state)));
    value_put(arena, tree, "directory", value_string(arena, spool_state_name(view->place.state)));
    value_put(arena, tree, "path",
              view->archive.length ? value_text(arena, view->archive)
                                   : value_string(arena, job_place_text(&view->place, place)));
    value_put(arena, tree, "archived", value_boolean(arena, view->archive.length > 0));
    put_text(arena, tree, "name", record->name);
    put_text(arena, tree, "owner", record->owner);
    value_put(arena, tree, "uid", value_number(arena, record->uid));
    put_time(arena, tree, "accepted", record->accepted);
    put_time(arena, tree, "begin", record->begin);
    put_time(arena, tree, "queued", view->situation.queued);
    put_time(arena, tree, "started", view->situation.started);
    put_time(arena, tree, "ended", view->situation.ended);
    int64_t elapsed = view_elapsed(view);
    value_put(arena, tree, "elapsed_seconds",
              elapsed >= 0 ? value_number(arena, (double)elapsed / 1000) : value_null(arena));
    put_text(arena, tree, "file", record->source);
    put_text(arena, tree, "library", record->library);
    put_text(arena, tree, "version", record->version);
    put_text(arena, tree, "library_version", record->library_version);
    put_text(arena, tree, "type", record->type);
    value_put(arena, tree, "priority", value_number(arena, record->priority));
    put_text(arena, tree, "priority_class", record->priority_class);
    value_put(arena, tree, "cpus", value_number(arena, (double)record->cpus / 1000));
    value_put(arena, tree, "memory", value_number(arena, (double)record->memory));
    value_put(arena, tree, "gpus", value_number(arena, record->gpus));
    put_text(arena, tree, "gpu_type", record->gpu_type);
    put_text(arena, tree, "queue", record->queue);
    put_text(arena, tree, "node", text_of(view->situation.node));
    value_put(arena, tree, "time_limit_seconds",
              record->time_limit ? value_number(arena, (double)record->time_limit / 1000)
                                 : value_null(arena));
    put_text(arena, tree, "executor", record->executor);
    value_put(arena, tree, "attempt", value_number(arena, record->attempt));
    put_text(arena, tree, "image", record->image);
    value_put(arena, tree, "ran", ran_tree(arena, &view->situation));
    put_text(arena, tree, "template", record->template_path);
    put_text(arena, tree, "commit", record->commit);
    put_text(arena, tree, "request_sha256", record->request_sha256);
    put_text(arena, tree, "manifest_sha256", record->manifest_sha256);
    value_put(arena, tree, "exit_code", number_or_null(arena, view_exit_code(view)));
    value_put(arena, tree, "scheduler", scheduler_tree(arena, &view->tasks));
    value_put(arena, tree, "tasks", tasks_tree(arena, &view->tasks));
    value_put(arena, tree, "lost", lost_tree(arena, view->situation.lost));
    value_put(arena, tree, "array", array_tree(arena, view));
    value_put(arena, tree, "after", after_tree(arena, record));
    value_put(arena, tree, "failure", failure_tree(arena, view));
    put_text(arena, tree, "why", view_sentence(view));
    return tree;
}
