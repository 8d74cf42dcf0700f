/* stages/shared/capacity_file.c - DIR/capacity: the executor's capacity, for users who may not ask it */
#include "stages/shared/capacity_file.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { FILE_LIMIT = 64 * 1024, FILE_MODE = 0644 };
static const char file_name[] = "capacity";

/* `time` is the time of day at which the executor was asked. */
static int capacity_write(const struct spool *spool, const struct capacity *capacity, int64_t time,
                          struct error *error)
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
        eventlog_add_string(&out, "type", capacity->gpu_types[i].type);
        eventlog_add_number(&out, "count", capacity->gpu_types[i].count);
        eventlog_add_number(&out, "free", capacity->gpu_types[i].free);
        eventlog_end(&out);
    }
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

int capacity_file_read(const struct spool *spool, struct capacity *capacity, int64_t *time)
{
    struct buffer bytes = {0};
    struct event event;
    bool whole = false;
    *capacity = (struct capacity){0};
    if (file_read_at(spool->root, file_name, FILE_LIMIT, &bytes, NULL) == 0) {
        struct arena *arena = arena_new();
        struct text rest = buffer_text(&bytes);
        while (eventlog_next(&rest, &event)) {
            if (text_is(event.name, "capacity")) {
                take_whole(arena, &event, capacity);
                *time = event.time;
                whole = true;
            } else if (text_is(event.name, "gpus") && capacity->gpu_type_count < MOST_GPU_TYPES) {
                struct gpu_capacity *gpus = &capacity->gpu_types[capacity->gpu_type_count++];
                copy_text(arena, &event, "type", gpus->type, sizeof(gpus->type));
                gpus->count = (int)eventlog_get_number(&event, "count", 0);
                gpus->free = (int)eventlog_get_number(&event, "free", 0);
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
    if (!executor->operations->capacity ||
        executor->operations->capacity(executor, &capacity, &error))
        return;
    if (capacity_write(spool, &capacity, clock_now(), &error))
        log_warn("the executor's capacity could not be written down: %s", error.text);
}
