/* stages/shared/control_file.c - what somebody asked for, as a small file in the job's directory */
#include "stages/shared/control_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { REQUEST_LIMIT = 16 * 1024 }; /* bytes */

void control_file_copy_by(char by[static CONTROL_BY_SIZE], struct text found)
{
    size_t length = found.length < CONTROL_BY_SIZE ? found.length : CONTROL_BY_SIZE - 1;
    for (size_t i = 0; i < length; i++) {
        bool control = (unsigned char)found.data[i] < ' ' || found.data[i] == 0x7f;
        by[i] = control ? '?' : found.data[i];
    }
    by[length] = '\0';
}

static int write_request(int job, enum control_verb verb, struct text by, uid_t uid, bool begins,
                         int64_t now, struct error *error)
{
    struct buffer lines = {0};
    eventlog_start(&lines, now, request_control_name(verb));
    eventlog_add(&lines, "by", by);
    eventlog_add_number(&lines, "uid", uid);
    if (begins)
        eventlog_add_string(&lines, "begin", "now");
    if (verb == CONTROL_SUSPEND)
        eventlog_add_string(&lines, "keep_memory", "yes");
    eventlog_end(&lines);
    int result =
        spool_file_replace(job, request_control_name(verb), buffer_text(&lines), 0644, error);
    if (!result)
        result = eventlog_append(job, buffer_text(&lines), error);
    if (!result && (verb == CONTROL_HOLD || verb == CONTROL_SUSPEND))
        result = control_file_clear(job, CONTROL_RELEASE, error);
    if (!result && verb == CONTROL_RELEASE)
        result = control_file_clear(job, CONTROL_HOLD, error);
    buffer_free(&lines);
    return result;
}

int control_file_write(int job, enum control_verb verb, struct text by, uid_t uid, int64_t now,
                       struct error *error)
{
    return write_request(job, verb, by, uid, false, now, error);
}

int control_file_write_begin(int job, struct text by, uid_t uid, int64_t now, struct error *error)
{
    return write_request(job, CONTROL_RELEASE, by, uid, true, now, error);
}

int control_file_pending(int job, enum control_verb verb, struct control_request *request)
{
    struct buffer bytes = {0};
    struct event event;
    if (file_read_at(job, request_control_name(verb), REQUEST_LIMIT, &bytes, NULL)) {
        int number = errno;
        buffer_free(&bytes);
        if (number == ENOENT)
            return 0;
        if (!file_is_damaged(number)) {
            log_warn("it is unknown at the moment whether a %s was requested: %s",
                     request_control_name(verb), strerror(number));
            return -1;
        }
    }
    *request = (struct control_request){.by = "somebody", .uid = (uid_t)-1, .when = clock_now()};
    struct text rest = buffer_text(&bytes);
    if (eventlog_next(&rest, &event)) {
        struct arena *arena = arena_new();
        control_file_copy_by(request->by, eventlog_get(arena, &event, "by"));
        request->uid = (uid_t)eventlog_get_number(&event, "uid", -1);
        request->when = event.time;
        request->keeps_memory = text_is(eventlog_get(arena, &event, "keep_memory"), "yes");
        request->begins = text_is(eventlog_get(arena, &event, "begin"), "now");
        arena_free(arena);
    }
    buffer_free(&bytes);
    return 1;
}

int64_t control_file_until(int job, int64_t begin)
{
    struct control_request release;
    if (begin <= clock_now())
        return 0;
    int released = control_file_pending(job, CONTROL_RELEASE, &release);
    return released < 0 ? -1 : released && release.begins ? 0 : begin;
}

int control_file_clear(int job, enum control_verb verb, struct error *error)
{
    if (sys.unlinkat(job, request_control_name(verb), 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", request_control_name(verb));
    return 0;
}
