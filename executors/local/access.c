/* executors/local/access.c - checks whether a user may access paths
 *
 * The child sends messages, the first byte of which says what each is: 'g' and the groups; 'h' and the home
 * directory as it is written, 'H' and what it resolves to, with its descriptor; then for each path '+' and
 * what it resolves to, with its descriptor, or '-' and a sentence and perhaps '!' and what can be done;
 * and '.' at the end.
 */
#include "executors/local/access.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "executors/home_path.h"
#include "executors/local/look.h"
#include "executors/local/mountable.h"
#include "executors/local/process.h"

enum {
    AT_A_TIME = 32, /* children */
    GROUPS_MAX = 1024,
    ANSWER_MAX = 32 << 20,  /* bytes; thousands of long paths */
    MESSAGE_MAX = 64 << 10, /* bytes; a thousand groups */
    PATH_SIZE = 4096 + 64,
    LEFT_MAX = 64 /* children that do not die, because a file server holds them */
};

/* ---- in the child ---- */

struct user {
    uid_t uid;
    char name[64]; /* for sentences */
};

/* Space for one descriptor. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Send a message, with a descriptor unless it is -1.  The kernel limits how many descriptors of one user are
 * in transit (ETOOMANYREFS): then wait until some have arrived. */
static void send_message(int pipe, char kind, const char *text, int descriptor)
{
    struct iovec parts[] = {{&kind, 1}, {(void *)(uintptr_t)text, strlen(text)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = ARRAY_COUNT(parts)};
    union control control = {0};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(descriptor));
    }
    while (sendmsg(pipe, &message, 0) < 0) {
        if (errno == ETOOMANYREFS)
            process_pause(1);
        else if (errno != EINTR)
            _exit(1);
    }
}

static void write_field(int pipe, char kind, const char *text)
{
    send_message(pipe, kind, text, -1);
}

/* Become the user with all their groups, and send the list of these.  -1 with errno set when that fails. */
static int become_user(const struct access_check *check, struct user *user, int pipe)
{
    gid_t groups[GROUPS_MAX] = {check->gid};
    int count = GROUPS_MAX;
    const struct passwd *entry = getpwuid(check->uid);
    if (entry)
        snprintf(user->name, sizeof(user->name), "%.32s", entry->pw_name);
    else
        snprintf(user->name, sizeof(user->name), "uid %u", check->uid);
    user->uid = check->uid;
    if (!entry || getgrouplist(entry->pw_name, check->gid, groups, &count) < 0)
        count = 1;
    if (geteuid() == 0 && check->uid != 0 &&
        (setgroups((size_t)count, groups) || setresgid(check->gid, check->gid, check->gid) ||
         setresuid(check->uid, check->uid, check->uid)))
        return -1;
    struct buffer list = {0};
    buffer_add(&list, "", 0);
    for (int i = 0; i < count; i++)
        if (groups[i] != check->gid)
            buffer_printf(&list, "%s%u", list.length ? " " : "", groups[i]);
    write_field(pipe, 'g', list.data);
    buffer_free(&list);
    return 0;
}

static void look_at_path(int pipe, const struct access_path *path, const struct user *user)
{
    struct look look = {.uid = user->uid, .descriptor = -1};
    char *name = memory_copy_text(path->path),
         *entry = path->entry.length ? memory_copy_text(path->entry) : NULL;
    memcpy(look.user, user->name, sizeof(look.user));
    const struct look_wanted wanted = {name, path->write, entry, path->executable};
    if (look_at(&look, &wanted)) {
        send_message(pipe, '+', look.resolved.data, look.descriptor);
    } else {
        write_field(pipe, '-', look.sentence.data);
        if (look.remedy.length)
            write_field(pipe, '!', look.remedy.data);
    }
    look_free(&look);
    free(name);
    free(entry);
}

/* Send the home directory that the system names, if it exists and belongs to the user: 'h' as it is written,
 * and 'H' as it resolves. */
static void look_for_home(int pipe, uid_t uid)
{
    enum { ALL = R_OK | W_OK | X_OK };
    const struct passwd *entry = getpwuid(uid);
    struct stat status;
    if (!entry || !entry->pw_dir || !home_path_fits(entry->pw_dir))
        return;
    char resolved[PATH_SIZE];
    int home = look_open(entry->pw_dir);
    if (home >= 0 && !fstat(home, &status) && S_ISDIR(status.st_mode) && status.st_uid == uid &&
        look_may(home, ALL) && !mountable_kernel_name(home) &&
        !mountable_path(home, resolved, sizeof(resolved)) && home_path_fits(resolved)) {
        write_field(pipe, 'h', entry->pw_dir);
        send_message(pipe, 'H', resolved, home);
    }
    if (home >= 0)
        close(home);
}

static _Noreturn void check_access(const struct access_check *check, int pipe)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    /* A child that hangs must not keep a lock of this process. */
    if (pipe > 3)
        close_range(3, (unsigned int)pipe - 1, 0);
    close_range((unsigned int)pipe + 1, ~0U, 0);
    struct user user;
    if (become_user(check, &user, pipe) == 0) {
        if (check->wants_home)
            look_for_home(pipe, check->uid);
        for (size_t i = 0; i < check->count; i++)
            look_at_path(pipe, &check->paths[i], &user);
        write_field(pipe, '.', "");
    }
    _exit(0);
}

/* ---- in the parent ---- */

struct child {
    struct access_check *check;
    pid_t process;
    int pipe;     /* -1: it was read to its end */
    size_t heard; /* bytes */
    size_t path;  /* the number of paths that have been answered */
    bool whole;   /* it has said that this is all */
    bool denied;  /* a path; `first`: by the last message, and none before */
    bool first, unsure;
};

/* Children that were killed and have not died yet; later calls wait for them. */
static pid_t left[LEFT_MAX];

static void reap_left(void)
{
    for (size_t i = 0; i < LEFT_MAX; i++)
        if (left[i] > 0 && waitpid(left[i], NULL, WNOHANG) != 0)
            left[i] = 0;
}

static void reap_child(pid_t process, bool finished)
{
    if (!finished)
        kill(process, SIGKILL);
    for (int i = 0; i < 10; i++) {
        if (waitpid(process, NULL, finished ? 0 : WNOHANG) != 0 && (!finished || errno != EINTR))
            return;
        process_pause(2);
    }
    for (size_t i = 0; i < LEFT_MAX; i++) {
        if (left[i] != 0)
            continue;
        left[i] = process;
        return;
    }
}

static void start_child(struct child *child, struct access_check *check)
{
    int ends[2];
    *child = (struct child){.check = check, .pipe = -1};
    check->outcome = ACCESS_UNKNOWN;
    check->groups = check->remedy = check->home = check->home_resolved = (struct text){"", 0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        error_errno(&check->error, "the paths of user %u could not be looked at", check->uid);
        return;
    }
    child->process = fork();
    if (child->process == 0)
        check_access(check, ends[1]);
    if (child->process < 0) {
        error_errno(&check->error, "the paths of user %u could not be looked at", check->uid);
        close(ends[0]);
    } else {
        child->pipe = ends[0];
    }
    close(ends[1]);
}

/* Take the outcome for a path, and give what was opened to the caller; the worst outcome of all paths counts. */
static void take_path(struct child *child, size_t number, int descriptor)
{
    struct access_check *check = child->check;
    struct error error;
    enum access_outcome outcome = ACCESS_GRANTED;
    if (descriptor < 0) { /* no descriptor was free */
        error_set(&error, "too many files are open");
        outcome = ACCESS_UNKNOWN;
    } else if (check->take) {
        outcome = check->take(check->context, number, descriptor, &error);
    }
    if (outcome == ACCESS_GRANTED || child->denied)
        return;
    check->error = error;
    child->unsure = true;
    child->denied = outcome == ACCESS_DENIED;
    if (child->denied)
        check->remedy = TEXT("Name another path");
}

/* Take a message of the process that had the user's rights. */
static void take_message(struct arena *arena, struct child *child, struct text message,
                         int descriptor)
{
    struct access_check *check = child->check;
    struct text said = arena_text(arena, message.data + 1, message.length - 1);
    switch (message.data[0]) {
    case 'g':
        check->groups = said;
        break;
    case 'h':
        check->home = said;
        break;
    case 'H':
        check->home_resolved = said;
        take_path(child, check->count, descriptor);
        break;
    case '+':
        if (child->path < check->count) {
            check->paths[child->path].resolved = said;
            take_path(child, child->path++, descriptor);
        }
        break;
    case '-':
        child->path++;
        child->first = !child->denied;
        if (child->first)
            error_set(&check->error, "%s", said.data);
        child->denied = true;
        break;
    case '!':
        if (child->first)
            check->remedy = said;
        break;
    case '.':
        child->whole = true;
        break;
    default:
        break;
    }
}

/* Receive one message; false: there are no more. */
static bool hear_message(struct arena *arena, struct child *child)
{
    static char bytes[MESSAGE_MAX];
    union control control = {0};
    struct iovec part = {bytes, sizeof(bytes)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int descriptor = -1;
    ssize_t length = recvmsg(child->pipe, &message, MSG_CMSG_CLOEXEC);
    if (length <= 0)
        return length < 0 && errno == EINTR;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len >= CMSG_LEN(sizeof(int)))
        memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
    child->heard += (size_t)length;
    bool good = !(message.msg_flags & MSG_TRUNC) && child->heard < ANSWER_MAX;
    if (good)
        take_message(arena, child, (struct text){bytes, (size_t)length}, descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return good;
}

/* Receive the children's messages until all have ended or the time is up. */
static void hear_children(struct arena *arena, struct child *children, size_t count, int64_t until)
{
    struct pollfd files[AT_A_TIME];
    for (;;) {
        size_t open = 0;
        for (size_t i = 0; i < count; i++) {
            files[i] = (struct pollfd){.fd = children[i].pipe, .events = POLLIN};
            open += children[i].pipe >= 0;
        }
        int64_t rest = until - clock_elapsed();
        if (open == 0 || rest <= 0)
            return;
        if (poll(files, count, (int)heartbeat_nap(rest)) < 0 && errno != EINTR)
            return;
        for (size_t i = 0; i < count; i++) {
            struct child *child = &children[i];
            if (child->pipe < 0 || !files[i].revents || hear_message(arena, child))
                continue;
            close(child->pipe);
            child->pipe = -1;
        }
    }
}

/* Access is granted only when all paths were reached and the answer is whole. */
static void end_child(struct child *child)
{
    struct access_check *check = child->check;
    if (child->process <= 0)
        return;
    bool finished = child->pipe < 0;
    if (!child->denied && !child->unsure)
        error_set(&check->error, "the paths of user %u could not be looked at%s", check->uid,
                  finished ? "" : " in time: a file server or the user directory is slow");
    if (!finished)
        close(child->pipe);
    reap_child(child->process, finished);
    if (child->denied)
        check->outcome = ACCESS_DENIED;
    else if (child->whole && child->path == check->count && !child->unsure)
        check->outcome = ACCESS_GRANTED;
}

static void check_some(struct arena *arena, struct access_check *const *checks, size_t count,
                       int64_t timeout)
{
    struct child children[AT_A_TIME];
    for (size_t i = 0; i < count; i++)
        start_child(&children[i], checks[i]);
    hear_children(arena, children, count, clock_elapsed() + timeout);
    for (size_t i = 0; i < count; i++)
        end_child(&children[i]);
}

void access_check_all(struct arena *arena, struct access_check *const *checks, size_t count,
                      int64_t timeout)
{
    reap_left();
    for (size_t at = 0; at < count; at += AT_A_TIME)
        check_some(arena, checks + at, count - at < AT_A_TIME ? count - at : AT_A_TIME, timeout);
}
