/* stages/submit/queue.c - the order in which rendered jobs are submitted
 *
 * Each owner has a binary heap of their jobs, by (priority, token).  Owners with jobs are in a heap of their
 * own, by (priority of the first job, last turn, its token), and in a list, by how long they have waited for a
 * turn.  Jobs that were put back are in one more heap, by time.  A table of ids keeps each job from being in the
 * queue twice.  An owner, once known, stays known: there are as many as users.
 */
#include "stages/submit/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"

struct entry {
    struct queue_job job;
    int64_t time;
};

struct heap {
    struct entry *entries;
    size_t count, capacity;
    bool (*before)(const struct entry *a, const struct entry *b);
};

struct owner {
    uid_t uid;
    uint64_t served; /* the number of the last turn; 0 before the first */
    size_t place;    /* in the heap of owners, while there are jobs */
    int64_t since;   /* of clock_elapsed(): when that turn was, or the waiting began */
    struct owner *before, *behind; /* in the line, while there are jobs */
    bool fresh;                    /* has had no turn since then */
    bool listed;                   /* is in heap and line: there are jobs, and */
    bool rests;                    /* it is not this */
    struct heap jobs;
};

struct queue {
    struct owner **owners; /* all that were ever seen, by uid */
    struct owner **turns;  /* a heap of those who have jobs; both have room for owner_room */
    size_t owner_count, turn_count, owner_buffer;
    struct owner *head, *tail; /* of the line */
    int64_t patience;          /* milliseconds; 0: any */
    int most;                  /* priority of users */
    queue_compare *compare;    /* by their shares; NULL: they take turns */
    const void *context;       /* of that */
    size_t rest_count;         /* owners who rest */
    uint64_t turn;             /* the last one's number */
    size_t ready;              /* jobs of all owners */
    struct heap later;
    struct names *ids;
};

/* Unsettled jobs come before any priority. */
static int rank_of(const struct entry *entry)
{
    return entry->job.unsettled ? INT_MAX : entry->job.priority;
}

static bool goes_before(const struct entry *a, const struct entry *b)
{
    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b);
    if (a->job.first != b->job.first)
        return a->job.first;
    struct text first = id_token(text_of(a->job.id)), second = id_token(text_of(b->job.id));
    int order = text_compare(first, second);
    return order ? order < 0 : strcmp(a->job.id, b->job.id) < 0;
}

/* Among jobs of one owner. */
static bool goes_before_own(const struct entry *a, const struct entry *b)
{
    if (rank_of(a) == rank_of(b) && a->job.first == b->job.first && a->job.top != b->job.top)
        return a->job.top > b->job.top;
    return goes_before(a, b);
}

static bool is_earlier(const struct entry *a, const struct entry *b)
{
    return a->time != b->time ? a->time < b->time : goes_before(a, b);
}

static void heap_push(struct heap *heap, const struct entry *entry)
{
    heap->entries =
        memory_grow(heap->entries, heap->count, &heap->capacity, sizeof(*heap->entries));
    size_t at = heap->count++;
    while (at > 0 && heap->before(entry, &heap->entries[(at - 1) / 2])) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->entries[at] = *entry;
}

static struct entry heap_take(struct heap *heap, size_t at)
{
    struct entry taken = heap->entries[at];
    struct entry last = heap->entries[--heap->count];
    if (at == heap->count)
        return taken;
    for (; at > 0 && heap->before(&last, &heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count &&
            heap->before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!heap->before(&heap->entries[child], &last))
            break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = last;
    return taken;
}

static struct entry heap_pop(struct heap *heap)
{
    return heap_take(heap, 0);
}

/* ---- owners ---- */

static bool has_turn_before(const struct owner *a, const struct owner *b)
{
    const struct entry *first = &a->jobs.entries[0], *second = &b->jobs.entries[0];
    if (rank_of(first) == rank_of(second) && first->job.first == second->job.first &&
        a->served != b->served)
        return a->served < b->served;
    return goes_before(first, second);
}

static void place_owner(struct queue *queue, struct owner *owner, size_t at)
{
    queue->turns[at] = owner;
    owner->place = at;
}

/* The owner at `at` has changed: let it rise, or sink. */
static void settle_owner(struct queue *queue, size_t at)
{
    struct owner *owner = queue->turns[at];
    for (; at > 0 && has_turn_before(owner, queue->turns[(at - 1) / 2]); at = (at - 1) / 2)
        place_owner(queue, queue->turns[(at - 1) / 2], at);
    for (size_t child; (child = 2 * at + 1) < queue->turn_count; at = child) {
        if (child + 1 < queue->turn_count &&
            has_turn_before(queue->turns[child + 1], queue->turns[child]))
            child++;
        if (!has_turn_before(queue->turns[child], owner))
            break;
        place_owner(queue, queue->turns[child], at);
    }
    place_owner(queue, owner, at);
}

static struct owner *find_owner(struct queue *queue, uid_t uid)
{
    size_t low = 0, high = queue->owner_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (queue->owners[middle]->uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < queue->owner_count && queue->owners[low]->uid == uid)
        return queue->owners[low];
    queue->owners = memory_grow(queue->owners, queue->owner_count, &queue->owner_buffer,
                                sizeof(struct owner *));
    queue->turns = memory_resize(queue->turns, queue->owner_buffer * sizeof(struct owner *));
    struct owner *owner = memory_allocate(sizeof(*owner));
    *owner = (struct owner){.uid = uid, .jobs = {.before = goes_before_own}};
    memmove(queue->owners + low + 1, queue->owners + low,
            (queue->owner_count++ - low) * sizeof(struct owner *));
    queue->owners[low] = owner;
    return owner;
}

/* ---- the list of owners who wait ---- */

static void leave_line(struct queue *queue, struct owner *owner)
{
    *(owner->before ? &owner->before->behind : &queue->head) = owner->behind;
    *(owner->behind ? &owner->behind->before : &queue->tail) = owner->before;
}

/* Insert the owner before those who have waited for less. */
static void join_line(struct queue *queue, struct owner *owner)
{
    owner->before = queue->tail;
    while (owner->before && owner->before->since > owner->since)
        owner->before = owner->before->before;
    owner->behind = owner->before ? owner->before->behind : queue->head;
    *(owner->before ? &owner->before->behind : &queue->head) = owner;
    *(owner->behind ? &owner->behind->before : &queue->tail) = owner;
}

/* The owner, who is in the list, has waited since then. */
static void wait_since(struct queue *queue, struct owner *owner, int64_t since)
{
    leave_line(queue, owner);
    owner->since = since;
    join_line(queue, owner);
}

static bool has_waited(const struct queue *queue, int64_t since)
{
    return queue->patience && clock_elapsed() - since >= queue->patience;
}

/* Is this entry's priority above those of users, so that no waiting owner goes before it? */
static bool is_above_users(const struct queue *queue, const struct entry *entry)
{
    return rank_of(entry) > queue->most;
}

/* Is the owner owed as much as the other one, or more? */
static bool is_owed(const struct queue *queue, const struct owner *owner, const struct owner *other)
{
    return queue->compare(queue->context, owner->uid, other->uid) <= 0;
}

static bool shares_before(const struct queue *queue, const struct owner *owner,
                          const struct owner *other)
{
    int order = queue->compare(queue->context, owner->uid, other->uid);
    return order ? order < 0 : has_turn_before(owner, other);
}

/* The owner of the highest priority who is owed most; NULL when those who have just come must wait for others, and
 * there is nobody else. */
static struct owner *choose_owed(const struct queue *queue, bool others_wait)
{
    const struct entry *top = &queue->turns[0]->jobs.entries[0];
    struct owner *best = NULL;
    for (size_t i = 0; i < queue->turn_count; i++) {
        struct owner *owner = queue->turns[i];
        const struct entry *first = &owner->jobs.entries[0];
        if (rank_of(first) != rank_of(top) || first->job.first != top->job.first ||
            (others_wait && owner->fresh && !has_waited(queue, owner->since)))
            continue;
        if (!best || shares_before(queue, owner, best))
            best = owner;
    }
    return best;
}

/* The same among those who have waited for long, whatever their priority. */
static struct owner *choose_waiting(const struct queue *queue)
{
    struct owner *best = queue->head;
    for (struct owner *owner = best->behind; owner && has_waited(queue, owner->since);
         owner = owner->behind)
        if (queue->compare(queue->context, owner->uid, best->uid) < 0)
            best = owner;
    return best;
}

static struct owner *choose_by_shares(const struct queue *queue)
{
    bool above = is_above_users(queue, &queue->turns[0]->jobs.entries[0]);
    bool others_wait = !above && has_waited(queue, queue->head->since);
    struct owner *next = choose_owed(queue, others_wait);
    struct owner *waiting = others_wait ? choose_waiting(queue) : NULL;
    return !waiting || (next && !is_owed(queue, waiting, next)) ? next : waiting;
}

/* The owner who has the next turn, while there are jobs. */
static struct owner *choose_owner(const struct queue *queue)
{
    if (queue->compare)
        return choose_by_shares(queue);
    struct owner *owner = queue->turns[0];
    return has_waited(queue, queue->head->since) && !is_above_users(queue, &owner->jobs.entries[0])
               ? queue->head
               : owner;
}

static void list_owner(struct queue *queue, struct owner *owner)
{
    owner->listed = true;
    join_line(queue, owner);
    place_owner(queue, owner, queue->turn_count++);
    settle_owner(queue, owner->place);
}

static void unlist_owner(struct queue *queue, struct owner *owner)
{
    size_t place = owner->place;
    owner->listed = false;
    leave_line(queue, owner);
    place_owner(queue, queue->turns[--queue->turn_count], place);
    if (place < queue->turn_count)
        settle_owner(queue, place);
}

static void ready_push(struct queue *queue, const struct entry *entry)
{
    struct owner *owner = find_owner(queue, entry->job.owner);
    heap_push(&owner->jobs, entry);
    queue->ready++;
    if (owner->jobs.count == 1) {
        owner->since = entry->job.since ? entry->job.since : clock_elapsed();
        owner->fresh = entry->job.since ? entry->job.fresh : true;
    }
    if (owner->listed)
        settle_owner(queue, owner->place);
    else if (!owner->rests)
        list_owner(queue, owner);
}

static struct entry ready_pop(struct queue *queue)
{
    struct owner *owner = choose_owner(queue);
    struct entry entry = owner->jobs.entries[0];
    unlist_owner(queue, owner);
    heap_pop(&owner->jobs);
    entry.job.turn = owner->served;
    entry.job.since = owner->since;
    entry.job.fresh = owner->fresh;
    owner->fresh = false;
    owner->served = ++queue->turn;
    owner->since = clock_elapsed();
    queue->ready--;
    if (owner->jobs.count)
        list_owner(queue, owner);
    return entry;
}

/* ---- the queue ---- */

struct queue *queue_new(void)
{
    struct queue *queue = memory_allocate(sizeof(*queue));
    queue->later.before = is_earlier;
    queue->ids = names_new(SIZE_MAX, 0);
    return queue;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; i < queue->owner_count; i++) {
        free(queue->owners[i]->jobs.entries);
        free(queue->owners[i]);
    }
    free(queue->owners);
    free(queue->turns);
    free(queue->later.entries);
    names_free(queue->ids);
    free(queue);
}

static void add_entry(struct queue *queue, const struct queue_job *job, int64_t time)
{
    const struct entry entry = {.job = *job, .time = time};
    if (queue_has(queue, job->id))
        return;
    if (time)
        heap_push(&queue->later, &entry);
    else
        ready_push(queue, &entry);
    names_add(queue->ids, text_of(job->id));
}

void queue_set_patience(struct queue *queue, int64_t patience, int most)
{
    queue->patience = patience;
    queue->most = most;
}

void queue_set_shares(struct queue *queue, queue_compare *compare, const void *context)
{
    queue->compare = compare;
    queue->context = context;
}

/* The job's waiting begins when it is added. */
static struct queue_job begin_waiting(const struct queue_job *job)
{
    struct queue_job result = *job;
    result.since = 0;
    return result;
}

void queue_later(struct queue *queue, const struct queue_job *job, int64_t time)
{
    const struct queue_job waiting = begin_waiting(job);
    add_entry(queue, &waiting, time);
}

void queue_add(struct queue *queue, const struct queue_job *job)
{
    const struct queue_job waiting = begin_waiting(job);
    add_entry(queue, &waiting, 0);
}

void queue_return(struct queue *queue, const struct queue_job *job)
{
    struct owner *owner = find_owner(queue, job->owner);
    if (job->turn < owner->served)
        owner->served = job->turn;
    if (owner->listed)
        settle_owner(queue, owner->place);
    if (owner->listed && job->since < owner->since)
        wait_since(queue, owner, job->since);
    owner->fresh = owner->fresh || job->fresh;
    add_entry(queue, job, 0);
}

void queue_end_waiting(struct queue *queue, uid_t uid)
{
    struct owner *owner = find_owner(queue, uid);
    if (owner->listed)
        wait_since(queue, owner, clock_elapsed());
}

void queue_rest(struct queue *queue, const struct queue_job *job)
{
    struct owner *owner = find_owner(queue, job->owner);
    queue->rest_count += !owner->rests;
    owner->rests = true;
    if (owner->listed)
        unlist_owner(queue, owner);
    add_entry(queue, job, 0);
}

void queue_wake(struct queue *queue)
{
    for (size_t i = 0; i < queue->owner_count && queue->rest_count; i++) {
        struct owner *owner = queue->owners[i];
        if (!owner->rests)
            continue;
        owner->rests = false;
        queue->rest_count--;
        if (owner->jobs.count)
            list_owner(queue, owner);
    }
}

bool queue_has(const struct queue *queue, const char *id)
{
    return names_find(queue->ids, text_of(id));
}

static bool find_entry(const struct heap *heap, const char *id, size_t *at)
{
    for (*at = 0; *at < heap->count; (*at)++)
        if (strcmp(heap->entries[*at].job.id, id) == 0)
            return true;
    return false;
}

bool queue_remove(struct queue *queue, const char *id, struct queue_job *job)
{
    struct entry entry = {.time = 0};
    size_t at;
    void *name = names_find(queue->ids, text_of(id));
    if (!name)
        return false;
    bool found = find_entry(&queue->later, id, &at);
    if (found)
        entry = heap_take(&queue->later, at);
    for (size_t i = 0; i < queue->owner_count && !found; i++) {
        struct owner *owner = queue->owners[i];
        if (!find_entry(&owner->jobs, id, &at))
            continue;
        found = true;
        bool listed = owner->listed;
        if (listed)
            unlist_owner(queue, owner);
        entry = heap_take(&owner->jobs, at);
        queue->ready--;
        if (listed && owner->jobs.count)
            list_owner(queue, owner);
    }
    names_remove(queue->ids, name);
    *job = entry.job;
    return found;
}

void queue_ripen(struct queue *queue)
{
    int64_t now = clock_elapsed();
    while (queue->later.count && queue->later.entries[0].time <= now) {
        struct entry entry = heap_pop(&queue->later);
        ready_push(queue, &entry);
    }
}

bool queue_take(struct queue *queue, struct queue_job *job)
{
    queue_ripen(queue);
    if (queue->turn_count == 0)
        return false;
    struct entry entry = ready_pop(queue);
    *job = entry.job;
    names_remove(queue->ids, names_find(queue->ids, text_of(job->id)));
    return true;
}

const struct queue_job *queue_first(const struct queue *queue)
{
    return queue->turn_count ? &choose_owner(queue)->jobs.entries[0].job : NULL;
}

bool queue_passes(const struct queue *queue, const struct queue_job *first)
{
    const struct entry taken = {.job = *first};
    if (!queue->turn_count)
        return false;
    const struct entry *next = &choose_owner(queue)->jobs.entries[0];
    if (has_waited(queue, first->since) && !is_above_users(queue, next))
        return false;
    return rank_of(next) > rank_of(&taken);
}

size_t queue_count(const struct queue *queue)
{
    return queue->ready + queue->later.count;
}

int64_t queue_due(const struct queue *queue)
{
    return queue->later.count ? queue->later.entries[0].time : INT64_MAX;
}
