/* stages/planning/forecast.c - what the planner is told of a job: its facts, its progress and predictions */
#include "stages/planning/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LONGEST = 1e9;   /* seconds that anything is predicted to take at most */
static const double LEAST_GAIN = 60; /* seconds that a change has to save that no deadline needs */
static const double PRIORITY_DOUBLES = 20; /* this much more priority doubles a job's weight */
static const double LEAST_WORK =
    1e-6; /* seconds that any job is predicted to have left, at least */

int forecast_units(const struct cached_job *job, int64_t size)
{
    return past_plan_size(&job->record, size);
}

int64_t forecast_size(const struct cached_job *job, int units)
{
    int64_t sizes[SIZES_MOST] = {1}, size = 0;
    size_t count = sizes_list(&job->record.sizes, sizes);
    for (size_t i = 0; i < count || i == 0; i++)
        if (forecast_units(job, sizes[i]) <= units)
            size = sizes[i];
    return size;
}

/* Can it be resized while it runs? */
static bool is_in_place(const struct cached_job *job)
{
    return job->resizable && job->record.sizes.kind != SIZE_FIXED;
}

/* ---- prediction ---- */

/* Does its progress belong to the attempt that runs now? */
static bool is_running(const struct cached_job *job)
{
    return job->state == STATE_SUBMITTED && job->progress && job->progress->since > 0 &&
           job->progress->attempt == job->record.attempt;
}

static double bounded_or(double value, double otherwise)
{
    return isfinite(value) && value >= 0 ? fmin(value, LONGEST) : otherwise;
}

static void predict_again(struct cached_job *job, const struct forecast_terms *terms)
{
    struct predict_job asked = {.size_count = 0};
    struct prediction prediction = {.known = false};
    past_job(&job->record, job->progress, is_running(job), terms->now, &asked);
    predict(runs_past(terms->runs), &asked, &prediction);
    free(job->levels);
    job->levels = memory_allocate(prediction.level_count * sizeof(*job->levels));
    memcpy(job->levels, prediction.levels, prediction.level_count * sizeof(*job->levels));
    job->level_count = prediction.level_count;
    double longest = LONGEST * job->levels[0].rate;
    job->known = prediction.known;
    job->live = prediction.live;
    job->left_late = fmin(prediction.left_late, longest);
    job->left = fmin(prediction.left, job->left_late);
    job->start_up = bounded_or(prediction.start_up, 0);
    job->restart = bounded_or(is_in_place(job) ? prediction.resize : prediction.restart, 0);
    job->predicted_of = runs_generation(terms->runs);
}

/* ---- what the planner is told ---- */

/* Seconds that a start or a change of size under way still takes. */
static double restart_left(const struct cached_job *job, int64_t now)
{
    const struct progress *progress = job->progress;
    if (!is_running(job))
        return job->start_up;
    if (progress->samples > 0)
        return 0;
    double whole = job->record.resizes ? job->restart : job->start_up;
    double left = whole - (double)(now - progress->since) / 1000;
    return fmin(whole, fmax(0, left));
}

static bool is_dwelling(const struct cached_job *job, const struct forecast_terms *terms)
{
    int64_t since = job->record.resized > job->started ? job->record.resized : job->started;
    if (is_running(job) && job->progress->since > since)
        since = job->progress->since;
    /* If the clock was set back, the job does not keep its size until the old time. */
    return since <= terms->now && terms->now - since < terms->dwell;
}

/* Remove the sizes above `size` and, with `only`, those below it. */
static void limit_levels(struct cached_job *job, int64_t size, bool only)
{
    size_t last = job->level_count - 1;
    while (last > 0 && job->levels[last].size > forecast_units(job, size))
        last--;
    job->plan.levels = only ? &job->levels[last] : job->levels;
    job->plan.level_count = only ? 1 : last + 1;
}

void forecast_limit(struct cached_job *job, int64_t size)
{
    struct plan_job *plan = &job->plan;
    while (plan->level_count > 1 &&
           plan->levels[plan->level_count - 1].size > forecast_units(job, size))
        plan->level_count--;
}

bool forecast_is_trial(const struct cached_job *job)
{
    return job->record.deadline && !isfinite(job->plan.deadline);
}

/* Is there no progress of the job's own that says whether it can meet its deadline? */
static bool is_to_be_tried(const struct cached_job *job, const struct forecast_terms *terms)
{
    const struct plan_level *fastest = &job->levels[job->level_count - 1];
    if (!job->known)
        return true;
    if (job->live || terms->now >= job->record.deadline)
        return false;
    double start = job->state == STATE_RENDERED ? job->start_up : 0;
    double time = (double)(job->record.deadline - terms->now) / 1000;
    return time < start + job->left / fastest->rate;
}

/* Would restarting at the new size cost more than simply finishing? */
static bool is_nearly_done(const struct cached_job *job)
{
    const struct plan_level *level = &job->levels[0];
    for (size_t i = 0; i < job->level_count; i++)
        if (job->levels[i].size <= forecast_units(job, job->size))
            level = &job->levels[i];
    return job->known && !is_in_place(job) && job->left_late / level->rate < job->restart;
}

/* Must a running job keep its size? */
static bool is_kept(const struct cached_job *job, const struct forecast_terms *terms)
{
    if (job->state == STATE_RENDERED)
        return false;
    if (is_nearly_done(job))
        return true;
    return job->resizing || !job->started || is_dwelling(job, terms) ||
           (!is_in_place(job) && job->record.checkpoint_signal.length == 0);
}

/* The work that is planned for.  The planning quantile, which four of five jobs do not exceed, is a safety
 * margin.  A job that would be done in time by the median, but not with that margin, is planned with all the
 * time until its deadline. */
static double planned_work(const struct cached_job *job, const struct forecast_terms *terms)
{
    const double slack = 1; /* seconds */
    const struct plan_level *fastest = &job->levels[job->level_count - 1], *level = &job->levels[0];
    double time = (double)(job->record.deadline - terms->now) / 1000 - slack;
    bool runs = job->state == STATE_SUBMITTED;
    for (size_t i = 0; runs && i < job->level_count; i++)
        if (job->levels[i].size <= forecast_units(job, job->size))
            level = &job->levels[i];
    double start = job->progress || runs ? job->restart : job->start_up;
    double most = (time - start) * fastest->rate;
    if (runs)
        most = fmax(most, (time - restart_left(job, terms->now)) * level->rate);
    return job->left_late > most && job->left <= most ? most : job->left_late;
}

/* The weight among jobs without a deadline.  What the planner gains by a job (it is short, it runs) counts for
 * a factor of up to four; an overdue turn weighs more than that, and a priority above those of users more
 * again. */
static double weight_of(const struct cached_job *job, const struct forecast_terms *terms)
{
    const double four = 2 * PRIORITY_DOUBLES + 1;
    double priority = job->standing / 2.0;
    if (job->overdue)
        priority += four;
    else if (terms->overdue && job->standing > terms->overdue)
        priority += 2 * four;
    return exp2(priority / PRIORITY_DOUBLES);
}

void forecast_job(struct cached_job *job, const struct forecast_terms *terms)
{
    const struct job_record *record = &job->record;
    bool submitted = job->state == STATE_SUBMITTED;
    if (submitted || job->predicted_of != runs_generation(terms->runs))
        predict_again(job, terms);
    /* A job that is late would come behind all others for ever: from then on it is one of those without a
     * deadline. */
    bool over = terms->now >= record->deadline;
    bool timed = record->deadline && !over && !is_to_be_tried(job, terms);
    double weight = record->weight > 0 ? record->weight : 1;
    job->plan = (struct plan_job){
        .id = job->key,
        .arrival = (double)record->accepted / 1000,
        .deadline = timed ? (double)record->deadline / 1000 : (double)INFINITY,
        .firm = timed && text_is(record->deadline_mode, "firm"),
        .weight = timed ? weight : weight_of(job, terms),
        .work = fmax(timed ? planned_work(job, terms) : job->left_late,
                     LEAST_WORK * job->levels[0].rate),
        .levels = job->levels,
        .level_count = job->level_count,
        .wanted = forecast_units(job, record->size),
        .size = submitted ? forecast_units(job, job->size) : 0,
        .restart = job->progress || submitted ? job->restart : job->start_up,
        .restart_left = submitted ? restart_left(job, terms->now) : 0,
        .promised = timed && job->promised,
        .kept = is_kept(job, terms),
        .unstoppable = is_in_place(job) && record->checkpoint_signal.length == 0,
        .least_gain = fmax(LEAST_GAIN, 2 * job->restart),
        .owner = -1,
    };
    if (terms->as_they_are)
        limit_levels(job, job->size, true);
    else if (!job->known)
        limit_levels(job, submitted || !record->size_asked ? job->size : record->size_asked, false);
}

double forecast_seconds(const struct cached_job *job, int units, bool late)
{
    const struct plan_job *plan = &job->plan;
    const struct plan_level *level = plan_level_at_most(plan, units);
    if (!level)
        return (double)INFINITY;
    double before = level->size == plan->size ? plan->restart_left : plan->restart;
    return before + (late ? job->left_late : job->left) / level->rate;
}

bool forecast_misses(const struct cached_job *job, int64_t now, int units)
{
    if (!job->record.deadline || forecast_is_trial(job) || now >= job->record.deadline)
        return false;
    double seconds = forecast_seconds(job, units, true);
    return !isfinite(seconds) || (double)now + seconds * 1000 > (double)job->record.deadline;
}

int64_t forecast_finish(const struct cached_job *job, int64_t now, bool late)
{
    const struct plan_job *plan = &job->plan;
    double finish = plan->finish;
    const struct plan_level *level = plan_level_at_most(plan, plan->give);
    if (!job->known)
        return 0;
    if (!isfinite(finish) && plan->give > 0)
        finish = (double)now / 1000 + forecast_seconds(job, plan->give, true);
    if (!late)
        finish -= (plan->work - job->left) / (level ? level : &plan->levels[0])->rate;
    if (!isfinite(finish) || finish > (double)now / 1000 + LONGEST)
        return 0;
    return finish < (double)now / 1000 ? now : (int64_t)(finish * 1000);
}
