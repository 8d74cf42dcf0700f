/* tests/crash/scheduler.c - a scheduler that writes down what it was given */
#include "tests/crash/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/system.h"
#include "stages/stage.h"
#include "tests/crash/calls.h"
#include "tests/crash/scene.h"
#include "tests/crash/tree.h"

const char scheduler_output[] = "one line\nanother line\n";

static char place[576];
static bool naive, roomy;
static scheduler_observer *observe;

enum { FILE_NAME_SIZE = 128 };
static const int64_t a_minute = 60 * 1000; /* milliseconds */

static void name_file(char name[static FILE_NAME_SIZE], const char *id, int attempt,
                      const char *ending)
{
    snprintf(name, FILE_NAME_SIZE, "%s-a%d%s", id, attempt, ending);
}

static bool exists(const char *id, int attempt, const char *ending)
{
    char name[FILE_NAME_SIZE], path[TREE_PATH_SIZE];
    name_file(name, id, attempt, ending);
    snprintf(path, sizeof(path), "%s/%s", place, name);
    return access(path, F_OK) == 0;
}

static void add_line(const char *id, int attempt, const char *ending, const char *line)
{
    char name[FILE_NAME_SIZE], path[TREE_PATH_SIZE];
    struct text bytes = text_of(line);
    name_file(name, id, attempt, ending);
    snprintf(path, sizeof(path), "%s/%s", place, name);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0 || write(file, bytes.data, bytes.length) != (ssize_t)bytes.length || close(file))
        harness_failed("%s could not be written", path);
    if (observe)
        observe(name, bytes);
}

static bool first_word(const char *id, const char *word)
{
    return text_starts(text_of(id), word);
}

static int my_ready(struct executor *executor, struct error *error)
{
    (void)executor;
    if (!calls_point(CALL_SCHEDULER))
        return error_set(error, "the scheduler does not answer");
    return 0;
}

/* Take a job in; what a scheduler does when the request has reached it. */
static void take_in(struct submission *submission)
{
    char digest[SHA256_HEX_SIZE + 1], name[FILE_NAME_SIZE], path[TREE_PATH_SIZE];
    const char *id = submission->id;
    int attempt = submission->attempt;
    sha256_hex(submission->manifest, digest);
    name_file(name, id, attempt, "");
    snprintf(path, sizeof(path), "%s/%s", place, name);
    submission->outcome = SUBMIT_ACCEPTED;
    submission->error.text[0] = submission->note[0] = '\0';
    struct buffer known = tree_read(path);
    bool same =
        known.length >= SHA256_HEX_SIZE - 1 && memcmp(known.data, digest, SHA256_HEX_SIZE - 1) == 0;
    bool new = known.length == 0;
    buffer_free(&known);
    bool again = same && (!submission->repeated || exists(id, attempt, ".gone"));
    if (new || naive || again) {
        digest[SHA256_HEX_SIZE - 1] = '\n';
        digest[SHA256_HEX_SIZE] = '\0';
        add_line(id, attempt, "", digest);
    } else if (!same) {
        add_line(id, attempt, ".foreign", "another manifest\n");
        submission->outcome = SUBMIT_REFUSED;
        error_set(&submission->error, "another job has the name %s", name);
    }
}

/* There is no room for it: once, or until it comes with the priority that it is to have. */
static bool is_declined(const struct submission *submission)
{
    char line[32];
    snprintf(line, sizeof(line), "\npriority: \"%d\"\n", RAISED_TO);
    if (exists(submission->id, submission->attempt, ""))
        return false;
    return (first_word(submission->id, "tight") &&
            !exists(submission->id, submission->attempt, ".declined")) ||
           (first_word(submission->id, "raised") &&
            !text_contains(submission->manifest, text_of(line)));
}

static void my_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        if (!calls_point(CALL_SCHEDULER)) {
            batch[i]->outcome = SUBMIT_UNAVAILABLE;
            error_set(&batch[i]->error, "the scheduler does not answer");
            continue;
        }
        if (is_declined(batch[i])) {
            add_line(batch[i]->id, batch[i]->attempt, ".declined", "no room\n");
            batch[i]->outcome = SUBMIT_NO_ROOM;
            error_set(&batch[i]->error, "there is no room");
        } else {
            take_in(batch[i]);
        }
        if (!calls_point(CALL_SCHEDULER_REPLY)) {
            batch[i]->outcome = SUBMIT_UNKNOWN;
            error_set(&batch[i]->error, "the scheduler's answer was lost");
        }
    }
}

static void poll_one(struct arena *arena, struct job_poll *poll)
{
    const char *id = poll->id;
    int attempt = poll->attempt;
    *poll = (struct job_poll){.id = id, .attempt = attempt, .phase = PHASE_VANISHED};
    if (!exists(id, attempt, "") || exists(id, attempt, ".gone"))
        return;
    struct task_state *task = arena_allocate(arena, sizeof(*task));
    poll->tasks = task;
    poll->task_count = 1;
    poll->stands = exists(id, attempt, ".suspended") && !exists(id, attempt, ".continued");
    poll->started = clock_now() - (first_word(id, "raised") ? a_minute : 0);
    snprintf(task->role, sizeof(task->role), "main");
    bool saves =
        (first_word(id, "moves") || first_word(id, "yields") || first_word(id, "borrows")) &&
        attempt == 1;
    bool cancelled = exists(id, attempt, ".cancelled"), saved = exists(id, attempt, ".signalled");
    if (((first_word(id, "long") ||
          (first_word(id, "stands") && !exists(id, attempt, ".continued")) ||
          (first_word(id, "grows") && !exists(id, attempt, ".resized"))) &&
         !cancelled) ||
        (saves && !cancelled && !saved)) {
        poll->phase = PHASE_RUNNING;
        return;
    }
    if (first_word(id, "long") || (saves && !saved))
        task->exit_code = EXIT_CANCELLED;
    else if (saves)
        task->exit_code = EXIT_SAVED;
    else if (first_word(id, "flaky") && attempt == 1)
        task->exit_code = EXIT_TRANSIENT;
    else if (first_word(id, "shaky") && attempt == 1)
        task->exit_code = EXIT_UNKNOWN;
    task->ended = true;
    poll->ended = clock_now();
    poll->exit_code = task->exit_code;
    poll->phase = task->exit_code ? PHASE_FAILED : PHASE_SUCCEEDED;
    if (task->exit_code) {
        snprintf(poll->reason, sizeof(poll->reason), "Exited");
        snprintf(poll->detail, sizeof(poll->detail), "The task main exited with %d.",
                 task->exit_code);
    }
}

static int my_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs,
                   size_t count, struct error *error)
{
    (void)executor;
    if (!calls_point(CALL_SCHEDULER))
        return error_set(error, "the scheduler does not answer");
    for (size_t i = 0; i < count; i++)
        poll_one(arena, jobs[i]);
    return 0;
}

/* Something is done to a token; what was forgotten has nothing done to it. */
static int mark(const char *id, int attempt, const char *ending, struct error *error)
{
    if (!calls_point(CALL_SCHEDULER))
        return error_set(error, "the scheduler does not answer");
    if (exists(id, attempt, "") && !exists(id, attempt, ending))
        add_line(id, attempt, ending, "so\n");
    if (!calls_point(CALL_SCHEDULER_REPLY))
        return error_set(error, "the scheduler's answer was lost");
    return 0;
}

static int cancel_one(struct executor *executor, struct job_call *call)
{
    (void)executor;
    return mark(call->id, call->attempt, ".cancelled", &call->error);
}

static int remove_one(struct executor *executor, struct job_call *call)
{
    (void)executor;
    return mark(call->id, call->attempt, ".gone", &call->error);
}

static int signal_one(struct executor *executor, struct job_call *call)
{
    (void)executor;
    return mark(call->id, call->attempt, ".signalled", &call->error);
}

static void my_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        if (!first_word(batch[i]->id, "grows")) {
            batch[i]->outcome = RESIZE_NOT_POSSIBLE;
            error_set(&batch[i]->error, "it cannot have another size while it runs");
        } else if (mark(batch[i]->id, batch[i]->attempt, ".resized", &batch[i]->error)) {
            batch[i]->outcome = RESIZE_UNAVAILABLE;
        } else {
            batch[i]->outcome = RESIZE_DONE;
        }
    }
}

static int suspend_one(struct executor *executor, struct job_call *call)
{
    (void)executor;
    return mark(call->id, call->attempt, call->suspend ? ".suspended" : ".continued", &call->error);
}

static int copy_one(struct executor *executor, struct job_call *call)
{
    struct stat status;
    struct text all = text_of(scheduler_output);
    struct error *error = &call->error;
    (void)executor;
    if (!exists(call->id, call->attempt, "") || exists(call->id, call->attempt, ".gone"))
        return 0;
    int file = sys.openat(call->directory, "main-0.log",
                          O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return error_errno(error, "main-0.log could not be opened");
    int result = 0;
    if (sys.fstat(file, &status))
        result = error_errno(error, "main-0.log could not be looked at");
    size_t have = result ? 0 : (size_t)status.st_size;
    if (!result && have < all.length)
        result = file_write_all(file, (struct text){all.data + have, all.length - have},
                                "main-0.log", error);
    if (sys.close(file) && !result)
        result = error_errno(error, "main-0.log could not be written");
    return result;
}

static void my_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, cancel_one, INT64_MAX);
}

static void my_signal(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, signal_one, INT64_MAX);
}

static void my_suspend(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, suspend_one, INT64_MAX);
}

static void my_output(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, copy_one, INT64_MAX);
}

static void my_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    executor_one_by_one(executor, batch, count, remove_one, INT64_MAX);
}

/* There is room for jobs that are to have it.  Otherwise it cannot tell, so that no plan but the
 * scene's own gives jobs more than they ask for. */
static int my_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    (void)executor;
    if (!calls_point(CALL_SCHEDULER))
        return error_set(error, "the scheduler does not answer");
    if (!roomy)
        return error_set(error, "the scheduler does not count what it has");
    *capacity = (struct capacity){.cpus = 1 << 20,
                                  .cpus_free = 1 << 20,
                                  .memory = INT64_MAX / 2,
                                  .memory_free = INT64_MAX / 2};
    return 0;
}

static void my_close(struct executor *executor)
{
    free(executor);
}

static struct executor *open_scheduler(const struct value *settings, const char *spool,
                                       const char *directory, struct error *error)
{
    static const struct executor_operations operations = {
        .name = "local",
        .ready = my_ready,
        .submit = my_submit,
        .poll = my_poll,
        .cancel = my_cancel,
        .output = my_output,
        .remove = my_remove,
        .capacity = my_capacity,
        .resize = my_resize,
        .signal = my_signal,
        .suspend = my_suspend,
        .close = my_close,
    };
    (void)spool;
    (void)directory;
    (void)error;
    struct executor *executor = memory_allocate(sizeof(*executor));
    *executor = (struct executor){
        .operations = &operations,
        .suspends = value_get_boolean(value_get(settings, "local"), "suspend", false)};
    return executor;
}

void scheduler_install(const char *directory, bool is_naive)
{
    snprintf(place, sizeof(place), "%s", directory);
    naive = is_naive;
    observe = NULL;
    stage_open_executor = open_scheduler;
}

void scheduler_has_room(bool has)
{
    roomy = has;
}

void scheduler_observe(scheduler_observer *observer)
{
    observe = observer;
}

static void read_token(const char *directory, const char *file, size_t dash,
                       struct scheduled *token)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, file);
    struct buffer bytes = tree_read(path);
    *token = (struct scheduled){.attempt = (int)strtol(file + dash + 2, NULL, 10)};
    snprintf(token->id, sizeof(token->id), "%.*s", (int)dash, file);
    for (size_t i = 0; i < bytes.length; i++)
        token->runs += bytes.data[i] == '\n';
    snprintf(token->sha256, sizeof(token->sha256), "%.64s", bytes.data ? bytes.data : "");
    buffer_free(&bytes);
    snprintf(path, sizeof(path), "%s/%s.gone", directory, file);
    token->gone = access(path, F_OK) == 0;
    snprintf(path, sizeof(path), "%s/%s.foreign", directory, file);
    token->foreign = access(path, F_OK) == 0;
}

struct scheduled *scheduler_list(const char *directory, size_t *count)
{
    struct tree_names names = tree_list(directory);
    struct scheduled *tokens = memory_allocate((names.count + 1) * sizeof(*tokens));
    *count = 0;
    for (size_t i = 0; i < names.count; i++) {
        const char *dash = strrchr(names.names[i], '-');
        if (dash && dash[1] == 'a' && !strchr(names.names[i], '.'))
            read_token(directory, names.names[i], (size_t)(dash - names.names[i]),
                       &tokens[(*count)++]);
    }
    tree_list_free(&names);
    return tokens;
}
