/* executors/kubernetes/capacity.c - the resources of the cluster, and how much of them is free
 *
 * The resources are the status.allocatable of nodes that are Ready and schedulable; used are the
 * requests of all pods on them, in all namespaces, counted as the scheduler does (containers together,
 * or the largest init container, sidecars and overhead).  Free is the sum over all nodes: a single
 * large task may still fit on none.
 *
 * Without the right to list nodes (the ClusterRole in etc/kubernetes-role.yaml grants it) the figures
 * are those of the namespace's ResourceQuotas; without the right to list all pods only those of
 * dlspool's own namespace count as used.  The note says so.
 *
 * A large cluster has thousands of objects: an answer that took a second is reused for twenty.
 */
#include "executors/kubernetes/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/kubernetes/condition.h"
#include "executors/kubernetes/schema.h"

enum {
    PAGE = 100,     /* objects in an answer; a node with its images may have 50 KiB */
    MOST_LISTS = 3, /* beginnings after an expired page */
    LONG = 500,     /* milliseconds; an answer that took longer is good for a while: */
    REST = 20       /* a multiple of what it took */
};

static const char product_label[] = "nvidia.com/gpu.product";

/* ---- quantities ---- */

/* The amount of a resource; 0 when it is not there, or is none. */
static double quantity_of(const struct value *resources, struct text name)
{
    const struct member *member = value_member(resources, name);
    double number = 0;
    if (member && member->value->kind == VALUE_NUMBER)
        number = member->value->number;
    else if (member && member->value->kind == VALUE_STRING &&
             !kubernetes_schema_read_quantity(member->value->string, &number))
        number = 0;
    return number >= 0 && number < 0x1p62 ? number : 0;
}

/* A device that computes, by the name of its resource. */
static bool is_gpu(struct text resource)
{
    return text_is(resource, "nvidia.com/gpu") || text_is(resource, "amd.com/gpu") ||
           text_starts(resource, "huawei.com/Ascend") || text_starts(resource, "nvidia.com/mig-") ||
           text_is(resource, "gpu.intel.com/i915") || text_is(resource, "gpu.intel.com/xe");
}

/* ---- nodes ---- */

struct count {
    struct arena *arena;
    struct kubernetes *kubernetes;
    struct capacity *capacity;
    struct value *nodes; /* name -> the node, of those that take pods */
    double cpus, memory; /* used by pods on these nodes: CPUs, bytes */
};

/* The name of the type of a node's device. */
static struct text type_name(const struct value *node, struct text resource)
{
    struct text product = kubernetes_label_of(node, product_label);
    return text_starts(resource, "nvidia.com/gpu") && product.length ? product : resource;
}

/* Is the node reserved for the control plane, by a taint? */
static bool is_control_plane(const struct value *node)
{
    const struct value *taints = value_get(value_get(node, "spec"), "taints");
    for (size_t i = 0; i < value_length(taints); i++) {
        struct text key = value_get_text(taints->list.items[i], "key");
        if ((text_is(key, "node-role.kubernetes.io/control-plane") ||
             text_is(key, "node-role.kubernetes.io/master")) &&
            !text_is(value_get_text(taints->list.items[i], "effect"), "PreferNoSchedule"))
            return true;
    }
    return false;
}

/* Keep what count_pod() needs of a node: the name of its GPUs, and its resources. */
static void keep_node(struct count *count, const struct value *node)
{
    struct arena *arena = count->arena;
    struct text name = value_get_text(value_get(node, "metadata"), "name");
    struct text product = kubernetes_label_of(node, product_label);
    struct value *kept = value_object(arena), *metadata = value_object(arena);
    struct value *labels = value_object(arena), *status = value_object(arena);
    if (product.data)
        value_put(arena, labels, product_label,
                  value_text(arena, arena_text(arena, product.data, product.length)));
    value_put(arena, metadata, "labels", labels);
    value_put(arena, status, "allocatable",
              value_copy(arena, value_get(value_get(node, "status"), "allocatable")));
    value_put(arena, kept, "metadata", metadata);
    value_put(arena, kept, "status", status);
    value_set(arena, count->nodes, arena_text(arena, name.data, name.length), kept);
}

/* Add a node to the nodes and, when it is ready and schedulable, its resources to the capacity. */
static void count_node(struct count *count, const struct value *node)
{
    struct capacity *capacity = count->capacity;
    struct text name = value_get_text(value_get(node, "metadata"), "name");
    const struct value *allocatable = value_get(value_get(node, "status"), "allocatable");
    if (is_control_plane(node))
        return;
    capacity->nodes++;
    if (!name.length || !allocatable ||
        !kubernetes_condition_find_true(value_get(node, "status"), "Ready") ||
        value_get_boolean(value_get(node, "spec"), "unschedulable", false))
        return;
    capacity->nodes_ready++;
    keep_node(count, node);
    capacity->cpus += llround(1000 * quantity_of(allocatable, TEXT("cpu")));
    capacity->memory += (int64_t)quantity_of(allocatable, TEXT("memory"));
    for (size_t i = 0;
         allocatable && allocatable->kind == VALUE_OBJECT && i < allocatable->object.count; i++) {
        struct text resource = allocatable->object.members[i].key;
        int devices = (int)fmin(quantity_of(allocatable, resource), 1e6);
        if (!is_gpu(resource) || devices == 0)
            continue;
        capacity->gpus += devices;
        capacity->gpus_free += devices;
        struct gpu_capacity *type = executor_gpu_type(capacity, type_name(node, resource));
        if (type) {
            type->count += devices;
            type->free += devices;
        }
    }
}

/* ---- pods ---- */

static const struct value *requests_of(const struct value *container)
{
    return value_get(value_get(container, "resources"), "requests");
}

/* What a pod keeps of a resource: what its containers and sidecars ask for together, or while it
 * starts an init container beside the sidecars before it; and its overhead. */
static double pod_request(const struct value *spec, struct text resource)
{
    const struct value *containers = value_get(spec, "containers");
    const struct value *initial = value_get(spec, "initContainers");
    double running = 0, sidecars = 0, starting = 0;
    for (size_t i = 0; i < value_length(containers); i++)
        running += quantity_of(requests_of(containers->list.items[i]), resource);
    for (size_t i = 0; i < value_length(initial); i++) {
        const struct value *container = initial->list.items[i];
        double request = quantity_of(requests_of(container), resource);
        if (text_is(value_get_text(container, "restartPolicy"), "Always"))
            sidecars += request;
        else
            starting = fmax(starting, sidecars + request);
    }
    return fmax(running + sidecars, starting) + quantity_of(value_get(spec, "overhead"), resource);
}

/* Subtract what a pod on one of these nodes requests. */
static void count_pod(struct count *count, const struct value *pod)
{
    struct capacity *capacity = count->capacity;
    const struct value *spec = value_get(pod, "spec");
    struct text phase = value_get_text(value_get(pod, "status"), "phase");
    const struct member *node = value_member(count->nodes, value_get_text(spec, "nodeName"));
    if (!node || text_is(phase, "Succeeded") || text_is(phase, "Failed"))
        return;
    count->cpus += pod_request(spec, TEXT("cpu"));
    count->memory += pod_request(spec, TEXT("memory"));
    const struct value *allocatable = value_get(value_get(node->value, "status"), "allocatable");
    for (size_t i = 0;
         allocatable && allocatable->kind == VALUE_OBJECT && i < allocatable->object.count; i++) {
        struct text resource = allocatable->object.members[i].key;
        if (!is_gpu(resource))
            continue;
        int devices = (int)fmin(pod_request(spec, resource), 1e6);
        capacity->gpus_free -= devices;
        struct gpu_capacity *type = executor_gpu_type(capacity, type_name(node->value, resource));
        if (type)
            type->free -= devices;
    }
}

/* ---- lists ---- */

static bool take_nodes(void *context, const struct value *page)
{
    const struct value *items = value_get(page, "items");
    for (size_t i = 0; i < value_length(items); i++)
        count_node(context, items->list.items[i]);
    return true;
}

static bool take_pods(void *context, const struct value *page)
{
    const struct value *items = value_get(page, "items");
    for (size_t i = 0; i < value_length(items); i++)
        count_pod(context, items->list.items[i]);
    return true;
}

static enum kubernetes_outcome count_nodes(struct count *count, int *status, struct error *error)
{
    char path[64];
    int64_t rest;
    enum kubernetes_outcome outcome = KUBERNETES_GONE;
    snprintf(path, sizeof(path), "/api/v1/nodes?limit=%d", PAGE);
    for (int i = 0; i < MOST_LISTS && outcome == KUBERNETES_GONE; i++) {
        *count->capacity = (struct capacity){0};
        count->nodes = value_object(count->arena);
        outcome = kubernetes_list_pages(count->kubernetes, NULL, path, take_nodes, count, status,
                                        &rest, error);
    }
    return outcome;
}

static enum kubernetes_outcome count_pods(struct count *count, const char *space, int *status,
                                          struct error *error)
{
    char path[512];
    int64_t rest;
    enum kubernetes_outcome outcome = KUBERNETES_GONE;
    snprintf(path, sizeof(path),
             "/api/v1/%s%s%spods?limit=%d&fieldSelector=status.phase%%21%%3DSucceeded"
             "%%2Cstatus.phase%%21%%3DFailed",
             space ? "namespaces/" : "", space ? space : "", space ? "/" : "", PAGE);
    const struct capacity before = *count->capacity;
    for (int i = 0; i < MOST_LISTS && outcome == KUBERNETES_GONE; i++) {
        *count->capacity = before;
        count->cpus = count->memory = 0;
        outcome = kubernetes_list_pages(count->kubernetes, NULL, path, take_pods, count, status,
                                        &rest, error);
    }
    return outcome;
}

/* ---- a quota ---- */

/* The least that any quota of the namespace leaves of a resource, called by one of two names. */
struct quota {
    const char *names[2];
    bool found;
    double hard, free;
};

static void take_quota(struct quota *quota, const struct value *status)
{
    for (size_t i = 0; i < 2; i++) {
        struct text name = text_of(quota->names[i]);
        if (!value_member(value_get(status, "hard"), name))
            continue;
        double hard = quantity_of(value_get(status, "hard"), name);
        double left = fmax(hard - quantity_of(value_get(status, "used"), name), 0);
        quota->hard = quota->found ? fmin(quota->hard, hard) : hard;
        quota->free = quota->found ? fmin(quota->free, left) : left;
        quota->found = true;
    }
}

static void take_quota_gpus(struct capacity *capacity, const struct value *status)
{
    const struct value *hard = value_get(status, "hard"), *used = value_get(status, "used");
    for (size_t i = 0; hard && hard->kind == VALUE_OBJECT && i < hard->object.count; i++) {
        struct text name = hard->object.members[i].key, resource = name;
        if (text_starts(name, "requests.")) {
            resource.data += strlen("requests.");
            resource.length -= strlen("requests.");
        }
        if (!is_gpu(resource))
            continue;
        double devices = fmin(quantity_of(hard, name), 1e6);
        double left = fmax(devices - quantity_of(used, name), 0);
        struct gpu_capacity *type = executor_gpu_type(capacity, resource);
        if (!type || type->count)
            continue;
        type->count = (int)devices;
        type->free = (int)left;
        capacity->gpus += (int)devices;
        capacity->gpus_free += (int)left;
    }
}

/* Set the capacity by the namespace's quotas; `refusal` is why nodes cannot be listed. */
static int count_quota(struct count *count, const struct error *refusal, struct error *error)
{
    struct capacity *capacity = count->capacity;
    const struct kubernetes *kubernetes = count->kubernetes;
    struct kubernetes_call call = {
        .method = "GET",
        .path = arena_printf(count->arena, "/api/v1/namespaces/%s/resourcequotas?limit=%d",
                             kubernetes->space, PAGE)};
    struct quota cpus = {.names = {"requests.cpu", "cpu"}};
    struct quota memory = {.names = {"requests.memory", "memory"}};
    enum kubernetes_outcome outcome = kubernetes_ask(count->kubernetes, count->arena, &call);
    const struct value *items = value_get(call.answer, "items");
    bool any = false;
    *capacity = (struct capacity){0};
    for (size_t i = 0; outcome == KUBERNETES_DONE && i < value_length(items); i++) {
        const struct value *status = value_get(items->list.items[i], "status");
        take_quota(&cpus, status);
        take_quota(&memory, status);
        take_quota_gpus(capacity, status);
    }
    any = cpus.found || memory.found || capacity->gpu_type_count;
    kubernetes_api_call_free(&call);
    if (!any)
        return error_set(
            error,
            "the capacity of the cluster is unknown: the kubeconfig's user may not list "
            "nodes (the ClusterRole in etc/kubernetes-role.yaml allows it), and the "
            "namespace %s has no ResourceQuota to go by: %.1200s",
            kubernetes->space, refusal->text);
    capacity->cpus = llround(1000 * cpus.hard);
    capacity->cpus_free = llround(1000 * cpus.free);
    capacity->memory = (int64_t)memory.hard;
    capacity->memory_free = (int64_t)memory.free;
    snprintf(capacity->note, sizeof(capacity->note),
             "of the quota of namespace %.64s, because nodes may not be listed", kubernetes->space);
    return 0;
}

/* ---- the whole ---- */

/* Set the capacity by nodes and pods, or by as much as the user may list. */
static int count_cluster(struct count *count, struct error *error)
{
    const char *space = count->kubernetes->space;
    struct capacity *capacity = count->capacity;
    struct error problem;
    int status;
    if (count_nodes(count, &status, &problem) != KUBERNETES_DONE) {
        if (status == 403)
            return count_quota(count, &problem, error);
        *error = problem;
        return -1;
    }
    char note[sizeof(capacity->note)] = "";
    enum kubernetes_outcome outcome = count_pods(count, NULL, &status, &problem);
    if (outcome != KUBERNETES_DONE && status == 403) {
        snprintf(note, sizeof(note),
                 "free is what namespace %.64s does not use; pods of other "
                 "namespaces may not be listed",
                 space);
        outcome = count_pods(count, space, &status, &problem);
    }
    if (outcome != KUBERNETES_DONE) {
        *error = problem;
        return -1;
    }
    memcpy(capacity->note, note, sizeof(note));
    capacity->cpus_free = capacity->cpus - llround(1000 * count->cpus);
    capacity->memory_free = capacity->memory - (int64_t)count->memory;
    executor_clamp_capacity(capacity);
    return 0;
}

int kubernetes_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    struct error ignored;
    struct kubernetes *kubernetes = kubernetes_of(executor);
    int64_t begin = clock_elapsed();
    if (begin < kubernetes->capacity_until) {
        *capacity = kubernetes->capacity;
        return 0;
    }
    struct count count = {.arena = arena_new(), .kubernetes = kubernetes, .capacity = capacity};
    int result = count_cluster(&count, error ? error : &ignored);
    arena_free(count.arena);
    if (result)
        return -1;
    kubernetes->capacity = *capacity;
    int64_t end = clock_elapsed();
    if (end - begin >= LONG)
        kubernetes->capacity_until = end + REST * (end - begin);
    return 0;
}
