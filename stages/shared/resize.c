/* stages/shared/resize.c - <id>/resize: a request to change the size of a running job */
#include "stages/shared/resize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { REQUEST_LIMIT = 1024 }; /* bytes */

static const char file_name[] = "resize";

int resize_write(int job, const struct job_record *record, const struct resize_request *request,
                 struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, request->when, "resize");
    eventlog_add_number(&line, "generation", request->generation);
    eventlog_add_string(&line, "kind", size_kind_name(record->sizes.kind));
    eventlog_add_number(&line, "from", request->from);
    eventlog_add_number(&line, "to", request->to);
    if (request->loses)
        eventlog_add_number(&line, "loses", 1);
    eventlog_add_string(&line, "reason", request->reason);
    eventlog_end(&line);
    /* The log comes first: every request that is granted has an event. */
    int result = eventlog_append(job, buffer_text(&line), error);
    if (!result)
        result = spool_file_replace(job, file_name, buffer_text(&line), 0644, error);
    buffer_free(&line);
    return result;
}

/* False when the line is damaged. */
static bool read_request(const struct event *event, struct resize_request *request)
{
    struct arena *arena = arena_new();
    struct text reason = eventlog_get(arena, event, "reason");
    int64_t generation = eventlog_get_number(event, "generation", -1);
    *request = (struct resize_request){.generation = (int)generation,
                                       .from = eventlog_get_number(event, "from", -1),
                                       .to = eventlog_get_number(event, "to", -1),
                                       .loses = eventlog_get_number(event, "loses", 0) > 0,
                                       .when = event->time};
    snprintf(request->reason, sizeof(request->reason), "%.*s", (int)reason.length,
             reason.length ? reason.data : "");
    arena_free(arena);
    return text_is(event->name, file_name) && generation > 0 && generation <= INT32_MAX &&
           request->from >= 0 && request->to >= 0;
}

int resize_pending(int job, const struct job_record *record, struct resize_request *request)
{
    struct buffer bytes = {0};
    struct event event;
    if (file_read_at(job, file_name, REQUEST_LIMIT, &bytes, NULL)) {
        int number = errno;
        buffer_free(&bytes);
        if (number == ENOENT || file_is_damaged(number))
            return 0;
        log_warn("%.*s: it is unknown at the moment whether a resize was requested: %s",
                 (int)record->id.length, record->id.length ? record->id.data : "",
                 strerror(number));
        return -1;
    }
    struct text rest = buffer_text(&bytes);
    bool whole = eventlog_next(&rest, &event) && read_request(&event, request);
    buffer_free(&bytes);
    return whole && request->generation == (int64_t)record->resizes + 1;
}

bool resize_is_there(int job)
{
    struct stat status;
    return !sys.fstatat(job, file_name, &status, AT_SYMLINK_NOFOLLOW) || errno != ENOENT;
}

int resize_clear(int job, struct error *error)
{
    if (!sys.unlinkat(job, file_name, 0) || errno == ENOENT)
        return 0;
    /* A directory has the name. */
    if ((errno == EISDIR || errno == EPERM) && !spool_file_damaged(job, file_name))
        return 0;
    return error_errno(error, "%s could not be removed", file_name);
}
