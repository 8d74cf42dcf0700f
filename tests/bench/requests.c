/* tests/bench/requests.c - asks a page of dlspool web for the same again and again, over several connections at once
 *
 * usage: requests SOCKET PATH CONNECTIONS SECONDS
 *
 * Each connection sends its next request when it has the whole reply to the one before.  Prints the number of replies
 * with status 200, of others, the bytes of one reply, and the microseconds of the median reply and of the slowest of
 * a hundred: "replies 12345 others 0 bytes 2345 median 800 slow 2300".
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 256, MOST_TIMES = 1 << 22, ROOM = 4 << 20 };

struct connection {
    char *reply; /* ROOM bytes */
    size_t length;
    int64_t asked; /* microseconds */
};

static struct connection connections[MOST_CONNECTIONS];
static struct pollfd polls[MOST_CONNECTIONS];
static uint32_t times[MOST_TIMES];
static size_t replies, others, bytes, count;
static char request[4096];

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000) + time.tv_nsec / 1000;
}

static void fail(const char *what)
{
    fprintf(stderr, "requests: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void ask(size_t i)
{
    connections[i].length = 0;
    connections[i].asked = now();
    if (send(polls[i].fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
        fail("send");
}

/* The whole length of the reply; 0: not all of its head is there. */
static size_t reply_length(struct connection *connection)
{
    connection->reply[connection->length] = '\0';
    const char *end = strstr(connection->reply, "\r\n\r\n");
    const char *length = strcasestr(connection->reply, "\r\nContent-Length:");
    if (!end || !length || length > end)
        return 0;
    return (size_t)(end + 4 - connection->reply) + strtoul(length + 17, NULL, 10);
}

static void read_reply(size_t i)
{
    struct connection *connection = &connections[i];
    ssize_t got =
        read(polls[i].fd, connection->reply + connection->length, ROOM - 1 - connection->length);
    if (got <= 0)
        fail(got ? "read" : "the connection was closed");
    connection->length += (size_t)got;
    size_t whole = reply_length(connection);
    if (!whole || connection->length < whole)
        return;
    if (strncmp(connection->reply, "HTTP/1.1 200", 12) == 0)
        replies++;
    else
        others++;
    bytes = whole;
    if (count < MOST_TIMES)
        times[count++] = (uint32_t)(now() - connection->asked);
    ask(i);
}

static int compare(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

int main(int words, char **word)
{
    size_t most = words == 5 ? strtoul(word[3], NULL, 10) : 0;
    if (most < 1 || most > MOST_CONNECTIONS ||
        strlen(word[1]) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        fprintf(stderr, "usage: requests SOCKET PATH CONNECTIONS SECONDS\n");
        return 2;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, word[1]);
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", word[2]);
    for (size_t i = 0; i < most; i++) {
        connections[i].reply = malloc(ROOM);
        polls[i] =
            (struct pollfd){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLIN};
        if (!connections[i].reply || polls[i].fd < 0 ||
            connect(polls[i].fd, (struct sockaddr *)&address, sizeof(address)))
            fail(word[1]);
        ask(i);
    }
    for (int64_t end = now() + 1000000 * strtol(word[4], NULL, 10); now() < end;) {
        if (poll(polls, most, 1000) < 0)
            fail("poll");
        for (size_t i = 0; i < most; i++)
            if (polls[i].revents)
                read_reply(i);
    }
    qsort(times, count, sizeof(*times), compare);
    printf("replies %zu others %zu bytes %zu median %u slow %u\n", replies, others, bytes,
           count ? times[count / 2] : 0, count ? times[count - 1 - count / 100] : 0);
    return 0;
}
