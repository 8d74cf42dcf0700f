/* simulation/trace.c - reads a trace of jobs, and the speed of its models at each size */
#include "simulation/trace.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulation/csv.h"

enum { MOST_JOBS = 1000000, MOST_CURVES = 4096, MOST_GPUS = 1 << 20 };

/* Bounds that keep a sum of all jobs' times exact to a second. */
static const double MOST_TIME = 1e11, MOST_LENGTH = 1e10; /* seconds */
static const double MOST_WORK = 1e15, MOST_BATCH = 1e15, MOST_RATE = 1e12;

struct reading {
    struct arena *arena;
    const char *profiles;
    struct trace *trace;
    struct error *error;
};

/* Is the name safe as a file name?  A model's profile is a file of that name. */
static bool is_plain(struct text name)
{
    if (name.length == 0 || name.length > 128 || name.data[0] == '.')
        return false;
    return !memchr(name.data, '/', name.length) && !memchr(name.data, '\0', name.length);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The path of the model's profile, or NULL and a sentence. */
static const char *find_profile(const struct reading *reading, struct text model)
{
    struct error_quote_buffer buffer;
    const char *found = NULL;
    if (is_plain(model)) {
        int length = (int)model.length;
        struct text path =
            arena_printf(reading->arena, "%s/%.*s.csv", reading->profiles, length, model.data);
        if (access(path.data, F_OK) == 0)
            return path.data;
        struct dirent **entries = NULL;
        int count = scandir(reading->profiles, &entries, is_visible, by_name);
        for (int i = 0; i < count; i++) {
            path = arena_printf(reading->arena, "%s/%s/%.*s.csv", reading->profiles,
                                entries[i]->d_name, length, model.data);
            if (!found && access(path.data, F_OK) == 0)
                found = path.data;
            free(entries[i]);
        }
        free(entries);
    }
    if (!found)
        error_set(reading->error,
                  "found no profile of model \"%s\" in %s, expected its name and "
                  ".csv, there or in a directory of it",
                  error_quote(&buffer, model.data, model.length), reading->profiles);
    return found;
}

/* Read one cell of a profile as a level of the curve.  Sizes must ascend.  An empty cell, and a
 * level that is not faster than the one before, are skipped.  -1 and a sentence. */
static int read_level(const struct reading *reading, const struct csv *csv, size_t column,
                      struct trace_curve *curve)
{
    struct error_quote_buffer buffer;
    struct text name = csv->names[column];
    double rate;
    char *end;
    long size = strtol(name.data, &end, 10);
    if (end != name.data + name.length || size < 1 || size > MOST_GPUS)
        return error_set(reading->error,
                         "%s: line 1: found column \"%s\", expected a number of GPUs", csv->path,
                         error_quote(&buffer, name.data, name.length));
    if (csv->fields[column].length == 0)
        return 0;
    if (csv_number(csv, (int)column, 0, MOST_RATE, &rate, reading->error))
        return -1;
    const struct plan_level *last =
        curve->level_count ? &curve->levels[curve->level_count - 1] : NULL;
    if (last && size <= last->size)
        return error_set(reading->error,
                         "%s: line 1: found column %ld behind %d, expected ascending "
                         "numbers of GPUs",
                         csv->path, size, last->size);
    if (rate > (last ? last->rate : 0) && curve->level_count < MOST_LEVELS)
        curve->levels[curve->level_count++] = (struct plan_level){(int)size, rate};
    return 0;
}

static int read_curve(const struct reading *reading, struct trace_curve *curve)
{
    const char *path = find_profile(reading, curve->model);
    struct csv csv;
    int more, batch_column;
    double batch;
    if (!path || csv_open(&csv, reading->arena, path, reading->error) ||
        (batch_column = csv_column(&csv, "global_batch_size", reading->error)) < 0)
        return -1;
    while ((more = csv_next(&csv, reading->error)) > 0) {
        if (csv_number(&csv, batch_column, 0, MOST_BATCH, &batch, reading->error))
            return -1;
        if ((long)batch != curve->batch)
            continue;
        for (size_t i = 0; i < csv.columns; i++)
            if ((int)i != batch_column && read_level(reading, &csv, i, curve))
                return -1;
        if (curve->level_count > 0)
            return 0;
    }
    if (more < 0)
        return -1;
    return error_set(reading->error, "%s: found no rates for batch size %ld", path, curve->batch);
}

static const struct trace_curve *find_curve(const struct reading *reading, struct text model,
                                            double batch)
{
    struct trace *trace = reading->trace;
    for (size_t i = 0; i < trace->curve_count; i++)
        if (text_equal(trace->curves[i]->model, model) && trace->curves[i]->batch == (long)batch)
            return trace->curves[i];
    if (trace->curve_count == MOST_CURVES) {
        error_set(reading->error, "found more than %d models and batch sizes", MOST_CURVES);
        return NULL;
    }
    struct trace_curve *curve = arena_allocate(reading->arena, sizeof(*curve));
    curve->model = model;
    curve->batch = (long)batch;
    if (read_curve(reading, curve))
        return NULL;
    trace->curves[trace->curve_count++] = curve;
    return curve;
}

enum column {
    JOB_ID,
    SUBMISSION_TIME,
    NUM_ITERATION,
    MODEL_NAME,
    DEADLINE,
    BATCH_SIZE,
    NUM_GPU,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {"job_id",     "submission_time", "num_iteration",
                                                  "model_name", "deadline",        "batch_size",
                                                  "num_gpu"};

/* Read one line of a trace.  -1 and a sentence when a field is missing, out of range, or names no known curve. */
static int read_job(const struct reading *reading, const struct csv *csv, const int *columns,
                    struct trace_job *job)
{
    double batch, wanted;
    struct text id = csv->fields[columns[JOB_ID]];
    if (id.length == 0)
        return error_set(reading->error, "%s: line %d: found an empty job_id", csv->path,
                         csv->line);
    job->id = arena_text(reading->arena, id.data, id.length).data;
    job->deadline = (double)INFINITY;
    if (csv_number(csv, columns[SUBMISSION_TIME], 0, MOST_TIME, &job->arrival, reading->error) ||
        csv_number(csv, columns[NUM_ITERATION], 0, MOST_WORK, &job->work, reading->error) ||
        csv_number(csv, columns[BATCH_SIZE], 0, MOST_BATCH, &batch, reading->error) ||
        csv_number(csv, columns[NUM_GPU], 1, MOST_GPUS, &wanted, reading->error))
        return -1;
    if (csv->fields[columns[DEADLINE]].length > 0 &&
        csv_number(csv, columns[DEADLINE], 0, MOST_TIME, &job->deadline, reading->error))
        return -1;
    job->wanted = (int)wanted;
    job->curve = find_curve(reading, csv->fields[columns[MODEL_NAME]], batch);
    if (!job->curve)
        return error_prefix(reading->error, "%s: line %d", csv->path, csv->line);
    const struct plan_level *smallest = &job->curve->levels[0];
    if (job->work / smallest->rate > MOST_LENGTH)
        return error_set(reading->error,
                         "%s: line %d: found a job that takes %g seconds on %d GPUs, "
                         "expected at most %g",
                         csv->path, csv->line, job->work / smallest->rate, smallest->size,
                         MOST_LENGTH);
    return 0;
}

static int by_arrival(const void *a, const void *b)
{
    const struct trace_job *first = a, *second = b;
    if (first->arrival != second->arrival)
        return first->arrival < second->arrival ? -1 : 1;
    return strcmp(first->id, second->id);
}

int trace_read(struct arena *arena, const char *path, const char *profiles, struct trace *trace,
               struct error *error)
{
    struct reading reading = {arena, profiles, trace, error};
    struct csv csv;
    struct buffer jobs = {0};
    int columns[COLUMNS], more;
    *trace =
        (struct trace){.curves = arena_allocate(arena, MOST_CURVES * sizeof(struct trace_curve *))};
    if (csv_open(&csv, arena, path, error))
        return -1;
    for (int i = 0; i < COLUMNS; i++)
        if ((columns[i] = csv_column(&csv, column_names[i], error)) < 0)
            return -1;
    while ((more = csv_next(&csv, error)) > 0) {
        struct trace_job job;
        if (trace->count == MOST_JOBS)
            more = error_set(error, "%s: found more than %d jobs", path, MOST_JOBS);
        if (more < 0 || (more = read_job(&reading, &csv, columns, &job)) < 0)
            break;
        buffer_add(&jobs, &job, sizeof(job));
        trace->count++;
    }
    trace->jobs = arena_allocate(arena, (trace->count + 1) * sizeof(*trace->jobs));
    if (trace->count > 0)
        memcpy(trace->jobs, jobs.data, trace->count * sizeof(*trace->jobs));
    buffer_free(&jobs);
    if (more == 0 && trace->count == 0)
        more = error_set(error, "%s: found no jobs", path);
    qsort(trace->jobs, trace->count, sizeof(*trace->jobs), by_arrival);
    return more;
}
