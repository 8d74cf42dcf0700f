/* stages/submit/admission.c - whether a job may start under the rows of limits.rows, or waits
 *
 * What is at the executor is counted from submitted/ (stages/shared/use.h), before each batch; a job counts from when
 * it is admitted.  What the executor may have already is admitted in any case: it runs, whatever the rows say.
 */
#include "base/log.h"
#include "stages/submit/inside.h"

/* Does any row limit what runs? */
static bool is_needed(const struct job_limits *limits)
{
    for (size_t i = 0; i < limits->row_count; i++) {
        const struct limit_row *row = &limits->rows[i];
        if (row->running >= 0 || row->cpus >= 0 || row->memory >= 0 || row->gpus >= 0)
            return true;
    }
    return false;
}

void admission_open(struct submitter *submitter)
{
    const struct job_limits *limits = &submitter->stage.settings.limits;
    if (!is_needed(limits))
        return;
    submitter->use =
        use_new(&submitter->stage.spool, limits->rows, limits->row_count, 1u << STATE_SUBMITTED);
    submitter->parked = parked_new();
}

void admission_close(struct submitter *submitter)
{
    use_free(submitter->use);
    parked_free(submitter->parked);
}

static void stop_explaining(void *context, const char *id)
{
    struct submitter *submitter = context;
    waits_retract(submitter->waits, id);
}

int admission_begin(struct submitter *submitter)
{
    struct error error;
    submitter->newly_parked = 0;
    if (submitter->is_paused)
        queue_ripen(submitter->queue);
    if (!submitter->use)
        return 0;
    if (use_look(submitter->use, &error)) {
        log_warn("%s; nothing is submitted until this works", error.text);
        return -1;
    }
    parked_wake(submitter->parked, submitter->use, submitter->queue, stop_explaining, submitter);
    return 0;
}

bool admission_is_parked(const struct submitter *submitter, const char *id)
{
    return submitter->parked && parked_has(submitter->parked, id);
}

bool admission_grant(struct submitter *submitter, struct item *item)
{
    struct use_over over;
    struct error error, reason;
    if (!submitter->use || item->fate != ITEM_SUBMIT)
        return true;
    if (use_has(submitter->use, item->place.id) ||
        !use_exceeds_running(submitter->use, &item->record, &over) ||
        handover_is_unsettled(item->job)) {
        use_add(submitter->use, item->place.id, &item->record, USE_RUNNING, true);
        return true;
    }
    use_explain(&over, &item->record, USE_RUNNING, &reason);
    if (!stage_is_fenced(&submitter->stage) &&
        waits_explain(item->job, WAITING_LIMIT, reason.text, &error))
        log_warn("%s: %s", item->place.id, error.text);
    const struct queue_job job = submit_queue_job(item);
    parked_add(submitter->parked, &over, &job);
    submitter->newly_parked++;
    handover_close(item);
    guard_leave(submitter->guard);
    return false;
}

void admission_withdraw(struct submitter *submitter, const struct item *item)
{
    if (submitter->use)
        use_drop(submitter->use, item->place.id);
}

void admission_end(struct submitter *submitter, const struct item *item)
{
    if (!submitter->use || item->fate == ITEM_KEEP)
        return;
    if (item->fate == ITEM_SUBMIT)
        use_settle(submitter->use, item->place.id);
    else
        use_drop(submitter->use, item->place.id);
}

void admission_look_for_pause(struct submitter *submitter, bool seen)
{
    bool was = submitter->is_paused;
    if (!seen && !was)
        return;
    submitter->is_paused = pause_read(&submitter->stage.spool, &submitter->pause);
    if (was != submitter->is_paused)
        log_say("%s", submitter->is_paused ? "the spool is paused: nothing is submitted"
                                           : "the spool goes on");
}

bool admission_is_shut(const struct submitter *submitter)
{
    const struct queue_job *first = queue_first(submitter->queue);
    if (submitter->is_paused && !(first && first->unsettled))
        return true;
    return submitter->newly_parked >= submitter->item_count;
}
