/* web/openpai_job.c - a job as OpenPAI's REST server describes it to its clients */
#include "web/openpai_job.h"

#include "client/job_tasks.h"

static bool was_killed(const struct job_view *view)
{
    return view->record.failed && text_is(view->record.failure.reason, "Killed");
}

const char *openpai_job_state(const struct job_view *view)
{
    switch (view->situation.state) {
    case JOB_RUNNING:
        return "RUNNING";
    case JOB_STOPPING:
        return "STOPPING";
    case JOB_DONE:
        return "SUCCEEDED";
    case JOB_FAILED:
        if (!view_has_ended(view))
            return "WAITING";
        return was_killed(view) ? "STOPPED" : "FAILED";
    default:
        return "WAITING";
    }
}

/* The word of OpenPAI's controller for it. */
static const char *inner_state(const struct job_view *view)
{
    switch (view->situation.state) {
    case JOB_QUEUED:
        return "AttemptPreparing";
    case JOB_RUNNING:
        return "AttemptRunning";
    case JOB_STOPPING:
        return "AttemptDeleting";
    case JOB_DONE:
        return "Completed";
    case JOB_FAILED:
        return view_has_ended(view) ? "Completed" : "AttemptCreationPending";
    default:
        return "AttemptCreationPending";
    }
}

static void put_string(struct arena *arena, struct value *tree, const char *key, const char *string)
{
    value_put(arena, tree, key, value_string(arena, string));
}

static void put_number(struct arena *arena, struct value *tree, const char *key, double number)
{
    value_put(arena, tree, key, value_number(arena, number));
}

/* A time of day in milliseconds; null when it is not known. */
static void put_time(struct arena *arena, struct value *tree, const char *key, int64_t time)
{
    value_put(arena, tree, key, time ? value_number(arena, (double)time) : value_null(arena));
}

static void put_code(struct arena *arena, struct value *tree, const char *key, int code)
{
    value_put(arena, tree, key, code >= 0 ? value_number(arena, code) : value_null(arena));
}

static struct text name_of(struct arena *arena, const struct job_view *view)
{
    return view->record.name.length ? view->record.name
                                    : text_of(arena_string(arena, view->place.id));
}

/* What both a list and a job have. */
static void put_status(struct arena *arena, struct value *tree, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    bool stopped = was_killed(view) || view->situation.state == JOB_STOPPING;
    value_put(arena, tree, "username", value_text(arena, record->owner));
    put_string(arena, tree, "state", openpai_job_state(view));
    put_string(arena, tree, "subState", inner_state(view));
    put_string(arena, tree, "executionType", stopped ? "STOP" : "START");
    put_number(arena, tree, "retries", record->retried);
    struct value *retries = value_object(arena);
    put_number(arena, retries, "user", record->retried);
    put_number(arena, retries, "platform", 0);
    put_number(arena, retries, "resource", 0);
    value_put(arena, tree, "retryDetails", retries);
    put_time(arena, tree, "retryDelayTime", record->failed ? record->failure.delay / 1000 : 0);
    put_time(arena, tree, "submissionTime", record->accepted);
    put_time(arena, tree, "createdTime", record->accepted);
    put_time(arena, tree, "launchedTime", view->situation.started);
    put_time(arena, tree, "completedTime", view_has_ended(view) ? view->situation.ended : 0);
    put_code(arena, tree, "appExitCode", view_has_ended(view) ? view_exit_code(view) : -1);
    value_put(arena, tree, "virtualCluster",
              value_text(arena, record->queue.length ? record->queue : TEXT("default")));
}

static struct value *priority_of(struct arena *arena, const struct job_view *view)
{
    struct text class = view->record.priority_class;
    return class.length ? value_text(arena, class) : value_null(arena);
}

struct value *openpai_job_summary(const struct spool *spool, struct arena *arena,
                                  const struct job_view *view)
{
    struct value *tree = value_object(arena);
    struct job_tasks_number number = job_tasks_count(spool, arena, view);
    bool array = view->record.array.length > 0;
    put_string(arena, tree, "debugId", view->place.id);
    value_put(arena, tree, "name", value_text(arena, name_of(arena, view)));
    put_status(arena, tree, view);
    put_number(arena, tree, "totalGpuNumber", view->record.gpus * (array ? number.tasks : 1));
    put_number(arena, tree, "totalTaskNumber", number.tasks);
    put_number(arena, tree, "totalTaskRoleNumber", number.roles);
    value_put(arena, tree, "jobPriority", priority_of(arena, view));
    value_put(arena, tree, "tags", value_list(arena));
    return tree;
}

/* The state of a task: its own end, or what its job is at. */
static const char *task_state(const struct job_view *view, const struct job_task *task)
{
    if (task->exit_code >= 0)
        return task->exit_code ? "FAILED" : "SUCCEEDED";
    return openpai_job_state(view);
}

/* A task as clients show it, and as the VS Code extension makes an ssh host of it. */
static struct value *task_tree(struct arena *arena, const struct job_view *view,
                               const struct job_task *task)
{
    struct value *tree = value_object(arena);
    struct text node = text_of(view->situation.node);
    put_number(arena, tree, "taskIndex", task->index);
    put_string(arena, tree, "taskState", task_state(view, task));
    value_put(
        arena, tree, "containerId",
        value_text(arena, arena_printf(arena, "%s-a%d-%.*s", view->place.id, view->record.attempt,
                                       (int)task->log.length - 4, task->log.data)));
    value_put(arena, tree, "containerIp",
              node.length ? value_text(arena, node) : value_null(arena));
    value_put(arena, tree, "containerNodeName",
              node.length ? value_text(arena, node) : value_null(arena));
    value_put(arena, tree, "containerPorts", value_object(arena));
    value_put(arena, tree, "containerGpus", value_null(arena));
    value_put(
        arena, tree, "containerLog",
        value_text(arena, arena_printf(arena, "/dlspool/v1/jobs/%s/output/%.*s", view->place.id,
                                       (int)task->log.length, task->log.data)));
    put_code(arena, tree, "containerExitCode", task->exit_code);
    put_number(arena, tree, "retries", view->record.retried);
    put_number(arena, tree, "accountableRetries", view->record.retried);
    put_time(arena, tree, "createdTime", view->situation.queued);
    put_time(arena, tree, "launchedTime", view->situation.started);
    put_time(arena, tree, "completedTime", task->exit_code >= 0 ? view->situation.ended : 0);
    put_number(arena, tree, "attemptId", 0);
    put_string(arena, tree, "attemptState", task_state(view, task));
    return tree;
}

static struct value *roles_tree(struct arena *arena, const struct job_view *view,
                                const struct job_tasks *tasks)
{
    struct value *roles = value_object(arena);
    for (size_t i = 0; i < tasks->count; i++) {
        const struct job_task *task = &tasks->items[i];
        struct member *member = value_member(roles, task->role);
        if (!member) {
            struct value *role = value_object(arena), *status = value_object(arena);
            value_put(arena, status, "name", value_text(arena, task->role));
            value_put(arena, role, "taskRoleStatus", status);
            value_put(arena, role, "taskStatuses", value_list(arena));
            member = value_set(arena, roles, task->role, role);
        }
        value_append(arena, value_get(member->value, "taskStatuses"), task_tree(arena, view, task));
    }
    return roles;
}

struct value *openpai_job_detail(const struct spool *spool, struct arena *arena,
                                 const struct job_view *view)
{
    struct value *tree = value_object(arena), *status = value_object(arena);
    struct job_tasks tasks;
    int attempt = view->record.attempt > 0 ? view->record.attempt - 1 : 0;
    job_tasks_find(spool, arena, view, &tasks);
    put_string(arena, tree, "debugId", view->place.id);
    value_put(arena, tree, "name", value_text(arena, name_of(arena, view)));
    value_put(arena, tree, "tags", value_list(arena));
    value_put(arena, tree, "jobPriority", priority_of(arena, view));
    put_status(arena, status, view);
    put_number(arena, status, "attemptId", attempt);
    put_string(arena, status, "attemptState", openpai_job_state(view));
    put_string(arena, status, "appId", view->place.id);
    put_number(arena, status, "appProgress", view_has_ended(view) ? 1 : 0);
    put_string(arena, status, "appTrackingUrl", "");
    put_time(arena, status, "appCreatedTime", view->situation.queued);
    put_time(arena, status, "appLaunchedTime", view->situation.started);
    put_time(arena, status, "appCompletedTime", view_has_ended(view) ? view->situation.ended : 0);
    value_put(arena, status, "appExitSpec", value_null(arena));
    value_put(arena, status, "appExitDiagnostics",
              view->why.length ? value_text(arena, view->why) : value_null(arena));
    value_put(arena, status, "appExitMessages", value_null(arena));
    value_put(arena, status, "appExitTriggerMessage", value_null(arena));
    value_put(arena, status, "appExitTriggerTaskRoleName", value_null(arena));
    value_put(arena, status, "appExitTriggerTaskIndex", value_null(arena));
    value_put(arena, status, "appExitType",
              view->record.failed ? value_text(arena, view->record.failure.reason)
                                  : value_null(arena));
    value_put(arena, tree, "jobStatus", status);
    value_put(arena, tree, "taskRoles", roles_tree(arena, view, &tasks));
    return tree;
}
