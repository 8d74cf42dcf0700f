/* web/doors.c - the doors of a porter */
#include "web/doors.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "web/child.h"
#include "web/pass.h"

enum { MOST_DOORS = 64 };

/* A user who owns nothing. */
static const struct passwd *door_user(void)
{
    const struct passwd *user = getpwnam("dlspool-web");
    return user ? user : getpwnam("nobody");
}

int doors_start(struct doors *doors, int connection, bool proxy, struct error *error)
{
    char program[] = "dlspool", verb[] = "web", option[] = "--door", network[] = "network",
         of_proxy[] = "proxy";
    char *const arguments[] = {program, verb, option, proxy ? of_proxy : network, NULL};
    const struct passwd *user = geteuid() == 0 ? door_user() : NULL;
    int sockets[2];
    if (doors->count == MOST_DOORS) {
        shutdown(doors->items[0].connection, SHUT_RDWR);
        doors_end(doors, 0);
    }
    if (!doors->items)
        doors->items = memory_allocate(MOST_DOORS * sizeof(*doors->items));
    if ((geteuid() == 0 && !user) || pass_pair(sockets)) {
        error_errno(error, "a door could not be opened");
        close(connection);
        return -1;
    }
    /* The door waits in recv(); the page gets the connection as it was. */
    fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) & ~O_NONBLOCK);
    fcntl(sockets[1], F_SETFL, fcntl(sockets[1], F_GETFL) & ~O_NONBLOCK);
    const int descriptors[] = {sockets[1], connection};
    pid_t process = child_start(arguments, user, descriptors, 2);
    close(sockets[1]);
    if (process < 0) {
        error_errno(error, "a door could not be opened");
        close(sockets[0]);
        close(connection);
        return -1;
    }
    doors->items[doors->count++] = (struct door_process){process, sockets[0], connection, proxy};
    return 0;
}

bool doors_claim(const struct doors *doors, size_t at, struct door_claim *claim)
{
    if (recv(doors->items[at].socket, claim, sizeof(*claim), 0) != (ssize_t)sizeof(*claim))
        return false;
    claim->word[sizeof(claim->word) - 1] = '\0';
    return true;
}

void doors_answer(const struct doors *doors, size_t at, const char *why)
{
    struct door_answer answer;
    memset(&answer, 0, sizeof(answer));
    answer.taken = !why;
    snprintf(answer.why, sizeof(answer.why), "%s", why ? why : "");
    send(doors->items[at].socket, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void doors_end(struct doors *doors, size_t at)
{
    close(doors->items[at].socket);
    close(doors->items[at].connection);
    doors->count--;
    memmove(&doors->items[at], &doors->items[at + 1], (doors->count - at) * sizeof(*doors->items));
}

void doors_free(struct doors *doors)
{
    while (doors->count)
        doors_end(doors, doors->count - 1);
    free(doors->items);
    doors->items = NULL;
}
