/* spool/history.c - DIR/history/runs: the run times of past jobs, for predictions
 *
 * Each line is appended by one write, as in a job's log.  When the file is too large, its newer
 * half is written to a new file, which is renamed over it; a crash leaves one or the other.
 */
#include "spool/history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/system.h"
#include "spool/file.h"
#include "spool/history_runs.h"
#include "spool/pairs.h"

enum { DIRECTORY_MODE = 0755 };

static const char file_name[] = "runs";

#define FIELD(name, kind, member) PAIR(struct past_run, name, kind, member)
static const struct pair_field fields[] = {
    FIELD("id", PAIR_TEXT, id),
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("owner", PAIR_TEXT, owner),
    FIELD("template", PAIR_TEXT, template_path),
    FIELD("commit", PAIR_TEXT, commit),
    FIELD("image", PAIR_TEXT, image),
    FIELD("arguments", PAIR_TEXT, arguments),
    FIELD("gpu_type", PAIR_TEXT, gpu_type),
    FIELD("size", PAIR_INT64, size),
    FIELD("cpus_milli", PAIR_INT64, cpus),
    FIELD("gpus", PAIR_INT64, gpus),
    FIELD("finished", PAIR_FLAG, finished),
    FIELD("whole", PAIR_FLAG, whole),
    FIELD("deadline", PAIR_FLAG, deadline),
    FIELD("total", PAIR_DOUBLE, total),
    FIELD("units", PAIR_DOUBLE, units),
    FIELD("rate", PAIR_DOUBLE, rate),
    FIELD("seconds", PAIR_DOUBLE, seconds),
    FIELD("start_up_ms", PAIR_INT64, start_up),
    FIELD("restart_ms", PAIR_INT64, restart),
    FIELD("resize_ms", PAIR_INT64, resize),
    FIELD("tail_ms", PAIR_INT64, tail),
    FIELD("cpu_used_ms", PAIR_INT64, cpu_used),
    FIELD("cpu_allocated_ms", PAIR_INT64, cpu_allocated),
};
#undef FIELD

/* Lines */

void history_runs_format(const struct past_run *run, struct buffer *out)
{
    eventlog_start(out, run->ended, "run");
    eventlog_add_string(out, "of", size_kind_name(run->kind));
    pairs_add(out, fields, ARRAY_COUNT(fields), run);
    eventlog_end(out);
}

static bool read_kind(struct text word, enum size_kind *kind)
{
    for (int i = SIZE_FIXED; i <= SIZE_CPUS; i++)
        if (text_is(word, size_kind_name((enum size_kind)i))) {
            *kind = (enum size_kind)i;
            return true;
        }
    return false;
}

static bool read_run(struct arena *arena, const struct event *event, struct past_run *run)
{
    *run = (struct past_run){.ended = event->time,
                             .start_up = -1,
                             .restart = -1,
                             .resize = -1,
                             .tail = -1,
                             .cpu_used = -1};
    return text_is(event->name, "run") && read_kind(eventlog_get(arena, event, "of"), &run->kind) &&
           !pairs_read(arena, event, fields, ARRAY_COUNT(fields), run) && id_valid(run->id) &&
           run->attempt >= 0 && run->size >= 0 && run->cpus >= 0 && run->gpus >= 0;
}

/* A hash table of the runs seen so far, so that duplicates count once. */
struct met {
    size_t *slots;   /* index of a run plus 1; 0: free */
    size_t capacity; /* a power of two, more than there are runs */
};

static bool is_same(const struct past_run *a, const struct past_run *b)
{
    return a->attempt == b->attempt && a->size == b->size && text_equal(a->id, b->id);
}

static bool is_met(struct met *met, const struct past_run *runs, size_t at)
{
    const struct past_run *run = &runs[at];
    size_t hash = (size_t)run->attempt * 31 + (size_t)run->size;
    for (size_t i = 0; i < run->id.length; i++)
        hash = (hash ^ (unsigned char)run->id.data[i]) * 0x9e3779b97f4a7c15u;
    size_t slot = (hash ^ hash >> 29) & (met->capacity - 1);
    for (; met->slots[slot]; slot = (slot + 1) & (met->capacity - 1))
        if (is_same(&runs[met->slots[slot] - 1], run))
            return true;
    met->slots[slot] = at + 1;
    return false;
}

static size_t count_lines(struct text source)
{
    size_t count = 0;
    for (size_t i = 0; i < source.length; i++)
        count += source.data[i] == '\n';
    return count;
}

void history_runs_parse(struct arena *arena, struct text source, struct history *history)
{
    size_t lines = count_lines(source);
    struct met met = {.capacity = 16};
    while (met.capacity < 2 * lines)
        met.capacity *= 2;
    met.slots = memory_allocate(met.capacity * sizeof(*met.slots));
    *history =
        (struct history){.runs = arena_allocate(arena, (lines + 1) * sizeof(*history->runs))};
    struct event event;
    while (eventlog_next(&source, &event)) {
        struct past_run *run = &history->runs[history->count];
        if (read_run(arena, &event, run) && !is_met(&met, history->runs, history->count))
            history->count++;
    }
    free(met.slots);
}

/* The file */

int history_open(const struct spool *spool, bool make, struct error *error)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int directory = sys.openat(spool->root, "history", flags, 0);
    if (directory < 0 && errno == ENOENT && make &&
        (!sys.mkdirat(spool->root, "history", DIRECTORY_MODE) || errno == EEXIST))
        directory = sys.openat(spool->root, "history", flags, 0);
    if (directory < 0)
        error_errno(error, "history/ could not be opened");
    return directory;
}

/* Read the file.  1 when there is none; -1 and a sentence on failure. */
static int read_file(const struct spool *spool, struct buffer *bytes, struct error *error)
{
    int directory = history_open(spool, false, error);
    if (directory < 0)
        return errno == ENOENT ? 1 : -1;
    int result = file_read_at(directory, file_name, HISTORY_BYTES + HISTORY_KEPT, bytes, error);
    if (result)
        result = errno == ENOENT ? 1 : error_prefix(error, "history");
    sys.close(directory);
    return result;
}

int history_read(const struct spool *spool, struct arena *arena, struct history *history,
                 struct error *error)
{
    struct buffer bytes = {0};
    *history = (struct history){0};
    int result = read_file(spool, &bytes, error);
    if (!result)
        history_runs_parse(arena, arena_text(arena, bytes.data ? bytes.data : "", bytes.length),
                           history);
    buffer_free(&bytes);
    return result < 0 ? -1 : 0;
}

/* The newest lines, as many as fit into HISTORY_KEPT bytes. */
static struct text newest_lines(struct text lines)
{
    if (lines.length <= HISTORY_KEPT)
        return lines;
    const char *from = lines.data + (lines.length - HISTORY_KEPT);
    const char *end = memchr(from, '\n', HISTORY_KEPT);
    if (!end)
        return (struct text){"", 0};
    return (struct text){end + 1, (size_t)(lines.data + lines.length - end) - 1};
}

int history_runs_replace(int directory, struct text lines, struct error *error)
{
    return spool_file_replace(directory, file_name, newest_lines(lines), 0644, error);
}

static int shorten_file(int directory, struct error *error)
{
    struct buffer bytes = {0};
    int result = file_read_at(directory, file_name, 2 * HISTORY_BYTES, &bytes, error);
    if (!result)
        result = history_runs_replace(directory, buffer_text(&bytes), error);
    buffer_free(&bytes);
    return result;
}

/* Shorten the file if `more` bytes do not fit.  A damaged file is moved aside for a new one. */
static int shorten_if_full(int directory, size_t more, struct error *error)
{
    struct stat status;
    if (sys.fstatat(directory, file_name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : error_errno(error, "history/runs could not be looked at");
    if (status.st_size + (off_t)more <= HISTORY_BYTES || !S_ISREG(status.st_mode))
        return 0;
    if (!shorten_file(directory, error))
        return 0;
    if (!file_is_damaged(errno) || spool_file_damaged(directory, file_name))
        return error_prefix(error, "history");
    return 0;
}

/* Runs of a job */

static bool is_counted(const struct job_record *record)
{
    return record->units_file.length || record->units_pattern.length;
}

static bool has_deadline(const struct job_record *record)
{
    return record->deadline && !text_is(record->deadline_mode, "none");
}

static int64_t scale_amount(double amount, double scale)
{
    const double most = 1e15;
    return (int64_t)fmin(most, round(amount * scale));
}

void history_amounts(const struct job_record *record, int64_t size, int64_t *cpus, int64_t *gpus)
{
    enum size_kind kind = record->sizes.kind;
    double scale = kind == SIZE_TASKS && record->size > 0 ? (double)size / (double)record->size : 1;
    *cpus = kind == SIZE_CPUS ? size : scale_amount((double)record->cpus, scale);
    *gpus = kind == SIZE_GPUS ? size : scale_amount(record->gpus, scale);
}

/* Is the entry the first, or the last, of its attempt? */
static bool is_edge(const struct progress *progress, int at, int step)
{
    int next = at + step;
    return next < 0 || next >= progress->size_count ||
           progress->sizes[next].attempt != progress->sizes[at].attempt;
}

/* Fill the run of a job at one size.  The costs of starting and ending are known only for its
 * first and last size. */
static void fill_run(struct past_run *run, const struct job_record *record,
                     const struct progress *progress, int at, bool finished)
{
    const struct progress_at_size *entry = &progress->sizes[at];
    bool now = entry->attempt == progress->attempt;
    bool first = is_edge(progress, at, -1), last = is_edge(progress, at, 1);
    bool alone = first && last && (at == 0 || !record->checkpoint_signal.length);
    *run = (struct past_run){
        .id = record->id,
        .attempt = entry->attempt,
        .template_path = record->template_path,
        .commit = record->commit,
        .image = record->image,
        .owner = record->owner,
        .arguments = record->arguments_sha256,
        .gpu_type = record->gpu_type,
        .kind = record->sizes.kind,
        .size = entry->size,
        .deadline = has_deadline(record),
        .units = is_counted(record) ? entry->units : 0,
        .rate = entry->rate,
        .seconds = (double)entry->running / 1000,
        .resize = entry->resize,
        .start_up = now && first && progress->restart < 0 ? progress->start_up : -1,
        .restart = now && first ? progress->restart : -1,
        .tail = -1,
        .cpu_used = entry->cpu_used,
        .cpu_allocated = entry->cpu_allocated,
        .finished = finished && now && last,
    };
    run->whole = run->finished && alone && progress->earlier == 0;
    if (run->finished && is_counted(record)) {
        run->total = progress->total > 0 ? progress->total : progress->done;
        run->tail = progress->unit && progress->time >= progress->unit
                        ? progress->time - progress->unit
                        : -1;
    }
    history_amounts(record, run->size, &run->cpus, &run->gpus);
}

void history_runs_add(const struct job_record *record, const struct progress *progress,
                      bool finished, bool all, int64_t now, struct buffer *out)
{
    struct past_run run;
    for (int i = 0; i < progress->size_count; i++) {
        if (!all && progress->sizes[i].attempt != progress->attempt)
            continue;
        fill_run(&run, record, progress, i, finished);
        run.ended = now;
        history_runs_format(&run, out);
    }
}

void history_format(const struct job_record *record, const struct progress *progress, bool finished,
                    int64_t now, struct buffer *lines)
{
    history_runs_add(record, progress, finished, false, now, lines);
}

int history_append(const struct spool *spool, struct text lines, struct error *error)
{
    if (!lines.length)
        return 0;
    int directory = history_open(spool, true, error);
    if (directory < 0)
        return -1;
    int result = shorten_if_full(directory, lines.length, error) ||
                         eventlog_append_to(directory, file_name, lines, error)
                     ? -1
                     : 0;
    sys.close(directory);
    return result;
}
