/* planner/predict.c - predicts how long a job will take, from its own progress and from earlier
 * jobs
 *
 * Two quantities are predicted: how long a unit takes at each size (struct pace), and how many
 * units there are (struct amount); for both, the median and the spread of the logarithm.
 */
#include "planner/predict.h"

#include <math.h>

#include "planner/similar_runs.h"

static const double z_late = 0.8416;            /* the 0.8 quantile of the normal distribution */
static const double unknown_seconds = 8 * 3600; /* a guess without any data */
static const double unknown_spread = 0.7;       /* ... and its spread: a factor of two */
static const double prior_cost = 60;            /* seconds to start up, or to restart */
static const double few_spread = 0.3;           /* of predictions from one or two runs */
static const double least_spread = 0.03;        /* of any measurement */
static const double first_spread = 0.1;         /* ... over too short a time for a median */
static const double full_trust =
    0.05; /* share of the work after which only the job's own progress counts */
static const double usable_spread = 0.5; /* history that varies more is not mixed in */
static const double overrun = 0.05;      /* least work left where the total is a guess, as
                                                   a share of the work done */
static const double least_left = 1e-6;

struct pace {
    struct curve curve; /* without points: not known */
    double spread;
    bool live;
    enum similarity similarity;
    size_t runs;
};

struct amount {
    double units; /* 0: not known */
    double spread;
    bool told; /* by the job or its user, not estimated from other jobs */
};

/* pi/2: the variance of a median of n values, in units of that of one value, times n. */
static const double median_variance = 1.57;

/* The prediction's spread: the measured spread, widened by the standard error of a median of `count` runs. */
static double spread_of(double measured, size_t count)
{
    double error = count < SIMILAR_ENOUGH ? few_spread : 0;
    return fmax(least_spread, fmax(error, measured * sqrt(1 + median_variance / (double)count)));
}

/* The time of a unit */

static void pace_of_past(const struct predict_past *past, const struct predict_job *job,
                         enum aspect aspect, struct pace *pace)
{
    struct similar_runs similar;
    *pace = (struct pace){.curve = empty_curve};
    similar_runs_find(past, job, aspect, &similar);
    if (similar.count == 0)
        return;
    similar_runs_curve(&similar, aspect, job->wanted, &pace->curve, &pace->spread);
    pace->spread = spread_of(pace->spread, similar.count);
    pace->similarity = similar.similarity;
    pace->runs = similar.count;
}

/* Use the time of whole jobs if the time of units varies more; for a job with units but without
 * very similar runs. */
static void pace_of_whole_jobs(const struct predict_past *past, const struct predict_job *job,
                               double total, struct pace *pace)
{
    struct pace whole;
    pace_of_past(past, job, ASPECT_SECONDS, &whole);
    if (whole.curve.count == 0 || !(total > 0))
        return;
    if (pace->curve.count && (pace->similarity < whole.similarity || pace->spread <= whole.spread))
        return;
    for (size_t i = 0; i < whole.curve.count; i++)
        whole.curve.points[i].time /= total;
    curve_fit(&whole.curve);
    *pace = whole;
}

/* The job's own measurements: those of its parts, and the present one. */
static void own_curve(const struct predict_job *job, struct curve *curve)
{
    double longest = 0;
    *curve = empty_curve;
    for (size_t i = 0; i < job->part_count; i++)
        if (job->parts[i].rate > 0 && job->parts[i].size > 0)
            curve_add(curve, job->parts[i].size, 1 / job->parts[i].rate);
    if (job->rate > 0 && job->size > 0)
        curve_add(curve, job->size, 1 / job->rate);
    for (size_t i = 0; i < job->part_count && curve->count; i++)
        if (!job->gpus && job->parts[i].use >= 0 && job->parts[i].seconds >= longest &&
            job->parts[i].size == (int)curve->points[curve->count - 1].size) {
            longest = job->parts[i].seconds;
            curve->use = job->parts[i].use;
        }
    curve_fit(curve);
}

/* The weight of the job's own measurements, from 0 to 1. */
static double trust_in_job(const struct predict_job *job, double total)
{
    const double window = 50;
    double share = total > 0 ? job->done / total / full_trust : job->samples / window;
    return fmin(1, fmax(0, share));
}

/* Scale the curve of past runs to the job's own measurement. */
static void move_curve(struct curve *past, const struct curve *own)
{
    const struct curve_point *point = &own->points[own->count - 1];
    double factor = point->time / curve_time(past, point->size);
    for (size_t i = 0; i < past->count; i++)
        past->points[i].time *= factor;
    curve_add(past, point->size, point->time);
    curve_fit(past);
}

static void mix_in_own(const struct predict_job *job, double total, struct pace *pace)
{
    struct curve own;
    own_curve(job, &own);
    if (own.count == 0)
        return;
    double trust = trust_in_job(job, total);
    bool mixed = pace->curve.count && pace->spread < usable_spread && trust < 1;
    int samples = job->samples > 0 ? job->samples : 1;
    double spread = hypot(job->spread * sqrt(median_variance / samples),
                          samples < SIMILAR_ENOUGH ? first_spread : least_spread);
    for (size_t i = 0; i < own.count && mixed; i++) {
        double before = curve_time(&pace->curve, own.points[i].size);
        own.points[i].time = pow(own.points[i].time, trust) * pow(before, 1 - trust);
    }
    curve_fit(&own);
    if (own.count == 1 && pace->curve.count && pace->similarity <= SIMILAR_OLDER_TEMPLATE)
        move_curve(&pace->curve, &own);
    else
        pace->curve = own;
    pace->spread = mixed ? trust * spread + (1 - trust) * pace->spread : spread;
    pace->live = true;
}

/* The amount of work */

static struct amount amount_of(const struct predict_past *past, const struct predict_job *job)
{
    struct amount amount = {.units = job->total, .told = true};
    struct similar_runs similar;
    if (job->total > 0)
        return amount;
    similar_runs_find(past, job, ASPECT_TOTAL, &similar);
    amount.told = false;
    amount.units = similar_runs_median(&similar, ASPECT_TOTAL, &empty_curve, 0, &amount.spread);
    if (similar.count)
        amount.spread = spread_of(amount.spread, similar.count);
    return amount;
}

/* Combining the estimates */

static void set_levels(const struct predict_job *job, const struct curve *curve, double scale,
                       struct prediction *prediction)
{
    prediction->level_count = 0;
    for (size_t i = 0; i < job->size_count && i < PREDICT_MOST_LEVELS; i++) {
        double rate = scale / curve_time(curve, job->sizes[i]);
        size_t count = prediction->level_count;
        if (count && !(rate > prediction->levels[count - 1].rate * (1 + 1e-9)))
            continue;
        prediction->levels[prediction->level_count++] = (struct plan_level){job->sizes[i], rate};
    }
}

static void set_left(const struct amount *amount, double done, double spread,
                     struct prediction *prediction)
{
    double sum = hypot(amount->spread, spread);
    double left = amount->units - done;
    /* A job beyond an estimated total may go on: assume some work left. */
    double least = amount->told ? 0 : overrun * done;
    prediction->left = fmax(left, fmax(least, least_left));
    /* The spread applies to the rest if the total is known, otherwise to the total. */
    double late =
        amount->told ? left * exp(z_late * spread) : amount->units * exp(z_late * sum) - done;
    prediction->left_late = fmax(prediction->left, late);
}

/* Add the time after the last unit, in which a job writes its results. */
static void add_tail(const struct predict_past *past, const struct predict_job *job, double rate,
                     struct prediction *prediction)
{
    struct similar_runs similar;
    similar_runs_find(past, job, ASPECT_TAIL, &similar);
    double units = similar_runs_cost(&similar, ASPECT_TAIL, 0) * rate;
    prediction->left += units;
    prediction->left_late += units;
}

static double rate_at(const struct prediction *prediction, int size)
{
    const struct plan_level *found = &prediction->levels[0];
    for (size_t i = 1; i < prediction->level_count; i++)
        if (prediction->levels[i].size <= size)
            found = &prediction->levels[i];
    return found->rate;
}

static bool predict_counted(const struct predict_past *past, const struct predict_job *job,
                            struct prediction *prediction)
{
    struct amount amount = amount_of(past, job);
    struct pace pace;
    pace_of_past(past, job, ASPECT_RATE, &pace);
    pace_of_whole_jobs(past, job, amount.units, &pace);
    mix_in_own(job, amount.units, &pace);
    if (pace.curve.count == 0 || !(amount.units > 0))
        return false;
    set_levels(job, &pace.curve, 1, prediction);
    set_left(&amount, job->done, pace.spread, prediction);
    add_tail(past, job, rate_at(prediction, job->size > 0 ? job->size : job->wanted), prediction);
    prediction->live = pace.live;
    prediction->similarity = pace.similarity;
    prediction->runs = pace.runs;
    return true;
}

/* The work done of a job without units, in seconds at the wanted size. */
static double done_in_seconds(const struct predict_job *job, const struct curve *curve)
{
    double wanted = curve_time(curve, job->wanted), done = 0;
    for (size_t i = 0; i < job->part_count; i++)
        done += job->parts[i].seconds * wanted / curve_time(curve, job->parts[i].size);
    return done;
}

static double bounded_by_limit(const struct predict_job *job, double left)
{
    return job->limit > 0 ? fmin(left, fmax(job->limit - job->elapsed, overrun * job->elapsed + 1))
                          : left;
}

static bool predict_uncounted(const struct predict_past *past, const struct predict_job *job,
                              struct prediction *prediction)
{
    struct pace pace;
    pace_of_past(past, job, ASPECT_SECONDS, &pace);
    if (pace.curve.count == 0)
        return false;
    double wanted = curve_time(&pace.curve, job->wanted);
    struct amount amount = {.units = wanted, .spread = pace.spread};
    set_levels(job, &pace.curve, wanted, prediction);
    set_left(&amount, done_in_seconds(job, &pace.curve), 0, prediction);
    prediction->left = bounded_by_limit(job, prediction->left);
    prediction->left_late = bounded_by_limit(job, prediction->left_late);
    prediction->similarity = pace.similarity;
    prediction->runs = pace.runs;
    return true;
}

/* Nothing is known: assume that it takes very long, and then as long again. */
static void guess_time(const struct predict_job *job, struct prediction *prediction)
{
    struct curve curve;
    own_curve(job, &curve);
    double seconds = job->limit > 0 ? job->limit : unknown_seconds;
    double left = bounded_by_limit(job, fmax(seconds - job->elapsed, job->elapsed));
    if (curve.count == 0)
        curve_add(&curve, job->wanted, 1);
    bool told = job->counted && job->total > 0;
    double units = told ? job->total : seconds;
    /* Units are counted, but their time is unknown: choose it so that all units take that long. */
    double scale = told ? curve_time(&curve, job->wanted) * units / seconds : 1;
    set_levels(job, &curve, scale, prediction);
    struct amount amount = {.units = units, .told = told};
    if (told)
        set_left(&amount, job->done, unknown_spread, prediction);
    else
        prediction->left = left * rate_at(prediction, job->size > 0 ? job->size : job->wanted);
    if (!told)
        prediction->left_late =
            bounded_by_limit(job, prediction->left * exp(z_late * unknown_spread));
}

static void set_costs(const struct predict_past *past, const struct predict_job *job,
                      struct prediction *prediction)
{
    struct similar_runs similar;
    similar_runs_find(past, job, ASPECT_START_UP, &similar);
    double start_up = similar_runs_cost(&similar, ASPECT_START_UP, prior_cost);
    prediction->start_up = job->start_up >= 0 ? job->start_up : start_up;
    /* The first unit is overdue. */
    if (job->size > 0 && job->start_up < 0 && job->counted)
        prediction->start_up = fmax(prediction->start_up, (1 + overrun) * job->elapsed);
    similar_runs_find(past, job, ASPECT_RESTART, &similar);
    double restart =
        similar_runs_cost(&similar, ASPECT_RESTART, prediction->start_up + job->interval / 2);
    prediction->restart = job->restart >= 0 ? job->restart : restart;
    similar_runs_find(past, job, ASPECT_RESIZE, &similar);
    prediction->resize = similar_runs_cost(&similar, ASPECT_RESIZE, 0);
    if (!job->counted)
        prediction->start_up = 0; /* its seconds begin at its start */
}

void predict(const struct predict_past *past, const struct predict_job *job,
             struct prediction *prediction)
{
    *prediction = (struct prediction){.similarity = SIMILAR_ANY};
    prediction->known = job->counted ? predict_counted(past, job, prediction)
                                     : predict_uncounted(past, job, prediction);
    if (!prediction->known)
        guess_time(job, prediction);
    set_costs(past, job, prediction);
}

double predict_seconds_left(const struct prediction *prediction, int size, bool late)
{
    double rate = rate_at(prediction, size);
    return (late ? prediction->left_late : prediction->left) / rate;
}
