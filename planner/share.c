/* planner/share.c - the least share of the free capacity with which one job meets its deadline */
#include "planner/share.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

void share_append(struct share *share, const struct share_piece *piece)
{
    struct share_piece *last = share->count ? &share->pieces[share->count - 1] : NULL;
    if (last && last->size == piece->size && last->to >= piece->from) {
        last->to = piece->to;
        return;
    }
    share->pieces =
        memory_grow(share->pieces, share->count, &share->capacity, sizeof(*share->pieces));
    share->pieces[share->count++] = *piece;
}

double share_time_alone(const struct plan_job *job, const struct plan_level *level)
{
    double restart = level->size == job->size ? job->restart_left : job->restart;
    return restart + job->work / level->rate;
}

/* Does a change of size make up for its restart within `length` seconds? */
static bool is_worth_restart(const struct plan_job *job, const struct plan_level *from,
                             const struct plan_level *to, double length)
{
    return to->rate * (length - job->restart) > from->rate * length;
}

/* How many levels are free and not above the cap, searched from the previous result `fitting`. */
static size_t levels_fitting(const struct plan_level *levels, size_t fitting, size_t cap, int free)
{
    while (fitting <= cap && levels[fitting].size <= free)
        fitting++;
    while (fitting > 0 && levels[fitting - 1].size > free)
        fitting--;
    return fitting;
}

static void finish_share(struct share *share, double now)
{
    const struct share_piece *first = &share->pieces[0];
    bool runs = first->from <= now;
    share->finish = share->pieces[share->count - 1].to;
    share->size = runs ? first->size : 0;
    share->change = runs ? first->to : first->from;
    share->cost = 0;
    for (size_t i = 0; i < share->count; i++)
        share->cost += share->pieces[i].size * (share->pieces[i].to - share->pieces[i].from);
}

/* Plan the job up to the level `cap`, until `latest`.  True when that does all its work. */
static bool fill_until(struct share *share, const struct timeline *timeline,
                       const struct plan_job *job, size_t cap, double latest)
{
    const struct timeline_segment *segment = timeline->segments,
                                  *last = segment + timeline->count - 1;
    const struct plan_level *level = job->size > 0 ? plan_level_at_most(job, job->size) : NULL;
    double left = job->work, dead = level ? job->restart_left : 0, from = segment->start;
    size_t fitting = 0;
    share->count = 0;
    share->cap = cap;
    for (; segment <= last && segment->start < latest; segment++) {
        const struct plan_level *before = level;
        double end = segment < last && segment[1].start < latest ? segment[1].start : latest;
        double length = end - segment->start;
        fitting = levels_fitting(job->levels, fitting, cap, segment->free);
        level = fitting > 0 ? &job->levels[fitting - 1] : NULL;
        if (before && level > before && !is_worth_restart(job, before, level, length))
            level = before;
        if (level != before) {
            if (before && segment->start > from)
                share_append(share, &(struct share_piece){from, segment->start, before->size});
            from = segment->start;
            dead = job->restart;
        }
        if (!level)
            continue;
        if ((length - dead) * level->rate >= left) {
            double to = segment->start + dead + left / level->rate;
            share_append(share, &(struct share_piece){from, to < end ? to : end, level->size});
            finish_share(share, timeline->segments[0].start);
            return true;
        }
        if (length > dead)
            left -= (length - dead) * level->rate;
        dead = length > dead ? 0 : dead - length;
    }
    share->count = 0;
    return false;
}

static void take_capacity(const struct share *share, struct timeline *timeline)
{
    for (size_t i = 0; i < share->count; i++)
        timeline_take(timeline, share->pieces[i].from, share->pieces[i].to, share->pieces[i].size);
}

bool share_take(struct share *share, struct timeline *timeline, const struct plan_job *job,
                double latest)
{
    double time = latest - timeline->segments[0].start;
    share->count = 0;
    for (size_t cap = 0; cap < job->level_count; cap++) {
        if (job->levels[cap].rate * time < job->work)
            continue;
        if (fill_until(share, timeline, job, cap, latest)) {
            take_capacity(share, timeline);
            return true;
        }
    }
    return false;
}

bool share_take_whenever(struct share *share, struct timeline *timeline, const struct plan_job *job,
                         size_t cap)
{
    if (!fill_until(share, timeline, job, cap, (double)INFINITY))
        return false;
    take_capacity(share, timeline);
    return true;
}

void share_release(struct share *share, struct timeline *timeline)
{
    for (size_t i = 0; i < share->count; i++)
        timeline_take(timeline, share->pieces[i].from, share->pieces[i].to, -share->pieces[i].size);
    share->count = 0;
}

void share_free(struct share *share)
{
    free(share->pieces);
    *share = (struct share){0};
}
