/* tests/unit/local_fixture.h - a local executor with a podman of its own, for tests
 *
 * Each test gets a directory of its own with podman's storage in it, and leaves nothing behind:
 * no container, no service, no mount, no file.  Where podman cannot run, tests skip and say why.
 */
#ifndef TESTS_UNIT_LOCAL_FIXTURE_H
#define TESTS_UNIT_LOCAL_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "base/yaml.h"
#include "executors/executor.h"
#include "executors/local/process.h"
#include "executors/registry/registry.h"

enum { FIXTURE_PATIENCE = 30000 }; /* milliseconds that are waited for anything */

struct fixture {
    char directory[256]; /* all there is of this test */
    char settings_text[1024];
    struct arena *arena;
    struct value *settings;
    struct executor *executor;
    int output; /* descriptor of directory/output */
};

/* Why podman cannot be used here, or NULL. */
static inline const char *fixture_lacks(void)
{
    if (geteuid() != 0)
        return "these tests want root";
    if (system("command -v podman runc conmon > /dev/null") != 0)
        return "podman, runc or conmon is not installed";
    if (access("/proc/sys/fs/overlay-max", F_OK) && system("grep -q overlay /proc/filesystems"))
        return "the kernel has no overlay file system";
    return NULL;
}

/* To be the first line of every test that wants podman. */
#define FIXTURE_OR_SKIP()                                                                          \
    do {                                                                                           \
        const char *lacks = fixture_lacks();                                                       \
        if (lacks) {                                                                               \
            print_message("skipped: %s\n", lacks);                                                 \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

static inline void fixture_open_executor(struct fixture *fixture)
{
    struct error error = {""};
    fixture->settings = yaml_read(fixture->arena, text_of(fixture->settings_text), "dlspool.yaml",
                                  &yaml_trusted_limits, &error);
    if (!fixture->settings)
        fail_msg("%s", error.text);
    fixture->executor = registry_open(fixture->settings, "test", fixture->directory, &error);
    if (!fixture->executor)
        fail_msg("%s", error.text);
}

/* `local` are settings below `local:`, each line indented by two blanks; may be "". */
static inline void fixture_setup(struct fixture *fixture, const char *local)
{
    const char *parent = getenv("TMPDIR");
    snprintf(fixture->directory, sizeof(fixture->directory), "%s/dlspool-local-XXXXXX",
             parent && *parent ? parent : "/tmp");
    assert_non_null(mkdtemp(fixture->directory));
    assert_int_equal(chmod(fixture->directory, 0755), 0);
    char path[512];
    snprintf(path, sizeof(path), "%s/output", fixture->directory);
    assert_int_equal(mkdir(path, 0755), 0);
    fixture->output = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fixture->output >= 0);
    fixture->arena = arena_new();
    snprintf(fixture->settings_text, sizeof(fixture->settings_text), "executor: local\n%s%s",
             *local ? "local:\n" : "", local);
    fixture_open_executor(fixture);
}

static inline void fixture_reopen(struct fixture *fixture)
{
    fixture->executor->operations->close(fixture->executor);
    fixture_open_executor(fixture);
}

static inline void fixture_pause(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, (long)(milliseconds % 1000) * 1000000}, NULL);
}

static inline void fixture_unmount(const char *directory)
{
    char line[4096], point[2048];
    FILE *mounts = fopen("/proc/self/mounts", "re");
    while (mounts && fgets(line, sizeof(line), mounts))
        if (sscanf(line, "%*s %2047s", point) == 1 &&
            strncmp(point, directory, strlen(directory)) == 0)
            umount2(point, MNT_DETACH);
    if (mounts)
        fclose(mounts);
}

/* Run a shell line with $D as the test's directory; its exit status. */
static inline int fixture_shell(const struct fixture *fixture, const char *line)
{
    setenv("D", fixture->directory, 1);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int fixture_prepare(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    fixture->output = -1;
    *state = fixture;
    return 0;
}

static inline int fixture_finish(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->executor) {
        if (fixture->executor->operations->stop)
            fixture->executor->operations->stop(fixture->executor);
        fixture->executor->operations->close(fixture->executor);
    }
    if (fixture->output >= 0)
        close(fixture->output);
    if (fixture->directory[0]) {
        fixture_shell(fixture, "cd $D; test -e .podman/storage.conf || exit 0; "
                               "export CONTAINERS_STORAGE_CONF=$D/.podman/storage.conf "
                               "CONTAINERS_CONF=$D/.podman/containers.conf; "
                               "podman pod rm -fa -t 0 > .rm 2>&1; podman rm -fa -t 0 > .rm 2>&1");
        /* The cleaning up that conmon starts when a container ends may still be under way. */
        int status = -1;
        for (int i = 0; i < 100 && status != 0; i++) {
            fixture_unmount(fixture->directory);
            status = fixture_shell(fixture, "rm -rf --one-file-system \"$D\" 2> /dev/null");
            if (status != 0)
                fixture_pause(50);
        }
        if (status != 0)
            print_message("%s could not be removed\n", fixture->directory);
    }
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* Whether a process has ended; init may be slow to bury it. */
static inline bool fixture_is_gone(pid_t process)
{
    return process_start_time(process) == 0;
}

#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, fixture_prepare, fixture_finish)

static inline struct submission fixture_submission(const char *id, const char *manifest)
{
    return (struct submission){.id = id, .attempt = 1, .manifest = text_of(manifest)};
}

static inline void fixture_hand_in(struct fixture *fixture, struct submission *submission)
{
    struct submission *batch[] = {submission};
    fixture->executor->operations->submit(fixture->executor, batch, 1);
}

static inline void fixture_submit(struct fixture *fixture, const char *id, const char *manifest)
{
    struct submission submission = fixture_submission(id, manifest);
    fixture_hand_in(fixture, &submission);
    if (submission.outcome != SUBMIT_ACCEPTED)
        fail_msg("outcome %d: %s", submission.outcome, submission.error.text);
}

static inline struct job_poll fixture_poll(struct fixture *fixture, const char *id)
{
    struct job_poll poll = {.id = id, .attempt = 1}, *jobs[] = {&poll};
    struct error error = {""};
    if (fixture->executor->operations->poll(fixture->executor, fixture->arena, jobs, 1, &error))
        fail_msg("%s", error.text);
    return poll;
}

/* Wait until no task of the job runs. */
static inline struct job_poll fixture_wait(struct fixture *fixture, const char *id)
{
    int64_t begin = clock_elapsed();
    for (;;) {
        struct job_poll poll = fixture_poll(fixture, id);
        bool running = poll.phase == PHASE_RUNNING;
        for (size_t i = 0; i < poll.task_count; i++)
            running = running || !poll.tasks[i].ended;
        if (!running || poll.phase == PHASE_VANISHED)
            return poll;
        if (clock_elapsed() - begin > FIXTURE_PATIENCE)
            fail_msg("%s still runs", id);
        fixture_pause(20);
    }
}

/* Copy the job's output, and return what output/<name> holds, in the fixture's arena. */
static inline const char *fixture_output(struct fixture *fixture, const char *id, const char *name)
{
    struct error error = {""};
    if (executor_output(fixture->executor, id, 1, fixture->output, false, &error))
        fail_msg("%s", error.text);
    struct buffer bytes = {0};
    if (file_read_at(fixture->output, name, 256 << 20, &bytes, &error))
        fail_msg("%s", error.text);
    const char *copy = arena_text(fixture->arena, bytes.data, bytes.length).data;
    buffer_free(&bytes);
    return copy;
}

/* Wait until output/<name> contains the words. */
static inline void fixture_await_output(struct fixture *fixture, const char *id, const char *name,
                                        const char *words)
{
    int64_t begin = clock_elapsed();
    while (!strstr(fixture_output(fixture, id, name), words)) {
        if (clock_elapsed() - begin > FIXTURE_PATIENCE)
            fail_msg("%s never said \"%s\"", name, words);
        fixture_pause(20);
    }
}

#endif
