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

/* Put NAME_capacity, NAME_used, NAME_available, NAME_unschedulable and NAME_reserved. */
static void put_amounts(struct arena *arena, struct value *tree, const char *name,
                        struct value *capacity, struct value *used, struct value *available)
{
    struct value *nothing =
        capacity->kind == VALUE_OBJECT ? value_object(arena) : value_number(arena, 0);
    const struct {
        const char *word;
        struct value *value;
    } parts[] = {{"capacity", capacity},     {"used", used},        {"available", available},
                 {"unschedulable", nothing}, {"reserved", nothing}, {"preemptable_used", nothing}};
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        value_set(arena, tree, arena_printf(arena, "%s_%s", name, parts[i].word), parts[i].value);
}

/* GPUs by their type; of a cluster that does not tell them apart, all under "". */
static void put_gpus(struct arena *arena, struct value *tree, const struct capacity *capacity)
{
    struct value *all = value_object(arena), *used = value_object(arena),
                 *available = value_object(arena);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        struct text type = text_of(arena_string(arena, gpus->type));
        value_set(arena, all, type, value_number(arena, gpus->count));
        value_set(arena, used, type, value_number(arena, gpus->count - gpus->free));
        value_set(arena, available, type, value_number(arena, gpus->free));
    }
    if (!capacity->gpu_type_count) {
        value_put(arena, all, "", value_number(arena, capacity->gpus));
        value_put(arena, used, "", value_number(arena, capacity->gpus - capacity->gpus_free));
        value_put(arena, available, "", value_number(arena, capacity->gpus_free));
    }
    put_amounts(arena, tree, "gpu", all, used, available);
    value_put(arena, tree, "gpu_avaliable", available); /* so it is called there */
}

static void put_capacity(struct arena *arena, struct value *tree, const struct capacity *capacity)
{
    put_gpus(arena, tree, capacity);
    put_amounts(arena, tree, "cpu", value_number(arena, (double)capacity->cpus / 1000),
                value_number(arena, (double)(capacity->cpus - capacity->cpus_free) / 1000),
                value_number(arena, (double)capacity->cpus_free / 1000));
    put_amounts(arena, tree, "memory", value_number(arena, (double)capacity->memory),
                value_number(arena, (double)(capacity->memory - capacity->memory_free)),
                value_number(arena, (double)capacity->memory_free));
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
    struct capacity capacity = {0};
    int64_t time = 0;
    char text[CLOCK_TEXT_SIZE];
    if (capacity_file_read(spool, &capacity, NULL, &time))
        time = 0;
    put_capacity(arena, tree, &capacity);
    size_t jobs = add_users(spool, arena, users);
    value_put(arena, tree, "user_status", users);
    value_put(arena, tree, "node_status", value_list(arena));
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
