/* stages/planning/past.c - gives the predictor (planner/predict.h) what the spool knows of jobs */
#include "stages/planning/past.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Seconds: in shorter runs the job was starting up, and does not show how many processors it can use. */
static const double shortest_use = 60; /* seconds */

static int plan_size(double gpus, double cpus)
{
    double size = round(gpus > 0 ? gpus : cpus);
    return size < 1 ? 1 : size > INT_MAX ? INT_MAX : (int)size;
}

static double seconds_of(int64_t milliseconds)
{
    return milliseconds < 0 ? -1 : (double)milliseconds / 1000;
}

static double use_of(int64_t used, int64_t allocated, double seconds)
{
    if (used < 0 || allocated <= 0 || seconds < shortest_use)
        return -1;
    return fmin(1, (double)used / (double)allocated);
}

struct predict_past *past_of(const struct history *history)
{
    struct predict_run *runs = memory_allocate((history->count + 1) * sizeof(*runs));
    for (size_t i = 0; i < history->count; i++) {
        const struct past_run *run = &history->runs[i];
        runs[i] = (struct predict_run){
            .key = {.template_path = run->template_path,
                    .commit = run->commit,
                    .image = run->image,
                    .arguments = run->arguments,
                    .owner = run->owner,
                    .gpu_type = run->gpu_type},
            .gpus = run->gpus > 0,
            .size = plan_size((double)run->gpus, (double)run->cpus),
            .finished = run->finished,
            .total = run->finished ? run->total : 0,
            .seconds = run->whole ? run->seconds : 0,
            .rate = run->rate,
            .start_up = seconds_of(run->start_up),
            .restart = seconds_of(run->restart),
            .resize = seconds_of(run->resize),
            .tail = seconds_of(run->tail),
            .use = use_of(run->cpu_used, run->cpu_allocated, run->seconds),
        };
    }
    struct predict_past *past = predict_past_new(runs, history->count);
    free(runs);
    return past;
}

int past_plan_size(const struct job_record *record, int64_t size)
{
    double scale = record->sizes.kind == SIZE_TASKS && record->size > 0
                       ? (double)size / (double)record->size
                       : 1;
    if (record->sizes.kind == SIZE_GPUS)
        return plan_size((double)size, 0);
    if (record->sizes.kind == SIZE_CPUS && record->gpus == 0)
        return plan_size(0, (double)size);
    return plan_size(record->gpus * scale, (double)record->cpus * scale);
}

static void set_sizes(const struct job_record *record, struct predict_job *job)
{
    int64_t list[SIZES_MOST] = {1};
    size_t count = sizes_list(&record->sizes, list);
    for (size_t i = 0; i < (count ? count : 1); i++) {
        int size = past_plan_size(record, list[i]);
        if (job->size_count == 0 || size > job->sizes[job->size_count - 1])
            job->sizes[job->size_count++] = size;
    }
    job->wanted = past_plan_size(record, record->size_asked ? record->size_asked : record->size);
}

static bool starts_at_a_checkpoint(const struct job_record *record)
{
    return record->checkpoint_signal.length > 0;
}

/* `more`: milliseconds that it has run since it was measured. */
static void set_parts(const struct job_record *record, const struct progress *progress,
                      int64_t more, struct predict_job *job)
{
    for (int i = 0; i < progress->size_count; i++) {
        const struct progress_at_size *at = &progress->sizes[i];
        bool now = at->attempt == progress->attempt && at->size == progress->size;
        bool lost = at->attempt != record->attempt && !starts_at_a_checkpoint(record);
        if (lost && !job->counted)
            continue;
        double seconds = seconds_of(at->running + (now ? more : 0));
        job->parts[job->part_count++] = (struct predict_part){
            .size = past_plan_size(record, at->size),
            .seconds = seconds,
            .rate = at->rate,
            .use = use_of(at->cpu_used, at->cpu_allocated, seconds_of(at->running))};
    }
}

/* Extrapolate the units done to now, by one unit at most: the next one might not have come. */
static double done_by_now(const struct progress *progress, int64_t more)
{
    double since = progress->rate * (double)more / 1000;
    return progress->done + fmin(1, since);
}

static void set_measured(const struct job_record *record, const struct progress *progress,
                         bool running, int64_t now, struct predict_job *job)
{
    int64_t more = running && now > progress->time ? now - progress->time : 0;
    bool this_attempt = progress->attempt == record->attempt;
    set_parts(record, progress, more, job);
    job->start_up = this_attempt ? seconds_of(progress->start_up) : -1;
    job->restart = seconds_of(progress->restart);
    if (!(job->total > 0))
        job->total = progress->total;
    if (this_attempt || starts_at_a_checkpoint(record))
        job->done = done_by_now(progress, more);
    if (!running || !this_attempt)
        return;
    job->elapsed = seconds_of(progress_file_running(progress, false) + more);
    job->size = past_plan_size(record, progress->size);
    job->rate = progress->rate;
    job->spread = progress->spread;
    job->samples = progress->samples;
}

void past_job(const struct job_record *record, const struct progress *progress, bool running,
              int64_t now, struct predict_job *job)
{
    *job = (struct predict_job){
        .key = {.template_path = record->template_path,
                .commit = record->commit,
                .image = record->image,
                .arguments = record->arguments_sha256,
                .owner = record->owner,
                .gpu_type = record->gpu_type},
        .gpus = record->gpus > 0 || record->sizes.kind == SIZE_GPUS,
        .counted = record->units_file.length || record->units_pattern.length,
        .total = record->units_total,
        .limit = seconds_of(record->time_limit),
        .interval = seconds_of(record->checkpoint_interval),
        .start_up = -1,
        .restart = -1,
    };
    set_sizes(record, job);
    if (running)
        job->size = past_plan_size(record, record->size_now ? record->size_now : record->size);
    if (progress)
        set_measured(record, progress, running, now, job);
}
