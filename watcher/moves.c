/* watcher/moves.c - the names that leave a few directories, or that come into them
 *
 * The kernel keeps 16,384 events by default; what comes on top is lost, which it says.
 */
#include "watcher/moves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "watcher/mount.h"

enum { READ_SIZE = 32768 }; /* bytes */

struct moves {
    int inotify;
    bool broken; /* a directory is no longer watched */
    char *events;
};

static bool watch_one(int inotify, int directory, uint32_t mask)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
    return mount_is_local(directory) && inotify_add_watch(inotify, path, mask | IN_ONLYDIR) >= 0;
}

struct moves *moves_open(enum moves_way way, const int *directories, size_t count)
{
    int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    bool all = inotify >= 0;
    for (size_t i = 0; i < count && all; i++)
        all = watch_one(inotify, directories[i],
                        way == MOVES_OUT ? IN_MOVED_FROM | IN_DELETE : IN_MOVED_TO | IN_CREATE);
    if (!all && inotify >= 0)
        close(inotify);
    if (!all)
        return NULL;
    struct moves *moves = memory_allocate(sizeof(*moves));
    *moves = (struct moves){.inotify = inotify, .events = memory_resize(NULL, READ_SIZE)};
    return moves;
}

void moves_close(struct moves *moves)
{
    if (!moves)
        return;
    close(moves->inotify);
    free(moves->events);
    free(moves);
}

/* Hand out what was read.  False when events were lost. */
static bool hand_out(struct moves *moves, size_t count, moves_visit *visit, void *context)
{
    bool whole = true;
    for (size_t at = 0; at < count;) {
        const struct inotify_event *event =
            (const struct inotify_event *)(const void *)(moves->events + at);
        at += sizeof(*event) + event->len;
        moves->broken = moves->broken || event->mask & (IN_IGNORED | IN_UNMOUNT);
        whole = whole && !(event->mask & IN_Q_OVERFLOW);
        if (event->len)
            visit(context, text_of(event->name));
    }
    return whole;
}

bool moves_collect(struct moves *moves, moves_visit *visit, void *context)
{
    bool whole = true;
    for (;;) {
        ssize_t count = read(moves->inotify, moves->events, READ_SIZE);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return whole && !moves->broken;
        if (count <= 0) {
            moves->broken = true;
            return false;
        }
        whole = hand_out(moves, (size_t)count, visit, context) && whole;
    }
}
