/* executors/local/access.c - may this user have these paths?
 *
 * The child writes fields that end in NUL: 'g' and the groups, then for each path '+' and what it
 * resolves to, or '-' and a sentence and perhaps '!' and what can be done, and '.' at the end.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "executors/home_path.h"
#include "executors/local/look.h"
#include "executors/local/process.h"

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

static void write_field(int pipe, char kind, const char *text)
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

/* Become the user with all their groups, and say them.  -1 with errno set when that fails. */
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

static char *copy_of(struct text text)
{
    char *copy = memory_allocate(text.length + 1);
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return copy;
}

static void look_at_path(int pipe, const struct access_path *path, const struct user *user)
{
    struct look look = {.uid = user->uid};
    char *name = copy_of(path->path), *entry = path->entry.length ? copy_of(path->entry) : NULL;
    memcpy(look.user, user->name, sizeof(look.user));
    const struct look_wanted wanted = {name, path->write, entry, path->executable};
    if (look_at(&look, &wanted)) {
        write_field(pipe, '+', look.resolved.data);
    } else {
        write_field(pipe, '-', look.sentence.data);
        if (look.remedy.length)
            write_field(pipe, '!', look.remedy.data);
    }
    look_free(&look);
    free(name);
    free(entry);
}

/* The home directory that the system names, where it is one, and the user's own: 'h' as it is
 * written, and 'H' as it resolves. */
static void look_for_home(int pipe, uid_t uid)
{
    enum { ALL = R_OK | W_OK | X_OK };
    const struct passwd *entry = getpwuid(uid);
    struct stat status;
    if (!entry || !entry->pw_dir || !home_path_fits(entry->pw_dir))
        return;
    char *resolved = realpath(entry->pw_dir, NULL);
    if (resolved && home_path_fits(resolved) && !stat(resolved, &status) &&
        S_ISDIR(status.st_mode) && status.st_uid == uid &&
        faccessat(AT_FDCWD, resolved, ALL, AT_EACCESS) == 0) {
        write_field(pipe, 'h', entry->pw_dir);
        write_field(pipe, 'H', resolved);
    }
    free(resolved);
}

static _Noreturn void check_access(const struct access_check *check, int pipe)
{
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    /* No lock of ours may outlive us in a child that hangs. */
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
    if (pipe2(ends, O_CLOEXEC)) {
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

/* Hear what children say until all have ended or the time is up. */
static void hear_children(struct child *children, size_t count, int64_t until)
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
            if (child->pipe < 0 || !files[i].revents)
                continue;
            enum { PIECE = 4096 };
            ssize_t length = read(child->pipe, buffer_reserve(&child->answer, PIECE), PIECE);
            if (length > 0 && child->answer.length < ANSWER_MAX) {
                child->answer.length += (size_t)length;
            } else if (length >= 0 || errno != EINTR) {
                close(child->pipe);
                child->pipe = -1;
            }
        }
    }
}

/* Read what the process that had the user's rights wrote: fields, the first byte of which says
 * what each is.  Access is granted only when all paths were reached and the answer is whole. */
static void read_answer(struct arena *arena, struct child *child)
{
    struct access_check *check = child->check;
    struct text rest = buffer_text(&child->answer), field;
    size_t path = 0;
    bool whole = false, denied = false, first = false;
    while (rest.length && text_next(&rest, '\0', &field)) {
        if (field.length == 0)
            continue;
        struct text said = arena_text(arena, field.data + 1, field.length - 1);
        if (field.data[0] == 'g')
            check->groups = said;
        else if (field.data[0] == 'h')
            check->home = said;
        else if (field.data[0] == 'H')
            check->home_resolved = said;
        else if (field.data[0] == '+' && path < check->count)
            check->paths[path++].resolved = said;
        else if (field.data[0] == '.')
            whole = true;
        else if (field.data[0] == '-') {
            path++;
            first = !denied;
            if (first)
                error_set(&check->error, "%s", said.data);
            denied = true;
        } else if (field.data[0] == '!' && first) {
            check->remedy = said;
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
        start_child(&children[i], checks[i]);
    hear_children(children, count, clock_elapsed() + timeout);
    for (size_t i = 0; i < count; i++) {
        struct child *child = &children[i];
        if (child->process > 0) {
            bool finished = child->pipe < 0;
            error_set(&child->check->error, "the paths of user %u could not be looked at%s",
                      child->check->uid,
                      finished ? "" : " in time: a file server or the user directory is slow");
            if (!finished)
                close(child->pipe);
            reap_child(child->process, finished);
            read_answer(arena, child);
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
