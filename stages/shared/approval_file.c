/* stages/shared/approval_file.c - the files `approve` and `refuse` in a job's directory */
#include "stages/shared/approval_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { APPROVAL_LIMIT = 16 * 1024 }; /* bytes */

static void copy_digest(char digest[static SHA256_HEX_SIZE], struct text text)
{
    snprintf(digest, SHA256_HEX_SIZE, "%.*s", (int)text.length, text.length ? text.data : "");
}

static int write_line(int job, enum control_verb verb, struct buffer *line, struct error *error)
{
    enum control_verb other = verb == CONTROL_APPROVE ? CONTROL_REFUSE : CONTROL_APPROVE;
    int result =
        spool_file_replace(job, request_control_name(verb), buffer_text(line), 0644, error);
    if (!result)
        result = eventlog_append(job, buffer_text(line), error);
    if (!result)
        result = control_file_clear(job, other, error);
    buffer_free(line);
    return result;
}

int approval_file_write(int job, const struct approval *approval, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, approval->when, request_control_name(CONTROL_APPROVE));
    eventlog_add_string(&line, "by", approval->by);
    eventlog_add_number(&line, "uid", approval->uid);
    eventlog_add_string(&line, "request", approval->request);
    eventlog_add_string(&line, "manifest", approval->manifest);
    eventlog_add_string(&line, "grant", approval->grant);
    if (approval->seal[0])
        eventlog_add_string(&line, "seal", approval->seal);
    eventlog_end(&line);
    return write_line(job, CONTROL_APPROVE, &line, error);
}

int approval_file_refuse(int job, const char *by, uid_t uid, struct text words, int64_t now,
                         struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, now, request_control_name(CONTROL_REFUSE));
    eventlog_add_string(&line, "by", by);
    eventlog_add_number(&line, "uid", uid);
    eventlog_add(&line, "text", words);
    eventlog_end(&line);
    return write_line(job, CONTROL_REFUSE, &line, error);
}

/* Read a file of one event.  1; 0 when there is none, or it is damaged, which says nothing; -1: not known now. */
static int read_line(int job, enum control_verb verb, struct buffer *bytes, struct event *event)
{
    if (file_read_at(job, request_control_name(verb), APPROVAL_LIMIT, bytes, NULL)) {
        int number = errno;
        if (number == ENOENT || file_is_damaged(number))
            return 0;
        log_warn(
            "it is unknown at the moment what an approver has decided: %s could not be read: %s",
            request_control_name(verb), strerror(number));
        return -1;
    }
    struct text rest = buffer_text(bytes);
    return eventlog_next(&rest, event) && text_is(event->name, request_control_name(verb));
}

int approval_file_read(int job, struct approval *approval)
{
    struct buffer bytes = {0};
    struct event event;
    int found = read_line(job, CONTROL_APPROVE, &bytes, &event);
    if (found > 0) {
        struct arena *arena = arena_new();
        *approval = (struct approval){.uid = (uid_t)eventlog_get_number(&event, "uid", -1),
                                      .when = event.time};
        control_file_copy_by(approval->by, eventlog_get(arena, &event, "by"));
        copy_digest(approval->request, eventlog_get(arena, &event, "request"));
        copy_digest(approval->manifest, eventlog_get(arena, &event, "manifest"));
        copy_digest(approval->grant, eventlog_get(arena, &event, "grant"));
        copy_digest(approval->seal, eventlog_get(arena, &event, "seal"));
        arena_free(arena);
    }
    buffer_free(&bytes);
    return found;
}

int approval_file_refused(int job, struct control_request *request, struct buffer *words)
{
    struct buffer bytes = {0};
    struct event event;
    int found = read_line(job, CONTROL_REFUSE, &bytes, &event);
    if (found > 0) {
        struct arena *arena = arena_new();
        *request = (struct control_request){.uid = (uid_t)eventlog_get_number(&event, "uid", -1),
                                            .when = event.time};
        control_file_copy_by(request->by, eventlog_get(arena, &event, "by"));
        struct text text = eventlog_get(arena, &event, "text");
        if (text.length)
            buffer_add_text(words, text);
        arena_free(arena);
    }
    buffer_free(&bytes);
    return found;
}
