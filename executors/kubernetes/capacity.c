/* executors/kubernetes/capacity.c - the nodes of the cluster, their resources, and how much of them is free
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
#include "base/names.h"
#include "executors/kubernetes/condition.h"
#include "executors/kubernetes/schema.h"
#include "executors/nodes.h"

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
    struct nodes *nodes;
    struct names *kept; /* struct kept_node, by name */
};

/* What count_pod() needs of a node. */
struct kept_node {
    size_t index;            /* in `nodes` */
    struct value *resources; /* its devices by resource: the name of their type */
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

/* Since when the node's taint says that it takes no pods. */
static int64_t cordoned_since(const struct value *object)
{
    const struct value *taints = value_get(value_get(object, "spec"), "taints");
    const struct value *taint = value_find(taints, "key", TEXT("node.kubernetes.io/unschedulable"));
    int64_t since;
    return clock_parse(value_get_text(taint, "timeAdded"), &since) == 0 ? since : 0;
}

/* Sets the node's state and why it is so.  A lost kubelet makes Ready "Unknown". */
static void take_state(struct nodes *nodes, struct node *node, const struct value *object)
{
    const struct value *ready = kubernetes_condition_find(value_get(object, "status"), "Ready");
    struct text status = value_get_text(ready, "status"),
                message = value_get_text(ready, "message");
    bool cordoned = value_get_boolean(value_get(object, "spec"), "unschedulable", false);
    node->state = text_is(status, "True")    ? cordoned ? NODE_DRAINED : NODE_READY
                  : text_is(status, "False") ? NODE_DOWN
                                             : NODE_UNKNOWN;
    node->word = arena_printf(nodes->arena, "%s%s",
                              text_is(status, "True")    ? "Ready"
                              : text_is(status, "False") ? "NotReady"
                                                         : "Unknown",
                              cordoned ? ",SchedulingDisabled" : "");
    if (node->state == NODE_DRAINED)
        node->reason = TEXT("cordoned");
    else if (node->state != NODE_READY)
        node->reason = nodes_text(nodes, message);
    if (node->state == NODE_DRAINED)
        node->since = cordoned_since(object);
    else if (node->state != NODE_READY &&
             clock_parse(value_get_text(ready, "lastTransitionTime"), &node->since))
        node->since = 0;
}

/* The labels by which a site tells its nodes apart: not those of Kubernetes itself. */
static struct text features_of(struct nodes *nodes, const struct value *object)
{
    const struct value *labels = value_get(value_get(object, "metadata"), "labels");
    struct buffer out = {0};
    for (size_t i = 0; labels && labels->kind == VALUE_OBJECT && i < labels->object.count; i++) {
        const struct member *label = &labels->object.members[i];
        if (text_contains(label->key, TEXT("kubernetes.io/")) ||
            text_contains(label->key, TEXT("k8s.io/")) || label->value->kind != VALUE_STRING)
            continue;
        buffer_printf(&out, "%s%.*s=%.*s", out.length ? "," : "", (int)label->key.length,
                      label->key.data, (int)label->value->string.length, label->value->string.data);
    }
    struct text text = nodes_text(nodes, buffer_text(&out));
    buffer_free(&out);
    return text;
}

static void take_devices(struct count *count, struct node *node, struct kept_node *kept,
                         const struct value *object)
{
    const struct value *allocatable = value_get(value_get(object, "status"), "allocatable");
    for (size_t i = 0;
         allocatable && allocatable->kind == VALUE_OBJECT && i < allocatable->object.count; i++) {
        struct text resource = allocatable->object.members[i].key;
        int devices = (int)fmin(quantity_of(allocatable, resource), 1e6);
        if (!is_gpu(resource))
            continue;
        struct text type = type_name(object, resource);
        if (devices)
            nodes_add_gpus(count->nodes, node, type, devices, 0);
        value_set(count->arena, kept->resources,
                  arena_text(count->arena, resource.data, resource.length),
                  value_text(count->arena, arena_text(count->arena, type.data, type.length)));
    }
}

static void count_node(struct count *count, const struct value *object)
{
    struct text name = value_get_text(value_get(object, "metadata"), "name");
    const struct value *allocatable = value_get(value_get(object, "status"), "allocatable");
    if (is_control_plane(object) || !name.length || names_find(count->kept, name))
        return;
    struct node *node = nodes_add(count->nodes, name);
    struct kept_node *kept = node ? names_add(count->kept, name) : NULL;
    if (!kept)
        return;
    *kept = (struct kept_node){count->nodes->count - 1, value_object(count->arena)};
    take_state(count->nodes, node, object);
    node->features = features_of(count->nodes, object);
    node->cpus = node->cpus_free = llround(1000 * quantity_of(allocatable, TEXT("cpu")));
    node->memory = node->memory_free = (int64_t)quantity_of(allocatable, TEXT("memory"));
    take_devices(count, node, kept, object);
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

/* Subtract from its node what a pod requests. */
static void count_pod(struct count *count, const struct value *pod)
{
    const struct value *spec = value_get(pod, "spec");
    struct text phase = value_get_text(value_get(pod, "status"), "phase");
    struct kept_node *kept = names_find(count->kept, value_get_text(spec, "nodeName"));
    if (!kept || text_is(phase, "Succeeded") || text_is(phase, "Failed"))
        return;
    struct node *node = &count->nodes->items[kept->index];
    node->cpus_free -= llround(1000 * pod_request(spec, TEXT("cpu")));
    node->memory_free -= (int64_t)pod_request(spec, TEXT("memory"));
    for (size_t i = 0; i < kept->resources->object.count; i++) {
        const struct member *device = &kept->resources->object.members[i];
        int devices = (int)fmin(pod_request(spec, device->key), 1e6);
        if (devices)
            nodes_add_gpus(count->nodes, node, device->value->string, 0, devices);
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
        nodes_clear(count->nodes);
        names_free(count->kept);
        count->kept = names_new(NODES_MOST, sizeof(struct kept_node));
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
    for (int i = 0; i < MOST_LISTS && outcome == KUBERNETES_GONE; i++) {
        for (size_t k = 0; k < count->nodes->count; k++)
            nodes_set_free(&count->nodes->items[k]);
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
    *capacity = (struct capacity){0};
    if (count_nodes(count, &status, &problem) != KUBERNETES_DONE) {
        nodes_clear(count->nodes);
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
    for (size_t i = 0; i < count->nodes->count; i++)
        nodes_clamp(&count->nodes->items[i]);
    nodes_sum(count->nodes, capacity);
    memcpy(capacity->note, note, sizeof(note));
    return 0;
}

/* Ask, and keep what took long to tell. */
static int ask_cluster(struct kubernetes *kubernetes, struct capacity *capacity,
                       struct nodes *nodes, struct error *error)
{
    struct error ignored;
    int64_t begin = clock_elapsed();
    struct count count = {
        .arena = arena_new(), .kubernetes = kubernetes, .capacity = capacity, .nodes = nodes};
    int result = count_cluster(&count, error ? error : &ignored);
    names_free(count.kept);
    arena_free(count.arena);
    if (result)
        return -1;
    kubernetes->capacity = *capacity;
    int64_t end = clock_elapsed();
    nodes_free(kubernetes->nodes);
    kubernetes->nodes = NULL;
    if (end - begin >= LONG) {
        kubernetes->capacity_until = end + REST * (end - begin);
        kubernetes->nodes = nodes_new();
        nodes_copy(kubernetes->nodes, nodes);
    }
    return 0;
}

int kubernetes_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                     struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    if (clock_elapsed() >= kubernetes->capacity_until)
        return ask_cluster(kubernetes, capacity, nodes, error);
    *capacity = kubernetes->capacity;
    nodes_copy(nodes, kubernetes->nodes);
    return 0;
}

int kubernetes_capacity(struct executor *executor, struct capacity *capacity, struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    if (clock_elapsed() < kubernetes->capacity_until) {
        *capacity = kubernetes->capacity;
        return 0;
    }
    struct nodes *nodes = nodes_new();
    int result = ask_cluster(kubernetes, capacity, nodes, error);
    nodes_free(nodes);
    return result;
}
