/* tests/fuzz/podman_fuzz.c - executors/local/podman.h and executors/local/inside.h: any bytes as podman's answers
 *
 * The server of tests/fuzz/server.h answers what the input says.  The executor is asked what the stages ask it, each
 * time with the answers from the first one on; whatever they were, what it tells the stages is sound, and so is what
 * it asks of podman.
 */
#include "executors/executor.h"

#include <unistd.h>

#include "executors/local/access.h"
#include "executors/local/kernel_log.h"
#include "executors/registry/registry.h"
#include "tests/fuzz/server.h"

/* ---- the server ---- */

static bool server_has_own_answer(const struct http_request *request, struct text *part)
{
    *part = TEXT("200\nOK");
    return strcmp(request->path, "/_ping") == 0;
}

/* ---- in place of executors/local/kernel_log.c, whose reader asks this machine ---- */

void kernel_log_read_kills(struct buffer *out)
{
    buffer_add_string(out, "no records\n");
}

enum memory_kill kernel_log_find_kill(struct text records, struct text group)
{
    (void)records;
    return group.length && group.data[0] == 'k'   ? MEMORY_KILL_LIMIT
           : group.length && group.data[0] == 'm' ? MEMORY_KILL_MACHINE
                                                  : MEMORY_KILL_NONE;
}

/* ---- in place of executors/local/access.c, which starts a process for each look ---- */

void access_check_all(struct arena *arena, struct access_check *const *checks, size_t count,
                      int64_t timeout)
{
    (void)arena;
    (void)timeout;
    for (size_t i = 0; i < count; i++) {
        checks[i]->outcome = ACCESS_GRANTED;
        for (size_t j = 0; j < checks[i]->count; j++)
            checks[i]->paths[j].resolved = checks[i]->paths[j].path;
    }
}

/* ---- the stages ---- */

static const char job_id[] = "digits-0123456789abc";

static char storage[1024];

static void remove_storage(void)
{
    char command[sizeof(storage) + 16];
    snprintf(command, sizeof(command), "rm -rf '%s'", storage);
    CHECK(system(command) == 0);
}

static struct executor *open_executor(void)
{
    const char *parent = getenv("TMPDIR");
    int length =
        snprintf(storage, sizeof(storage), "%s/dlspool-fuzz.XXXXXX", parent ? parent : "/tmp");
    CHECK((size_t)length < sizeof(storage));
    CHECK(mkdtemp(storage));
    atexit(remove_storage);
    struct arena *arena = arena_new();
    struct value *settings = value_object(arena), *local = value_object(arena);
    struct error error = {""};
    value_put(arena, local, "socket", value_string(arena, "/nowhere.sock"));
    value_put(arena, local, "storage", value_string(arena, storage));
    value_put(arena, settings, "local", local);
    struct executor *executor = registry_open(settings, "spool", storage, &error);
    CHECK(executor);
    arena_free(arena);
    return executor;
}

static void check_words(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);
    CHECK(end);
    struct error error = {"."};
    memcpy(error.text + 1, text, (size_t)(end - text) + 1);
    check_sentence(&error);
}

static void check_poll(const struct job_poll *poll)
{
    CHECK(poll->phase >= PHASE_UNKNOWN && poll->phase <= PHASE_FAILED);
    /* Roles, indexes and the detail are as the containers' labels have them: dlspool's own words,
     * which podman only keeps. */
    CHECK(memchr(poll->detail, '\0', sizeof(poll->detail)));
    check_words(poll->reason, sizeof(poll->reason));
    CHECK(poll->started >= 0 && poll->ended >= 0);
    CHECK(poll->phase != PHASE_SUCCEEDED || poll->task_count);
    for (size_t i = 0; i < poll->task_count; i++) {
        const struct task_state *task = &poll->tasks[i];
        CHECK(memchr(task->role, '\0', sizeof(task->role)));
        CHECK(memchr(task->reason, '\0', sizeof(task->reason)));
        CHECK(!task->ended || (task->exit_code >= 0 && task->exit_code <= 255));
    }
}

static void poll_jobs(struct executor *executor)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct job_poll first = {.id = job_id, .attempt = 1}, second = {.id = "x", .attempt = 2};
    struct job_poll *jobs[] = {&first, &second};
    if (executor->operations->poll(executor, arena, jobs, 2, &error)) {
        check_sentence(&error);
        CHECK(first.phase == PHASE_UNKNOWN && second.phase == PHASE_UNKNOWN);
    } else {
        check_poll(&first);
        check_poll(&second);
    }
    arena_free(arena);
}

static void submit_job(struct executor *executor)
{
    struct submission submission = {
        .id = job_id,
        .attempt = 1,
        .uid = geteuid(),
        .gid = getegid(),
        .manifest = TEXT("{kind: dlspool/local/v1, network: private, tasks: [{role: main, image: "
                         "a/b:1, command: [\"true\"], cpus: 0.1, memory: 1Mi}, {role: main, index: "
                         "1, image: host, command: [a, b], cpus: 0.1, memory: 1Mi, mounts: "
                         "[{source: /a, target: /b}]}]}\n"),
    };
    struct submission *batch[] = {&submission};
    executor->operations->submit(executor, batch, 1);
    if (submission.outcome != SUBMIT_ACCEPTED)
        check_sentence(&submission.error);
    check_words(submission.note, sizeof(submission.note));
}

static void ask_and_remove(struct executor *executor, struct text answers)
{
    struct error error = {""};
    struct capacity capacity;
    server.answers = answers;
    if (executor->operations->capacity(executor, &capacity, &error))
        check_sentence(&error);
    else
        CHECK(capacity.cpus_free >= 0 && capacity.memory_free >= 0 && capacity.gpus_free >= 0);
    error.text[0] = '\0';
    server.answers = answers;
    if (executor_cancel(executor, job_id, 1, true, &error))
        check_sentence(&error);
    error.text[0] = '\0';
    server.answers = answers;
    if (executor_remove(executor, job_id, 1, &error))
        check_sentence(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct executor *executor;
    if (!executor)
        executor = open_executor();
    struct text source = fuzz_text(bytes, length);
    server.answers = source;
    poll_jobs(executor);
    server.answers = source;
    submit_job(executor);
    ask_and_remove(executor, source);
    return 0;
}
