/* stages/users.c - looks up users by their numbers */
#include "stages/users.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "executors/home_path.h"
#include "stages/helper.h"

enum { REMEMBERED = 64, ANSWER_PATIENCE = 5000 }; /* users; milliseconds */
static const gid_t nogroup = 65534;
static const int64_t remember_for = 60000; /* milliseconds */

static int lookup = -1; /* the socket to the process that looks up */

static struct {
    struct user user;
    int64_t until; /* of clock_elapsed; 0: free */
} remembered[REMEMBERED];

/* Tasks of root get no home: root's own has files that nobody else may read. */
static void take_home(struct user *user, const char *directory)
{
    size_t length = directory ? strlen(directory) : 0;
    if (user->uid == 0 || length == 0 || length >= sizeof(user->home) || !home_path_fits(directory))
        return;
    while (length > 1 && directory[length - 1] == '/')
        length--;
    if (utf8_valid((struct text){directory, length}))
        memcpy(user->home, directory, length);
}

static void look_up(uid_t uid, struct user *user)
{
    *user = (struct user){.uid = uid, .gid = nogroup};
    const struct passwd *entry = getpwuid(uid);
    if (entry) {
        user->known = true;
        user->gid = entry->pw_gid;
        take_home(user, entry->pw_dir);
    }
    if (entry && strlen(entry->pw_name) < sizeof(user->name))
        memcpy(user->name, entry->pw_name, strlen(entry->pw_name) + 1);
    else
        snprintf(user->name, sizeof(user->name), "%u", uid);
}

static void answer_lookups(int socket, void *context)
{
    (void)context;
    uid_t uid;
    struct user user;
    while (recv(socket, &uid, sizeof(uid), 0) == (ssize_t)sizeof(uid)) {
        look_up(uid, &user);
        if (send(socket, &user, sizeof(user), MSG_NOSIGNAL) < 0)
            return;
    }
}

int users_start(struct error *error)
{
    return helper_start("users", "looks up users", answer_lookups, NULL, &lookup, NULL, error);
}

/* Ask the process.  When it does not answer, the user's number serves as the name. */
static void ask_process(uid_t uid, struct user *user)
{
    struct pollfd answer = {.fd = lookup, .events = POLLIN};
    *user = (struct user){.uid = uid, .gid = nogroup};
    snprintf(user->name, sizeof(user->name), "%u", uid);
    if (send(lookup, &uid, sizeof(uid), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    struct user answered;
    while (poll(&answer, 1, ANSWER_PATIENCE) > 0) {
        ssize_t length = recv(lookup, &answered, sizeof(answered), MSG_DONTWAIT);
        if (length != (ssize_t)sizeof(answered))
            return;
        /* Ignore an answer to an earlier question that came too late. */
        if (answered.uid == uid) {
            *user = answered;
            user->name[sizeof(user->name) - 1] = user->home[sizeof(user->home) - 1] = '\0';
            return;
        }
    }
}

void users_find(uid_t uid, struct user *user)
{
    size_t slot = uid % REMEMBERED;
    int64_t now = clock_elapsed();
    if (remembered[slot].until > now && remembered[slot].user.uid == uid) {
        *user = remembered[slot].user;
        return;
    }
    if (lookup >= 0)
        ask_process(uid, user);
    else
        look_up(uid, user);
    remembered[slot].user = *user;
    remembered[slot].until = now + remember_for;
}
