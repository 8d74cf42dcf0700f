/* stages/shared/use_tally.c - what the jobs of a row and a subject come to together */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "spool/history.h"
#include "stages/shared/use_parts.h"

enum { SPARE = 4096, WORDS_OF_A_JOB = 3 }; /* words and tallies that may be there without a job */

/* The same word, for as long as `use` lives; empty when there are too many. */
static struct text keep_word(struct use *use, struct text word)
{
    if (!word.length)
        return TEXT("");
    void *kept = names_find(use->words, word);
    if (!kept)
        kept = names_add(use->words, word);
    return kept ? names_text(kept) : TEXT("");
}

struct use_tally *use_tally_find(struct use *use, const struct limit_row *row,
                                 const struct use_job *job)
{
    char key[LIMIT_ROW_KEY_SIZE];
    if (!limit_row_key(row, (size_t)(row - use->rows), job->uid, job->gid, job->queue,
                       job->gpu_type, key))
        return NULL;
    struct use_tally *tally = names_find(use->tallies, text_of(key));
    if (tally)
        return tally;
    tally = names_add(use->tallies, text_of(key));
    if (!tally)
        return NULL;
    *tally = (struct use_tally){.row = row,
                                .subject = row->subject == LIMIT_USER ? job->owner
                                           : row->subject == LIMIT_QUEUE
                                               ? job->queue
                                               : keep_word(use, text_of(strchr(key, ':') + 1))};
    return tally;
}

static void add_amounts(struct use_sums *sums, const struct use_amounts *amounts, int sign)
{
    sums->jobs += sign * amounts->jobs;
    sums->cpus += sign * amounts->cpus;
    sums->gpus += sign * amounts->gpus;
    large_sum_add(&sums->memory, amounts->memory, sign);
    large_sum_add(&sums->gpu_time, amounts->gpu_time, sign);
}

struct use_amounts use_tally_sum(const struct use_sums *sums)
{
    return (struct use_amounts){.jobs = sums->jobs,
                                .cpus = sums->cpus,
                                .memory = large_sum_value(&sums->memory),
                                .gpus = sums->gpus,
                                .gpu_time = large_sum_value(&sums->gpu_time)};
}

static void add_holding(struct use_holding *holding, const struct use_job *job, int sign)
{
    holding->gpus += sign * job->amounts.gpus;
    holding->since += sign * job->amounts.gpus * job->started;
}

int64_t use_tally_held_until(const struct use *use, const struct use_holding *holding, int64_t now)
{
    int64_t held = holding->gpus * (now - use->begun) - holding->since;
    return held > 0 ? held : 0;
}

struct use_amounts use_tally_amounts(const struct use *use, const struct use_tally *tally,
                                     enum use_phase phase)
{
    struct use_amounts amounts = use_tally_sum(&tally->sums[phase]);
    if (phase == USE_RUNNING && use->time && tally->row->gpu_time >= 0)
        amounts.gpu_time += gpu_time_used(use->time, tally->row, names_text(tally)) +
                            use_tally_held_until(use, &tally->open, clock_now());
    return amounts;
}

void use_tally_count(struct use *use, const struct use_job *job, int sign)
{
    for (size_t i = 0; i < use->row_count; i++) {
        struct use_tally *tally = use_tally_find(use, &use->rows[i], job);
        if (!tally)
            continue;
        add_amounts(&tally->sums[job->phase], &job->amounts, sign);
        if (job->started != USE_UNKNOWN)
            add_holding(&tally->all, job, sign);
        if (job->started != USE_UNKNOWN && job->open)
            add_holding(&tally->open, job, sign);
    }
}

/* Forget words and tallies of which no job is left: users may name any number of queues. */
static void forget_unused(struct use *use)
{
    size_t jobs = names_count(use->jobs);
    if (names_count(use->words) <= SPARE + WORDS_OF_A_JOB * jobs &&
        names_count(use->tallies) <= SPARE + use->row_count * jobs)
        return;
    struct names *words = use->words;
    names_free(use->tallies);
    use->words = names_new(USE_MOST_WORDS, 1);
    use->tallies = names_new(USE_MOST_TALLIES, sizeof(struct use_tally));
    for (struct use_job *job = names_first(use->jobs); job; job = names_after(job)) {
        job->owner = keep_word(use, job->owner);
        job->queue = keep_word(use, job->queue);
        job->gpu_type = keep_word(use, job->gpu_type);
        use_tally_count(use, job, 1);
    }
    names_free(words);
}

struct use_amounts use_of(const struct job_record *record)
{
    int64_t limit = record->time_limit > 0 ? record->time_limit : 1;
    struct use_amounts amounts = {.jobs = 1, .memory = record->memory};
    history_amounts(record, record->size_now ? record->size_now : record->size, &amounts.cpus,
                    &amounts.gpus);
    if (record->sizes.kind == SIZE_TASKS && record->size > 0 && record->size_now)
        amounts.memory =
            (int64_t)((double)record->memory * (double)record->size_now / (double)record->size);
    const int times = record_at_once(record);
    amounts.cpus *= times;
    amounts.memory *= times;
    amounts.gpus *= times;
    bool fits = amounts.gpus <= 0 || limit < INT64_MAX / 2 / amounts.gpus;
    amounts.gpu_time = fits ? limit * amounts.gpus : INT64_MAX / 2;
    return amounts;
}

struct use_job use_tally_job(struct use *use, const struct job_record *record)
{
    forget_unused(use);
    return (struct use_job){.uid = record->uid,
                            .gid = record->gid,
                            .owner = keep_word(use, record->owner),
                            .queue = keep_word(use, record->queue),
                            .gpu_type = keep_word(use, record->gpu_type),
                            .amounts = use_of(record),
                            .open = !record->time_limit,
                            .sized = record->sizes.kind != SIZE_FIXED,
                            .started = USE_UNKNOWN};
}
