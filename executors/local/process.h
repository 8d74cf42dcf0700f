/* executors/local/process.h - starting a daemon, and telling one process from another */
#ifndef EXECUTORS_LOCAL_PROCESS_H
#define EXECUTORS_LOCAL_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_start {
    const char *const *command;   /* words, the first looked up in PATH; ends with NULL */
    const char *const *variables; /* name, value, name, value ..., NULL: set in its
                                           environment */
    const char *without;          /* our variables that start so are not passed on; or NULL */
    int directory;                /* where it starts */
    int log;                      /* its standard output and error; -1: /dev/null */
};

/* Start a program in a session of its own that is nobody's child, with no descriptors of ours, no
 * blocked or ignored signals, and umask 022.  -1 with errno set when it could not be executed. */
int process_start_detached(const struct process_start *start, pid_t *process);

/* When the process started, in the kernel's ticks since boot, which with its id tells it from
 * every other of this boot; 0 when there is no such process, or only its remains. */
uint64_t process_start_time(pid_t process);

/* Send a signal, or none (0), to each process of a group that has `argument` among its arguments.  How many
 * there are; what remains of one that has ended is none. */
size_t process_signal_group(pid_t group, const char *argument, int signal);

/* The path of a program that PATH leads to, to be freed; NULL when there is none. */
char *process_find(const char *program);

void process_pause(int milliseconds);

#endif
