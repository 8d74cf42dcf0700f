/* stages/shared/dependencies.c - the state of jobs that others wait for */
#include "stages/shared/dependencies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/names.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "spool/record.h"
#include "stages/guard.h"

enum { MOST_AWAITED = 1 << 20 }; /* jobs */

struct known {
    struct dependency_status dependency;
    uint64_t asked;          /* in which pass */
    bool seen;               /* it was somewhere once */
    bool begun;              /* its log says so */
    int64_t gone;            /* of clock_elapsed: since when it has been nowhere; 0: it is not */
    struct timespec changed; /* of its directory in failed/ when its record was read */
};

struct dependencies {
    const struct spool *spool;
    int64_t patience;
    uint64_t pass;
    struct names *known;
    struct known unsure; /* for when there is no room for more */
};

struct dependencies *dependencies_new(const struct spool *spool, int64_t patience)
{
    struct dependencies *dependencies = memory_allocate(sizeof(*dependencies));
    *dependencies = (struct dependencies){.spool = spool, .patience = patience};
    dependencies->known = names_new(MOST_AWAITED, sizeof(struct known));
    return dependencies;
}

void dependencies_free(struct dependencies *dependencies)
{
    if (!dependencies)
        return;
    names_free(dependencies->known);
    free(dependencies);
}

void dependencies_begin(struct dependencies *dependencies)
{
    dependencies->pass++;
}

void dependencies_end(struct dependencies *dependencies)
{
    struct known *next;
    for (struct known *known = names_first(dependencies->known); known; known = next) {
        next = names_after(known);
        if (known->asked != dependencies->pass)
            names_remove(dependencies->known, known);
    }
}

static void read_failure(int job, const struct stat *status, struct known *known)
{
    struct arena *arena = arena_new();
    struct job_record record;
    struct stat request;
    if (record_read(job, arena, &record, NULL) == 0 && record.failed) {
        struct text reason = record.failure.reason;
        bool asked = !sys.fstatat(job, "retry", &request, AT_SYMLINK_NOFOLLOW);
        known->dependency.kind =
            record.failure.when == RETRY_NEVER && !asked ? DEPENDENCY_LOST : DEPENDENCY_FAILED;
        snprintf(known->dependency.reason, sizeof(known->dependency.reason), "%.*s",
                 (int)reason.length, reason.length ? reason.data : "");
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
        known->dependency.kind == DEPENDENCY_FAILED || known->dependency.kind == DEPENDENCY_LOST;
    if (was_read && known->changed.tv_sec == status->st_mtim.tv_sec &&
        known->changed.tv_nsec == status->st_mtim.tv_nsec)
        return;
    known->dependency.kind = DEPENDENCY_UNSURE;
    int job = job_open(spool, place);
    if (job < 0)
        return;
    if (guard_begin(guard_own(), place->id, &before)) {
        read_failure(job, status, known);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
}

/* Look into every state, in the order in which jobs move.  True when the job was found. */
static bool look_in_states(const struct spool *spool, struct text id, struct known *known,
                           bool *sure)
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
            known->dependency.kind = place.state == STATE_HELD ? DEPENDENCY_HELD : DEPENDENCY_ON;
        return true;
    }
    int found = jobs_find_done(spool, id, &place);
    *sure = *sure && found >= 0;
    if (found > 0)
        known->dependency.kind = DEPENDENCY_DONE;
    return found > 0;
}

static void look_everywhere(struct dependencies *dependencies, struct text id, struct known *known)
{
    bool sure = true;
    for (int looks = 0; looks < 2; looks++) {
        if (look_in_states(dependencies->spool, id, known, &sure)) {
            known->seen = true;
            known->gone = 0;
            return;
        }
    }
    int64_t now = clock_elapsed();
    if (known->gone == 0)
        known->gone = now;
    bool gone = sure && (!known->seen || now - known->gone >= dependencies->patience);
    known->dependency.kind = gone ? DEPENDENCY_GONE : DEPENDENCY_UNSURE;
}

static struct known *find_known(struct dependencies *dependencies, struct text id)
{
    struct known *known = names_find(dependencies->known, id);
    if (!known)
        known = names_add(dependencies->known, id);
    return known;
}

const struct dependency_status *dependency_find(struct dependencies *dependencies, struct text id)
{
    struct known *known = find_known(dependencies, id);
    if (!known)
        return &dependencies->unsure.dependency;
    if (known->asked != dependencies->pass) {
        known->asked = dependencies->pass;
        if (known->dependency.kind != DEPENDENCY_DONE)
            look_everywhere(dependencies, id, known);
    }
    return &known->dependency;
}

static bool log_has_start(int job)
{
    struct buffer log = {0};
    struct event event;
    bool begun = false;
    if (eventlog_read_undamaged(job, &log, NULL) == 0)
        for (struct text rest = buffer_text(&log); !begun && eventlog_next(&rest, &event);)
            begun = text_is(event.name, "started");
    buffer_free(&log);
    return begun;
}

bool dependency_has_begun(struct dependencies *dependencies, struct text id)
{
    struct known *known = find_known(dependencies, id);
    struct job_place place;
    struct guard_before before;
    if (!known || known->begun || jobs_find(dependencies->spool, id, &place, NULL))
        return known && known->begun;
    int job = job_open(dependencies->spool, &place);
    if (job < 0)
        return false;
    if (guard_begin(guard_own(), place.id, &before)) {
        known->begun = log_has_start(job);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
    return known->begun;
}
