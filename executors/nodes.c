/* executors/nodes.c - the machines that an executor starts tasks on: which take jobs, and what is free of each */
#include "executors/nodes.h"

#include <stdlib.h>

static const char *const names[NODE_STATES] = {"ready", "drained", "down", "unknown"};

struct nodes *nodes_new(void)
{
    struct nodes *nodes = memory_allocate(sizeof(*nodes));
    *nodes = (struct nodes){.arena = arena_new()};
    return nodes;
}

void nodes_free(struct nodes *nodes)
{
    if (!nodes)
        return;
    arena_free(nodes->arena);
    free(nodes);
}

void nodes_clear(struct nodes *nodes)
{
    arena_reset(nodes->arena);
    *nodes = (struct nodes){.arena = nodes->arena};
}

struct text nodes_text(struct nodes *nodes, struct text text)
{
    size_t length = text.length < NODES_TEXT_MOST ? text.length : NODES_TEXT_MOST;
    while (length && length < text.length && ((unsigned char)text.data[length] & 0xc0) == 0x80)
        length--; /* not within a character of several bytes */
    return arena_text(nodes->arena, length ? text.data : "", length);
}

struct node *nodes_add(struct nodes *nodes, struct text name)
{
    if (nodes->count == NODES_MOST)
        return NULL;
    nodes->items =
        arena_grow(nodes->arena, nodes->items, nodes->count, &nodes->capacity, sizeof(struct node));
    struct node *node = &nodes->items[nodes->count++];
    *node = (struct node){.name = nodes_text(nodes, name),
                          .state = NODE_DOWN,
                          .word = TEXT(""),
                          .reason = TEXT(""),
                          .by = TEXT(""),
                          .features = TEXT("")};
    return node;
}

static struct gpu_capacity *find_type(struct nodes *nodes, struct node *node, struct text type)
{
    char name[GPU_TYPE_SIZE];
    text_copy(name, sizeof(name), type);
    for (size_t i = 0; i < node->gpu_type_count; i++)
        if (text_is(text_of(name), node->gpu_types[i].type))
            return &node->gpu_types[i];
    if (node->gpu_type_count == MOST_GPU_TYPES)
        return NULL;
    struct gpu_capacity *types =
        arena_allocate(nodes->arena, (node->gpu_type_count + 1) * sizeof(*types));
    for (size_t i = 0; i < node->gpu_type_count; i++)
        types[i] = node->gpu_types[i];
    node->gpu_types = types;
    struct gpu_capacity *added = &node->gpu_types[node->gpu_type_count++];
    *added = (struct gpu_capacity){0};
    text_copy(added->type, sizeof(added->type), text_of(name));
    return added;
}

void nodes_add_gpus(struct nodes *nodes, struct node *node, struct text type, int count, int used)
{
    struct gpu_capacity *of = type.length ? find_type(nodes, node, type) : NULL;
    node->gpus += count;
    node->gpus_free += count - used;
    if (of) {
        of->count += count;
        of->free += count - used;
    }
}

void nodes_copy(struct nodes *nodes, const struct nodes *from)
{
    for (size_t i = 0; from && i < from->count; i++) {
        struct node *node = nodes_add(nodes, from->items[i].name);
        if (!node)
            return;
        const struct text name = node->name;
        *node = from->items[i];
        node->name = name;
        node->word = nodes_text(nodes, node->word);
        node->reason = nodes_text(nodes, node->reason);
        node->by = nodes_text(nodes, node->by);
        node->features = nodes_text(nodes, node->features);
        node->gpu_types =
            arena_allocate(nodes->arena, node->gpu_type_count * sizeof(*node->gpu_types) + 1);
        for (size_t k = 0; k < node->gpu_type_count; k++)
            node->gpu_types[k] = from->items[i].gpu_types[k];
    }
}

void nodes_set_free(struct node *node)
{
    node->cpus_free = node->cpus;
    node->memory_free = node->memory;
    node->gpus_free = node->gpus;
    for (size_t i = 0; i < node->gpu_type_count; i++)
        node->gpu_types[i].free = node->gpu_types[i].count;
}

static int64_t clamp(int64_t available, int64_t all)
{
    return available < 0 ? 0 : available < all ? available : all;
}

void nodes_clamp(struct node *node)
{
    node->cpus_free = clamp(node->cpus_free, node->cpus);
    node->memory_free = clamp(node->memory_free, node->memory);
    node->gpus_free = (int)clamp(node->gpus_free, node->gpus);
    for (size_t i = 0; i < node->gpu_type_count; i++)
        node->gpu_types[i].free = (int)clamp(node->gpu_types[i].free, node->gpu_types[i].count);
}

void nodes_take(const struct node *node, struct capacity *capacity)
{
    capacity->cpus += node->cpus;
    capacity->cpus_free += node->cpus_free;
    capacity->memory += node->memory;
    capacity->memory_free += node->memory_free;
    capacity->gpus += node->gpus;
    capacity->gpus_free += node->gpus_free;
    for (size_t i = 0; i < node->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &node->gpu_types[i];
        struct gpu_capacity *type = executor_gpu_type(capacity, text_of(gpus->type));
        if (type) {
            type->count += gpus->count;
            type->free += gpus->free;
        }
    }
}

/* What the nodes have that are ready, or those that are not; returns how many these are. */
static int sum(const struct nodes *nodes, bool ready, struct capacity *capacity)
{
    int count = 0;
    *capacity = (struct capacity){.nodes = (int)nodes->count};
    for (size_t i = 0; i < nodes->count; i++) {
        if ((nodes->items[i].state == NODE_READY) != ready)
            continue;
        count++;
        nodes_take(&nodes->items[i], capacity);
    }
    return count;
}

void nodes_sum(const struct nodes *nodes, struct capacity *capacity)
{
    capacity->nodes_ready = sum(nodes, true, capacity);
}

void nodes_sum_others(const struct nodes *nodes, struct capacity *capacity)
{
    capacity->nodes = sum(nodes, false, capacity);
    capacity->cpus_free = capacity->memory_free = capacity->gpus_free = 0;
    for (size_t i = 0; i < capacity->gpu_type_count; i++)
        capacity->gpu_types[i].free = 0;
}

const char *nodes_state_name(enum node_state state)
{
    return names[state];
}

enum node_state nodes_state_read(struct text word)
{
    for (int state = 0; state < NODE_STATES; state++)
        if (text_is(word, names[state]))
            return (enum node_state)state;
    return NODE_UNKNOWN;
}

int nodes_survey(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                 struct error *error)
{
    nodes_clear(nodes);
    if (executor->operations->nodes)
        return executor->operations->nodes(executor, capacity, nodes, error);
    return executor->operations->capacity(executor, capacity, error);
}
