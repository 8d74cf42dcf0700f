/* stages/control.c - kill and retry files */
#include "stages/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/prepare.h"

enum { WISH_LIMIT = 1024 };     /* bytes */

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

int control_apply(struct stage *stage, const struct control *control, uid_t uid, int64_t now,
                  struct error *error)
{
    struct job_place place;
    struct job_record record;
    struct arena *arena = arena_new();
    int result = -1;
    int job = -1;
    if (job_find(&stage->spool, control->id, &place, error) ||
        check_state(control, &place, error))
        goto done;
    job = job_open(&stage->spool, &place);
    if (job < 0) {
        /* It moved on between the two looks; the claim stays and is tried again. */
        error_errno(error, "%s could not be opened", place.id);
        goto done;
    }
    if (record_read(job, arena, &record, error)) {
        /* Nobody can be shown to own a damaged record; only an administrator may act on it. */
        record.uid = (uid_t)-1;
    }
    if (record.uid != uid && !settings_is_administrator(&stage->settings, &stage->spool, uid)) {
        struct text asker = prepare_owner(arena, uid);
        error_set(error, "%s belongs to %.*s; %s may not %s it", place.id,
                  (int)record.owner.length, record.owner.length ? record.owner.data : "",
                  asker.data, verb_names[control->verb]);
        goto done;
    }
    if (write_wish(job, control, prepare_owner(arena, uid), uid, now, error))
        goto done;
    job_ring(&stage->spool, &place);
    result = 0;
done:
    if (job >= 0)
        sys.close(job);
    arena_free(arena);
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
