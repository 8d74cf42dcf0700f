/* stages/control.c - kill and retry files */
#include "stages/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/users.h"

enum { WISH_LIMIT = 1024, MOST_MOVES = 10 };    /* bytes; moves of a job while it is looked for */

static const char *const verb_names[] = {
    [CONTROL_NONE] = "none", [CONTROL_KILL] = "kill", [CONTROL_RETRY] = "retry"};

static int check_state(const struct control *control, const struct job_place *place,
                       struct error *error)
{
    if (place->state == STATE_DONE)
        return error_set(error, "%s has finished already (done/%s)", place->id, place->date);
    if (control->verb == CONTROL_RETRY && place->state != STATE_FAILED)
        return error_set(error, "%s is in %s/; only a job in failed/ can be tried again", place->id,
                         state_name(place->state));
    return 0;
}

static int write_wish(int job, const struct control *control, struct text by, uid_t uid,
                      int64_t now, struct error *error)
{
    struct buffer lines = {0};
    eventlog_start(&lines, now, verb_names[control->verb]);
    eventlog_add(&lines, "by", by);
    eventlog_add_number(&lines, "uid", uid);
    eventlog_end(&lines);
    int result = job_file_replace(job, verb_names[control->verb], buffer_text(&lines), 0644, error);
    if (!result)
        result = eventlog_append(job, buffer_text(&lines), error);
    buffer_free(&lines);
    return result;
}

/* Open the job that a control file names, wherever it is; it may be moving. */
static int open_job(const struct stage *stage, const struct control *control,
                    struct job_place *place, struct error *error)
{
    for (int tries = 0; tries < MOST_MOVES; tries++) {
        if (job_find(&stage->spool, control->id, place, error) ||
            check_state(control, place, error))
            return -1;
        int job = job_open(&stage->spool, place);
        if (job >= 0)
            return job;
    }
    return error_set(error, "%s moves too often to be found; try again", place->id);
}

static int check_wish(struct stage *stage, const struct control *control,
                      const struct job_place *place, int job, uid_t uid, struct error *error)
{
    struct job_record record;
    struct user asker;
    struct arena *arena = arena_new();
    int result = 0;
    users_find(uid, &asker);
    /* Nobody can be shown to own a damaged record; only an administrator may act on it. */
    if (record_read(job, arena, &record, NULL))
        record = (struct job_record){.uid = (uid_t)-1, .owner = TEXT("nobody")};
    if (record.uid != uid && !settings_is_administrator(&stage->settings, &stage->spool, uid))
        result = error_set(error, "%s belongs to %.*s; %s may not %s it", place->id,
                           (int)record.owner.length, record.owner.length ? record.owner.data : "",
                           asker.name, verb_names[control->verb]);
    else if (control->verb == CONTROL_RETRY && !record.request_file.length)
        result = error_set(error, "%s was not made from a job file; drop one into incoming/",
                           place->id);
    arena_free(arena);
    return result;
}

int control_apply(struct stage *stage, const struct control *control, uid_t uid, int64_t now,
                  struct error *error)
{
    struct job_place place;
    struct user asker;
    int job = open_job(stage, control, &place, error);
    if (job < 0)
        return -1;
    users_find(uid, &asker);
    int result = check_wish(stage, control, &place, job, uid, error);
    if (!result)
        result = write_wish(job, control, text_of(asker.name), uid, now, error);
    if (!result)
        job_ring(&stage->spool, &place);
    sys.close(job);
    return result;
}

bool control_pending(int job, enum control_verb verb, struct wish *wish)
{
    struct buffer bytes = {0};
    struct event event;
    if (file_read_at(job, verb_names[verb], WISH_LIMIT, &bytes, NULL)) {
        buffer_free(&bytes);
        return false;
    }
    *wish = (struct wish){.by = "somebody", .uid = (uid_t)-1, .when = clock_now()};
    struct text rest = buffer_text(&bytes);
    if (eventlog_next(&rest, &event)) {
        struct arena *arena = arena_new();
        struct text by = event_get(arena, &event, "by");
        snprintf(wish->by, sizeof(wish->by), "%.*s", (int)by.length, by.length ? by.data : "");
        wish->uid = (uid_t)event_get_number(&event, "uid", -1);
        wish->when = event.time;
        arena_free(arena);
    }
    buffer_free(&bytes);
    return true;
}

int control_clear(int job, enum control_verb verb, struct error *error)
{
    if (sys.unlinkat(job, verb_names[verb], 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", verb_names[verb]);
    return 0;
}
