/* simulation/engine.c - simulates a trace of jobs under a policy */
#include "simulation/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "simulation/random.h"

/* The believed work left of a job is at least this share of the work done. */
static const double LEAST_LEFT = 0.05;

/* Seconds; shorter differences are rounding errors. */
static const double INSTANT = 1e-6;

/* The known part of the speed curve of a model and batch size. */
struct knowledge {
    const struct trace_curve *curve;
    bool known[MOST_LEVELS];
    struct plan_level levels[MOST_LEVELS]; /* as the planner sees them */
};

struct running_job {
    struct plan_job plan;
    const struct trace_job *trace;
    struct knowledge *knowledge;
    double done, total, believed;   /* units */
    double ran;                     /* seconds, at any size, restarts included */
    double at_size;                 /* seconds of progress since the last change of size */
    const struct plan_level *level; /* the actual rate at its size; NULL: does not run */
    double finished;                /* NAN: not yet */
};

struct simulation {
    const struct simulation_options *options;
    const struct trace *trace;
    struct running_job *all;
    struct plan_job **active; /* jobs that have arrived and are not done */
    struct knowledge *knowledge;
    size_t came; /* how many jobs have arrived, in order of arrival */
    double now, origin;
    double held, progress; /* GPU-seconds; seconds at the smallest size, times its GPUs */
    struct plan_state state;
    struct simulation_result *result;
};

static struct running_job *owner_of(struct plan_job *job)
{
    return (struct running_job *)job; /* its first member */
}

static void see_curve(const struct simulation *simulation, struct knowledge *knowledge)
{
    const struct trace_curve *curve = knowledge->curve;
    size_t last = 0;
    double rate = 0;
    for (size_t i = 0; i < curve->level_count; i++) {
        struct plan_level *seen = &knowledge->levels[i];
        seen->size = curve->levels[i].size;
        if (knowledge->known[i]) {
            seen->rate = curve->levels[i].rate;
            last = i;
        } else {
            double ratio = (double)seen->size / knowledge->levels[last].size;
            seen->rate = knowledge->levels[last].rate * pow(ratio, simulation->options->exponent);
        }
        /* What lies between two that are known cannot be faster than the second of them. */
        if (seen->rate <= rate)
            seen->rate = rate * (1 + 1e-9);
        for (size_t k = i; knowledge->known[i] && k-- > 0 && !knowledge->known[k];)
            if (knowledge->levels[k].rate >= seen->rate)
                knowledge->levels[k].rate = seen->rate * (1 - 1e-9 * (double)(i - k));
        rate = seen->rate;
    }
}

static struct knowledge *find_knowledge(struct simulation *simulation,
                                        const struct trace_curve *curve)
{
    size_t i = 0;
    while (simulation->trace->curves[i] != curve)
        i++;
    struct knowledge *knowledge = &simulation->knowledge[i];
    if (!knowledge->curve) {
        knowledge->curve = curve;
        for (size_t k = 0; k < curve->level_count; k++)
            knowledge->known[k] = k == 0 || simulation->options->curves == CURVES_KNOWN;
        see_curve(simulation, knowledge);
    }
    return knowledge;
}

/* Make the simulated jobs.  All random values are drawn here, in the order of the trace, so that
 * every policy gets the same jobs. */
static void prepare_jobs(struct simulation *simulation)
{
    const struct simulation_options *options = simulation->options;
    struct random random = {options->seed}, other = {~options->seed};
    for (size_t i = 0; i < simulation->trace->count; i++) {
        const struct trace_job *job = &simulation->trace->jobs[i];
        struct running_job *running = &simulation->all[i];
        double luck = random_uniform(&random), error = random_normal(&random);
        bool firm = random_uniform(&other) < options->firm;
        double deadline = job->arrival + options->deadline_scale * (job->deadline - job->arrival);
        running->trace = job;
        running->knowledge = find_knowledge(simulation, job->curve);
        running->total = job->work;
        running->believed = job->work * exp(options->error * error);
        running->finished = (double)NAN;
        running->plan = (struct plan_job){
            .id = job->id,
            .arrival = job->arrival,
            .deadline = luck < options->best_effort ? (double)INFINITY : deadline,
            .firm = firm,
            .weight = 1,
            .levels = running->knowledge->levels,
            .level_count = job->curve->level_count,
            .wanted = job->wanted,
            .restart = options->restart,
        };
    }
}

/* ---- time ---- */

static double until_done(const struct running_job *job)
{
    return job->plan.restart_left + (job->total - job->done) / job->level->rate;
}

static void finish_job(struct simulation *simulation, struct running_job *job, double when)
{
    job->finished = when;
    job->done = job->total;
    job->plan.size = 0;
    job->level = NULL;
    struct plan_job **active = simulation->active;
    size_t count = --simulation->state.job_count, i = 0;
    while (active[i] != &job->plan)
        i++;
    memmove(&active[i], &active[i + 1], (count - i) * sizeof(*active));
}

static void run_job(struct simulation *simulation, struct running_job *job, double seconds)
{
    double restarting = seconds < job->plan.restart_left ? seconds : job->plan.restart_left;
    double useful = seconds - restarting;
    job->plan.restart_left -= restarting;
    job->ran += seconds;
    job->at_size += useful;
    job->done += useful * job->level->rate;
    simulation->held += job->plan.size * seconds;
    simulation->progress += useful * job->level->rate / job->trace->curve->levels[0].rate *
                            job->trace->curve->levels[0].size;
    simulation->result->restart_seconds += restarting * job->plan.size;
}

/* Advance time to `then`, ending jobs on the way. */
static void advance_time(struct simulation *simulation, double then)
{
    for (size_t i = simulation->state.job_count; i-- > 0;) {
        struct running_job *job = owner_of(simulation->active[i]);
        double seconds = then - simulation->now;
        if (!job->level)
            continue;
        double left = until_done(job);
        run_job(simulation, job, left < seconds ? left : seconds);
        if (left <= seconds + INSTANT)
            finish_job(simulation, job, simulation->now + left);
    }
    simulation->now = then;
}

static bool is_live(const struct simulation *simulation, const struct running_job *job)
{
    return job->ran >= simulation->options->live;
}

/* The time of the next event that needs no decision. */
static double next_event(const struct simulation *simulation)
{
    double next = simulation->state.next;
    if (simulation->came < simulation->trace->count &&
        simulation->trace->jobs[simulation->came].arrival < next)
        next = simulation->trace->jobs[simulation->came].arrival;
    for (size_t i = 0; i < simulation->state.job_count; i++) {
        const struct running_job *job = owner_of(simulation->active[i]);
        if (!job->level)
            continue;
        double end = simulation->now + until_done(job);
        double known = simulation->now + simulation->options->live - job->ran;
        if (end < next)
            next = end;
        if (!is_live(simulation, job) && job->believed != job->total && known < next)
            next = known;
    }
    return next;
}

/* When the policy decides about what happens at `time`: after a tick, or when a job arrives
 * before that. */
static double next_wake(const struct simulation *simulation, double time)
{
    const struct trace *trace = simulation->trace;
    double soonest = simulation->now + simulation->options->tick;
    if (simulation->came < trace->count && trace->jobs[simulation->came].arrival < soonest)
        soonest = trace->jobs[simulation->came].arrival;
    return time > soonest ? time : soonest;
}

/* ---- decisions ---- */

static void learn_rate(const struct simulation *simulation, struct running_job *job)
{
    struct knowledge *knowledge = job->knowledge;
    size_t level = (size_t)(job->level - knowledge->curve->levels);
    if (simulation->options->curves != CURVES_LEARNED || knowledge->known[level] ||
        job->at_size <= 0)
        return;
    knowledge->known[level] = true;
    see_curve(simulation, knowledge);
}

/* Update the planner's view of a job. */
static void inform_planner(const struct simulation *simulation, struct running_job *job)
{
    double believed = is_live(simulation, job) ? job->total : job->believed;
    double least = LEAST_LEFT * job->done;
    job->plan.work = believed - job->done;
    if (!is_live(simulation, job) && job->plan.work < least)
        job->plan.work = least;
    if (!(job->plan.work > 0))
        job->plan.work = 1e-6;
    if (job->level)
        learn_rate(simulation, job);
}

static void apply_plan(struct simulation *simulation, struct running_job *job)
{
    struct plan_job *plan = &job->plan;
    struct simulation_result *result = simulation->result;
    if (plan->give == plan->size)
        return;
    if (simulation->options->observe)
        simulation->options->observe(simulation->options->context, simulation->now, plan);
    result->starts += plan->size == 0;
    result->preemptions += plan->give == 0;
    result->resizes += plan->size > 0 && plan->give > 0;
    const struct plan_level *seen = plan_level_at_most(plan, plan->give);
    job->level = seen ? &job->trace->curve->levels[seen - plan->levels] : NULL;
    job->at_size = 0;
    plan->size = plan->give;
    plan->restart_left = plan->size > 0 ? plan->restart : 0;
}

static void ask_policy(struct simulation *simulation, const struct policy *policy)
{
    struct timespec before, after;
    struct plan_state *state = &simulation->state;
    while (simulation->came < simulation->trace->count &&
           simulation->trace->jobs[simulation->came].arrival <= simulation->now)
        simulation->active[state->job_count++] = &simulation->all[simulation->came++].plan;
    for (size_t i = 0; i < state->job_count; i++)
        inform_planner(simulation, owner_of(simulation->active[i]));
    state->now = simulation->now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    policy->decide(state);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    simulation->result->decisions++;
    simulation->result->decision_seconds +=
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    for (size_t i = 0; i < state->job_count; i++)
        apply_plan(simulation, owner_of(simulation->active[i]));
}

/* ---- results ---- */

static int by_size(const void *a, const void *b)
{
    const double *first = a, *second = b;
    return *first < *second ? -1 : *first > *second;
}

static void summarise_values(double *values, size_t count, double *mean, double *p95)
{
    double sum = 0;
    *mean = *p95 = 0;
    if (count == 0)
        return;
    qsort(values, count, sizeof(*values), by_size);
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / (double)count;
    size_t rank = (size_t)ceil(0.95 * (double)count);
    *p95 = values[rank - 1];
}

static bool is_feasible(const struct simulation *simulation, const struct running_job *job)
{
    const struct trace_curve *curve = job->trace->curve;
    const struct plan_level *level = NULL;
    for (size_t i = 0; i < curve->level_count; i++)
        if (curve->levels[i].size <= simulation->options->gpus)
            level = &curve->levels[i];
    return level && job->plan.arrival + simulation->options->restart + job->total / level->rate <=
                        job->plan.deadline;
}

/* Count the outcomes: deadlines met and missed, promises broken, lateness, and GPU time used. */
static void count_outcomes(struct simulation *simulation)
{
    struct simulation_result *result = simulation->result;
    size_t count = simulation->trace->count, late = 0, served = 0;
    double *tardy = memory_allocate((count + 1) * sizeof(double));
    double *late_times = memory_allocate((count + 1) * sizeof(double));
    double *times = memory_allocate((count + 1) * sizeof(double));
    double last = simulation->origin;
    for (size_t i = 0; i < count; i++) {
        const struct running_job *job = &simulation->all[i];
        bool ended = !isnan(job->finished), wants = isfinite(job->plan.deadline);
        result->jobs++;
        result->unfinished += !ended;
        result->deadline_jobs += wants;
        result->best_effort_jobs += !wants;
        result->feasible += wants && is_feasible(simulation, job);
        result->promised += wants && job->plan.promised;
        result->broken += wants && job->plan.promised && !(job->finished <= job->plan.deadline);
        if (!ended)
            continue;
        if (job->finished > last)
            last = job->finished;
        if (!wants) {
            times[served++] = job->finished - job->plan.arrival;
        } else if (job->finished <= job->plan.deadline) {
            result->met++;
        } else {
            tardy[late] = job->finished - job->plan.deadline;
            late_times[late++] = job->finished - job->plan.arrival;
        }
    }
    double met = (double)result->met, capacity = simulation->options->gpus;
    result->span = last - simulation->origin;
    if (result->deadline_jobs)
        result->dsr = met / (double)result->deadline_jobs;
    if (result->feasible)
        result->dsr_feasible = met / (double)result->feasible;
    if (result->span > 0) {
        result->utilisation = simulation->held / (capacity * result->span);
        result->effective = simulation->progress / (capacity * result->span);
    }
    summarise_values(tardy, late, &result->tardiness_mean, &result->tardiness_p95);
    summarise_values(late_times, late, &result->late_mean, &result->late_p95);
    summarise_values(times, served, &result->best_effort_mean, &result->best_effort_p95);
    free(tardy);
    free(late_times);
    free(times);
}

static void take_sample(const struct simulation *simulation, struct simulation_samples *samples)
{
    samples->samples = memory_grow(samples->samples, samples->count, &samples->capacity,
                                   sizeof(*samples->samples));
    struct simulation_sample *now = &samples->samples[samples->count++];
    *now = (struct simulation_sample){.time = simulation->now - simulation->origin};
    for (size_t i = 0; i < simulation->came; i++) {
        const struct running_job *job = &simulation->all[i];
        double end = isnan(job->finished) ? simulation->now : job->finished;
        now->used += job->plan.size;
        now->wanted += isnan(job->finished) ? job->plan.wanted : 0;
        now->missed += end > job->plan.deadline;
    }
}

void engine_run(const struct trace *trace, const struct simulation_options *options,
                const struct policy *policy, struct simulation_result *result,
                struct simulation_samples *samples)
{
    *result = (struct simulation_result){0};
    struct simulation simulation = {
        .options = options,
        .trace = trace,
        .all = memory_allocate((trace->count + 1) * sizeof(*simulation.all)),
        .active = memory_allocate((trace->count + 1) * sizeof(*simulation.active)),
        .knowledge = memory_allocate((trace->curve_count + 1) * sizeof(*simulation.knowledge)),
        .origin = trace->count ? trace->jobs[0].arrival : 0,
        .result = result,
    };
    simulation.now = simulation.origin;
    simulation.state = (struct plan_state){.capacity = options->gpus,
                                           .guard = options->guard,
                                           .reserve = options->reserve,
                                           .jobs = simulation.active};
    prepare_jobs(&simulation);
    for (;;) {
        ask_policy(&simulation, policy);
        if (samples)
            take_sample(&simulation, samples);
        double next = next_event(&simulation);
        if (!isfinite(next))
            break; /* all are done, or the rest will never run */
        advance_time(&simulation, next_wake(&simulation, next));
    }
    count_outcomes(&simulation);
    free(simulation.all);
    free(simulation.active);
    free(simulation.knowledge);
}
