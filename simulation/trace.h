/* simulation/trace.h - a trace of past jobs, and the speed of its models at each size
 *
 * A trace is a CSV file with the columns of the traces that were published with ElasticFlow
 * (https://github.com/microsoft/elasticflow-traces), in any order: job_id, submission_time
 * (seconds), num_iteration, model_name, deadline (seconds, empty for none), batch_size, num_gpu (as
 * requested), duration (seconds with that many; not used).  A profile, MODEL.csv, has a line for
 * each batch size: global_batch_size and then, under the number of GPUs, iterations per second; 0
 * or nothing where the model does not run.
 */
#ifndef SIMULATION_TRACE_H
#define SIMULATION_TRACE_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/state.h"

enum { MOST_LEVELS = 24 };

struct trace_curve {
    struct text model;
    long batch;
    /* the sizes at which it is faster than at all smaller ones */
    struct plan_level levels[MOST_LEVELS];
    size_t level_count;
};

struct trace_job {
    const char *id;
    double arrival, deadline; /* seconds, as in the trace; INFINITY: no deadline */
    double work;              /* iterations */
    int wanted;               /* GPUs */
    const struct trace_curve *curve;
};

struct trace {
    struct trace_job *jobs; /* ordered by arrival, then by id */
    size_t count;
    struct trace_curve **curves;
    size_t curve_count;
};

/* Read a trace and the profiles that it needs, which are in `profiles` or in a subdirectory (the
 * first by name that has the model).  Everything lives in the arena.  -1 and a sentence on failure. */
int trace_read(struct arena *arena, const char *path, const char *profiles, struct trace *trace,
               struct error *error);

#endif
