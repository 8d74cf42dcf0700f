/* executors/kubernetes/resize.c - giving a running job another size
 *
 * Tasks: an elastic Indexed Job.  parallelism and completions change together, in one patch, which
 * servers take as of 1.27 (KEP-3715; stable in 1.31) of Jobs where both are the same.  The Job
 * makes pods for the indexes that are new, or ends those of the highest.  With the number of tasks
 * changes how many of them may fail: maxFailedIndexes, which may not be more than completions, and
 * what dlspool/complete says.  The patch holds the version that was looked at, so that a Job that
 * was cancelled meanwhile stays so.  Only Jobs whose template says `dlspool/elastic: "true"`: their
 * programs tolerate that tasks come and go.  Kueue suspends a Job that changes so, and its pods end,
 * unless it is one of its elastic ones.
 *
 * CPUs: resize_pod.c.
 *
 * Nothing is remembered here: what a job has is read from its objects each time.
 */
#include "executors/kubernetes/resize.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

void kubernetes_resize_decide(struct resize_change *change, enum resize_outcome outcome,
                              const char *sentence)
{
    change->job->outcome = outcome;
    change->decided = true;
    if (outcome == RESIZE_DONE)
        change->job->error.text[0] = '\0';
    else
        error_set(&change->job->error, "%s", sentence);
}

/* ---- what can be resized ---- */

static bool is_elastic(const struct value *object)
{
    const struct value *spec = value_get(object, "spec");
    double completions = value_get_number(spec, "completions", 0);
    return text_is(kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_ELASTIC), "true") &&
           text_is(value_get_text(spec, "completionMode"), "Indexed") && completions >= 1 &&
           value_get_number(spec, "parallelism", 1) == completions;
}

static bool is_kueues(const struct value *object)
{
    return kubernetes_label_of(object, KUBERNETES_LABEL_QUEUE).length &&
           !text_is(kubernetes_annotation_of(object, "kueue.x-k8s.io/elastic-job"), "true");
}

bool kubernetes_resize_is_possible(struct executor *executor, struct text manifest,
                                   enum size_kind kind)
{
    struct arena *arena = arena_new();
    struct error error;
    const struct kubernetes_manifest *read = kubernetes_manifest_read(arena, manifest, &error);
    const struct value *owner = read ? read->objects[0].tree : NULL;
    bool can = false;
    for (size_t i = 1; read && i < read->count; i++)
        owner = read->objects[i].kind->is_job ? NULL : owner;
    if (owner && kind == SIZE_TASKS)
        can = is_elastic(owner) && !is_kueues(owner);
    else if (owner && kind == SIZE_CPUS)
        can = kubernetes_resize_is_one_pod(owner) &&
              kubernetes_resize_pods_served(kubernetes_of(executor));
    arena_free(arena);
    return can;
}

/* ---- what a server's answer to a patch means ---- */

static void judge_patch(struct resize_change *change)
{
    switch (change->patch.outcome) {
    case KUBERNETES_DONE:
        if (change->after == RESIZE_DONE)
            kubernetes_resize_decide(change, RESIZE_DONE, NULL);
        else if (!change->decided)
            kubernetes_resize_decide(change, change->after,
                                     "its node has been asked, and has not said yet that it has "
                                     "changed the container's CPUs");
        break;
    case KUBERNETES_NO_ROOM:
        kubernetes_resize_decide(change, RESIZE_NO_ROOM, change->patch.error.text);
        break;
    case KUBERNETES_REFUSED:
        kubernetes_resize_decide(change, RESIZE_NOT_POSSIBLE, change->patch.error.text);
        break;
    default: /* another has changed it meanwhile, or it is gone, or there was no answer */
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE, change->patch.error.text);
    }
}

void kubernetes_resize_patch(struct inquiries *inquiries, struct resize_change *change,
                             struct text path, const char *type, struct text body,
                             enum resize_outcome after)
{
    change->patch = (struct kubernetes_call){
        .method = "PATCH", .path = path, .body = body, .content_type = type, .raw = true};
    change->patched = true;
    change->after = after;
    inquiry_add_call(inquiries, &change->patch);
}

static void run_patches(struct inquiries *inquiries, struct resize_change *changes, size_t count)
{
    inquiry_run(inquiries);
    for (size_t i = 0; i < count; i++) {
        if (!changes[i].patched)
            continue;
        judge_patch(&changes[i]);
        kubernetes_api_call_free(&changes[i].patch);
    }
}

/* ---- tasks ---- */

/* The rule of completion that tolerates `more` failures of the Job's role; data NULL: no rule that would
 * change. */
static struct text shift_rule(struct arena *arena, const struct value *object, int64_t more)
{
    struct text written = kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_COMPLETE);
    struct text role = kubernetes_label_of(object, KUBERNETES_LABEL_ROLE), none = {NULL, 0};
    struct error error;
    struct value *rule =
        json_read(arena, written, "dlspool/complete", &yaml_trusted_limits, &error);
    if (!written.length || !role.length || !rule)
        return none;
    struct value *own = value_get(rule, arena_text(arena, role.data, role.length).data);
    double failed = value_get_number(own, "failed", 0) + (double)more;
    if (value_get_number(own, "failed", 0) < 1)
        return none;
    value_set(arena, own, TEXT("failed"), value_number(arena, failed < 1 ? 1 : failed));
    return json_text(arena, rule);
}

static void put_number(struct arena *arena, struct value *object, const char *name, double number)
{
    value_put(arena, object, name, value_number(arena, number));
}

/* The patch that gives a Job another number of tasks.  It names the version that was read: a Job
 * that has changed since, because it was cancelled, is not patched. */
static struct text tasks_body(struct arena *arena, const struct found_job *found, int64_t size)
{
    const struct value *metadata = value_get(found->object, "metadata");
    const struct value *spec = value_get(found->object, "spec");
    int64_t more = size - (int64_t)value_get_number(spec, "completions", 0);
    struct value *body = value_object(arena), *seen = value_object(arena);
    struct value *request = value_object(arena), *annotations = value_object(arena);
    struct text rule = shift_rule(arena, found->object, more);
    value_put(arena, seen, "uid", value_text(arena, found->uid));
    value_put(arena, seen, "resourceVersion",
              value_text(arena, value_get_text(metadata, "resourceVersion")));
    if (rule.data) {
        value_put(arena, annotations, KUBERNETES_ANNOTATION_COMPLETE, value_text(arena, rule));
        value_put(arena, seen, "annotations", annotations);
    }
    put_number(arena, request, "parallelism", (double)size);
    put_number(arena, request, "completions", (double)size);
    if (value_get(spec, "maxFailedIndexes")) {
        double most = value_get_number(spec, "maxFailedIndexes", 0) + (double)more;
        put_number(arena, request, "maxFailedIndexes", most < 0 ? 0 : most);
    }
    value_put(arena, body, "metadata", seen);
    value_put(arena, body, "spec", request);
    return json_text(arena, body);
}

static void resize_tasks(struct inquiries *inquiries, struct resize_change *change)
{
    const struct found_job *found = &change->inquiry->jobs[0];
    struct arena *arena = inquiries->arena;
    if (!is_elastic(found->object))
        kubernetes_resize_decide(
            change, RESIZE_NOT_POSSIBLE,
            "the number of its tasks is fixed: its Job is no elastic one (dlspool/elastic, "
            "completionMode Indexed, parallelism and completions the same)");
    else if (is_kueues(found->object))
        kubernetes_resize_decide(
            change, RESIZE_NOT_POSSIBLE,
            "Kueue would suspend the Job: only its elastic Jobs (kueue.x-k8s.io/elastic-job) can "
            "have another number of tasks while they run");
    else if ((int64_t)value_get_number(value_get(found->object, "spec"), "completions", 0) ==
             change->job->size)
        kubernetes_resize_decide(change, RESIZE_DONE, NULL);
    else
        kubernetes_resize_patch(
            inquiries, change,
            kubernetes_manifest_path(arena, &kubernetes_kinds[0], inquiries->kubernetes->space,
                                     found->name.data),
            KUBERNETES_MERGE_PATCH, tasks_body(arena, found, change->job->size), RESIZE_DONE);
}

/* ---- a batch ---- */

/* Decide by the Jobs that were found, or send the first request. */
static void decide_or_ask(struct inquiries *inquiries, struct resize_change *change)
{
    const struct inquiry *inquiry = change->inquiry;
    if (change->request.result)
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE, change->request.error.text);
    else if (change->job->kind != SIZE_TASKS && change->job->kind != SIZE_CPUS)
        kubernetes_resize_decide(change, RESIZE_NOT_POSSIBLE,
                                 "the GPUs of a pod that runs cannot be changed");
    else if (inquiry->job_count == 0)
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE,
                                 "the cluster has no Job of this job at the moment");
    else if (inquiry->job_count > 1)
        kubernetes_resize_decide(change, RESIZE_NOT_POSSIBLE, "the job has several roles");
    else if (inquiry_job_is_finished(&inquiry->jobs[0]) ||
             kubernetes_is_leaving(inquiry->jobs[0].object) ||
             kubernetes_annotation_of(inquiry->jobs[0].object, KUBERNETES_ANNOTATION_CANCELLED)
                 .data)
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE, "the job is at its end");
    else if (change->job->kind == SIZE_TASKS)
        resize_tasks(inquiries, change);
    else
        kubernetes_resize_ask_pods(inquiries, change);
}

void kubernetes_resize(struct executor *executor, struct job_resize **batch, size_t count)
{
    struct resize_change *changes = memory_allocate((count + 1) * sizeof(*changes));
    struct job_call **requests = memory_allocate((count + 1) * sizeof(struct job_call *));
    struct inquiries inquiries;
    for (size_t i = 0; i < count; i++) {
        changes[i].job = batch[i];
        changes[i].request = (struct job_call){.id = batch[i]->id, .attempt = batch[i]->attempt};
        requests[i] = &changes[i].request;
    }
    inquiry_open(&inquiries, executor, requests, count);
    for (size_t i = 0; i < count; i++) {
        changes[i].inquiry = &inquiries.items[i];
        decide_or_ask(&inquiries, &changes[i]);
    }
    run_patches(&inquiries, changes, count);
    for (size_t i = 0; i < count; i++) {
        changes[i].patched = false;
        if (changes[i].inquiry->asked && !changes[i].decided)
            kubernetes_resize_take_pods(&inquiries, &changes[i]);
        if (changes[i].inquiry->asked)
            kubernetes_api_call_free(&changes[i].inquiry->pods_call);
    }
    run_patches(&inquiries, changes, count);
    inquiry_close(&inquiries);
    free(requests);
    free(changes);
}
