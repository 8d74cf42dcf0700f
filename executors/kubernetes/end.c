/* executors/kubernetes/end.c - cancel jobs, and remove their objects
 *
 * A job is cancelled by setting parallelism to 0: its pods get SIGTERM and the grace period of their
 * template, and no new pods are made, whether it was suspended, queued or running.  It is the Job's controller
 * that deletes the pods: it takes its finalizer from each before, without which one whose node does not answer
 * would stay however it is deleted.  By force, its pods
 * are deleted without a grace period: that is for those whose node does not answer, since a node ends its
 * pods by force itself when their grace is over, and so it is not asked for sooner.  A pod that is deleted so
 * is gone from the API, though its containers may run on where nobody sees them.
 *
 * A single task is cancelled by deleting its pod: a Job with backoffLimitPerIndex 0 gives up the index.
 * Pods of indexes that have not begun cannot be prevented; they are deleted once they exist, because the
 * caller asks again.
 *
 * A job is removed by deleting its owner in the background: the server's garbage collector deletes what it
 * owns, pods included.  The owner is the one that the watch has shown, and is deleted only if it still has that
 * uid; the server is asked for the Jobs of a job while the watch is blind, or where it shows something else.  A job
 * that asked for `debug` is instead ended by a deadline of one second, and deleted by the server when the
 * requested time is over.
 */
#include "base/duration.h"
#include "executors/kubernetes/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/kubernetes/output.h"

/* ---- cancel ---- */

/* Note the longest grace that pods of the job's Jobs have, and some more for a node to do so. */
static void note_grace(struct inquiry *inquiry)
{
    static const int64_t reaction = 5000; /* milliseconds */
    for (size_t i = 0; i < inquiry->job_count; i++) {
        const struct value *spec = value_get(inquiry->jobs[i].object, "spec");
        const struct value *pod = value_get(value_get(spec, "template"), "spec");
        double seconds = value_get_number(pod, "terminationGracePeriodSeconds", 0);
        int64_t grace = seconds > 0 && seconds < INT32_MAX ? (int64_t)(seconds * 1000) : 0;
        if (grace + reaction > inquiry->request->grace)
            inquiry->request->grace = grace + reaction;
    }
}

static void ask_cancel(struct inquiries *inquiries, struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->job_count; i++) {
        struct found_job *found = &inquiry->jobs[i];
        if (inquiry_job_is_finished(found) || inquiry_job_is_cancelled(found) ||
            kubernetes_is_leaving(found->object))
            continue;
        inquiry_ask(inquiries, found, "PATCH",
                    kubernetes_cancel_body(inquiries->arena, found->uid.data));
    }
}

/* Delete the job's pods that `more` selects beside the job's own labels. */
static void ask_delete_pods(struct inquiries *inquiries, struct inquiry *inquiry, struct text more)
{
    struct arena *arena = inquiries->arena;
    const struct job_call *call = inquiry->request;
    struct text selector =
        kubernetes_job_selector(arena, inquiries->kubernetes, call->id, call->attempt);
    inquiry->pods_call = (struct kubernetes_call){
        .method = "DELETE",
        .path = arena_printf(arena, "/api/v1/namespaces/%s/pods%s%s", inquiries->kubernetes->space,
                             selector.data, more.data),
        .body = arena_printf(arena, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"%s}",
                             call->force ? ",\"gracePeriodSeconds\":0" : ""),
        .raw = true};
    inquiry->asked = true;
    inquiry_add_call(inquiries, &inquiry->pods_call);
}

/* ---- single tasks ---- */

/* Do all Jobs give up an index when its pod is deleted?  Otherwise the whole Job fails, or replaces the pod. */
static bool gives_indexes_up(const struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->job_count; i++)
        if (value_get_number(value_get(inquiry->jobs[i].object, "spec"), "backoffLimitPerIndex",
                             -1) != 0)
            return false;
    return true;
}

/* The selector of the pods of these indexes, which follows that of the job; of very many only the first. */
static struct text select_tasks(struct arena *arena, const struct job_call *call)
{
    enum { MOST_ASKED = 200 };
    struct buffer out = {0};
    buffer_add_string(&out, "%2Cbatch.kubernetes.io%2Fjob-completion-index%20in%20(");
    for (size_t i = 0; i < call->task_count && i < MOST_ASKED; i++)
        buffer_printf(&out, "%s%d", i ? "%2C" : "", call->tasks[i]);
    buffer_add_string(&out, ")");
    return arena_take(arena, &out);
}

static void ask_end_tasks(struct inquiries *inquiries, struct inquiry *inquiry)
{
    struct error error;
    if (gives_indexes_up(inquiry)) {
        ask_delete_pods(inquiries, inquiry, select_tasks(inquiries->arena, inquiry->request));
        return;
    }
    error_set(&error,
              "its Job has no backoffLimitPerIndex: 0, without which the end of one pod is not "
              "that of one task");
    inquiry_fail(inquiry, &error, 0);
}

/* ---- all ---- */

void kubernetes_cancel(struct executor *executor, struct job_call **batch, size_t count)
{
    struct inquiries inquiries;
    inquiry_open(&inquiries, executor, batch, count);
    for (size_t i = 0; i < count; i++) {
        batch[i]->grace = 0;
        note_grace(&inquiries.items[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (batch[i]->result == 0 && batch[i]->task_count)
            ask_end_tasks(&inquiries, &inquiries.items[i]);
        else if (batch[i]->result == 0)
            ask_cancel(&inquiries, &inquiries.items[i]);
    inquiry_run(&inquiries);
    for (size_t i = 0; i < count; i++)
        inquiry_judge(&inquiries.items[i]);
    /* Delete pods only once their Jobs make no new ones: before that a deleted pod is a failed task. */
    for (size_t i = 0; i < count; i++)
        if (batch[i]->force && batch[i]->result == 0 && !batch[i]->task_count)
            ask_delete_pods(&inquiries, &inquiries.items[i], TEXT(""));
    inquiry_run(&inquiries);
    for (size_t i = 0; i < count; i++) {
        struct inquiry *inquiry = &inquiries.items[i];
        if (inquiry->asked && inquiry->pods_call.outcome != KUBERNETES_DONE &&
            inquiry->pods_call.outcome != KUBERNETES_MISSING)
            inquiry_fail(inquiry, &inquiry->pods_call.error, inquiry->pods_call.retry_after);
        if (inquiry->asked)
            kubernetes_api_call_free(&inquiry->pods_call);
    }
    inquiry_close(&inquiries);
}

/* ---- remove ---- */

/* Whether one of the job's other Jobs owns it. */
static bool is_dependent(const struct inquiry *inquiry, const struct found_job *found)
{
    const struct value *owners = value_get(value_get(found->object, "metadata"), "ownerReferences");
    for (size_t i = 0; i < inquiry->job_count; i++)
        if (value_find(owners, "uid", inquiry->jobs[i].uid))
            return true;
    return false;
}

static int64_t debug_time(const struct found_job *found)
{
    struct text text = kubernetes_annotation_of(found->object, KUBERNETES_ANNOTATION_DEBUG);
    int64_t milliseconds;
    if (!text.length || duration_parse(text, &milliseconds))
        return 0;
    return milliseconds / 1000;
}

/* Have the server end a Job at once and, of the owner, delete it with all that it owns `seconds` later. */
static void ask_linger(struct inquiries *inquiries, struct found_job *found, bool owner,
                       int64_t seconds)
{
    struct buffer specification = {0};
    if (!inquiry_job_is_finished(found))
        buffer_add_string(&specification, "\"activeDeadlineSeconds\":1");
    if (owner)
        buffer_printf(&specification, "%s\"ttlSecondsAfterFinished\":%lld",
                      specification.length ? "," : "", (long long)seconds);
    if (specification.length)
        inquiry_ask(inquiries, found, "PATCH",
                    arena_printf(inquiries->arena, "{\"metadata\":{\"uid\":\"%s\"},\"spec\":{%s}}",
                                 found->uid.data, specification.data));
    buffer_free(&specification);
}

/* Can the Job be kept for debugging?  One that never started has nothing to look at, and its deadline would
 * never pass. */
static bool can_linger(const struct found_job *owner)
{
    return inquiry_job_is_finished(owner) ||
           value_get_text(value_get(owner->object, "status"), "startTime").length > 0;
}

static void ask_remove(struct inquiries *inquiries, struct inquiry *inquiry)
{
    int64_t debug = 0;
    for (size_t i = 0; i < inquiry->job_count; i++)
        if (!is_dependent(inquiry, &inquiry->jobs[i]) && can_linger(&inquiry->jobs[i]))
            debug = debug_time(&inquiry->jobs[i]);
    for (size_t i = 0; i < inquiry->job_count; i++) {
        struct found_job *found = &inquiry->jobs[i];
        bool owner = !is_dependent(inquiry, found);
        if (kubernetes_is_leaving(found->object))
            continue;
        if (debug > 0)
            ask_linger(inquiries, found, owner, debug);
        else if (owner)
            inquiry_ask(inquiries, found, "DELETE",
                        kubernetes_delete_body(inquiries->arena, found->uid.data));
    }
}

void kubernetes_remove(struct executor *executor, struct job_call **batch, size_t count)
{
    struct inquiries inquiries;
    inquiry_open_to_remove(&inquiries, executor, batch, count);
    for (size_t i = 0; i < count; i++)
        if (batch[i]->result == 0)
            ask_remove(&inquiries, &inquiries.items[i]);
    inquiry_run(&inquiries);
    for (size_t i = 0; i < count; i++) {
        inquiry_judge(&inquiries.items[i]);
        if (batch[i]->result == 0)
            kubernetes_output_forget(inquiries.kubernetes, batch[i]->id, batch[i]->attempt);
    }
    inquiry_close(&inquiries);
}
