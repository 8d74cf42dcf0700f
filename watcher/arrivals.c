/* watcher/arrivals.c - the files in the drop directory that are complete
 *
 * Those that wait are kept in the order in which they came; when the first of them is due, one
 * round goes over all.  Rounds are SHORTEST_ROUND apart, which bounds the work when many files
 * are due at many times.
 */
#include "watcher/arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/system.h"
#include "watcher/mount.h"
#include "watcher/names.h"
#include "watcher/probe.h"

enum {
    DEFAULT_PENDING = 16384,
    DEFAULT_NOTICE = 60000,
    SHORTEST_ROUND = 20,        /* milliseconds */
    FIRST_LOOK = 20,            /* milliseconds that a new file is left alone: most are closed
                                 * by then, which is one look instead of two */
    TROUBLE_LOOK = 1000,        /* milliseconds until the next look after one that failed */
};

struct pending {
    struct settle_memory memory;
    int64_t due;                /* when to look next */
    unsigned int flags;         /* what came since the last look */
    bool noticed;
};

struct arrivals {
    char *path;
    int directory;
    bool local;
    int64_t notice;
    struct settle_settings settle;
    struct watch *watch;
    struct names *pending;      /* payload: struct pending */
    struct pending *cursor;     /* where the round is; NULL: none under way */
    int64_t due;                /* when the next round is to be made */
    struct buffer bytes;        /* room for looks */
    bool troubled;              /* the last look at a file failed, which was said */
};

struct arrivals *arrivals_open(int directory, const char *path,
                               const struct arrivals_settings *settings, struct error *error)
{
    static const struct arrivals_settings defaults;
    if (!settings)
        settings = &defaults;
    struct watch *watch = watch_open(directory, path, &settings->watch, error);
    if (!watch)
        return NULL;
    int own = sys.openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (own < 0) {
        error_errno(error, "%s cannot be opened", path);
        watch_close(watch);
        return NULL;
    }
    struct arrivals *arrivals = memory_allocate(sizeof(*arrivals));
    size_t limit = settings->pending ? settings->pending : DEFAULT_PENDING;
    *arrivals = (struct arrivals){.path = memory_copy_string(path),
                                  .directory = own,
                                  .local = mount_is_local(own),
                                  .notice = settings->notice ? settings->notice : DEFAULT_NOTICE,
                                  .watch = watch,
                                  .pending = names_new(limit, sizeof(struct pending)),
                                  .due = INT64_MAX};
    arrivals->settle = settings->settle ? *settings->settle
                       : arrivals->local ? settle_local
                                         : settle_remote;
    return arrivals;
}

void arrivals_close(struct arrivals *arrivals)
{
    if (!arrivals)
        return;
    watch_close(arrivals->watch);
    names_free(arrivals->pending);
    buffer_free(&arrivals->bytes);
    sys.close(arrivals->directory);
    free(arrivals->path);
    free(arrivals);
}

int arrivals_descriptor(const struct arrivals *arrivals)
{
    return watch_descriptor(arrivals->watch);
}

int64_t arrivals_due(const struct arrivals *arrivals)
{
    int64_t due = watch_due(arrivals->watch);
    if (arrivals->cursor)
        return 0;
    return due < arrivals->due ? due : arrivals->due;
}

int arrivals_collect(struct arrivals *arrivals, struct error *error)
{
    return watch_collect(arrivals->watch, error);
}

bool arrivals_lost(const struct arrivals *arrivals)
{
    return watch_lost(arrivals->watch);
}

void arrivals_rescan(struct arrivals *arrivals)
{
    watch_rescan(arrivals->watch);
}

size_t arrivals_pending(const struct arrivals *arrivals)
{
    return names_count(arrivals->pending);
}

static void forget(struct arrivals *arrivals, struct pending *pending)
{
    if (!pending)
        return;
    if (arrivals->cursor == pending)
        arrivals->cursor = names_after(pending);
    names_remove(arrivals->pending, pending);
}

static void wait_for(struct arrivals *arrivals, struct pending *pending, int64_t due)
{
    pending->due = due;
    if (due < arrivals->due)
        arrivals->due = due;
}

static void hand_out(struct text name, bool refuse, struct arrival *arrival)
{
    memcpy(arrival->name, name.data, name.length);
    arrival->name[name.length] = '\0';
    arrival->length = name.length;
    arrival->refuse = refuse;
}

/* Tell the administrator once of a file that waits for long. */
static void notice(struct arrivals *arrivals, struct pending *pending, struct text name,
                   int64_t now, const struct error *why)
{
    int64_t waited = now - pending->memory.first;
    if (pending->noticed || waited < arrivals->notice)
        return;
    struct error_quote_room room;
    char duration[CLOCK_TEXT_SIZE];
    log_say("%s: \"%s\" has waited for %s: %s", arrivals->path,
            error_quote(&room, name.data, name.length), duration_format(waited, duration),
            why->text);
    pending->noticed = true;
}

/* Files cannot be looked at, for a reason that is not theirs (errno): said once until one can. */
static void say_trouble(struct arrivals *arrivals, struct text name)
{
    struct error_quote_room room;
    const char *reason = strerror(errno);
    if (!arrivals->troubled)
        log_warn("%s: \"%s\" cannot be looked at, and is tried again: %s", arrivals->path,
                 error_quote(&room, name.data, name.length), reason);
    arrivals->troubled = true;
}

/* Look at a file and judge it.  `pending` is NULL when there is no room to remember it. */
static bool look(struct arrivals *arrivals, struct pending *pending, const char *bytes,
                 size_t length, int64_t now, struct arrival *arrival)
{
    struct settle_look found;
    struct settle_memory none = {.known = false};
    struct text name = {bytes, length};
    if (probe_look(arrivals->directory, bytes, arrivals->local, &arrivals->bytes, &found)) {
        if (errno == ENOENT) {
            forget(arrivals, pending);
            return false;
        }
        if (pending)
            wait_for(arrivals, pending, now + TROUBLE_LOOK);
        say_trouble(arrivals, name);
        return false;
    }
    arrivals->troubled = false;
    found.flags = pending ? pending->flags : 0;
    found.first_and_last = !pending;
    int64_t again;
    arrival->why.text[0] = '\0';
    enum settle verdict = settle_judge(&arrivals->settle, pending ? &pending->memory : &none,
                                       &found, now, &again, &arrival->why);
    if (verdict == SETTLE_WAIT) {
        if (pending) {
            pending->flags = 0;
            wait_for(arrivals, pending, again);
            notice(arrivals, pending, name, now, &arrival->why);
        }
        return false;
    }
    hand_out(name, verdict == SETTLE_REFUSE, arrival);
    forget(arrivals, pending);
    return true;
}

/* A name that the watch delivered: true when `arrival` was filled. */
static bool consider(struct arrivals *arrivals, const struct watch_name *name, int64_t now,
                     struct arrival *arrival)
{
    struct text text = {name->name, name->length};
    if (settle_ignores(text))
        return false;
    struct pending *pending = names_find(arrivals->pending, text);
    if (name->flags & WATCH_RENAMED_IN) {
        forget(arrivals, pending);
        hand_out(text, false, arrival);
        return true;
    }
    bool is_new = !pending;
    if (is_new) {
        pending = names_add(arrivals->pending, text);
        if (pending)
            pending->memory.first = now;
    }
    if (pending)
        pending->flags |= name->flags;
    if (pending && is_new && name->flags == WATCH_CHANGED) {
        wait_for(arrivals, pending, now + FIRST_LOOK);
        return false;
    }
    if (!is_new && name->flags == WATCH_SEEN && now < pending->due)
        return false;
    return look(arrivals, pending, name->name, name->length, now, arrival);
}

/* Look at those that are due: true when `arrival` was filled, and more may follow. */
static bool go_round(struct arrivals *arrivals, int64_t now, struct arrival *arrival)
{
    if (!arrivals->cursor && now >= arrivals->due) {
        arrivals->cursor = names_first(arrivals->pending);
        arrivals->due = INT64_MAX;
    }
    while (arrivals->cursor) {
        struct pending *pending = arrivals->cursor;
        if (now < pending->due) {
            wait_for(arrivals, pending, pending->due);
            arrivals->cursor = names_after(pending);
            continue;
        }
        struct text text = names_text(pending);
        bool found = look(arrivals, pending, text.data, text.length, now, arrival);
        if (arrivals->cursor == pending)        /* it is still there, and waits */
            arrivals->cursor = names_after(pending);
        if (found)
            return true;
    }
    if (arrivals->due < now + SHORTEST_ROUND)
        arrivals->due = now + SHORTEST_ROUND;
    return false;
}

bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival)
{
    int64_t now = clock_elapsed();
    struct watch_name name;
    if ((arrivals->cursor || now >= arrivals->due) && go_round(arrivals, now, arrival))
        return true;
    while (watch_next(arrivals->watch, &name))
        if (consider(arrivals, &name, now, arrival))
            return true;
    return false;
}
