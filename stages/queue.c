/* stages/queue.c - the order in which rendered jobs are submitted
 *
 * A binary heap by (priority, token) for those that may go, another by time for those put back,
 * and an open-addressed table of ids so that each is in one of them once.
 */
#include "stages/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

struct entry {
    char id[ID_SIZE];
    int priority;
    int64_t time;
};

struct heap {
    struct entry *entries;
    size_t count, capacity;
    bool (*before)(const struct entry *a, const struct entry *b);
};

struct queue {
    struct heap ready, later;
    char (*table)[ID_SIZE];     /* "" is free */
    size_t slots, used;
};

static bool goes_before(const struct entry *a, const struct entry *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    struct text first = id_token(text_of(a->id)), second = id_token(text_of(b->id));
    int order = text_compare(first, second);
    return order ? order < 0 : strcmp(a->id, b->id) < 0;
}

static bool is_earlier(const struct entry *a, const struct entry *b)
{
    return a->time != b->time ? a->time < b->time : goes_before(a, b);
}

static void heap_push(struct heap *heap, const struct entry *entry)
{
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? heap->capacity * 2 : 64;
        heap->entries = memory_resize(heap->entries, heap->capacity * sizeof(*heap->entries));
    }
    size_t at = heap->count++;
    while (at > 0 && heap->before(entry, &heap->entries[(at - 1) / 2])) {
        heap->entries[at] = heap->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->entries[at] = *entry;
}

static struct entry heap_pop(struct heap *heap)
{
    struct entry first = heap->entries[0];
    struct entry last = heap->entries[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count &&
            heap->before(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!heap->before(&heap->entries[child], &last))
            break;
        heap->entries[at] = heap->entries[child];
    }
    if (heap->count)
        heap->entries[at] = last;
    return first;
}

/* The table of ids.  Tokens are unique and end in random digits, so they hash well as they are. */

static size_t hash_id(const char *id)
{
    size_t hash = 5381;
    for (; *id; id++)
        hash = hash * 33 ^ (unsigned char)*id;
    return hash;
}

static size_t find_slot(const struct queue *queue, const char *id)
{
    size_t mask = queue->slots - 1;
    size_t slot = hash_id(id) & mask;
    while (queue->table[slot][0] && strcmp(queue->table[slot], id) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static void table_add(struct queue *queue, const char *id)
{
    if ((queue->used + 1) * 2 > queue->slots) {
        size_t old_slots = queue->slots;
        char(*old)[ID_SIZE] = queue->table;
        queue->slots = old_slots ? old_slots * 2 : 128;
        queue->table = memory_allocate(queue->slots * sizeof(*queue->table));
        for (size_t i = 0; i < old_slots; i++)
            if (old[i][0])
                memcpy(queue->table[find_slot(queue, old[i])], old[i], ID_SIZE);
        free(old);
    }
    size_t slot = find_slot(queue, id);
    if (!queue->table[slot][0]) {
        memcpy(queue->table[slot], id, strlen(id) + 1);
        queue->used++;
    }
}

static void table_remove(struct queue *queue, const char *id)
{
    size_t mask = queue->slots - 1;
    size_t hole = find_slot(queue, id);
    if (!queue->table[hole][0])
        return;
    queue->used--;
    /* Close the gap: move back what was pushed past it. */
    for (size_t next = (hole + 1) & mask; queue->table[next][0]; next = (next + 1) & mask) {
        size_t home = hash_id(queue->table[next]) & mask;
        if (((next - home) & mask) >= ((next - hole) & mask)) {
            memcpy(queue->table[hole], queue->table[next], ID_SIZE);
            hole = next;
        }
    }
    queue->table[hole][0] = '\0';
}

struct queue *queue_new(void)
{
    struct queue *queue = memory_allocate(sizeof(*queue));
    queue->ready.before = goes_before;
    queue->later.before = is_earlier;
    return queue;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    free(queue->ready.entries);
    free(queue->later.entries);
    free(queue->table);
    free(queue);
}

void queue_later(struct queue *queue, const char *id, int priority, int64_t time)
{
    struct entry entry = {.priority = priority, .time = time};
    if (queue_has(queue, id))
        return;
    memcpy(entry.id, id, strlen(id) + 1);
    heap_push(time ? &queue->later : &queue->ready, &entry);
    table_add(queue, id);
}

void queue_add(struct queue *queue, const char *id, int priority)
{
    queue_later(queue, id, priority, 0);
}

bool queue_has(const struct queue *queue, const char *id)
{
    return queue->slots && queue->table[find_slot(queue, id)][0];
}

bool queue_take(struct queue *queue, char id[static ID_SIZE])
{
    int64_t now = clock_elapsed();
    while (queue->later.count && queue->later.entries[0].time <= now) {
        struct entry entry = heap_pop(&queue->later);
        heap_push(&queue->ready, &entry);
    }
    if (queue->ready.count == 0)
        return false;
    struct entry entry = heap_pop(&queue->ready);
    memcpy(id, entry.id, ID_SIZE);
    table_remove(queue, id);
    return true;
}

size_t queue_count(const struct queue *queue)
{
    return queue->ready.count + queue->later.count;
}

int64_t queue_due(const struct queue *queue)
{
    return queue->later.count ? queue->later.entries[0].time : INT64_MAX;
}
