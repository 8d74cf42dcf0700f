/* executors/slurm/capacity.c - the nodes of the cluster, with their GRES, and what they have for jobs
 *
 * Only nodes that take jobs count for the capacity: not those that are down, drained or unreachable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/nodes.h"
#include "executors/slurm/inside.h"
#include "executors/slurm/values.h"

enum {
    MEBIBYTE = 1 << 20,
    /* The most of one node that is believed; sums over NODES_MOST nodes stay in range. */
    CPUS_MOST = 1000000,
    MEMORY_MOST = 100000000, /* MiB */
    GPUS_MOST = 1024
};
static const int64_t good_for = 5000; /* milliseconds */

/* Has the node one of these words among its states?  Versions write them in capitals or not, and in
 * one member or two. */
static bool has_state(const struct value *node, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        char lower[32];
        size_t length = strlen(words[i]);
        for (size_t c = 0; c <= length; c++)
            lower[c] =
                words[i][c] >= 'A' && words[i][c] <= 'Z' ? (char)(words[i][c] + 32) : words[i][c];
        if (slurm_value_has_word(node, "state", words[i]) ||
            slurm_value_has_word(node, "state_flags", words[i]) ||
            slurm_value_has_word(node, "state", lower) ||
            slurm_value_has_word(node, "state_flags", lower))
            return true;
    }
    return false;
}

static enum node_state state_of(const struct value *node)
{
    static const char *const down[] = {"DOWN",       "ERROR",        "NOT_RESPONDING",
                                       "NO_RESPOND", "POWERED_DOWN", "POWERING_DOWN",
                                       "INVALID",    "INVALID_REG",  NULL};
    static const char *const unknown[] = {"UNKNOWN", "FUTURE", NULL};
    static const char *const drained[] = {"DRAIN",         "DRAINED",     "DRAINING",     "FAIL",
                                          "FAILING",       "MAINTENANCE", "MAINT",        "REBOOT",
                                          "REBOOT_ISSUED", "RESERVED",    "PLANNED_DOWN", NULL};
    return has_state(node, down)                        ? NODE_DOWN
           : has_state(node, unknown)                   ? NODE_UNKNOWN
           : has_state(node, drained)                   ? NODE_DRAINED
           : slurm_value_word(node, "state").length > 0 ? NODE_READY
                                                        : NODE_UNKNOWN;
}

/* "IDLE+DRAIN", as scontrol writes it. */
static void add_words(struct buffer *out, const struct value *words)
{
    struct text word = words && words->kind == VALUE_STRING ? words->string : TEXT("");
    for (size_t i = 0; i < value_length(words); i++) {
        const struct value *item = words->list.items[i];
        if (item->kind == VALUE_STRING && item->string.length)
            buffer_printf(out, "%s%.*s", out->length ? "+" : "", (int)item->string.length,
                          item->string.data);
    }
    if (word.length)
        buffer_printf(out, "%s%.*s", out->length ? "+" : "", (int)word.length, word.data);
}

static struct text words_of(struct nodes *nodes, const struct value *node)
{
    struct buffer out = {0};
    add_words(&out, value_get(node, "state"));
    add_words(&out, value_get(node, "state_flags"));
    for (size_t i = 0; i < out.length; i++)
        if (out.data[i] >= 'a' && out.data[i] <= 'z')
            out.data[i] = (char)(out.data[i] - 32);
    struct text text = nodes_text(nodes, buffer_text(&out));
    buffer_free(&out);
    return text;
}

static bool is_number(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.length > 0 && text.length < 9;
}

/* One of "gpu:4", "gpu:a100:4", "gpu:a100:4(S:0-1)", "gpu:a100:2(IDX:0-1)",
 * "gpu:a100:no_consume:4". */
static void take_gres(struct nodes *nodes, struct node *node, struct text entry, bool used)
{
    const char *bracket = memchr(entry.data, '(', entry.length);
    struct text piece, type = TEXT("");
    int count = 1;
    if (bracket)
        entry.length = (size_t)(bracket - entry.data);
    if (!text_next(&entry, ':', &piece) || !text_is(text_trim(piece), "gpu"))
        return;
    while (entry.length && text_next(&entry, ':', &piece)) {
        if (is_number(piece)) {
            count = atoi(piece.data); /* up to what follows, which is no digit */
            count = count <= GPUS_MOST ? count : 0;
        } else if (!type.length && !text_is(piece, "no_consume")) {
            type = piece;
        }
    }
    if (text_is(type, "(null)"))
        type = TEXT("");
    nodes_add_gpus(nodes, node, type, used ? 0 : count, used ? count : 0);
}

/* Split a list at its commas, except those inside brackets. */
static void take_list(struct nodes *nodes, struct node *node, struct text list, bool used)
{
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= list.length; i++) {
        char c = i < list.length ? list.data[i] : ',';
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
        if (c != ',' || (depth > 0 && i < list.length))
            continue;
        if (i > begin)
            take_gres(nodes, node, (struct text){list.data + begin, i - begin}, used);
        begin = i + 1;
    }
}

/* The features that a job may name: those that the node has now. */
static struct text features_of(struct nodes *nodes, const struct value *value)
{
    const struct value *features = value_get(value, "active_features");
    if (!features)
        features = value_get(value, "features");
    struct buffer out = {0};
    if (features && features->kind == VALUE_STRING)
        buffer_add_text(&out, features->string);
    for (size_t i = 0; i < value_length(features); i++)
        if (features->list.items[i]->kind == VALUE_STRING)
            buffer_printf(&out, "%s%s", i ? "," : "", features->list.items[i]->string.data);
    struct text text = nodes_text(nodes, buffer_text(&out));
    buffer_free(&out);
    return text;
}

static void take_node(struct nodes *nodes, const struct value *value)
{
    struct text name = value_get_text(value, "name");
    struct node *node = name.length ? nodes_add(nodes, name) : NULL;
    if (!node)
        return;
    node->state = state_of(value);
    node->word = words_of(nodes, value);
    if (node->state != NODE_READY) {
        node->reason = nodes_text(nodes, value_get_text(value, "reason"));
        node->by = nodes_text(nodes, value_get_text(value, "reason_set_by_user"));
        node->since = slurm_value_time(value, "reason_changed_at");
    }
    node->cpus = slurm_value_whole(value, "cpus", CPUS_MOST, 0) * 1000;
    node->cpus_free = node->cpus - slurm_value_whole(value, "alloc_cpus", CPUS_MOST, 0) * 1000;
    node->memory = slurm_value_whole(value, "real_memory", MEMORY_MOST, 0) * MEBIBYTE;
    node->memory_free =
        node->memory - slurm_value_whole(value, "alloc_memory", MEMORY_MOST, 0) * MEBIBYTE;
    take_list(nodes, node, value_get_text(value, "gres"), false);
    take_list(nodes, node, value_get_text(value, "gres_used"), true);
    node->features = features_of(nodes, value);
    nodes_clamp(node);
}

/* Ask for the nodes, and add them. */
static int ask_nodes(struct slurm *slurm, struct nodes *nodes, struct error *error)
{
    struct arena *arena = arena_new();
    const struct value *answer = slurm_get(slurm, arena, "nodes", NULL, error);
    const struct value *list = value_get(answer, "nodes");
    for (size_t i = 0; i < value_length(list); i++)
        take_node(nodes, list->list.items[i]);
    arena_free(arena);
    return answer ? 0 : -1;
}

/* Keep the GPUs and their types of all nodes, also of those that take no jobs. */
static void note_types(struct slurm *slurm, const struct nodes *nodes)
{
    slurm->everywhere = (struct capacity){0};
    for (size_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->items[i];
        slurm->everywhere.gpus += node->gpus;
        for (size_t k = 0; k < node->gpu_type_count; k++)
            executor_gpu_type(&slurm->everywhere, text_of(node->gpu_types[k].type));
    }
}

int slurm_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    if (ask_nodes(slurm, nodes, error))
        return -1;
    nodes_sum(nodes, &slurm->capacity);
    note_types(slurm, nodes);
    slurm->capacity_until = clock_elapsed() + good_for;
    *capacity = slurm->capacity;
    return 0;
}

int slurm_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    if (slurm->capacity_until && clock_elapsed() < slurm->capacity_until) {
        *capacity = slurm->capacity;
        return 0;
    }
    struct nodes *nodes = nodes_new();
    int result = slurm_nodes(executor, capacity, nodes, error);
    nodes_free(nodes);
    return result;
}

bool slurm_lacks_gpu_type(struct slurm *slurm, struct text type, struct buffer *there)
{
    struct capacity capacity;
    const struct capacity *everywhere = &slurm->everywhere;
    if (slurm_capacity(&slurm->executor, &capacity, NULL) || !capacity.nodes ||
        everywhere->gpu_type_count == MOST_GPU_TYPES)
        return false;
    for (size_t i = 0; i < everywhere->gpu_type_count; i++)
        if (text_is(type, everywhere->gpu_types[i].type))
            return false;
    for (size_t i = 0; i < everywhere->gpu_type_count; i++)
        buffer_printf(there, "%s%s", i ? ", " : "", everywhere->gpu_types[i].type);
    if (!everywhere->gpu_type_count)
        buffer_add_string(there, everywhere->gpus ? "GPUs without a type" : "no GPUs");
    return true;
}
