/* executors/slurm/capacity.c - what the cluster has for jobs, by its nodes and their GRES
 *
 * Only nodes that take jobs count: not those that are down, drained or unreachable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/slurm/inside.h"
#include "executors/slurm/values.h"

enum {
    MEBIBYTE = 1 << 20,
    /* The most of one node that is believed; sums over NODES_MOST nodes stay in range. */
    CPUS_MOST = 1000000,
    MEMORY_MOST = 100000000, /* MiB */
    GPUS_MOST = 1024,
    NODES_MOST = 70000 /* Slurm itself takes 65533 */
};
static const int64_t good_for = 5000; /* milliseconds */

static bool takes_jobs(const struct value *node)
{
    static const char *const away[] = {
        "DOWN",          "DRAIN",          "DRAINED",      "DRAINING",     "FAIL",
        "FAILING",       "NOT_RESPONDING", "NO_RESPOND",   "MAINTENANCE",  "MAINT",
        "FUTURE",        "UNKNOWN",        "ERROR",        "POWERED_DOWN", "POWERING_DOWN",
        "REBOOT_ISSUED", "REBOOT",         "PLANNED_DOWN", "INVALID",      "INVALID_REG",
        "RESERVED"};
    const char *const members[] = {"state", "state_flags"};
    struct text state = slurm_value_word(node, "state");
    for (size_t m = 0; m < 2; m++) {
        for (size_t i = 0; i < ARRAY_COUNT(away); i++) {
            char lower[32];
            size_t length = strlen(away[i]);
            for (size_t c = 0; c <= length; c++)
                lower[c] =
                    away[i][c] >= 'A' && away[i][c] <= 'Z' ? (char)(away[i][c] + 32) : away[i][c];
            if (slurm_value_has_word(node, members[m], away[i]) ||
                slurm_value_has_word(node, members[m], lower))
                return false;
        }
    }
    return state.length > 0;
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
static void take_gres(struct capacity *capacity, struct text entry, bool used)
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
    if (used)
        capacity->gpus_free -= count;
    else
        capacity->gpus += count, capacity->gpus_free += count;
    struct gpu_capacity *gpu =
        type.length && !text_is(type, "(null)") ? executor_gpu_type(capacity, type) : NULL;
    if (!gpu)
        return;
    gpu->free += used ? -count : count;
    gpu->count += used ? 0 : count;
}

/* Split a list at its commas, except those inside brackets. */
static void take_list(struct capacity *capacity, struct text list, bool used)
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
            take_gres(capacity, (struct text){list.data + begin, i - begin}, used);
        begin = i + 1;
    }
}

static void take_node(struct capacity *capacity, const struct value *node)
{
    capacity->nodes++;
    if (!takes_jobs(node))
        return;
    capacity->nodes_ready++;
    int64_t cpus = slurm_value_whole(node, "cpus", CPUS_MOST, 0);
    int64_t taken = slurm_value_whole(node, "alloc_cpus", CPUS_MOST, 0);
    int64_t memory = slurm_value_whole(node, "real_memory", MEMORY_MOST, 0);
    int64_t memory_taken = slurm_value_whole(node, "alloc_memory", MEMORY_MOST, 0);
    capacity->cpus += cpus * 1000;
    capacity->memory += memory * MEBIBYTE;
    if (cpus > taken)
        capacity->cpus_free += (cpus - taken) * 1000;
    if (memory > memory_taken)
        capacity->memory_free += (memory - memory_taken) * MEBIBYTE;
    take_list(capacity, value_get_text(node, "gres"), false);
    take_list(capacity, value_get_text(node, "gres_used"), true);
}

static void read_nodes(struct slurm *slurm, const struct value *answer)
{
    const struct value *nodes = value_get(answer, "nodes");
    struct capacity *capacity = &slurm->capacity;
    *capacity = slurm->everywhere = (struct capacity){0};
    for (size_t i = 0;
         nodes && nodes->kind == VALUE_LIST && i < nodes->list.count && i < NODES_MOST; i++) {
        take_node(capacity, nodes->list.items[i]);
        take_list(&slurm->everywhere, value_get_text(nodes->list.items[i], "gres"), false);
    }
    executor_clamp_capacity(capacity);
}

int slurm_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    if (slurm->capacity_until && clock_elapsed() < slurm->capacity_until) {
        *capacity = slurm->capacity;
        return 0;
    }
    struct arena *arena = arena_new();
    const struct value *answer = slurm_get(slurm, arena, "nodes", NULL, error);
    if (answer) {
        read_nodes(slurm, answer);
        slurm->capacity_until = clock_elapsed() + good_for;
        *capacity = slurm->capacity;
    }
    arena_free(arena);
    return answer ? 0 : -1;
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
