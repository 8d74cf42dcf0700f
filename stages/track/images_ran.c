/* stages/track/images_ran.c - what a job's log says of the images in which its tasks ran, and where they listen */
#include "stages/track/images_ran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "spool/eventlog.h"

/* The two events, and the keys of their fields. */
enum kind { KIND_IMAGE, KIND_LISTENING, KINDS };
static const struct {
    const char *event, *who, *what;
} kinds[KINDS] = {{"image", "role", "ran"}, {"listening", "task", "address"}};

enum { WHO_SIZE = 80, WHAT_SIZE = IMAGE_RAN_SIZE > ADDRESS_SIZE ? IMAGE_RAN_SIZE : ADDRESS_SIZE };

struct image_ran {
    enum kind kind;
    char who[WHO_SIZE], what[WHAT_SIZE];
};

struct images_ran {
    size_t count;
    struct image_ran items[];
};

static bool is_noted(const struct images_ran *ran, enum kind kind, const char *who,
                     const char *what)
{
    for (size_t i = 0; ran && i < ran->count; i++)
        if (ran->items[i].kind == kind && strcmp(ran->items[i].who, who) == 0 &&
            strcmp(ran->items[i].what, what) == 0)
            return true;
    return false;
}

static void keep_image(struct images_ran **ran, enum kind kind, struct text who, struct text what)
{
    size_t count = *ran ? (*ran)->count : 0;
    *ran = memory_resize(*ran, sizeof(**ran) + (count + 1) * sizeof((*ran)->items[0]));
    struct image_ran *item = &(*ran)->items[count];
    item->kind = kind;
    snprintf(item->who, sizeof(item->who), "%.*s", (int)who.length, who.data);
    snprintf(item->what, sizeof(item->what), "%.*s", (int)what.length, what.data);
    (*ran)->count = count + 1;
}

static bool can_keep_more(const struct images_ran *ran)
{
    return !ran || ran->count < IMAGES_RAN_MOST;
}

static void note_image(struct images_ran **ran, enum kind kind, int attempt, const char *who,
                       const char *what, struct buffer *lines)
{
    if (!what[0] || !can_keep_more(*ran) || is_noted(*ran, kind, who, what))
        return;
    keep_image(ran, kind, text_of(who), text_of(what));
    if (kind == KIND_IMAGE)
        eventlog_start(lines, clock_now(), "image");
    else
        eventlog_start(lines, clock_now(), "listening");
    eventlog_add_number(lines, "attempt", attempt);
    eventlog_add_string(lines, kinds[kind].who, who);
    eventlog_add_string(lines, kinds[kind].what, what);
    eventlog_end(lines);
}

void images_ran_note(struct images_ran **ran, const struct job_poll *poll, struct buffer *lines)
{
    for (size_t i = 0; i < poll->task_count && can_keep_more(*ran); i++) {
        const struct task_state *task = &poll->tasks[i];
        char name[WHO_SIZE];
        snprintf(name, sizeof(name), "%s-%d", task->role, task->index);
        note_image(ran, KIND_IMAGE, poll->attempt, task->role, task->image, lines);
        note_image(ran, KIND_LISTENING, poll->attempt, name, task->address, lines);
    }
}

struct images_ran *images_ran_recall(struct text log, int attempt)
{
    struct images_ran *ran = NULL;
    struct arena *arena = arena_new();
    struct event event;
    while (eventlog_next(&log, &event))
        for (int i = 0; i < KINDS; i++) {
            if (!text_is(event.name, kinds[i].event) ||
                eventlog_get_number(&event, "attempt", 0) != attempt)
                continue;
            struct text who = eventlog_get(arena, &event, kinds[i].who),
                        what = eventlog_get(arena, &event, kinds[i].what);
            if (who.length && what.length && can_keep_more(ran))
                keep_image(&ran, (enum kind)i, who, what);
        }
    arena_free(arena);
    return ran;
}
