/* stages/metrics/cluster.c - what the executor has and what of it is in use, as series */
#include "stages/metrics/cluster.h"

#include "base/clock.h"
#include "base/labels.h"
#include "stages/shared/capacity_file.h"

static const int64_t stale = 60000; /* milliseconds; the daemon asks while there are jobs */

/* The metrics of what there is, and of what of it is in use; NULL: that is not told. */
struct amounts {
    struct series_table *table;
    const char *total, *used;
    struct text node; /* empty: of all */
};

static void add_resource(const struct amounts *amounts, const char *resource, const char *gpu_type,
                         double total, double available)
{
    struct buffer labels = {0};
    if (amounts->node.length)
        labels_add(&labels, "node", amounts->node);
    labels_add(&labels, "resource", text_of(resource));
    labels_add(&labels, "gpu_type", text_of(gpu_type));
    series_gauge(amounts->table, amounts->total, labels.data, total);
    if (amounts->used)
        series_gauge(amounts->table, amounts->used, labels.data, total - available);
    buffer_free(&labels);
}

/* GPUs without a type are those of no type. */
static void add_resources(const struct amounts *amounts, const struct capacity *capacity)
{
    int other = capacity->gpus, other_free = capacity->gpus_free;
    add_resource(amounts, "cpus", "", (double)capacity->cpus / 1000,
                 (double)capacity->cpus_free / 1000);
    add_resource(amounts, "memory_bytes", "", (double)capacity->memory,
                 (double)capacity->memory_free);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        add_resource(amounts, "gpus", gpus->type, gpus->count, gpus->free);
        other -= gpus->count;
        other_free -= gpus->free;
    }
    if (other > 0 || !capacity->gpu_type_count)
        add_resource(amounts, "gpus", "", other, other_free);
}

static void add_node(struct series_table *table, const struct node *node)
{
    const struct amounts amounts = {table, "node_capacity", "node_used", node->name};
    struct capacity capacity = {0};
    struct buffer labels = {0};
    labels_add(&labels, "node", node->name);
    labels_add(&labels, "state", text_of(nodes_state_name(node->state)));
    series_gauge(table, "node", labels.data, 1);
    buffer_free(&labels);
    nodes_take(node, &capacity);
    add_resources(&amounts, &capacity);
}

static void add_nodes(struct series_table *table, const struct nodes *nodes)
{
    const struct amounts unschedulable = {table, "unschedulable", NULL, TEXT("")};
    struct capacity others;
    int counts[NODE_STATES] = {0};
    if (!nodes->count)
        return;
    for (size_t i = 0; i < nodes->count; i++) {
        counts[nodes->items[i].state]++;
        add_node(table, &nodes->items[i]);
    }
    for (int state = 0; state < NODE_STATES; state++) {
        struct buffer labels = {0};
        labels_add(&labels, "state", text_of(nodes_state_name((enum node_state)state)));
        series_gauge(table, "nodes", labels.data, counts[state]);
        buffer_free(&labels);
    }
    nodes_sum_others(nodes, &others);
    add_resources(&unschedulable, &others);
}

/* Read what the daemon was told, or ask where that is old.  The time of day of what is known; 0: nothing is. */
static int64_t look(const struct spool *spool, struct executor *executor, struct capacity *capacity,
                    struct nodes *nodes)
{
    int64_t time = 0, now = clock_now();
    struct error error;
    if (capacity_file_read(spool, capacity, nodes, &time))
        time = 0;
    if (now - time < stale || !executor || !executor->operations->capacity)
        return time;
    struct capacity asked = {0};
    struct nodes *fresh = nodes_new();
    if (nodes_survey(executor, &asked, fresh, &error) == 0) {
        *capacity = asked;
        nodes_clear(nodes);
        nodes_copy(nodes, fresh);
        time = now;
    }
    nodes_free(fresh);
    return time;
}

void cluster_collect(const struct spool *spool, struct executor *executor,
                     struct series_table *table)
{
    const struct amounts amounts = {table, "capacity", "used", TEXT("")};
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    int64_t time = look(spool, executor, &capacity, nodes);
    if (time) {
        add_resources(&amounts, &capacity);
        add_nodes(table, nodes);
        series_gauge(table, "capacity_timestamp_seconds", "", (double)time / 1000);
    }
    nodes_free(nodes);
}
