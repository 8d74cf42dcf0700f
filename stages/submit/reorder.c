/* stages/submit/reorder.c - jobs of rendered/ that somebody has put on top, or given another priority
 *
 * What was asked lies in the job's directory (spool/order_request.h).  A job whose priority changes is rendered again,
 * as its manifest may tell that to the scheduler; one that is put on top only gets another record.
 */
#include <string.h>

#include "base/log.h"
#include "spool/order_request.h"
#include "stages/prepare/rerender.h"
#include "stages/submit/inside.h"

/* Read the record, with what was asked.  Returns what order_request_take() does, or -1. */
static int read_asked(struct submitter *submitter, int job, struct job_record *record)
{
    struct error error;
    if (!record_read(job, submitter->arena, record, &error))
        return order_request_take(job, submitter->arena, record);
    log_warn("%s", error.text);
    return -1;
}

/* Write down that the job is on top.  Returns whether it must be rendered again, since its priority is another. */
static bool needs_rendering(struct submitter *submitter, const char *id)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct job_record before, record;
    struct error error;
    bool result = false;
    memcpy(place.id, id, strlen(id) + 1);
    int job = job_open(&submitter->stage.spool, &place);
    if (job < 0)
        return false;
    guard_enter(submitter->guard, id, 0);
    bool readable = !record_read(job, submitter->arena, &before, NULL);
    if (readable && read_asked(submitter, job, &record) > 0) {
        result = before.priority != record.priority ||
                 !text_equal(before.priority_class, record.priority_class);
        if (!result && handover_is_unsettled(job, id) == 0 && record_replace(job, &record, &error))
            log_warn("%s: %s", id, error.text);
    }
    guard_leave(submitter->guard);
    sys.close(job);
    return result;
}

/* Put the job where it belongs by its files. */
static void move_in_queue(struct submitter *submitter, const char *id)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct job_record record;
    struct queue_job queued;
    memcpy(place.id, id, strlen(id) + 1);
    int job = job_open(&submitter->stage.spool, &place);
    if (job < 0)
        return;
    guard_enter(submitter->guard, id, 0);
    if (read_asked(submitter, job, &record) >= 0) {
        if (strcmp(submitter->first.id, id) == 0) {
            submitter->first.priority = record.priority;
        } else if (queue_remove(submitter->queue, id, &queued)) {
            queued.priority = record.priority;
            queued.top = record.top;
            queue_add(submitter->queue, &queued);
        }
        planning_note_job(submitter->planning, NULL);
    }
    guard_leave(submitter->guard);
    sys.close(job);
}

void reorder_flush(struct submitter *submitter)
{
    struct rerender jobs[MOST_REORDERED];
    struct error error;
    size_t count = 0;
    if (!submitter->reordered_count || stage_is_fenced(&submitter->stage))
        return;
    for (size_t i = 0; i < submitter->reordered_count; i++) {
        if (!needs_rendering(submitter, submitter->reordered[i]))
            continue;
        jobs[count] = (struct rerender){.cause = "priority"};
        memcpy(jobs[count++].id, submitter->reordered[i], ID_SIZE);
    }
    arena_reset(submitter->arena);
    if (count && rerender_jobs(&submitter->stage, jobs, count, &error))
        log_warn("%s", error.text);
    for (size_t i = 0; i < submitter->reordered_count; i++)
        move_in_queue(submitter, submitter->reordered[i]);
    submitter->reordered_count = 0;
    arena_reset(submitter->arena);
}

void reorder_note(struct submitter *submitter, const char *id)
{
    if (submitter->reordered_count == MOST_REORDERED)
        reorder_flush(submitter);
    opened_forget(submitter->opened, id);
    memcpy(submitter->reordered[submitter->reordered_count++], id, strlen(id) + 1);
}
