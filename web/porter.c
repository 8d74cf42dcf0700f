/* web/porter.c - accepts connections on a socket, and hands each to the page of its user */
#include "web/porter.h"

#include <errno.h>
#include <fcntl.h>
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
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/system.h"
#include "base/text.h"
#include "stages/sandbox.h"
#include "web/child.h"
#include "web/doors.h"
#include "web/listen.h"
#include "web/page.h"
#include "web/pass.h"

enum { MOST_PAGES = 1000, MOST_OF_USER = 4, REFUSED = 16, AT_ONCE = 128 };

/* A process that answers a user's requests. */
struct page {
    uid_t uid;
    pid_t process;
    int socket; /* -1: it takes no more connections, and lives on to answer those that it has */
};

struct porter {
    const struct porter_settings *settings;
    int listener, network, signals; /* network -1: none */
    struct doors doors;
    struct page *pages;
    size_t count, capacity;
    int refused
        [REFUSED]; /* connections to which a refusal was written, the oldest at refused_next; 0: none */
    size_t refused_next;
    bool root;
    bool made; /* the socket is its own, and goes with it */
};

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

/* Execute a page with nothing of this process but the socket. */
static pid_t execute_page(const struct porter *porter, const struct passwd *user, int socket)
{
    char idle[32];
    char program[] = "dlspool", option[] = "-s", verb[] = "web", page[] = "--page";
    char *const arguments[] = {
        program, option, (char *)(uintptr_t)porter->settings->spool->path, verb, page, idle, NULL};
    snprintf(idle, sizeof(idle), "%lldms", (long long)porter->settings->page_idle);
    return child_start(arguments, user, &socket, 1);
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
    pid_t process = execute_page(porter, user, sockets[1]);
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

/* False: it was no page's. */
static bool forget_process(struct porter *porter, pid_t process)
{
    for (size_t i = porter->count; i-- > 0;) {
        if (porter->pages[i].process == process) {
            forget_page(porter, i);
            return true;
        }
    }
    return false;
}

/* Take the status of pages that have ended, and say what went wrong. */
static void reap(struct porter *porter)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        if (forget_process(porter, process) && (WIFSIGNALED(status) || WEXITSTATUS(status)))
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

static int hand_over(struct porter *porter, uid_t uid, int connection,
                     const struct pass_terms *terms, struct error *error)
{
    int at = find_page(porter, uid);
    if (at >= 0 && pass_send(porter->pages[at].socket, connection, terms) == 0)
        return 0;
    if (at >= 0 && errno == EAGAIN)
        return error_set(error, "too many connections at once; try again");
    if (at >= 0)
        leave_page(porter, (size_t)at);
    at = start_page(porter, uid, error);
    if (at < 0)
        return -1;
    return pass_send(porter->pages[at].socket, connection, terms)
               ? error_errno(error, "the page took no connection")
               : 0;
}

static void open_door(struct porter *porter, int connection, bool proxy)
{
    struct error error;
    if (doors_start(&porter->doors, connection, proxy, &error))
        log_warn("%s", error.text);
}

static bool is_proxy(const struct porter *porter, uid_t uid)
{
    for (size_t i = 0; i < porter->settings->proxy_count; i++)
        if (porter->settings->proxies[i] == uid)
            return true;
    return false;
}

/* A connection of somebody of whom the kernel says who they are. */
static void take_connection(struct porter *porter, int connection)
{
    static const struct pass_terms all = {.scope = ACCESS_ALL};
    struct ucred peer;
    struct error error;
    socklen_t length = sizeof(peer);
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
        close(connection);
    } else if (is_proxy(porter, peer.uid)) {
        open_door(porter, connection, true);
    } else if (!is_welcome(porter, peer.uid, &error) ||
               hand_over(porter, peer.uid, connection, &all, &error)) {
        log_warn("a connection was refused: %s", error.text);
        refuse(porter, connection, error.text);
    } else {
        close(connection);
    }
}

/* No more than have queued up: who connects without end must not keep signals from being seen. */
static void take_connections(struct porter *porter)
{
    for (int i = 0; i < AT_ONCE; i++) {
        int connection = accept4(porter->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0)
            return;
        take_connection(porter, connection);
    }
}

static void take_network(struct porter *porter)
{
    for (int i = 0; i < AT_ONCE; i++) {
        int connection = accept4(porter->network, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0)
            return;
        open_door(porter, connection, false);
    }
}

/* ---- doors ---- */

/* Whom does a token stand for, and for what?  -1 and a sentence. */
static int read_token(const struct porter *porter, const char *sha256, uid_t *uid,
                      struct pass_terms *terms, struct error *error)
{
    struct access_token token;
    int directory = access_token_open_directory(porter->settings->spool);
    if (directory < 0)
        return error_set(error, "there are no tokens here");
    int result = access_token_read(directory, sha256, &token, error);
    close(directory);
    if (result)
        return -1;
    if (access_token_end(&token, porter->settings->token_longest) < clock_now())
        return error_set(error, "this token has expired; dlspool token makes another");
    *uid = token.uid;
    terms->scope = token.scope;
    return 0;
}

/* Who is it that the door claims to be there?  -1 and a sentence. */
static int weigh_claim(const struct porter *porter, const struct door_process *door,
                       const struct door_claim *claim, uid_t *uid, struct pass_terms *terms,
                       struct error *error)
{
    if (claim->proof == DOOR_TOKEN)
        return read_token(porter, claim->word, uid, terms, error);
    const struct passwd *user =
        door->proxy && claim->proof == DOOR_USER ? getpwnam(claim->word) : NULL;
    if (!user)
        return error_set(error, "this machine knows no user of the name that the proxy gives");
    *uid = user->pw_uid;
    return 0;
}

/* A door has found out something, or has gone. */
static void listen_to_door(struct porter *porter, size_t at)
{
    const struct door_process *door = &porter->doors.items[at];
    struct pass_terms terms = {.scope = ACCESS_ALL, .once = true};
    struct door_claim claim;
    struct error error;
    uid_t uid = (uid_t)-1;
    if (!doors_claim(&porter->doors, at, &claim)) {
        doors_end(&porter->doors, at);
        return;
    }
    int flags = fcntl(door->connection, F_GETFL);
    bool taken = !weigh_claim(porter, door, &claim, &uid, &terms, &error) &&
                 is_welcome(porter, uid, &error) &&
                 fcntl(door->connection, F_SETFL, flags | O_NONBLOCK) == 0 &&
                 !hand_over(porter, uid, door->connection, &terms, &error);
    if (!taken) {
        log_warn("a connection was refused: %s", error.text);
        fcntl(door->connection, F_SETFL, flags);
    }
    doors_answer(&porter->doors, at, taken ? NULL : error.text);
    if (taken)
        doors_end(&porter->doors, at);
}

/* ---- the loop ---- */

enum { SIGNALS, LISTENER, NETWORK, FIRST_PAGE };

/* What is waited for: the first ones, a page each, then a door each. */
static void look_at_files(struct porter *porter, const struct pollfd *files, size_t pages,
                          size_t doors)
{
    for (size_t i = doors; i-- > 0;)
        if (files[FIRST_PAGE + pages + i].revents)
            listen_to_door(porter, i);
    for (size_t i = pages; i-- > 0;)
        if (files[FIRST_PAGE + i].revents)
            look_at_page(porter, i);
}

/* Wait for signals, connections, pages and doors, and look after them. */
static void serve(struct porter *porter)
{
    struct pollfd *files = NULL;
    size_t capacity = 0;
    for (;;) {
        size_t pages = porter->count, doors = porter->doors.count;
        size_t count = FIRST_PAGE + pages + doors;
        while (capacity < count)
            files = memory_grow(files, capacity, &capacity, sizeof(*files));
        files[SIGNALS] = (struct pollfd){.fd = porter->signals, .events = POLLIN};
        files[LISTENER] = (struct pollfd){.fd = porter->listener, .events = POLLIN};
        files[NETWORK] = (struct pollfd){.fd = porter->network, .events = POLLIN};
        for (size_t i = 0; i < pages; i++)
            files[FIRST_PAGE + i] =
                (struct pollfd){.fd = porter->pages[i].socket, .events = POLLIN};
        for (size_t i = 0; i < doors; i++)
            files[FIRST_PAGE + pages + i] =
                (struct pollfd){.fd = porter->doors.items[i].socket, .events = POLLIN};
        if (poll(files, count, -1) < 0) {
            if (errno != EINTR)
                break;
            continue;
        }
        look_at_files(porter, files, pages, doors);
        if (files[SIGNALS].revents && take_signal(porter) != SIGCHLD)
            break;
        if (files[LISTENER].revents)
            take_connections(porter);
        if (files[NETWORK].revents)
            take_network(porter);
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

/* Listen where the settings say, or take what systemd has opened.  -1 and a sentence. */
static int open_sockets(struct porter *porter, const struct porter_settings *settings,
                        struct error *error)
{
    porter->listener = listen_given(AF_UNIX);
    porter->network = listen_given(AF_INET);
    porter->made = porter->listener < 0;
    if (porter->made)
        porter->listener = listen_local(settings->socket, error);
    if (porter->listener >= 0 && porter->network < 0 && settings->network.length) {
        porter->network = listen_network(settings->network, error);
        return porter->network < 0 ? -1 : 0;
    }
    return porter->listener < 0 ? -1 : 0;
}

static void close_sockets(const struct porter *porter, const struct porter_settings *settings)
{
    if (porter->listener >= 0 && porter->made)
        unlink(settings->socket);
    if (porter->listener >= 0)
        close(porter->listener);
    if (porter->network >= 0)
        close(porter->network);
}

/* Say that connections are taken, and where. */
static void tell_ready(const struct porter *porter, const struct porter_settings *settings,
                       porter_ready *ready)
{
    char path[LISTEN_PATH_SIZE];
    struct porter_settings told = *settings;
    const char *named = listen_path(porter->listener, path);
    told.socket = named ? named : settings->socket;
    if (ready)
        ready(&told);
}

int porter_run(const struct porter_settings *settings, porter_ready *ready, struct error *error)
{
    static const int taken[] = {SIGTERM, SIGINT, SIGCHLD};
    struct porter porter = {.settings = settings, .root = geteuid() == 0};
    signals_ignore();
    raise_open_files();
    porter.signals = signals_take(taken, ARRAY_COUNT(taken), NULL, error);
    if (porter.signals < 0)
        return -1;
    int result = open_sockets(&porter, settings, error);
    if (!result)
        result = sandbox_keep_capabilities(1u << CAP_SETUID | 1u << CAP_SETGID, error);
    if (!result) {
        tell_ready(&porter, settings, ready);
        serve(&porter);
    }
    close_sockets(&porter, settings);
    doors_free(&porter.doors);
    while (porter.count)
        forget_page(&porter, porter.count - 1);
    for (size_t i = 0; i < REFUSED; i++)
        if (porter.refused[i])
            close(porter.refused[i]);
    free(porter.pages);
    close(porter.signals);
    return result;
}
