/* executors/local/again.c - starts again the tasks that a job has lost and goes on without */
#include "executors/local/again.h"

#include "base/clock.h"
#include "base/log.h"
#include "executors/local/numbers.h"
#include "executors/local/turns.h"

static const int64_t rest = 10000;   /* milliseconds after a task has failed */
static const int64_t overdue = 5000; /* milliseconds after which a time limit is enforced here */

/* ---- which ---- */

static int64_t first_start(const struct local_again *job)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < job->count; i++)
        if (job->tasks[i]->started && job->tasks[i]->started < first)
            first = job->tasks[i]->started;
    return first;
}

/* When the job's time is over, by the time of day; INT64_MAX: never. */
static int64_t time_over(const struct local_again *job)
{
    int64_t limit = local_label_number(job->tasks[0], "time_limit"), first = first_start(job);
    return limit > 0 && first < INT64_MAX - limit ? first + limit : INT64_MAX;
}

static bool is_due(const struct local *local, const struct local_again *job,
                   const struct podman_container *task, int64_t now)
{
    int most = completion_again(job->rule, local_label(task, "role"),
                                (int)local_label_number(task, "index"));
    const int64_t *times =
        local->started_again ? names_find(local->started_again, task->name) : NULL;
    return task->state == PODMAN_STATE_ENDED && task->exit_code != 0 && task->started &&
           task->ended && now - task->ended >= rest && (times ? *times : 0) < most;
}

/* Are the task's devices, which it keeps, still not used by others? */
static bool has_devices(const struct free_resources *available, const char *gpus)
{
    struct text left = text_of(gpus), name;
    while (left.length && text_next(&left, ',', &name)) {
        size_t at = 0;
        while (at < available->machine->gpu_count &&
               !text_equal(available->machine->gpus[at], name))
            at++;
        if (at == available->machine->gpu_count || available->gpu_taken[at])
            return false;
    }
    return true;
}

/* Choose the tasks of a job that are due and fit, and take their resources. */
static size_t choose_lost(const struct local *local, const struct local_again *job, int64_t now,
                          struct free_resources *available, struct podman_container **chosen)
{
    size_t count = 0;
    for (size_t i = 0; i < job->count; i++) {
        struct podman_container *task = job->tasks[i];
        const char *gpus = local_label(task, "gpus_assigned");
        struct demand demand = local_label_demand(task);
        if (!is_due(local, job, task, now) || resources_fit_now(available, demand, NULL) ||
            !has_devices(available, gpus))
            continue;
        resources_take(available, demand, text_of(gpus));
        chosen[count++] = task;
    }
    return count;
}

static size_t count_due(const struct local *local, const struct local_again *jobs, size_t count,
                        int64_t now)
{
    size_t due = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; now < time_over(&jobs[i]) - rest && j < jobs[i].count; j++)
            due += is_due(local, &jobs[i], jobs[i].tasks[j], now);
    return due;
}

/* ---- doing it ---- */

/* Kill what runs after the job's time is over: podman applies the limit only to a container's first start. */
static void end_overdue(struct local *local, struct arena *arena, const struct local_again *jobs,
                        size_t count, int64_t now)
{
    for (size_t i = 0; i < count; i++) {
        int64_t until = time_over(&jobs[i]);
        for (size_t j = 0; until < now - overdue && j < jobs[i].count; j++) {
            struct podman_call call = {0};
            if (jobs[i].tasks[j]->state != PODMAN_STATE_RUNNING)
                continue;
            podman_call_kill(
                &call,
                arena_text(arena, jobs[i].tasks[j]->name.data, jobs[i].tasks[j]->name.length).data,
                "KILL");
            podman_run(local->podman, &call, 1);
            podman_call_free(&call);
        }
    }
}

static void start_due(struct local *local, struct arena *arena, const struct local_again *jobs,
                      size_t count, size_t due, int64_t now)
{
    struct free_resources available;
    struct podman_container *all, **chosen;
    size_t all_count, chosen_count = 0;
    if (local_list(local, arena, true, &all, &all_count, NULL))
        return;
    local_available(local, arena, &available, all, all_count);
    chosen = arena_allocate(arena, (due + 1) * sizeof(struct podman_container *));
    for (size_t i = 0; i < count; i++)
        if (now < time_over(&jobs[i]) - rest)
            chosen_count += choose_lost(local, &jobs[i], now, &available, chosen + chosen_count);
    for (size_t i = 0; i < chosen_count; i++) {
        ++*local_numbers_at(&local->started_again, chosen[i]->name);
        log_say("%.*s, which had failed, is started again", (int)chosen[i]->name.length,
                chosen[i]->name.data);
    }
    local_turns_start_ended(local, arena, chosen, chosen_count);
}

bool local_again_start(struct local *local, struct arena *arena, const struct local_again *jobs,
                       size_t count)
{
    int64_t now = clock_now();
    size_t due = count_due(local, jobs, count, now);
    end_overdue(local, arena, jobs, count, now);
    int held = due ? local_turns_hold(local, 0) : -1;
    if (held < 0)
        return false;
    start_due(local, arena, jobs, count, due, now);
    local_turns_release(held);
    return true;
}
