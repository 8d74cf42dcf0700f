/* spool/progress_file.c - <id>/progress: the progress of a running job
 *
 * A line `progress`, and a line `size` for each size that an attempt ran at, as in <id>/log.
 */
#include "spool/progress_file.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "spool/file.h"
#include "spool/pairs.h"

enum { FILE_LIMIT = 64 * 1024, FILE_MODE = 0644 }; /* bytes; a file is about 1 KiB */

#define FIELD(name, kind, member) PAIR(struct progress, name, kind, member)
static const struct pair_field fields[] = {
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("started", PAIR_TIME, started),
    FIELD("done", PAIR_DOUBLE, done),
    FIELD("total", PAIR_DOUBLE, total),
    FIELD("most", PAIR_DOUBLE, most),
    FIELD("unit", PAIR_TIME, unit),
    FIELD("size", PAIR_INT64, size),
    FIELD("since", PAIR_TIME, since),
    FIELD("rate", PAIR_DOUBLE, rate),
    FIELD("spread", PAIR_DOUBLE, spread),
    FIELD("samples", PAIR_INT, samples),
    FIELD("start_up_ms", PAIR_INT64, start_up),
    FIELD("restart_ms", PAIR_INT64, restart),
    FIELD("earlier_ms", PAIR_INT64, earlier),
    FIELD("memory_peak_bytes", PAIR_INT64, memory),
    FIELD("tasks_ms", PAIR_INT64, tasks),
};
#undef FIELD

#define FIELD(name, kind, member) PAIR(struct progress_at_size, name, kind, member)
static const struct pair_field size_fields[] = {
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("size", PAIR_INT64, size),
    FIELD("rate", PAIR_DOUBLE, rate),
    FIELD("units", PAIR_DOUBLE, units),
    FIELD("running_ms", PAIR_INT64, running),
    FIELD("resize_ms", PAIR_INT64, resize),
    FIELD("cpu_used_ms", PAIR_INT64, cpu_used),
    FIELD("cpu_allocated_ms", PAIR_INT64, cpu_allocated),
};
#undef FIELD

static const struct progress nothing = {.start_up = -1, .restart = -1};
static const struct progress_at_size nothing_at_size = {.resize = -1, .cpu_used = -1};

static struct progress_at_size *append_size(struct progress *progress)
{
    if (progress->size_count == PROGRESS_MOST_SIZES) {
        progress->earlier += progress->sizes[0].running;
        progress->size_count--;
        memmove(progress->sizes, progress->sizes + 1,
                (size_t)progress->size_count * sizeof(progress->sizes[0]));
    }
    struct progress_at_size *added = &progress->sizes[progress->size_count++];
    *added = nothing_at_size;
    return added;
}

struct progress_at_size *progress_file_entry_at(struct progress *progress, int attempt,
                                                int64_t size)
{
    for (int i = 0; i < progress->size_count; i++)
        if (progress->sizes[i].attempt == attempt && progress->sizes[i].size == size)
            return &progress->sizes[i];
    struct progress_at_size *added = append_size(progress);
    added->attempt = attempt;
    added->size = size;
    return added;
}

struct progress_at_size *progress_file_entry(struct progress *progress)
{
    for (int i = progress->size_count - 1; i >= 0; i--)
        if (progress->sizes[i].attempt == progress->attempt &&
            progress->sizes[i].size == progress->size)
            return &progress->sizes[i];
    return NULL;
}

int64_t progress_file_running(const struct progress *progress, bool all)
{
    int64_t sum = all ? progress->earlier : 0;
    for (int i = 0; i < progress->size_count; i++)
        if (all || progress->sizes[i].attempt == progress->attempt)
            sum += progress->sizes[i].running;
    return sum;
}

void progress_file_format(const struct progress *progress, struct buffer *out)
{
    eventlog_start(out, progress->time, "progress");
    pairs_add(out, fields, ARRAY_COUNT(fields), progress);
    eventlog_end(out);
    for (int i = 0; i < progress->size_count; i++) {
        eventlog_start(out, progress->time, "size");
        pairs_add(out, size_fields, ARRAY_COUNT(size_fields), &progress->sizes[i]);
        eventlog_end(out);
    }
}

/* Are the amounts usable in sums?  -1 means not known. */
static bool is_sane(const struct progress_at_size *at)
{
    const int64_t most = INT64_C(1) << 52;
    return at->attempt >= 0 && at->size >= 0 && at->running >= 0 && at->running < most &&
           at->resize >= -1 && at->resize < most && at->cpu_used >= -1 && at->cpu_used < most &&
           at->cpu_allocated >= 0 && at->cpu_allocated < most;
}

static int parse_lines(struct arena *arena, struct text source, struct progress *progress)
{
    struct event event;
    bool found = false;
    while (eventlog_next(&source, &event)) {
        if (text_is(event.name, "progress")) {
            if (pairs_read(arena, &event, fields, ARRAY_COUNT(fields), progress))
                return -1;
            progress->time = event.time;
            found = true;
        } else if (text_is(event.name, "size")) {
            struct progress_at_size *at = append_size(progress);
            if (pairs_read(arena, &event, size_fields, ARRAY_COUNT(size_fields), at) ||
                !is_sane(at))
                return -1;
        }
    }
    return found && progress->attempt >= 0 && progress->size >= 0 && progress->earlier >= 0 &&
                   progress->memory >= 0 && progress->tasks >= 0 && progress->start_up >= -1 &&
                   progress->restart >= -1
               ? 0
               : -1;
}

int progress_file_parse(struct text source, struct progress *progress, struct error *error)
{
    struct arena *arena = arena_new();
    *progress = nothing;
    int result = parse_lines(arena, source, progress);
    arena_free(arena);
    if (!result)
        return 0;
    *progress = nothing;
    return error_set(error, "progress is damaged: found lines that are not those of a measurement");
}

void progress_file_assume(struct progress *progress, int attempt, int64_t size, int64_t started,
                          int64_t ended)
{
    *progress = nothing;
    progress->time = ended;
    progress->attempt = attempt;
    progress->size = size;
    progress_file_entry_at(progress, attempt, size)->running = ended - started;
}

int progress_file_read(int job, struct progress *progress, struct error *error)
{
    struct buffer bytes = {0};
    *progress = nothing;
    int result = file_read_at(job, "progress", FILE_LIMIT, &bytes, error);
    if (result && errno == ENOENT)
        result = 1;
    else if (!result)
        result = progress_file_parse(buffer_text(&bytes), progress, error);
    buffer_free(&bytes);
    return result;
}

int progress_file_write(int job, const struct progress *progress, struct error *error)
{
    struct buffer bytes = {0};
    progress_file_format(progress, &bytes);
    int result = spool_file_renew(job, "progress", buffer_text(&bytes), FILE_MODE, error);
    buffer_free(&bytes);
    return result;
}
