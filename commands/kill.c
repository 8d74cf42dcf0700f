/* commands/kill.c - dlspool kill, retry, hold, release, top and priority
 *
 * Each drops a control file for each job; intake checks the file's owner to decide whether the
 * request is allowed.  Requests that intake would certainly refuse are refused here already.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "client/drop_file.h"
#include "client/job_filter.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "spool/jobs.h"
#include "stages/prepare/limits.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/hold_tasks.h"

enum { CONTROL_LINE_SIZE = 1024 }; /* bytes of a control file */

struct asking {
    const char *verb;
    enum control_verb control;
    const char *value;  /* of priority */
    const char *phrase; /* what was asked; NULL: to VERB the job */
    struct spool spool;
    struct job_filter filter;
    bool json, keep_memory;
    struct arena *arena;
    struct job_place *selected;
    size_t count, capacity;
};

static bool is_held(const struct spool *spool, const struct job_view *view)
{
    struct control_request request;
    int job = job_open(spool, &view->place);
    bool held = job < 0 || control_file_pending(job, CONTROL_HOLD, &request) != 0 ||
                hold_tasks_any(job) || control_file_until(job, view->record.begin) != 0;
    if (job >= 0)
        sys.close(job);
    return held;
}

/* Does an administrator hold it, and whoever asks is none? */
static bool is_held_from(const struct asking *asking, const struct job_view *view,
                         struct error *error)
{
    struct control_request hold;
    if (ask_is_administrator(&asking->spool))
        return false;
    int job = job_open(&asking->spool, &view->place);
    if (job < 0)
        return false; /* it moves; intake will know */
    bool held = control_file_pending(job, CONTROL_HOLD, &hold) > 0 &&
                control_is_held_from(view->place.id, &hold, view->record.uid, error);
    sys.close(job);
    return held;
}

static bool may_ask_tasks(const struct asking *asking, const struct job_view *view,
                          const struct job_record *record, const char *tasks, struct error *error)
{
    int job = job_open(&asking->spool, &view->place);
    if (job < 0)
        return true; /* it moves; intake will know */
    bool may =
        control_tasks_allow(asking->control, &view->place, job, record, text_of(tasks), error);
    sys.close(job);
    return may;
}

/* May the caller give the job that priority? */
static int check_priority(const struct asking *asking, const struct job_record *record,
                          struct error *error)
{
    struct settings settings;
    int priority;
    if (settings_read(&settings, &asking->spool, NULL))
        return 0; /* intake will know */
    const struct limits limits = {&settings, &asking->spool, false};
    int result =
        limits_value(&limits, getuid(), getgid(), text_of(asking->value), &priority, error);
    if (!result)
        result = control_may_set_priority(
            record, settings_is_administrator(&settings, &asking->spool, getuid()), priority,
            error);
    settings_free(&settings);
    return result;
}

/* Check whether the request is possible.  -1 and a sentence when intake would refuse it. */
static int check_request(const struct asking *asking, const struct job_view *view,
                         const char *tasks, struct error *error)
{
    const char *id = view->place.id;
    const struct job_record *record = view->readable ? &view->record : NULL;
    if ((*tasks && !may_ask_tasks(asking, view, record, tasks, error)) ||
        !control_allows(asking->control, &view->place, record, error))
        return -1;
    if (asking->control == CONTROL_RELEASE && !is_held(&asking->spool, view))
        return error_set(error,
                         record && record->wants.length && view->place.state == STATE_HELD
                             ? "%s is not held: it waits for an approval, which `dlspool show` "
                               "tells more of"
                             : "%s is not held, and waits for no time",
                         id);
    if (view->readable && view->record.uid != getuid() && !ask_is_administrator(&asking->spool))
        return error_set(error, "%s belongs to %.*s; only its owner or an administrator may %s%s",
                         id, (int)view->record.owner.length, view->record.owner.data,
                         asking->phrase ? asking->phrase : asking->verb,
                         asking->phrase ? "" : " it");
    if (asking->control == CONTROL_RELEASE && view->readable && is_held_from(asking, view, error))
        return -1;
    return asking->value && record ? check_priority(asking, record, error) : 0;
}

static void tell_asked(const struct asking *asking, const char *id, const char *tasks)
{
    if (!asking->json && asking->value) {
        printf("asked to give %s the priority %s\n", id, asking->value);
        return;
    }
    if (!asking->json) {
        printf("asked to %s %s%s%s%s\n", asking->phrase ? "put" : asking->verb, id,
               *tasks ? "/" : "", tasks,
               asking->phrase ? " before its owner's other jobs of its priority" : "");
        return;
    }
    struct value *tree = value_object(asking->arena);
    value_put(asking->arena, tree, "id", value_string(asking->arena, id));
    value_put(asking->arena, tree, "tasks",
              *tasks ? value_string(asking->arena, tasks) : value_null(asking->arena));
    value_put(asking->arena, tree, "asked", value_string(asking->arena, asking->verb));
    print_json(tree);
}

/* Drop the request for one job, or for some of its tasks.  Returns the status, after a complaint
 * on failure. */
static int ask_for_job(struct asking *asking, const struct job_place *place, const char *tasks)
{
    struct job_view view;
    struct error error;
    char line[CONTROL_LINE_SIZE], name[NAME_MAX + 1];
    if (view_read(&asking->spool, place, asking->arena, &view))
        return refuse_gone(place);
    int result = check_request(asking, &view, tasks, &error);
    bool kept = asking->keep_memory;
    int length = asking->value ? snprintf(line, sizeof(line), "%s: {job: %s, value: %s}\n",
                                          asking->verb, place->id, asking->value)
                               : snprintf(line, sizeof(line), "%s: %s%s%s%s%s\n", asking->verb,
                                          kept ? "{job: " : "", place->id, *tasks ? "/" : "", tasks,
                                          kept ? ", keep_memory: true}" : "");
    if (!result && (size_t)length >= sizeof(line))
        result = error_set(&error, "%s: found a list of %zu bytes, expected a shorter one",
                           place->id, strlen(tasks));
    if (!result) {
        result = drop_file(&asking->spool, asking->verb, ".yaml",
                           (struct text){line, (size_t)length}, name, &error);
    }
    if (result)
        refuse_not_found(place->id, STATUS_FAILED, &error, asking->json);
    else
        tell_asked(asking, place->id, tasks);
    return result ? STATUS_FAILED : STATUS_DONE;
}

/* ---- jobs that options select ---- */

static int collect_job(void *context, const struct job_place *place)
{
    struct asking *asking = context;
    struct job_view view;
    struct control_question question = {.spool = &asking->spool, .verb = asking->control};
    if (!job_filter_may_take(&asking->filter, place) ||
        view_read(&asking->spool, place, asking->arena, &view) ||
        !job_filter_takes(&asking->filter, &view) ||
        !control_applies(&question, place, view.readable ? &view.record : NULL))
        return 0;
    asking->selected =
        memory_grow(asking->selected, asking->count, &asking->capacity, sizeof(*asking->selected));
    asking->selected[asking->count++] = *place;
    return 0;
}

/* Drop requests for the selected jobs.  Without --user only the caller's own are selected, so
 * that others' jobs are never hit by accident. */
static int ask_selected(struct asking *asking)
{
    int status = STATUS_DONE;
    struct error error;
    asking->filter.mine = !asking->filter.user;
    if (job_filter_prepare(&asking->filter, &error)) {
        complain("%s", error.text);
        return STATUS_USAGE;
    }
    for (int i = 0; i < STATE_DONE; i++)
        jobs_walk(&asking->spool, (enum state)i, collect_job, asking);
    if (!asking->count) {
        error_set(&error, "there is no such job that could be asked to %s: %s", asking->verb,
                  asking->filter.user ? "nothing was done"
                                      : "only your own jobs are looked at without --user");
        refuse_not_found("", STATUS_NOT_FOUND, &error, asking->json);
        return STATUS_NOT_FOUND;
    }
    for (size_t i = 0; i < asking->count; i++)
        if (ask_for_job(asking, &asking->selected[i], "") != STATUS_DONE)
            status = STATUS_FAILED;
    return status;
}

/* ---- jobs that are named ---- */

/* Split a word into the job's name, stored in `job`, and the indexes of its tasks.  Returns
 * these, "" for the whole job, or NULL when the separator is there without indexes. */
static const char *take_tasks(const struct asking *asking, const char *word,
                              char job[static NAME_MAX + 1])
{
    struct text name, tasks;
    request_control_split(text_of(word), &name, &tasks);
    snprintf(job, NAME_MAX + 1, "%.*s", (int)name.length, name.data);
    if (!tasks.length && name.length < strlen(word))
        return NULL;
    return arena_text(asking->arena, tasks.data, tasks.length).data;
}

static int bad_tasks(const char *word, struct error *error)
{
    error_set(error, "%s: found no indexes of tasks, expected some as in sweep/3 or sweep/0-5,9",
              word);
    return STATUS_USAGE;
}

/* Complain and return true when a word after an id is a number that names no job: it is probably
 * meant as a task, and the whole job must not be killed for it. */
static bool is_index_apart(const struct asking *asking, char *const *words, int count)
{
    for (int i = 1; i < count; i++) {
        struct job_place place;
        struct error error;
        if (words[i][strspn(words[i], "0123456789")] ||
            pick_job_for(&asking->spool, words[i], asking->control, &place, &error) == STATUS_DONE)
            continue;
        error_set(&error,
                  "there is no job \"%s\", and nothing was asked; did you mean task %s of %s? "
                  "That is %s/%s",
                  words[i], words[i], words[i - 1], words[i - 1], words[i]);
        refuse_not_found(words[i], STATUS_NOT_FOUND, &error, asking->json);
        return true;
    }
    return false;
}

static int ask_named(struct asking *asking, char *const *words, int count)
{
    int status = STATUS_DONE;
    if (is_index_apart(asking, words, count))
        return STATUS_NOT_FOUND;
    for (int i = 0; i < count; i++) {
        struct job_place place;
        struct error error;
        char job[NAME_MAX + 1];
        const char *tasks = asking->value ? "" : take_tasks(asking, words[i], job);
        if (asking->value)
            snprintf(job, sizeof(job), "%s", words[i]);
        int result = tasks ? pick_job_for(&asking->spool, job, asking->control, &place, &error)
                           : bad_tasks(words[i], &error);
        if (result != STATUS_DONE)
            refuse_not_found(words[i], result, &error, asking->json);
        else
            result = ask_for_job(asking, &place, tasks);
        if (result != STATUS_DONE)
            status = result;
    }
    return status;
}

static bool prepare_suspending(struct asking *asking)
{
    struct settings settings;
    struct error error;
    asking->control = CONTROL_SUSPEND;
    bool may = settings_read(&settings, &asking->spool, &error) == 0 &&
               control_may_suspend(&settings, &error);
    settings_free(&settings);
    if (!may)
        complain("%s", error.text);
    return may;
}

static bool is_value(const char *word)
{
    size_t digits = strspn(word + (*word == '-'), "0123456789");
    return request_control_is_value(text_of(word)) || (digits && !word[digits + (*word == '-')]);
}

/* The last operand of priority is its value. */
static bool take_value(struct asking *asking, char **arguments, int *operands)
{
    if (asking->control != CONTROL_PRIORITY)
        return true;
    if (*operands && is_value(arguments[*operands])) {
        asking->value = arguments[(*operands)--];
        return true;
    }
    complain("found no priority, expected a whole number or the name of a class at the end, as in "
             "dlspool priority digits -5");
    return false;
}

/* Read the command line of one of the verbs, and drop a request for each job that it names or
 * selects. */
static int ask_all(const char *verb, enum control_verb control, const char *summary,
                   const char *details, int argument_count, char **arguments)
{
    int operands, status;
    bool values = control == CONTROL_PRIORITY;
    struct asking asking = {.verb = verb,
                            .control = control,
                            .phrase = values                   ? "change its priority"
                                      : control == CONTROL_TOP ? "put it on top"
                                                               : NULL};
    const struct option_spec options[] = {
        FILTER_OPTIONS(asking.filter),
        {"json", 'j', OPTION_FLAG, &asking.json, NULL, "as JSON, an object for each job"},
        {control == CONTROL_HOLD ? "keep-memory" : NULL, 0, OPTION_FLAG, &asking.keep_memory, NULL,
         "leave a running job where it is, standing still"},
        {0}};
    const struct verb_usage usage = {
        verb, values ? "[ID...] PRIORITY" : "[ID...]", 0, -1, summary, details, options};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (!take_value(&asking, arguments, &operands))
        return STATUS_USAGE;
    if ((operands == 0) == !job_filter_is_given(&asking.filter)) {
        const char *what = values ? " PRIORITY" : "";
        complain(
            "%s; usage: dlspool %s ID...%s, or dlspool %s --mine, --name NAME, --state STATE%s",
            operands ? "found both ids and options that select jobs, expected one of them"
                     : "found neither ids nor options that select jobs",
            verb, what, verb, what);
        return STATUS_USAGE;
    }
    if (open_spool(&asking.spool))
        return STATUS_FAILED;
    if (asking.keep_memory && !prepare_suspending(&asking)) {
        spool_close(&asking.spool);
        return STATUS_FAILED;
    }
    asking.arena = arena_new();
    status = operands ? ask_named(&asking, arguments + 1, operands) : ask_selected(&asking);
    arena_free(asking.arena);
    free(asking.selected);
    spool_close(&asking.spool);
    return status;
}

#define TASKS "Of an array, indexes of single tasks may follow a slash: sweep/3, or sweep/0-5,9.\n"

#define WHICH                                                                                       \
    "Which jobs: by their ids; by a name, if only one of your jobs of that name can be meant; or\n" \
    "all that the options select, of your own jobs unless --user names somebody.\n"

int command_kill(int argument_count, char **arguments)
{
    return ask_all("kill", CONTROL_KILL, "Ask for jobs to be killed: they end in failed/.",
                   WHICH TASKS
                   "Your own jobs, or anybody's if you are an administrator.  The same as "
                   "dropping a file\nthat says `kill: ID` into incoming/.\n",
                   argument_count, arguments);
}

int command_retry(int argument_count, char **arguments)
{
    return ask_all("retry", CONTROL_RETRY, "Ask for failed jobs to be retried now.",
                   WHICH TASKS
                   "The same as dropping a file that says `retry: ID` into incoming/.\n",
                   argument_count, arguments);
}

int command_hold(int argument_count, char **arguments)
{
    return ask_all(
        "hold", CONTROL_HOLD, "Ask for jobs to wait in held/.",
        WHICH TASKS
        "The others go on without them.\nA job that runs is stopped at its checkpoint, if it has one.  With "
        "--keep-memory, where the site allows\nit, it stands still where it is, with all that it has.\n"
        "They wait until they are released; what an "
        "administrator holds only an "
        "administrator\nreleases.  The same as dropping a file that says "
        "`hold: ID` into incoming/.\n",
        argument_count, arguments);
}

int command_release(int argument_count, char **arguments)
{
    return ask_all("release", CONTROL_RELEASE, "Ask for held jobs to go on.",
                   WHICH TASKS
                   "A job that also waits for others goes on waiting for those.  The same "
                   "as dropping a file\nthat says `release: ID` into incoming/.\n",
                   argument_count, arguments);
}

int command_top(int argument_count, char **arguments)
{
    return ask_all(
        "top", CONTROL_TOP, "Ask for jobs to go before their owner's other jobs of their priority.",
        WHICH
        "Jobs that wait only; the last one that was put on top is the first, and nobody else's\n"
        "job is passed.  The same as dropping a file that says `top: ID` into incoming/.\n",
        argument_count, arguments);
}

int command_priority(int argument_count, char **arguments)
{
    return ask_all(
        "priority", CONTROL_PRIORITY, "Ask for jobs to have another priority.",
        WHICH
        "The priority is a whole number, or one of the site's classes; higher goes first.  Jobs that\n"
        "wait only.  Owners lower it, and administrators raise it, too.  The same as dropping a file\n"
        "that says `priority: {job: ID, value: -5}` into incoming/.\n",
        argument_count, arguments);
}
