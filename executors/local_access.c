/* executors/local_access.c - may this user have these paths?
 *
 * The child writes fields that end in NUL: 'g' and the groups, then for each path '+' and what it
 * resolves to or '-' and a sentence, and '.' at the end.
 */
#include "executors/local_access.h"

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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/process.h"

enum {
    AT_A_TIME = 32, /* children */
    GROUPS_MAX = 1024,
    ANSWER_MAX = 32 << 20, /* bytes; thousands of long paths */
    LEFT_MAX = 64          /* children that do not die, because a file server holds them */
};

/* ---- in the child ---- */

struct user {
    uid_t uid;
    char name[64]; /* for sentences */
};

static void say(int pipe, char kind, const char *text)
{
    struct buffer field = {0};
    buffer_add_byte(&field, kind);
    buffer_add_string(&field, text);
    size_t done = 0, length = field.length + 1;
    while (done < length) {
        ssize_t count = write(pipe, field.data + done, length - done);
        if (count < 0 && errno != EINTR)
            _exit(1);
        done += count > 0 ? (size_t)count : 0;
    }
    buffer_free(&field);
}

/* Become the user with all his groups, and say them.  -1 with errno set when that fails. */
static int become(const struct access_check *check, struct user *user, int pipe)
{
    gid_t groups[GROUPS_MAX] = {check->gid};
    int count = GROUPS_MAX;
    const struct passwd *entry = getpwuid(check->uid);
    snprintf(user->name, sizeof(user->name), "%.32s%s%u%s", entry ? entry->pw_name : "",
             entry ? " (uid " : "uid ", check->uid, entry ? ")" : "");
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
    say(pipe, 'g', list.data);
    buffer_free(&list);
    return 0;
}

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* The first directory on the way that does not let us in; `path` is cut there. */
static const char *closed_directory(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!may(path, X_OK))
            return path;
        *slash = '/';
    }
    return NULL;
}

static void say_unreachable(int pipe, const char *path, const struct user *user, int number)
{
    struct error_quote_room room, inner;
    struct buffer sentence = {0};
    char *copy = memory_copy_string(path);
    error_quote(&room, path, strlen(path));
    const char *closed = number == EACCES ? closed_directory(copy) : NULL;
    if (closed)
        buffer_printf(&sentence, "user %s cannot reach %s: the directory %s does not let them in",
                      user->name, room.text, error_quote(&inner, closed, strlen(closed)));
    else if (number == ENOENT || number == ENOTDIR)
        buffer_printf(&sentence, "%s does not exist on this machine, as user %s sees it", room.text,
                      user->name);
    else
        buffer_printf(&sentence, "user %s cannot reach %s: %s", user->name, room.text,
                      strerror(number));
    say(pipe, '-', sentence.data);
    buffer_free(&sentence);
    free(copy);
}

static void say_denied(int pipe, const char *path, const struct user *user, const char *what,
                       int number, const struct stat *status)
{
    struct error_quote_room room;
    struct buffer sentence = {0};
    error_quote(&room, path, strlen(path));
    if (number == EACCES)
        buffer_printf(&sentence,
                      "user %s may not %s %s: it belongs to user %u and group %u, and "
                      "its mode is %03o",
                      user->name, what, room.text, status->st_uid, status->st_gid,
                      status->st_mode & 07777u);
    else
        buffer_printf(&sentence, "user %s may not %s %s: %s", user->name, what, room.text,
                      strerror(number));
    say(pipe, '-', sentence.data);
    buffer_free(&sentence);
}

static void look_at(int pipe, const struct access_path *wanted, const struct user *user)
{
    char *path = memory_allocate(wanted->path.length + 1);
    memcpy(path, wanted->path.data, wanted->path.length);
    path[wanted->path.length] = '\0';
    char *resolved = realpath(path, NULL);
    struct stat status;
    if (!resolved || stat(resolved, &status)) {
        say_unreachable(pipe, path, user, errno);
    } else if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
        struct buffer sentence = {0};
        struct error_quote_room room;
        buffer_printf(&sentence, "%s is neither a directory nor a file: only those are mounted",
                      error_quote(&room, path, strlen(path)));
        say(pipe, '-', sentence.data);
        buffer_free(&sentence);
    } else if (!may(resolved, R_OK | (S_ISDIR(status.st_mode) ? X_OK : 0))) {
        say_denied(pipe, path, user, "read", errno, &status);
    } else if (wanted->write && !may(resolved, W_OK)) {
        say_denied(pipe, path, user, "write to", errno, &status);
    } else {
        say(pipe, '+', resolved);
    }
    free(resolved);
    free(path);
}

static _Noreturn void look(const struct access_check *check, int pipe)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    /* No lock of ours may outlive us in a child that hangs. */
    if (pipe > 3)
        close_range(3, (unsigned int)pipe - 1, 0);
    close_range((unsigned int)pipe + 1, ~0U, 0);
    struct user user;
    if (become(check, &user, pipe) == 0) {
        for (size_t i = 0; i < check->count; i++)
            look_at(pipe, &check->paths[i], &user);
        say(pipe, '.', "");
    }
    _exit(0);
}

/* ---- in the parent ---- */

struct child {
    struct access_check *check;
    pid_t process;
    int pipe; /* -1: heard to the end */
    struct buffer answer;
};

/* Children that were killed and are not dead yet: waited for by later calls. */
static pid_t left[LEFT_MAX];

static void reap_left(void)
{
    for (size_t i = 0; i < LEFT_MAX; i++)
        if (left[i] > 0 && waitpid(left[i], NULL, WNOHANG) != 0)
            left[i] = 0;
}

static void reap(pid_t process, bool finished)
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

static void start(struct child *child, struct access_check *check)
{
    int ends[2];
    *child = (struct child){.check = check, .pipe = -1};
    check->outcome = ACCESS_UNKNOWN;
    check->groups = (struct text){"", 0};
    if (pipe2(ends, O_CLOEXEC)) {
        error_errno(&check->error, "the paths of user %u could not be looked at", check->uid);
        return;
    }
    child->process = fork();
    if (child->process == 0)
        look(check, ends[1]);
    if (child->process < 0) {
        error_errno(&check->error, "the paths of user %u could not be looked at", check->uid);
        close(ends[0]);
    } else {
        child->pipe = ends[0];
    }
    close(ends[1]);
}

/* Hear what children say until all have ended or the time is up. */
static void hear(struct child *children, size_t count, int64_t until)
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
        if (poll(files, count, (int)rest) < 0 && errno != EINTR)
            return;
        for (size_t i = 0; i < count; i++) {
            struct child *child = &children[i];
            if (child->pipe < 0 || !files[i].revents)
                continue;
            enum { PIECE = 4096 };
            ssize_t length = read(child->pipe, buffer_room(&child->answer, PIECE), PIECE);
            if (length > 0 && child->answer.length < ANSWER_MAX) {
                child->answer.length += (size_t)length;
            } else if (length >= 0 || errno != EINTR) {
                close(child->pipe);
                child->pipe = -1;
            }
        }
    }
}

static void understand(struct arena *arena, struct child *child)
{
    struct access_check *check = child->check;
    struct text rest = buffer_text(&child->answer), field;
    size_t path = 0;
    bool whole = false, denied = false;
    while (rest.length && text_next(&rest, '\0', &field)) {
        if (field.length == 0)
            continue;
        struct text said = arena_text(arena, field.data + 1, field.length - 1);
        if (field.data[0] == 'g')
            check->groups = said;
        else if (field.data[0] == '+' && path < check->count)
            check->paths[path++].resolved = said;
        else if (field.data[0] == '.')
            whole = true;
        else if (field.data[0] == '-') {
            path++;
            if (!denied)
                error_set(&check->error, "%s", said.data);
            denied = true;
        }
    }
    if (denied)
        check->outcome = ACCESS_DENIED;
    else if (whole && path == check->count)
        check->outcome = ACCESS_GRANTED;
}

static void check_some(struct arena *arena, struct access_check *const *checks, size_t count,
                       int64_t timeout)
{
    struct child children[AT_A_TIME];
    for (size_t i = 0; i < count; i++)
        start(&children[i], checks[i]);
    hear(children, count, clock_elapsed() + timeout);
    for (size_t i = 0; i < count; i++) {
        struct child *child = &children[i];
        if (child->process > 0) {
            bool finished = child->pipe < 0;
            error_set(&child->check->error, "the paths of user %u could not be looked at%s",
                      child->check->uid,
                      finished ? "" : " in time: a file server or the user directory is slow");
            if (!finished)
                close(child->pipe);
            reap(child->process, finished);
            understand(arena, child);
        }
        buffer_free(&child->answer);
    }
}

void access_check_all(struct arena *arena, struct access_check *const *checks, size_t count,
                      int64_t timeout)
{
    reap_left();
    for (size_t at = 0; at < count; at += AT_A_TIME)
        check_some(arena, checks + at, count - at < AT_A_TIME ? count - at : AT_A_TIME, timeout);
}
