/* executors/local/process.c - starts a daemon, and identifies processes */
#include "executors/local/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/text.h"
#include "executors/environment.h"

/* What the new processes report through the pipe, two of them in either order.  It closes when the program is
 * executed. */
struct notice {
    enum { NOTICE_PROCESS = 1, NOTICE_FAILURE } kind;
    int number; /* the process id, or errno */
};

static void write_notice(int pipe, int kind, int number)
{
    struct notice notice = {.kind = kind, .number = number};
    (void)!write(pipe, &notice, sizeof(notice));
}

/* In the new process: execute the program, or report why not. */
static _Noreturn void become_program(const struct process_start *start, char **environment,
                                     int pipe)
{
    signals_reset();
    umask(022);
    int null = open("/dev/null", O_RDWR);
    int log = start->log >= 0 ? start->log : null;
    if (null >= 0 && fchdir(start->directory) == 0 && dup2(null, 0) == 0 && dup2(log, 1) == 1 &&
        dup2(log, 2) == 2 && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        char **command = memory_allocate(64 * sizeof(char *));
        size_t i = 0;
        for (; start->command[i] && i < 63; i++)
            command[i] = memory_copy_string(start->command[i]);
        command[i] = NULL;
        execvpe(command[0], command, environment);
    }
    write_notice(pipe, NOTICE_FAILURE, errno);
    _exit(127);
}

/* In the child: start the grandchild, report its id, and leave it to init. */
static _Noreturn void hand_over(const struct process_start *start, char **environment, int pipe)
{
    setsid();
    pid_t process = fork();
    if (process == 0)
        become_program(start, environment, pipe);
    if (process > 0)
        write_notice(pipe, NOTICE_PROCESS, process);
    else
        write_notice(pipe, NOTICE_FAILURE, errno);
    _exit(0);
}

static ssize_t read_some(int file, void *bytes, size_t length)
{
    ssize_t count;
    do
        count = read(file, bytes, length);
    while (count < 0 && errno == EINTR);
    return count;
}

int process_start_detached(const struct process_start *start, pid_t *process)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    char **environment = environment_make(start->variables, start->without);
    pid_t child = fork();
    if (child == 0)
        hand_over(start, environment, ends[1]);
    int number = child < 0 ? errno : EAGAIN; /* EAGAIN: should the child die without a message */
    close(ends[1]);
    environment_free(environment);
    *process = 0;
    if (child > 0) {
        struct notice notice;
        bool failed = false;
        while (read_some(ends[0], &notice, sizeof(notice)) == sizeof(notice)) {
            if (notice.kind == NOTICE_PROCESS) {
                *process = notice.number;
            } else {
                failed = true;
                number = notice.number;
            }
        }
        if (*process > 0 && !failed)
            number = 0;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    errno = number;
    return number ? -1 : 0;
}

/* Read the start of a file of /proc/PROCESS, and end it with a NUL.  The bytes; 0 when it cannot be read. */
static size_t read_proc(pid_t process, const char *name, char *buffer, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read_some(file, buffer, size - 1);
    close(file);
    if (length <= 0)
        return 0;
    buffer[length] = '\0';
    return (size_t)length;
}

/* The group and the start time of a process that has not ended. */
static bool read_stat(pid_t process, pid_t *group, uint64_t *start)
{
    char line[1024], state;
    if (!read_proc(process, "stat", line, sizeof(line)))
        return false;
    /* The name in parentheses may contain anything; what follows the last one is numbers. */
    const char *rest = strrchr(line, ')');
    return rest &&
           sscanf(rest + 1,
                  " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                  "%*d %" SCNu64,
                  &state, group, start) == 3 &&
           state != 'Z' && state != 'X';
}

uint64_t process_start_time(pid_t process)
{
    pid_t group;
    uint64_t start;
    return read_stat(process, &group, &start) ? start : 0;
}

/* Has the process this argument?  One without any arguments is about to end, and counts: the kernel drops them
 * before it closes the files. */
static bool has_argument(pid_t process, const char *argument)
{
    char line[16384];
    size_t length = read_proc(process, "cmdline", line, sizeof(line));
    if (length == 0)
        return true;
    for (size_t at = 0; at < length; at += strlen(line + at) + 1)
        if (strcmp(line + at, argument) == 0)
            return true;
    return false;
}

size_t process_signal_group(pid_t group, const char *argument, int signal)
{
    DIR *all = opendir("/proc");
    size_t count = 0;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        pid_t process = atoi(entry->d_name), its;
        uint64_t start;
        if (process <= 1 || !read_stat(process, &its, &start) || its != group ||
            !has_argument(process, argument))
            continue;
        count++;
        if (signal)
            kill(process, signal);
    }
    if (all)
        closedir(all);
    return count;
}

char *process_find(const char *program)
{
    struct text rest = text_of(getenv("PATH")), directory;
    while (rest.length && text_next(&rest, ':', &directory)) {
        struct buffer path = {0};
        buffer_printf(&path, "%.*s/%s", (int)directory.length, directory.data, program);
        if (directory.length && access(path.data, X_OK) == 0)
            return path.data;
        buffer_free(&path);
    }
    return NULL;
}

void process_pause(int milliseconds)
{
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}
