/* spool/history_rebuild.c - rebuilds the history from the jobs of done/
 *
 * Reads job.yaml, the progress file and the log of each job; a job without measurements (older than
 * these) gets the times of its log.  Unreadable jobs are skipped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "spool/history_runs.h"
#include "spool/jobs.h"

/* The lines of a job, and the time of its end, by which they are sorted. */
struct old_job {
    int64_t ended;
    char *lines;
};

struct rebuilding {
    const struct spool *spool;
    struct old_job *jobs;
    size_t count, capacity;
    size_t bytes; /* of all lines */
};

/* The time that an event states, or that of its line. */
static int64_t event_at(struct arena *arena, const struct event *event)
{
    int64_t at;
    struct text written = eventlog_get(arena, event, "at");
    return written.data && !clock_parse(written, &at) ? at : event->time;
}

/* Read from the log when the job ended, and how long its last attempt ran if that was not
 * measured. */
static int read_log(struct arena *arena, int job, const struct job_record *record, bool measured,
                    struct progress *progress, int64_t *ended)
{
    struct buffer bytes = {0};
    struct event event;
    int64_t started = 0;
    *ended = 0;
    int result = eventlog_read(job, &bytes, NULL);
    struct text log = result ? (struct text){"", 0} : buffer_text(&bytes);
    while (eventlog_next(&log, &event)) {
        if (text_is(event.name, "started"))
            started = event_at(arena, &event);
        else if (text_is(event.name, "ended"))
            *ended = event_at(arena, &event);
    }
    buffer_free(&bytes);
    if (result || !*ended)
        return -1;
    if (!measured && started && *ended > started)
        progress_file_assume(progress, record->attempt,
                             record->sizes.kind == SIZE_FIXED ? 1 : record->size, started, *ended);
    return 0;
}

static int take_job(struct rebuilding *rebuilding, struct arena *arena, int job)
{
    struct job_record record;
    struct progress progress = {0};
    struct buffer lines = {0};
    int64_t ended;
    if (record_read(job, arena, &record, NULL))
        return -1;
    bool measured = progress_file_read(job, &progress, NULL) == 0;
    if (read_log(arena, job, &record, measured, &progress, &ended))
        return -1;
    history_runs_add(&record, &progress, true, true, ended, &lines);
    if (lines.length == 0)
        return -1;
    rebuilding->jobs = memory_grow(rebuilding->jobs, rebuilding->count, &rebuilding->capacity,
                                   sizeof(*rebuilding->jobs));
    rebuilding->bytes += lines.length;
    rebuilding->jobs[rebuilding->count++] = (struct old_job){ended, lines.data};
    return 0;
}

static int visit_job(void *context, const struct job_place *place)
{
    struct rebuilding *rebuilding = context;
    int job = job_open(rebuilding->spool, place);
    if (job < 0)
        return 0;
    struct arena *arena = arena_new();
    take_job(rebuilding, arena, job);
    arena_free(arena);
    sys.close(job);
    return 0;
}

static int by_end(const void *a, const void *b)
{
    const struct old_job *first = a, *second = b;
    if (first->ended != second->ended)
        return first->ended < second->ended ? -1 : 1;
    return strcmp(first->lines, second->lines);
}

/* Add the lines that the track stage has appended since the rebuild began. */
static int add_newer(struct rebuilding *rebuilding, int64_t since, struct buffer *lines,
                     struct error *error)
{
    struct arena *arena = arena_new();
    struct history history;
    int result = history_read(rebuilding->spool, arena, &history, error);
    if (result && file_is_damaged(errno))
        result = 0; /* a damaged history is the reason to rebuild it */
    for (size_t i = 0; i < history.count; i++)
        if (history.runs[i].ended >= since)
            history_runs_format(&history.runs[i], lines);
    arena_free(arena);
    return result;
}

static int write_lines(struct rebuilding *rebuilding, int64_t since, size_t *runs,
                       struct error *error)
{
    struct buffer lines = {0};
    struct arena *arena = arena_new();
    struct history history = {0};
    int directory = history_open(rebuilding->spool, true, error);
    int result = directory < 0 ? -1 : 0;
    for (size_t i = 0; i < rebuilding->count; i++)
        buffer_add_string(&lines, rebuilding->jobs[i].lines);
    if (!result)
        result = add_newer(rebuilding, since, &lines, error);
    if (!result)
        result = history_runs_replace(directory, buffer_text(&lines), error);
    if (!result)
        result = history_read(rebuilding->spool, arena, &history, error);
    *runs = history.count;
    arena_free(arena);
    buffer_free(&lines);
    if (directory >= 0)
        sys.close(directory);
    return result;
}

int history_rebuild(const struct spool *spool, size_t *runs, struct error *error)
{
    struct rebuilding rebuilding = {.spool = spool};
    day_name *days = NULL;
    size_t count = 0;
    int64_t since = clock_now();
    *runs = 0;
    if (jobs_list_days(spool, &days, &count))
        return error_errno(error, "done/ could not be read");
    for (size_t i = 0; i < count && rebuilding.bytes < HISTORY_KEPT; i++)
        jobs_walk_day(spool, days[i], visit_job, &rebuilding);
    free(days);
    if (rebuilding.count)
        qsort(rebuilding.jobs, rebuilding.count, sizeof(*rebuilding.jobs), by_end);
    int result = write_lines(&rebuilding, since, runs, error);
    for (size_t i = 0; i < rebuilding.count; i++)
        free(rebuilding.jobs[i].lines);
    free(rebuilding.jobs);
    return result;
}
