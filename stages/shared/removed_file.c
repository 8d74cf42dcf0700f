/* stages/shared/removed_file.c - DIR/removed: jobs whose directories somebody removed, and which were
 * ended for that */
#include "stages/shared/removed_file.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { FILE_LIMIT = 64 * 1024, FILE_MODE = 0644 };
static const char file_name[] = "removed";

static bool read_line(struct arena *arena, const struct event *event, struct removed_job *job)
{
    struct text id = eventlog_get(arena, event, "id");
    if (!text_is(event->name, "removed") || !id_valid(id))
        return false;
    *job = (struct removed_job){.time = event->time,
                                .attempt = (int)eventlog_get_number(event, "attempt", 0)};
    memcpy(job->id, id.data, id.length);
    return true;
}

size_t removed_file_read(const struct spool *spool, int64_t since,
                         struct removed_job jobs[static REMOVED_KEPT])
{
    struct buffer bytes = {0};
    struct event event;
    size_t count = 0;
    if (file_read_at(spool->root, file_name, FILE_LIMIT, &bytes, NULL) == 0) {
        struct arena *arena = arena_new();
        struct text rest = buffer_text(&bytes);
        while (count < REMOVED_KEPT && eventlog_next(&rest, &event))
            if (read_line(arena, &event, &jobs[count]) && jobs[count].time >= since)
                count++;
        arena_free(arena);
    }
    buffer_free(&bytes);
    return count;
}

int removed_file_note(const struct spool *spool, const struct removed_job *job, struct error *error)
{
    struct removed_job jobs[REMOVED_KEPT + 1];
    struct buffer out = {0};
    size_t count = removed_file_read(spool, INT64_MIN, jobs);
    jobs[count++] = *job;
    for (size_t i = count > REMOVED_KEPT ? 1 : 0; i < count; i++) {
        eventlog_start(&out, jobs[i].time, "removed");
        eventlog_add_string(&out, "id", jobs[i].id);
        eventlog_add_number(&out, "attempt", jobs[i].attempt);
        eventlog_end(&out);
    }
    int result = spool_file_renew(spool->root, file_name, buffer_text(&out), FILE_MODE, error);
    buffer_free(&out);
    return result;
}
