/* base/notify.c - tells systemd the state of the service: sd_notify(3), without its library */
#include "base/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address;
static socklen_t address_size; /* 0: nobody listens */

/* A path, or `@` and the name of an abstract socket. */
static void take_address(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    address_size = 0;
    if (length < 2 || length >= sizeof(address.sun_path) || (name[0] != '/' && name[0] != '@'))
        return;
    address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* A whole number, or 0. */
static int64_t number_of(const char *text)
{
    char *end;
    errno = 0;
    long long number = text ? strtoll(text, &end, 10) : 0;
    return text && *text && !*end && !errno && number > 0 ? number : 0;
}

int64_t notify_open(void)
{
    const char *process = getenv("WATCHDOG_PID");
    int64_t watchdog = number_of(getenv("WATCHDOG_USEC")) / 1000;
    if (process && number_of(process) != getpid())
        watchdog = 0;
    take_address(getenv("NOTIFY_SOCKET"));
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return address_size ? watchdog : 0;
}

void notify_send(const char *format, ...)
{
    char message[2048];
    va_list arguments;
    if (!address_size)
        return;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof(message))
        length = sizeof(message) - 1;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return;
    sendto(descriptor, message, (size_t)length, MSG_NOSIGNAL, (struct sockaddr *)&address,
           address_size);
    close(descriptor);
}
