/* planner/similar_runs.c - past runs that are similar to a job, and their medians
 *
 * For each similarity and aspect, a hash table finds the newest run of a key with that aspect, and
 * each run links to the one before it, so a search costs time only for the runs that it finds.
 */
#include "planner/similar_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

struct index {
    uint32_t *newest; /* by hash: the index of a run plus 1; 0: none */
    uint32_t *before; /* of each run: the one before it with the same hash, plus 1 */
};

struct predict_past {
    struct arena *arena;
    struct predict_run *runs;
    size_t count;
    size_t capacity; /* of each `newest`, a power of two */
    struct index indexes[LIKENESSES][ASPECTS];
};

/* The parts of the key that must agree at this level of similarity.  False when they are unknown. */
static bool parts_of(enum similarity similarity, const struct predict_key *key,
                     struct text parts[4])
{
    for (int i = 0; i < 4; i++)
        parts[i] = (struct text){NULL, 0};
    switch (similarity) {
    case SIMILAR_ARGUMENTS:
        parts[3] = key->commit;
        /* fall through */
    case SIMILAR_OLDER_TEMPLATE:
        parts[0] = key->template_path;
        parts[1] = key->image;
        parts[2] = key->arguments;
        return key->arguments.length > 0;
    case SIMILAR_IMAGE:
        parts[2] = key->image;
        /* fall through */
    case SIMILAR_USER_TEMPLATE:
        parts[1] = key->owner;
        /* fall through */
    case SIMILAR_TEMPLATE:
        parts[0] = key->template_path;
        return key->template_path.length > 0;
    case SIMILAR_USER:
        parts[0] = key->owner;
        return key->owner.length > 0;
    default:
        return true;
    }
}

static bool is_like(enum similarity similarity, const struct predict_key *a,
                    const struct predict_key *b)
{
    struct text first[4], second[4];
    if (!parts_of(similarity, a, first) || !parts_of(similarity, b, second))
        return false;
    for (int i = 0; i < 4; i++)
        if (!text_equal(first[i], second[i]))
            return false;
    return true;
}

static size_t hash_key(enum similarity similarity, const struct predict_key *key)
{
    struct text parts[4];
    uint64_t hash = HASH_START;
    if (!parts_of(similarity, key, parts))
        return 0;
    for (int i = 0; i < 4; i++)
        hash = hash_byte(hash_text(hash, parts[i]), 0x1ff);
    return (size_t)(hash ^ hash >> 31);
}

static double cost_of(const struct predict_run *run, enum aspect aspect)
{
    switch (aspect) {
    case ASPECT_START_UP:
        return run->start_up;
    case ASPECT_RESTART:
        return run->restart;
    case ASPECT_RESIZE:
        return run->resize;
    default:
        return run->tail;
    }
}

static bool has_aspect(const struct predict_run *run, enum aspect aspect,
                       enum similarity similarity)
{
    switch (aspect) {
    case ASPECT_TOTAL:
        return run->finished && run->total > 0;
    case ASPECT_SECONDS:
        return run->finished && run->seconds > 0;
    case ASPECT_RATE:
        return (run->finished || similarity <= SIMILAR_OLDER_TEMPLATE) && run->rate > 0;
    default:
        return cost_of(run, aspect) >= 0;
    }
}

static void index_runs(struct predict_past *past, enum similarity similarity, enum aspect aspect,
                       const size_t *slots)
{
    struct index *index = &past->indexes[similarity][aspect];
    index->newest = arena_allocate(past->arena, past->capacity * sizeof(*index->newest));
    index->before = arena_allocate(past->arena, (past->count + 1) * sizeof(*index->before));
    for (size_t i = 0; i < past->count; i++) {
        if (!has_aspect(&past->runs[i], aspect, similarity))
            continue;
        index->before[i] = index->newest[slots[i]];
        index->newest[slots[i]] = (uint32_t)i + 1;
    }
}

static void index_all(struct predict_past *past)
{
    size_t *slots = memory_allocate((past->count + 1) * sizeof(*slots));
    past->capacity = 16;
    while (past->capacity < past->count)
        past->capacity *= 2;
    for (int similarity = 0; similarity < LIKENESSES; similarity++) {
        for (size_t i = 0; i < past->count; i++)
            slots[i] =
                hash_key((enum similarity)similarity, &past->runs[i].key) & (past->capacity - 1);
        for (int aspect = 0; aspect < ASPECTS; aspect++)
            index_runs(past, (enum similarity)similarity, (enum aspect)aspect, slots);
    }
    free(slots);
}

struct predict_past *predict_past_new(const struct predict_run *runs, size_t count)
{
    struct arena *arena = arena_new();
    struct predict_past *past = arena_allocate(arena, sizeof(*past));
    past->arena = arena;
    past->count = count;
    past->runs = arena_allocate(arena, (count + 1) * sizeof(*runs));
    for (size_t i = 0; i < count; i++) {
        struct predict_run *run = &past->runs[i];
        *run = runs[i];
        struct text *texts[] = {&run->key.template_path, &run->key.commit, &run->key.image,
                                &run->key.arguments,     &run->key.owner,  &run->key.gpu_type};
        for (size_t j = 0; j < ARRAY_COUNT(texts); j++)
            *texts[j] = texts[j]->length ? arena_text(arena, texts[j]->data, texts[j]->length)
                                         : (struct text){NULL, 0};
    }
    index_all(past);
    return past;
}

void predict_past_free(struct predict_past *past)
{
    if (past)
        arena_free(past->arena);
}

/* Finding */

/* Does the aspect allow this run?  Rates and times only compare between the same kind of
 * machine. */
static bool is_of_same_kind(const struct predict_run *run, const struct predict_job *job)
{
    return run->gpus == job->gpus && text_equal(run->key.gpu_type, job->key.gpu_type);
}

static void collect_runs(const struct predict_past *past, const struct predict_job *job,
                         enum aspect aspect, enum similarity similarity,
                         struct similar_runs *similar)
{
    const struct index *index = &past->indexes[similarity][aspect];
    const double half_life = 20;
    bool any_kind = aspect != ASPECT_SECONDS && aspect != ASPECT_RATE;
    size_t looked = 0;
    similar->similarity = similarity;
    similar->count = 0;
    size_t at = index->newest[hash_key(similarity, &job->key) & (past->capacity - 1)];
    for (; at && similar->count < SIMILAR_MOST && looked < 10 * SIMILAR_MOST; looked++) {
        const struct predict_run *run = &past->runs[at - 1];
        at = index->before[at - 1];
        if (!is_like(similarity, &run->key, &job->key) || (!any_kind && !is_of_same_kind(run, job)))
            continue;
        similar->weights[similar->count] = exp2(-(double)similar->count / half_life);
        similar->runs[similar->count++] = run;
    }
}

/* The coarsest similarity that an aspect accepts.  The costs of a start, a resize or an end come
 * from the same template at most, and the tail after the last unit from the same user: a
 * stranger's jobs must not move anybody's deadline. */
static enum similarity coarsest_similarity(enum aspect aspect)
{
    return aspect < ASPECT_START_UP ? SIMILAR_ANY
           : aspect == ASPECT_TAIL  ? SIMILAR_USER_TEMPLATE
                                    : SIMILAR_TEMPLATE;
}

void similar_runs_find(const struct predict_past *past, const struct predict_job *job,
                       enum aspect aspect, struct similar_runs *similar)
{
    similar->similarity = SIMILAR_ANY;
    similar->count = 0;
    for (int similarity = 0; past && similarity <= (int)coarsest_similarity(aspect); similarity++) {
        bool exact = aspect >= ASPECT_RATE && similarity <= SIMILAR_OLDER_TEMPLATE;
        collect_runs(past, job, aspect, (enum similarity)similarity, similar);
        if (similar->count >= (exact ? 1 : SIMILAR_ENOUGH))
            return;
    }
    similar->count = 0;
}

/* Summing up */

double similar_runs_median(const struct similar_runs *similar, enum aspect aspect,
                           const struct curve *curve, double to, double *spread)
{
    struct sample samples[SIMILAR_MOST];
    for (size_t i = 0; i < similar->count; i++) {
        const struct predict_run *run = similar->runs[i];
        double value = aspect == ASPECT_TOTAL ? run->total : run->seconds;
        if (curve->count && aspect == ASPECT_SECONDS)
            value *= curve_time(curve, to) / curve_time(curve, run->size);
        samples[i] = (struct sample){log(value), similar->weights[i]};
    }
    double median = quantile_median(samples, similar->count);
    *spread = quantile_spread(samples, similar->count, median);
    return similar->count ? exp(median) : 0;
}

static double time_of(const struct predict_run *run, enum aspect aspect)
{
    return aspect == ASPECT_SECONDS ? run->seconds : 1 / run->rate;
}

/* The logarithm of a run's time at a size: measured there, or scaled by the default curve. */
static double log_time_at(const struct predict_run *run, enum aspect aspect, int size)
{
    struct curve curve = empty_curve;
    curve_add(&curve, run->size, time_of(run, aspect));
    return log(curve_time(&curve, size));
}

/* Add the median of the runs at one size, or of all runs, as a point. */
static void add_point(const struct similar_runs *similar, enum aspect aspect, int size, bool all,
                      struct curve *curve)
{
    struct sample samples[SIMILAR_MOST];
    size_t count = 0;
    for (size_t i = 0; i < similar->count; i++)
        if (all || similar->runs[i]->size == size)
            samples[count++] =
                (struct sample){log_time_at(similar->runs[i], aspect, size), similar->weights[i]};
    curve_add(curve, size, exp(quantile_median(samples, count)));
}

static bool has_point(const struct curve *curve, int size)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].size == size)
            return true;
    return false;
}

/* The median use of CPUs at the size of the largest point, as curve.h expects it. */
static double median_use(const struct similar_runs *similar, const struct curve *curve)
{
    struct sample uses[SIMILAR_MOST];
    size_t count = 0;
    for (size_t i = 0; i < similar->count; i++) {
        const struct predict_run *run = similar->runs[i];
        if (!run->gpus && run->use >= 0 && run->size == (int)curve->points[curve->count - 1].size)
            uses[count++] = (struct sample){run->use, similar->weights[i]};
    }
    return count ? quantile_median(uses, count) : -1;
}

void similar_runs_curve(const struct similar_runs *similar, enum aspect aspect, int wanted,
                        struct curve *curve, double *spread)
{
    struct sample samples[SIMILAR_MOST];
    bool one = similar->similarity > SIMILAR_OLDER_TEMPLATE;
    *curve = empty_curve;
    *spread = 0;
    if (similar->count == 0)
        return;
    if (one)
        add_point(similar, aspect, wanted, true, curve);
    for (size_t i = 0; i < similar->count && !one; i++)
        if (!has_point(curve, similar->runs[i]->size))
            add_point(similar, aspect, similar->runs[i]->size, false, curve);
    curve->use = median_use(similar, curve);
    curve_fit(curve);
    for (size_t i = 0; i < similar->count; i++) {
        const struct predict_run *run = similar->runs[i];
        int at = one ? wanted : run->size;
        samples[i] = (struct sample){log_time_at(run, aspect, at) - log(curve_time(curve, at)),
                                     similar->weights[i]};
    }
    *spread = quantile_spread(samples, similar->count, 0);
}

double similar_runs_cost(const struct similar_runs *similar, enum aspect aspect, double otherwise)
{
    struct sample samples[SIMILAR_MOST];
    for (size_t i = 0; i < similar->count; i++)
        samples[i] = (struct sample){cost_of(similar->runs[i], aspect), similar->weights[i]};
    return similar->count ? quantile_median(samples, similar->count) : otherwise;
}
