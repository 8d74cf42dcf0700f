/* commands/submit.c - dlspool submit FILE..., submit -- COMMAND: drop job files and say which jobs they became
 *
 * The file is checked here, so that mistakes are reported at once; then it is dropped, and the job
 * is found by the name of the dropped file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "client/check_job.h"
#include "client/drop_file.h"
#include "client/find_dropped.h"
#include "commands/dry_run.h"
#include "commands/follow_jobs.h"
#include "commands/job_file.h"
#include "commands/notes.h"
#include "commands/open.h"
#include "commands/options.h"
#include "client/outlook.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "commands/set_fields.h"
#include "commands/twice.h"
#include "client/view.h"
#include "commands/wrap.h"
#include "request/control.h"
#include "spool/jobs.h"
#include "stages/lease.h"
#include "watcher/settle.h"

enum { MOST_FILES = 4096 };
enum { DAEMON_STARTS = 3000 }; /* milliseconds for a daemon to start serving */
static const struct timespec look_interval = {.tv_nsec = 20 * 1000000};

/* The options of the command line. */
struct submitting {
    struct spool spool;
    struct option_list sets; /* FIELD=VALUE */
    char *const *command;    /* NULL, or the words of the command that is the job */
    int command_length;
    bool wait, json, dry_run;
    int64_t patience, daemon_by;
};

struct search {
    const struct spool *spool;
    struct dropped dropped;
    struct control control; /* the request of a control file */
    struct job_view view;
    struct arena *arena;
};

/* The file's name for incoming/: without its directory, and without marks of a file in progress,
 * which intake never takes. */
static char *plain_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct text name = settle_plain_name(text_of(slash ? slash + 1 : path));
    if (strcmp(path, "-") == 0)
        name = TEXT("stdin");
    char *copy = memory_copy_string(name.length ? name.data : "job");
    if (name.length)
        copy[name.length] = '\0';
    return copy;
}

/* The start of the name's ending, or the end of the name. */
static char *ending_in(char *name)
{
    enum { LONGEST = 8 };
    char *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] && strlen(dot) <= LONGEST ? dot : name + strlen(name);
}

static int drop_bytes(const struct spool *spool, const char *path, struct text bytes,
                      char name[static NAME_MAX + 1], struct error *error)
{
    char *stem = plain_name(path), *at = ending_in(stem);
    char *ending = memory_copy_string(*at ? at : drop_file_ending(bytes));
    *at = '\0';
    int result = drop_file(spool, stem, ending, bytes, name, error);
    free(stem);
    free(ending);
    return result;
}

/* Check that a control file's job is there.  1 when the bytes are not a control file. */
static int check_control(const struct spool *spool, struct text bytes, const char *path,
                         struct search *search, struct error *error)
{
    struct job_place place;
    if (request_control_read(search->arena, bytes, path, &search->control, error))
        return -1;
    if (search->control.verb == CONTROL_NONE)
        return 1;
    const char *id =
        arena_text(search->arena, search->control.id.data, search->control.id.length).data;
    if (jobs_find(spool, text_of(id), &place, error) == 0)
        return 0;
    return error_prefix(error, "%s: nothing was asked for", path);
}

/* Read the file, and apply --set to it. */
static int read_changed(const struct submitting *submitting, const char *path, struct arena *arena,
                        struct buffer *bytes, struct error *error)
{
    struct buffer changed = {0};
    int result = submitting->command
                     ? wrap_command(arena, submitting->command, submitting->command_length,
                                    &submitting->sets, bytes, error)
                     : job_file_read(path, bytes, error);
    if (result || !submitting->sets.count)
        return result;
    result = set_fields(arena, buffer_text(bytes), path, &submitting->sets, &changed, error);
    buffer_free(bytes);
    *bytes = changed;
    return result;
}

static int check_and_drop(const struct submitting *submitting, const char *path,
                          struct search *search, char name[static NAME_MAX + 1],
                          struct error *error)
{
    struct buffer bytes = {0};
    const struct spool *spool = &submitting->spool;
    const char *label = submitting->sets.count
                            ? arena_printf(search->arena, "%s, as changed by --set", path).data
                            : path;
    int result = read_changed(submitting, path, search->arena, &bytes, error);
    if (!result)
        result = check_control(spool, buffer_text(&bytes), path, search, error);
    if (result > 0)
        result = check_job(spool, search->arena, buffer_text(&bytes), label, error);
    if (!result && submitting->dry_run)
        result = dry_run(spool, buffer_text(&bytes), path, submitting->json, error);
    else if (!result) {
        search->dropped.since = clock_now() - 60000; /* clocks of hosts differ */
        result = drop_bytes(spool, path, buffer_text(&bytes), name, error);
    }
    buffer_free(&bytes);
    return result;
}

/* Is the spool served?  Waits, once for all files, for a daemon that has just been started. */
static bool is_served(const struct spool *spool, int64_t until)
{
    char who[LEASE_TEXT_SIZE];
    int present;
    while ((present = lease_present(spool, who)) == 0 && clock_elapsed() < until)
        nanosleep(&look_interval, NULL);
    return present != 0; /* if unknown, waiting for the job will tell */
}

/* Print the job's id and notes, and why it failed if it failed at once.  With --wait the failure
 * is left to the wait. */
static int tell_job(const struct submitting *submitting, struct arena *arena,
                    const struct job_view *view)
{
    if (!submitting->json)
        printf("%s\n", view->place.id);
    else if (!submitting->wait)
        print_json(outlook_job(&submitting->spool, arena, view));
    fflush(stdout);
    notes_complain(&submitting->spool, &view->place);
    if (view->place.state != STATE_FAILED)
        twice_complain(&submitting->spool, view);
    if (view->place.state != STATE_FAILED || submitting->wait)
        return STATUS_DONE;
    struct text sentence = view_sentence(view);
    remark("%s: %.*s", view->place.id, (int)sentence.length, sentence.data);
    return view_has_ended(view) ? STATUS_FAILED : STATUS_DONE;
}

static int refuse_file(const struct submitting *submitting, const char *path, int status,
                       const struct error *error)
{
    refuse_not_found(path, status, error, submitting->json);
    return status;
}

/* Say why a file did not become a job in time: without readable templates no job is rendered. */
static void say_late(const char *path, const char *name, struct error *error)
{
    struct error reason;
    struct repository *repository = open_templates(NULL, "HEAD", false, &reason);
    error_set(error, "%s is in incoming/ as %s and has not become a job yet%s%s", path, name,
              repository ? "" : ": ", repository ? "" : reason.text);
    repository_close(repository);
}

/* Wait for the job that the dropped file became. */
static int await_dropped(const struct submitting *submitting, const char *path, const char *name,
                         struct search *search, char id[static ID_SIZE])
{
    struct error error;
    int64_t until = clock_elapsed() + submitting->patience;
    bool found;
    while (!(found = find_dropped(search->spool, &search->dropped, search->arena, &search->view)) &&
           clock_elapsed() < until)
        nanosleep(&look_interval, NULL);
    if (found) {
        memcpy(id, search->view.place.id, ID_SIZE);
        return tell_job(submitting, search->arena, &search->view);
    }
    say_late(path, name, &error);
    return refuse_file(submitting, path, STATUS_TIMEOUT, &error);
}

static void tell_control(const struct submitting *submitting, const char *path,
                         const struct search *search)
{
    struct text id = search->control.id;
    remark("%s is a control file, and was dropped; see `dlspool show %.*s`", path, (int)id.length,
           id.data);
    if (!submitting->json)
        return;
    struct value *tree = value_object(search->arena);
    value_put(search->arena, tree, "id", value_text(search->arena, id));
    value_put(search->arena, tree, "asked",
              value_string(search->arena, request_control_name(search->control.verb)));
    print_json(tree);
}

/* Drop one file and find its job: *id is set when there is one.  Returns the status of this
 * file. */
static int submit_file(const struct submitting *submitting, const char *path,
                       char id[static ID_SIZE])
{
    struct search search = {.spool = &submitting->spool, .arena = arena_new()};
    struct error error;
    char name[NAME_MAX + 1];
    int result = STATUS_DONE;
    id[0] = '\0';
    if (check_and_drop(submitting, path, &search, name, &error)) {
        result = refuse_file(submitting, path, STATUS_FAILED, &error);
    } else if (submitting->dry_run) {
        result = STATUS_DONE;
    } else if (search.control.verb != CONTROL_NONE) {
        tell_control(submitting, path, &search);
    } else if (!is_served(&submitting->spool, submitting->daemon_by)) {
        error_set(&error,
                  "%s is in incoming/ as %s, but no daemon serves %s; it becomes a job as "
                  "soon as `dlspool run` is started",
                  path, name, submitting->spool.path);
        result = refuse_file(submitting, path, STATUS_UNSERVED, &error);
    } else {
        search.dropped.source = name;
        result = await_dropped(submitting, path, name, &search, id);
    }
    arena_free(search.arena);
    return result;
}

/* Combine statuses: the first failure counts, but a refusal comes before a file that may still
 * be taken. */
static int worse_status(int status, int another)
{
    return status == STATUS_DONE || another == STATUS_FAILED ? another : status;
}

static int submit_all(struct submitting *submitting, char *const *files, int count)
{
    int status = STATUS_DONE;
    char(*ids)[ID_SIZE] = memory_allocate((size_t)count * sizeof(*ids));
    const char **started = memory_allocate((size_t)count * sizeof(*started));
    size_t found = 0;
    for (int i = 0; i < count; i++) {
        int result = submit_file(submitting, files[i], ids[found]);
        if (result != STATUS_DONE)
            status = worse_status(status, result);
        if (ids[found][0]) {
            started[found] = ids[found];
            found++;
        }
    }
    if (submitting->wait && found) {
        const struct follow_options following = {.json = submitting->json};
        int result = follow_jobs(&submitting->spool, started, found, &following);
        if (result != STATUS_DONE)
            status = worse_status(status, result);
    }
    free(ids);
    free(started);
    return status;
}

/* --name and --hold are short for --set. */
static void add_set(struct submitting *submitting, struct arena *arena, const char *field,
                    const char *value)
{
    struct option_list *sets = &submitting->sets;
    sets->items = memory_resize(sets->items, (sets->count + 1) * sizeof(*sets->items));
    sets->items[sets->count++] = arena_printf(arena, "%s=%s", field, value).data;
}

int command_submit(int argument_count, char **arguments)
{
    struct submitting submitting = {.patience = 10000};
    const char *name = NULL;
    bool hold = false;
    const struct option_spec options[] = {
        {"set", 0, OPTION_TEXTS, &submitting.sets, "FIELD",
         "set FIELD=VALUE, such as tasks.main.gpus=2, in what is submitted"},
        {"name", 'n', OPTION_TEXT, &name, "NAME", "the same as --set name=NAME"},
        {"hold", 0, OPTION_FLAG, &hold, NULL, "the same as --set hold=true"},
        {"dry-run", 0, OPTION_FLAG, &submitting.dry_run, NULL,
         "check and render the files, and drop nothing"},
        {"wait", 'w', OPTION_FLAG, &submitting.wait, NULL, "wait until the jobs have ended"},
        {"patience", 0, OPTION_DURATION, &submitting.patience, "TIME",
         "how long to look for the jobs' ids (default 10s)"},
        {"json", 'j', OPTION_FLAG, &submitting.json, NULL, "as JSON, an object for each job"},
        {"patience", 'p', OPTION_DURATION, &submitting.patience, "TIME", NULL},
        {0}};
    int operands, status;
    const struct verb_usage usage = {
        "submit",
        "FILE... | -- COMMAND [ARGUMENT...]",
        1,
        MOST_FILES,
        "Drop job files into incoming/ and print the ids of the jobs they became.",
        "FILE - is standard input.  The same as renaming a file into incoming/.\n"
        "After -- comes a command, which becomes a job of one task, run in the current directory.\n",
        options};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    int files = options_before_dashes();
    if (files > 0) {
        complain(
            "found files and a command, expected one of them: what comes after -- is a command");
        return STATUS_USAGE;
    }
    if (open_spool(&submitting.spool))
        return STATUS_FAILED;
    struct arena *arena = arena_new();
    if (name)
        add_set(&submitting, arena, "name", name);
    if (hold)
        add_set(&submitting, arena, "hold", "true");
    submitting.daemon_by =
        clock_elapsed() +
        (submitting.patience < DAEMON_STARTS ? submitting.patience : DAEMON_STARTS);
    char *wrapped = NULL;
    if (files == 0) {
        submitting.command = arguments + 1;
        submitting.command_length = operands;
        wrapped = memory_copy_string(wrap_name(arena, arguments[1]));
    }
    status = submit_all(&submitting, wrapped ? &wrapped : arguments + 1, wrapped ? 1 : operands);
    free(wrapped);
    free(submitting.sets.items);
    arena_free(arena);
    spool_close(&submitting.spool);
    return status;
}
