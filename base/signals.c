/* base/signals.c - signal handling of the daemon's processes */
#include "base/signals.h"

#include <sys/signalfd.h>

#include "base/array.h"

int signals_take(const int *signals, size_t count, sigset_t *before, struct error *error)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, before))
        return error_errno(error, "signals could not be blocked");
    int descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return descriptor < 0 ? error_errno(error, "signals could not be taken") : descriptor;
}

void signals_ignore(void)
{
    static const int ignored[] = {SIGHUP,  SIGPIPE,   SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGVTALRM, SIGPROF, SIGIO};
    for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
        signal(ignored[i], SIG_IGN);
}

void signals_reset(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
}
