/* tests/fuzz/slurm_answers_fuzz.c - executors/slurm: any bytes as slurmrestd's answers
 *
 * The server of tests/fuzz/server.h answers what the input says.  The executor is asked what the stages ask it, each
 * time with the answers from the second one on (the first tells of versions); whatever they were, what it tells the
 * stages is sound, and so is what it asks of slurmrestd.  Beside that, the first part is read as a token, a list of
 * jobs, a file's name, and a list of elements.
 */
#include "executors/executor.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/slurm/files.h"
#include "executors/slurm/records.h"
#include "executors/slurm/token.h"
#include "tests/fuzz/server.h"

/* ---- the server ---- */

static bool server_has_own_answer(const struct http_request *request, struct text *part)
{
    (void)part;
    if (request->body.data) {
        struct arena *arena = arena_new();
        struct error error;
        CHECK(json_read(arena, request->body, "a body", &yaml_trusted_limits, &error));
        arena_free(arena);
    }
    return false;
}

/* ---- in place of base/log.c: what is logged is to be sound, and not to be printed ---- */

static void check_line(const char *format, va_list arguments)
{
    struct error error;
    vsnprintf(error.text, sizeof(error.text), format, arguments);
    check_sentence(&error);
}

void log_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    check_line(format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    check_line(format, arguments);
    va_end(arguments);
}
void log_detail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    check_line(format, arguments);
    va_end(arguments);
}

/* ---- the stages ---- */

static const char job_id[] = "digits-0123456789abc", array_id[] = "sweep-0123456789abc";
static const char job_manifest[] =
    "kind: dlspool/slurm/v1\n"
    "job: {partition: gpu}\n"
    "components:\n"
    "  - {tasks: 1, cpus_per_task: 1, memory_per_task: 1Mi}\n"
    "  - {tasks: 2, cpus_per_task: 1, memory_per_task: 1Mi, gpus_per_task: 1}\n"
    "tasks: [{role: ps, count: 1}, {role: worker, count: 2}]\n"
    "complete: {worker: {succeeded: 1}}\n"
    "script: '#!/bin/sh'\n";
static const char array_manifest[] =
    "kind: dlspool/slurm/v1\n"
    "array: {count: 3}\n"
    "components: [{tasks: 1, cpus_per_task: 1, memory_per_task: 1Mi}]\n"
    "tasks: [{role: main, count: 3}]\n"
    "complete: {main: {each: true}}\n"
    "script: '#!/bin/sh'\n";

static char storage[1024];

static void remove_storage(void)
{
    char command[sizeof(storage) + 16];
    snprintf(command, sizeof(command), "rm -rf '%s'", storage);
    CHECK(system(command) == 0);
}

/* What stands for the socket has to be there: it is asked whose it is. */
static struct executor *open_executor(void)
{
    struct arena *arena = arena_new();
    struct error error;
    const char *parent = getenv("TMPDIR");
    if (!storage[0]) {
        snprintf(storage, sizeof(storage), "%s/dlspool-fuzz.XXXXXX", parent ? parent : "/tmp");
        CHECK(mkdtemp(storage));
        atexit(remove_storage);
    }
    struct text settings =
        arena_printf(arena, "slurm: {address: 'unix:%s', user: %s, directory: '%s/jobs'}\n",
                     storage, geteuid() == 0 ? "root" : "''", storage);
    const struct value *tree =
        yaml_read(arena, settings, "dlspool.yaml", &yaml_trusted_limits, &error);
    CHECK(tree);
    struct executor *executor = executor_slurm_open(tree, "fuzz", storage, &error);
    CHECK(executor);
    arena_free(arena);
    return executor;
}

static struct submission submission_of(const char *id, const char *manifest)
{
    return (struct submission){
        .id = id, .attempt = 1, .uid = geteuid(), .gid = getegid(), .manifest = text_of(manifest)};
}

static void check_submission(const struct submission *submission)
{
    CHECK(submission->outcome >= SUBMIT_ACCEPTED && submission->outcome <= SUBMIT_UNKNOWN);
    if (submission->outcome != SUBMIT_ACCEPTED)
        check_sentence(&submission->error);
    CHECK(memchr(submission->note, '\0', sizeof(submission->note)));
}

static void submit(struct executor *executor, struct text answers, bool repeated)
{
    struct submission first = submission_of(job_id, job_manifest);
    struct submission second = submission_of(array_id, array_manifest);
    struct submission *batch[] = {&first, &second};
    first.repeated = second.repeated = repeated;
    server.answers = answers;
    executor->operations->submit(executor, batch, 2);
    check_submission(&first);
    check_submission(&second);
}

static void check_poll(const struct job_poll *poll)
{
    CHECK(poll->phase >= PHASE_UNKNOWN && poll->phase <= PHASE_FAILED);
    CHECK(memchr(poll->detail, '\0', sizeof(poll->detail)) &&
          memchr(poll->reason, '\0', sizeof(poll->reason)));
    if (poll->detail[0]) {
        struct error sentence;
        error_set(&sentence, "%s", poll->detail);
        check_sentence(&sentence);
    }
    if (poll->phase == PHASE_FAILED)
        CHECK(poll->reason[0] && poll->detail[0] && poll->exit_code >= 0 && poll->exit_code <= 255);
    CHECK(poll->started >= 0 && poll->ended >= 0);
    CHECK(poll->cpu_time >= 0 && poll->memory_peak >= 0 && poll->task_time >= 0 &&
          poll->nodes >= 0);
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        CHECK(task->role[0] && task->index >= 0 && task->index < 3);
        CHECK(task->exit_code >= 0 && task->exit_code <= 255);
    }
}

static void poll_jobs(struct executor *executor, struct text answers)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct job_poll first = {.id = job_id, .attempt = 1}, second = {.id = array_id, .attempt = 1};
    struct job_poll *batch[] = {&first, &second};
    server.answers = answers;
    if (executor->operations->poll(executor, arena, batch, 2, &error)) {
        check_sentence(&error);
        CHECK(first.phase == PHASE_UNKNOWN && second.phase == PHASE_UNKNOWN);
    }
    check_poll(&first);
    check_poll(&second);
    arena_free(arena);
}

static void end_jobs(struct executor *executor, struct text answers,
                     void (*operation)(struct executor *, struct job_call **, size_t))
{
    struct job_call first = {.id = job_id, .attempt = 1}, second = {.id = array_id, .attempt = 1};
    struct job_call *batch[] = {&first, &second};
    server.answers = answers;
    operation(executor, batch, 2);
    if (first.result)
        check_sentence(&first.error);
    if (second.result)
        check_sentence(&second.error);
}

static void ask_capacity(struct executor *executor, struct text answers)
{
    struct capacity capacity;
    struct error error = {""};
    server.answers = answers;
    if (executor->operations->capacity(executor, &capacity, &error)) {
        check_sentence(&error);
        return;
    }
    CHECK(capacity.cpus_free >= 0 && capacity.memory_free >= 0 && capacity.gpus_free >= 0);
    CHECK(capacity.gpu_type_count <= MOST_GPU_TYPES);
}

/* ---- parts ---- */

static void read_parts(struct text input)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct slurm_claims claims;
    struct slurm_records records;
    char name[256];
    struct text part = fuzz_part(&input);
    slurm_token_read(part, &claims);
    CHECK(claims.expires >= 0 && memchr(claims.user, '\0', sizeof(claims.user)));
    if (slurm_records_read(&records, arena, part, "fuzz", &error))
        check_sentence(&error);
    else
        for (size_t i = 0; i < records.count; i++) {
            const struct slurm_record *record = &records.items[i];
            CHECK(record->id.length && record->attempt >= 0 && record->number > 0);
            CHECK(record->exit_code >= 0 && record->exit_code <= 255 && record->array_index >= -1);
        }
    snprintf(name, sizeof(name), "%.*s", (int)(part.length < 200 ? part.length : 200),
             part.length ? part.data : "");
    struct slurm_file file = slurm_file_of(name);
    CHECK(file.index >= -1 && (file.role.data == NULL || file.role.length));
    slurm_record_array_has(part, 5);
    arena_free(arena);
}

/* Time flies, so that what is waited for comes. */
static int64_t elapsed_now;

static int64_t elapsed(void)
{
    return elapsed_now += 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text input = fuzz_text(bytes, length), rest = input;
    elapsed_now = 0;
    clock_replace(NULL, elapsed);
    read_parts(input);
    struct executor *executor = open_executor();
    struct error error = {""};
    server.answers = input;
    if (executor->operations->ready(executor, &error))
        check_sentence(&error);
    else
        fuzz_part(&rest); /* the versions, which are asked for once */
    submit(executor, rest, false);
    submit(executor, rest, true);
    for (int i = 0; i < 4; i++)
        poll_jobs(executor, rest);
    ask_capacity(executor, rest);
    end_jobs(executor, rest, executor->operations->cancel);
    poll_jobs(executor, rest);
    end_jobs(executor, rest, executor->operations->remove);
    executor->operations->close(executor);
    clock_replace(NULL, NULL);
    return 0;
}
