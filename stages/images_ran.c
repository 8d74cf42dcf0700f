/* stages/images_ran.c - what the tasks of a job really ran in, written into its log */
#include "stages/images_ran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "spool/eventlog.h"

struct image_ran {
    char role[64], image[IMAGE_RAN_SIZE];
};

struct images_ran {
    size_t count;
    struct image_ran items[];
};

static bool is_noted(const struct images_ran *ran, const char *role, const char *image)
{
    for (size_t i = 0; ran && i < ran->count; i++)
        if (strcmp(ran->items[i].role, role) == 0 && strcmp(ran->items[i].image, image) == 0)
            return true;
    return false;
}

static void keep(struct images_ran **ran, struct text role, struct text image)
{
    size_t count = *ran ? (*ran)->count : 0;
    *ran = memory_resize(*ran, sizeof(**ran) + (count + 1) * sizeof((*ran)->items[0]));
    struct image_ran *item = &(*ran)->items[count];
    snprintf(item->role, sizeof(item->role), "%.*s", (int)role.length, role.data);
    snprintf(item->image, sizeof(item->image), "%.*s", (int)image.length, image.data);
    (*ran)->count = count + 1;
}

static bool has_room(const struct images_ran *ran)
{
    return !ran || ran->count < IMAGES_RAN_MOST;
}

void images_ran_note(struct images_ran **ran, int job, const struct job_poll *poll)
{
    size_t before = *ran ? (*ran)->count : 0;
    struct buffer lines = {0};
    for (size_t i = 0; i < poll->task_count && has_room(*ran); i++) {
        const struct task_state *task = &poll->tasks[i];
        if (!task->image[0] || is_noted(*ran, task->role, task->image))
            continue;
        keep(ran, text_of(task->role), text_of(task->image));
        eventlog_start(&lines, clock_now(), "image");
        eventlog_add_number(&lines, "attempt", poll->attempt);
        eventlog_add_string(&lines, "role", task->role);
        eventlog_add_string(&lines, "ran", task->image);
        eventlog_end(&lines);
    }
    if (lines.length && eventlog_append(job, buffer_text(&lines), NULL))
        (*ran)->count = before;
    buffer_free(&lines);
}

struct images_ran *images_ran_recall(struct text log, int attempt)
{
    struct images_ran *ran = NULL;
    struct arena *arena = arena_new();
    struct event event;
    while (eventlog_next(&log, &event)) {
        if (!text_is(event.name, "image") || event_get_number(&event, "attempt", 0) != attempt)
            continue;
        struct text role = event_get(arena, &event, "role"), image = event_get(arena, &event, "ran");
        if (role.length && image.length && has_room(ran))
            keep(&ran, role, image);
    }
    arena_free(arena);
    return ran;
}
