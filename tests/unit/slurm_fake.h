/* tests/unit/slurm_fake.h - a slurmrestd that misbehaves on order (tests/stand-in/slurmrestd), and
 * an executor that talks to it
 */
#ifndef TESTS_UNIT_SLURM_FAKE_H
#define TESTS_UNIT_SLURM_FAKE_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/yaml.h"
#include "executors/executor.h"
#include "executors/registry/registry.h"

struct fake {
    pid_t process;
    char *directory; /* of the socket, of tokens, and of jobs' files */
    struct arena *arena;
    struct executor *executor;
};

static struct fake fake;
static int64_t fake_ahead; /* milliseconds that the clock is ahead */

static inline int64_t fake_elapsed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + fake_ahead;
}

static inline const char *fake_path(const char *name)
{
    static char buffers[4][512];
    static size_t next;
    char *buffer = buffers[next++ % 4];
    snprintf(buffer, sizeof(buffers[0]), "%s/%s", fake.directory, name);
    return buffer;
}

static inline const char *fake_self(void)
{
    return getpwuid(geteuid())->pw_name;
}

static inline void fake_wait_for_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake_path("rest.sock"));
    for (int i = 0; i < 1000; i++) {
        int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int result = connect(file, (struct sockaddr *)&address, sizeof(address));
        close(file);
        if (result == 0)
            return;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    fail_msg("the stand-in does not answer at %s", address.sun_path);
}

/* Settings beside the address: lines of YAML, indented by two, or "". */
static inline void fake_open(const char *settings)
{
    struct error error;
    char text[4096];
    snprintf(text, sizeof(text), "executor: slurm\nslurm:\n  address: unix:%s\n  directory: %s\n%s",
             fake_path("rest.sock"), fake_path("jobs"), settings);
    if (fake.executor)
        fake.executor->operations->close(fake.executor);
    struct value *tree = yaml_read(fake.arena, text_of(arena_string(fake.arena, text)),
                                   "dlspool.yaml", &yaml_trusted_limits, &error);
    fake.executor = tree ? registry_open(tree, "test", fake.directory, &error) : NULL;
    if (!fake.executor)
        fail_msg("%s", error.text);
}

static inline void fake_start(const char *versions, const char *more)
{
    char command[1024], words[3][600];
    fake.directory = unit_directory();
    fake.arena = arena_new();
    fake_ahead = 0;
    clock_replace(NULL, fake_elapsed);
    snprintf(words[0], sizeof(words[0]), "%s", fake_path("rest.sock"));
    snprintf(command, sizeof(command),
             "exec python3 -B tests/stand-in/slurmrestd --socket %s --versions %s --user %s %s",
             words[0], versions, fake_self(), more);
    fake.process = fork();
    if (fake.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    fake_wait_for_socket();
    fake_open("");
}

static inline void fake_stop(void)
{
    if (fake.executor)
        fake.executor->operations->close(fake.executor);
    kill(fake.process, SIGTERM);
    waitpid(fake.process, NULL, 0);
    arena_free(fake.arena);
    unit_remove(fake.directory);
    clock_replace(NULL, NULL);
    fake = (struct fake){0};
}

/* For a test's table: before and after each. */
static inline int fake_set_up(void **state)
{
    (void)state;
    fake_start("38", "");
    return 0;
}

static inline int fake_tear_down(void **state)
{
    (void)state;
    fake_stop();
    return 0;
}

/* Give the stand-in an order (JSON); its state, in the fake's arena. */
static inline struct value *fake_order(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static inline struct value *fake_order(const char *format, ...)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct buffer body = {0}, answer = {0};
    struct error error;
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&body, format, arguments);
    va_end(arguments);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", fake_path("rest.sock"));
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof(address)), 0);
    dprintf(
        file,
        "POST /control HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
        body.length, body.data ? body.data : "");
    for (ssize_t length = 1; length > 0;) {
        length = read(file, buffer_reserve(&answer, 65536), 65536);
        answer.length += length > 0 ? (size_t)length : 0;
    }
    close(file);
    const char *start = memmem(answer.data, answer.length, "\r\n\r\n", 4);
    assert_non_null(start);
    struct text text =
        arena_text(fake.arena, start + 4, answer.length - (size_t)(start + 4 - answer.data));
    struct value *state = json_read(fake.arena, text, "the state", &yaml_trusted_limits, &error);
    if (!state)
        fail_msg("%s", error.text);
    buffer_free(&body);
    buffer_free(&answer);
    return state;
}

/* Have Slurm's job of that number be in that state. */
static inline void fake_set_state(size_t number, const char *word)
{
    fake_order("{\"set\": {\"job_id\": %zu, \"job_state\": \"%s\"}}", number, word);
}

static inline void assert_says(const char *sentence, const char *part)
{
    if (!strstr(sentence, part))
        fail_msg("\"%s\" does not say \"%s\"", sentence, part);
}

/* Jobs that there are at the stand-in. */
static inline size_t fake_job_count(void)
{
    return value_get(fake_order("{}"), "jobs")->list.count;
}

/* The record of the number-th job, from 0. */
static inline const struct value *fake_job(size_t number)
{
    const struct value *jobs = value_get(fake_order("{}"), "jobs");
    assert_true(number < jobs->list.count);
    return jobs->list.items[number];
}

static const char fake_manifest[] = "kind: dlspool/slurm/v1\n"
                                    "job: {partition: gpu, time_limit: 10}\n"
                                    "components:\n"
                                    "  - {tasks: 2, cpus_per_task: 2, memory_per_task: 1Gi, "
                                    "gpus_per_task: 1, gpu_type: a100, nodes: 2}\n"
                                    "tasks: [{role: worker, count: 2}]\n"
                                    "environment: {A: 'b c'}\n"
                                    "script: |\n"
                                    "  #!/bin/bash\n"
                                    "  true\n";

static inline struct submission fake_submission(const char *id, const char *manifest)
{
    return (struct submission){.id = id,
                               .attempt = 1,
                               .uid = geteuid(),
                               .gid = getegid(),
                               .manifest = text_of(manifest),
                               .owner = text_of(fake_self()),
                               .outcome = SUBMIT_REFUSED};
}

static inline enum submit_outcome fake_submit_it(struct submission *submission)
{
    struct submission *batch[] = {submission};
    fake.executor->operations->submit(fake.executor, batch, 1);
    return submission->outcome;
}

static inline void fake_submit(const char *id, const char *manifest)
{
    struct submission submission = fake_submission(id, manifest);
    if (fake_submit_it(&submission) != SUBMIT_ACCEPTED)
        fail_msg("%d: %s", submission.outcome, submission.error.text);
}

static inline struct job_poll fake_poll_ending(const char *id, bool ending)
{
    struct error error;
    struct job_poll poll = {.id = id, .attempt = 1, .ending = ending}, *batch[] = {&poll};
    if (fake.executor->operations->poll(fake.executor, fake.arena, batch, 1, &error))
        fail_msg("%s", error.text);
    return poll;
}

static inline struct job_poll fake_poll(const char *id)
{
    return fake_poll_ending(id, false);
}

/* A file in the job's directory, as its script would write it. */
static inline void fake_write(const char *id, const char *name, const char *content)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/jobs/%s-a1/job/%s", fake.directory, id, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), strlen(content));
    close(file);
}

/* How many requests there were since this was asked last, of those that begin so. */
static inline int fake_requests(const char *what)
{
    const struct value *list = value_get(fake_order("{}"), "requests");
    int count = 0;
    for (size_t i = 0; i < list->list.count; i++)
        count += text_starts(value_get_text(list->list.items[i], "what"), what);
    return count;
}

/* A job j-1 that runs, on a cluster whose list takes long: it rests from now on. */
static inline void fake_run_where_lists_take(double seconds)
{
    fake_submit("j-1", fake_manifest);
    fake_set_state(1, "RUNNING");
    fake_order("{\"delay\": %.2f, \"match\": \"GET .*/jobs\", \"times\": 2}", seconds);
    for (int i = 0; i < 2; i++) {
        fake_order("{\"set\": {\"job_id\": 1, \"nice\": %d}}", i); /* there is a list to be sent */
        fake_order("{\"clock\": 2}");
        fake_poll("j-1");
    }
    fake_requests("");
}

static inline void fake_run_on_a_slow_cluster(void)
{
    fake_run_where_lists_take(0.21);
}

#define FAKE_TEST(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

#endif
