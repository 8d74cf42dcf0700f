/* stages/shared/capacity_file.c - DIR/capacity: the executor's capacity and nodes, for users who may not ask it */
#include "stages/shared/capacity_file.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { FILE_LIMIT = 256 << 20, FILE_MODE = 0644 }; /* as large as NODES_MOST of them */
static const char file_name[] = "capacity";

static void end_gpus(struct buffer *out, const struct gpu_capacity *gpus)
{
    eventlog_add_string(out, "type", gpus->type);
    eventlog_add_number(out, "count", gpus->count);
    eventlog_add_number(out, "free", gpus->free);
    eventlog_end(out);
}

/* A line for the node, and one for each type of its GPUs. */
static void add_node(struct buffer *out, int64_t time, const struct node *node)
{
    const struct {
        const char *key;
        struct text text;
    } texts[] = {{"word", node->word}, {"reason", node->reason}, {"by", node->by}};
    char since[CLOCK_TEXT_SIZE];
    eventlog_start(out, time, "node");
    eventlog_add(out, "name", node->name);
    eventlog_add_string(out, "state", nodes_state_name(node->state));
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (texts[i].text.length)
            eventlog_add(out, texts[i].key, texts[i].text);
    if (node->since)
        eventlog_add_string(out, "since", clock_format(node->since, since));
    eventlog_add_number(out, "cpus", node->cpus);
    eventlog_add_number(out, "cpus_free", node->cpus_free);
    eventlog_add_number(out, "memory", node->memory);
    eventlog_add_number(out, "memory_free", node->memory_free);
    eventlog_add_number(out, "gpus", node->gpus);
    eventlog_add_number(out, "gpus_free", node->gpus_free);
    if (node->features.length)
        eventlog_add(out, "features", node->features);
    eventlog_end(out);
    for (size_t i = 0; i < node->gpu_type_count; i++) {
        eventlog_start(out, time, "node_gpus");
        eventlog_add(out, "node", node->name);
        end_gpus(out, &node->gpu_types[i]);
    }
}

/* `time` is the time of day at which the executor was asked. */
static int capacity_write(const struct spool *spool, const struct capacity *capacity,
                          const struct nodes *nodes, int64_t time, struct error *error)
{
    struct buffer out = {0};
    eventlog_start(&out, time, "capacity");
    eventlog_add_number(&out, "cpus", capacity->cpus);
    eventlog_add_number(&out, "cpus_free", capacity->cpus_free);
    eventlog_add_number(&out, "memory", capacity->memory);
    eventlog_add_number(&out, "memory_free", capacity->memory_free);
    eventlog_add_number(&out, "gpus", capacity->gpus);
    eventlog_add_number(&out, "gpus_free", capacity->gpus_free);
    eventlog_add_number(&out, "nodes", capacity->nodes);
    eventlog_add_number(&out, "nodes_ready", capacity->nodes_ready);
    if (capacity->note[0])
        eventlog_add_string(&out, "note", capacity->note);
    eventlog_end(&out);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        eventlog_start(&out, time, "gpus");
        end_gpus(&out, &capacity->gpu_types[i]);
    }
    for (size_t i = 0; i < nodes->count; i++)
        add_node(&out, time, &nodes->items[i]);
    int result = spool_file_renew(spool->root, file_name, buffer_text(&out), FILE_MODE, error);
    buffer_free(&out);
    return result;
}

static void copy_text(struct arena *arena, const struct event *event, const char *key, char *buffer,
                      size_t size)
{
    struct text text = eventlog_get(arena, event, key);
    snprintf(buffer, size, "%.*s", (int)text.length, text.length ? text.data : "");
}

static void take_whole(struct arena *arena, const struct event *event, struct capacity *capacity)
{
    capacity->cpus = eventlog_get_number(event, "cpus", 0);
    capacity->cpus_free = eventlog_get_number(event, "cpus_free", 0);
    capacity->memory = eventlog_get_number(event, "memory", 0);
    capacity->memory_free = eventlog_get_number(event, "memory_free", 0);
    capacity->gpus = (int)eventlog_get_number(event, "gpus", 0);
    capacity->gpus_free = (int)eventlog_get_number(event, "gpus_free", 0);
    capacity->nodes = (int)eventlog_get_number(event, "nodes", 0);
    capacity->nodes_ready = (int)eventlog_get_number(event, "nodes_ready", 0);
    copy_text(arena, event, "note", capacity->note, sizeof(capacity->note));
}

static void take_gpus(struct arena *arena, const struct event *event, struct gpu_capacity *gpus)
{
    copy_text(arena, event, "type", gpus->type, sizeof(gpus->type));
    gpus->count = (int)eventlog_get_number(event, "count", 0);
    gpus->free = (int)eventlog_get_number(event, "free", 0);
}

static void take_node(struct nodes *nodes, const struct event *event)
{
    struct node *node = nodes_add(nodes, eventlog_get(nodes->arena, event, "name"));
    if (!node)
        return;
    node->state = nodes_state_read(eventlog_get(nodes->arena, event, "state"));
    node->word = nodes_text(nodes, eventlog_get(nodes->arena, event, "word"));
    node->reason = nodes_text(nodes, eventlog_get(nodes->arena, event, "reason"));
    node->by = nodes_text(nodes, eventlog_get(nodes->arena, event, "by"));
    node->features = nodes_text(nodes, eventlog_get(nodes->arena, event, "features"));
    if (clock_parse(eventlog_get(nodes->arena, event, "since"), &node->since))
        node->since = 0;
    node->cpus = eventlog_get_number(event, "cpus", 0);
    node->cpus_free = eventlog_get_number(event, "cpus_free", 0);
    node->memory = eventlog_get_number(event, "memory", 0);
    node->memory_free = eventlog_get_number(event, "memory_free", 0);
    node->gpus = (int)eventlog_get_number(event, "gpus", 0);
    node->gpus_free = (int)eventlog_get_number(event, "gpus_free", 0);
}

/* GPUs of a type of the node before; its own line has their sum. */
static void take_node_gpus(struct arena *arena, struct nodes *nodes, const struct event *event)
{
    struct gpu_capacity gpus = {0};
    struct node *node = nodes->count ? &nodes->items[nodes->count - 1] : NULL;
    if (!node || !text_equal(eventlog_get(arena, event, "node"), node->name))
        return;
    take_gpus(arena, event, &gpus);
    nodes_add_gpus(nodes, node, text_of(gpus.type), gpus.count, gpus.count - gpus.free);
    node->gpus -= gpus.count;
    node->gpus_free -= gpus.free;
}

/* Take one line of the file; true when it is that of the whole. */
static bool take_line(struct arena *arena, const struct event *event, struct capacity *capacity,
                      struct nodes *nodes)
{
    if (text_is(event->name, "capacity")) {
        take_whole(arena, event, capacity);
        return true;
    }
    if (text_is(event->name, "gpus") && capacity->gpu_type_count < MOST_GPU_TYPES)
        take_gpus(arena, event, &capacity->gpu_types[capacity->gpu_type_count++]);
    else if (nodes && text_is(event->name, "node"))
        take_node(nodes, event);
    else if (nodes && text_is(event->name, "node_gpus"))
        take_node_gpus(arena, nodes, event);
    return false;
}

int capacity_file_read(const struct spool *spool, struct capacity *capacity, struct nodes *nodes,
                       int64_t *time)
{
    struct buffer bytes = {0};
    struct event event;
    bool whole = false;
    *capacity = (struct capacity){0};
    if (nodes)
        nodes_clear(nodes);
    if (file_read_at(spool->root, file_name, FILE_LIMIT, &bytes, NULL) == 0) {
        struct arena *arena = arena_new();
        struct text rest = buffer_text(&bytes);
        while (eventlog_next(&rest, &event)) {
            if (take_line(arena, &event, capacity, nodes)) {
                *time = event.time;
                whole = true;
            } else if (!nodes && text_is(event.name, "node")) {
                break; /* what comes now is of nodes */
            }
        }
        arena_free(arena);
    }
    buffer_free(&bytes);
    return whole ? 0 : -1;
}

void capacity_file_note(const struct spool *spool, struct executor *executor, int64_t *next)
{
    struct capacity capacity = {0};
    struct error error;
    if (clock_elapsed() < *next)
        return;
    *next = clock_elapsed() + CAPACITY_INTERVAL;
    if (!executor->operations->capacity)
        return;
    struct nodes *nodes = nodes_new();
    if (nodes_survey(executor, &capacity, nodes, &error) == 0 &&
        capacity_write(spool, &capacity, nodes, clock_now(), &error))
        log_warn("the executor's capacity could not be written down: %s", error.text);
    nodes_free(nodes);
}
