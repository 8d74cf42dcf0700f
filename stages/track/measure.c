/* stages/track/measure.c - how far a running job is, and how fast
 *
 * Units are counted in units.c, their times in planner/unit_times.h; here they become a struct
 * progress, with how long the job ran at each size and what processor time it used there.  After a
 * restart of this process all that matters is taken up from the progress file; only the window of
 * unit times begins again, and until it says something the rate of before counts.
 */
#include "stages/track/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/ranges.h"
#include "planner/unit_times.h"
#include "request/array.h"
#include "stages/track/units.h"

static const int64_t write_interval = 5000; /* milliseconds */
static const int64_t uncounted_interval =
    60000; /* ... for a job whose run time alone is measured */
static const int64_t longest_look =
    3600000;                           /* ... that one look adds to what it ran, when it is not
                                                   known since when it runs */
static const double skipped_units = 1; /* of each start and change of size, beside the first
                                                   unit, whose beginning nobody has seen */
static const double few_units = 20;    /* of a job that has no more, none is */

struct measure {
    struct progress *progress; /* NULL: it has not run yet, as most of a long queue */
    int attempt;
    int64_t size;        /* at its start */
    struct units *units; /* NULL: it is not counted */
    double declared;     /* units in all, by the job file; 0: not declared */
    int64_t cpus;        /* of all its tasks at `rendered`, thousandths */
    enum size_kind kind;
    int64_t rendered;
    size_t tasks;             /* of the attempt of an array; 0: it is none */
    struct unit_times *times; /* NULL, if units is */
    bool filed;               /* it has a progress file */
    bool counted_before;      /* it was counted in this attempt, by a process before this one */
    int64_t looked;           /* of clock_elapsed; 0: not by this process */
    int64_t written;          /* of clock_elapsed; 0: not by this process */
    bool changed;             /* something that must be written without waiting */
    int64_t cpu_time;         /* at the last look; -1: not known */
    double first_done;        /* units, when the first were seen in this attempt ... */
    int64_t first_time;       /* ... of day; 0: none yet */
    double before;            /* units that were done when this attempt began */
    int64_t stopping;         /* milliseconds that the attempt before took to stop for another size;
                                   -1: it was not stopped for that */
    int64_t new_time;         /* of day: when the first unit came that is new; 0: not yet */
    int64_t asked; /* of day: for the present size, in place; 0: there is nothing to time */
    double unit_time_before; /* seconds, at the size before; 0: not known */
    bool complained;
};

/* Units to leave out at the start of a window. */
static double units_to_skip(const struct measure *measure)
{
    double total = measure->progress->total;
    return total > 0 && total < few_units ? 0 : skipped_units;
}

/* How long the attempt before took to stop for another size.  A change in place, or one that was not made,
 * leaves such a time, too. */
static int64_t time_to_stop(const struct job_record *record, const struct progress *before)
{
    const int64_t slack = 60000;
    int64_t time = before->time - record->resized;
    if (record->resized == 0 || record->resized <= before->since ||
        time > record->checkpoint_grace + slack)
        return -1;
    return time < 0 ? 0 : time;
}

/* A job that has not run before. */
static const struct progress nothing = {.start_up = -1, .restart = -1};

static void keep_progress(struct measure *measure, const struct progress *progress)
{
    measure->progress = memory_allocate(sizeof(*measure->progress));
    *measure->progress = *progress;
    measure->progress->attempt = measure->attempt;
    measure->progress->size = measure->size;
    if (measure->declared > 0)
        measure->progress->total = measure->declared;
    if (!measure->units)
        return;
    measure->times = memory_allocate(sizeof(*measure->times));
    unit_times_start(measure->times, units_to_skip(measure));
}

/* Begin an attempt of a job that was measured in an earlier one. */
static void begin_attempt(struct measure *measure, const struct job_record *record,
                          struct progress *progress)
{
    measure->stopping = time_to_stop(record, progress);
    if (!record->checkpoint_signal.length)
        progress->done = progress->most = 0;
    measure->before = progress->most;
    progress->started = progress->unit = 0;
    progress->rate = progress->spread = 0;
    progress->samples = 0;
    progress->memory = progress->tasks = 0;
    progress->start_up = progress->restart = -1;
}

/* How many tasks the attempt of an array has; 0: it is none. */
static size_t count_tasks(const struct job_record *record)
{
    struct arena *arena;
    size_t count = 0;
    int *indexes;
    if (!record->array.length)
        return 0;
    arena = arena_new();
    if (ranges_parse(arena, record->array, ARRAY_MOST, &indexes, &count, NULL))
        count = 0;
    arena_free(arena);
    return count;
}

struct measure *measure_new(int job, const struct job_record *record)
{
    struct measure *measure = memory_allocate(sizeof(*measure));
    struct progress progress;
    struct error error;
    *measure = (struct measure){.attempt = record->attempt,
                                .size = record->size_now ? record->size_now
                                        : record->size   ? record->size
                                                         : 1,
                                .units = units_new(record),
                                .declared = record->units_total,
                                .cpus = record->cpus,
                                .kind = record->sizes.kind,
                                .rendered = record->size,
                                .tasks = count_tasks(record),
                                .cpu_time = -1,
                                .stopping = -1};
    int result = job < 0 ? 1 : progress_file_read(job, &progress, &error);
    measure->filed = result <= 0;
    if (result < 0)
        log_warn("%.*s: its progress is measured anew: %s", (int)record->id.length, record->id.data,
                 error.text);
    if (result)
        return measure;
    if (progress.attempt != record->attempt)
        begin_attempt(measure, record, &progress);
    else
        measure->counted_before = progress.unit != 0;
    keep_progress(measure, &progress);
    return measure;
}

void measure_free(struct measure *measure)
{
    if (!measure)
        return;
    units_free(measure->units);
    free(measure->times);
    free(measure->progress);
    free(measure);
}

/* Time, and processor time */

static int64_t cpus_at(const struct measure *measure, int64_t size)
{
    if (measure->kind == SIZE_CPUS)
        return size;
    if (measure->kind == SIZE_TASKS && measure->rendered > 0)
        return (int64_t)round((double)measure->cpus * (double)size / (double)measure->rendered);
    return measure->cpus;
}

/* Milliseconds that the job ran since the last look: by the monotonic clock where possible, so that setting
 * the clock has no effect. */
static int64_t time_since_look(const struct measure *measure, const struct job_poll *poll,
                               int64_t now)
{
    const struct progress *progress = measure->progress;
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    int64_t end = ended && poll->ended ? poll->ended : now, since;
    if (!progress->started)
        since = poll->started ? end - poll->started : 0;
    else if (measure->looked && !ended)
        since = clock_elapsed() - measure->looked;
    else
        since = end - progress->time;
    if (!poll->started && since > longest_look)
        since = longest_look;
    return since > 0 ? since : 0;
}

/* The processor time of this attempt that the entries contain. */
static int64_t cpu_time_so_far(const struct progress *progress)
{
    int64_t sum = 0;
    for (int i = 0; i < progress->size_count; i++)
        if (progress->sizes[i].attempt == progress->attempt && progress->sizes[i].cpu_used > 0)
            sum += progress->sizes[i].cpu_used;
    return sum;
}

/* Add processor time.  The executor reports the sum over the tasks that it has now, so it may become less. */
static void add_cpu_time(struct measure *measure, struct progress_at_size *entry, int64_t cpu_time)
{
    if (cpu_time <= 0)
        return;
    int64_t last = measure->cpu_time >= 0 ? measure->cpu_time : cpu_time_so_far(measure->progress);
    if (entry->cpu_used < 0)
        entry->cpu_used = 0;
    if (cpu_time > last)
        entry->cpu_used += cpu_time - last;
    measure->cpu_time = cpu_time;
}

/* Does the executor know of each task of the array when it started? */
static bool knows_all_tasks(const struct measure *measure, const struct job_poll *poll)
{
    size_t known = 0;
    for (size_t i = 0; i < poll->task_count; i++)
        known += poll->tasks[i].ended && poll->tasks[i].started;
    return measure->tasks && known >= measure->tasks;
}

/* While tasks run it is by our clock; when they have ended it is exact, unless the executor has forgotten
 * many of them. */
static void add_task_time(struct measure *measure, const struct job_poll *poll)
{
    struct progress *progress = measure->progress;
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    bool exact = poll->task_time > progress->tasks / 2 || knows_all_tasks(measure, poll);
    if (poll->task_time > progress->tasks || (ended && exact))
        progress->tasks = poll->task_time;
}

static void add_time(struct measure *measure, const struct job_poll *poll, int64_t now)
{
    struct progress *progress = measure->progress;
    int64_t since = time_since_look(measure, poll, now);
    if (!progress->started) {
        progress->started = poll->started ? poll->started : now;
        progress->since = progress->started;
        measure->changed = true;
    }
    struct progress_at_size *entry =
        progress_file_entry_at(progress, progress->attempt, progress->size);
    entry->running += since;
    entry->cpu_allocated += since * cpus_at(measure, progress->size) / 1000;
    add_cpu_time(measure, entry, poll->cpu_time);
    if (poll->memory_peak > progress->memory)
        progress->memory = poll->memory_peak;
    add_task_time(measure, poll);
}

/* Units */

/* Note the time of a unit: it came between the last look and this one, the last of many lines shortly before
 * this one.  The time of a file is known. */
static void add_moment(struct measure *measure, const struct units_seen *seen, int64_t now)
{
    double elapsed = (double)clock_elapsed() / 1000;
    double gap = elapsed - (double)measure->looked / 1000;
    double ago = (double)(now - seen->written) / 1000;
    if (seen->written && ago >= 0 && ago <= gap + 1)
        unit_times_add(measure->times, elapsed - ago, seen->done, 0);
    else
        unit_times_add(measure->times, elapsed, seen->done, gap / seen->count);
}

static void note_unit(struct measure *measure, double done, int64_t now)
{
    struct progress *progress = measure->progress;
    struct progress_at_size *entry =
        progress_file_entry_at(progress, progress->attempt, progress->size);
    bool first = progress->unit == 0;
    if (first) {
        measure->first_time = now;
        measure->first_done = done;
        measure->changed = true;
        entry->units += measure->before > 0 ? 0 : done;
    } else if (done > progress->done) {
        entry->units += done - progress->done;
    }
    if (done > measure->before && !measure->new_time && measure->stopping >= 0)
        measure->new_time = now;
    if (measure->asked && (first || done > progress->done)) {
        int64_t unit = (int64_t)(measure->unit_time_before * 1000), took = now - measure->asked;
        entry->resize = took > unit ? took - unit : 0;
        measure->asked = 0;
    }
    progress->unit = now;
    progress->done = done;
    if (done > progress->most)
        progress->most = done;
}

static void count_units(struct measure *measure, int job, const struct job_poll *poll, int64_t now)
{
    struct progress *progress = measure->progress;
    struct units_seen seen;
    if (!measure->units || !units_update(measure->units, job, poll->tasks, poll->task_count, &seen))
        return;
    if (measure->declared > 0)
        seen.total = measure->declared;
    if (seen.total > 0)
        progress->total = seen.total;
    if (progress->total > 0 && seen.done > progress->total)
        seen.done = progress->total;
    /* Units that were there before this process looked may have come at any time. */
    if (measure->looked)
        add_moment(measure, &seen, now);
    if (!progress->unit || seen.done != progress->done)
        note_unit(measure, seen.done, now);
}

/* Find the costs of starting, once it is known how long a unit takes: the time until the first units, less the
 * time that these take. */
static void note_costs(struct measure *measure)
{
    struct progress *progress = measure->progress;
    double unit = progress->rate > 0 ? 1000 / progress->rate : 0;
    double again = measure->before > 0 && measure->first_done > 1 ? 1 : measure->first_done;
    if (!(unit > 0) || !measure->first_time)
        return;
    if (progress->start_up < 0) {
        double took = (double)(measure->first_time - progress->started) - again * unit;
        progress->start_up = took > 0 ? (int64_t)took : 0;
    }
    if (progress->restart < 0 && measure->new_time) {
        double took = (double)(measure->new_time - progress->started) - unit;
        progress->restart = measure->stopping + (took > 0 ? (int64_t)took : 0);
    }
}

static void note_rate(struct measure *measure)
{
    struct progress *progress = measure->progress;
    struct unit_rate rate = unit_times_rate(measure->times, (double)clock_elapsed() / 1000);
    bool keep = measure->counted_before && rate.samples < UNIT_PIECES_LEAST && progress->rate > 0;
    if (!(rate.rate > 0) || keep)
        return;
    measure->changed = measure->changed || !(progress->rate > 0);
    progress->rate = rate.rate;
    progress->spread = rate.spread;
    progress->samples = rate.samples;
    progress_file_entry_at(progress, progress->attempt, progress->size)->rate = rate.rate;
    note_costs(measure);
}

/* Looking */

static void take_measure(struct measure *measure, int job, const struct job_poll *poll)
{
    int64_t now = clock_now();
    if (!measure->progress)
        keep_progress(measure, &nothing);
    add_time(measure, poll, now);
    count_units(measure, job, poll, now);
    measure->looked = clock_elapsed();
    if (measure->units)
        note_rate(measure);
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    measure->progress->time = ended && poll->ended ? poll->ended : now;
}

static int write_progress(struct measure *measure, int job, struct error *error)
{
    measure->written = clock_elapsed();
    measure->changed = false;
    measure->filed = true;
    return progress_file_write(job, measure->progress, error);
}

void measure_update(struct measure *measure, int job, const struct job_poll *poll)
{
    struct error error;
    if (poll->phase != PHASE_RUNNING)
        return;
    take_measure(measure, job, poll);
    int64_t interval = measure->units ? write_interval : uncounted_interval;
    if (!measure->changed && measure->written && clock_elapsed() - measure->written < interval)
        return;
    if (write_progress(measure, job, &error) && !measure->complained) {
        log_warn("%s: %s", poll->id, error.text);
        measure->complained = true;
    }
}

void measure_resized(struct measure *measure, int64_t size, int64_t asked)
{
    struct progress *progress = measure->progress;
    measure->size = size;
    if (!progress || size == progress->size)
        return;
    measure->unit_time_before = progress->rate > 0 ? 1 / progress->rate : 0;
    measure->asked = progress->rate > 0 ? asked : 0;
    progress->size = size;
    progress->since = clock_now();
    progress->rate = progress->spread = 0;
    progress->samples = 0;
    /* If the job had this size before, its rate is known. */
    if (progress->started)
        progress_file_entry_at(progress, progress->attempt, size);
    measure->counted_before = false;
    measure->changed = true;
    if (measure->units)
        unit_times_start(measure->times, units_to_skip(measure));
}

/* Does the log tell all of it: when it started, and when it ended? */
static bool log_tells_all(const struct measure *measure)
{
    const struct progress *progress = measure->progress;
    return !measure->filed && !measure->units && !measure->tasks && measure->kind == SIZE_FIXED &&
           progress->memory <= 0 && progress->tasks <= 0 && progress->sizes[0].cpu_used < 0;
}

int measure_ended(struct measure *measure, int job, const struct job_poll *poll,
                  struct error *error)
{
    bool ran = (measure->progress && measure->progress->started) || poll->started;
    if (!ran)
        return 0;
    /* A second look, which finds nothing new, takes the last line even if it has no end. */
    take_measure(measure, job, poll);
    struct progress *progress = measure->progress;
    if (measure->units)
        count_units(measure, job, poll,
                    progress->unit > progress->time ? progress->unit : progress->time);
    if (progress->unit > progress->time)
        progress->unit = progress->time; /* it was seen later than it came */
    if (log_tells_all(measure))
        return 0;
    return write_progress(measure, job, error);
}

const struct progress *measure_progress(const struct measure *measure)
{
    return measure->progress ? measure->progress : &nothing;
}

bool measure_complete(const struct measure *measure)
{
    const struct progress *progress = measure_progress(measure);
    return measure->units && progress->unit && progress->total > 0 &&
           progress->done >= progress->total;
}
