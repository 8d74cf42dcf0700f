/* stages/prune/slice.c - a slice of jobs: archived, put into place, then removed */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "stages/prune/inside.h"

enum { LOOKS = 64 }; /* jobs between two looks whether to stop */

bool prune_slice_goes_on(struct pruner *pruner)
{
    static unsigned int calls;
    heartbeat();
    if (calls++ % LOOKS == 0 && pruner->stage.signals >= 0 &&
        !stage_wait(&pruner->stage, -1, clock_elapsed()))
        pruner->report.stopped = true;
    return !pruner->report.stopped && !pruner->failed;
}

static int by_day(const void *a, const void *b)
{
    const struct ending *first = a, *second = b;
    int order = strcmp(first->day, second->day);
    return order ? order : strcmp(first->place.id, second->place.id);
}

/* How many from `from` on ended on the same day. */
static size_t same_day(const struct pruner *pruner, size_t from)
{
    size_t count = 1;
    while (from + count < pruner->count &&
           strcmp(pruner->slice[from + count].day, pruner->slice[from].day) == 0)
        count++;
    return count;
}

/* Make the names in the directories that jobs were taken from durable: a later part must not be there
 * while jobs of this one may come back. */
static int sync_parents(struct pruner *pruner, const struct ending *endings, size_t count)
{
    struct spool *spool = &pruner->stage.spool;
    bool failed = false;
    char last[sizeof(endings->place.date)] = "";
    for (size_t i = 0; i < count; i++) {
        const struct job_place *place = &endings[i].place;
        failed = failed || place->state == STATE_FAILED;
        if (!place->date[0] || strcmp(place->date, last) == 0)
            continue;
        memcpy(last, place->date, sizeof(last));
        if (job_sync_place(spool, place, NULL) && errno != ENOENT)
            return -1;
        /* An empty day; a job that ends today finds its day made again. */
        sys.unlinkat(spool->states[STATE_DONE], place->date, AT_REMOVEDIR);
    }
    return failed ? spool_sync_state(spool, STATE_FAILED, NULL) : 0;
}

bool prune_slice_is_waited_for(struct pruner *pruner, const struct ending *ending)
{
    enum waiter waiter = waited_for(pruner->waited, &ending->place);
    return waiter == WAITER_OWNER || (waiter == WAITER_OTHERS && pruner->now < ending->spared);
}

/* Jobs that somebody has begun to wait for stay. */
static void drop_waited(struct pruner *pruner)
{
    size_t kept = 0;
    for (size_t i = 0; i < pruner->count; i++)
        if (prune_slice_is_waited_for(pruner, &pruner->slice[i]))
            pruner->report.waited_for++;
        else
            pruner->slice[kept++] = pruner->slice[i];
    pruner->count = kept;
}

/* One day: archive and remove. */
static int go_day(struct pruner *pruner, const struct ending *endings, size_t count,
                  struct error *error)
{
    struct part part;
    bool *kept = memory_allocate(count * sizeof(*kept));
    int result = prune_write_part(pruner, endings, count, &part, kept, error);
    if (!result && stage_is_fenced(&pruner->stage))
        result = error_set(error, "another daemon serves this spool");
    if (!result && part.number)
        result = prune_write_publish(pruner, &part, error);
    if (!result && part.number)
        result =
            spool_sync_directory(&pruner->stage.spool, pruner->archive, "history/archive", error);
    for (size_t i = 0; i < count && !result; i++) {
        if (kept[i])
            pruner->report.failures++;
        else
            prune_remove_job(pruner, &endings[i]);
        if (!prune_slice_goes_on(pruner))
            /* The next pass finds the others in the index. */
            result = error_set(error, "what is archived could not all be removed");
    }
    if (!result && sync_parents(pruner, endings, count))
        result = error_errno(error, "what was archived of %s may come back", endings[0].day);
    free(kept);
    return result;
}

static int flush_slice(struct pruner *pruner, struct error *error)
{
    if (waited_read(pruner->waited, false, error))
        return -1;
    drop_waited(pruner);
    if (!pruner->count)
        return 0;
    if (pruner->slice[0].rule == PRUNE_OUTPUT)
        return stage_is_fenced(&pruner->stage)
                   ? error_set(error, "another daemon serves this spool")
                   : prune_remove_outputs(pruner, pruner->slice, pruner->count, error);
    qsort(pruner->slice, pruner->count, sizeof(*pruner->slice), by_day);
    for (size_t i = 0, count; i < pruner->count; i += count) {
        count = same_day(pruner, i);
        if (go_day(pruner, pruner->slice + i, count, error))
            return -1;
    }
    return 0;
}

bool prune_slice_flush(struct pruner *pruner)
{
    struct error error;
    if (pruner->count && flush_slice(pruner, &error)) {
        if (!pruner->report.stopped)
            log_warn("pruning ends for now: %s", error.text);
        pruner->failed = !pruner->report.stopped;
    }
    pruner->count = 0;
    pruner->slice_size = 0;
    return prune_slice_goes_on(pruner);
}

bool prune_slice_add(struct pruner *pruner, const struct ending *ending)
{
    if (!pruner->slice)
        pruner->slice = memory_allocate(SLICE_JOBS * sizeof(*pruner->slice));
    pruner->slice[pruner->count++] = *ending;
    pruner->slice_size += ending->bytes;
    if (pruner->count == SLICE_JOBS || pruner->slice_size >= slice_bytes)
        return prune_slice_flush(pruner);
    return prune_slice_goes_on(pruner);
}
