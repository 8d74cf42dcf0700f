/* stages/shared/gpu_time.c - how long GPUs were held within the periods of rows with gpu_hours */
#include "stages/shared/gpu_time.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "base/window.h"
#include "spool/usage_tail.h"

enum { MOST_HOLDERS = 1 << 16, NAME_SIZE = 64 }; /* each takes some 600 bytes */

struct holder { /* whom a row is about, who has held GPUs within its period */
    const struct limit_row *row;
    char name[NAME_SIZE];
    struct window window;
};

struct gpu_time {
    const struct spool *spool;
    const struct limit_row *rows;
    size_t row_count;
    int64_t longest; /* period */
    int64_t begun;   /* when the reading began, time of day */
    int64_t now;     /* of this look */
    struct usage_tail *tail;
    struct names *holders; /* by key -> struct holder; NULL: nothing was read yet */
};

struct gpu_time *gpu_time_new(const struct spool *spool, const struct limit_row *rows, size_t count)
{
    int64_t longest = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].gpu_time >= 0 && rows[i].gpu_period > longest)
            longest = rows[i].gpu_period;
    if (!longest)
        return NULL;
    struct gpu_time *time = memory_allocate(sizeof(*time));
    *time = (struct gpu_time){.spool = spool, .rows = rows, .row_count = count, .longest = longest};
    return time;
}

void gpu_time_free(struct gpu_time *time)
{
    if (!time)
        return;
    names_free(time->holders);
    usage_tail_free(time->tail);
    free(time);
}

/* How long the attempt held GPUs: what was measured, or from its start to its end. */
static int64_t held_by(const struct usage *usage)
{
    if (usage->gpu_held >= 0)
        return usage->gpu_held;
    int64_t gpus = usage->gpus > 0 ? usage->gpus : usage->gpus_asked;
    return usage->started && usage->ended > usage->started && gpus > 0
               ? gpus * (usage->ended - usage->started)
               : 0;
}

static struct holder *find_holder(struct gpu_time *time, const struct limit_row *row,
                                  const struct usage *usage)
{
    char key[LIMIT_ROW_KEY_SIZE];
    if (row->gpu_time < 0 || !limit_row_key(row, (size_t)(row - time->rows), (uid_t)usage->uid,
                                            (gid_t)usage->gid, usage->queue, usage->gpu_type, key))
        return NULL;
    struct holder *holder = names_find(time->holders, text_of(key));
    if (holder || !(holder = names_add(time->holders, text_of(key))))
        return holder;
    holder->row = row;
    if (row->subject == LIMIT_GROUP)
        snprintf(holder->name, sizeof(holder->name), "%lld", (long long)usage->gid);
    else
        text_copy(holder->name, sizeof(holder->name),
                  row->subject == LIMIT_USER ? usage->user : usage->queue);
    return holder;
}

static int take_attempt(void *context, const struct usage *usage)
{
    struct gpu_time *time = context;
    int64_t held = held_by(usage), ended = usage->ended ? usage->ended : usage->written;
    for (size_t i = 0; i < time->row_count && held > 0; i++) {
        struct holder *holder = find_holder(time, &time->rows[i], usage);
        if (holder)
            window_add(&holder->window, time->rows[i].gpu_period,
                       usage->started ? usage->started : ended, ended, held, time->now);
    }
    return 0;
}

/* Read all months of the longest period anew.  What was known still counts when that fails. */
static int count_anew(struct gpu_time *time, struct error *error)
{
    struct gpu_time next = *time;
    next.begun = time->now;
    next.holders = names_new(MOST_HOLDERS, sizeof(struct holder));
    next.tail = usage_tail_new(time->spool, time->now - time->longest);
    bool failed = usage_tail_read(next.tail, take_attempt, &next, error) != 0;
    struct gpu_time *old = failed ? &next : time;
    names_free(old->holders);
    usage_tail_free(old->tail);
    if (failed)
        return -1;
    *time = next;
    return 0;
}

int gpu_time_look(struct gpu_time *time, struct error *error)
{
    struct error problem;
    time->now = clock_now();
    bool known = time->holders && time->now >= time->begun; /* else the clock was set back */
    if (known && !usage_tail_read(time->tail, take_attempt, time, &problem))
        return 0;
    if (known)
        log_detail("%s; GPU-hours are counted anew", problem.text);
    return count_anew(time, error);
}

int64_t gpu_time_used(const struct gpu_time *time, const struct limit_row *row, struct text key)
{
    const struct holder *holder = time->holders ? names_find(time->holders, key) : NULL;
    return holder ? window_used(&holder->window, row->gpu_period, time->now) : 0;
}

int64_t gpu_time_falls(const struct gpu_time *time, const struct limit_row *row, struct text key,
                       int64_t most)
{
    const struct holder *holder = time->holders ? names_find(time->holders, key) : NULL;
    return holder ? window_falls(&holder->window, row->gpu_period, time->now, most) : time->now;
}

void gpu_time_walk(const struct gpu_time *time, gpu_time_visit *visit, void *context)
{
    for (struct holder *holder = time->holders ? names_first(time->holders) : NULL; holder;
         holder = names_after(holder))
        visit(context, holder->row, names_text(holder), text_of(holder->name));
}
