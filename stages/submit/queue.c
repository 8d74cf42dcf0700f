/* stages/submit/queue.c - the order in which rendered jobs are submitted
 *
 * Each owner has a binary heap of their jobs, by (priority, token).  Owners with jobs are in a heap of their
 * own, by (priority of the first job, last turn, its token), and in a list, by how long they have waited for a
 * turn.  Jobs that were put back are in one more heap, by time.  A table of ids has the jobs, each once, and the heaps
 * refer to them.  An owner, once known, stays known: there are as many as users.
 */
#include "stages/submit/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct heap {
    struct kept_job **jobs;
    size_t count, capacity;
    bool (*before)(const struct kept_job *a, const struct kept_job *b);
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
    struct kept_jobs *jobs;  /* that are in heaps */
    struct queue_job *shown; /* by queue_first() */
};

/* Unsettled jobs come before any priority. */
static int rank_of(const struct kept_job *job)
{
    return job->unsettled ? INT_MAX : job->priority;
}

static bool goes_before(const struct kept_job *a, const struct kept_job *b)
{
    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b);
    if (a->first != b->first)
        return a->first;
    struct text first = queue_job_id(a), second = queue_job_id(b);
    int order = text_compare(id_token(first), id_token(second));
    return order ? order < 0 : text_compare(first, second) < 0;
}

/* Among jobs of one owner. */
static bool goes_before_own(const struct kept_job *a, const struct kept_job *b)
{
    if (rank_of(a) == rank_of(b) && a->first == b->first && a->top != b->top)
        return a->top > b->top;
    return goes_before(a, b);
}

static bool is_earlier(const struct kept_job *a, const struct kept_job *b)
{
    return a->time != b->time ? a->time < b->time : goes_before(a, b);
}

static void heap_push(struct heap *heap, struct kept_job *job)
{
    heap->jobs = memory_grow(heap->jobs, heap->count, &heap->capacity, sizeof(struct kept_job *));
    size_t at = heap->count++;
    for (; at > 0 && heap->before(job, heap->jobs[(at - 1) / 2]); at = (at - 1) / 2)
        heap->jobs[at] = heap->jobs[(at - 1) / 2];
    heap->jobs[at] = job;
}

static struct kept_job *heap_take(struct heap *heap, size_t at)
{
    struct kept_job *taken = heap->jobs[at], *last = heap->jobs[--heap->count];
    if (at == heap->count)
        return taken;
    for (; at > 0 && heap->before(last, heap->jobs[(at - 1) / 2]); at = (at - 1) / 2)
        heap->jobs[at] = heap->jobs[(at - 1) / 2];
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->before(heap->jobs[child + 1], heap->jobs[child]))
            child++;
        if (!heap->before(heap->jobs[child], last))
            break;
        heap->jobs[at] = heap->jobs[child];
    }
    heap->jobs[at] = last;
    return taken;
}

static struct kept_job *heap_pop(struct heap *heap)
{
    return heap_take(heap, 0);
}

/* ---- owners ---- */

static bool has_turn_before(const struct owner *a, const struct owner *b)
{
    const struct kept_job *first = a->jobs.jobs[0], *second = b->jobs.jobs[0];
    if (rank_of(first) == rank_of(second) && first->first == second->first &&
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

/* Is this job's priority above those of users, so that no waiting owner goes before it? */
static bool is_above_users(const struct queue *queue, const struct kept_job *job)
{
    return rank_of(job) > queue->most;
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
    const struct kept_job *top = queue->turns[0]->jobs.jobs[0];
    struct owner *best = NULL;
    for (size_t i = 0; i < queue->turn_count; i++) {
        struct owner *owner = queue->turns[i];
        const struct kept_job *first = owner->jobs.jobs[0];
        if (rank_of(first) != rank_of(top) || first->first != top->first ||
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
    bool above = is_above_users(queue, queue->turns[0]->jobs.jobs[0]);
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
    return has_waited(queue, queue->head->since) && !is_above_users(queue, owner->jobs.jobs[0])
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

/* The job's owner has waited since then, if that is not 0, and had no turn since where `fresh`. */
static void ready_push(struct queue *queue, struct kept_job *job, int64_t since, bool fresh)
{
    struct owner *owner = find_owner(queue, job->owner);
    heap_push(&owner->jobs, job);
    queue->ready++;
    if (owner->jobs.count == 1) {
        owner->since = since ? since : clock_elapsed();
        owner->fresh = since ? fresh : true;
    }
    if (owner->listed)
        settle_owner(queue, owner->place);
    else if (!owner->rests)
        list_owner(queue, owner);
}

static void ready_pop(struct queue *queue, struct queue_job *job)
{
    struct owner *owner = choose_owner(queue);
    unlist_owner(queue, owner);
    struct kept_job *kept = heap_pop(&owner->jobs);
    *job = queue_job_of(kept);
    queue_job_forget(queue->jobs, kept);
    job->turn = owner->served;
    job->since = owner->since;
    job->fresh = owner->fresh;
    owner->fresh = false;
    owner->served = ++queue->turn;
    owner->since = clock_elapsed();
    queue->ready--;
    if (owner->jobs.count)
        list_owner(queue, owner);
}

/* ---- the queue ---- */

struct queue *queue_new(void)
{
    struct queue *queue = memory_allocate(sizeof(*queue));
    queue->later.before = is_earlier;
    queue->jobs = queue_job_table();
    queue->shown = memory_allocate(sizeof(*queue->shown));
    return queue;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; i < queue->owner_count; i++) {
        free(queue->owners[i]->jobs.jobs);
        free(queue->owners[i]);
    }
    free(queue->owners);
    free(queue->turns);
    free(queue->later.jobs);
    queue_job_free_table(queue->jobs);
    free(queue->shown);
    free(queue);
}

static void add_job(struct queue *queue, const struct queue_job *job, int64_t since, int64_t time)
{
    if (queue_has(queue, job->id))
        return;
    struct kept_job *kept = queue_job_keep(queue->jobs, job);
    kept->time = time;
    if (time)
        heap_push(&queue->later, kept);
    else
        ready_push(queue, kept, since, job->fresh);
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

void queue_later(struct queue *queue, const struct queue_job *job, int64_t time)
{
    add_job(queue, job, 0, time);
}

void queue_add(struct queue *queue, const struct queue_job *job)
{
    add_job(queue, job, 0, 0);
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
    add_job(queue, job, job->since, 0);
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
    add_job(queue, job, job->since, 0);
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
    return queue_job_find(queue->jobs, id) != NULL;
}

static size_t find_place(const struct heap *heap, const struct kept_job *job)
{
    size_t at = 0;
    while (heap->jobs[at] != job)
        at++;
    return at;
}

bool queue_remove(struct queue *queue, const char *id, struct queue_job *job)
{
    struct kept_job *kept = queue_job_find(queue->jobs, id);
    if (!kept)
        return false;
    if (kept->time) {
        heap_take(&queue->later, find_place(&queue->later, kept));
    } else {
        struct owner *owner = find_owner(queue, kept->owner);
        bool listed = owner->listed;
        if (listed)
            unlist_owner(queue, owner);
        heap_take(&owner->jobs, find_place(&owner->jobs, kept));
        queue->ready--;
        if (listed && owner->jobs.count)
            list_owner(queue, owner);
    }
    *job = queue_job_of(kept);
    queue_job_forget(queue->jobs, kept);
    return true;
}

void queue_ripen(struct queue *queue)
{
    int64_t now = clock_elapsed();
    while (queue->later.count && queue->later.jobs[0]->time <= now) {
        struct kept_job *job = heap_pop(&queue->later);
        job->time = 0;
        ready_push(queue, job, 0, false);
    }
}

bool queue_take(struct queue *queue, struct queue_job *job)
{
    queue_ripen(queue);
    if (queue->turn_count == 0)
        return false;
    ready_pop(queue, job);
    return true;
}

const struct queue_job *queue_first(const struct queue *queue)
{
    if (!queue->turn_count)
        return NULL;
    *queue->shown = queue_job_of(choose_owner(queue)->jobs.jobs[0]);
    return queue->shown;
}

bool queue_passes(const struct queue *queue, const struct queue_job *first)
{
    const struct kept_job taken = {.priority = first->priority, .unsettled = first->unsettled};
    if (!queue->turn_count)
        return false;
    const struct kept_job *next = choose_owner(queue)->jobs.jobs[0];
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
    return queue->later.count ? queue->later.jobs[0]->time : INT64_MAX;
}
