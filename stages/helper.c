/* stages/helper.c - starts a process beside a stage that answers its questions over a socket */
#include "stages/helper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int helper_start(const char *name, const char *does, helper_answer *answer, void *context,
                 int *socket, pid_t *process, struct error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_errno(error, "the process that %s could not be reached", does);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) {
        error_errno(error, "the process that %s could not be started", does);
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, name);
        close(ends[0]);
        if (getppid() == parent)
            answer(ends[1], context);
        _exit(0);
    }
    close(ends[1]);
    *socket = ends[0];
    if (process)
        *process = child;
    return 0;
}
