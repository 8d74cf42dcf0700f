/* watcher/arrivals.c - the files in the drop directory that are complete
 *
 * Each name that the watch delivers is sorted into its owner's lane (watcher/turns.h) at once, for
 * one fstatat however many files wait.  The expensive part, opening and reading the file, waits for
 * the file's turn.
 */
#include "watcher/arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/names.h"
#include "base/system.h"
#include "watcher/mount.h"
#include "watcher/probe.h"
#include "watcher/turns.h"

enum {
    DEFAULT_PENDING = 32768,
    DEFAULT_NAMES = 8192, /* most names that the watch holds until they are sorted */
    DEFAULT_NOTICE = 60000,
    FIRST_LOOK = 20, /* milliseconds before the first look at a new file: most are closed
                                 * by then, which is one look instead of two */
    LOOK_STEP = 20, /* milliseconds; looks are rounded up to this, so that they are made together */
    TROUBLE_LOOK = 1000, /* milliseconds until the next look after one that failed */
    SORTING_TIME = 50,   /* milliseconds that one call may spend on sorting new names */
    MOST_LOOKS = 256,    /* looks in one call at files that turn out to be incomplete */
};

static const uid_t nobody_known = (uid_t)-1; /* the owner could not be determined */

struct pending {
    struct turn turn; /* first member: a turn's address is its file's */
    struct settle_memory memory;
    unsigned int flags; /* events since the last look */
    uid_t owner;
    bool noticed;
    bool believed; /* judge the first look by the file's age: its history may have been lost */
};

struct arrivals {
    char *path;
    int directory;
    bool local;
    int64_t notice;
    bool (*published)(struct text name);
    struct settle_settings settle;
    struct watch *watch;
    struct names *pending; /* payload: struct pending */
    size_t limit;
    struct turns *turns;
    bool missed;         /* names were left out because the table was full: scan again */
    bool crowded;        /* files that a scan finds may have been in the table before */
    struct buffer bytes; /* content of the file being looked at */
    bool troubled;       /* the last look at a file failed, and the log says so */
};

struct arrivals *arrivals_open(int directory, const char *path,
                               const struct arrivals_settings *settings, struct error *error)
{
    static const struct arrivals_settings defaults;
    if (!settings)
        settings = &defaults;
    struct watch_settings watching = settings->watch;
    watching.names = watching.names ? watching.names : DEFAULT_NAMES;
    struct watch *watch = watch_open(directory, path, &watching, error);
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
                                  .published = settings->published,
                                  .watch = watch,
                                  .pending = names_new(limit, sizeof(struct pending)),
                                  .limit = limit,
                                  .turns = turns_new()};
    arrivals->settle = settings->settle  ? *settings->settle
                       : arrivals->local ? settle_local
                                         : settle_remote;
    return arrivals;
}

void arrivals_close(struct arrivals *arrivals)
{
    if (!arrivals)
        return;
    watch_close(arrivals->watch);
    turns_free(arrivals->turns);
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
    int64_t due = watch_due(arrivals->watch), turn = turns_due(arrivals->turns);
    return due < turn ? due : turn;
}

bool arrivals_lost(const struct arrivals *arrivals)
{
    return watch_lost(arrivals->watch);
}

size_t arrivals_pending(const struct arrivals *arrivals)
{
    return names_count(arrivals->pending);
}

static void forget_file(struct arrivals *arrivals, struct pending *pending)
{
    turns_remove(arrivals->turns, &pending->turn);
    names_remove(arrivals->pending, pending);
}

static void hand_out(struct text name, const struct pending *pending, bool refuse,
                     struct arrival *arrival)
{
    memcpy(arrival->name, name.data, name.length);
    arrival->name[name.length] = '\0';
    arrival->length = name.length;
    arrival->owner = pending->owner;
    arrival->cut = pending->memory.cut;
    arrival->complete = refuse ? NULL : pending->memory.complete;
    arrival->refuse = refuse;
}

/* Log once that a file has been waiting for a long time. */
static void notice_waiting(struct arrivals *arrivals, struct pending *pending, struct text name,
                           int64_t now, const struct error *why)
{
    int64_t waited = now - pending->memory.first;
    if (pending->noticed || waited < arrivals->notice)
        return;
    struct error_quote_buffer buffer;
    char duration[CLOCK_TEXT_SIZE];
    log_say("%s: \"%s\" has waited for %s: %s", arrivals->path,
            error_quote(&buffer, name.data, name.length), duration_format(waited, duration),
            why->text);
    pending->noticed = true;
}

/* Log that looking at a file failed with errno; once until a look succeeds. */
static void say_trouble(struct arrivals *arrivals, struct text name)
{
    struct error_quote_buffer buffer;
    const char *reason = strerror(errno);
    if (!arrivals->troubled)
        log_warn("%s: \"%s\" cannot be looked at, and is retried: %s", arrivals->path,
                 error_quote(&buffer, name.data, name.length), reason);
    arrivals->troubled = true;
}

/* Look at a file and judge it: SETTLE_WAIT when there is nothing to hand out.  `pending` is NULL
 * when the file is not in the table; otherwise its next look is scheduled, or its entry is removed
 * when the file is gone. */
static enum settle look_at(struct arrivals *arrivals, struct pending *pending, struct text name,
                           int64_t now, struct error *why)
{
    struct settle_look found;
    struct settle_memory none = {.known = false};
    int64_t again = now + TROUBLE_LOOK;
    enum settle state = SETTLE_WAIT;
    why->text[0] = '\0';
    if (probe_file(arrivals->directory, name.data, arrivals->local, &arrivals->bytes, &found)) {
        if (errno == ENOENT) {
            if (pending)
                forget_file(arrivals, pending);
            return SETTLE_WAIT;
        }
        say_trouble(arrivals, name);
    } else {
        arrivals->troubled = false;
        found.flags = pending ? pending->flags : 0;
        found.first_and_last = !pending || (pending->believed && !pending->memory.known);
        state = settle_judge(&arrivals->settle, pending ? &pending->memory : &none, &found, now,
                             &again, why);
        if (pending && state == SETTLE_WAIT) {
            pending->flags = 0;
            notice_waiting(arrivals, pending, name, now, why);
        }
    }
    if (pending && state == SETTLE_WAIT)
        turns_move(arrivals->turns, &pending->turn,
                   (again + LOOK_STEP - 1) / LOOK_STEP * LOOK_STEP);
    return state;
}

/* The owner of a file, or nobody_known; -1 when the file is gone. */
static int find_owner(const struct arrivals *arrivals, const char *name, uid_t *owner)
{
    struct stat status;
    *owner = nobody_known;
    if (sys.fstatat(arrivals->directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? -1 : 0;
    *owner = status.st_uid;
    return 0;
}

static struct pending *remember_file(struct arrivals *arrivals, struct text name, uid_t owner,
                                     bool news, int64_t due, int64_t now)
{
    struct pending *pending = names_add(arrivals->pending, name);
    if (!pending)
        return NULL;
    pending->owner = owner;
    pending->memory.first = now;
    pending->believed = arrivals->crowded && !news;
    turns_add(arrivals->turns, &pending->turn, owner, news, due);
    return pending;
}

/* Make room in a full table.  The last file of the longest lane is forgotten; a scan finds it
 * again.  If that would be this lane, the owner's files that are already due come first and the new
 * file is left to a scan, unless an old file has been looked at and still waits and the new one
 * need not: then the new one takes its place.  NULL when the new file is left out. */
static struct pending *replace_pending(struct arrivals *arrivals, struct text name, uid_t owner,
                                       bool news, int64_t due, int64_t now)
{
    struct error why;
    bool believed = false;
    struct pending *victim = (struct pending *)(void *)turns_longest(arrivals->turns, owner, news);
    if (!victim) {
        victim = (struct pending *)(void *)turns_last(arrivals->turns, owner, news);
        believed = victim && victim->memory.known && victim->turn.due > now;
        if (!believed)
            victim = NULL;
        else if (look_at(arrivals, NULL, name, now, &why) == SETTLE_WAIT)
            return NULL;
    }
    arrivals->missed = arrivals->crowded = true;
    if (!victim)
        return NULL;
    forget_file(arrivals, victim);
    struct pending *pending = remember_file(arrivals, name, owner, news, believed ? now : due, now);
    if (pending)
        pending->believed = pending->believed || believed;
    return pending;
}

/* Put a name that the watch delivered into its owner's lane. */
static void sort_name(struct arrivals *arrivals, const struct watch_name *name, int64_t now)
{
    struct text text = {name->name, name->length};
    uid_t owner;
    if (settle_ignores(text))
        return;
    struct pending *pending = names_find(arrivals->pending, text);
    if (pending) {
        pending->flags |= name->flags;
        if (name->flags != WATCH_SEEN)
            turns_move(arrivals->turns, &pending->turn, now);
        return;
    }
    if (find_owner(arrivals, name->name, &owner))
        return;
    bool news = (name->flags & ~(unsigned int)WATCH_SEEN) != 0;
    int64_t due = name->flags == WATCH_CHANGED ? now + FIRST_LOOK : now;
    pending = names_full(arrivals->pending) ? replace_pending(arrivals, text, owner, news, due, now)
                                            : remember_file(arrivals, text, owner, news, due, now);
    if (pending)
        pending->flags |= name->flags;
}

int arrivals_collect(struct arrivals *arrivals, struct error *error)
{
    struct watch_name name;
    int64_t now = clock_elapsed();
    int64_t until = now + SORTING_TIME;
    int result;
    bool room = names_count(arrivals->pending) <= arrivals->limit / 2;
    arrivals->crowded = arrivals->missed || (arrivals->crowded && !room);
    if (arrivals->missed && (room || turns_due(arrivals->turns) > now)) {
        arrivals->missed = false;
        watch_rescan(arrivals->watch);
    }
    do {
        result = watch_collect(arrivals->watch, error);
        now = clock_elapsed();
        while (watch_next(arrivals->watch, &name))
            sort_name(arrivals, &name, now);
    } while (!result && watch_due(arrivals->watch) == 0 && clock_elapsed() < until);
    return result;
}

/* Look at the file whose turn it is.  True when `arrival` was filled. */
static bool take_turn(struct arrivals *arrivals, struct pending *pending, int64_t now,
                      struct arrival *arrival)
{
    struct text name = names_text(pending);
    enum settle state = SETTLE_READY;
    bool published = !arrivals->local && arrivals->published && arrivals->published(name);
    if ((pending->flags & WATCH_RENAMED_IN) || published)
        pending->memory.complete = "rename";
    else
        state = look_at(arrivals, pending, name, now, &arrival->why);
    if (state == SETTLE_WAIT)
        return false;
    hand_out(name, pending, state == SETTLE_REFUSE, arrival);
    forget_file(arrivals, pending);
    return true;
}

bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival)
{
    int64_t now = clock_elapsed();
    for (int looks = 0; looks < MOST_LOOKS; looks++) {
        struct turn *turn = turns_next(arrivals->turns, now);
        if (!turn)
            return false;
        if (take_turn(arrivals, (struct pending *)(void *)turn, now, arrival))
            return true;
    }
    return false;
}

void arrivals_rest(struct arrivals *arrivals, uid_t owner, int64_t until)
{
    turns_rest(arrivals->turns, owner, until);
}
