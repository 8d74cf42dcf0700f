/* client/node_tree.c - the nodes of the executor, as JSON and as tables have them */
#include "client/node_tree.h"

#include <stdio.h>

#include "base/clock.h"

/* ---- for programs ---- */

static void put_pair(struct arena *arena, struct value *object, const char *name, double total,
                     double available)
{
    struct value *pair = value_object(arena);
    value_put(arena, pair, "total", value_number(arena, total));
    value_put(arena, pair, "free", value_number(arena, available));
    value_set(arena, object, text_of(name), pair);
}

static void put_text(struct arena *arena, struct value *object, const char *name, struct text text)
{
    value_put(arena, object, name,
              text.length ? value_text(arena, arena_text(arena, text.data, text.length))
                          : value_null(arena));
}

static struct value *features_list(struct arena *arena, struct text features)
{
    struct value *list = value_list(arena);
    struct text feature;
    while (features.length && text_next(&features, ',', &feature))
        if (feature.length)
            value_append(arena, list,
                         value_text(arena, arena_text(arena, feature.data, feature.length)));
    return list;
}

static struct value *node_tree(struct arena *arena, const struct node *node)
{
    struct value *tree = value_object(arena), *types = value_object(arena);
    char since[CLOCK_TEXT_SIZE];
    put_text(arena, tree, "name", node->name);
    value_put(arena, tree, "state", value_string(arena, nodes_state_name(node->state)));
    put_text(arena, tree, "scheduler_state", node->word);
    put_text(arena, tree, "reason", node->reason);
    put_text(arena, tree, "by", node->by);
    value_put(arena, tree, "since",
              node->since ? value_string(arena, clock_format(node->since, since))
                          : value_null(arena));
    put_pair(arena, tree, "cpus", (double)node->cpus / 1000, (double)node->cpus_free / 1000);
    put_pair(arena, tree, "memory", (double)node->memory, (double)node->memory_free);
    put_pair(arena, tree, "gpus", node->gpus, node->gpus_free);
    for (size_t i = 0; i < node->gpu_type_count; i++)
        put_pair(arena, types, arena_string(arena, node->gpu_types[i].type),
                 node->gpu_types[i].count, node->gpu_types[i].free);
    value_put(arena, tree, "gpu_types", types);
    value_put(arena, tree, "features", features_list(arena, node->features));
    return tree;
}

struct value *node_tree_make(struct arena *arena, const struct capacity *capacity,
                             const struct nodes *nodes, int64_t time)
{
    struct value *tree = value_object(arena), *list = value_list(arena);
    char text[CLOCK_TEXT_SIZE];
    value_put(arena, tree, "time",
              time ? value_string(arena, clock_format(time, text)) : value_null(arena));
    put_text(arena, tree, "note", text_of(capacity->note));
    for (size_t i = 0; i < nodes->count; i++)
        value_append(arena, list, node_tree(arena, &nodes->items[i]));
    value_put(arena, tree, "nodes", list);
    return tree;
}

/* ---- for people ---- */

struct text node_tree_why(struct arena *arena, const struct node *node)
{
    char since[CLOCK_TEXT_SIZE] = "";
    if (node->since)
        clock_local(node->since, since);
    if (node->state == NODE_READY)
        return TEXT("");
    struct text reason = node->reason.length ? node->reason : TEXT("no reason is given");
    struct text why = arena_printf(arena, "%.*s%s%.*s%s%s%s", (int)reason.length, reason.data,
                                   node->by.length || since[0] ? " (" : "", (int)node->by.length,
                                   node->by.data, node->by.length && since[0] ? ", " : "", since,
                                   node->by.length || since[0] ? ")" : "");
    char *bytes = arena_string(arena, why.data);
    for (char *at = bytes; *at; at++)
        if (*at == '\n' || *at == '\r' || *at == '\t')
            *at = ' ';
    return text_of(bytes);
}

struct text node_tree_gpus(struct arena *arena, const struct node *node)
{
    struct buffer out = {0};
    int others = node->gpus, others_free = node->gpus_free;
    for (size_t i = 0; i < node->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &node->gpu_types[i];
        buffer_printf(&out, "%s%d of %d %s", i ? ", " : "", gpus->count - gpus->free, gpus->count,
                      gpus->type);
        others -= gpus->count;
        others_free -= gpus->free;
    }
    if (others > 0)
        buffer_printf(&out, "%s%d of %d%s", out.length ? ", " : "", others - others_free, others,
                      node->gpu_type_count ? " without a type" : "");
    if (!out.length)
        buffer_add_byte(&out, '0');
    return arena_take(arena, &out);
}

struct text node_tree_none(struct arena *arena, const struct capacity *capacity)
{
    return capacity->note[0]
               ? arena_printf(arena, "The nodes are not known: the figures are %s.", capacity->note)
               : TEXT("The executor has no nodes to tell apart.");
}
