/* executors/kubernetes/phase.c - a job's phase, from what the cache knows of its Jobs and Pods
 *
 * The tasks are all indexes of all Jobs.  Of several pods of an index (one was lost, and replaced) the
 * one that succeeded counts, otherwise the newest; but where the rule has lost tasks tried again (`again`,
 * completion.h), which the Job controller does, such a task is lost until the pod in its place has started.
 * The state of a task without a pod comes from its Job: done when the Job lists its index or is complete,
 * failed when the Job has failed.
 *
 * Each pod has the whole time limit, counted from its own start.  That of a job whose pods are replaced is
 * counted here, from the first start; while dlspool is away nobody does that.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"
#include "executors/completion.h"
#include "executors/kubernetes/phase.h"
#include "executors/kubernetes/waiting.h"

enum { EXIT_UNKNOWN = 255, EXIT_STOPPED = 128 + SIGTERM };

static const int64_t lost_patience = 60000;    /* ms beyond a lost pod's time to go */
static const int64_t stale_patience = 60000;   /* ms for a finished Job's pods to be terminal */
static const int64_t missing_patience = 60000; /* ms of an image that is not there */
static const int64_t image_patience = 600000;  /* ms of an image that cannot be had */
static const int64_t overdue = 5000;           /* ms after which a time limit is enforced here */

/* A task with what orders and explains its end. */
struct task {
    const struct cached_job *job;
    const struct cached_pod *pod;
    const struct cached_pod *failed; /* the newest that has failed; NULL: none */
    int64_t end;
    bool again;   /* its job goes on without it until it was started again */
    bool stopped; /* it was told to end */
    struct task_state state;
    const char *words; /* of its failure */
};

struct assessment {
    struct cached_token *token;
    struct arena *arena;
    struct job_poll *poll;
    struct task *tasks;
    size_t count;
    bool started;
    const struct completion_rule *rule; /* NULL: the defaults */
};

/* ---- the tasks ---- */

static bool is_better(const struct cached_pod *a, const struct cached_pod *b)
{
    if (!b || (a->phase == POD_SUCCEEDED) != (b->phase == POD_SUCCEEDED))
        return !b || a->phase == POD_SUCCEEDED;
    if (a->created != b->created)
        return a->created > b->created;
    if ((a->deletion != 0) != (b->deletion != 0))
        return a->deletion == 0;
    /* Of two of the same second, the one in the place of a failed one. */
    if ((a->phase == POD_FAILED) != (b->phase == POD_FAILED))
        return b->phase == POD_FAILED;
    return strcmp(a->name, b->name) > 0;
}

static void read_rule(struct assessment *assessment)
{
    const struct cached_token *token = assessment->token;
    const struct cached_job *found = NULL;
    for (size_t j = 0; j < token->job_count; j++)
        if (token->jobs[j].rule && (!found || token->jobs[j].owner))
            found = &token->jobs[j];
    if (found)
        assessment->rule = completion_read(assessment->arena, text_of(found->rule), NULL);
}

/* Are lost tasks of the Job tried again, all of them?  (It does not know indexes: task 0 comes again, too.) */
static bool tries_again(const struct assessment *assessment, const struct cached_job *job)
{
    return job->retries && completion_again(assessment->rule, job->role, INT_MAX) > 0;
}

static void add_pod(struct task *task, const struct cached_pod *pod)
{
    if (is_better(pod, task->pod))
        task->pod = pod;
    if (pod->phase == POD_FAILED && is_better(pod, task->failed))
        task->failed = pod;
}

/* Make the list of all tasks, each with its Job and its best pod.  The number of tasks. */
static size_t list_tasks(struct assessment *assessment)
{
    const struct cached_token *token = assessment->token;
    size_t total = 0;
    for (size_t j = 0; j < token->job_count; j++)
        total += (size_t)token->jobs[j].completions;
    assessment->tasks = arena_allocate(assessment->arena, (total + 1) * sizeof(*assessment->tasks));
    assessment->poll->tasks =
        arena_allocate(assessment->arena, (total + 1) * sizeof(*assessment->poll->tasks));
    size_t at = 0;
    for (size_t j = 0; j < token->job_count; j++) {
        const struct cached_job *job = &token->jobs[j];
        struct task *first = &assessment->tasks[at];
        bool again = tries_again(assessment, job);
        for (int i = 0; i < job->completions; i++, at++) {
            assessment->tasks[at].job = job;
            assessment->tasks[at].again = again;
            assessment->tasks[at].state.index = i;
            assessment->tasks[at].state.killed = executor_task_is_killed(assessment->poll, i);
            snprintf(assessment->tasks[at].state.role, sizeof(assessment->tasks[at].state.role),
                     "%s", job->role);
        }
        for (size_t p = 0; p < token->pod_count; p++) {
            const struct cached_pod *pod = &token->pods[p];
            if (pod->index < job->completions && strcmp(pod->role, job->role) == 0)
                add_pod(&first[pod->index], pod);
        }
    }
    return total;
}

static void end_task(struct task *task, int exit_code, const char *reason, const char *words)
{
    task->state.ended = true;
    task->state.exit_code = exit_code;
    snprintf(task->state.reason, sizeof(task->state.reason), "%s", reason);
    task->words = words;
}

/* Is the index in a list such as "0-3,5"? */
static bool holds_index(const char *indexes, int index)
{
    while (indexes && *indexes) {
        char *end;
        long first = strtol(indexes, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (index >= first && index <= last)
            return true;
        indexes = *end == ',' ? end + 1 : NULL;
    }
    return false;
}

/* Does the task go on in another pod, which its Job makes in place of this one? */
static bool is_replaced(const struct task *task)
{
    const struct cached_job *job = task->job;
    const struct cached_pod *pod = task->pod;
    bool disrupted = strcmp(pod->reason, "NodeLost") == 0 ||
                     strcmp(pod->reason, "Preempted") == 0 || strcmp(pod->reason, "Evicted") == 0;
    if (job->suspended && pod->deletion) /* Kueue has suspended the Job for now */
        return !job->cancelled;
    /* Kueue may have resumed it before the pod was gone: then the Job does not count this pod. */
    if (pod->phase == POD_FAILED && pod->deletion && !pod->counted && !job->failed &&
        !job->cancelled)
        return true;
    return pod->phase == POD_FAILED && !task->again && !job->failed && !job->complete &&
           !job->cancelled && !job->deadline && (job->retries || (job->replaces && disrupted)) &&
           !holds_index(job->given_up, pod->index);
}

/* A task whose pod has ended: has it, and with which exit code and reason?  Not when the Job replaces
 * the pod. */
static void assess_ended_pod(struct task *task)
{
    const struct cached_pod *pod = task->pod;
    bool told = task->job->cancelled && pod->deletion;
    if (is_replaced(task))
        return;
    /* When a Job has failed, its other pods are stopped.  Within the same second, or with clocks of nodes
     * that differ, they must not be taken for the first failure. */
    task->stopped = told || (task->job->failed && pod->deletion && pod->phase == POD_FAILED &&
                             strcmp(pod->reason, "Exited") == 0);
    if (task->job->deadline && pod->phase == POD_FAILED && strcmp(pod->reason, "Exited") == 0)
        end_task(task, pod->exit_code, "TimeLimit", "ran for longer than its time limit");
    else if (told)
        end_task(task, pod->exit_code ? pod->exit_code : EXIT_STOPPED, "Killed",
                 "was stopped because the job was cancelled");
    else if (pod->phase == POD_SUCCEEDED)
        end_task(task, 0, "", "");
    else
        end_task(task, pod->exit_code, pod->reason, pod->message ? pod->message : "failed");
}

/* Did the job wait for that image before this process knew of it? */
static bool waited_for_image(const struct job_poll *poll, const struct cached_pod *pod)
{
    struct text word = pod->waiting.text ? text_of(pod->waiting.text) : TEXT("");
    word.length = strcspn(word.data, ":");
    return pod->waiting.cause == WAITING_IMAGE && poll->waited_for && word.length &&
           text_contains(text_of(poll->waited_for), word);
}

/* How long the pod of a node that does not answer has been told to go; 0: it was not. */
static int64_t time_going(const struct job_poll *poll, const struct cached_pod *pod)
{
    int64_t going = pod->deletion_since ? clock_elapsed() - pod->deletion_since : 0;
    const int64_t *since =
        poll->unreachable ? names_find(poll->unreachable, text_of(pod->name)) : NULL;
    return since && clock_now() - *since > going ? clock_now() - *since : going;
}

/* A task whose pod has not ended counts as ended when its node is lost, when its image cannot be
 * pulled, or when its Job ended a while ago and the pod still looks alive. */
static void assess_active_pod(const struct assessment *assessment, struct task *task)
{
    const struct job_poll *poll = assessment->poll;
    const struct cached_pod *pod = task->pod;
    const struct cached_job *job = task->job;
    int64_t now = clock_elapsed();
    int64_t waits = pod->image_since ? now - pod->image_since : 0;
    if (waits && waited_for_image(poll, pod) && clock_now() - poll->waited_since > waits)
        waits = clock_now() - poll->waited_since;
    if (pod->lost)
        task->state.unreachable = arena_string(assessment->arena, pod->name);
    if (pod->lost && time_going(poll, pod) > 1000 * (int64_t)pod->grace + lost_patience)
        end_task(task, EXIT_UNKNOWN, "NodeLost",
                 "was lost: its node does not answer, and nobody knows whether it still runs");
    else if (waits > missing_patience && pod->image_missing)
        end_task(task, EXIT_UNKNOWN, "ImageMissing", pod->waiting.text);
    else if (waits > image_patience)
        end_task(task, EXIT_UNKNOWN, "ImagePull", pod->waiting.text);
    else if (job->settled_since && now - job->settled_since > stale_patience && job->complete)
        end_task(task, 0, "", "");
    else if (job->settled_since && now - job->settled_since > stale_patience)
        end_task(task, EXIT_UNKNOWN, job->deadline ? "TimeLimit" : "Failed",
                 job->message ? job->message : "failed with its Job");
}

/* A task without a pod: its Job tells how it ended, if it has. */
static void assess_missing_pod(struct task *task)
{
    const struct cached_job *job = task->job;
    if (job->missing) {
        end_task(task, EXIT_UNKNOWN, "Vanished", "is gone: its Job was deleted");
    } else if ((job->complete && job->settled) || holds_index(job->completed, task->state.index)) {
        end_task(task, 0, "", "");
    } else if (holds_index(job->given_up, task->state.index)) {
        end_task(task, EXIT_UNKNOWN, "Failed", "failed, and its pod is gone");
    } else if (job->cancelled) {
        task->stopped = true;
        end_task(task, EXIT_STOPPED, "Killed", "was stopped because the job was cancelled");
    } else if (job->failed && job->settled) {
        end_task(task, EXIT_UNKNOWN, job->deadline ? "TimeLimit" : "Failed",
                 job->message ? job->message : "failed, and its pod is gone");
    }
}

/* The pod that tells how the task fares.  One that has failed does so until the next one has started, for which
 * there may be no room. */
static const struct cached_pod *telling_pod(const struct task *task)
{
    const struct cached_pod *pod = task->pod;
    bool begun = pod && (pod->started || pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED);
    return task->again && task->failed && !begun ? task->failed : pod;
}

/* Milliseconds that it has run. */
static int64_t time_of_pod(const struct cached_pod *pod)
{
    int64_t end = pod->end ? pod->end : clock_now();
    return end > pod->start ? end - pod->start : 0;
}

/* Set the state of a task, and what it adds to the job's start, end and node. */
static void assess_task(struct assessment *assessment, struct task *task)
{
    const struct cached_pod *pod = task->pod = telling_pod(task);
    if (!pod)
        assess_missing_pod(task);
    else if (pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED)
        assess_ended_pod(task);
    else
        assess_active_pod(assessment, task);
    task->end = pod && pod->end ? pod->end : task->job->end ? task->job->end : INT64_MAX;
    task->state.waits = !task->state.ended && !(pod && pod->started);
    if (pod && pod->started) {
        memcpy(task->state.image, pod->image, sizeof(task->state.image));
        assessment->started = true;
        if (pod->start && (!assessment->poll->started || pod->start < assessment->poll->started))
            assessment->poll->started = pod->start;
        if (pod->start)
            assessment->poll->task_time += time_of_pod(pod);
        if (!assessment->poll->node[0])
            memcpy(assessment->poll->node, pod->node, sizeof(assessment->poll->node));
    }
    if (task->state.ended && task->end != INT64_MAX && task->end > assessment->poll->ended)
        assessment->poll->ended = task->end;
}

/* ---- the decision ---- */

/* Order tasks by their ends; then those that were stopped, then those that run. */
static int compare_ends(const void *a, const void *b)
{
    const struct task *first = a, *second = b;
    int order = (int)second->state.ended - (int)first->state.ended;
    if (order == 0)
        order = (int)first->stopped - (int)second->stopped;
    if (order == 0)
        order = (first->end > second->end) - (first->end < second->end);
    if (order == 0)
        order = (first->state.exit_code != 0) - (second->state.exit_code != 0);
    if (order == 0)
        order = strcmp(first->state.role, second->state.role);
    return order ? order
                 : (first->state.index > second->state.index) -
                       (first->state.index < second->state.index);
}

static int compare_tasks(const void *a, const void *b)
{
    const struct task_state *first = a, *second = b;
    int order = strcmp(first->role, second->role);
    return order ? order : (first->index > second->index) - (first->index < second->index);
}

/* Find the fewest ends, in their order, that decide the outcome; more ends never undo a decision. */
static struct completion_outcome find_decision(struct assessment *assessment, size_t ended,
                                               size_t *deciding)
{
    const struct completion_rule *rule = assessment->rule;
    struct completion_outcome outcome =
        completion_judge(rule, assessment->poll->tasks, ended, assessment->count);
    size_t low = 0, high = ended;
    while (outcome.state != COMPLETION_RUNNING && low < high) {
        size_t middle = low + (high - low) / 2;
        struct completion_outcome earlier =
            completion_judge(rule, assessment->poll->tasks, middle, assessment->count);
        if (earlier.state == COMPLETION_RUNNING) {
            low = middle + 1;
        } else {
            high = middle;
            outcome = earlier;
        }
    }
    *deciding = outcome.decider ? (size_t)(outcome.decider - assessment->poll->tasks) : ended;
    return outcome;
}

static void explain_failure(struct assessment *assessment, const struct task *task)
{
    struct cached_token *token = assessment->token;
    struct job_poll *poll = assessment->poll;
    poll->exit_code = task->state.exit_code;
    memcpy(poll->reason, task->state.reason, sizeof(poll->reason));
    char *clean = cached_copy_text(text_of(task->words), sizeof(poll->detail) - 100);
    bool waiting = strncmp(task->state.reason, "Image", 5) == 0;
    snprintf(poll->detail, sizeof(poll->detail), "task %s-%d %s%s", task->state.role,
             task->state.index, waiting ? "does not get its image: " : "", clean);
    free(clean);
    /* Keep a failure that shows only while a pod waits: the pod is deleted when the job is stopped. */
    if (waiting && !token->kept) {
        token->kept = memory_allocate(sizeof(*token->kept));
        token->kept->exit_code = poll->exit_code;
        memcpy(token->kept->reason, poll->reason, sizeof(token->kept->reason));
        memcpy(token->kept->detail, poll->detail, sizeof(token->kept->detail));
    }
}

static void fail_as_kept(struct assessment *assessment)
{
    const struct kept_failure *kept = assessment->token->kept;
    assessment->poll->phase = PHASE_FAILED;
    assessment->poll->exit_code = kept->exit_code;
    memcpy(assessment->poll->reason, kept->reason, sizeof(assessment->poll->reason));
    memcpy(assessment->poll->detail, kept->detail, sizeof(assessment->poll->detail));
}

/* Set the phase, by the completion rule and the tasks in the order of their ends, and for a failure the
 * task that caused it.  A failure that was kept is reported as it was first. */
static void decide_phase(struct assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    size_t ended = 0, deciding;
    qsort(assessment->tasks, assessment->count, sizeof(*assessment->tasks), compare_ends);
    for (size_t i = 0; i < assessment->count; i++) {
        poll->tasks[i] = assessment->tasks[i].state;
        ended += assessment->tasks[i].state.ended;
    }
    struct completion_outcome outcome = find_decision(assessment, ended, &deciding);
    if (outcome.state == COMPLETION_SUCCEEDED) {
        poll->phase = PHASE_SUCCEEDED;
    } else if (outcome.state == COMPLETION_FAILED && assessment->token->kept) {
        fail_as_kept(assessment);
    } else if (outcome.state == COMPLETION_FAILED) {
        poll->phase = PHASE_FAILED;
        if (deciding < ended)
            explain_failure(assessment, &assessment->tasks[deciding]);
    } else {
        poll->phase = assessment->started ? PHASE_RUNNING : PHASE_WAITING;
        poll->ended = 0;
    }
    qsort(poll->tasks, assessment->count, sizeof(*poll->tasks), compare_tasks);
    poll->task_count = assessment->count;
}

/* Has a job whose pods are replaced been running for longer than it may, counted from its first start? */
static bool is_overdue(const struct assessment *assessment)
{
    const struct cached_token *token = assessment->token;
    int64_t limit = 0, first = INT64_MAX;
    for (size_t j = 0; j < token->job_count; j++)
        if (tries_again(assessment, &token->jobs[j]))
            limit = token->jobs[j].time_limit;
    for (size_t p = 0; limit && p < token->pod_count; p++)
        if (token->pods[p].start && token->pods[p].start < first)
            first = token->pods[p].start;
    return first < INT64_MAX && clock_now() - first > limit + overdue;
}

static void end_overdue(struct job_poll *poll)
{
    poll->phase = PHASE_FAILED;
    poll->exit_code = EXIT_UNKNOWN;
    snprintf(poll->reason, sizeof(poll->reason), "TimeLimit");
    snprintf(poll->detail, sizeof(poll->detail), "the job ran for longer than its time limit");
}

static int compare_nodes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The nodes on which the tasks of an ended job have run. */
static int count_nodes(struct assessment *assessment)
{
    const char **nodes =
        arena_allocate(assessment->arena, (assessment->count + 1) * sizeof(*nodes));
    size_t used = 0;
    int count = 0;
    for (size_t i = 0; i < assessment->count; i++)
        if (assessment->tasks[i].pod && assessment->tasks[i].pod->node[0])
            nodes[used++] = assessment->tasks[i].pod->node;
    qsort(nodes, used, sizeof(*nodes), compare_nodes);
    for (size_t i = 0; i < used; i++)
        count += i == 0 || strcmp(nodes[i - 1], nodes[i]) != 0;
    return count;
}

/* Do the Jobs count more finished pods than the cache has?  Missing pods may have output. */
static bool lacks_pods(const struct cached_token *token)
{
    int finished = 0, known = 0;
    for (size_t i = 0; i < token->job_count; i++)
        if (!token->jobs[i].missing)
            finished += token->jobs[i].finished;
    for (size_t i = 0; i < token->pod_count; i++)
        known += token->pods[i].phase == POD_SUCCEEDED || token->pods[i].phase == POD_FAILED;
    return finished > known;
}

enum kubernetes_known kubernetes_phase_poll(struct cached_token *token, struct arena *arena,
                                            struct job_poll *poll)
{
    struct assessment assessment = {.token = token, .arena = arena, .poll = poll};
    read_rule(&assessment);
    assessment.count = list_tasks(&assessment);
    for (size_t i = 0; i < assessment.count; i++)
        assess_task(&assessment, &assessment.tasks[i]);
    decide_phase(&assessment);
    if (poll->phase == PHASE_RUNNING && is_overdue(&assessment))
        end_overdue(poll);
    if (poll->phase == PHASE_WAITING)
        snprintf(poll->detail, sizeof(poll->detail), "%s", kubernetes_waiting_say(token));
    if (poll->ended && poll->ended < poll->started)
        poll->ended = poll->started;
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    if (ended)
        poll->nodes = count_nodes(&assessment);
    return ended && !token->confirmed && lacks_pods(token) ? KUBERNETES_DOUBTFUL : KUBERNETES_KNOWN;
}
