/* stages/shared/standing.c - how other jobs stand, for those that wait for them */
#include "stages/shared/standing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/names.h"
#include "spool/record.h"
#include "stages/guard.h"

enum { MOST_AWAITED = 1 << 20 }; /* jobs */

struct known {
    struct standing standing;
    uint64_t asked;          /* in which pass */
    bool seen;               /* it was somewhere once */
    int64_t gone;            /* of clock_elapsed: since when it has been nowhere; 0: it is not */
    struct timespec changed; /* of its directory in failed/ when its record was read */
};

struct standings {
    const struct spool *spool;
    int64_t patience;
    uint64_t pass;
    struct names *known;
    struct known unsure; /* for when there is no room for more */
};

struct standings *standings_new(const struct spool *spool, int64_t patience)
{
    struct standings *standings = memory_allocate(sizeof(*standings));
    *standings = (struct standings){.spool = spool, .patience = patience};
    standings->known = names_new(MOST_AWAITED, sizeof(struct known));
    return standings;
}

void standings_free(struct standings *standings)
{
    if (!standings)
        return;
    names_free(standings->known);
    free(standings);
}

void standings_begin(struct standings *standings)
{
    standings->pass++;
}

void standings_end(struct standings *standings)
{
    struct known *next;
    for (struct known *known = names_first(standings->known); known; known = next) {
        next = names_after(known);
        if (known->asked != standings->pass)
            names_remove(standings->known, known);
    }
}

static void read_failure(int job, const struct stat *status, struct known *known)
{
    struct arena *arena = arena_new();
    struct job_record record;
    struct stat wish;
    if (record_read(job, arena, &record, NULL) == 0 && record.failed) {
        struct text reason = record.failure.reason;
        bool asked = !sys.fstatat(job, "retry", &wish, AT_SYMLINK_NOFOLLOW);
        known->standing.kind =
            record.failure.when == RETRY_NEVER && !asked ? STANDING_LOST : STANDING_FAILED;
        snprintf(known->standing.reason, sizeof(known->standing.reason), "%.*s", (int)reason.length,
                 reason.length ? reason.data : "");
        known->changed = job_is_settled(status) ? status->st_mtim : (struct timespec){0};
    }
    arena_free(arena);
}

/* Read why it failed, unless that is known. */
static void look_at_failed(const struct spool *spool, const struct job_place *place,
                           const struct stat *status, struct known *known)
{
    struct guard_before before;
    bool was_read =
        known->standing.kind == STANDING_FAILED || known->standing.kind == STANDING_LOST;
    if (was_read && known->changed.tv_sec == status->st_mtim.tv_sec &&
        known->changed.tv_nsec == status->st_mtim.tv_nsec)
        return;
    known->standing.kind = STANDING_UNSURE;
    int job = job_open(spool, place);
    if (job < 0)
        return;
    if (guard_look(guard_own(), place->id, &before)) {
        read_failure(job, status, known);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
}

/* Look into every state, in the order in which jobs move.  True when it was met. */
static bool look(const struct spool *spool, struct text id, struct known *known, bool *sure)
{
    static const enum state order[] = {STATE_RENDERED, STATE_SUBMITTED, STATE_HELD, STATE_FAILED};
    struct job_place place = {.date = ""};
    struct stat status;
    snprintf(place.id, sizeof(place.id), "%.*s", (int)id.length, id.data);
    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        place.state = order[i];
        if (sys.fstatat(spool->states[order[i]], place.id, &status, AT_SYMLINK_NOFOLLOW)) {
            *sure = *sure && errno == ENOENT;
            continue;
        }
        if (place.state == STATE_FAILED)
            look_at_failed(spool, &place, &status, known);
        else
            known->standing.kind = place.state == STATE_HELD ? STANDING_HELD : STANDING_ON;
        return true;
    }
    int found = job_find_done(spool, id, &place);
    *sure = *sure && found >= 0;
    if (found > 0)
        known->standing.kind = STANDING_DONE;
    return found > 0;
}

static void look_everywhere(struct standings *standings, struct text id, struct known *known)
{
    bool sure = true;
    for (int looks = 0; looks < 2; looks++) {
        if (look(standings->spool, id, known, &sure)) {
            known->seen = true;
            known->gone = 0;
            return;
        }
    }
    int64_t now = clock_elapsed();
    if (known->gone == 0)
        known->gone = now;
    bool gone = sure && (!known->seen || now - known->gone >= standings->patience);
    known->standing.kind = gone ? STANDING_GONE : STANDING_UNSURE;
}

static struct known *find(struct standings *standings, struct text id)
{
    struct known *known = names_find(standings->known, id);
    if (!known)
        known = names_add(standings->known, id);
    return known;
}

const struct standing *standing_find(struct standings *standings, struct text id)
{
    struct known *known = find(standings, id);
    if (!known)
        return &standings->unsure.standing;
    if (known->asked != standings->pass) {
        known->asked = standings->pass;
        if (known->standing.kind != STANDING_DONE)
            look_everywhere(standings, id, known);
    }
    return &known->standing;
}
