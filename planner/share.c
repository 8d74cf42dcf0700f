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
    if (share->count == share->room) {
        share->room = share->room * 2 + 4;
        share->pieces = memory_resize(share->pieces, share->room * sizeof(*share->pieces));
    }
    share->pieces[share->count++] = *piece;
}

double share_time_alone(const struct plan_job *job, const struct plan_level *level)
{
    double restart = level->size == job->size ? job->restart_left : job->restart;
    return restart + job->work / level->rate;
}

/* Whether a change of size is worth its restart within `length` seconds. */
static bool worth(const struct plan_job *job, const struct plan_level *from,
                  const struct plan_level *to, double length)
{
    return to->rate * (length - job->restart) > from->rate * length;
}

/* Fill the job in up to the level `cap`, until `latest`.  True when all its work is done then. */
static bool fill(struct share *share, const struct timeline *timeline, const struct plan_job *job,
                 size_t cap, double latest)
{
    const struct plan_level *before = NULL;
    double left = job->work, dead = 0, now = timeline->segments[0].start;
    share->count = 0;
    share->cost = 0;
    share->cap = cap;
    if (job->size > 0) {
        before = plan_level_at_most(job, job->size);
        dead = job->restart_left;
    }
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_segment *segment = &timeline->segments[i];
        double end = i + 1 < timeline->count ? segment[1].start : (double)INFINITY;
        if (end > latest)
            end = latest;
        double length = end - segment->start;
        if (length <= 0)
            break;
        int most = segment->free < job->levels[cap].size ? segment->free : job->levels[cap].size;
        const struct plan_level *level = plan_level_at_most(job, most);
        if (!level) {
            before = NULL;
            continue;
        }
        if (before && level->size > before->size && before->size <= segment->free &&
            !worth(job, before, level, length))
            level = before;
        if (level != before)
            dead = job->restart;
        before = level;
        double needed = dead + left / level->rate;
        bool enough = needed <= length;
        double to = enough ? segment->start + needed : end;
        share_append(share, &(struct share_piece){segment->start, to, level->size});
        share->cost += level->size * (to - segment->start);
        if (enough) {
            share->finish = to;
            share->size = share->pieces[0].from <= now ? share->pieces[0].size : 0;
            share->change = share->pieces[0].from <= now ? share->pieces[0].to
                                                         : share->pieces[0].from;
            return true;
        }
        double useful = length > dead ? length - dead : 0;
        dead -= length - useful;
        left -= level->rate * useful;
    }
    share->count = 0;
    return false;
}

static void take(const struct share *share, struct timeline *timeline)
{
    for (size_t i = 0; i < share->count; i++)
        timeline_take(timeline, share->pieces[i].from, share->pieces[i].to,
                      share->pieces[i].size);
}

bool share_take(struct share *share, struct timeline *timeline, const struct plan_job *job,
                double latest)
{
    double time = latest - timeline->segments[0].start;
    share->count = 0;
    for (size_t cap = 0; cap < job->level_count; cap++) {
        if (job->levels[cap].rate * time < job->work)
            continue;
        if (fill(share, timeline, job, cap, latest)) {
            take(share, timeline);
            return true;
        }
    }
    return false;
}

bool share_take_whenever(struct share *share, struct timeline *timeline,
                         const struct plan_job *job, size_t cap)
{
    if (!fill(share, timeline, job, cap, (double)INFINITY))
        return false;
    take(share, timeline);
    return true;
}

void share_release(struct share *share, struct timeline *timeline)
{
    for (size_t i = 0; i < share->count; i++)
        timeline_take(timeline, share->pieces[i].from, share->pieces[i].to,
                      -share->pieces[i].size);
    share->count = 0;
}

void share_free(struct share *share)
{
    free(share->pieces);
    *share = (struct share){0};
}
