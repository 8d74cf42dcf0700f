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
};

struct parked *parked_new(void)
{
    struct parked *parked = memory_allocate(sizeof(*parked));
    *parked = (struct parked){.lines = names_new(SIZE_MAX, sizeof(struct line)),
                              .ids = names_new(SIZE_MAX, 0)};
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
    free(parked);
}

static bool fits_room(const struct demand *demand, const struct use_amounts *room)
{
    return room->jobs >= 1 && demand->cpus <= room->cpus && demand->memory <= room->memory &&
           demand->gpus <= room->gpus;
}

static bool is_beyond(int64_t amount, int64_t limit)
{
    return limit >= 0 && amount > limit;
}

/* Is this more than the row allows while nobody uses anything? */
static bool fits_never(const struct limit_row *row, const struct demand *demand)
{
    return row->running == 0 || is_beyond(demand->cpus, row->cpus) ||
           is_beyond(demand->memory, row->memory) || is_beyond(demand->gpus, row->gpus);
}

void parked_add(struct parked *parked, const struct use_over *over, const struct queue_job *job)
{
    if (parked_has(parked, job->id))
        return;
    names_add(parked->ids, text_of(job->id));
    if (fits_never(over->row, &job->demand))
        return;
    struct line *line = names_find(parked->lines, over->key);
    if (!line) {
        line = names_add(parked->lines, over->key);
        *line = (struct line){over->row, queue_new()};
    }
    queue_add(line->jobs, job);
}

bool parked_has(const struct parked *parked, const char *id)
{
    return names_find(parked->ids, text_of(id)) != NULL;
}

size_t parked_count(const struct parked *parked)
{
    return names_count(parked->ids);
}

void parked_wake(struct parked *parked, struct use *use, struct queue *queue, parked_woken *woken,
                 void *context)
{
    struct queue_job job;
    for (struct line *line = names_first(parked->lines); line; line = names_after(line)) {
        const struct use_over over = {.row = line->row, .key = names_text(line)};
        struct use_amounts room = use_room(use, &over);
        const struct queue_job *first;
        while ((first = queue_first(line->jobs)) && fits_room(&first->demand, &room) &&
               queue_take(line->jobs, &job)) {
            room.jobs -= 1;
            room.cpus -= job.demand.cpus;
            room.memory -= job.demand.memory;
            room.gpus -= job.demand.gpus;
            names_remove(parked->ids, names_find(parked->ids, text_of(job.id)));
            queue_add(queue, &job);
            woken(context, job.id);
        }
    }
}
