/* web/porter.c - accepts connections on a socket, and hands each to the page of its user */
#include "web/porter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/system.h"
#include "base/text.h"
#include "stages/sandbox.h"
#include "web/page.h"
#include "web/pass.h"

enum { MOST_PAGES = 1000, MOST_OF_USER = 4, BACKLOG = 128, REFUSED = 16 };

/* A process that answers a user's requests. */
struct page {
    uid_t uid;
    pid_t process;
    int socket; /* -1: it takes no more connections, and lives on to answer those that it has */
};

struct porter {
    const struct porter_settings *settings;
    int listener, signals;
    struct page *pages;
    size_t count, capacity;
    int refused
        [REFUSED]; /* connections to which a refusal was written, the oldest at refused_next; 0: none */
    size_t refused_next;
    bool root;
};

/* ---- the socket ---- */

/* Is somebody listening at the address? */
static bool is_served(const struct sockaddr_un *address)
{
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool served =
        probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0;
    if (probe >= 0)
        close(probe);
    return served;
}

/* Open the socket; one that a porter has left behind is replaced. */
static int listen_at(const char *path, struct error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    if (strlen(path) >= sizeof(address.sun_path))
        return error_set(error, "%s: found a path of %zu bytes, expected at most %zu", path,
                         strlen(path), sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (is_served(&address))
        return error_set(error, "%s: another program serves this socket", path);
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
        unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return error_errno(error, "a socket could not be opened");
    /* Everybody may connect: who they are decides what they see. */
    mode_t mask = umask(0111);
    int result = bind(listener, (const struct sockaddr *)&address, sizeof(address));
    umask(mask);
    if (result || listen(listener, BACKLOG)) {
        error_errno(error, "%s: the socket could not be made", path);
        close(listener);
        return -1;
    }
    return listener;
}

/* ---- the pages ---- */

/* It takes no more connections. */
static void leave_page(struct porter *porter, size_t at)
{
    sys.close(porter->pages[at].socket);
    porter->pages[at].socket = -1;
}

/* Its process has ended. */
static void forget_page(struct porter *porter, size_t at)
{
    if (porter->pages[at].socket >= 0)
        sys.close(porter->pages[at].socket);
    porter->pages[at] = porter->pages[--porter->count];
}

/* Become the user, with the user's groups and nothing of root's.  False when that cannot be done. */
static bool become(const struct passwd *user)
{
    return initgroups(user->pw_name, user->pw_gid) == 0 &&
           setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
           setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0 && getuid() == user->pw_uid &&
           geteuid() == user->pw_uid;
}

/* In a user's process: nothing of root's terminal, which the user could read from, and type to, through their own
 * process.  Where messages go to it, a page has none. */
static bool leave_terminal(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    return setsid() >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
           dup2(nothing, STDOUT_FILENO) >= 0 &&
           (!isatty(STDERR_FILENO) || dup2(nothing, STDERR_FILENO) >= 0);
}

/* In the new process: become the user, and execute a page with nothing of this process but the socket, and what its
 * messages go to. */
static void execute_page(const struct porter *porter, const struct passwd *user, int socket)
{
    char idle[32], zone[256];
    char program[] = "dlspool", option[] = "-s", verb[] = "web", page[] = "--page";
    char path[] = "PATH=/usr/bin:/bin";
    char *const arguments[] = {
        program, option, (char *)(uintptr_t)porter->settings->spool, verb, page, idle, NULL};
    char *const environment[] = {path, getenv("TZ") ? zone : NULL, NULL};
    snprintf(idle, sizeof(idle), "%lldms", (long long)porter->settings->page_idle);
    snprintf(zone, sizeof(zone), "TZ=%s", getenv("TZ") ? getenv("TZ") : "");
    signals_reset();
    if (user && (!leave_terminal() || !become(user)))
        _exit(126);
    if (dup3(socket, PAGE_SOCKET, 0) < 0 && errno != EINVAL)
        _exit(126);
    if (socket == PAGE_SOCKET)
        fcntl(socket, F_SETFD, 0);
    if (close_range(PAGE_SOCKET + 1, ~0u, 0))
        _exit(126);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
}

static size_t count_pages(const struct porter *porter, uid_t uid)
{
    size_t count = 0;
    for (size_t i = 0; i < porter->count; i++)
        count += porter->pages[i].uid == uid;
    return count;
}

/* Start a page for the user.  Its place in the table, or -1 and a sentence. */
static int start_page(struct porter *porter, uid_t uid, struct error *error)
{
    int sockets[2];
    struct passwd *user = porter->root ? getpwuid(uid) : NULL;
    if (porter->root && !user)
        return error_set(error, "this machine knows no user %u", uid);
    if (count_pages(porter, uid) >= MOST_OF_USER)
        return error_set(
            error,
            "%d pages of yours do not end; end these processes (dlspool web --page), and try again",
            MOST_OF_USER);
    if (porter->count == MOST_PAGES)
        return error_set(error, "%d users are served already", MOST_PAGES);
    if (pass_pair(sockets))
        return error_errno(error, "a page could not be started");
    pid_t process = fork();
    if (process == 0)
        execute_page(porter, user, sockets[1]);
    close(sockets[1]);
    if (process < 0) {
        close(sockets[0]);
        return error_errno(error, "a page could not be started");
    }
    porter->pages =
        memory_grow(porter->pages, porter->count, &porter->capacity, sizeof(*porter->pages));
    porter->pages[porter->count] = (struct page){uid, process, sockets[0]};
    return (int)porter->count++;
}

static int find_page(const struct porter *porter, uid_t uid)
{
    for (size_t i = 0; i < porter->count; i++)
        if (porter->pages[i].uid == uid && porter->pages[i].socket >= 0)
            return (int)i;
    return -1;
}

/* A page has said that it ends, or has gone: the next connection of its user gets another. */
static void look_at_page(struct porter *porter, size_t at)
{
    char byte;
    ssize_t count = recv(porter->pages[at].socket, &byte, 1, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    leave_page(porter, at);
}

static void forget_process(struct porter *porter, pid_t process)
{
    for (size_t i = porter->count; i-- > 0;)
        if (porter->pages[i].process == process)
            forget_page(porter, i);
}

/* Take the status of pages that have ended, and say what went wrong. */
static void reap(struct porter *porter)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        forget_process(porter, process);
        if (WIFSIGNALED(status) || WEXITSTATUS(status))
            log_warn("a page has ended with %s %d", WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* The signal that has come. */
static int take_signal(struct porter *porter)
{
    struct signalfd_siginfo signal;
    if (sys.read(porter->signals, &signal, sizeof(signal)) != (ssize_t)sizeof(signal))
        return SIGCHLD;
    if (signal.ssi_signo == SIGCHLD)
        reap(porter);
    return (int)signal.ssi_signo;
}

/* ---- connections ---- */

/* May the user have a page? */
static bool is_welcome(const struct porter *porter, uid_t uid, struct error *error)
{
    if (!porter->root && uid != geteuid()) {
        error_set(error, "this page is user %u's own, and you are user %u", geteuid(), uid);
        return false;
    }
    if (porter->root && uid < porter->settings->least_uid) {
        error_set(error, "users below %u have no page here, and you are user %u",
                  porter->settings->least_uid, uid);
        return false;
    }
    return true;
}

/* Say why there is no page, whatever was asked.  The connection is closed when some more were refused: closed at once,
 * with a request that nobody has read, it would be reset and the sentence be lost. */
static void refuse(struct porter *porter, int connection, const char *sentence)
{
    int *kept = &porter->refused[porter->refused_next++ % REFUSED];
    char reply[ERROR_TEXT_SIZE + 256];
    int length = snprintf(reply, sizeof(reply),
                          "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n"
                          "Connection: close\r\n\r\n%s\n",
                          sentence);
    send(connection, reply, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(connection, SHUT_WR);
    if (*kept)
        close(*kept);
    *kept = connection;
}

static int hand_over(struct porter *porter, uid_t uid, int connection, struct error *error)
{
    static const struct pass_terms terms = {.scope = ACCESS_ALL};
    int at = find_page(porter, uid);
    if (at >= 0 && pass_send(porter->pages[at].socket, connection, &terms) == 0)
        return 0;
    if (at >= 0 && errno == EAGAIN)
        return error_set(error, "too many connections at once; try again");
    if (at >= 0)
        leave_page(porter, (size_t)at);
    at = start_page(porter, uid, error);
    if (at < 0)
        return -1;
    return pass_send(porter->pages[at].socket, connection, &terms)
               ? error_errno(error, "the page took no connection")
               : 0;
}

/* No more than have queued up: who connects without end must not keep signals from being seen. */
static void take_connections(struct porter *porter)
{
    for (int i = 0; i < BACKLOG; i++) {
        int connection = accept4(porter->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0)
            return;
        struct ucred peer;
        struct error error;
        socklen_t length = sizeof(peer);
        int known = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length);
        if (known == 0 && (!is_welcome(porter, peer.uid, &error) ||
                           hand_over(porter, peer.uid, connection, &error))) {
            log_warn("a connection was refused: %s", error.text);
            refuse(porter, connection, error.text);
        } else {
            close(connection);
        }
    }
}

static void serve(struct porter *porter)
{
    struct pollfd *files = NULL;
    size_t capacity = 0;
    for (;;) {
        while (capacity < porter->count + 2)
            files = memory_grow(files, capacity, &capacity, sizeof(*files));
        size_t pages = porter->count;
        files[0] = (struct pollfd){.fd = porter->signals, .events = POLLIN};
        files[1] = (struct pollfd){.fd = porter->listener, .events = POLLIN};
        for (size_t i = 0; i < pages; i++)
            files[i + 2] = (struct pollfd){.fd = porter->pages[i].socket, .events = POLLIN};
        if (poll(files, pages + 2, -1) < 0 && errno != EINTR)
            break;
        for (size_t i = pages; i-- > 0;)
            if (files[i + 2].revents)
                look_at_page(porter, i);
        if (files[0].revents && take_signal(porter) != SIGCHLD)
            break;
        if (files[1].revents)
            take_connections(porter);
    }
    free(files);
}

/* Connections that a page does not take yet count as open files of all that this user passes on: a user whose pages are
 * stopped must not use up what others need. */
static void raise_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            log_warn("the limit of open files could not be raised: %s", strerror(errno));
    }
}

int porter_run(const struct porter_settings *settings, void (*ready)(const char *socket),
               struct error *error)
{
    static const int taken[] = {SIGTERM, SIGINT, SIGCHLD};
    struct porter porter = {.settings = settings, .root = geteuid() == 0};
    signals_ignore();
    raise_open_files();
    int result = -1;
    porter.signals = signals_take(taken, ARRAY_COUNT(taken), NULL, error);
    if (porter.signals < 0)
        return -1;
    porter.listener = listen_at(settings->socket, error);
    if (porter.listener >= 0) {
        result = sandbox_keep_capabilities(1u << CAP_SETUID | 1u << CAP_SETGID, error);
        if (!result && ready)
            ready(settings->socket);
        if (!result)
            serve(&porter);
        unlink(settings->socket);
        close(porter.listener);
    }
    while (porter.count)
        forget_page(&porter, porter.count - 1);
    for (size_t i = 0; i < REFUSED; i++)
        if (porter.refused[i])
            close(porter.refused[i]);
    free(porter.pages);
    close(porter.signals);
    return result;
}
