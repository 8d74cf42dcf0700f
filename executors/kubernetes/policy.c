/* executors/kubernetes/policy.c - what no template may change about its pods
 *
 * Fields about a pod's rights are allowed by a list; any other one is refused, so a field that a later
 * version of Kubernetes adds cannot bypass the policy.
 */
#include "executors/kubernetes/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

/* Report a field at `path`.NAME. */
struct policy {
    const struct kubernetes_stamp *stamp; /* NULL: not known yet */
    struct schema_problems *problems;
    const char *path;
};

static void refuse_field(const struct policy *policy, const struct value *at, const char *name,
                         const char *sentence)
{
    kubernetes_schema_problem(policy->problems, at, "%s.%s: %s", policy->path, name, sentence);
}

static bool is_true(const struct value *value)
{
    return value->kind == VALUE_BOOLEAN && value->boolean;
}

static bool is_other_number(const struct value *value, bool known, double wanted)
{
    return value->kind != VALUE_NUMBER || (known && value->number != wanted);
}

/* seccompProfile: {type: RuntimeDefault} */
static bool is_runtime_default(const struct value *profile)
{
    return profile->kind == VALUE_OBJECT && profile->object.count == 1 &&
           text_is(value_get_text(profile, "type"), "RuntimeDefault");
}

/* capabilities: {drop: [ALL]} */
static bool drops_all(const struct value *capabilities)
{
    const struct value *drop = value_get(capabilities, "drop");
    return capabilities->kind == VALUE_OBJECT && capabilities->object.count == 1 && drop &&
           drop->kind == VALUE_LIST && drop->list.count == 1 &&
           text_is(drop->list.items[0]->string, "ALL");
}

/* The members that pods' and containers' security contexts share.  True when it was one. */
static bool check_shared_member(const struct policy *policy, const struct member *member)
{
    static const char runs_as[] = "a pod runs as the user who asked; leave it out, or say job.uid "
                                  "and job.gid";
    const struct kubernetes_stamp *stamp = policy->stamp;
    const struct value *value = member->value;
    double uid = stamp ? stamp->uid : 0, gid = stamp ? stamp->gid : 0;
    if (text_is(member->key, "runAsUser")) {
        if (is_other_number(value, stamp, uid))
            refuse_field(policy, value, "runAsUser", runs_as);
    } else if (text_is(member->key, "runAsGroup")) {
        if (is_other_number(value, stamp, gid))
            refuse_field(policy, value, "runAsGroup", runs_as);
    } else if (text_is(member->key, "runAsNonRoot")) {
        if (stamp && is_true(value) != (stamp->uid != 0))
            refuse_field(policy, value, "runAsNonRoot", "leave it out: it follows from the user");
    } else if (text_is(member->key, "seccompProfile")) {
        if (!is_runtime_default(value))
            refuse_field(policy, value, "seccompProfile", "expected {type: RuntimeDefault}");
    } else {
        return false;
    }
    return true;
}

static void check_pod_context(const struct policy *policy, const struct value *context)
{
    for (size_t i = 0; context && i < context->object.count; i++) {
        const struct member *member = &context->object.members[i];
        if (check_shared_member(policy, member) || text_is(member->key, "fsGroupChangePolicy"))
            continue;
        if (!text_is(member->key, "fsGroup"))
            refuse_field(policy, member->value, member->key.data, "no template may set this");
        else if (is_other_number(member->value, policy->stamp,
                                 policy->stamp ? policy->stamp->gid : 0))
            refuse_field(policy, member->value, "fsGroup",
                         "expected the group of the user who asked, job.gid");
    }
}

static void check_container_context(const struct policy *policy, const struct value *context)
{
    for (size_t i = 0; context && i < context->object.count; i++) {
        const struct member *member = &context->object.members[i];
        const struct value *value = member->value;
        if (check_shared_member(policy, member) || text_is(member->key, "readOnlyRootFilesystem"))
            continue;
        if (text_is(member->key, "allowPrivilegeEscalation") ||
            text_is(member->key, "privileged")) {
            if (is_true(value))
                refuse_field(policy, value, member->key.data, "found true, expected false");
        } else if (text_is(member->key, "capabilities")) {
            if (!drops_all(value))
                refuse_field(policy, value, "capabilities", "expected {drop: [ALL]}");
        } else {
            refuse_field(policy, value, member->key.data, "no template may set this");
        }
    }
}

/* ---- volumes ---- */

static void check_host_path(const struct policy *policy, const struct value *volume)
{
    struct error_quote_buffer quote;
    struct text path = value_get_text(volume, "path");
    bool allowed = !policy->stamp;
    for (size_t i = 0; policy->stamp && i < policy->stamp->policy.host_path_count; i++)
        allowed = allowed || path_is_below(path, policy->stamp->policy.host_paths[i]);
    bool plain = text_starts(path, "/") && path_is_plain(path);
    if (plain && allowed)
        return;
    policy->problems->settings_count += policy->stamp && plain;
    kubernetes_schema_problem(
        policy->problems, volume,
        "%s.hostPath: \"%s\" is at or below none of the directories that dlspool.yaml's "
        "kubernetes.host_paths names",
        policy->path, error_quote(&quote, path.data, path.length));
}

static void check_volume(const struct policy *policy, const struct value *volume)
{
    static const char *const kinds[] = {
        "name",        "hostPath",  "nfs",    "persistentVolumeClaim",
        "emptyDir",    "configMap", "secret", "csi",
        "downwardAPI", "ephemeral", "cephfs", "glusterfs",
        "image",       "projected", NULL};
    const struct value *host = value_get(volume, "hostPath");
    const struct value *sources = value_get(value_get(volume, "projected"), "sources");
    for (size_t i = 0; i < volume->object.count; i++) {
        const struct member *member = &volume->object.members[i];
        size_t kind = 0;
        while (kinds[kind] && !text_is(member->key, kinds[kind]))
            kind++;
        if (!kinds[kind])
            refuse_field(
                policy, member->value, member->key.data,
                "a volume of this kind is not allowed; use nfs, persistentVolumeClaim or csi");
    }
    for (size_t i = 0; sources && i < sources->list.count; i++)
        if (value_get(sources->list.items[i], "serviceAccountToken") ||
            value_get(sources->list.items[i], "podCertificate"))
            refuse_field(policy, sources->list.items[i], "projected",
                         "a pod gets no credential of the cluster");
    if (host)
        check_host_path(policy, host);
}

/* ---- the pod ---- */

static void check_network(const struct policy *policy, const struct value *pod)
{
    const struct value *host = value_get(pod, "hostNetwork");
    if (!policy->stamp || policy->stamp->policy.allow_host_network || !host || !is_true(host))
        return;
    policy->problems->settings_count++;
    refuse_field(policy, host, "hostNetwork",
                 "dlspool.yaml does not allow it (kubernetes.allow_host_network)");
}

static void check_ports(const struct policy *policy, const struct value *container, bool host)
{
    const struct value *ports = value_get(container, "ports");
    for (size_t i = 0; ports && i < ports->list.count; i++)
        if (value_get(ports->list.items[i], "hostPort") && !host)
            refuse_field(policy, ports->list.items[i], "ports",
                         "a hostPort needs hostNetwork: true");
}

static void check_containers(const struct policy *policy, const struct value *pod, const char *list)
{
    const struct value *containers = value_get(pod, list);
    const struct value *network = value_get(pod, "hostNetwork");
    char path[160];
    for (size_t i = 0; containers && i < containers->list.count; i++) {
        const struct value *container = containers->list.items[i];
        struct policy inner = *policy;
        snprintf(path, sizeof(path), "%.80s.%s[%zu]", policy->path, list, i);
        inner.path = path;
        check_ports(&inner, container, network && is_true(network));
        snprintf(path, sizeof(path), "%.80s.%s[%zu].securityContext", policy->path, list, i);
        check_container_context(&inner, value_get(container, "securityContext"));
    }
}

void kubernetes_policy_check(const struct value *pod, const char *path,
                             const struct kubernetes_stamp *stamp, struct schema_problems *problems)
{
    static const char *const never_true[] = {"hostPID", "hostIPC", "automountServiceAccountToken",
                                             NULL};
    static const char *const never[] = {"nodeName", "ephemeralContainers", NULL};
    char inner[160];
    const struct policy policy = {stamp, problems, path};
    for (size_t i = 0; never_true[i]; i++) {
        const struct value *value = value_get(pod, never_true[i]);
        if (value && is_true(value))
            refuse_field(&policy, value, never_true[i], "found true, expected false");
    }
    for (size_t i = 0; never[i]; i++)
        if (value_get(pod, never[i]))
            refuse_field(&policy, value_get(pod, never[i]), never[i], "no template may set this");
    check_network(&policy, pod);
    snprintf(inner, sizeof(inner), "%.80s.securityContext", path);
    const struct policy context = {stamp, problems, inner};
    check_pod_context(&context, value_get(pod, "securityContext"));
    check_containers(&policy, pod, "initContainers");
    check_containers(&policy, pod, "containers");
    const struct value *volumes = value_get(pod, "volumes");
    for (size_t i = 0; volumes && i < volumes->list.count; i++) {
        char place[160];
        snprintf(place, sizeof(place), "%.80s.volumes[%zu]", path, i);
        const struct policy of_volume = {stamp, problems, place};
        check_volume(&of_volume, volumes->list.items[i]);
    }
}
