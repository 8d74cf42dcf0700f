/* stages/planning/runs.c - history/runs in memory, read again when it has changed */
#include "stages/planning/runs.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/job.h"
#include "stages/planning/past.h"

enum {
    REST = 20
}; /* predicting everything again takes at most one part in this many of the time */

struct runs {
    const struct spool *spool;
    struct arena *arena;
    struct history history;
    struct predict_past *past;
    uint64_t generation;
    struct stat status; /* of the file that was read */
    bool settled;
    int64_t not_before; /* of clock_elapsed() */
};

struct runs *runs_new(const struct spool *spool)
{
    struct runs *runs = memory_allocate(sizeof(*runs));
    *runs = (struct runs){.spool = spool, .arena = arena_new(), .generation = 1};
    return runs;
}

void runs_free(struct runs *runs)
{
    if (!runs)
        return;
    predict_past_free(runs->past);
    arena_free(runs->arena);
    free(runs);
}

/* Whether the file is another than the one that was read. */
static bool has_changed(struct runs *runs)
{
    struct stat status = {0};
    if (sys.fstatat(runs->spool->root, "history/runs", &status, AT_SYMLINK_NOFOLLOW))
        status = (struct stat){0};
    const struct stat *old = &runs->status;
    bool same = runs->settled && old->st_ino == status.st_ino && old->st_size == status.st_size &&
                old->st_mtim.tv_sec == status.st_mtim.tv_sec &&
                old->st_mtim.tv_nsec == status.st_mtim.tv_nsec;
    runs->status = status;
    runs->settled = job_is_settled(&status);
    return !same;
}

void runs_refresh(struct runs *runs)
{
    struct error error;
    struct history history;
    if (clock_elapsed() < runs->not_before || !has_changed(runs))
        return;
    struct arena *arena = arena_new();
    if (history_read(runs->spool, arena, &history, &error)) {
        log_warn("%s; predictions use the runs that were read before", error.text);
        runs->settled = false;
        arena_free(arena);
        return;
    }
    predict_past_free(runs->past);
    arena_free(runs->arena);
    runs->arena = arena;
    runs->history = history;
    runs->past = past_of(&runs->history);
    runs->generation++;
}

uint64_t runs_generation(const struct runs *runs)
{
    return runs->generation;
}

void runs_note_cost(struct runs *runs, int64_t took)
{
    runs->not_before = clock_elapsed() + REST * took;
}

const struct predict_past *runs_past(const struct runs *runs)
{
    return runs->past;
}
const struct history *runs_history(const struct runs *runs)
{
    return &runs->history;
}
