/* stages/submit/in_order.c - fills a batch for an executor without a queue: which job is first, and
 * which pass
 *
 * The first job that does not fit keeps its place until it starts.  Later jobs pass it only if they
 * use nothing that it waits for (stages/planning/backfill.h), such as jobs for another type of GPU;
 * jobs of higher priority go before it, and take its place when they do not fit either.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "stages/submit/inside.h"

enum { MOST_PASSED = 1024 }; /* jobs behind the first that are looked at in one round */

struct taking {
    struct submitter *submitter;
    bool blocked;                         /* somebody is first, and does not fit */
    struct queue_job passed[MOST_PASSED]; /* those behind it that stay */
    size_t passed_count;
};

static void let_stay(struct taking *taking, const struct queue_job *job)
{
    taking->passed[taking->passed_count++] = *job;
}

/* Take the next job: those of higher priority, then the first, then all others. */
static bool take_next(struct taking *taking, struct queue_job *job)
{
    struct submitter *submitter = taking->submitter;
    const struct queue_job *first = &submitter->first;
    if (!first->id[0] || taking->blocked || queue_passes(submitter->queue, first))
        return queue_take(submitter->queue, job);
    *job = *first;
    submitter->first.id[0] = '\0';
    return true;
}

/* The job is the first now, and keeps its place.  The one that was first before stays the first of its
 * priority. */
static void keep_place(struct taking *taking, const struct queue_job *job,
                       const struct error *reason)
{
    struct submitter *submitter = taking->submitter;
    if (submitter->first.id[0]) {
        submitter->first.first = true;
        let_stay(taking, &submitter->first);
    }
    submitter->first = *job;
    submitter->reason = *reason;
    taking->blocked = true;
    backfill_reserve(submitter->backfill, &job->demand);
}

/* Take what must be free from the job's manifest. */
static void look_closely(struct submitter *submitter, struct queue_job *job, struct item *item)
{
    struct demand demand = {0};
    if (submitter->executor->operations->needs(submitter->executor, buffer_text(&item->manifest),
                                               &demand) == 0)
        job->demand =
            resources_demand(demand.cpus, demand.memory, demand.gpus, item->record.gpu_type);
}

/* Does the opened job start now?  Otherwise it stays. */
static bool start_or_pass(struct taking *taking, struct queue_job *job, struct item *item)
{
    struct backfill *backfill = taking->submitter->backfill;
    struct error reason;
    if (item->fate != ITEM_SUBMIT || job->unsettled)
        return true;
    look_closely(taking->submitter, job, item);
    if (!backfill_fits_ever(backfill, &job->demand))
        return true; /* The executor will refuse it. */
    if (taking->blocked) {
        if (backfill_pass(backfill, &item->record, &job->demand))
            return true;
        let_stay(taking, job);
        return false;
    }
    if (backfill_take(backfill, &job->demand, &reason) == 0)
        return true;
    keep_place(taking, job, &reason);
    return false;
}

/* List the types of GPU that waiting jobs name, the first job's first. */
static struct text list_wanted(const struct taking *taking, struct arena *arena)
{
    const struct queue_job *first = &taking->submitter->first;
    struct buffer list = {0};
    if (first->id[0] && first->demand.gpus)
        resources_add_gpu_type(&list, first->demand.gpu_type);
    for (size_t i = 0; i < taking->passed_count; i++)
        if (taking->passed[i].demand.gpus)
            resources_add_gpu_type(&list, taking->passed[i].demand.gpu_type);
    struct text result = arena_text(arena, list.data ? list.data : "", list.length);
    buffer_free(&list);
    return result;
}

size_t in_order_take(struct submitter *submitter)
{
    struct taking *taking = memory_allocate(sizeof(*taking));
    struct queue_job job;
    struct error error;
    size_t count = 0;
    taking->submitter = submitter;
    if (backfill_refresh(submitter->backfill, &error))
        log_detail("the executor cannot tell what is free: %s", error.text);
    while (count < submit_window(submitter) && taking->passed_count < MOST_PASSED - 1 &&
           !admission_is_shut(submitter) &&
           !(taking->blocked && backfill_is_shut(submitter->backfill)) && take_next(taking, &job)) {
        struct item *item = &submitter->items[count];
        if (taking->blocked && !job.unsettled &&
            backfill_fits_ever(submitter->backfill, &job.demand) &&
            !backfill_may_pass(submitter->backfill, &job.demand)) {
            let_stay(taking, &job);
            continue;
        }
        if (!handover_open_job(submitter, item, job.id) || !admission_grant(submitter, item))
            continue;
        if (start_or_pass(taking, &job, item)) {
            queue_end_waiting(submitter->queue, job.owner);
            handover_prepare(submitter, item);
            count++;
        } else {
            admission_withdraw(submitter, item);
            handover_close(item);
        }
        guard_leave(submitter->guard);
    }
    struct text wanted = list_wanted(taking, submitter->arena);
    for (size_t i = 0; i < count; i++)
        submitter->items[i].submission.gpus_wanted = wanted;
    for (size_t i = 0; i < taking->passed_count; i++)
        queue_return(submitter->queue, &taking->passed[i]);
    free(taking);
    return count;
}
