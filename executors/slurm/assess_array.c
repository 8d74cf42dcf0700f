/* executors/slurm/assess_array.c - an array's state, from all its elements
 *
 * An element that has begun has a record of its own; one record has all that have not.  The end of an element that
 * its files do not tell is written down, since Slurm forgets it.
 */
#include "executors/slurm/assess_parts.h"

#include <stdio.h>
#include <string.h>

#include "executors/slurm/assess.h"
#include "executors/slurm/files.h"
#include "executors/slurm/reason.h"

struct elements {
    const struct slurm_record **of;  /* each element's own record, or NULL */
    const struct slurm_record *rest; /* of those that have not begun, or NULL */
    bool rest_is_cut;                /* a client library of Slurm's has cut the list of those */
    bool running, begun;             /* at least one element does, or has */
    /* what runs has ended by its files, and Slurm frees its nodes, or believes that it runs */
    bool freeing;
};

static void find_elements(struct slurm_assessment *assessment, struct elements *elements)
{
    const struct slurm_records *records = assessment->records;
    const struct slurm_record *chosen = slurm_assess_records_choose(assessment->job, records);
    size_t count = assessment->job->task_count;
    *elements = (struct elements){
        .of = arena_allocate(assessment->arena, (count + 1) * sizeof(*elements->of))};
    for (size_t i = 0; i < records->count; i++) {
        const struct slurm_record *record = &records->items[i];
        if (chosen && slurm_record_head(record) != slurm_record_head(chosen))
            continue;
        slurm_assess_records_take_times(assessment->poll, record,
                                        slurm_record_is_over(record->state));
        if (record->array_index < 0)
            elements->rest = record;
        else if ((size_t)record->array_index < count)
            elements->of[record->array_index] = record;
    }
    elements->rest_is_cut =
        elements->rest && text_contains(elements->rest->array_rest, TEXT("..."));
    if (chosen)
        slurm_assess_records_end_others(assessment, chosen);
}

enum { EXIT_KILLED = 128 + 15 }; /* of an element that was killed and has no exit code */

/* An element has ended at Slurm, and no file says how.  Write it down, because Slurm forgets it. */
static int note_silent(struct slurm_assessment *assessment, struct slurm_task *task,
                       const struct slurm_record *record)
{
    struct error error;
    char words[256];
    int exit_code = 0;
    const char *reason = "Exited";
    record = slurm_assess_records_read_log(assessment, record);
    if (executor_task_is_killed(assessment->poll, task->index))
        reason = "Killed", exit_code = EXIT_KILLED;
    else if (record && record->state != SLURM_STATE_COMPLETED)
        reason = slurm_reason_ended(record, task->begun, &exit_code, words, sizeof(words));
    else if (record)
        exit_code = record->exit_code;
    else
        reason = "Vanished", exit_code = 255;
    return slurm_job_note_element(assessment->slurm, assessment->job, task, exit_code, reason,
                                  &error);
}

/* An element that has a record of its own and waits was put back into Slurm's queue: its node was lost or
 * could not launch it, or slurmctld restarted with an older state and has it held, as the node runs it already.
 * As with other jobs (assess_requeued() in assess.c) its files say whether it has ended or still runs, in which
 * case its record must not run; an element that never began is released again, waits, or fails.  -1 when its end
 * cannot be written down. */
static int settle_waiting(struct slurm_assessment *assessment, struct elements *elements,
                          struct slurm_task *task, const struct slurm_record *record)
{
    struct job_poll *poll = assessment->poll;
    struct error error;
    char words[sizeof(poll->detail)];
    const char *reason = NULL;
    bool failed = slurm_reason_is_launch(record);
    slurm_reason_waiting(record, words, sizeof(words));
    if (task->ended) {
        slurm_assess_records_cancel(assessment, record,
                                    "was put back into Slurm's queue, and has ended already");
        return 0;
    }
    if (task->begun && !slurm_manifest_may_requeue(assessment->job->manifest)) {
        if (!slurm_files_heartbeat(assessment->slurm, assessment->job, task))
            reason = "NodeLost";
        else
            snprintf(words, sizeof(words),
                     "Slurm has put job %lld (element %d) back into its queue, and it still runs",
                     (long long)record->number, record->array_index);
    } else if (failed ? record->restarts <= SLURM_LAUNCHES_MOST
                      : record->held && !record->released) {
        assessment->need->release = record;
    } else if (failed) {
        reason = "LaunchFailed";
    } else if (slurm_reason_waits_for_ever(record)) {
        reason = "NeverFits";
    }
    if (!poll->detail[0] && !reason)
        memcpy(poll->detail, words, sizeof(words));
    if (!reason) {
        elements->running = true;
        elements->freeing = false;
        return 0;
    }
    if (slurm_job_note_element(assessment->slurm, assessment->job, task, 255, reason, &error))
        return -1;
    slurm_assess_records_cancel(assessment, record, "has failed, and waits in Slurm's queue");
    return 0;
}

/* Find out which elements run, and write down the end of those that Slurm has ended or will never run and whose
 * files do not tell it.  -1 when that cannot be written. */
static int settle_elements(struct slurm_assessment *assessment, struct elements *elements)
{
    struct slurm_job *job = assessment->job;
    elements->freeing = true;
    for (size_t i = 0; i < job->task_count; i++) {
        struct slurm_task *task = &job->tasks[i];
        const struct slurm_record *record = elements->of[i];
        bool over = record && slurm_record_is_over(record->state);
        bool rests =
            !record && elements->rest && !slurm_record_is_over(elements->rest->state) &&
            (elements->rest_is_cut || slurm_record_array_has(elements->rest->array_rest, (int)i));
        elements->begun |=
            task->ended || task->begun || (record && record->state != SLURM_STATE_WAITING);
        if (record && record->state == SLURM_STATE_WAITING) {
            if (settle_waiting(assessment, elements, task, record))
                return -1;
            continue;
        }
        if (record && !over) {
            elements->running = true;
            elements->freeing &= task->ended;
            continue;
        }
        if (task->ended || rests)
            continue;
        /* It was cancelled while it waited: Slurm keeps one record for all such elements. */
        const struct slurm_record *of = record ? record : elements->rest;
        if (note_silent(assessment, task, of))
            return -1;
    }
    return 0;
}

/* An array is over when no element runs, and none waits that could run. */
const struct slurm_record *slurm_assess_array(struct slurm_assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    struct elements elements;
    find_elements(assessment, &elements);
    if (settle_elements(assessment, &elements)) {
        poll->phase = PHASE_UNKNOWN;
        return NULL;
    }
    slurm_assess_tasks_fill(assessment);
    bool waits = elements.rest && !slurm_record_is_over(elements.rest->state);
    bool lingering =
        slurm_assess_tasks_linger(assessment->job, elements.running && elements.freeing && !waits);
    assessment->over = (!elements.running || lingering) && !waits;
    if (!assessment->over)
        poll->ended = 0;
    if (assessment->job->decided) {
        slurm_assess_tasks_repeat(assessment);
        return NULL;
    }
    if (!assessment->over && !elements.begun && elements.rest) {
        return elements.rest;
    }
    if (waits && elements.rest && !elements.rest->released && elements.rest->held)
        assessment->need->release = elements.rest;
    if (!assessment->over) {
        slurm_assess_tasks_run(assessment);
        return NULL;
    }
    struct completion_outcome outcome = slurm_assess_tasks_outcome(assessment);
    assessment->need->decide = lingering;
    poll->phase = PHASE_SUCCEEDED;
    if (outcome.state == COMPLETION_FAILED && outcome.decider)
        slurm_assess_tasks_fail_by(poll, outcome.decider);
    return NULL;
}
