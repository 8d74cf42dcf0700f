/* stages/prune/remove.c - takes archived jobs, and output, out of the spool
 *
 * A job is first renamed out of its state, so that nobody meets half of one, and then removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/prune/inside.h"
#include "stages/shared/control_file.h"
#include "stages/shared/hold_tasks.h"

enum { OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, PRIVATE_MODE = 0700 };

static const char removed_name[] = ".removed";

bool prune_remove_must_wait(int job)
{
    struct control_request request;
    return control_file_pending(job, CONTROL_RETRY, &request) != 0 || hold_tasks_any(job);
}

static bool is_asked_for_in(int directory, const char *id)
{
    int job = sys.openat(directory, id, OPEN_DIRECTORY, 0);
    bool asked = job >= 0 && prune_remove_must_wait(job);
    if (job >= 0)
        sys.close(job);
    return asked;
}

/* ---- what a crash has left ---- */

/* A job in .removed is archived.  But one of failed/ for which somebody asked in the moment before it was
 * renamed goes back. */
static int recover_removed(void *context, const char *name, unsigned char type)
{
    struct pruner *pruner = context;
    struct error error;
    (void)type;
    if (is_asked_for_in(pruner->removed, name)) {
        if (file_rename(pruner->removed, name, pruner->stage.spool.states[STATE_FAILED], name))
            log_warn("%s could not be put back to failed/: %s", name, strerror(errno));
    } else if (job_remove(pruner->removed, name, &error)) {
        log_warn("%s", error.text);
    }
    return 0;
}

/* Unfinished archives, and those whose index never came. */
static int recover_file(void *context, const char *name, unsigned char type)
{
    struct pruner *pruner = context;
    struct part part;
    struct text kind;
    struct stat status;
    char index[PART_NAME_SIZE];
    (void)type;
    bool hidden = name[0] == '.' && text_ends(text_of(name), ".new");
    bool lone = part_parse(name, &part, &kind) && !text_is(kind, "index") &&
                sys.fstatat(pruner->archive, part_name(&part, TEXT("index"), index), &status,
                            AT_SYMLINK_NOFOLLOW) &&
                errno == ENOENT;
    if ((hidden || lone) && sys.unlinkat(pruner->archive, name, 0) && errno != ENOENT)
        log_warn("history/archive/%s could not be removed: %s", name, strerror(errno));
    return 0;
}

int prune_remove_leftovers(struct pruner *pruner, struct error *error)
{
    if (pruner->archive < 0)
        pruner->archive = parts_open(&pruner->stage.spool, true);
    if (pruner->archive < 0)
        return error_errno(error, "history/archive/ could not be opened");
    if (sys.mkdirat(pruner->archive, removed_name, PRIVATE_MODE) && errno != EEXIST)
        return error_errno(error, "history/archive/%s could not be made", removed_name);
    if (pruner->removed < 0)
        pruner->removed = sys.openat(pruner->archive, removed_name, OPEN_DIRECTORY, 0);
    if (pruner->removed < 0 || directory_walk(pruner->removed, recover_removed, pruner) ||
        directory_walk(pruner->archive, recover_file, pruner))
        return error_errno(error, "history/archive/ could not be read");
    return 0;
}

/* ---- jobs ---- */

/* The directory that the job is in; a day of done/ is to be closed. */
static int open_parent(const struct spool *spool, const struct job_place *place)
{
    int state = spool->states[place->state];
    return place->date[0] ? sys.openat(state, place->date, OPEN_DIRECTORY, 0) : state;
}

static void close_parent(const struct job_place *place, int parent)
{
    if (place->date[0] && parent >= 0)
        sys.close(parent);
}

/* Rename the job out of its state: 1; 0 when it stays, as it moved or was asked for; -1 with errno. */
static int take_away(struct pruner *pruner, const struct job_place *place)
{
    struct spool *spool = &pruner->stage.spool;
    int parent = open_parent(spool, place);
    if (parent < 0)
        return errno == ENOENT ? 0 : -1;
    int result = 0;
    bool failed = place->state == STATE_FAILED;
    if (!failed || !is_asked_for_in(parent, place->id)) {
        result = file_rename(parent, place->id, pruner->removed, place->id) ? -1 : 1;
        if (result < 0 && errno == ENOENT)
            result = 0;
    }
    /* A request that came between the look and the rename. */
    if (result > 0 && failed && is_asked_for_in(pruner->removed, place->id))
        result = file_rename(pruner->removed, place->id, parent, place->id) ? -1 : 0;
    int keep = errno;
    close_parent(place, parent);
    errno = keep;
    return result;
}

void prune_remove_job(struct pruner *pruner, const struct ending *ending)
{
    struct error error;
    struct prune_count *count = &pruner->report.rules[ending->rule];
    int taken = take_away(pruner, &ending->place);
    if (taken < 0) {
        log_warn("%s is archived and could not be taken out of %s/: %s", ending->place.id,
                 spool_state_name(ending->place.state), strerror(errno));
        pruner->report.failures++;
        pruner->failed = true; /* no further part may be written before it is gone */
    }
    if (taken <= 0)
        return;
    count->jobs++;
    count->bytes += ending->bytes;
    /* It is out of the way: on NFS, say, somebody still reads a file of it. */
    if (job_remove(pruner->removed, ending->place.id, &error))
        log_warn("%s; the next pass tries again", error.text);
}

/* ---- output ---- */

struct removing {
    int job;
    bool all;
};

static int remove_output(void *context, const char *name, unsigned char type)
{
    struct removing *removing = context;
    (void)type;
    if (strcmp(name, "output") == 0 || strncmp(name, "output-", 7) == 0)
        removing->all = job_remove(removing->job, name, NULL) == 0 && removing->all;
    return 0;
}

static bool has_event(int job)
{
    struct buffer log = {0};
    struct event event;
    bool found = false;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (!found && eventlog_next(&rest, &event))
            found = text_is(event.name, "pruned");
    }
    buffer_free(&log);
    return found;
}

static int note_removal(struct pruner *pruner, const struct ending *ending, struct error *error)
{
    struct buffer line = {0};
    int result = 0;
    int job = job_open(&pruner->stage.spool, &ending->place);
    if (job < 0)
        return 0;
    if (!has_event(job)) {
        eventlog_start(&line, clock_now(), "pruned");
        eventlog_add_number(&line, "bytes", ending->bytes);
        eventlog_end(&line);
        result = eventlog_append(job, buffer_text(&line), error);
        buffer_free(&line);
    }
    sys.close(job);
    return result;
}

int prune_remove_outputs(struct pruner *pruner, const struct ending *endings, size_t count,
                         struct error *error)
{
    struct spool *spool = &pruner->stage.spool;
    for (size_t i = 0; i < count; i++)
        if (note_removal(pruner, &endings[i], error))
            return -1;
    if (spool_sync(spool, error))
        return -1;
    for (size_t i = 0; i < count; i++) {
        int job = job_open(spool, &endings[i].place);
        struct removing removing = {.job = job, .all = true};
        if (job < 0)
            continue;
        if (directory_walk(job, remove_output, &removing) || !removing.all) {
            log_warn("%s: its output could not be removed", endings[i].place.id);
            pruner->report.failures++;
        } else {
            pruner->report.rules[PRUNE_OUTPUT].jobs++;
            pruner->report.rules[PRUNE_OUTPUT].bytes += endings[i].bytes;
        }
        sys.close(job);
    }
    return 0;
}
