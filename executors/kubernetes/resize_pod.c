/* executors/kubernetes/resize_pod.c - giving a running pod more or fewer CPUs
 *
 * By the pod's subresource `resize` (KEP-1287; served and on by default as of 1.33, stable
 * in 1.35), requests and limits alike, so that the pod's quality of service does not change.  The
 * node acts some seconds later, and reports in the pod's status that it has resized the pod, cannot
 * now (Deferred) or never can (Infeasible).  Until then the answer is RESIZE_UNAVAILABLE, and the
 * caller asks again.  A request that the node defers or refuses is reverted, because nobody would
 * notice when it is granted later.
 *
 * Known weakness: a node whose kubelet is older than its server never reports anything; the caller
 * gives up in the end, and the request stays in the pod's spec, without effect.
 */
#include "executors/kubernetes/resize.h"

#include <stdio.h>

#include "base/quantity.h"
#include "executors/kubernetes/condition.h"

enum { RESIZE_MINOR = 33 }; /* the first version whose pods can be resized without more ado */

static const char pending_condition[] = "PodResizePending";
static const char strategic_patch[] = "application/strategic-merge-patch+json";

/* The task's container: the one called main, or the only one. */
static const struct value *main_container(const struct value *containers)
{
    if (!containers || containers->kind != VALUE_LIST)
        return NULL;
    for (size_t i = 0; i < containers->list.count; i++)
        if (text_is(value_get_text(containers->list.items[i], "name"), KUBERNETES_MAIN_CONTAINER))
            return containers->list.items[i];
    return containers->list.count == 1 ? containers->list.items[0] : NULL;
}

/* Would a change of its CPUs restart the container? */
static bool restarts_on_resize(const struct value *container)
{
    const struct value *policies = value_get(container, "resizePolicy");
    for (size_t i = 0; i < value_length(policies); i++)
        if (text_is(value_get_text(policies->list.items[i], "resourceName"), "cpu") &&
            !text_is(value_get_text(policies->list.items[i], "restartPolicy"), "NotRequired"))
            return true;
    return false;
}

bool kubernetes_resize_is_one_pod(const struct value *object)
{
    const struct value *spec = value_get(object, "spec");
    const struct value *pod = value_get(value_get(spec, "template"), "spec");
    const struct value *container = main_container(value_get(pod, "containers"));
    return value_get_number(spec, "completions", 1) == 1 &&
           value_get(value_get(value_get(container, "resources"), "limits"), "cpu") &&
           !restarts_on_resize(container);
}

/* A server that cannot be asked now counts as one that may. */
bool kubernetes_resize_pods_served(struct kubernetes *kubernetes)
{
    struct error error;
    return kubernetes_check_version(kubernetes, NULL, &error) != KUBERNETES_DONE ||
           !kubernetes->minor || kubernetes->minor >= RESIZE_MINOR;
}

static int64_t cpus_of(const struct value *resources, const char *which)
{
    const struct value *cpu = value_get(value_get(resources, which), "cpu");
    int64_t thousandths;
    if (cpu && cpu->kind == VALUE_NUMBER)
        return (int64_t)(cpu->number * 1000 + 0.5);
    return cpu && cpu->kind == VALUE_STRING && !quantity_parse_cpus(cpu->string, &thousandths)
               ? thousandths
               : -1;
}

/* The CPUs of the task's container, as its node reports; -1: not reported, or a change is under way. */
static int64_t cpus_in_use(const struct value *pod)
{
    const struct value *statuses = value_get(value_get(pod, "status"), "containerStatuses");
    const struct value *resources = value_get(main_container(statuses), "resources");
    int64_t limit = cpus_of(resources, "limits");
    return limit == cpus_of(resources, "requests") ? limit : -1;
}

/* The job's pod that runs, of a list; NULL: none does. */
static const struct value *running_pod(const struct value *list)
{
    const struct value *items = value_get(list, "items");
    for (size_t i = 0; i < value_length(items); i++) {
        const struct value *pod = items->list.items[i], *metadata = value_get(pod, "metadata");
        if (text_is(value_get_text(value_get(pod, "status"), "phase"), "Running") &&
            !kubernetes_is_leaving(pod) && kubernetes_is_plain(value_get_text(metadata, "name")) &&
            kubernetes_is_plain(value_get_text(metadata, "uid")))
            return pod;
    }
    return NULL;
}

static void ask_cpus(struct inquiries *inquiries, struct resize_change *change,
                     const struct value *pod, int64_t cpus, enum resize_outcome after)
{
    struct arena *arena = inquiries->arena;
    const struct value *metadata = value_get(pod, "metadata");
    const struct value *container = main_container(value_get(value_get(pod, "spec"), "containers"));
    char amount[QUANTITY_TEXT_SIZE];
    quantity_format_cpus(cpus, amount);
    kubernetes_resize_patch(
        inquiries, change,
        arena_printf(arena, "/api/v1/namespaces/%s/pods/%s/resize", inquiries->kubernetes->space,
                     value_get_text(metadata, "name").data),
        strategic_patch,
        arena_printf(arena,
                     "{\"metadata\":{\"uid\":\"%s\"},\"spec\":{\"containers\":[{\"name\":\"%s\","
                     "\"resources\":{\"requests\":{\"cpu\":\"%s\"},\"limits\":{\"cpu\":\"%s\"}}}"
                     "]}}",
                     value_get_text(metadata, "uid").data, value_get_text(container, "name").data,
                     amount, amount),
        after);
}

/* The pod already requests that size: decide by what its node reports. */
static void look_at_node(struct inquiries *inquiries, struct resize_change *change,
                         const struct value *pod)
{
    const struct value *pending =
        kubernetes_condition_find_true(value_get(pod, "status"), pending_condition);
    int64_t has = cpus_in_use(pod);
    if (!pending && has == change->job->size) {
        kubernetes_resize_decide(change, RESIZE_DONE, NULL);
        return;
    }
    if (!pending || has <= 0) {
        kubernetes_resize_decide(
            change, RESIZE_UNAVAILABLE,
            "its node has not said yet that it has changed the container's CPUs");
        return;
    }
    struct error_quote_buffer quote;
    struct text words = value_get_text(pending, "message");
    bool never = text_is(value_get_text(pending, "reason"), "Infeasible");
    char sentence[ERROR_TEXT_SIZE];
    snprintf(sentence, sizeof(sentence), "its node %s: %s",
             never ? "cannot give the container as many CPUs"
                   : "does not have these resources at the moment",
             error_quote(&quote, words.data ? words.data : "", words.length));
    kubernetes_resize_decide(change, never ? RESIZE_NOT_POSSIBLE : RESIZE_NO_ROOM, sentence);
    ask_cpus(inquiries, change, pod, has, change->job->outcome);
}

/* The node still reports about an earlier size.  It is asked for another only after it has seen that
 * request being reverted; otherwise it would be unclear which size its report is about. */
static void wait_for_node(struct inquiries *inquiries, struct resize_change *change,
                          const struct value *pod)
{
    int64_t has = cpus_in_use(pod);
    const struct value *container = main_container(value_get(value_get(pod, "spec"), "containers"));
    kubernetes_resize_decide(change, RESIZE_UNAVAILABLE,
                             "its node still says something about an earlier size");
    if (has > 0 && cpus_of(value_get(container, "resources"), "limits") != has)
        ask_cpus(inquiries, change, pod, has, RESIZE_UNAVAILABLE);
}

void kubernetes_resize_ask_pods(struct inquiries *inquiries, struct resize_change *change)
{
    struct kubernetes *kubernetes = inquiries->kubernetes;
    struct inquiry *inquiry = change->inquiry;
    if (!kubernetes_resize_pods_served(kubernetes)) {
        kubernetes_resize_decide(
            change, RESIZE_NOT_POSSIBLE,
            "a pod's CPUs can be changed while it runs as of Kubernetes 1.33, and this "
            "server is older");
    } else if (!kubernetes_resize_is_one_pod(inquiry->jobs[0].object)) {
        kubernetes_resize_decide(
            change, RESIZE_NOT_POSSIBLE,
            "its CPUs cannot be changed while it runs: the Job has several tasks, no limit "
            "of CPUs, or a resizePolicy that restarts the container");
    } else {
        struct text selector = kubernetes_job_selector(inquiries->arena, kubernetes,
                                                       change->job->id, change->job->attempt);
        inquiry->pods_call = (struct kubernetes_call){
            .method = "GET",
            .path = arena_printf(inquiries->arena, "/api/v1/namespaces/%s/pods%s",
                                 kubernetes->space, selector.data)};
        inquiry->asked = true;
        inquiry_add_call(inquiries, &inquiry->pods_call);
    }
}

void kubernetes_resize_take_pods(struct inquiries *inquiries, struct resize_change *change)
{
    const struct kubernetes_call *call = &change->inquiry->pods_call;
    const struct value *pod = call->outcome == KUBERNETES_DONE ? running_pod(call->answer) : NULL;
    const struct value *container = main_container(value_get(value_get(pod, "spec"), "containers"));
    const struct value *resources = value_get(container, "resources");
    if (call->outcome != KUBERNETES_DONE)
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE, call->error.text);
    else if (!pod || !kubernetes_is_plain(value_get_text(container, "name")))
        kubernetes_resize_decide(change, RESIZE_UNAVAILABLE,
                                 "the job's pod does not run at the moment");
    else if (cpus_of(resources, "limits") == change->job->size &&
             cpus_of(resources, "requests") == change->job->size)
        look_at_node(inquiries, change, pod);
    else if (kubernetes_condition_find_true(value_get(pod, "status"), pending_condition))
        wait_for_node(inquiries, change, pod);
    else
        ask_cpus(inquiries, change, pod, change->job->size, RESIZE_UNAVAILABLE);
}
