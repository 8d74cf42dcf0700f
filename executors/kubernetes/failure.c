/* executors/kubernetes/failure.c - how a pod failed, and why it does not start
 *
 * Why a pod failed, the first that fits:
 *   StorageFull            it was evicted for what it stored itself
 *   status.reason          the kubelet or a controller ended it: Evicted, NodeLost, ...
 *   OOMKilled              of the main container, or of any
 *   DisruptionTarget       the condition that says why it was disrupted
 *   the container's reason StartError, ContainerStatusUnknown, ...
 *   exit code              its own
 */
#include "executors/kubernetes/failure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "executors/kubernetes/condition.h"
#include "executors/kubernetes/waiting.h"

enum {
    MESSAGE_SIZE = 300, /* bytes of a message in a sentence */
    EXIT_UNKNOWN = 255  /* nobody knows how it ended */
};

/* ---- how a pod ended ---- */

struct reading {
    struct cached_pod *pod;
    const struct value *status;
    const struct value *container; /* state.terminated of the one that decides; may be NULL */
    const char *what;              /* "", "init container x: " */
    char what_buffer[96];
};

static void fail_words(struct reading *reading, int exit_code, const char *reason,
                       const char *words, struct text message)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s%s", reading->what, words);
    if (message.length) {
        buffer_add_string(&text, ": ");
        buffer_add_text(&text, message);
    }
    reading->pod->exit_code = exit_code;
    reading->pod->reason = reason;
    cached_set_text(&reading->pod->message, buffer_text(&text), MESSAGE_SIZE);
    buffer_free(&text);
}

/* The exit code of the deciding container; -1 without one. */
static int exit_code_of(const struct value *terminated)
{
    double code = value_get_number(terminated, "exitCode", -1);
    double number = value_get_number(terminated, "signal", 0);
    if (terminated && number > 0 && number < 128 && !(code > 0))
        return 128 + (int)number;
    return code >= 0 && code <= 255 ? (int)code : terminated ? EXIT_UNKNOWN : -1;
}

static int code_or(const struct value *terminated, int otherwise)
{
    int code = exit_code_of(terminated);
    return code > 0 ? code : otherwise;
}

/* A reason of the cluster's, and what it is in dlspool's words. */
struct meaning {
    const char *reason, *ours, *words;
};

/* Set the failure that the reason means; false when the table does not have it. */
static bool find_meaning(struct reading *reading, const struct meaning *table, size_t count,
                         struct text reason, struct text message)
{
    for (size_t i = 0; reason.length && i < count; i++) {
        if (!text_is(reason, table[i].reason))
            continue;
        fail_words(reading, code_or(reading->container, EXIT_UNKNOWN), table[i].ours,
                   table[i].words, message);
        return true;
    }
    return false;
}

/* Did the pod fail as a whole, and not one of its containers? */
static bool find_pod_reason(struct reading *reading)
{
    static const struct meaning table[] = {
        {"Evicted", "Evicted", "was evicted"},
        {"DeadlineExceeded", "TimeLimit", "ran for longer than its time limit"},
        {"NodeLost", "NodeLost", "was lost with its node"},
        {"Preempting", "Preempted", "was preempted"},
        {"Preempted", "Preempted", "was preempted"},
        {"Terminated", "NodeLost", "was ended because its node shut down"},
        {"NodeShutdown", "NodeLost", "was ended because its node shut down"},
        {"Shutdown", "NodeLost", "was ended because its node shut down"},
        {"NodeAffinity", "NodeRefused", "was refused by its node (NodeAffinity)"},
        {"NodeName", "NodeRefused", "was refused by its node (NodeName)"},
        {"NodePorts", "NodeRefused", "was refused by its node (NodePorts)"},
        {"UnexpectedAdmissionError", "NodeRefused", "was refused by its node"},
        {"TopologyAffinityError", "NodeRefused", "was refused by its node"},
    };
    struct text reason = value_get_text(reading->status, "reason");
    struct text message = value_get_text(reading->status, "message");
    if (find_meaning(reading, table, ARRAY_COUNT(table), reason, message))
        return true;
    if (!text_starts(reason, "OutOf")) /* a resource's name follows: OutOfcpu, OutOfrdma/hca */
        return false;
    char words[128];
    char *clean = cached_copy_text(reason, 70);
    snprintf(words, sizeof(words), "was refused by its node (%s)", clean);
    free(clean);
    fail_words(reading, EXIT_UNKNOWN, "NodeRefused", words, message);
    return true;
}

/* The kubelet ends a pod that fills more of its node's disk, or of a volume in memory, than its limit
 * (pkg/kubelet/eviction): that is no fault of the node's, and would happen again. */
static bool find_storage(struct reading *reading)
{
    static const char *const words[] = {"exceeds the limit", "exceeds the total limit",
                                        "exceeded its local ephemeral storage limit"};
    struct text message = value_get_text(reading->status, "message");
    bool found = false;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        found |= text_contains(message, text_of(words[i]));
    if (!found || !text_is(value_get_text(reading->status, "reason"), "Evicted"))
        return false;
    fail_words(reading, code_or(reading->container, EXIT_UNKNOWN), "StorageFull",
               "was evicted because it stored more than its limit", message);
    return true;
}

static bool find_memory(struct reading *reading)
{
    if (!text_is(value_get_text(reading->container, "reason"), "OOMKilled"))
        return false;
    fail_words(reading, code_or(reading->container, 128 + SIGKILL), "OOMKilled",
               "needed more memory than its limit, and was killed", TEXT(""));
    return true;
}

static bool find_disruption(struct reading *reading)
{
    static const struct meaning table[] = {
        {"PreemptionByScheduler", "Preempted", "was preempted by the scheduler"},
        {"PreemptionByKubeScheduler", "Preempted", "was preempted by the scheduler"},
        {"DeletionByTaintManager", "NodeLost", "was ended because its node was lost or tainted"},
        {"DeletionByPodGC", "NodeLost", "was lost with its node"},
        {"EvictionByEvictionAPI", "Evicted", "was evicted"},
        {"TerminationByKubelet", "Evicted", "was ended by its node to make room"},
    };
    const struct value *condition =
        kubernetes_condition_find_true(reading->status, "DisruptionTarget");
    return find_meaning(reading, table, ARRAY_COUNT(table), value_get_text(condition, "reason"),
                        value_get_text(condition, "message"));
}

static bool find_container(struct reading *reading)
{
    static const struct meaning table[] = {
        {"StartError", "StartError", "could not be started"},
        {"ContainerCannotRun", "StartError", "could not be started"},
        {"RunContainerError", "StartError", "could not be started"},
        {"CreateContainerError", "StartError", "could not be started"},
        {"CreateContainerConfigError", "StartError", "could not be started"},
        {"PostStartHookError", "StartError", "could not be started"},
        {"ContainerStatusUnknown", "NodeLost", "was lost by its node"},
        {"DeadlineExceeded", "TimeLimit", "ran for longer than its time limit"},
    };
    return find_meaning(reading, table, ARRAY_COUNT(table),
                        value_get_text(reading->container, "reason"),
                        value_get_text(reading->container, "message"));
}

static bool find_exit(struct reading *reading)
{
    int code = exit_code_of(reading->container);
    char words[96];
    if (code <= 0)
        return false;
    const char *name = code > 128 && code < 128 + NSIG ? sigabbrev_np(code - 128) : NULL;
    if (name)
        snprintf(words, sizeof(words), "was ended by signal %d (SIG%s)", code - 128, name);
    else
        snprintf(words, sizeof(words), "ended with exit code %d", code);
    fail_words(reading, code, "Exited", words, TEXT(""));
    return true;
}

static bool find_nothing(struct reading *reading)
{
    struct text reason = value_get_text(reading->status, "reason");
    char words[128];
    char *clean = cached_copy_text(reason, 60);
    snprintf(words, sizeof(words), "failed%s%s%s", clean[0] ? " (" : "", clean,
             clean[0] ? ")" : ", and the cluster does not say how");
    free(clean);
    fail_words(reading, EXIT_UNKNOWN, "Failed", words, value_get_text(reading->status, "message"));
    return true;
}

static const struct value *terminated_of(const struct value *container)
{
    return value_get(value_get(container, "state"), "terminated");
}

/* How well the end of a container explains the failure: 3 OOMKilled, 2 a failure, 1 success, 0 no end. */
static int rank_container(const struct value *container)
{
    const struct value *terminated = terminated_of(container);
    if (!terminated || terminated->kind != VALUE_OBJECT)
        return 0;
    if (text_is(value_get_text(terminated, "reason"), "OOMKilled") && exit_code_of(terminated) != 0)
        return 3;
    return exit_code_of(terminated) == 0 ? 1 : 2;
}

static void choose_container(struct reading *reading)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
    int best = 0;
    for (size_t l = 0; l < 2; l++) {
        const struct value *list = value_get(reading->status, lists[l]);
        for (size_t i = 0; i < value_length(list); i++) {
            const struct value *container = list->list.items[i];
            struct text name = value_get_text(container, "name");
            bool is_main = l == 1 && text_is(name, "main");
            int weight = 2 * rank_container(container) + (is_main ? 1 : 0);
            if (weight < 2 || weight <= best)
                continue;
            best = weight;
            reading->container = terminated_of(container);
            reading->what = "";
            if (is_main)
                continue;
            char *clean = cached_copy_text(name, 63);
            snprintf(reading->what_buffer, sizeof(reading->what_buffer), "%s%s ",
                     l ? "its container " : "its init container ", clean);
            free(clean);
            reading->what = reading->what_buffer;
        }
    }
}

void kubernetes_failure_read(struct cached_pod *pod, const struct value *status)
{
    static bool (*const causes[])(struct reading *) = {
        find_storage,   find_pod_reason, find_memory,  find_disruption,
        find_container, find_exit,       find_nothing,
    };
    struct reading reading = {.pod = pod, .status = status, .what = ""};
    choose_container(&reading);
    size_t at = 0;
    while (!causes[at](&reading))
        at++; /* the last one always finds */
}

/* ---- why a pod waits ---- */

static bool says_missing(struct text message)
{
    static const char *const words[] = {
        "not found",    "manifest unknown",     "does not exist",   "access denied",
        "unauthorized", "authorization failed", "InvalidImageName", "invalid reference",
        "forbidden",    "403 Forbidden",
    };
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (text_contains(message, text_of(words[i])))
            return true;
    return false;
}

static void read_image(struct cached_pod *pod, struct text reason, struct text message)
{
    const struct text inner = TEXT("ErrImagePull: ");
    bool off = text_is(reason, "ImagePullBackOff");
    const char *cause = off && message.length
                            ? memmem(message.data, message.length, inner.data, inner.length)
                            : NULL;
    if (!pod->image_since)
        pod->image_since = clock_elapsed() + 1;
    if (cause) {
        cause += inner.length;
        message = (struct text){cause, message.length - (size_t)(cause - message.data)};
        reason = TEXT("ErrImagePull");
    } else if (off && pod->waiting.cause == WAITING_IMAGE) {
        return; /* the earlier message said more */
    }
    pod->image_missing = says_missing(message) || text_is(reason, "InvalidImageName");
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)reason.length, reason.data);
    kubernetes_waiting_set(&pod->waiting, WAITING_IMAGE, word, message);
}

/* Read why a container does not run; false when it gives no reason that is worth a line. */
static bool read_container_waiting(struct cached_pod *pod, const struct value *container)
{
    static const struct {
        const char *reason;
        enum waiting_cause cause;
    } table[] = {
        {"ErrImagePull", WAITING_IMAGE},
        {"ImagePullBackOff", WAITING_IMAGE},
        {"ErrImageNeverPull", WAITING_IMAGE},
        {"InvalidImageName", WAITING_IMAGE},
        {"ImageInspectError", WAITING_IMAGE},
        {"RegistryUnavailable", WAITING_IMAGE},
        {"SignatureValidationFailed", WAITING_IMAGE},
        {"CreateContainerConfigError", WAITING_CONFIGURATION},
        {"CreateContainerError", WAITING_START},
        {"RunContainerError", WAITING_START},
        {"CrashLoopBackOff", WAITING_START},
    };
    const struct value *waiting = value_get(value_get(container, "state"), "waiting");
    struct text reason = value_get_text(waiting, "reason");
    struct text message = value_get_text(waiting, "message");
    for (size_t i = 0; reason.length && i < ARRAY_COUNT(table); i++) {
        if (!text_is(reason, table[i].reason))
            continue;
        if (table[i].cause == WAITING_IMAGE)
            read_image(pod, reason, message);
        else
            kubernetes_waiting_set(&pod->waiting, table[i].cause, table[i].reason, message);
        return true;
    }
    return false;
}

void kubernetes_failure_read_waiting(struct cached_pod *pod, const struct value *status)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
    for (size_t l = 0; l < 2; l++) {
        const struct value *list = value_get(status, lists[l]);
        for (size_t i = 0; i < value_length(list); i++)
            if (read_container_waiting(pod, list->list.items[i]))
                return;
    }
    cached_waiting_clear(&pod->waiting);
    const struct value *condition = kubernetes_condition_find(status, "PodScheduled");
    if (!text_is(value_get_text(condition, "status"), "False"))
        return;
    struct text reason = value_get_text(condition, "reason");
    struct text message = value_get_text(condition, "message");
    if (text_is(reason, "SchedulingGated"))
        kubernetes_waiting_set(&pod->waiting, WAITING_GATE, "SchedulingGated", message);
    else if (!text_is(reason, "SchedulerError") || message.length)
        kubernetes_waiting_set(&pod->waiting, WAITING_NODE, "Unschedulable", message);
}
