/* commands/logs.c - dlspool logs ID [TASK]: print what a job's tasks printed */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/directory.h"
#include "commands/archived.h"
#include "client/array_tasks.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/follow_jobs.h"
#include "client/job_filter.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/refuse.h"
#include "commands/task_output.h"
#include "spool/eventlog.h"

static const struct timespec look_interval = {.tv_nsec = 200 * 1000000};

struct logs {
    const struct spool *spool;
    struct task_output tasks;
    bool follow, previous,
        denied; /* denied: of an archived job, files that the caller may not read */
    struct follow_said said;
};

static bool has_ended(const struct spool *spool, const struct job_place *place)
{
    struct job_view view;
    struct arena *arena = arena_new();
    bool ended = view_read(spool, place, arena, &view) == 0 && view_has_ended(&view);
    arena_free(arena);
    return ended;
}

/* Keep the highest number of output-N/. */
static int find_previous(void *context, const char *name, unsigned char type)
{
    int *highest = context;
    char *end;
    (void)type;
    if (strncmp(name, "output-", 7) != 0)
        return 0;
    long number = strtol(name + 7, &end, 10);
    if (end > name + 7 && !*end && number > *highest && number < INT_MAX)
        *highest = (int)number;
    return 0;
}

/* The directory of the output to print, or -1 with errno. */
static int open_output(const struct logs *logs, const struct job_place *place)
{
    char name[32] = "output";
    int highest = 0;
    int job = job_open(logs->spool, place);
    if (job < 0)
        return -1;
    if (logs->previous) {
        directory_walk(job, find_previous, &highest);
        snprintf(name, sizeof(name), "output-%d", highest);
    }
    int output = sys.openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    int keep = errno;
    sys.close(job);
    errno = keep;
    return output;
}

/* Print new output.  -1 when the job's directory is gone or was not there. */
static int print_new(struct logs *logs, const struct job_place *place)
{
    struct stat status;
    int output = open_output(logs, place);
    if (output >= 0) {
        task_output_print(&logs->tasks, output);
        sys.close(output);
        return 0;
    }
    logs->tasks.denied = logs->tasks.denied || errno == EACCES;
    if (errno != ENOENT)
        return 0;
    int job = job_open(logs->spool, place); /* gone, or it has no output yet? */
    int result = job < 0 || sys.fstat(job, &status) ? -1 : 0;
    if (job >= 0)
        sys.close(job);
    return result;
}

/* Complain that the task has no output, and list the tasks that have some. */
static int complain_task(const struct logs *logs, const struct job_place *place)
{
    struct buffer names = {0};
    int output = open_output(logs, place);
    if (output >= 0) {
        task_output_names(output, &names);
        sys.close(output);
    }
    complain("%s has no output of a task \"%s\"; %s%s", place->id, logs->tasks.task,
             names.length ? "there is output of " : "no task has printed anything",
             names.length ? names.data : "");
    buffer_free(&names);
    return STATUS_NOT_FOUND;
}

/* Was the output removed, as dlspool.yaml says?  Then *when tells when. */
static bool is_removed(const struct logs *logs, const struct job_place *place, int64_t *when)
{
    struct buffer log = {0};
    struct event event;
    bool removed = false;
    int job = job_open(logs->spool, place);
    if (job >= 0 && eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            if (text_is(event.name, "pruned")) {
                *when = event.time;
                removed = true;
            }
    }
    if (job >= 0)
        sys.close(job);
    buffer_free(&log);
    return removed;
}

/* Say why nothing was printed, if so; the exit status. */
static int tell_end(const struct logs *logs, const struct job_place *place, bool ended)
{
    int64_t when = 0;
    if (!logs->tasks.any && is_removed(logs, place, &when)) {
        char time[CLOCK_TEXT_SIZE];
        complain(
            "the output of %s was removed on %.10s: keep.output of dlspool.yaml says how long it "
            "is kept",
            place->id, clock_local(when, time));
        return STATUS_NOT_FOUND;
    }
    if (logs->tasks.denied || (logs->denied && !logs->tasks.any)) {
        complain(
            "the output of %s may be read by its owner and the owner's primary group only; ask its owner",
            place->id);
        return STATUS_FAILED;
    }
    if (logs->tasks.count == 0 && logs->tasks.task)
        return complain_task(logs, place);
    if (logs->previous && logs->tasks.count == 0)
        complain("%s has no attempt before this one that printed anything", place->id);
    else if (!logs->tasks.any)
        complain("%s has printed nothing%s%s", place->id, logs->tasks.since ? " since then" : "",
                 ended || logs->tasks.since ? "" : " yet");
    return STATUS_DONE;
}

/* *missing is why there is no such job in the spool, and is said when none is archived either. */
static int print_archived(struct logs *logs, const char *word, const struct error *missing)
{
    struct archived archived;
    struct error error;
    int status = archived_open(logs->spool, word, RESTORE_CONTENTS, &archived, &error);
    if (status == STATUS_DONE) {
        logs->spool = &archived.spool;
        logs->denied = archived.denied;
        print_new(logs, &archived.place);
        status = tell_end(logs, &archived.place, true);
    } else {
        complain("%s", status == STATUS_NOT_FOUND ? missing->text : error.text);
    }
    archived_close(&archived);
    return status;
}

/* Of an array, only the task of that index: its number is that in the attempt. */
static int choose_task(struct logs *logs, const struct job_place *place, struct text list)
{
    struct job_view view;
    struct array_tasks chosen;
    struct error error;
    struct arena *arena = arena_new();
    int status = STATUS_DONE;
    if (view_read(logs->spool, place, arena, &view)) {
        status = refuse_gone(place);
    } else if (array_tasks_choose(arena, &view, list, &chosen, &error)) {
        complain("%s", error.text);
        status = STATUS_NOT_FOUND;
    } else if (chosen.count != 1 || logs->previous) {
        complain(
            "%s/%.*s: expected one task of the attempt that is there; without /%.*s, logs prints all of "
            "an attempt",
            place->id, (int)list.length, list.data, (int)list.length, list.data);
        status = STATUS_USAGE;
    } else if (chosen.items[0].number < 0) {
        complain(
            "%s: task %d does not run in attempt %d; what it printed in one before is in %s/output-N/",
            place->id, chosen.items[0].index, view.record.attempt, place->id);
        status = STATUS_NOT_FOUND;
    } else {
        snprintf(logs->tasks.number, sizeof(logs->tasks.number), "%d", chosen.items[0].number);
    }
    arena_free(arena);
    return status;
}

/* Print the output of the job, or of the task of an array, that the word means, and follow it where that is asked for;
 * or print what an archive has. */
static int print_logs(struct logs *logs, const char *word)
{
    struct job_place place;
    struct error error;
    char id[ID_SIZE];
    struct text tasks;
    bool archived;
    int status = pick_find_shown(logs->spool, word, &place, &tasks, &archived, &error);
    if (archived)
        return print_archived(logs, word, &error);
    if (status != STATUS_DONE)
        complain("%s", error.text);
    else if (tasks.length)
        status = choose_task(logs, &place, tasks);
    if (status != STATUS_DONE)
        return status;
    memcpy(id, place.id, sizeof(id)); /* from now on by id: a newer job may get the name */
    for (;;) {
        /* Asked before printing: once the job has ended, the output printed after that is complete. */
        bool ended = has_ended(logs->spool, &place);
        if (print_new(logs, &place) == 0 && (!logs->follow || ended))
            return tell_end(logs, &place, ended);
        if (!logs->tasks.any)
            follow_jobs_say_waiting(logs->spool, id, &logs->said);
        nanosleep(&look_interval, NULL);
        status = pick_job(logs->spool, id, &place);
        if (status != STATUS_DONE)
            return status;
    }
}

int command_logs(int argument_count, char **arguments)
{
    struct logs logs = {.tasks = {.tail = -1}};
    const char *since = NULL;
    bool json = false, prefix = false;
    const struct option_spec options[] = {
        {"follow", 'f', OPTION_FLAG, &logs.follow, NULL, "go on until the job has ended"},
        {"tail", 0, OPTION_WHOLE, &logs.tasks.tail, "N", "only the last N lines of each task"},
        {"since", 0, OPTION_TEXT, &since, "TIME",
         "only what was printed since then: 90m, 2d, 2026-05-01"},
        {"previous", 'p', OPTION_FLAG, &logs.previous, NULL,
         "what the attempt before this one printed"},
        {"prefix", 0, OPTION_FLAG, &prefix, NULL, "each line with its task in front"},
        {"raw", 0, OPTION_FLAG, &logs.tasks.raw, NULL,
         "on a terminal too, control characters as they are"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object for each line"},
        {"tail", 'n', OPTION_WHOLE, &logs.tasks.tail, "N", NULL},
        {0}};
    const struct verb_usage usage = {
        "logs",
        "ID [TASK]",
        1,
        2,
        "Print what a job's tasks printed.",
        "ID is a job's id, its name, which means your newest job of that name, or a beginning of\n"
        "the id that only one job has; of an array, sweep/3 is the task of the index 3.  TASK is a\n"
        "role and a number, such as worker-0; without it, all tasks are printed.\n"
        "On a terminal, control characters are shown as text: ^[.\n",
        options};
    int operands, status;
    struct spool spool;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (since && job_filter_read_time("--since", since, &logs.tasks.since, &error)) {
        complain("%s", error.text);
        return STATUS_USAGE;
    }
    if (open_spool(&spool))
        return STATUS_FAILED;
    logs.spool = &spool;
    logs.tasks.task = operands == 2 ? arguments[2] : NULL;
    logs.tasks.style = json ? OUTPUT_OBJECTS : prefix ? OUTPUT_LINES : OUTPUT_FILES;
    logs.tasks.interleave = logs.follow;
    status = print_logs(&logs, arguments[1]);
    task_output_end(&logs.tasks);
    spool_close(&spool);
    return status;
}
