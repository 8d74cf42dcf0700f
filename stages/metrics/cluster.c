/* stages/metrics/cluster.c - what the executor has and what of it is in use, as series */
#include "stages/metrics/cluster.h"

#include "base/clock.h"
#include "base/labels.h"
#include "stages/shared/capacity_file.h"

static void add_resource(struct series_table *table, const char *resource, const char *gpu_type,
                         double total, double available)
{
    struct buffer labels = {0};
    labels_add(&labels, "resource", text_of(resource));
    labels_add(&labels, "gpu_type", text_of(gpu_type));
    series_gauge(table, "capacity", labels.data, total);
    series_gauge(table, "used", labels.data, total - available);
    buffer_free(&labels);
}

/* GPUs without a type are those of no type. */
static void add_resources(struct series_table *table, const struct capacity *capacity)
{
    int other = capacity->gpus, other_free = capacity->gpus_free;
    add_resource(table, "cpus", "", (double)capacity->cpus / 1000,
                 (double)capacity->cpus_free / 1000);
    add_resource(table, "memory_bytes", "", (double)capacity->memory,
                 (double)capacity->memory_free);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        add_resource(table, "gpus", gpus->type, gpus->count, gpus->free);
        other -= gpus->count;
        other_free -= gpus->free;
    }
    if (other > 0 || !capacity->gpu_type_count)
        add_resource(table, "gpus", "", other, other_free);
}

void cluster_collect(const struct spool *spool, struct executor *executor,
                     struct series_table *table)
{
    struct capacity capacity;
    struct error error;
    int64_t time = clock_now();
    bool known = capacity_file_read(spool, &capacity, NULL, &time) == 0;
    if (!known && executor && executor->operations->capacity) {
        capacity = (struct capacity){0};
        known = executor->operations->capacity(executor, &capacity, &error) == 0;
    }
    if (!known)
        return;
    add_resources(table, &capacity);
    if (capacity.nodes) {
        series_gauge(table, "nodes", "state=\"ready\"", capacity.nodes_ready);
        series_gauge(table, "nodes", "state=\"not_ready\"", capacity.nodes - capacity.nodes_ready);
    }
    series_gauge(table, "capacity_timestamp_seconds", "", (double)time / 1000);
}
