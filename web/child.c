/* web/child.c - starts this program afresh in a process with a user's rights */
#include "web/child.h"

#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/signals.h"

enum { OUT_OF_THE_WAY = 16 }; /* numbers from here on are none of those that it is given */

/* Become the user, with the user's groups and nothing of root's.  False when that cannot be done. */
static bool become(const struct passwd *user)
{
    return initgroups(user->pw_name, user->pw_gid) == 0 &&
           setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
           setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0 && getuid() == user->pw_uid &&
           geteuid() == user->pw_uid;
}

/* Keep nothing of root's terminal, which a user could read from, and type to, through their own process.  Where
 * messages go to it, the process has none. */
static bool leave_terminal(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    return setsid() >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
           dup2(nothing, STDOUT_FILENO) >= 0 &&
           (!isatty(STDERR_FILENO) || dup2(nothing, STDERR_FILENO) >= 0);
}

/* Give the descriptors their numbers, and close all others. */
static bool place(const int *descriptors, size_t count)
{
    int copies[8];
    for (size_t i = 0; i < count; i++)
        if ((copies[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)) < 0)
            return false;
    for (size_t i = 0; i < count; i++)
        if (dup2(copies[i], CHILD_FIRST + (int)i) < 0)
            return false;
    return close_range(CHILD_FIRST + (unsigned int)count, ~0u, 0) == 0;
}

pid_t child_start(char *const arguments[], const struct passwd *user, const int *descriptors,
                  size_t count)
{
    pid_t process = fork();
    if (process)
        return process;
    char path[] = "PATH=/usr/bin:/bin", zone[256];
    char *const environment[] = {path, getenv("TZ") ? zone : NULL, NULL};
    snprintf(zone, sizeof(zone), "TZ=%s", getenv("TZ") ? getenv("TZ") : "");
    signals_reset();
    if ((user && (!leave_terminal() || !become(user))) || !place(descriptors, count))
        _exit(126);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
}
