/* tests/unit/watcher_support.h - scratch directories, files and children for tests of files */
#ifndef TESTS_UNIT_WATCHER_SUPPORT_H
#define TESTS_UNIT_WATCHER_SUPPORT_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/system.h"

enum { PATIENCE = 20000 }; /* milliseconds that a test waits for what must happen */

struct scratch {
    char path[200];
    int directory;
};

__attribute__((unused)) static void scratch_open(struct scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    snprintf(scratch->path, sizeof(scratch->path), "%s/dlspool-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(scratch->path));
    scratch->directory = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(scratch->directory >= 0);
}

static int scratch_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

__attribute__((unused)) static void scratch_close(struct scratch *scratch)
{
    close(scratch->directory);
    nftw(scratch->path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((unused)) static const char *scratch_path(const struct scratch *scratch,
                                                        const char *name, char buffer[static 512])
{
    snprintf(buffer, 512, "%s/%s", scratch->path, name);
    return buffer;
}

/* Make or overwrite a file in one write. */
__attribute__((unused)) static void put_bytes(int directory, const char *name, const char *bytes,
                                              size_t length)
{
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    close(file);
}

__attribute__((unused)) static void put(int directory, const char *name, const char *text)
{
    put_bytes(directory, name, text, strlen(text));
}

/* Make a file under a name that is not watched for, and rename it into place. */
__attribute__((unused)) static void put_renamed(int directory, const char *name, const char *text)
{
    put(directory, ".put", text);
    assert_int_equal(renameat(directory, ".put", directory, name), 0);
}

/* Run `command` by the shell in the directory; its exit status must be 0. */
__attribute__((unused)) static void shell(const struct scratch *scratch, const char *command)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (fchdir(scratch->directory))
            _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Run a function in a child; it returns 0 when all is well.  The child's pid. */
__attribute__((unused)) static pid_t in_child(int (*run)(void *), void *context)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nobody behind */
        _exit(run(context));
    }
    return child;
}

__attribute__((unused)) static void join_child(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

__attribute__((unused)) static void nap(int64_t milliseconds)
{
    struct timespec time = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* One byte through a pipe: how parent and child wait for each other. */
struct gate {
    int ends[2];
};

__attribute__((unused)) static void gate_open(struct gate *gate)
{
    assert_int_equal(pipe2(gate->ends, O_CLOEXEC), 0);
}

__attribute__((unused)) static void gate_close(struct gate *gate)
{
    close(gate->ends[0]);
    close(gate->ends[1]);
}

__attribute__((unused)) static int gate_pass(struct gate *gate)
{
    return write(gate->ends[1], "x", 1) == 1 ? 0 : -1;
}

__attribute__((unused)) static int gate_wait(struct gate *gate)
{
    char byte;
    return read(gate->ends[0], &byte, 1) == 1 ? 0 : -1;
}

#endif
