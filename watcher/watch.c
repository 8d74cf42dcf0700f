/* watcher/watch.c - the names in one directory that need a look
 *
 * The watch is set before the first scan, and the queue is read before and after each scan, so a
 * name that appears during a scan is in one or the other (setting the watch afterwards loses
 * files).  When a scan is due, events may fill only half of the table, so that a flood of events
 * cannot keep the scan from finding names without events.
 */
#include "watcher/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "base/system.h"
#include "watcher/mount.h"

enum {
    DEFAULT_INTERVAL = 5000,
    DEFAULT_REMOTE_INTERVAL = 2000,
    DEFAULT_NAMES = 16384, /* as many as inotify's queue holds */
    LONGEST_REST = 10000,  /* milliseconds to rest after a scan at most, however long it took */
    INOTIFY_RETRY = 60000, /* milliseconds until inotify is tried again */
    READ_SIZE = 65536,     /* bytes, for events and for directory entries */
    SCAN_SHARE = 100,      /* where scans are only an insurance: one in so much of the time */
};

/* Without IN_MODIFY: a file that must become quiet is looked at anyway, and a writer of many small
 * pieces would wake us for each. */
static const uint32_t event_mask = IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_ATTRIB |
                                   IN_DELETE_SELF | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR;

struct scan {
    int file; /* -1: no scan is running */
    int64_t began;
    bool missed;        /* events, as far as is known when it begins */
    unsigned int flags; /* of the names that it finds */
    size_t at, filled;  /* bytes of `entries` */
    char *entries;      /* READ_SIZE bytes, while a scan is running */
};

struct watch {
    char *path;
    int directory, inotify;
    bool local, warned, owed; /* owed: a scan is wanted before `due` */
    bool missed;              /* events: names may have changed untold */
    const char *lost;         /* what happened to the directory; NULL: nothing */
    int64_t interval, remote_interval, longest;
    int64_t due;      /* when the next regular scan begins, */
    int64_t usual;    /* and when it would begin after the interval */
    int64_t earliest; /* when a scan that is owed may begin */
    int64_t looking;  /* since when a part of a scan is found and handed out; 0: that is not so */
    int64_t cost;     /* milliseconds that the parts of this scan have taken */
    uint64_t scans;   /* that have ended well */
    int64_t inotify_retry;
    struct names *names; /* payload: unsigned int, WATCH_ flags */
    size_t limit;
    struct scan scan;
    char *events; /* READ_SIZE bytes */
};

static int open_inotify(const struct watch *watch)
{
    char path[64];
    int inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (inotify < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", watch->directory);
    if (inotify_add_watch(inotify, path, event_mask) < 0) {
        int keep = errno;
        close(inotify);
        errno = keep;
        return -1;
    }
    return inotify;
}

/* Set up inotify, or log once that it is not available. */
static void want_inotify(struct watch *watch, int64_t now)
{
    if (watch->inotify >= 0 || now < watch->inotify_retry)
        return;
    watch->inotify = open_inotify(watch);
    watch->inotify_retry = now + INOTIFY_RETRY;
    if (watch->inotify < 0 && !watch->warned)
        log_warn("%s: inotify is not available (%s); new files are found by scanning every %g s",
                 watch->path, strerror(errno), (double)watch->remote_interval / 1000.0);
    else if (watch->inotify >= 0 && watch->warned)
        log_say("%s: inotify is available again", watch->path);
    watch->warned = watch->inotify < 0;
}

static void drop_inotify(struct watch *watch)
{
    if (watch->inotify >= 0)
        close(watch->inotify);
    watch->inotify = -1;
    watch->owed = true;
}

struct watch *watch_open(int directory, const char *path, const struct watch_settings *settings,
                         struct error *error)
{
    static const struct watch_settings defaults;
    if (!settings)
        settings = &defaults;
    int own = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (own < 0) {
        error_errno(error, "%s cannot be watched; it must be a directory that can be read", path);
        return NULL;
    }
    struct watch *watch = memory_allocate(sizeof(*watch));
    *watch = (struct watch){
        .path = memory_copy_string(path),
        .directory = own,
        .inotify = -1,
        .local = mount_is_local(own),
        .owed = true,
        .interval = settings->interval ? settings->interval : DEFAULT_INTERVAL,
        .remote_interval =
            settings->remote_interval ? settings->remote_interval : DEFAULT_REMOTE_INTERVAL,
        .longest = settings->longest,
        .limit = settings->names ? settings->names : DEFAULT_NAMES,
        .scan = {.file = -1},
        .events = memory_resize(NULL, READ_SIZE),
    };
    watch->names = names_new(watch->limit, sizeof(unsigned int));
    want_inotify(watch, clock_elapsed());
    return watch;
}

static void end_scan(struct watch *watch)
{
    if (watch->scan.file >= 0)
        sys.close(watch->scan.file);
    free(watch->scan.entries);
    watch->scan = (struct scan){.file = -1};
}

void watch_close(struct watch *watch)
{
    if (!watch)
        return;
    end_scan(watch);
    if (watch->inotify >= 0)
        close(watch->inotify);
    sys.close(watch->directory);
    names_free(watch->names);
    free(watch->events);
    free(watch->path);
    free(watch);
}

int watch_descriptor(const struct watch *watch)
{
    return watch->inotify;
}

int64_t watch_due(const struct watch *watch)
{
    if (names_count(watch->names) > 0 || watch->scan.file >= 0)
        return 0;
    return watch->owed && watch->earliest < watch->due ? watch->earliest : watch->due;
}

bool watch_lost(const struct watch *watch)
{
    return watch->lost != NULL;
}

bool watch_hears_all(const struct watch *watch)
{
    return watch->local && watch->inotify >= 0;
}

uint64_t watch_scans(const struct watch *watch)
{
    return watch->scans;
}

void watch_rescan(struct watch *watch)
{
    watch->owed = true;
}

void watch_expect(struct watch *watch)
{
    watch->due = watch->usual;
}

/* A part of a scan was found and handed out.  When it was the last one, the next scan waits as long as all of them ask
 * for. */
static void note_cost(struct watch *watch)
{
    int64_t now = clock_elapsed();
    watch->cost += now - watch->looking;
    watch->looking = 0;
    if (watch->scan.file >= 0)
        return;
    int64_t rest = watch->cost * (SCAN_SHARE - 1);
    watch->cost = 0;
    if (!watch_hears_all(watch))
        return;
    rest = rest < watch->longest ? rest : watch->longest;
    if (watch->due < now + rest)
        watch->due = now + rest;
}

bool watch_next(struct watch *watch, struct watch_name *name)
{
    unsigned int *flags = names_first(watch->names);
    if (!flags) {
        if (watch->looking)
            note_cost(watch);
        return false;
    }
    struct text text = names_text(flags);
    memcpy(name->name, text.data, text.length + 1);
    name->length = text.length;
    name->flags = *flags;
    names_remove(watch->names, flags);
    return true;
}

/* Remember a name.  False when there is no room for it. */
static bool note_name(struct watch *watch, const char *name, unsigned int seen)
{
    struct text text = text_of(name);
    if (text.length == 0 || text.length > NAME_MAX || name[0] == '.')
        return true;
    unsigned int *flags = names_find(watch->names, text);
    if (!flags)
        flags = names_add(watch->names, text);
    if (!flags)
        return false;
    *flags |= seen;
    return true;
}

static unsigned int flags_of(uint32_t mask)
{
    return (mask & IN_MOVED_TO ? (unsigned int)WATCH_RENAMED_IN : 0) |
           (mask & IN_CLOSE_WRITE ? (unsigned int)WATCH_CLOSED : 0) |
           (mask & (IN_CREATE | IN_ATTRIB) ? (unsigned int)WATCH_CHANGED : 0);
}

static void take_event(struct watch *watch, const struct inotify_event *event)
{
    if (event->mask & IN_Q_OVERFLOW)
        watch->owed = watch->missed = true;
    else if (event->mask & IN_MOVE_SELF)
        watch->lost = "renamed";
    else if (event->mask & IN_UNMOUNT)
        watch->lost = "unmounted";
    else if (event->mask & (IN_DELETE_SELF | IN_IGNORED))
        watch->lost = watch->lost ? watch->lost : "removed";
    else if (event->len > 0 && !note_name(watch, event->name, flags_of(event->mask)))
        watch->owed = watch->missed = true;
}

/* Read what inotify has queued, until it is empty or `capacity` names wait. */
static void read_events(struct watch *watch, size_t capacity)
{
    while (watch->inotify >= 0 && names_count(watch->names) < capacity) {
        ssize_t count = read(watch->inotify, watch->events, READ_SIZE);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0) {
            log_warn("%s: inotify failed (%s); scanning until it is started again", watch->path,
                     strerror(errno));
            drop_inotify(watch);
            return;
        }
        for (ssize_t at = 0; at < count;) {
            const struct inotify_event *event =
                (const struct inotify_event *)(const void *)(watch->events + at);
            take_event(watch, event);
            at += (ssize_t)(sizeof(*event) + event->len);
        }
        /* An event of the largest size would have fitted, so the queue is empty: saves a read. */
        if ((size_t)count + sizeof(struct inotify_event) + NAME_MAX + 1 < READ_SIZE)
            return;
    }
}

static int64_t interval_of(const struct watch *watch)
{
    return watch_hears_all(watch) ? watch->interval : watch->remote_interval;
}

static int begin_scan(struct watch *watch, int64_t now)
{
    bool missed = watch->missed || watch->inotify < 0;
    want_inotify(watch, now);
    watch->owed = watch->missed = false;
    watch->scan.missed = missed;
    watch->scan.flags = missed ? WATCH_SEEN | WATCH_CHANGED : WATCH_SEEN;
    watch->scan.began = now;
    watch->scan.file = sys.openat(watch->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (watch->scan.file < 0)
        return -1;
    watch->scan.entries = memory_resize(NULL, READ_SIZE);
    return 0;
}

/* Read the next buffer of entries: 1 when there is one, 0 at the end, -1 with errno set. */
static int fill_entries(struct scan *scan)
{
    ssize_t count;
    do
        count = sys.getdents(scan->file, scan->entries, READ_SIZE);
    while (count < 0 && errno == EINTR);
    scan->at = 0;
    scan->filled = count > 0 ? (size_t)count : 0;
    return count < 0 ? -1 : count > 0;
}

/* Scan until the end or until no more names fit.  -1 with errno set. */
static int scan_some(struct watch *watch)
{
    struct scan *scan = &watch->scan;
    for (;;) {
        while (scan->at < scan->filled) {
            const struct dirent64 *entry =
                (const struct dirent64 *)(const void *)(scan->entries + scan->at);
            if (!note_name(watch, entry->d_name, watch->scan.flags))
                return 0;
            scan->at += entry->d_reclen;
        }
        int more = fill_entries(scan);
        if (more < 0)
            return -1;
        if (more == 0)
            break;
    }
    int64_t now = clock_elapsed();
    int64_t took = now - scan->began;
    int64_t rest = took < LONGEST_REST ? took : LONGEST_REST;
    int64_t interval = interval_of(watch);
    end_scan(watch);
    watch->scans++;
    watch->earliest = now + rest;
    watch->due = watch->usual = now + (interval > rest ? interval : rest);
    return 0;
}

static int scan_if_wanted(struct watch *watch, int64_t now, struct error *error)
{
    if (watch->scan.file < 0 && begin_scan(watch, now))
        goto fail;
    watch->looking = watch->looking ? watch->looking : now;
    if (scan_some(watch))
        goto fail;
    return 0;
fail:
    /* Our own descriptor keeps a removed directory alive, so that IN_DELETE_SELF does not come. */
    if (errno == ENOENT || errno == ESTALE)
        watch->lost = errno == ESTALE ? "removed, or forgotten by its file server," : "removed";
    error_errno(error, "%s could not be scanned for new files", watch->path);
    watch->missed = watch->missed || watch->scan.missed;
    end_scan(watch);
    watch->owed = true;
    watch->earliest = watch->due = watch->usual = now + interval_of(watch);
    return -1;
}

int watch_collect(struct watch *watch, struct error *error)
{
    int64_t now = clock_elapsed();
    bool idle = names_count(watch->names) == 0;
    bool scan =
        watch->scan.file >= 0 || now >= watch->due || (watch->owed && now >= watch->earliest);
    if (!watch->lost && scan && !idle)
        return 0;
    int result = 0;
    if (!watch->lost)
        read_events(watch, scan ? (watch->limit + 1) / 2 : watch->limit);
    if (!watch->lost && scan) {
        result = scan_if_wanted(watch, now, error);
        read_events(watch, watch->limit);
    }
    if (!watch->lost)
        return result;
    end_scan(watch);
    watch->owed = false;
    watch->due = now + interval_of(watch);
    return error_set(error, "%s was %s while it was being watched", watch->path, watch->lost);
}
