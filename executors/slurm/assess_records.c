/* executors/slurm/assess_records.c - which of Slurm's records is the job, and what becomes of the others */
#include "base/clock.h"
#include "executors/slurm/assess_parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "executors/slurm/assess.h"
#include "executors/slurm/batch_log.h"

static bool is_part(const struct slurm_record *record)
{
    return record->het_number && record->het_offset > 0;
}

static bool is_begun(const struct slurm_job *job, const struct slurm_record *record)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)record->number);
    return job->begun_as[0] && strcmp(job->begun_as, number) == 0;
}

/* Rank records of the same token: the job that runs the program, then one that was released, and may still do so.
 * (Elements of one array end one after the other.) */
static int rank_record(const struct slurm_job *job, const struct slurm_record *record)
{
    if (is_begun(job, record))
        return 4;
    if (!record->released)
        return 0;
    if (record->array_number || !slurm_record_is_over(record->state))
        return record->state == SLURM_STATE_CANCELLED ? 1 : 3;
    return record->state == SLURM_STATE_CANCELLED ? 1 : 2;
}

const struct slurm_record *slurm_assess_records_choose(const struct slurm_job *job,
                                                       const struct slurm_records *records)
{
    const struct slurm_record *best = NULL;
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (!is_part(record) && (!best || rank_record(job, record) > rank_record(job, best)))
            best = record;
    }
    return best;
}

const struct slurm_record *slurm_assess_records_read_log(const struct slurm_assessment *assessment,
                                                         const struct slurm_record *record)
{
    if (!record || record->state != SLURM_STATE_FAILED || record->exit_code != 128 + SIGKILL ||
        !slurm_batch_log_tells_memory(assessment->slurm, assessment->job, record->number))
        return record;
    struct slurm_record *starved = arena_allocate(assessment->arena, sizeof(*starved));
    *starved = *record;
    starved->state = SLURM_STATE_OUT_OF_MEMORY;
    return starved;
}

void slurm_assess_records_cancel(struct slurm_assessment *assessment,
                                 const struct slurm_record *record, const char *why)
{
    struct slurm_need *need = assessment->need;
    need->end = arena_grow(assessment->arena, need->end, need->end_count, &assessment->end_capacity,
                           sizeof(*need->end));
    need->end[need->end_count++] = (struct slurm_surplus){.record = record, .why = why};
}

/* What becomes of another job of Slurm's under the token. */
static void end_other(struct slurm_assessment *assessment, const struct slurm_record *record,
                      const struct slurm_record *chosen)
{
    bool waits = record->state == SLURM_STATE_WAITING, begun = is_begun(assessment->job, chosen);
    struct slurm_need *need = assessment->need;
    if (waits && !record->released) {
        slurm_assess_records_cancel(assessment, record, "was submitted twice and is held");
    } else if (waits && (chosen->released || begun)) {
        slurm_assess_records_cancel(assessment, record, "was submitted twice");
        need->end[need->end_count - 1].may_begin = true;
    } else if (record->state == SLURM_STATE_RUNNING && begun && !chosen->array_number &&
               chosen->state == SLURM_STATE_RUNNING) {
        slurm_assess_records_cancel(assessment, record, "was submitted twice and only waits");
    }
}

void slurm_assess_records_end_others(struct slurm_assessment *assessment,
                                     const struct slurm_record *chosen)
{
    const struct slurm_records *records = assessment->records;
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (slurm_record_head(record) == slurm_record_head(chosen) || is_part(record) ||
            slurm_record_is_over(record->state))
            continue;
        if (record->array_number && record->array_index >= 0)
            continue; /* it is cancelled with its array's own record, or runs */
        end_other(assessment, record, chosen);
    }
}

void slurm_assess_records_take_times(struct job_poll *poll, const struct slurm_record *record,
                                     bool over)
{
    if (record->state != SLURM_STATE_WAITING && record->started &&
        (!poll->started || record->started < poll->started))
        poll->started = record->started;
    if (record->state != SLURM_STATE_WAITING && record->nodes.length && !poll->node[0])
        snprintf(poll->node, sizeof(poll->node), "%.*s", (int)record->nodes.length,
                 record->nodes.data);
    if (over && record->ended > poll->ended)
        poll->ended = record->ended;
    if (record->state == SLURM_STATE_WAITING || !record->started)
        return;
    int nodes = slurm_record_count_nodes(record->nodes);
    int64_t end = over ? record->ended : clock_now();
    poll->nodes = nodes > poll->nodes ? nodes : poll->nodes;
    poll->task_time += end > record->started ? end - record->started : 0;
}
