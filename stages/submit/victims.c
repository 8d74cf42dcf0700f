/* stages/submit/victims.c - which running jobs are stopped so that others get what is theirs */
#include "stages/submit/victims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "spool/progress_file.h"
#include "spool/usage.h"
#include "stages/guard.h"
#include "stages/shared/resize.h"

/* ---- who runs ---- */

struct reading {
    const struct victims_terms *terms;
    struct arena *arena;
    struct victims *victims;
    size_t capacity;
    struct error unread; /* a job that could not be read now; or "" */
};

/* -1 and a sentence when its log cannot be read now. */
static int read_times(const struct reading *reading, int job, const struct job_record *record,
                      struct usage_times *times, struct error *error)
{
    struct buffer log = {0};
    struct text node;
    int result = eventlog_read(job, &log, error);
    bool passes = result && !file_is_damaged(errno);
    *times = (struct usage_times){0};
    if (!result)
        usage_recall(buffer_text(&log), record->attempt, reading->arena, times, &node);
    buffer_free(&log);
    return passes ? -1 : 0;
}

/* For how long has its present attempt run? */
static int64_t time_run(const struct usage_times *times, int64_t now)
{
    return times->started && times->started < now ? now - times->started : 0;
}

/* What is done again: from its checkpoint on, what a start costs; without one, everything. */
static double find_loss(const struct victim *victim, int job)
{
    struct progress progress;
    double width = victim->has.gpus ? (double)victim->has.gpus : (double)victim->has.cpus / 1000;
    int64_t lost = victim->ran;
    if (victim->saves) {
        bool known = progress_file_read(job, &progress, NULL) == 0;
        int64_t cost = known && progress.restart > 0 ? progress.restart
                       : known                       ? progress.start_up
                                                     : 0;
        lost = cost > 0 && cost < lost ? cost : 0;
    }
    return width * (double)lost / 1000;
}

/* A job that a scheduler keeps waiting holds nothing yet, and loses nothing. */
static bool is_exempt(const struct reading *reading, const struct victim *victim)
{
    if (!victim->ran && !reading->terms->start_at_once)
        return false;
    for (size_t i = 0; i < reading->terms->limits->row_count; i++) {
        const struct limit_row *row = &reading->terms->limits->rows[i];
        if (victim->ran < row->exempt &&
            limit_row_holds_for(row, 0, 0, victim->queue, victim->record->gpu_type))
            return true;
    }
    return false;
}

/* -1 and a sentence when it cannot be read now whether it may be stopped, or stops already. */
static int read_victim(struct reading *reading, const struct job_place *place, int job,
                       struct error *error)
{
    struct job_record *record = arena_allocate(reading->arena, sizeof(*record));
    struct resize_request request;
    struct usage_times times;
    if (record_read(job, reading->arena, record, error))
        return file_is_damaged(errno) ? 0 : -1;
    if (!record->queue.length)
        return 0;
    int pending = resize_pending(job, record, &request);
    if (pending < 0)
        return error_set(error, "it is unknown whether it is to stop");
    if (read_times(reading, job, record, &times, error))
        return -1;
    struct victims *victims = reading->victims;
    victims->items =
        memory_grow(victims->items, victims->count, &reading->capacity, sizeof(*victims->items));
    struct victim *victim = &victims->items[victims->count++];
    *victim = (struct victim){.id = arena_string(reading->arena, place->id),
                              .queue = record->queue,
                              .priority = record->priority,
                              .has = use_of(record),
                              .saves = record->checkpoint_signal.length > 0,
                              .record = record};
    victim->ran = time_run(&times, reading->terms->now);
    /* Between its end and its move to another directory it is still counted, and no request is pending. */
    victim->stops = times.ended || (pending && request.to == 0);
    victim->is_exempt = is_exempt(reading, victim);
    victim->loss = find_loss(victim, job);
    return 0;
}

static void note_unread(struct reading *reading, const struct job_place *place,
                        const struct error *problem)
{
    char buffer[PLACE_TEXT_SIZE];
    error_set(&reading->unread, "%s: %s", job_place_text(place, buffer), problem->text);
}

static int see_job(void *context, const struct job_place *place)
{
    struct reading *reading = context;
    struct guard_before before;
    struct error error;
    int job = job_open(reading->terms->spool, place);
    if (job < 0 && file_is_damaged(errno))
        return 0; /* it has just ended */
    if (job < 0) {
        error_errno(&error, "its directory could not be opened");
        note_unread(reading, place, &error);
        return 0;
    }
    if (guard_begin(guard_own(), place->id, &before)) {
        if (read_victim(reading, place, job, &error))
            note_unread(reading, place, &error);
        guard_return(guard_own(), &before);
    }
    sys.close(job);
    return 0;
}

/* Those that stop already are not chosen, but free what they have. */
static int by_loss(const void *a, const void *b)
{
    const struct victim *first = a, *second = b;
    if (first->stops != second->stops)
        return first->stops ? -1 : 1;
    if (first->priority != second->priority)
        return first->priority < second->priority ? -1 : 1;
    if (first->loss < second->loss || first->loss > second->loss)
        return first->loss < second->loss ? -1 : 1;
    /* who came last */
    return text_compare(id_token(text_of(second->id)), id_token(text_of(first->id)));
}

int victims_read(const struct victims_terms *terms, struct arena *arena, struct victims *victims,
                 struct error *error)
{
    struct reading reading = {.terms = terms, .arena = arena, .victims = victims};
    *victims = (struct victims){NULL, 0};
    int result = jobs_walk(terms->spool, STATE_SUBMITTED, see_job, &reading);
    if (result)
        error_errno(error, "submitted/ could not be read");
    else if (reading.unread.text[0])
        result = error_set(error, "%s", reading.unread.text);
    if (victims->count && !result)
        qsort(victims->items, victims->count, sizeof(*victims->items), by_loss);
    if (result) {
        free(victims->items);
        *victims = (struct victims){NULL, 0};
    }
    return result;
}

/* ---- who is chosen ---- */

static struct cohort_queue *queue_of(const struct use_cohort *cohort, const struct victim *victim)
{
    for (size_t i = 0; i < cohort->count; i++)
        if (limit_row_holds_for(cohort->rows[i], 0, 0, victim->queue, victim->record->gpu_type))
            return &cohort->queues[i];
    return NULL;
}

void victims_choose_borrowers(struct victims *victims, const struct use_cohort *cohort)
{
    size_t end = 0;
    for (; end < victims->count && cohort_shortage(cohort->queues, cohort->count); end++) {
        struct victim *victim = &victims->items[end];
        struct cohort_queue *queue = victim->has.gpus ? queue_of(cohort, victim) : NULL;
        bool may = queue && queue->used > queue->own && !victim->is_exempt;
        if (!may && !(queue && (victim->stops || victim->chosen)))
            continue;
        victim->chosen = victim->chosen || !victim->stops;
        queue->used -= victim->has.gpus;
    }
    while (end-- > 0) {
        struct victim *victim = &victims->items[end];
        if (!victim->chosen)
            continue;
        struct cohort_queue *queue = queue_of(cohort, victim);
        queue->used += victim->has.gpus;
        victim->chosen = cohort_shortage(cohort->queues, cohort->count) > 0;
        if (victim->chosen)
            queue->used -= victim->has.gpus;
    }
}

static bool is_enough(const struct use_amounts *needed)
{
    return needed->jobs <= 0 && needed->cpus <= 0 && needed->memory <= 0 && needed->gpus <= 0;
}

/* What it would free: GPUs of another type are of no use. */
static struct use_amounts freed_by(const struct victim *victim, struct text gpu_type)
{
    struct use_amounts freed = victim->has;
    if (gpu_type.length && !text_equal(victim->record->gpu_type, gpu_type))
        freed.gpus = 0;
    return freed;
}

static bool helps(const struct use_amounts *freed, const struct use_amounts *needed)
{
    return needed->jobs > 0 || (needed->cpus > 0 && freed->cpus) ||
           (needed->memory > 0 && freed->memory) || (needed->gpus > 0 && freed->gpus);
}

static void take(struct use_amounts *needed, const struct use_amounts *freed, int sign)
{
    needed->jobs -= sign;
    needed->cpus -= sign * freed->cpus;
    needed->memory -= sign * freed->memory;
    needed->gpus -= sign * freed->gpus;
}

void victims_choose_lower(struct victims *victims, struct text queue, int priority,
                          struct text gpu_type, struct use_amounts needed)
{
    bool *mine = memory_allocate(victims->count + 1);
    size_t end = 0;
    for (; end < victims->count && !is_enough(&needed); end++) {
        const struct victim *victim = &victims->items[end];
        const struct use_amounts freed = freed_by(victim, gpu_type);
        bool stops = victim->stops || victim->chosen;
        if (!text_equal(victim->queue, queue) || !helps(&freed, &needed) ||
            (!stops && (victim->priority >= priority || victim->is_exempt)))
            continue;
        mine[end] = !stops;
        take(&needed, &freed, 1);
    }
    bool enough = is_enough(&needed);
    while (end-- > 0) {
        const struct use_amounts freed = freed_by(&victims->items[end], gpu_type);
        if (!mine[end])
            continue;
        take(&needed, &freed, -1);
        if (enough && !is_enough(&needed)) {
            victims->items[end].chosen = true;
            take(&needed, &freed, 1);
        }
    }
    free(mine);
}
