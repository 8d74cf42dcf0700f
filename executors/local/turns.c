/* executors/local/turns.c - jobs whose tasks take turns: at most `parallelism` run at once
 *
 * Known weakness: of a job with GPUs, a task waits for the one that has its devices, although
 * others may be free by then.
 */
#include "executors/local/turns.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/local/sources.h"

struct refusal {
    char *name; /* of the container */
    char *sentence;
};

enum {
    TRIES = 4, /* rounds of starts in one poll: each may find tasks that cannot be started */
    HOLD_TIMEOUT = 5000, /* milliseconds for the check of the users' paths */
};

/* ---- what cannot be started ---- */

static struct refusal *find_refusal(const struct local *local, struct text name)
{
    for (size_t i = 0; i < local->refusal_count; i++)
        if (text_is(name, local->refusals[i].name))
            return &local->refusals[i];
    return NULL;
}

static void note_refusal(struct local *local, struct text name, const char *sentence)
{
    char copy[LOCAL_NAME_SIZE];
    snprintf(copy, sizeof(copy), "%.*s", (int)name.length, name.data);
    local->refusals =
        memory_resize(local->refusals, (local->refusal_count + 1) * sizeof(*local->refusals));
    local->refusals[local->refusal_count++] = (struct refusal){
        .name = memory_copy_string(copy), .sentence = memory_copy_string(sentence)};
}

const char *local_turns_refusal(const struct local *local, const struct podman_container *container)
{
    const struct refusal *refusal = find_refusal(local, container->name);
    return refusal ? refusal->sentence : NULL;
}

static void forget_refusals(struct local *local, const char *prefix)
{
    size_t kept = 0;
    for (size_t i = 0; i < local->refusal_count; i++) {
        struct refusal *refusal = &local->refusals[i];
        if (strncmp(refusal->name, prefix, strlen(prefix)) != 0) {
            local->refusals[kept++] = *refusal;
            continue;
        }
        free(refusal->name);
        free(refusal->sentence);
    }
    local->refusal_count = kept;
}

void local_turns_forget(struct local *local, const char *id, int attempt)
{
    char job[LOCAL_NAME_SIZE], prefix[LOCAL_NAME_SIZE + 1];
    local_job_name(job, id, attempt);
    snprintf(prefix, sizeof(prefix), "%s-", job);
    forget_refusals(local, prefix);
}

void local_turns_free(struct local *local)
{
    forget_refusals(local, "");
    free(local->refusals);
    local->refusals = NULL;
}

/* ---- which tasks are next ---- */

static bool waits_for_turn(const struct podman_container *container)
{
    return container->state == PODMAN_STATE_CREATED && !container->started;
}

void local_turns_settle(const struct local *local, struct podman_container *container)
{
    bool lost = container->state == PODMAN_STATE_CREATED && container->started;
    if (!lost && !(waits_for_turn(container) && find_refusal(local, container->name)))
        return;
    container->state = PODMAN_STATE_ENDED;
    container->exit_code = -1;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct podman_container *first = *(struct podman_container *const *)a;
    const struct podman_container *second = *(struct podman_container *const *)b;
    int order = strcmp(local_label(first, "role"), local_label(second, "role"));
    int64_t left = local_label_number(first, "index"), right = local_label_number(second, "index");
    return order ? order : (left > right) - (left < right);
}

/* Does a task of the job that runs have one of these devices? */
static bool is_in_use(const struct local_turns *job, const char *gpus)
{
    struct text rest = text_of(gpus), wanted, other;
    while (rest.length && text_next(&rest, ',', &wanted))
        for (size_t i = 0; i < job->count; i++) {
            struct text theirs = text_of(local_label(job->tasks[i], "gpus_assigned"));
            while (job->tasks[i]->state == PODMAN_STATE_RUNNING && theirs.length &&
                   text_next(&theirs, ',', &other))
                if (text_equal(wanted, other))
                    return true;
        }
    return false;
}

/* Choose the tasks whose turn it is, and set them to running, so that no two take the same place. */
static size_t choose_tasks(const struct local_turns *job, struct free_resources *available,
                           struct podman_container **chosen)
{
    size_t count = 0;
    int64_t places = job->parallelism;
    for (size_t i = 0; i < job->count; i++)
        places -= job->tasks[i]->state == PODMAN_STATE_RUNNING;
    for (size_t i = 0; i < job->count && places > 0; i++) {
        struct podman_container *task = job->tasks[i];
        struct demand demand = local_label_demand(task);
        demand.gpus = 0; /* the job has kept them */
        if (!waits_for_turn(task) || is_in_use(job, local_label(task, "gpus_assigned")))
            continue;
        if (resources_fit_now(available, demand, NULL))
            break;
        resources_take(available, demand, (struct text){"", 0});
        task->state = PODMAN_STATE_RUNNING;
        chosen[count++] = task;
        places--;
    }
    return count;
}

/* ---- one process at a time ---- */

int local_turns_hold(const struct local *local, int64_t patience)
{
    enum { PAUSE = 5000000 }; /* nanoseconds */
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int64_t begin = clock_elapsed();
    int held = openat(local->directory, "turns", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* A record lock: child processes do not inherit it, and it ends with this process. */
    while (held >= 0 && fcntl(held, F_SETLK, &lock)) {
        if (clock_elapsed() - begin >= patience) {
            close(held);
            return -1;
        }
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    }
    return held;
}

void local_turns_release(int held)
{
    if (held >= 0)
        close(held);
}

/* ---- starting ---- */

/* List the jobs of the containers, each once; returns how many. */
static size_t jobs_of(struct local *local, struct arena *arena,
                      struct podman_container *const *tasks, size_t count, struct sources **jobs)
{
    size_t found = 0;
    char name[LOCAL_NAME_SIZE];
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        local_job_name(name, local_label(tasks[i], "job"),
                       (int)local_label_number(tasks[i], "attempt"));
        while (at < found && strcmp(jobs[at]->job, name) != 0)
            at++;
        if (at < found || !*local_label(tasks[i], "sources"))
            continue;
        jobs[found] = arena_allocate(arena, sizeof(struct sources));
        *jobs[found] = (struct sources){.local = local};
        memcpy(jobs[found++]->job, name, sizeof(name));
    }
    return found;
}

/* The outcome of holding what the task's job mounts; a job that is not in the list has nothing held. */
static enum access_outcome outcome_of(const struct podman_container *task,
                                      struct sources *const *jobs, size_t count,
                                      const char **sentence)
{
    char name[LOCAL_NAME_SIZE];
    local_job_name(name, local_label(task, "job"), (int)local_label_number(task, "attempt"));
    for (size_t i = 0; i < count; i++)
        if (strcmp(jobs[i]->job, name) == 0) {
            *sentence = jobs[i]->access.error.text;
            return jobs[i]->access.outcome;
        }
    return ACCESS_GRANTED;
}

/* Hold what the jobs mount.  A job whose list cannot be read is treated as denied. */
static void hold_sources(struct arena *arena, struct sources *const *jobs, size_t count)
{
    struct error error;
    size_t readable = 0;
    struct sources **known = arena_allocate(arena, (count + 1) * sizeof(struct sources *));
    for (size_t i = 0; i < count; i++) {
        if (sources_read(arena, jobs[i], &error) == 0) {
            known[readable++] = jobs[i];
            continue;
        }
        jobs[i]->access.outcome = ACCESS_DENIED;
        jobs[i]->access.error = error;
    }
    sources_hold(arena, known, readable, HOLD_TIMEOUT);
}

/* Keep the chosen tasks whose sources are held, and return how many these are.  A task whose user may no
 * longer access what it mounts has failed (`refused`); where that is unknown, the next poll tries again. */
static size_t keep_held(struct local *local, struct podman_container **chosen, size_t count,
                        struct sources *const *jobs, size_t job_count, bool *known, bool *refused)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const char *sentence = "";
        enum access_outcome outcome = outcome_of(chosen[i], jobs, job_count, &sentence);
        if (outcome == ACCESS_GRANTED) {
            chosen[kept++] = chosen[i];
            continue;
        }
        chosen[i]->state = PODMAN_STATE_CREATED;
        *known = *known && outcome == ACCESS_DENIED;
        if (outcome != ACCESS_DENIED)
            continue;
        note_refusal(local, chosen[i]->name, sentence);
        local_turns_settle(local, chosen[i]);
        *refused = true;
    }
    return kept;
}

/* podman refuses to start the task, or has started it and says otherwise: look at the container.  Returns
 * whether its state is known now. */
static bool look_again(struct local *local, struct arena *arena, struct podman_container *task,
                       const struct podman_call *start)
{
    struct podman_call call = {0};
    struct podman_container now = {0};
    podman_call_inspect(&call, task->name.data);
    podman_run(local->podman, &call, 1);
    bool known =
        call.outcome == PODMAN_DONE && podman_read_inspection(&call, arena, &now, NULL) == 0;
    podman_call_free(&call);
    if (known && waits_for_turn(&now)) {
        note_refusal(local, task->name, start->error.text);
        local_turns_settle(local, &now);
    }
    if (known) {
        task->state = now.state;
        task->exit_code = now.exit_code;
        task->started = now.started;
        task->ended = now.ended;
    }
    return known;
}

/* Note the answer to a start.  Returns whether the task's state is known; else the next poll looks again. */
static bool note_started(struct local *local, struct arena *arena, struct podman_container *task,
                         const struct podman_call *call)
{
    if (call->outcome == PODMAN_DONE || call->http.status == 304)
        return true;
    task->state = PODMAN_STATE_CREATED;
    return call->outcome == PODMAN_REFUSED && look_again(local, arena, task, call);
}

/* Start the chosen tasks.  Returns whether to try again: some were refused, and others may take their places. */
static bool start_chosen(struct local *local, struct arena *arena, struct podman_container **chosen,
                         size_t count)
{
    struct podman_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
    struct sources **jobs = arena_allocate(arena, (count + 1) * sizeof(struct sources *));
    bool known = count > 0, refused = false;
    size_t job_count = jobs_of(local, arena, chosen, count, jobs);
    hold_sources(arena, jobs, job_count);
    count = keep_held(local, chosen, count, jobs, job_count, &known, &refused);
    for (size_t i = 0; i < count; i++)
        podman_call_start(&calls[i], chosen[i]->name.data);
    podman_run(local->podman, calls, count);
    for (size_t i = 0; i < count; i++) {
        known = note_started(local, arena, chosen[i], &calls[i]) && known;
        refused = refused || chosen[i]->state == PODMAN_STATE_ENDED;
        podman_call_free(&calls[i]);
    }
    /* A request to start that is still under way needs the held sources. */
    for (size_t i = 0; known && i < job_count; i++)
        sources_drop(local, jobs[i]->job);
    return known && refused;
}

void local_turns_start_ended(struct local *local, struct arena *arena,
                             struct podman_container **tasks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tasks[i]->state = PODMAN_STATE_RUNNING;
    start_chosen(local, arena, tasks, count);
}

static bool any_waits(const struct local_turns *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < jobs[i].count; j++)
            if (waits_for_turn(jobs[i].tasks[j]))
                return true;
    return false;
}

/* Find what all of dlspool's containers leave free; -1: podman does not say. */
static int find_available(struct local *local, struct arena *arena,
                          struct free_resources *available)
{
    struct podman_container *containers;
    size_t count;
    if (local_list(local, arena, true, &containers, &count, NULL))
        return -1;
    local_available(local, arena, available, containers, count);
    return 0;
}

void local_turns_start(struct local *local, struct arena *arena, struct local_turns *jobs,
                       size_t count)
{
    struct free_resources available;
    size_t tasks = 1, chosen_count;
    if (!any_waits(jobs, count))
        return;
    int held = local_turns_hold(local, 0);
    if (held < 0 || find_available(local, arena, &available)) {
        local_turns_release(held);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        qsort(jobs[i].tasks, jobs[i].count, sizeof(*jobs[i].tasks), compare_tasks);
        tasks += jobs[i].count;
    }
    struct podman_container **chosen =
        arena_allocate(arena, tasks * sizeof(struct podman_container *));
    for (int try = 0; try < TRIES; try++) {
        chosen_count = 0;
        for (size_t i = 0; i < count; i++)
            chosen_count += choose_tasks(&jobs[i], &available, chosen + chosen_count);
        if (!start_chosen(local, arena, chosen, chosen_count))
            break;
    }
    local_turns_release(held);
}
