/* stages/service/ask_host.c - asks this machine's Python which libraries it has */
#include "stages/service/ask_host.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals.h"
#include "renderer/host.h"
#include "renderer/repository.h"
#include "spool/file.h"

enum { PATIENCE = 10000, NOBODY = 65534 }; /* milliseconds */
extern const unsigned char host_script_bytes[];
extern const size_t host_script_length;
static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
static const char nothing_but_any[] =
    "{\"python\":null,\"libraries\":{\"any\":{\"version\":\"\",\"gpus\":true}}}";

static void limit_resource(__rlimit_resource_t resource, rlim_t most)
{
    setrlimit(resource, &(struct rlimit){most, most});
}

/* In the new process: drop privileges, and execute Python. */
static _Noreturn void become_python(const char *path, int script, int answer)
{
    static char name[] = "python3", isolated[] = "-I", from_input[] = "-";
    char *const words[] = {name, isolated, from_input, NULL};
    signals_reset();
    setsid();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit_resource(RLIMIT_CPU, PATIENCE / 1000);
    limit_resource(RLIMIT_AS, (rlim_t)1 << 30);
    limit_resource(RLIMIT_FSIZE, 0);
    limit_resource(RLIMIT_CORE, 0);
    int null = open("/dev/null", O_RDWR);
    if (chdir("/") || dup2(script, 0) || dup2(answer, 1) != 1 || dup2(null, 2) != 2 ||
        close_range(3, ~0U, CLOSE_RANGE_CLOEXEC))
        _exit(127);
    if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
        _exit(127);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (clearenv() || setenv("PATH", path, 1) || setenv("LC_ALL", "C.UTF-8", 1))
        _exit(127);
    execvp(name, words);
    _exit(127);
}

/* Read until the other end closes.  -1 when the answer takes too long or is too long. */
static int read_answer(int from, struct buffer *answer)
{
    int64_t until = clock_elapsed() + PATIENCE;
    char piece[4096];
    for (;;) {
        struct pollfd descriptor = {.fd = from, .events = POLLIN};
        int64_t left = until - clock_elapsed();
        if (left <= 0 || answer->length > HOST_LIMIT)
            return -1;
        if (poll(&descriptor, 1, (int)left) < 0 && errno != EINTR)
            return -1;
        if (!descriptor.revents)
            continue;
        ssize_t count = read(from, piece, sizeof(piece));
        if (count == 0)
            return 0;
        if (count < 0 && errno != EINTR)
            return -1;
        if (count > 0)
            buffer_add(answer, piece, (size_t)count);
    }
}

/* Write the script to a file without a name; returns its descriptor. */
static int script_file(void)
{
    struct text script = {(const char *)host_script_bytes, host_script_length};
    int file = memfd_create("host-libraries.py", MFD_CLOEXEC);
    if (file >= 0 &&
        (file_write_all(file, script, "the script", NULL) || lseek(file, 0, SEEK_SET))) {
        close(file);
        return -1;
    }
    return file;
}

static int check_answer(struct buffer *answer, struct error *error)
{
    struct arena *arena = arena_new();
    int result = host_parse(arena, buffer_text(answer), error) ? 0 : -1;
    arena_free(arena);
    return result;
}

int ask_host_python(const char *path, struct buffer *answer, struct error *error)
{
    int ends[2], status = 0;
    int script = script_file();
    if (script < 0)
        return error_errno(error, "a file for Python could not be made");
    if (pipe2(ends, O_CLOEXEC)) {
        close(script);
        return error_errno(error, "a pipe could not be made");
    }
    pid_t process = fork();
    if (process == 0)
        become_python(path, script, ends[1]);
    close(script);
    close(ends[1]);
    int result = process < 0 ? -1 : read_answer(ends[0], answer);
    close(ends[0]);
    if (process < 0)
        return error_errno(error, "python3 could not be started");
    kill(process, SIGKILL); /* it has closed its output, or takes too long */
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (result)
        return error_set(error, "python3 did not answer within %d s", PATIENCE / 1000);
    if (answer->length == 0)
        return error_set(error,
                         WIFEXITED(status) && WEXITSTATUS(status) == 127
                             ? "there is no python3 in %s"
                             : "the python3 of %s gave no answer",
                         path);
    return check_answer(answer, error);
}

/* The PATH of tasks whose image is `host`, as site.yaml has it now. */
static void find_path(const struct spool *spool, struct buffer *path)
{
    struct error error;
    char templates[PATH_MAX + 32];
    snprintf(templates, sizeof(templates), "%s/templates.git", spool->path);
    struct repository *repository = repository_open(templates, "HEAD", &error);
    const struct value *site = repository && !repository_refresh(repository, &error)
                                   ? repository_site(repository, &error)
                                   : NULL;
    struct text given = value_get_text(value_get(site, "local"), "path");
    if (given.length)
        buffer_add_text(path, given);
    else
        buffer_add_string(path, default_path);
    repository_close(repository);
}

int ask_host(const struct spool *spool, const struct settings *settings, struct error *error)
{
    struct buffer answer = {0}, path = {0};
    struct error reason;
    if (!text_is(settings->executor, "local"))
        return 0;
    find_path(spool, &path);
    if (ask_host_python(path.data, &answer, &reason)) {
        log_warn("this machine's libraries could not be found out, so rows of images.txt whose "
                 "image is host serve only jobs of the library any: %s",
                 reason.text);
        buffer_clear(&answer);
        buffer_printf(&answer, "%s", nothing_but_any);
    }
    int result = spool_file_renew(spool->root, host_file, buffer_text(&answer), 0644, error);
    buffer_free(&answer);
    buffer_free(&path);
    return result;
}
