/* executors/slurm/usage.c - what jobs that have ended have used, as slurmdbd counts it */
#include "executors/slurm/usage.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/slurm/accounting.h"

static const int64_t hour = 3600000; /* milliseconds */

static bool has_ended(const struct slurm_usage_asked *asked)
{
    return asked->poll->phase == PHASE_SUCCEEDED || asked->poll->phase == PHASE_FAILED;
}

/* Is it to be looked up in this poll? */
static bool is_wanted(const struct slurm_usage_asked *asked)
{
    return has_ended(asked) && asked->records && !asked->job->usage_known;
}

/* Add up what the records of its user say; true when they are as many as slurmctld has, and all over. */
static bool add_records(struct slurm_usage_asked *asked, const struct slurm_records *records)
{
    struct slurm_job *job = asked->job;
    const struct slurm_records found =
        slurm_records_of(records, asked->poll->id, asked->poll->attempt);
    double cpu_time = 0, memory_peak = 0;
    size_t over = 0;
    for (size_t i = 0; i < found.count; i++) {
        const struct slurm_record *record = &found.items[i];
        if (job->known && !text_equal(record->user, job->facts.user))
            continue;
        over += slurm_record_is_over(record->state);
        cpu_time += record->cpu_time;
        memory_peak = record->memory_peak > memory_peak ? record->memory_peak : memory_peak;
    }
    if (over < asked->records)
        return false;
    job->cpu_time = (int64_t)(cpu_time / 1000); /* sacct does not round either */
    job->memory_peak = (int64_t)memory_peak;
    return true;
}

/* Ask about all that are wanted.  False when slurmdbd cannot be asked. */
static bool look_up(struct slurm *slurm, struct arena *arena, struct slurm_usage_asked *asked,
                    size_t count, size_t wanted, struct slurm_records *records)
{
    const char **names = arena_allocate(arena, wanted * sizeof(*names));
    bool differ = slurm_api_differs_by_user(slurm->connection);
    struct slurm_accounting_query query = {.user = "", .names = names, .steps = true};
    struct error error;
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&asked[i]))
            continue;
        int64_t started = asked[i].poll->started ? asked[i].poll->started : clock_now();
        names[query.count++] = asked[i].job->name;
        query.user = differ ? asked[i].user : "";
        if (!query.since || started - hour < query.since)
            query.since = started - hour;
    }
    int answered = slurm_accounting_ask(slurm, arena, &query, records, &error);
    if (answered < 0)
        log_detail("what jobs used is not known: %s", error.text);
    if (answered <= 0)
        slurm->usage_rest = clock_elapsed() + SLURM_USAGE_REST;
    return answered > 0;
}

/* One that slurmdbd does not know the end of is kept back for a while. */
static void settle(struct slurm_usage_asked *asked, bool known)
{
    struct slurm_job *job = asked->job;
    int64_t now = clock_elapsed();
    if (!job->usage_since)
        job->usage_since = now ? now : 1;
    job->usage_known = known || now - job->usage_since >= SLURM_USAGE_PATIENCE;
    if (!job->usage_known)
        asked->poll->phase = PHASE_UNKNOWN;
}

void slurm_usage_add(struct slurm *slurm, struct arena *arena, struct slurm_usage_asked *asked,
                     size_t count)
{
    struct slurm_records records;
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += is_wanted(&asked[i]);
    if (wanted && clock_elapsed() >= slurm->usage_rest &&
        look_up(slurm, arena, asked, count, wanted, &records))
        for (size_t i = 0; i < count; i++)
            if (is_wanted(&asked[i]))
                settle(&asked[i], add_records(&asked[i], &records));
    for (size_t i = 0; i < count; i++) {
        if (!has_ended(&asked[i]) || !asked[i].job->usage_known)
            continue;
        asked[i].poll->cpu_time = asked[i].job->cpu_time;
        asked[i].poll->memory_peak = asked[i].job->memory_peak;
    }
}
