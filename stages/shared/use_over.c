/* stages/shared/use_over.c - which row a job would exceed, and what rows leave */
#include "base/clock.h"
#include "spool/wants.h"
#include "stages/shared/use_parts.h"

static bool exceeds_amounts(const struct limit_row *row, const struct use_amounts *used,
                            const struct use_amounts *more)
{
    return use_is_exceeded(used->jobs, 1, row->running) ||
           use_is_exceeded(used->cpus, more->cpus, row->cpus) ||
           use_is_exceeded(used->memory, more->memory, row->memory) ||
           use_is_exceeded(used->gpus, more->gpus, limit_row_most_gpus(row)) ||
           use_is_exceeded(used->gpu_time, more->gpu_time, row->gpu_time);
}

/* What runs and waits together. */
static struct use_amounts amounts_in_all(const struct use *use, const struct use_tally *tally)
{
    const struct use_amounts runs = use_tally_amounts(use, tally, USE_RUNNING);
    const struct use_amounts waits = use_tally_sum(&tally->sums[USE_WAITING]);
    return (struct use_amounts){.jobs = runs.jobs + waits.jobs,
                                .cpus = runs.cpus + waits.cpus,
                                .memory = runs.memory + waits.memory,
                                .gpus = runs.gpus + waits.gpus,
                                .gpu_time = runs.gpu_time + waits.gpu_time};
}

static int64_t left_of(int64_t used, int64_t limit)
{
    return limit < 0 ? INT64_MAX : limit < used ? 0 : limit - used;
}

struct use_cohort use_cohort(struct use *use, const struct limit_row *row)
{
    struct use_cohort cohort = {.queues = use->queues, .rows = use->queue_rows};
    for (size_t i = 0; i < use->row_count && limit_row_shares(row); i++) {
        const struct limit_row *other = &use->rows[i];
        char key[LIMIT_ROW_KEY_SIZE];
        if (!limit_row_shares(other) || !text_equal(other->gpu_type, row->gpu_type) ||
            !limit_row_key(other, i, 0, 0, other->name, other->gpu_type, key))
            continue;
        const struct use_tally *tally = names_find(use->tallies, text_of(key));
        if (other == row)
            cohort.which = cohort.count;
        use->queue_rows[cohort.count] = other;
        use->queues[cohort.count++] =
            (struct cohort_queue){.own = other->gpus,
                                  .lend = other->lend_gpus,
                                  .borrow = other->borrow_gpus,
                                  .used = tally ? tally->sums[USE_RUNNING].gpus : 0};
    }
    return cohort;
}

/* How many GPUs the row leaves to its queue, which may share them with others. */
static int64_t gpus_left(struct use *use, const struct limit_row *row, int64_t used)
{
    if (!limit_row_shares(row))
        return left_of(used, row->gpus);
    const struct use_cohort cohort = use_cohort(use, row);
    return cohort_room(cohort.queues, cohort.count, cohort.which);
}

/* Is the job over this row in that phase?  `used` is what counts there. */
static bool is_over(struct use *use, const struct limit_row *row, const struct use_tally *tally,
                    const struct job_record *record, enum use_phase phase, struct use_amounts *used)
{
    const struct use_amounts more = use_of(record);
    *used = use_tally_amounts(use, tally, phase);
    if (phase == USE_RUNNING)
        return exceeds_amounts(row, used, &more) ||
               (more.gpus && more.gpus > gpus_left(use, row, used->gpus));
    if (use_is_exceeded(used->jobs, 1, row->waiting))
        return true;
    *used = amounts_in_all(use, tally);
    return row->over == LIMIT_REFUSE && exceeds_amounts(row, used, &more);
}

/* Was it approved that the job is over the row? */
static bool is_exempt(const struct limit_row *row, const struct job_record *record)
{
    return row->over == LIMIT_APPROVE && wants_have_row(record->wants, row);
}

bool use_find_row(struct use *use, const struct job_record *record, use_question *asks,
                  void *context, struct use_over *over)
{
    const struct use_job job = use_tally_job(use, record);
    for (size_t i = 0; i < use->row_count; i++) {
        struct use_tally *tally = use_tally_find(use, &use->rows[i], &job);
        if (!tally || is_exempt(&use->rows[i], record))
            continue;
        *over = (struct use_over){.row = &use->rows[i], .key = names_text(tally)};
        if (asks(context, over))
            return true;
    }
    return false;
}

/* When will it have fallen below what the row allows? */
static void tell_when(const struct use *use, struct use_over *over, int64_t more)
{
    over->spent = gpu_time_used(use->time, over->row, over->key);
    int64_t most = over->row->gpu_time - (over->used.gpu_time - over->spent) - more;
    over->falls = most >= 0 ? gpu_time_falls(use->time, over->row, over->key, most) : 0;
}

struct asked {
    struct use *use;
    const struct job_record *record;
    enum use_phase phase;
};

static bool is_over_row(void *context, struct use_over *over)
{
    const struct asked *asked = context;
    const struct use_tally *tally = names_find(asked->use->tallies, over->key);
    if (!is_over(asked->use, over->row, tally, asked->record, asked->phase, &over->used))
        return false;
    if (asked->use->time && over->row->gpu_time >= 0)
        tell_when(asked->use, over, use_of(asked->record).gpu_time);
    return true;
}

bool use_exceeds_running(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_RUNNING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

bool use_exceeds_instead(struct use *use, const char *id, const struct job_record *record)
{
    struct use_over over;
    const struct use_job *job = names_find(use->jobs, text_of(id));
    if (job)
        use_tally_count(use, job, -1);
    bool exceeds = use_exceeds_running(use, record, &over);
    if (job)
        use_tally_count(use, job, 1);
    return exceeds;
}

bool use_exceeds_waiting(struct use *use, const struct job_record *record, struct use_over *over)
{
    struct asked asked = {use, record, USE_WAITING};
    return use_find_row(use, record, is_over_row, &asked, over);
}

bool use_exceeds_in_all(struct use *use, const struct use_over *over,
                        const struct job_record *record)
{
    const struct use_tally *tally = names_find(use->tallies, over->key);
    const struct use_amounts more = use_of(record);
    const struct use_amounts used = tally ? amounts_in_all(use, tally) : (struct use_amounts){0};
    return exceeds_amounts(over->row, &used, &more);
}

struct use_amounts use_room(struct use *use, const struct use_over *over)
{
    const struct use_tally *tally = names_find(use->tallies, over->key);
    const struct limit_row *row = over->row;
    struct use_amounts used = {0};
    if (tally)
        used = use_tally_amounts(use, tally, USE_RUNNING);
    else if (use->time && row->gpu_time >= 0)
        used.gpu_time = gpu_time_used(use->time, row, over->key);
    return (struct use_amounts){left_of(used.jobs, row->running), left_of(used.cpus, row->cpus),
                                left_of(used.memory, row->memory), gpus_left(use, row, used.gpus),
                                left_of(used.gpu_time, row->gpu_time)};
}
