/* commands/show.c - dlspool show ID */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/quantity.h"
#include "commands/archived.h"
#include "client/array_tasks.h"
#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/notes.h"
#include "commands/open.h"
#include "commands/options.h"
#include "client/outlook.h"
#include "commands/pick.h"
#include "commands/place.h"
#include "commands/print.h"
#include "commands/reach.h"
#include "commands/refuse.h"
#include "executors/kubernetes/settings.h"
#include "request/dialects/dialects.h"
#include "spool/eventlog.h"
#include "spool/settings.h"
#include "stages/prepare/prepare.h"

/* What others wrote is on one line, and no order to a terminal. */
static void print_quoted(const char *name, struct text text)
{
    struct error_quote_buffer buffer;
    if (text.length)
        printf("%-15s %s\n", name, error_quote(&buffer, text.data, text.length));
}

static void print_fact(const char *name, struct text text)
{
    if (text.length)
        printf("%-15s %.*s\n", name, (int)text.length, text.data);
}

static void print_outlook(void *context, const char *name, struct text text)
{
    (void)context;
    print_fact(name, text);
}

/* Print the library version of the job's image, and the requested one where that is less
 * precise. */
static void print_version(const struct job_record *record)
{
    struct text has = record->library_version, asked = record->version;
    if (has.length && asked.length && !text_equal(has, asked))
        printf("%-15s %.*s (%.*s was asked for)\n", "version", (int)has.length, has.data,
               (int)asked.length, asked.data);
    else
        print_fact("version", has.length ? has : asked);
}

static void print_time(const char *name, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        printf("%-15s %s\n", name, clock_local(time, buffer));
}

static void print_times(const struct job_view *view)
{
    char span[SPAN_TEXT_SIZE];
    int64_t elapsed = view_elapsed(view);
    print_time("accepted", view->record.accepted);
    print_time("begin", view->record.begin);
    print_time("queued", view->situation.queued);
    print_time("started", view->situation.started);
    print_time("ended", view->situation.ended);
    if (elapsed >= 0)
        printf("%-15s %s\n", "elapsed", columns_span_format(elapsed, span));
}

static void print_state(const struct job_view *view)
{
    int code = view_exit_code(view);
    printf("%-15s %s", "state", job_state_name(view->situation.state));
    if (code >= 0)
        printf(", exit code %d", code);
    printf("\n");
}

/* What the image's name stood for when the job ran; the host's own files are named already. */
static void print_ran(const struct job_situation *situation)
{
    bool same = true;
    for (size_t i = 1; i < situation->ran_count; i++)
        same = same && strcmp(situation->ran[i].image, situation->ran[0].image) == 0;
    for (size_t i = 0; i < (same && situation->ran_count ? 1 : situation->ran_count); i++)
        printf("%-15s %s%s%s%s\n", i ? "" : "ran", situation->ran[i].image, same ? "" : " (",
               same ? "" : situation->ran[i].role, same ? "" : ")");
}

/* Print the resources of all tasks together. */
static void print_resources(const struct job_record *record)
{
    char resources[RESOURCES_TEXT_SIZE], span[SPAN_TEXT_SIZE];
    if (record->cpus || record->memory)
        printf("%-15s %s%s%.*s\n", "requests",
               quantity_format_resources(record->cpus, record->memory, record->gpus, resources),
               record->gpu_type.length ? " of type " : "", (int)record->gpu_type.length,
               record->gpu_type.length ? record->gpu_type.data : "");
    if (record->time_limit)
        printf("%-15s %s\n", "time limit", columns_span_format(record->time_limit, span));
    if (record->priority_class.length)
        printf("%-15s %d (%s)\n", "priority", record->priority, record->priority_class.data);
    else if (record->priority)
        printf("%-15s %d\n", "priority", record->priority);
}

static void print_scheduler(const struct job_view *view)
{
    const struct tasks_file *tasks = &view->tasks;
    struct buffer counts = {0};
    view_print_tasks(view, &counts);
    print_fact("tasks", buffer_text(&counts));
    print_fact("lost", text_of(view->situation.lost));
    if (tasks->scheduler_id[0])
        printf("%-15s %s%s%s\n", "at scheduler", tasks->scheduler_id,
               tasks->scheduler_state[0] ? ", " : "", tasks->scheduler_state);
    buffer_free(&counts);
}

/* The tasks of an array that runs, by their states. */
static void print_array_states(const struct job_view *view)
{
    struct arena *arena = arena_new();
    struct array_tasks tasks;
    if (view->record.array.length && view->place.state == STATE_SUBMITTED) {
        array_tasks_find(arena, view, &tasks);
        for (int state = 0; state < JOB_STATES; state++)
            if (state != JOB_HELD)
                print_fact(job_state_name((enum job_state)state),
                           array_tasks_list(arena, &tasks, (enum job_state)state));
    }
    arena_free(arena);
}

static void print_words(const struct text *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct error_quote_buffer buffer;
        printf(" %s", error_quote(&buffer, words[i].data, words[i].length));
    }
}

/* Print the command from the job file, which only its owner's group may read; nothing for
 * others. */
static void print_command(int job, const struct job_record *record)
{
    struct buffer request = {0};
    struct arena *arena = arena_new();
    struct description *description = NULL;
    struct error_quote_buffer buffer;
    if (record->request_file.length && prepare_read(job, record, &request, NULL) == 0)
        description = dialects_read(
            arena, buffer_text(&request),
            arena_text(arena, record->request_file.data, record->request_file.length).data, NULL);
    if (description)
        description_mask(description);
    if (description && (description->program.length || description->entry.length)) {
        printf("%-15s %s", "command",
               error_quote(&buffer, description->program.data, description->program.length));
        if (description->entry.length)
            printf("/%s", error_quote(&buffer, description->entry.data, description->entry.length));
        print_words(description->args, description->args_count);
        printf("\n");
    } else if (description && description->tasks[0].command_count) {
        printf("%-15s", "command");
        print_words(description->tasks[0].command, description->tasks[0].command_count);
        printf("\n");
    }
    buffer_free(&request);
    arena_free(arena);
}

static int print_output_name(void *context, const char *name, unsigned char type)
{
    (void)context;
    if (name[0] != '.' && (type == DT_REG || type == DT_UNKNOWN))
        printf("  output/%s\n", name);
    return 0;
}

static void print_output_names(int job)
{
    int output = sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (output < 0)
        return;
    printf("\nOutput:\n");
    directory_walk(output, print_output_name, NULL);
    sys.close(output);
}

/* Print all known facts of a job. */
static void print_people(const struct spool *spool, const struct job_view *view,
                         const struct outlook *outlook, const struct reach *reach, int job,
                         struct text log)
{
    char path[PLACE_TEXT_SIZE], time[CLOCK_TEXT_SIZE];
    const struct job_record *record = &view->record;
    struct event event;
    printf("%-15s %s\n", "id", view->place.id);
    print_state(view);
    if (view->archive.length)
        printf("%-15s %s/%.*s\n", "archive", spool->path, (int)view->archive.length,
               view->archive.data);
    else
        printf("%-15s %s/%s\n", "directory", spool->path, job_place_text(&view->place, path));
    print_fact("name", record->name);
    print_fact("owner", record->owner);
    print_times(view);
    print_quoted("file", record->source);
    print_fact("library", record->library);
    print_version(record);
    print_fact("type", record->type);
    print_resources(record);
    print_fact("array", record->array);
    print_array_states(view);
    print_fact("killed", record->array_killed);
    print_fact("not run again", record->array_aside);
    print_fact("held", view->tasks_held);
    print_fact("not succeeded", record->array_left);
    print_command(job, record);
    print_fact("executor", record->executor);
    print_fact("queue", record->queue);
    print_scheduler(view);
    print_fact("node", text_of(view->situation.node));
    reach_print(reach);
    print_fact("image", record->image);
    print_ran(&view->situation);
    print_fact("template", record->template_path);
    print_fact("commit", record->commit);
    if (record->attempt)
        printf("%-15s %d\n", "attempt", record->attempt);
    outlook_tell(view, outlook, print_outlook, NULL);
    if (!view->readable)
        printf(
            "\n%s. What runs is followed to its end by what the log says; to run it once more, submit its "
            "request again. `dlspool check` looks at all files of the jobs.\n",
            view->unreadable.text);
    if (view->why.length) {
        printf("\nWhy:\n");
        print_text(view->why);
    }
    notes_print(log);
    printf("\nLog:\n");
    while (eventlog_next(&log, &event)) {
        printf("  %s %.*s ", clock_local(event.time, time), (int)event.name.length,
               event.name.data);
        print_text(event.rest);
        putchar('\n');
    }
    print_output_names(job);
}

/* The events as a list of {time, event, text}. */
static struct value *log_tree(struct arena *arena, struct text log)
{
    struct value *list = value_list(arena);
    struct event event;
    char time[CLOCK_TEXT_SIZE];
    while (eventlog_next(&log, &event)) {
        struct value *item = value_object(arena);
        value_put(arena, item, "time", value_string(arena, clock_format(event.time, time)));
        value_put(arena, item, "event", value_text(arena, event.name));
        value_put(arena, item, "text", value_text(arena, event.rest));
        value_append(arena, list, item);
    }
    return list;
}

/* Read the job's addresses, which may depend on the cluster's namespace in dlspool.yaml. */
static void read_reach(const struct spool *spool, int job, const struct job_view *view,
                       struct arena *arena, struct reach *reach)
{
    struct settings settings = {.arena = NULL};
    struct kubernetes_settings kubernetes = {.namespace = {"", 0}};
    if (text_is(view->record.executor, "kubernetes") && !settings_read(&settings, spool, NULL) &&
        kubernetes_settings_read(&kubernetes, arena, settings.tree, NULL))
        kubernetes.namespace = (struct text){"", 0};
    reach_read(job, view, kubernetes.namespace, arena, reach);
    settings_free(&settings);
}

/* What is known of a task of an array. */
static void print_task(const struct job_view *view, const struct array_task *task, int code,
                       struct text why)
{
    printf("%-15s %s/%d\n", "id", view->place.id, task->index);
    printf("%-15s %s", "state", job_state_name(task->state));
    if (code >= 0)
        printf(", exit code %d", code);
    printf("\n");
    if (task->number >= 0 && view->record.attempt) {
        printf("%-15s %d\n", "attempt", view->record.attempt);
        printf("%-15s %d, which its output is named by (dlspool logs %s/%d)\n", "number",
               task->number, view->place.id, task->index);
    }
    if (why.length)
        printf("\nWhy:\n%.*s\n", (int)why.length, why.data);
}

static struct value *task_tree(struct arena *arena, const struct job_view *view,
                               const struct array_task *task, int code, struct text why)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "id", value_string(arena, view->place.id));
    value_put(arena, tree, "task", value_number(arena, task->index));
    value_put(arena, tree, "state", value_string(arena, job_state_name(task->state)));
    value_put(arena, tree, "exit_code", code >= 0 ? value_number(arena, code) : value_null(arena));
    value_put(arena, tree, "attempt", value_number(arena, view->record.attempt));
    value_put(arena, tree, "number",
              task->number >= 0 ? value_number(arena, task->number) : value_null(arena));
    value_put(arena, tree, "why", why.length ? value_text(arena, why) : value_null(arena));
    return tree;
}

/* A sentence on why the task is in its state, or nothing. */
static struct text why_of_task(struct arena *arena, const struct job_view *view,
                               const struct array_task *task, int code)
{
    struct array_tasks killed;
    struct job_view held = *view;
    held.record.array = view->record.array_killed;
    bool is_killed = held.record.array.length > 0;
    if (is_killed) {
        array_tasks_find(arena, &held, &killed);
        const struct array_task *found = array_tasks_get(&killed, task->index);
        is_killed = found && found->number >= 0;
    }
    if (is_killed)
        return TEXT("Somebody has killed it.");
    if (task->state == JOB_HELD && view->tasks_held.length)
        return arena_printf(arena, "It is held; dlspool release %s/%d lets it go on.",
                            view->place.id, task->index);
    if (task->state == JOB_FAILED && task->number < 0)
        return TEXT("It did not succeed in an attempt before, and does not run in this one.");
    if (task->state == JOB_FAILED && code >= 0)
        return code > 128 ? arena_printf(arena, "It was ended by signal %d.", code - 128)
                          : arena_printf(arena, "It ended with exit code %d.", code);
    return task->state == JOB_DONE || task->state == JOB_RUNNING ? TEXT("") : view_sentence(view);
}

/* Show tasks of an array, each by itself. */
static int show_tasks(const struct spool *spool, const char *word, const struct job_place *place,
                      struct text list, bool json)
{
    struct arena *arena = arena_new();
    struct job_view view;
    struct array_tasks tasks;
    struct buffer log = {0};
    struct error error;
    int status = STATUS_DONE, job = job_open(spool, place);
    if (job < 0 || view_read(spool, place, arena, &view)) {
        status = refuse_gone(place);
    } else if (array_tasks_choose(arena, &view, list, &tasks, &error)) {
        refuse_not_found(word, status = STATUS_NOT_FOUND, &error, json);
    } else {
        eventlog_read(job, &log, NULL);
        for (size_t i = 0; i < tasks.count; i++) {
            const struct array_task *task = &tasks.items[i];
            bool ended =
                task->number >= 0 && (task->state == JOB_DONE || task->state == JOB_FAILED);
            int code =
                ended ? array_tasks_exit_code(buffer_text(&log), view.record.attempt, task->number)
                      : -1;
            struct text why = why_of_task(arena, &view, task, code);
            if (json)
                print_json(task_tree(arena, &view, task, code, why));
            else if (i)
                printf("\n");
            if (!json)
                print_task(&view, task, code, why);
        }
    }
    if (job >= 0)
        sys.close(job);
    buffer_free(&log);
    arena_free(arena);
    return status;
}

/* Print a job whose files were read.  Facts from a missing or damaged file are left out. */
static void print_job(const struct spool *spool, int job, struct arena *arena,
                      struct job_view *view, bool json)
{
    struct plan_file plan;
    struct waiting_file waiting;
    struct outlook outlook;
    struct reach reach;
    struct buffer log = {0};
    waiting_read(spool, &waiting);
    view_take_waiting(view, &waiting, arena);
    eventlog_read(job, &log, NULL);
    plan_file_read(spool, arena, &plan, NULL);
    if (!plan_file_find(&plan, view->place.id))
        place_add(spool, view, arena);
    outlook_read(spool, view, &plan, clock_now(), &outlook);
    outlook_measure(job, arena, &outlook);
    read_reach(spool, job, view, arena, &reach);
    if (json) {
        struct value *tree = view_tree(arena, view);
        outlook_put(arena, tree, view, &outlook, true);
        array_tasks_put(arena, tree, view);
        reach_put(arena, tree, &reach);
        if (view->why.length)
            value_put(arena, tree, "why", value_text(arena, view->why));
        value_put(arena, tree, "log", log_tree(arena, buffer_text(&log)));
        print_json(tree);
    } else {
        print_people(spool, view, &outlook, &reach, job, buffer_text(&log));
    }
    buffer_free(&log);
}

static int show_place(const struct spool *spool, const struct job_place *place, bool json)
{
    struct job_view view;
    struct arena *arena = arena_new();
    int status = STATUS_DONE;
    int job = job_open(spool, place);
    if (job < 0 || view_read(spool, place, arena, &view)) {
        refuse_gone(place);
        status = STATUS_FAILED;
    } else {
        print_job(spool, job, arena, &view, json);
    }
    if (job >= 0)
        sys.close(job);
    arena_free(arena);
    return status;
}

/* Print an archived job.  *error is why there is no other, and is said when there is none of this kind either. */
static int show_archived(const struct spool *spool, const char *id, bool json,
                         const struct error *missing)
{
    struct archived archived;
    struct job_view view;
    struct error error;
    struct arena *arena = arena_new();
    int status = archived_open(spool, id, RESTORE_NAMES, &archived, &error);
    int job = status == STATUS_DONE ? job_open(&archived.spool, &archived.place) : -1;
    if (job < 0 || archived_view_read(&archived, arena, &view))
        refuse_not_found(id, status, status == STATUS_NOT_FOUND ? missing : &error, json);
    else
        print_job(&archived.spool, job, arena, &view, json);
    if (job >= 0 && archived.denied && !json)
        printf("\nOf its job file, manifest and output, not all may be read by you.\n");
    if (job >= 0)
        sys.close(job);
    archived_close(&archived);
    arena_free(arena);
    return status;
}

/* Find the job, in the spool or else in the archives, and print it. */
static int show_job(const struct spool *spool, const char *id, bool json)
{
    struct job_place place;
    struct error error;
    struct text tasks;
    bool archived;
    int status = pick_find_shown(spool, id, &place, &tasks, &archived, &error);
    if (archived)
        return show_archived(spool, id, json, &error);
    if (status == STATUS_DONE)
        return tasks.length ? show_tasks(spool, id, &place, tasks, json)
                            : show_place(spool, &place, json);
    refuse_not_found(id, status, &error, json);
    return status;
}

int command_show(int argument_count, char **arguments)
{
    bool json = false;
    const struct option_spec options[] = {
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object for each job"}, {0}};
    const struct verb_usage usage = {
        "show",
        "ID...",
        1,
        -1,
        "Show all that is known about jobs: facts, why they failed, and what has happened.",
        "ID is a job's id, its name, which means your newest job of that name, or a beginning of\n"
        "the id that only one job has.  Of an array, sweep/3-5 shows these tasks alone.  What is not in\n"
        "the spool is looked for in the archives.\n",
        options};
    int operands, status;
    struct spool spool;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    for (int i = 1; i <= operands; i++) {
        if (i > 1 && !json)
            printf("\n");
        int result = show_job(&spool, arguments[i], json);
        status = result != STATUS_DONE ? result : status;
    }
    spool_close(&spool);
    return status;
}
