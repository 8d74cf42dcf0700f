/* web/listen.c - the sockets at which a porter takes connections */
#include "web/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, FIRST_GIVEN = 3, MOST_GIVEN = 16 };

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

int listen_local(const char *path, struct error *error)
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

/* Any address of a machine, as bind() takes it. */
union place {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* Read the address.  Its length, or 0: it is none. */
static socklen_t read_place(struct text address, union place *place)
{
    char name[INET6_ADDRSTRLEN];
    const char *colon = strrchr(address.data, ':');
    int64_t port = colon ? text_number(text_of(colon + 1), 65535) : -1;
    if (port < 0)
        return 0;
    struct text host = {address.data, (size_t)(colon - address.data)};
    bool six = host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    if (six)
        host = (struct text){host.data + 1, host.length - 2};
    text_copy(name, sizeof(name), host);
    memset(place, 0, sizeof(*place));
    if (six) {
        place->six.sin6_family = AF_INET6;
        place->six.sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, name, &place->six.sin6_addr) == 1 ? sizeof(place->six) : 0;
    }
    place->four.sin_family = AF_INET;
    place->four.sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, name, &place->four.sin_addr) == 1 ? sizeof(place->four) : 0;
}

int listen_network(struct text address, struct error *error)
{
    union place place;
    socklen_t length = read_place(address, &place);
    struct error_quote_buffer buffer;
    const char *quoted = error_quote(&buffer, address.data, address.length);
    int on = 1;
    if (!length)
        return error_set(error,
                         "web.listen: found \"%s\", expected ADDRESS:PORT such as 127.0.0.1:8080",
                         quoted);
    int listener = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return error_errno(error, "a socket could not be opened");
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener, &place.any, length) || listen(listener, BACKLOG)) {
        error_errno(error, "%s cannot be listened at", quoted);
        close(listener);
        return -1;
    }
    return listener;
}

/* Is it a socket of that kind at which somebody can listen? */
static bool is_listener(int file, int domain)
{
    int own = 0, listens = 0;
    socklen_t size = sizeof(own);
    return getsockopt(file, SOL_SOCKET, SO_DOMAIN, &own, &size) == 0 &&
           getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
           (own == domain || (own == AF_INET6 && domain == AF_INET));
}

int listen_given(int domain)
{
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    int64_t files = text_number(text_of(count), MOST_GIVEN);
    if (!process || files < 1 || text_number(text_of(process), INT_MAX) != getpid())
        return -1;
    for (int file = FIRST_GIVEN; file < FIRST_GIVEN + files; file++) {
        if (!is_listener(file, domain))
            continue;
        fcntl(file, F_SETFD, FD_CLOEXEC);
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
        return file;
    }
    return -1;
}

const char *listen_path(int listener, char path[static LISTEN_PATH_SIZE])
{
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t length = sizeof(address);
    bool named = getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
                 address.sun_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path) &&
                 address.sun_path[0];
    if (!named)
        return NULL;
    size_t most = length - offsetof(struct sockaddr_un, sun_path);
    text_copy(path, LISTEN_PATH_SIZE,
              (struct text){address.sun_path, strnlen(address.sun_path, most)});
    return path;
}
