/* client/gather.c - the jobs of a spool, newest first, one after another */
#include "client/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "spool/day_names.h"

struct places {
    struct job_place *items;
    size_t count, capacity;
    size_t next; /* the first that was not returned yet */
};

struct gathering {
    const struct spool *spool;
    const struct job_filter *filter;
    struct places open, ended; /* newest first from `next` on */
    day_name *days;            /* of done/, newest first */
    size_t day_count, day_next;
    bool skip_ended;
};

static void add_place(struct places *places, const struct job_place *place)
{
    places->items =
        memory_grow(places->items, places->count, &places->capacity, sizeof(*places->items));
    places->items[places->count++] = *place;
}

static int take_place(void *context, const struct job_place *place)
{
    struct gathering *gathering = context;
    bool ended = place->state == STATE_DONE || place->state == STATE_FAILED;
    if (job_filter_may_take(gathering->filter, place))
        add_place(ended ? &gathering->ended : &gathering->open, place);
    return 0;
}

static int compare_newest(const void *a, const void *b)
{
    const struct job_place *first = a, *second = b;
    int order = memcmp(second->id + strlen(second->id) - TOKEN_LENGTH,
                       first->id + strlen(first->id) - TOKEN_LENGTH, TOKEN_LENGTH);
    return order ? order : strcmp(first->id, second->id);
}

static void sort_places(struct places *places)
{
    if (places->count > places->next)
        qsort(places->items + places->next, places->count - places->next, sizeof(*places->items),
              compare_newest);
}

struct gathering *gather_open(const struct spool *spool, const struct job_filter *filter)
{
    struct gathering *gathering = memory_allocate(sizeof(*gathering));
    *gathering = (struct gathering){.spool = spool, .filter = filter};
    int result = 0;
    for (int i = 0; i < STATE_DONE && !result; i++)
        if (!filter->state || job_state_may_be_in(&filter->states, (enum state)i))
            result = jobs_walk(spool, (enum state)i, take_place, gathering);
    if (!result && (!filter->state || job_state_may_be_in(&filter->states, STATE_DONE)))
        result = jobs_list_days(spool, &gathering->days, &gathering->day_count);
    sort_places(&gathering->open);
    sort_places(&gathering->ended);
    if (!result)
        return gathering;
    int keep = errno;
    gather_close(gathering);
    errno = keep;
    return NULL;
}

void gather_close(struct gathering *gathering)
{
    free(gathering->open.items);
    free(gathering->ended.items);
    free(gathering->days);
    free(gathering);
}

/* Can a job that ended on `day` be newer than the newest one at hand?  A job ends on or after
 * the day of its acceptance, so a day before the acceptance of that one has only older jobs. */
static bool may_be_newer(const char *day, const struct places *ended)
{
    char date[CLOCK_TEXT_SIZE];
    if (ended->next == ended->count)
        return true;
    return strcmp(clock_date(id_time(text_of(ended->items[ended->next].id)), date), day) <= 0;
}

/* Those that were taken need no memory any more, of which there may be millions. */
static void drop_taken(struct places *places)
{
    places->count -= places->next;
    if (places->count)
        memmove(places->items, places->items + places->next,
                places->count * sizeof(*places->items));
    places->next = 0;
}

static int read_days(struct gathering *gathering)
{
    char begin[ID_SIZE];
    job_filter_begin(gathering->filter, begin);
    while (gathering->day_next < gathering->day_count &&
           may_be_newer(gathering->days[gathering->day_next], &gathering->ended)) {
        const char *day = gathering->days[gathering->day_next++];
        char first[CLOCK_TEXT_SIZE];
        if (gathering->filter->since &&
            strcmp(day, clock_date(gathering->filter->since, first)) < 0) {
            gathering->day_next = gathering->day_count; /* earlier days neither */
            break;
        }
        drop_taken(&gathering->ended);
        if (day_names_visit(gathering->spool, day, text_of(begin), take_place, gathering) < 0)
            return -1;
        sort_places(&gathering->ended);
    }
    return 0;
}

static const struct job_place *next_place(const struct places *places)
{
    return places->next < places->count ? &places->items[places->next] : NULL;
}

int gather_next(struct gathering *gathering, struct job_place *place)
{
    if (!gathering->skip_ended && read_days(gathering))
        return -1;
    const struct job_place *open = next_place(&gathering->open);
    const struct job_place *ended = gathering->skip_ended ? NULL : next_place(&gathering->ended);
    if (!open && !ended)
        return 0;
    bool first = open && (!ended || compare_newest(open, ended) < 0);
    *place = first ? *open : *ended;
    if (first)
        gathering->open.next++;
    else
        gathering->ended.next++;
    return 1;
}

void gather_skip_ended(struct gathering *gathering)
{
    gathering->skip_ended = true;
}

size_t gather_left(const struct gathering *gathering, bool *more)
{
    *more = gathering->day_next < gathering->day_count;
    return gathering->ended.count - gathering->ended.next +
           (gathering->open.count - gathering->open.next);
}
