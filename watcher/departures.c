/* watcher/departures.c - the names that leave a few directories
 *
 * The kernel keeps 16,384 events by default; what comes on top is lost, which it says.
 */
#include "watcher/departures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "watcher/mount.h"

enum { READ_SIZE = 32768 }; /* bytes */

struct departures {
    int inotify;
    bool broken; /* a directory is no longer watched */
    char *events;
};

static bool watch_one(int inotify, int directory)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
    return mount_is_local(directory) &&
           inotify_add_watch(inotify, path, IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR) >= 0;
}

struct departures *departures_open(const int *directories, size_t count)
{
    int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    bool all = inotify >= 0;
    for (size_t i = 0; i < count && all; i++)
        all = watch_one(inotify, directories[i]);
    if (!all && inotify >= 0)
        close(inotify);
    if (!all)
        return NULL;
    struct departures *departures = memory_allocate(sizeof(*departures));
    *departures = (struct departures){.inotify = inotify, .events = memory_resize(NULL, READ_SIZE)};
    return departures;
}

void departures_close(struct departures *departures)
{
    if (!departures)
        return;
    close(departures->inotify);
    free(departures->events);
    free(departures);
}

/* Hand out what was read.  False when events were lost. */
static bool hand_out(struct departures *departures, size_t count, departures_visit *visit,
                     void *context)
{
    bool whole = true;
    for (size_t at = 0; at < count;) {
        const struct inotify_event *event =
            (const struct inotify_event *)(const void *)(departures->events + at);
        at += sizeof(*event) + event->len;
        departures->broken = departures->broken || event->mask & (IN_IGNORED | IN_UNMOUNT);
        whole = whole && !(event->mask & IN_Q_OVERFLOW);
        if (event->len)
            visit(context, text_of(event->name));
    }
    return whole;
}

bool departures_collect(struct departures *departures, departures_visit *visit, void *context)
{
    bool whole = true;
    for (;;) {
        ssize_t count = read(departures->inotify, departures->events, READ_SIZE);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return whole && !departures->broken;
        if (count <= 0) {
            departures->broken = true;
            return false;
        }
        whole = hand_out(departures, (size_t)count, visit, context) && whole;
    }
}
