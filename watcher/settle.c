/* watcher/settle.c - is a dropped file complete? */
#include "watcher/settle.h"

#include "base/clock.h"
#include "watcher/drop.h"
#include "watcher/watch.h"

const struct settle_settings settle_local = {.quiet = 2000,
                                             .closed_quiet = 500,
                                             .link_patience = 1000,
                                             .cut_patience = 60000,
                                             .empty_patience = 60000};

const struct settle_settings settle_remote = {.quiet = 5000,
                                              .closed_quiet = 5000,
                                              .link_patience = 1000,
                                              .cut_patience = 60000,
                                              .empty_patience = 60000};

/* How soon to look again at a file that somebody writes: his closing makes an event in most
 * cases, so this is for the others (mapped memory, a temporary file that was linked into place).
 * A quarter of the time waited so far, within these bounds. */
enum { SOONEST_LOOK = 50, LATEST_LOOK = 2000 };

bool settle_ignores(struct text name)
{
    static const char *const endings[] = {"~", ".tmp", ".part", ".swp", ".filepart"};
    if (text_starts(name, "."))
        return true;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (text_ends(name, endings[i]))
            return true;
    return false;
}

static bool same_file(const struct settle_memory *memory, const struct stat *status)
{
    return memory->device == status->st_dev && memory->inode == status->st_ino;
}

static bool same_content(const struct settle_memory *memory, const struct stat *status)
{
    return memory->size == status->st_size && memory->mtime.tv_sec == status->st_mtim.tv_sec &&
           memory->mtime.tv_nsec == status->st_mtim.tv_nsec;
}

/* Bring the memory up to date with a look. */
static void remember(struct settle_memory *memory, const struct settle_look *look, int64_t now)
{
    const struct stat *status = &look->status;
    if (!memory->known || !same_file(memory, status)) {
        bool credit = look->writers == WRITERS_NONE || look->first_and_last;
        int64_t first = memory->known ? memory->first : now;
        *memory = (struct settle_memory){
            .known = true, .first = first, .since = now - (credit ? look->age : 0)};
    } else if (!same_content(memory, status) || look->writers == WRITERS_SOME) {
        memory->reopened = memory->reopened || (memory->closed && memory->size > 0);
        memory->since = now;
    }
    if (look->flags & WATCH_CLOSED)
        memory->since = now;
    memory->closed = look->writers == WRITERS_NONE;
    memory->device = status->st_dev;
    memory->inode = status->st_ino;
    memory->size = status->st_size;
    memory->mtime = status->st_mtim;
}

static enum settle wait_until(int64_t time, int64_t *again, struct error *why, const char *reason)
{
    *again = time;
    error_set(why, "%s", reason);
    return SETTLE_WAIT;
}

static enum settle judge_links(const struct settle_settings *settings,
                               struct settle_memory *memory, int64_t now, int64_t *again,
                               struct error *why)
{
    if (!memory->linked) {
        memory->linked = true;
        memory->linked_since = now;
    }
    if (now - memory->linked_since >= settings->link_patience)
        return SETTLE_READY;
    int64_t look = now + SOONEST_LOOK;
    int64_t last = memory->linked_since + settings->link_patience;
    return wait_until(look < last ? look : last, again, why, "it has more than one link");
}

static enum settle judge_writers(const struct settle_memory *memory, int64_t now, int64_t *again,
                                 struct error *why)
{
    int64_t delay = (now - memory->first) / 4;
    delay = delay < SOONEST_LOOK ? SOONEST_LOOK : delay;
    delay = delay > LATEST_LOOK ? LATEST_LOOK : delay;
    return wait_until(now + delay, again, why, "a program has it open for writing");
}

/* Refuse it when it has been like this for the whole of `patience`. */
static enum settle judge_hopeless(const struct settle_memory *memory, int64_t patience,
                                  int64_t now, int64_t *again, struct error *why,
                                  const char *reason, const char *advice)
{
    if (now - memory->since < patience)
        return wait_until(memory->since + patience, again, why, reason);
    char room[CLOCK_TEXT_SIZE];
    error_set(why, "%s, and nobody has written to it for %s; %s", reason,
              duration_format(patience, room), advice);
    return SETTLE_REFUSE;
}

enum settle settle_judge(const struct settle_settings *settings, struct settle_memory *memory,
                         const struct settle_look *look, int64_t now, int64_t *again,
                         struct error *why)
{
    const struct stat *status = &look->status;
    *again = now;
    if (!S_ISREG(status->st_mode) || status->st_size > DROP_LARGEST)
        return SETTLE_READY;
    if (look->flags & WATCH_RENAMED_IN)
        return SETTLE_READY;
    remember(memory, look, now);
    if (status->st_nlink > 1)
        return judge_links(settings, memory, now, again, why);
    if (memory->linked)
        return SETTLE_READY;
    if (look->writers == WRITERS_SOME)
        return judge_writers(memory, now, again, why);

    int64_t quiet = look->writers == WRITERS_NONE && !memory->reopened ? settings->closed_quiet
                                                                       : settings->quiet;
    switch (look->content) {
    case CONTENT_COMPLETE:
        return SETTLE_READY;
    case CONTENT_EMPTY:
        return judge_hopeless(memory, settings->empty_patience, now, again, why, "it is empty",
                              "write the job into it and drop it again");
    case CONTENT_CUT: {
        struct error reason;
        error_set(&reason, "it seems to be cut off: %s", look->missing);
        return judge_hopeless(memory, settings->cut_patience, now, again, why, reason.text,
                              "drop the whole file again, or rename it into place");
    }
    case CONTENT_UNKNOWN:
    case CONTENT_PLAUSIBLE:
        break;
    }
    if (now - memory->since < quiet)
        return wait_until(memory->since + quiet, again, why, "it was written to just now");
    return SETTLE_READY;
}
