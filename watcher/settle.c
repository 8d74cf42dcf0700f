/* watcher/settle.c - is a dropped file complete? */
#include "watcher/settle.h"

#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "watcher/drop.h"
#include "watcher/watch.h"

const struct settle_settings settle_local = {.quiet = 2000,
                                             .closed_quiet = 500,
                                             .doubtful_quiet = 2000,
                                             .link_patience = 1000,
                                             .cut_patience = 60000,
                                             .empty_patience = 60000};

const struct settle_settings settle_remote = {.quiet = 5000,
                                              .closed_quiet = 5000,
                                              .doubtful_quiet = 40000,
                                              .link_patience = 1000,
                                              .cut_patience = 60000,
                                              .empty_patience = 60000};

/* Milliseconds until the next look at a file that somebody is writing: a quarter of the time waited
 * so far, within these bounds.  Closing usually makes an event; this is for the cases without one
 * (mapped memory, a temporary file that was linked into place). */
enum { SOONEST_LOOK = 50, LATEST_LOOK = 2000 };

/* The length of the suffix that marks the name as work in progress, or 0. */
static size_t working_ending(struct text name)
{
    static const char *const endings[] = {"~", ".tmp", ".part", ".swp", ".filepart"};
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++)
        if (text_ends(name, endings[i]))
            return strlen(endings[i]);
    return 0;
}

bool settle_ignores(struct text name)
{
    return text_starts(name, ".") || working_ending(name) > 0;
}

struct text settle_plain_name(struct text name)
{
    size_t ending;
    while (text_starts(name, ".")) {
        name.data++;
        name.length--;
    }
    while ((ending = working_ending(name)) > 0)
        name.length -= ending;
    return name;
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

/* Update the memory from a look. */
static void remember_look(struct settle_memory *memory, const struct settle_look *look, int64_t now)
{
    const struct stat *status = &look->status;
    if (!memory->known || !same_file(memory, status)) {
        bool credit = look->writers == WRITERS_NONE || look->first_and_last;
        int64_t first = memory->known ? memory->first : now;
        *memory = (struct settle_memory){
            .known = true, .first = first, .since = now - (credit ? look->age : 0)};
    } else if (!same_content(memory, status) || look->writers == WRITERS_SOME) {
        memory->reopened = memory->reopened || (memory->closed && memory->size > 0);
        memory->held = memory->held && !memory->closed; /* rewritten */
        memory->grew = memory->grew || (memory->size > 0 && !same_content(memory, status));
        memory->since = now;
    }
    if (look->flags & WATCH_CLOSED)
        memory->since = now;
    if (look->writers != WRITERS_SOME)
        memory->held_since = 0;
    else if (memory->held_since == 0)
        memory->held_since = now;
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

/* Mark the file ready, and record how it is known to be complete. */
static enum settle set_ready(struct settle_memory *memory, const struct settle_look *look,
                             const char *complete)
{
    memory->complete = complete;
    memory->cut = look->content == CONTENT_CUT || look->content == CONTENT_UNCLOSED;
    return SETTLE_READY;
}

static enum settle judge_links(const struct settle_settings *settings, struct settle_memory *memory,
                               const struct settle_look *look, int64_t now, int64_t *again,
                               struct error *why)
{
    if (!memory->linked) {
        memory->linked = true;
        memory->linked_since = now;
    }
    if (now - memory->linked_since >= settings->link_patience)
        return set_ready(memory, look, NULL);
    int64_t soon = now + SOONEST_LOOK;
    int64_t last = memory->linked_since + settings->link_patience;
    return wait_until(soon < last ? soon : last, again, why, "it has more than one link");
}

static enum settle judge_writers(const struct settle_memory *memory, int64_t now, int64_t *again,
                                 struct error *why)
{
    int64_t delay = (now - memory->first) / 4;
    delay = delay < SOONEST_LOOK ? SOONEST_LOOK : delay;
    delay = delay > LATEST_LOOK ? LATEST_LOOK : delay;
    return wait_until(now + delay, again, why, "a program has it open for writing");
}

/* Refuse the file once it has stayed unchanged for `patience`; wait until then. */
static enum settle judge_hopeless(const struct settle_memory *memory, int64_t patience, int64_t now,
                                  int64_t *again, struct error *why, const char *reason,
                                  const char *advice)
{
    if (now - memory->since < patience)
        return wait_until(memory->since + patience, again, why, reason);
    char buffer[CLOCK_TEXT_SIZE];
    error_set(why, "%s, and nobody has written to it for %s; %s", reason,
              duration_format(patience, buffer), advice);
    return SETTLE_REFUSE;
}

/* Was the content already old when the file was renamed, linked, or had its times set? */
static bool was_old(const struct settle_settings *settings, const struct settle_look *look)
{
    const struct stat *status = &look->status;
    return (int64_t)(status->st_ctim.tv_sec - status->st_mtim.tv_sec) * 1000 >
           settings->doubtful_quiet;
}

/* How long a file must be quiet when its content does not say that it is complete. */
static int64_t quiet_for(const struct settle_settings *settings, const struct settle_memory *memory,
                         const struct settle_look *look)
{
    bool closed = look->writers == WRITERS_NONE;
    if (!closed && (memory->grew || (look->content == CONTENT_OPEN && !was_old(settings, look))))
        return settings->doubtful_quiet;
    return closed && !memory->reopened && look->content != CONTENT_UNCLOSED ? settings->closed_quiet
                                                                            : settings->quiet;
}

/* Judge a file by its content.  Complete content is ready at once; empty or cut-off content is
 * refused after a time, and so is what does not say that it is complete where only that is taken;
 * other content must be quiet for a while. */
static enum settle judge_content(const struct settle_settings *settings,
                                 struct settle_memory *memory, const struct settle_look *look,
                                 int64_t now, int64_t *again, struct error *why)
{
    bool closed = look->writers == WRITERS_NONE;
    bool cut = look->content == CONTENT_CUT;
    switch (look->content) {
    case CONTENT_COMPLETE:
        return set_ready(memory, look, "end-mark");
    case CONTENT_FOREIGN:
        return set_ready(memory, look, NULL);
    case CONTENT_EMPTY:
        return judge_hopeless(memory, closed ? settings->quiet : settings->empty_patience, now,
                              again, why, "it is empty", "write the job into it and drop it again");
    case CONTENT_CUT:
    case CONTENT_UNCLOSED:
        if (!closed || memory->held)
            return judge_hopeless(memory, settings->cut_patience, now, again, why,
                                  cut ? "it seems to be cut off: it does not end with a newline"
                                      : "it seems to be cut off: its brackets do not close",
                                  cut ? "end it with a newline, and drop it again with `dlspool "
                                        "submit`, or rename it into place"
                                      : "drop the whole file again, with `dlspool submit`, or "
                                        "rename it into place");
        break;
    case CONTENT_OPEN:
    case CONTENT_PLAUSIBLE:
        if (settings->only_complete && !closed)
            return judge_hopeless(memory, settings->cut_patience, now, again, why,
                                  "it does not say that it is complete",
                                  "drop it with `dlspool submit`, or, when it is YAML, end it with "
                                  "a line `...`");
        break;
    case CONTENT_UNKNOWN:
        break;
    }
    int64_t quiet = quiet_for(settings, memory, look);
    if (now - memory->since < quiet)
        return wait_until(memory->since + quiet, again, why,
                          quiet > settings->quiet
                              ? "it may go on, and nobody here can know whether it is still being "
                                "written; rename into place, or end it with a line `...`"
                              : "it was written to just now");
    return set_ready(memory, look, closed ? "no-writer" : "quiet");
}

enum settle settle_judge(const struct settle_settings *settings, struct settle_memory *memory,
                         const struct settle_look *look, int64_t now, int64_t *again,
                         struct error *why)
{
    const struct stat *status = &look->status;
    *again = now;
    if (!S_ISREG(status->st_mode) || status->st_size > DROP_LARGEST)
        return set_ready(memory, look, NULL);
    if (status->st_mode & S_IWOTH) {
        error_set(why, "it %s", WRITABLE_BY_EVERYBODY);
        return SETTLE_REFUSE;
    }
    if (look->flags & WATCH_RENAMED_IN)
        return set_ready(memory, look, "rename");
    remember_look(memory, look, now);
    if (status->st_nlink > 1)
        return judge_links(settings, memory, look, now, again, why);
    if (memory->linked)
        return set_ready(memory, look, "link");
    if (look->writers == WRITERS_SOME) {
        memory->held = now - memory->held_since >= settings->closed_quiet;
        return judge_writers(memory, now, again, why);
    }
    return judge_content(settings, memory, look, now, again, why);
}
