/* executors/local/process.h - starts a daemon, and identifies processes */
#ifndef EXECUTORS_LOCAL_PROCESS_H
#define EXECUTORS_LOCAL_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_start {
    const char *const *command;   /* words, the first looked up in PATH; ends with NULL */
    const char *const *variables; /* name, value, name, value ..., NULL: set in its
                                           environment */
    const char *without; /* variables of this process with this prefix are not passed on; or NULL */
    int directory;       /* where it starts */
    int log;             /* its standard output and error; -1: /dev/null */
};

/* Start a program in its own session that is nobody's child, without this process's descriptors,
 * with no blocked or ignored signals, and umask 022.  -1 with errno set when it could not be
 * executed. */
int process_start_detached(const struct process_start *start, pid_t *process);

/* When the process started, in the kernel's ticks since boot, which together with its id identifies
 * it within this boot; 0 when there is no such process, or only a zombie. */
uint64_t process_start_time(pid_t process);

/* Send a signal, or none (0), to each process of a group that has `argument` among its arguments, or
 * none any more because it is ending.  Returns how many there are, not counting zombies. */
size_t process_signal_group(pid_t group, const char *argument, int signal);

/* The path of a program found through PATH, which the caller frees; NULL when there is none. */
char *process_find(const char *program);

void process_pause(int milliseconds);

#endif
