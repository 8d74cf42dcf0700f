/* spool/job_state.c - the state of a job */
#include "spool/job_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"

enum { RECORD_LIMIT = 1 << 20 }; /* bytes */

static const char *const names[JOB_STATES] = {
    [JOB_WAITING] = "waiting",   [JOB_QUEUED] = "queued", [JOB_RUNNING] = "running",
    [JOB_STOPPING] = "stopping", [JOB_DONE] = "done",     [JOB_FAILED] = "failed",
    [JOB_HELD] = "held"};

const char *const job_state_words[] = {"waiting", "queued", "running",  "stopping",  "done",
                                       "failed",  "held",   "rendered", "submitted", NULL};

const char *job_state_name(enum job_state state)
{
    return names[state];
}

/* ---- facts from the log ---- */

static void take_word(const struct event *event, const char *key, char *buffer, size_t size)
{
    struct arena *arena = arena_new();
    struct text word = eventlog_get(arena, event, key);
    snprintf(buffer, size, "%.*s", (int)word.length, word.length ? word.data : "");
    arena_free(arena);
}

static void take_image(const struct event *event, struct job_situation *situation)
{
    if (situation->ran_count == SITUATION_IMAGES_MOST)
        return;
    struct arena *arena = arena_new();
    struct text role = eventlog_get(arena, event, "role"),
                image = eventlog_get(arena, event, "ran");
    struct image_of_role *ran = &situation->ran[situation->ran_count];
    if (role.length && image.length) {
        snprintf(ran->role, sizeof(ran->role), "%.*s", (int)role.length, role.data);
        snprintf(ran->image, sizeof(ran->image), "%.*s", (int)image.length, image.data);
        situation->ran_count++;
    }
    arena_free(arena);
}

static void take_listening(const struct event *event, struct job_situation *situation)
{
    if (situation->listening_count == SITUATION_LISTENING_MOST)
        return;
    struct arena *arena = arena_new();
    struct text address = eventlog_get(arena, event, "address");
    char *buffer = situation->listening[situation->listening_count];
    if (address.length && address.length < sizeof(situation->listening[0])) {
        memcpy(buffer, address.data, address.length);
        buffer[address.length] = '\0';
        situation->listening_count++;
    }
    arena_free(arena);
}

/* Add a name to a list such as "main-2, main-5", or take it out. */
static void change_list(char *list, size_t size, const char *name, bool add)
{
    struct buffer changed = {0};
    struct text rest = text_of(list), item;
    while (text_next(&rest, ',', &item)) {
        item = text_trim(item);
        if (item.length && !text_is(item, name))
            buffer_printf(&changed, "%s%.*s", changed.length ? ", " : "", (int)item.length,
                          item.data);
    }
    if (add && changed.length + strlen(name) + 2 < size)
        buffer_printf(&changed, "%s%s", changed.length ? ", " : "", name);
    snprintf(list, size, "%s", changed.length ? changed.data : "");
    buffer_free(&changed);
}

static void take_lost(const struct event *event, struct job_situation *situation, bool lost)
{
    char name[80];
    take_word(event, "task", name, sizeof(name));
    if (name[0])
        change_list(situation->lost, sizeof(situation->lost), name, lost);
}

static int64_t time_of(const struct event *event)
{
    struct arena *arena = arena_new();
    struct text at = eventlog_get(arena, event, "at");
    int64_t time = event->time;
    if (at.data && clock_parse(at, &time))
        time = event->time;
    arena_free(arena);
    return time;
}

/* Add an event to the situation of the last attempt: its `intent` forgets all earlier events. */
static void fold_event(const struct event *event, struct job_situation *situation, bool *stopping)
{
    if (text_is(event->name, "intent")) {
        *situation = (struct job_situation){.state = situation->state};
        *stopping = false;
    } else if (text_is(event->name, "submitted")) {
        situation->queued = event->time;
    } else if (text_is(event->name, "started")) {
        situation->started = time_of(event);
        take_word(event, "node", situation->node, sizeof(situation->node));
        situation->waits[0] = '\0';
    } else if (text_is(event->name, "waiting")) {
        take_word(event, "why", situation->waits, sizeof(situation->waits));
    } else if (text_is(event->name, "lost") || text_is(event->name, "returned")) {
        take_lost(event, situation, text_is(event->name, "lost"));
    } else if (text_is(event->name, "image")) {
        take_image(event, situation);
    } else if (text_is(event->name, "listening")) {
        take_listening(event, situation);
    } else if (text_is(event->name, "suspended")) {
        situation->suspended = event->time;
        take_word(event, "by", situation->suspended_by, sizeof(situation->suspended_by));
    } else if (text_is(event->name, "continued")) {
        situation->suspended = 0;
    } else if (text_is(event->name, "ended")) {
        situation->ended = time_of(event);
    } else if (text_is(event->name, "finished") || text_is(event->name, "failed")) {
        if (!situation->ended)
            situation->ended = event->time;
    } else if (text_is(event->name, "stopping")) {
        *stopping = true;
    } else if (text_is(event->name, "kept") || text_is(event->name, "resized")) {
        *stopping = false;
    }
}

static void fold_log(int job, struct job_situation *situation, bool *stopping)
{
    struct buffer log = {0};
    struct event event;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            fold_event(&event, situation, stopping);
    }
    buffer_free(&log);
}

/* ---- facts from the directory and the requests ---- */

static bool is_there(int job, const char *name)
{
    struct stat status;
    return sys.fstatat(job, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Does a job in failed/ only wait for the executor?  Asked for many jobs, so the record is not
 * parsed. */
static bool only_waits(int job)
{
    struct buffer record = {0};
    bool waits = false;
    if (file_read_at(job, "job.yaml", RECORD_LIMIT, &record, NULL) == 0) {
        static const char *const lines[] = {"\n  retry: \"room\"\n", "\n  retry: \"executor\"\n"};
        for (int i = 0; i < 2; i++)
            waits = waits || memmem(record.data, record.length, lines[i], strlen(lines[i]));
    }
    buffer_free(&record);
    return waits;
}

/* Without the log, which says more of a job in submitted/. */
static enum job_state state_by_place(int job, const struct job_place *place)
{
    switch (place->state) {
    case STATE_RENDERED:
        return is_there(job, "kill") ? JOB_STOPPING : JOB_WAITING;
    case STATE_SUBMITTED:
        return is_there(job, "kill") ? JOB_STOPPING : JOB_QUEUED;
    case STATE_FAILED:
        return only_waits(job) && !is_there(job, "kill") ? JOB_WAITING : JOB_FAILED;
    case STATE_HELD:
        return JOB_HELD;
    case STATE_DONE:
    case STATE_COUNT:
        break;
    }
    return JOB_DONE;
}

void job_state_read_situation(int job, const struct job_place *place,
                              struct job_situation *situation)
{
    bool stopping = false;
    *situation = (struct job_situation){.state = state_by_place(job, place)};
    fold_log(job, situation, &stopping);
    if (place->state == STATE_SUBMITTED && situation->state == JOB_QUEUED)
        situation->state = stopping ? JOB_STOPPING : situation->started ? JOB_RUNNING : JOB_QUEUED;
    if (situation->state == JOB_WAITING || situation->state == JOB_HELD)
        situation->queued = 0;
    if (place->state == STATE_SUBMITTED)
        situation->ended = 0;
}

enum job_state job_state_read(int job, const struct job_place *place)
{
    struct job_situation situation;
    if (place->state != STATE_SUBMITTED)
        return state_by_place(job, place);
    job_state_read_situation(job, place, &situation);
    return situation.state;
}

/* ---- the words on a command line ---- */

bool job_state_select(const char *word, struct job_state_filter *filter)
{
    *filter = (struct job_state_filter){0};
    for (int i = 0; i < JOB_STATES; i++)
        if (strcmp(names[i], word) == 0)
            return filter->states[i] = true;
    for (int i = 0; i < STATE_COUNT; i++)
        if (strcmp(spool_state_name((enum state)i), word) == 0)
            return filter->directories[i] = true;
    return false;
}

bool job_state_is_selected(const struct job_state_filter *filter, enum state directory,
                           enum job_state state)
{
    return filter->directories[directory] || filter->states[state];
}

bool job_state_may_be_in(const struct job_state_filter *filter, enum state directory)
{
    static const unsigned int states_in[STATE_COUNT] = {
        [STATE_RENDERED] = 1 << JOB_WAITING | 1 << JOB_STOPPING,
        [STATE_SUBMITTED] = 1 << JOB_QUEUED | 1 << JOB_RUNNING | 1 << JOB_STOPPING,
        [STATE_FAILED] = 1 << JOB_WAITING | 1 << JOB_FAILED,
        [STATE_HELD] = 1 << JOB_HELD,
        [STATE_DONE] = 1 << JOB_DONE};
    if (filter->directories[directory])
        return true;
    for (int i = 0; i < JOB_STATES; i++)
        if (filter->states[i] && states_in[directory] & 1u << i)
            return true;
    return false;
}
