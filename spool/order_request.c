/* spool/order_request.c - <id>/order: where somebody wants a waiting job to stand among others */
#include "spool/order_request.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { REQUEST_LIMIT = 16 * 1024, ORDER_MODE = 0644 };
static const char file_name[] = "order";

static void take_line(struct arena *arena, const struct event *event, struct job_record *record)
{
    struct text top = eventlog_get(arena, event, "top");
    struct text class = eventlog_get(arena, event, "priority_class");
    struct text from = eventlog_get(arena, event, "priority_from");
    record->ordered = event->time;
    record->priority = (int)eventlog_get_number(event, "priority", record->priority);
    record->priority_class = class.data ? class : TEXT("");
    record->priority_from = from.data ? from : TEXT("");
    if (top.data)
        clock_parse(top, &record->top);
}

int order_request_take(int job, struct arena *arena, struct job_record *record)
{
    struct buffer bytes = {0};
    struct event event;
    int result = file_read_at(job, file_name, REQUEST_LIMIT, &bytes, NULL);
    int number = errno;
    struct text rest = arena_take(arena, &bytes);
    if (result && number != ENOENT && !file_is_damaged(number)) {
        log_warn("%s: its order cannot be read at the moment: %s", record->id.data,
                 strerror(number));
        return -1;
    }
    if (result || !eventlog_next(&rest, &event) || event.time <= record->ordered)
        return 0;
    take_line(arena, &event, record);
    return 1;
}

int order_request_write(int job, struct job_record *record, int64_t now, struct error *error)
{
    struct buffer line = {0};
    char time[CLOCK_TEXT_SIZE];
    record->ordered = now > record->ordered ? now : record->ordered + 1;
    eventlog_start(&line, record->ordered, "order");
    eventlog_add_number(&line, "priority", record->priority);
    if (record->priority_class.length)
        eventlog_add(&line, "priority_class", record->priority_class);
    if (record->priority_from.length)
        eventlog_add(&line, "priority_from", record->priority_from);
    if (record->top)
        eventlog_add_string(&line, "top", clock_format(record->top, time));
    eventlog_end(&line);
    int result = spool_file_replace(job, file_name, buffer_text(&line), ORDER_MODE, error);
    buffer_free(&line);
    return result;
}
