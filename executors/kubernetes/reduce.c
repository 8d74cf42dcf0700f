/* executors/kubernetes/reduce.c - what the cache keeps of an object that the API server sent
 *
 * The form of an object is not trusted: every member may be missing or of another type, and texts are
 * cut and cleaned.
 */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "executors/kubernetes/condition.h"
#include "executors/kubernetes/failure.h"
#include "executors/kubernetes/reduce.h"

enum {
    MESSAGE_SIZE = 300,       /* bytes of a message in a sentence */
    NAME_LIMIT = 253,         /* bytes of an object's name */
    INDEXES_LIMIT = 64 << 10, /* bytes of status.completedIndexes */
    RULE_LIMIT = 16 << 10,
    LONGEST_LIMIT = INT_MAX, /* seconds of a time limit */
    TASKS_LIMIT = 100000     /* of one Job */
};

/* A role that can be part of a file's name, else "task". */
static const char *clean_role(char buffer[static 64], struct text role)
{
    bool good = role.length > 0 && role.length < 64 && role.data[0] != '.' && role.data[0] != '-';
    for (size_t i = 0; good && i < role.length; i++)
        good = isalnum((unsigned char)role.data[i]) || memchr("-._", role.data[i], 3);
    snprintf(buffer, 64, "%.*s", good ? (int)role.length : 4, good ? role.data : "task");
    return buffer;
}

static void set_role(char **to, const struct value *labels)
{
    char buffer[64];
    free(*to);
    *to = memory_copy_string(clean_role(buffer, value_get_text(labels, "dlspool/role")));
}

static int64_t get_time(const struct value *object, const char *key)
{
    int64_t time;
    struct text text = value_get_text(object, key);
    return text.length && clock_parse(text, &time) == 0 ? time : 0;
}

static int get_count(const struct value *object, const char *key, int otherwise)
{
    double number = value_get_number(object, key, otherwise);
    if (!(number >= 0))
        return otherwise;
    return number > TASKS_LIMIT ? TASKS_LIMIT : (int)number;
}

/* A number as it is written, or 0. */
static uint64_t read_digits(struct text text)
{
    uint64_t number = 0;
    if (text.length > 19)
        return 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!isdigit((unsigned char)text.data[i]))
            return 0;
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    }
    return number;
}

uint64_t kubernetes_reduce_version(const struct value *object)
{
    return read_digits(value_get_text(value_get(object, "metadata"), "resourceVersion"));
}

/* Is it a valid name of an object?  Names become parts of paths. */
static bool is_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !memchr("-.", name.data[i], 2))
            return false;
    return name.length > 0 && name.length <= NAME_LIMIT && name.data[0] != '.';
}

/* ---- a pod ---- */

/* What the runtime calls the image: its digest behind the name under which it was fetched
 * (docker.io/library/python@sha256:...), or where it was not, the bare one of its configuration. */
static void read_image(struct cached_pod *pod, struct text image)
{
    const char *sum = image.length ? memmem(image.data, image.length, "sha256:", 7) : NULL;
    struct text digest =
        sum ? (struct text){sum, image.length - (size_t)(sum - image.data)} : image;
    if (sha256_is_digest(digest))
        snprintf(pod->image, sizeof(pod->image), "%.*s", (int)digest.length, digest.data);
}

static void read_containers(struct cached_pod *pod, const struct value *status)
{
    const struct value *list = value_get(status, "containerStatuses");
    pod->started = pod->main_ended = false;
    pod->start = pod->end = 0;
    for (size_t i = 0; i < value_length(list); i++) {
        const struct value *container = list->list.items[i];
        const struct value *state = value_get(container, "state");
        const struct value *running = value_get(state, "running");
        const struct value *terminated = value_get(state, "terminated");
        int64_t start = get_time(running ? running : terminated, "startedAt");
        int64_t end = get_time(terminated, "finishedAt");
        pod->end = end > pod->end ? end : pod->end;
        if (!text_is(value_get_text(container, "name"), "main") && value_length(list) > 1)
            continue;
        /* A container that could not be started has the epoch for its start; one that the node has
         * lost sight of has none. */
        pod->started = running || (terminated &&
                                   (start > 0 || !value_get_text(terminated, "startedAt").length));
        pod->main_ended = terminated != NULL;
        read_image(pod, value_get_text(container, "imageID"));
        pod->start = start > 0 ? start : 0;
    }
}

static int read_index(const struct value *metadata)
{
    static const char name[] = "batch.kubernetes.io/job-completion-index";
    struct text index = value_get_text(value_get(metadata, "labels"), name);
    if (!index.length)
        index = value_get_text(value_get(metadata, "annotations"), name);
    uint64_t number = read_digits(index);
    return number < TASKS_LIMIT ? (int)number : 0;
}

/* While it has this finalizer the Job controller has yet to count it; pods that it deletes by its own
 * request lose it before. */
static bool is_tracked(const struct value *metadata)
{
    const struct value *finalizers = value_get(metadata, "finalizers");
    for (size_t i = 0; i < value_length(finalizers); i++)
        if (text_is(finalizers->list.items[i]->string, "batch.kubernetes.io/job-tracking"))
            return true;
    return false;
}

static enum cached_phase read_phase(struct text phase)
{
    return text_is(phase, "Running")     ? POD_RUNNING
           : text_is(phase, "Succeeded") ? POD_SUCCEEDED
           : text_is(phase, "Failed")    ? POD_FAILED
           : text_is(phase, "Unknown")   ? POD_RUNNING
                                         : POD_PENDING;
}

bool kubernetes_reduce_pod(struct cached_pod *pod, const struct value *object)
{
    const struct value *metadata = value_get(object, "metadata");
    const struct value *status = value_get(object, "status");
    struct text uid = value_get_text(metadata, "uid"), name = value_get_text(metadata, "name");
    if (!uid.length || !is_name(name))
        return false;
    pod->uid = hash_text(HASH_START, uid);
    pod->version = kubernetes_reduce_version(object);
    cached_set_text(&pod->name, name, NAME_LIMIT);
    set_role(&pod->role, value_get(metadata, "labels"));
    struct text node = value_get_text(value_get(object, "spec"), "nodeName");
    snprintf(pod->node, sizeof(pod->node), "%.*s", (int)node.length, node.length ? node.data : "");
    pod->index = read_index(metadata);
    pod->created = get_time(metadata, "creationTimestamp");
    pod->deletion = get_time(metadata, "deletionTimestamp");
    pod->grace = get_count(metadata, "deletionGracePeriodSeconds", 0);
    if (!pod->deletion)
        pod->deletion_since = 0;
    else if (!pod->deletion_since)
        pod->deletion_since = clock_elapsed() + 1;
    pod->phase = read_phase(value_get_text(status, "phase"));
    pod->counted |=
        (pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED) && is_tracked(metadata);
    read_containers(pod, status);
    struct text disruption =
        value_get_text(kubernetes_condition_find_true(status, "DisruptionTarget"), "reason");
    pod->lost = text_is(value_get_text(status, "reason"), "NodeLost") ||
                text_is(disruption, "DeletionByTaintManager") ||
                text_is(disruption, "DeletionByPodGC");
    if (pod->phase == POD_PENDING)
        kubernetes_failure_read_waiting(pod, status);
    else
        cached_waiting_clear(&pod->waiting);
    if (pod->waiting.cause != WAITING_IMAGE)
        pod->image_since = 0;
    pod->exit_code = 0;
    pod->reason = "";
    cached_set_text(&pod->message, TEXT(""), 1);
    if (pod->phase == POD_FAILED)
        kubernetes_failure_read(pod, status);
    return true;
}

/* ---- a Job ---- */

static bool owned_by_job(const struct value *metadata)
{
    const struct value *owners = value_get(metadata, "ownerReferences");
    return value_find(owners, "kind", TEXT("Job")) != NULL;
}

static void read_conditions(struct cached_job *job, const struct value *status)
{
    const struct value *failed = kubernetes_condition_find_true(status, "Failed");
    const struct value *complete = kubernetes_condition_find_true(status, "Complete");
    job->settled = failed || complete;
    if (!failed)
        failed = kubernetes_condition_find_true(status, "FailureTarget");
    if (!complete)
        complete = kubernetes_condition_find_true(status, "SuccessCriteriaMet");
    job->failed = failed != NULL;
    job->complete = complete && !failed;
    job->deadline = text_is(value_get_text(failed, "reason"), "DeadlineExceeded");
    cached_set_text(&job->message, value_get_text(failed, "message"), MESSAGE_SIZE);
    job->end = get_time(status, "completionTime");
    if (!job->end)
        job->end = get_time(failed ? failed : complete, "lastTransitionTime");
    if (!job->settled)
        job->settled_since = 0;
    else if (!job->settled_since)
        job->settled_since = clock_elapsed() + 1;
}

static int64_t read_time_limit(const struct value *spec)
{
    double limit = value_get_number(value_get(value_get(spec, "template"), "spec"),
                                    "activeDeadlineSeconds", 0);
    return limit > 0 && limit <= LONGEST_LIMIT ? (int64_t)(limit * 1000) : 0;
}

/* Does the Job replace failed pods by itself?  dlspool's own templates have it do so only for what a job goes on
 * without meanwhile. */
static void read_retrying(struct cached_job *job, const struct value *spec)
{
    const struct value *rules = value_get(value_get(spec, "podFailurePolicy"), "rules");
    job->retries = value_get(spec, "backoffLimitPerIndex")
                       ? get_count(spec, "backoffLimitPerIndex", 0) > 0
                       : get_count(spec, "backoffLimit", 0) > 0;
    job->replaces = false;
    for (size_t i = 0; i < value_length(rules); i++) {
        const struct value *patterns = value_get(rules->list.items[i], "onPodConditions");
        if (!text_is(value_get_text(rules->list.items[i], "action"), "Ignore"))
            continue;
        for (size_t j = 0; j < value_length(patterns); j++)
            job->replaces |=
                text_is(value_get_text(patterns->list.items[j], "type"), "DisruptionTarget");
    }
}

bool kubernetes_reduce_job(struct cached_job *job, const struct value *object)
{
    const struct value *metadata = value_get(object, "metadata");
    const struct value *labels = value_get(metadata, "labels");
    const struct value *annotations = value_get(metadata, "annotations");
    const struct value *spec = value_get(object, "spec");
    const struct value *status = value_get(object, "status");
    struct text uid = value_get_text(metadata, "uid"), name = value_get_text(metadata, "name");
    if (!uid.length || !is_name(name))
        return false;
    job->uid = hash_text(HASH_START, uid);
    bool fits = uid.length < sizeof(job->uid_text);
    snprintf(job->uid_text, sizeof(job->uid_text), "%.*s", fits ? (int)uid.length : 0, uid.data);
    job->version = kubernetes_reduce_version(object);
    cached_set_text(&job->name, name, NAME_LIMIT);
    set_role(&job->role, labels);
    job->owner = !owned_by_job(metadata);
    /* The parallelism of a cancelled Job is 0. */
    job->completions = get_count(spec, "completions", get_count(spec, "parallelism", 1));
    job->at_once = get_count(spec, "parallelism", 1);
    job->suspended = value_get_boolean(spec, "suspend", false);
    if (!job->suspended)
        job->suspended_since = 0;
    else if (!job->suspended_since)
        job->suspended_since = clock_elapsed() + 1;
    job->cancelled = value_get(annotations, "dlspool/cancelled") != NULL;
    job->lingers = value_get(annotations, "dlspool/debug") != NULL;
    job->missing = false;
    struct text identity = value_get_text(labels, "dlspool/identity");
    snprintf(job->identity, sizeof(job->identity), "%.*s", (int)identity.length,
             identity.length ? identity.data : "");
    job->removed =
        value_get(metadata, "deletionTimestamp") || value_get(spec, "ttlSecondsAfterFinished");
    cached_set_text(&job->queue, value_get_text(labels, "kueue.x-k8s.io/queue-name"), 63);
    cached_set_text(&job->rule, value_get_text(annotations, "dlspool/complete"), RULE_LIMIT);
    cached_set_text(&job->completed, value_get_text(status, "completedIndexes"), INDEXES_LIMIT);
    cached_set_text(&job->given_up, value_get_text(status, "failedIndexes"), INDEXES_LIMIT);
    read_retrying(job, spec);
    job->time_limit = read_time_limit(spec);
    job->finished = get_count(status, "succeeded", 0) + get_count(status, "failed", 0);
    job->start = get_time(status, "startTime");
    read_conditions(job, status);
    return true;
}
