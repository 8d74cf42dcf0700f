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

static bool state_allows(const struct control *control, const struct job_place *place,
                         struct error *error)
{
    if (place->state == STATE_DONE)
        error_set(error, "%s has finished already (done/%s)", place->id, place->date);
    else if (control->verb == CONTROL_RETRY && place->state != STATE_FAILED)
        error_set(error, "%s is in %s/; only a job in failed/ can be tried again", place->id,
                  state_name(place->state));
    else
        return true;
    return false;
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

/* Open the job that a control file names, wherever it is; it may be moving.  The result as that of
 * control_apply(). */
static int open_job(const struct stage *stage, const struct control *control,
                    struct job_place *place, int *job, struct error *error)
{
    for (int tries = 0; tries < MOST_MOVES; tries++) {
        int found = job_find(&stage->spool, control->id, place, error);
        if (found)
            return found;
        if (!state_allows(control, place, error))
            return 1;
        *job = job_open(&stage->spool, place);
        if (*job >= 0)
            return 0;
    }
    return error_errno(error, "%s could not be opened wherever it was seen", place->id);
}

static int check_wish(struct stage *stage, const struct control *control,
                      const struct job_place *place, int job, uid_t uid, struct error *error)
{
    struct job_record record;
    struct user asker;
    struct arena *arena = arena_new();
    int result = 0;
    users_find(uid, &asker);
    if (record_read(job, arena, &record, error)) {
        if (!file_is_damaged(errno)) {
            result = -1;
            goto done;
        }
        /* Nobody can be shown to own a damaged record; only an administrator may act on it. */
        record = (struct job_record){.uid = (uid_t)-1, .owner = TEXT("nobody")};
    }
    if (record.uid != uid && !settings_is_administrator(&stage->settings, &stage->spool, uid))
        result = error_set(error, "%s belongs to %.*s; %s may not %s it", place->id,
                           (int)record.owner.length, record.owner.length ? record.owner.data : "",
                           asker.name, verb_names[control->verb]);
    else if (control->verb == CONTROL_RETRY && !record.request_file.length)
        result = error_set(error, "%s was not made from a job file; drop one into incoming/",
                           place->id);
    if (result)
        result = 1;
done:
    arena_free(arena);
    return result;
}

int control_apply(struct stage *stage, const struct control *control, uid_t uid, int64_t now,
                  struct error *error)
{
    struct job_place place;
    struct user asker;
    int job;
    int result = open_job(stage, control, &place, &job, error);
    if (result)
        return result;
    users_find(uid, &asker);
    result = check_wish(stage, control, &place, job, uid, error);
    if (!result)
        result = write_wish(job, control, text_of(asker.name), uid, now, error);
    if (!result)
        job_ring(&stage->spool, &place);
    sys.close(job);
    return result;
}

int control_pending(int job, enum control_verb verb, struct wish *wish)
{
    struct buffer bytes = {0};
    struct event event;
    if (file_read_at(job, verb_names[verb], WISH_LIMIT, &bytes, NULL)) {
        int number = errno;
        buffer_free(&bytes);
        if (number == ENOENT)
            return 0;
        if (!file_is_damaged(number)) {
            log_warn("whether a %s was asked for cannot be told just now: %s", verb_names[verb],
                     strerror(number));
            return -1;
        }
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
    return 1;
}

int control_clear(int job, enum control_verb verb, struct error *error)
{
    if (sys.unlinkat(job, verb_names[verb], 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", verb_names[verb]);
    return 0;
}
