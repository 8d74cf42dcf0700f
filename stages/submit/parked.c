/* stages/submit/parked.c - jobs of rendered/ that are over a row of limits.rows */
#include "stages/submit/parked.h"

#include <stdlib.h>

#include "base/names.h"

struct line {
    const struct limit_row *row;
    struct queue *jobs;
};

struct parked {
    struct names *lines; /* the key of a row and a subject -> struct line */
    struct names *ids;   /* -> struct standing */
    struct names *
        turns; /* ids of jobs that have left their line, or never had to stand in one -> struct standing */
};

/* What a job waits for, or has its turn under. */
struct standing {
    const struct line *line; /* NULL: none */
    int gpus;
};

struct parked *parked_new(void)
{
    struct parked *parked = memory_allocate(sizeof(*parked));
    *parked = (struct parked){.lines = names_new(SIZE_MAX, sizeof(struct line)),
                              .ids = names_new(SIZE_MAX, sizeof(struct standing)),
                              .turns = names_new(SIZE_MAX, sizeof(struct standing))};
    return parked;
}

void parked_free(struct parked *parked)
{
    if (!parked)
        return;
    for (struct line *line = names_first(parked->lines); line; line = names_after(line))
        queue_free(line->jobs);
    names_free(parked->lines);
    names_free(parked->ids);
    names_free(parked->turns);
    free(parked);
}

static bool fits_room(const struct queue_job *job, const struct use_amounts *room)
{
    return room->jobs >= 1 && job->demand.cpus <= room->cpus &&
           job->demand.memory <= room->memory && job->demand.gpus <= room->gpus &&
           job->gpu_time <= room->gpu_time;
}

static bool is_beyond(int64_t amount, int64_t limit)
{
    return limit >= 0 && amount > limit;
}

/* Is this more than the row allows while nobody uses anything? */
static bool fits_never(const struct limit_row *row, const struct queue_job *job)
{
    return row->running == 0 || is_beyond(job->demand.cpus, row->cpus) ||
           is_beyond(job->demand.memory, row->memory) ||
           is_beyond(job->demand.gpus, limit_row_most_gpus(row)) ||
           is_beyond(job->gpu_time, row->gpu_time);
}

/* Times what it needs to start, and back. */
static void multiply(struct queue_job *job)
{
    const int times = job->at_once > 0 ? job->at_once : 1;
    job->demand.cpus *= times;
    job->demand.memory *= times;
    job->demand.gpus *= times;
}

static void divide(struct queue_job *job)
{
    const int times = job->at_once > 0 ? job->at_once : 1;
    job->demand.cpus /= times;
    job->demand.memory /= times;
    job->demand.gpus /= times;
}

void parked_add(struct parked *parked, const struct use_over *over, const struct queue_job *job)
{
    struct queue_job whole = *job;
    if (parked_has(parked, job->id))
        return;
    struct standing *standing = names_add(parked->ids, text_of(job->id));
    parked_end_turn(parked, job->id);
    multiply(&whole);
    if (fits_never(over->row, &whole))
        return;
    struct line *line = names_find(parked->lines, over->key);
    if (!line) {
        line = names_add(parked->lines, over->key);
        *line = (struct line){over->row, queue_new()};
    }
    queue_add(line->jobs, &whole);
    *standing = (struct standing){line, whole.demand.gpus};
}

bool parked_has(const struct parked *parked, const char *id)
{
    return names_find(parked->ids, text_of(id)) != NULL;
}

size_t parked_count(const struct parked *parked)
{
    return names_count(parked->ids);
}

bool parked_keeps_back(const struct parked *parked, struct text key, const struct use_amounts *room,
                       const struct queue_job *job)
{
    const struct demand *demand = &job->demand;
    const struct line *line = names_find(parked->lines, key);
    const struct queue_job *first = line ? queue_first(line->jobs) : NULL;
    return first && (room->jobs < 1 || (first->demand.cpus > room->cpus && demand->cpus) ||
                     (first->demand.memory > room->memory && demand->memory) ||
                     (first->demand.gpus > room->gpus && demand->gpus) ||
                     (first->gpu_time > room->gpu_time && job->gpu_time));
}

/* Does the first of that line fit into what is its queue's own? */
static bool claims_own(const struct line *line, const struct cohort_queue *queue)
{
    const struct queue_job *first = queue_first(line->jobs);
    return !first || queue->used + first->demand.gpus <= queue->own;
}

static void claim(const struct standing *standing, bool has_turn, const struct use_cohort *cohort)
{
    for (size_t i = 0; standing->line && i < cohort->count; i++) {
        struct cohort_queue *queue = &cohort->queues[i];
        if (cohort->rows[i] == standing->line->row &&
            (has_turn || claims_own(standing->line, queue)) &&
            queue->used + queue->claim + standing->gpus <= queue->own)
            queue->claim += standing->gpus;
    }
}

void parked_claim(const struct parked *parked, const struct use_cohort *cohort)
{
    struct standing *standing;
    for (standing = names_first(parked->turns); standing; standing = names_after(standing))
        claim(standing, true, cohort);
    for (standing = names_first(parked->ids); standing; standing = names_after(standing))
        claim(standing, false, cohort);
}

bool parked_leaves_none(const struct parked *parked, struct use *use, const struct limit_row *row,
                        const struct queue_job *job)
{
    if (!limit_row_shares(row) || !job->demand.gpus)
        return false;
    const struct use_cohort cohort = use_cohort(use, row);
    const struct cohort_queue *queue = &cohort.queues[cohort.which];
    if (queue->used + job->demand.gpus <= queue->own)
        return false;
    parked_claim(parked, &cohort);
    return job->demand.gpus > cohort_room_beside_claims(cohort.queues, cohort.count, cohort.which);
}

const struct queue_job *parked_first(const struct parked *parked, const struct limit_row *row)
{
    for (struct line *line = names_first(parked->lines); line; line = names_after(line))
        if (line->row == row && queue_first(line->jobs))
            return queue_first(line->jobs);
    return NULL;
}

void parked_walk(const struct parked *parked, parked_visit *visit, void *context)
{
    for (struct line *line = names_first(parked->lines); line; line = names_after(line)) {
        const struct use_over over = {.row = line->row, .key = names_text(line)};
        const struct queue_job *first = queue_first(line->jobs);
        if (first)
            visit(context, &over, first);
    }
}

void parked_note_turn(struct parked *parked, const char *id)
{
    if (!parked_has_turn(parked, id))
        names_add(parked->turns, text_of(id));
}

bool parked_has_turn(const struct parked *parked, const char *id)
{
    return names_find(parked->turns, text_of(id)) != NULL;
}

void parked_end_turn(struct parked *parked, const char *id)
{
    void *turn = names_find(parked->turns, text_of(id));
    if (turn)
        names_remove(parked->turns, turn);
}

/* The first of a line leaves it. */
static void take_first(struct parked *parked, struct line *line, struct queue_job *job)
{
    queue_take(line->jobs, job);
    names_remove(parked->ids, names_find(parked->ids, text_of(job->id)));
}

/* It has its turn, and claims what it waited for until it starts. */
static void give_turn(struct parked *parked, const struct line *line, const struct queue_job *job)
{
    parked_note_turn(parked, job->id);
    struct standing *standing = names_find(parked->turns, text_of(job->id));
    if (standing)
        *standing = (struct standing){line, job->demand.gpus};
}

void parked_wake(struct parked *parked, struct use *use, struct queue *queue,
                 const struct parked_waker *waker)
{
    struct queue_job job;
    for (struct line *line = names_first(parked->lines); line; line = names_after(line)) {
        const struct use_over over = {.row = line->row, .key = names_text(line)};
        struct use_amounts room = use_room(use, &over);
        const struct queue_job *first;
        while ((first = queue_first(line->jobs))) {
            bool fits =
                fits_room(first, &room) && !parked_leaves_none(parked, use, line->row, first);
            if (!fits && waker->is_there(waker->context, first->id))
                break;
            take_first(parked, line, &job);
            waker->woken(waker->context, job.id);
            if (!fits)
                continue; /* it was killed, held or moved, and keeps nobody waiting */
            room.jobs -= 1;
            room.cpus -= job.demand.cpus;
            room.memory -= job.demand.memory;
            room.gpus -= job.demand.gpus;
            room.gpu_time -= job.gpu_time;
            give_turn(parked, line, &job);
            divide(&job);
            queue_add(queue, &job);
        }
    }
}
