/* watcher/turns.c - whose file is looked at next
 *
 * A lane is a heap by time.  Lanes are in a table by owner and in a round-robin ring; a lane that
 * becomes empty is freed.
 */
#include "watcher/turns.h"

#include <stdlib.h>

#include "base/text.h"

enum { CHAINS = 256 };

struct lane {
    uid_t owner;
    bool news;
    struct lane *chain;          /* the next lane in the same bucket */
    struct lane *before, *after; /* in the ring */
    int64_t rest;                /* not served before this time */
    struct turn **heap;
    size_t count, capacity;
};

struct turns {
    struct lane *chains[CHAINS];
    struct lane *current; /* whose turn it is; NULL: there is no lane */
    uint64_t serial;
};

struct turns *turns_new(void)
{
    return memory_allocate(sizeof(struct turns));
}

static struct lane **place_of(struct turns *turns, uid_t owner, bool news)
{
    return &turns->chains[(owner * 2 + news) % CHAINS];
}

static struct lane *find_lane(const struct turns *turns, uid_t owner, bool news)
{
    struct lane *lane = turns->chains[(owner * 2 + news) % CHAINS];
    while (lane && (lane->owner != owner || lane->news != news))
        lane = lane->chain;
    return lane;
}

/* Add a lane just before the current one, so that all others are served first. */
static struct lane *make_lane(struct turns *turns, uid_t owner, bool news)
{
    struct lane *lane = memory_allocate(sizeof(*lane));
    struct lane **place = place_of(turns, owner, news);
    *lane = (struct lane){.owner = owner, .news = news, .chain = *place};
    *place = lane;
    if (turns->current) {
        lane->after = turns->current;
        lane->before = turns->current->before;
        lane->before->after = lane->after->before = lane;
    } else {
        turns->current = lane->before = lane->after = lane;
    }
    return lane;
}

static void drop_lane(struct turns *turns, struct lane *lane)
{
    struct lane **link = place_of(turns, lane->owner, lane->news);
    while (*link != lane)
        link = &(*link)->chain;
    *link = lane->chain;
    if (turns->current == lane)
        turns->current = lane->after == lane ? NULL : lane->after;
    lane->before->after = lane->after;
    lane->after->before = lane->before;
    free(lane->heap);
    free(lane);
}

void turns_free(struct turns *turns)
{
    if (!turns)
        return;
    while (turns->current)
        drop_lane(turns, turns->current);
    free(turns);
}

/* A binary heap: no entry is due before its parent. */

static bool comes_before(const struct turn *one, const struct turn *other)
{
    return one->due < other->due || (one->due == other->due && one->serial < other->serial);
}

static void put_turn(struct lane *lane, size_t at, struct turn *turn)
{
    lane->heap[at] = turn;
    turn->at = at;
}

static void sift_up(struct lane *lane, struct turn *turn)
{
    size_t at = turn->at;
    while (at > 0 && comes_before(turn, lane->heap[(at - 1) / 2])) {
        put_turn(lane, at, lane->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_turn(lane, at, turn);
}

static void sift_down(struct lane *lane, struct turn *turn)
{
    size_t at = turn->at;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < lane->count && comes_before(lane->heap[child + 1], lane->heap[child]))
            child++;
        if (child >= lane->count || !comes_before(lane->heap[child], turn))
            break;
        put_turn(lane, at, lane->heap[child]);
        at = child;
    }
    put_turn(lane, at, turn);
}

void turns_add(struct turns *turns, struct turn *turn, uid_t owner, bool news, int64_t due)
{
    struct lane *lane = find_lane(turns, owner, news);
    if (!lane)
        lane = make_lane(turns, owner, news);
    lane->heap = memory_grow(lane->heap, lane->count, &lane->capacity, sizeof(struct turn *));
    *turn = (struct turn){.lane = lane, .due = due, .serial = turns->serial++, .at = lane->count};
    lane->count++;
    sift_up(lane, turn);
}

void turns_remove(struct turns *turns, struct turn *turn)
{
    struct lane *lane = turn->lane;
    struct turn *last = lane->heap[--lane->count];
    if (lane->count == 0) {
        drop_lane(turns, lane);
    } else if (last != turn) {
        put_turn(lane, turn->at, last);
        sift_up(lane, last);
        sift_down(lane, last);
    }
    turn->lane = NULL;
}

void turns_move(struct turns *turns, struct turn *turn, int64_t due)
{
    turn->due = due;
    turn->serial = turns->serial++;
    sift_up(turn->lane, turn);
    sift_down(turn->lane, turn);
}

/* When a lane is next served: its first entry's time, or the end of its rest if that is later. */
static int64_t due_of(const struct lane *lane)
{
    return lane->heap[0]->due > lane->rest ? lane->heap[0]->due : lane->rest;
}

struct turn *turns_next(struct turns *turns, int64_t now)
{
    struct lane *lane = turns->current;
    if (!lane)
        return NULL;
    do {
        if (due_of(lane) <= now) {
            turns->current = lane->after;
            return lane->heap[0];
        }
        lane = lane->after;
    } while (lane != turns->current);
    return NULL;
}

int64_t turns_due(const struct turns *turns)
{
    int64_t due = INT64_MAX;
    const struct lane *lane = turns->current;
    if (!lane)
        return due;
    do {
        due = due_of(lane) < due ? due_of(lane) : due;
        lane = lane->after;
    } while (lane != turns->current);
    return due;
}

void turns_rest(struct turns *turns, uid_t owner, int64_t until)
{
    for (int news = 0; news < 2; news++) {
        struct lane *lane = find_lane(turns, owner, news);
        if (lane)
            lane->rest = until;
    }
}

struct turn *turns_longest(const struct turns *turns, uid_t owner, bool news)
{
    const struct lane *own = find_lane(turns, owner, news), *lane = turns->current, *longest = lane;
    if (!lane)
        return NULL;
    do {
        if (lane->count > longest->count)
            longest = lane;
        lane = lane->after;
    } while (lane != turns->current);
    return longest->count > (own ? own->count : 0) + 1 ? longest->heap[longest->count - 1] : NULL;
}

struct turn *turns_last(const struct turns *turns, uid_t owner, bool news)
{
    const struct lane *lane = find_lane(turns, owner, news);
    return lane ? lane->heap[lane->count - 1] : NULL;
}
