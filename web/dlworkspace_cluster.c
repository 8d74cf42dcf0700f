/* web/dlworkspace_cluster.c - what a cluster has and who uses it, in the members of DLWorkspace's GetClusterStatus */
#include "web/dlworkspace_cluster.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "client/gather.h"
#include "spool/settings.h"
#include "stages/shared/capacity_file.h"

/* ---- what there is ---- */

/* An amount of which there is so much of nodes that take jobs, and of the others. */
struct amount {
    double total, free, away;
};

static struct value *none(struct arena *arena, const struct value *like)
{
    return like->kind == VALUE_OBJECT ? value_object(arena) : value_number(arena, 0);
}

/* Put NAME_capacity, NAME_used, NAME_available, NAME_unschedulable and NAME_reserved. */
static void put_amounts(struct arena *arena, struct value *tree, const char *name,
                        struct value *capacity, struct value *used, struct value *available,
                        struct value *unschedulable)
{
    const struct {
        const char *word;
        struct value *value;
    } parts[] = {{"capacity", capacity},
                 {"used", used},
                 {"available", available},
                 {"unschedulable", unschedulable},
                 {"reserved", none(arena, capacity)},
                 {"preemptable_used", none(arena, capacity)}};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        value_set(arena, tree, arena_printf(arena, "%s_%s", name, parts[i].word), parts[i].value);
}

static void put_number(struct arena *arena, struct value *tree, const char *name,
                       const struct amount *amount)
{
    put_amounts(arena, tree, name, value_number(arena, amount->total + amount->away),
                value_number(arena, amount->total - amount->free),
                value_number(arena, amount->free), value_number(arena, amount->away));
}

static void add_type(struct arena *arena, struct value *object, const char *type, int count)
{
    double before = value_get_number(object, type, 0);
    value_set(arena, object, text_of(arena_string(arena, type)),
              value_number(arena, before + count));
}

/* GPUs by their type; of a cluster that does not tell them apart, all under "". */
static void put_gpus(struct arena *arena, struct value *tree, const struct capacity *capacity,
                     const struct capacity *others)
{
    struct value *all = value_object(arena), *used = value_object(arena),
                 *available = value_object(arena), *away = value_object(arena);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        add_type(arena, all, gpus->type, gpus->count);
        add_type(arena, used, gpus->type, gpus->count - gpus->free);
        add_type(arena, available, gpus->type, gpus->free);
    }
    for (size_t i = 0; i < others->gpu_type_count; i++) {
        add_type(arena, all, others->gpu_types[i].type, others->gpu_types[i].count);
        add_type(arena, away, others->gpu_types[i].type, others->gpu_types[i].count);
    }
    if (!capacity->gpu_type_count && !others->gpu_type_count) {
        add_type(arena, all, "", capacity->gpus + others->gpus);
        add_type(arena, used, "", capacity->gpus - capacity->gpus_free);
        add_type(arena, available, "", capacity->gpus_free);
        add_type(arena, away, "", others->gpus);
    }
    put_amounts(arena, tree, "gpu", all, used, available, away);
    value_put(arena, tree, "gpu_avaliable", available); /* so it is called there */
}

static void put_capacity(struct arena *arena, struct value *tree, const struct capacity *capacity,
                         const struct capacity *others)
{
    const struct amount cpus = {(double)capacity->cpus / 1000, (double)capacity->cpus_free / 1000,
                                (double)others->cpus / 1000};
    const struct amount memory = {(double)capacity->memory, (double)capacity->memory_free,
                                  (double)others->memory};
    put_gpus(arena, tree, capacity, others);
    put_number(arena, tree, "cpu", &cpus);
    put_number(arena, tree, "memory", &memory);
}

/* A node, with what it has in the same members. */
static struct value *node_tree(struct arena *arena, const struct node *node)
{
    struct value *tree = value_object(arena);
    struct capacity has = {0}, nothing = {0};
    bool away = node->state != NODE_READY;
    nodes_take(node, &has);
    value_put(arena, tree, "name",
              value_text(arena, arena_text(arena, node->name.data, node->name.length)));
    value_put(arena, tree, "unschedulable", value_boolean(arena, away));
    value_put(
        arena, tree, "gpuType",
        value_string(arena, has.gpu_type_count ? arena_string(arena, has.gpu_types[0].type) : ""));
    value_put(arena, tree, "labels", value_object(arena));
    value_put(arena, tree, "pods", value_list(arena));
    put_capacity(arena, tree, away ? &nothing : &has, away ? &has : &nothing);
    return tree;
}

/* ---- who uses it ---- */

/* Add what a job has to the entry of its owner. */
static void add_use(struct arena *arena, struct value *users, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    struct text owner = arena_text(arena, record->owner.data, record->owner.length);
    struct value *entry = value_find(users, "userName", owner);
    int times = record_at_once(record);
    if (!entry) {
        entry = value_object(arena);
        value_put(arena, entry, "userName", value_text(arena, owner));
        value_append(arena, users, entry);
    }
    value_put(arena, entry, "userGPU",
              value_number(arena, value_get_number(entry, "userGPU", 0) + record->gpus * times));
    value_put(arena, entry, "userCPU",
              value_number(arena, value_get_number(entry, "userCPU", 0) +
                                      (double)(record->cpus * times) / 1000));
    value_put(arena, entry, "userMemory",
              value_number(arena, value_get_number(entry, "userMemory", 0) +
                                      (double)(record->memory * times)));
}

/* What users have of the jobs that the executor has; returns how many of these there are. */
static size_t add_users(const struct spool *spool, struct arena *arena, struct value *users)
{
    struct job_filter filter = {.state = "submitted"};
    struct arena *scratch = arena_new();
    struct job_place place;
    struct job_view view;
    size_t count = 0;
    struct gathering *gathering =
        job_filter_prepare(&filter, NULL) ? NULL : gather_open(spool, &filter);
    while (gathering && gather_next(gathering, &place) > 0) {
        arena_reset(scratch);
        if (view_read(spool, &place, scratch, &view) || !view.readable)
            continue;
        count++;
        add_use(arena, users, &view);
    }
    if (gathering)
        gather_close(gathering);
    arena_free(scratch);
    return count;
}

struct value *dlworkspace_cluster_tree(const struct spool *spool, struct arena *arena)
{
    struct value *tree = value_object(arena), *users = value_list(arena);
    struct value *nodes_there = value_list(arena);
    struct capacity capacity = {0}, others;
    struct nodes *nodes = nodes_new();
    int64_t time = 0;
    char text[CLOCK_TEXT_SIZE];
    if (capacity_file_read(spool, &capacity, nodes, &time))
        time = 0;
    nodes_sum_others(nodes, &others);
    put_capacity(arena, tree, &capacity, &others);
    for (size_t i = 0; i < nodes->count; i++)
        value_append(arena, nodes_there, node_tree(arena, &nodes->items[i]));
    nodes_free(nodes);
    size_t jobs = add_users(spool, arena, users);
    value_put(arena, tree, "user_status", users);
    value_put(arena, tree, "node_status", nodes_there);
    value_put(arena, tree, "pod_status", value_list(arena));
    value_put(arena, tree, "available_job_num", value_number(arena, (double)jobs));
    value_put(arena, tree, "AvaliableJobNum", value_number(arena, (double)jobs));
    value_put(arena, tree, "last_updated_time",
              time ? value_string(arena, clock_format(time, text)) : value_null(arena));
    return tree;
}

/* ---- virtual clusters ---- */

static struct value *queue_tree(struct arena *arena, struct text name, int64_t gpus, bool admin)
{
    struct value *tree = value_object(arena), *quota = value_object(arena);
    if (gpus >= 0)
        value_put(arena, quota, "", value_number(arena, (double)gpus));
    value_put(arena, tree, "vcName", value_text(arena, arena_text(arena, name.data, name.length)));
    value_put(arena, tree, "quota", value_text(arena, json_text(arena, quota)));
    value_put(arena, tree, "metadata", value_string(arena, "{}"));
    value_put(arena, tree, "admin", value_boolean(arena, admin));
    return tree;
}

struct value *dlworkspace_cluster_queues(const struct spool *spool, struct arena *arena)
{
    struct value *list = value_list(arena);
    struct settings settings;
    if (settings_read(&settings, spool, NULL)) {
        value_append(arena, list, queue_tree(arena, TEXT("default"), LIMIT_NONE, false));
        return list;
    }
    bool admin = settings_is_administrator(&settings, spool, getuid());
    value_append(arena, list, queue_tree(arena, TEXT("default"), LIMIT_NONE, admin));
    for (size_t i = 0; i < settings.limits.row_count; i++) {
        const struct limit_row *row = &settings.limits.rows[i];
        if (row->subject == LIMIT_QUEUE && !text_is(row->name, "*") &&
            !value_find(list, "vcName", row->name))
            value_append(arena, list, queue_tree(arena, row->name, row->gpus, admin));
    }
    settings_free(&settings);
    return list;
}
