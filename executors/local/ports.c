/* executors/local/ports.c - ports of this machine that jobs listen on */
#include "executors/local/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct text local_ports_label(struct arena *arena, const struct local_manifest *manifest)
{
    struct buffer ports = {0};
    for (size_t i = 0; i < manifest->listen_count; i++)
        buffer_printf(&ports, "%s%d", i ? " " : "", manifest->listen[i]);
    struct text label = arena_text(arena, ports.data ? ports.data : "", ports.length);
    buffer_free(&ports);
    return label;
}

static bool has_port(const struct podman_container *container, int port)
{
    struct text rest = text_of(local_label(container, "listen")), word;
    while (text_next(&rest, ' ', &word))
        if (strtol(word.data, NULL, 10) == port)
            return true;
    return false;
}

/* The living container of another job that has the port, or NULL. */
static const struct podman_container *holder_of(const struct layout *layout,
                                                const struct podman_container *containers,
                                                size_t count, int port)
{
    for (size_t i = 0; i < count; i++) {
        const struct podman_container *container = &containers[i];
        bool living = !container->infra && container->state != PODMAN_STATE_ENDED &&
                      container->state != PODMAN_STATE_GONE;
        if (living && has_port(container, port) &&
            !local_is_of_job(layout->specification.local, container, layout->submission->id,
                             layout->submission->attempt))
            return container;
    }
    return NULL;
}

/* An earlier layout of the batch that has the port, or NULL. */
static const struct layout *earlier_layout(const struct batch *batch, const struct layout *layout,
                                           int port)
{
    for (const struct layout *other = batch->layouts; other < layout; other++)
        for (size_t i = 0; !other->decided && i < other->manifest->listen_count; i++)
            if (other->manifest->listen[i] == port)
                return other;
    return NULL;
}

/* Does anybody listen on the port?  When that cannot be determined: no. */
static bool is_bound(int port, int family)
{
    int socket_of = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_of < 0)
        return false;
    const int on = 1;
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const struct sockaddr *address = family == AF_INET ? (const struct sockaddr *)(void *)&any4
                                                       : (const struct sockaddr *)(void *)&any6;
    socklen_t length = family == AF_INET ? sizeof(any4) : sizeof(any6);
    /* Connections in TIME_WAIT do not keep a server, or this check, from the port. */
    setsockopt(socket_of, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET6)
        setsockopt(socket_of, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    bool bound = bind(socket_of, address, length) && errno == EADDRINUSE;
    close(socket_of);
    return bound;
}

static void take_port(struct batch *batch, struct layout *layout,
                      const struct podman_container *containers, size_t count, int port)
{
    static const char what[] = "of this machine, which the job is to listen on, is";
    const struct podman_container *holder = holder_of(layout, containers, count, port);
    const struct layout *earlier = earlier_layout(batch, layout, port);
    struct error *error = &layout->submission->error;
    if (holder || earlier)
        error_set(error, "port %d %s that of job %s", port, what,
                  holder ? local_label(holder, "job") : earlier->submission->id);
    /* A task of this job that runs already may be the one that listens. */
    else if (!layout_has_started(layout) && (is_bound(port, AF_INET) || is_bound(port, AF_INET6)))
        error_set(error, "port %d %s in use", port, what);
    else
        return;
    layout_decide(layout, SUBMIT_NO_ROOM);
}

void local_ports_take(struct batch *batch, const struct podman_container *containers, size_t count)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        for (size_t j = 0; !layout->decided && j < layout->manifest->listen_count; j++)
            take_port(batch, layout, containers, count, layout->manifest->listen[j]);
    }
}
