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

struct dependency {
    struct dependency_status status;
    struct dependency_waiter *waiters;
    struct timespec changed; /* of its directory in failed/ when its record was read; 0: in doubt */
    int64_t gone;            /* of clock_elapsed: since when it has been nowhere; 0: it is not */
    uint32_t asked;          /* whether it has begun: before which look */
    bool begun;              /* its log says so */
    bool seen;               /* it was somewhere once */
    bool is_known;           /* it was looked up */
    bool is_doubted;         /* it stands in the list of these */
};

struct dependencies {
    const struct spool *spool;
    int64_t patience;
    uint32_t looks;
    struct names *known; /* id -> struct dependency */
    struct dependency **doubted;
    size_t count, capacity; /* of those */
};

static char no_reason[] = "";

struct dependencies *dependencies_new(const struct spool *spool, int64_t patience)
{
    struct dependencies *dependencies = memory_allocate(sizeof(*dependencies));
    *dependencies = (struct dependencies){.spool = spool, .patience = patience, .looks = 1};
    dependencies->known = names_new(SIZE_MAX, sizeof(struct dependency));
    return dependencies;
}

static void free_reason(struct dependency *dependency)
{
    if (dependency->status.reason != no_reason)
        free(dependency->status.reason);
}

void dependencies_free(struct dependencies *dependencies)
{
    if (!dependencies)
        return;
    struct dependency *dependency = names_first(dependencies->known);
    for (; dependency; dependency = names_after(dependency))
        free_reason(dependency);
    names_free(dependencies->known);
    free(dependencies->doubted);
    free(dependencies);
}

bool dependencies_any(const struct dependencies *dependencies)
{
    return names_count(dependencies->known) > 0;
}

static void doubt(struct dependencies *dependencies, struct dependency *dependency)
{
    if (dependency->is_doubted)
        return;
    dependency->is_doubted = true;
    dependencies->doubted = memory_grow(dependencies->doubted, dependencies->count,
                                        &dependencies->capacity, sizeof(struct dependency *));
    dependencies->doubted[dependencies->count++] = dependency;
}

void dependencies_doubt(struct dependencies *dependencies, struct text id)
{
    struct dependency *dependency =
        dependencies_any(dependencies) ? names_find(dependencies->known, id) : NULL;
    if (dependency)
        doubt(dependencies, dependency);
}

void dependencies_doubt_all(struct dependencies *dependencies)
{
    struct dependency *dependency = names_first(dependencies->known);
    for (; dependency; dependency = names_after(dependency))
        doubt(dependencies, dependency);
}

/* The next look forgets it if nobody waits for it. */
static struct dependency *know(struct dependencies *dependencies, struct text id)
{
    struct dependency *dependency = names_find(dependencies->known, id);
    if (dependency)
        return dependency;
    dependency = names_add(dependencies->known, id);
    dependency->status.reason = no_reason;
    doubt(dependencies, dependency);
    return dependency;
}

void dependency_await(struct dependencies *dependencies, struct text id,
                      struct dependency_waiter *waiter)
{
    struct dependency *dependency = know(dependencies, id);
    dependency_leave(dependencies, waiter);
    *waiter = (struct dependency_waiter){
        .on = dependency, .next = dependency->waiters, .link = &dependency->waiters};
    if (waiter->next)
        waiter->next->link = &waiter->next;
    dependency->waiters = waiter;
}

void dependency_leave(struct dependencies *dependencies, struct dependency_waiter *waiter)
{
    if (!waiter->on)
        return;
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    if (!waiter->on->waiters)
        doubt(dependencies, waiter->on);
    *waiter = (struct dependency_waiter){.on = NULL};
}

struct text dependency_id(const struct dependency_waiter *waiter)
{
    return waiter->on ? names_text(waiter->on) : TEXT("");
}

bool dependency_is_awaited(const struct dependencies *dependencies, struct text id)
{
    const struct dependency *dependency = names_find(dependencies->known, id);
    return dependency && dependency->waiters;
}

/* This is how it is.  Was it something else, as far as was known? */
static bool take(struct dependency *dependency, enum dependency_state kind, struct text reason)
{
    struct text known = text_of(dependency->status.reason);
    if (reason.length >= REASON_SIZE)
        reason.length = REASON_SIZE - 1;
    bool same = text_equal(known, reason);
    bool changed = !same || dependency->status.kind != kind;
    dependency->status.kind = kind;
    if (same)
        return changed;
    free_reason(dependency);
    dependency->status.reason = reason.length ? memory_copy_text(reason) : no_reason;
    return changed;
}

static bool read_failure(int job, const struct stat *status, struct dependency *dependency)
{
    struct arena *arena = arena_new();
    struct job_record record;
    struct stat request;
    bool changed;
    if (record_read(job, arena, &record, NULL) == 0 && record.failed) {
        bool asked = !sys.fstatat(job, "retry", &request, AT_SYMLINK_NOFOLLOW);
        changed =
            take(dependency,
                 record.failure.when == RETRY_NEVER && !asked ? DEPENDENCY_LOST : DEPENDENCY_FAILED,
                 record.failure.reason);
        dependency->changed = job_is_settled(status) ? status->st_mtim : (struct timespec){0};
    } else {
        changed = take(dependency, DEPENDENCY_UNSURE, TEXT(""));
    }
    arena_free(arena);
    return changed;
}

static bool has_failed(const struct dependency *dependency)
{
    return dependency->status.kind == DEPENDENCY_FAILED ||
           dependency->status.kind == DEPENDENCY_LOST;
}

/* Read why it failed, unless that is known. */
static bool look_at_failed(const struct spool *spool, const struct job_place *place,
                           const struct stat *status, struct dependency *dependency)
{
    struct guard_before before;
    bool changed = false;
    if (has_failed(dependency) && dependency->changed.tv_sec == status->st_mtim.tv_sec &&
        dependency->changed.tv_nsec == status->st_mtim.tv_nsec)
        return false;
    int job = job_open(spool, place);
    if (job >= 0 && guard_begin(guard_own(), place->id, &before)) {
        changed = read_failure(job, status, dependency);
        guard_return(guard_own(), &before);
    } else {
        changed = take(dependency, DEPENDENCY_UNSURE, TEXT(""));
    }
    if (job >= 0)
        sys.close(job);
    return changed;
}

/* Look into every state, in the order in which jobs move.  True when the job was found; *changed: and not as it was. */
static bool look_in_states(const struct spool *spool, struct dependency *dependency, bool *sure,
                           bool *changed)
{
    static const enum state order[] = {STATE_RENDERED, STATE_SUBMITTED, STATE_HELD, STATE_FAILED};
    struct job_place place = {.date = ""};
    struct stat status;
    struct text id = names_text(dependency);
    text_copy(place.id, sizeof(place.id), id);
    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        place.state = order[i];
        if (sys.fstatat(spool->states[order[i]], place.id, &status, AT_SYMLINK_NOFOLLOW)) {
            *sure = *sure && errno == ENOENT;
            continue;
        }
        if (place.state == STATE_FAILED)
            *changed = look_at_failed(spool, &place, &status, dependency);
        else
            *changed = take(dependency, place.state == STATE_HELD ? DEPENDENCY_HELD : DEPENDENCY_ON,
                            TEXT(""));
        return true;
    }
    int found = jobs_find_done(spool, id, &place);
    *sure = *sure && found >= 0;
    if (found > 0)
        *changed = take(dependency, DEPENDENCY_DONE, TEXT(""));
    return found > 0;
}

static bool look_everywhere(const struct dependencies *dependencies, struct dependency *dependency)
{
    bool sure = true, changed = false;
    for (int looks = 0; looks < 2; looks++) {
        if (look_in_states(dependencies->spool, dependency, &sure, &changed)) {
            dependency->seen = true;
            dependency->gone = 0;
            return changed;
        }
    }
    int64_t now = clock_elapsed();
    if (dependency->gone == 0)
        dependency->gone = now;
    bool gone = sure && (!dependency->seen || now - dependency->gone >= dependencies->patience);
    return take(dependency, gone ? DEPENDENCY_GONE : DEPENDENCY_UNSURE, TEXT(""));
}

/* Must it be looked at again though nothing tells of it?  So must a failed job that was read too soon after a
 * change. */
static bool stays_in_doubt(const struct dependency *dependency)
{
    enum dependency_state kind = dependency->status.kind;
    return kind == DEPENDENCY_UNSURE || kind == DEPENDENCY_GONE ||
           (has_failed(dependency) && !dependency->changed.tv_sec && !dependency->changed.tv_nsec);
}

/* Look it up.  Is it not as it was? */
static bool look(struct dependencies *dependencies, struct dependency *dependency)
{
    dependency->is_known = true;
    if (dependency->status.kind == DEPENDENCY_DONE)
        return false;
    bool changed = look_everywhere(dependencies, dependency);
    if (stays_in_doubt(dependency))
        doubt(dependencies, dependency);
    return changed;
}

static const struct dependency_status *status_of(struct dependencies *dependencies,
                                                 struct dependency *dependency)
{
    if (!dependency->is_known)
        look(dependencies, dependency);
    return &dependency->status;
}

const struct dependency_status *dependency_of(struct dependencies *dependencies,
                                              const struct dependency_waiter *waiter)
{
    return status_of(dependencies, waiter->on);
}

const struct dependency_status *dependency_find(struct dependencies *dependencies, struct text id)
{
    return status_of(dependencies, know(dependencies, id));
}

void dependencies_look(struct dependencies *dependencies, dependency_visit *visit, void *context)
{
    struct dependency **doubted = dependencies->doubted;
    size_t count = dependencies->count;
    dependencies->doubted = NULL;
    dependencies->count = dependencies->capacity = 0;
    dependencies->looks++;
    for (size_t i = 0; i < count; i++) {
        struct dependency *dependency = doubted[i];
        dependency->is_doubted = false;
        if (!dependency->waiters) {
            free_reason(dependency);
            names_remove(dependencies->known, dependency);
        } else if (look(dependencies, dependency)) {
            struct dependency_waiter *waiter = dependency->waiters;
            for (; waiter; waiter = waiter->next)
                visit(context, waiter);
        }
    }
    free(doubted);
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

static bool look_for_start(const struct spool *spool, struct text id)
{
    struct job_place place;
    struct guard_before before;
    bool begun = false;
    int job = jobs_find(spool, id, &place, NULL) ? -1 : job_open(spool, &place);
    if (job < 0)
        return false;
    if (guard_begin(guard_own(), place.id, &before)) {
        begun = log_has_start(job);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
    return begun;
}

bool dependency_has_begun(struct dependencies *dependencies, const struct dependency_waiter *waiter)
{
    struct dependency *dependency = waiter->on;
    if (!dependency->begun && dependency->asked != dependencies->looks) {
        dependency->asked = dependencies->looks;
        dependency->begun = look_for_start(dependencies->spool, names_text(dependency));
    }
    return dependency->begun;
}
