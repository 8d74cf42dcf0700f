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
    struct names *ids;
    struct names *turns; /* ids of jobs that have left their line, or never had to stand in one */
};

struct parked *parked_new(void)
{
    struct parked *parked = memory_allocate(sizeof(*parked));
    *parked = (struct parked){.lines = names_new(SIZE_MAX, sizeof(struct line)),
                              .ids = names_new(SIZE_MAX, 0),
                              .turns = names_new(SIZE_MAX, 0)};
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
           is_beyond(job->demand.memory, row->memory) || is_beyond(job->demand.gpus, row->gpus) ||
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
    names_add(parked->ids, text_of(job->id));
    parked_end_turn(parked, job->id);
    if (fits_never(over->row, job))
        return;
    struct line *line = names_find(parked->lines, over->key);
    if (!line) {
        line = names_add(parked->lines, over->key);
        *line = (struct line){over->row, queue_new()};
    }
    queue_add(line->jobs, &whole);
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

void parked_wake(struct parked *parked, struct use *use, struct queue *queue,
                 const struct parked_waker *waker)
{
    struct queue_job job;
    for (struct line *line = names_first(parked->lines); line; line = names_after(line)) {
        const struct use_over over = {.row = line->row, .key = names_text(line)};
        struct use_amounts room = use_room(use, &over);
        const struct queue_job *first;
        while ((first = queue_first(line->jobs))) {
            bool fits = fits_room(first, &room);
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
            parked_note_turn(parked, job.id);
            divide(&job);
            queue_add(queue, &job);
        }
    }
}
