/* executors/slurm/jobs.c - what is remembered about each job between two polls */
#include "executors/slurm/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/names.h"

void slurm_jobs_free(struct slurm *slurm)
{
    if (!slurm->jobs)
        return;
    for (struct slurm_job *job = names_first(slurm->jobs); job; job = names_after(job))
        arena_free(job->arena);
    names_free(slurm->jobs);
}

void slurm_jobs_forget(struct slurm *slurm, const char *name)
{
    struct slurm_job *job = slurm->jobs ? names_find(slurm->jobs, text_of(name)) : NULL;
    if (!job)
        return;
    arena_free(job->arena);
    names_remove(slurm->jobs, job);
}

bool slurm_job_owns(const struct slurm_job *job, const struct slurm_record *record)
{
    return !job->known || slurm_record_is_of(record, job->facts.user, job->facts.uid);
}

/* ---- what was submitted ---- */

static void make_tasks(struct slurm_job *job)
{
    const struct slurm_manifest *manifest = job->manifest;
    job->tasks =
        arena_allocate(job->arena, ((size_t)manifest->task_total + 1) * sizeof(*job->tasks));
    for (size_t i = 0; i < manifest->tasks_count; i++) {
        char *image = arena_allocate(job->arena, IMAGE_RAN_SIZE);
        for (int index = 0; index < manifest->tasks[i].count; index++)
            job->tasks[job->task_count++] = (struct slurm_task){
                .role = manifest->tasks[i].role, .index = index, .image = image};
    }
}

static void read_outcome(struct slurm *slurm, struct slurm_job *job)
{
    struct buffer bytes = {0};
    struct arena *arena = arena_new();
    if (slurm_directory_read(slurm->directory, job->name, "verdict", &bytes, NULL) == 1) {
        const struct value *tree =
            json_read(arena, buffer_text(&bytes), "verdict", &yaml_request_limits, NULL);
        struct text phase = value_get_text(tree, "phase");
        struct text reason = value_get_text(tree, "reason"),
                    detail = value_get_text(tree, "detail");
        job->decided = phase.data != NULL;
        job->phase = text_is(phase, "succeeded") ? PHASE_SUCCEEDED : PHASE_FAILED;
        job->decided_code = (int)value_get_number(tree, "exit_code", 0);
        snprintf(job->reason, sizeof(job->reason), "%.*s", (int)reason.length,
                 reason.length ? reason.data : "");
        snprintf(job->detail, sizeof(job->detail), "%.*s", (int)detail.length,
                 detail.length ? detail.data : "");
    }
    buffer_free(&bytes);
    arena_free(arena);
}

/* Read the ends of elements: lines of an index, an exit code and a reason. */
static void read_elements(struct slurm *slurm, struct slurm_job *job)
{
    struct buffer bytes = {0};
    struct text line;
    if (!job->manifest->array_count ||
        slurm_directory_read(slurm->directory, job->name, "elements", &bytes, NULL) != 1) {
        buffer_free(&bytes);
        return;
    }
    struct text rest = buffer_text(&bytes);
    while (rest.length && text_next(&rest, '\n', &line)) {
        char buffer[128], reason[64] = "";
        int index, code;
        snprintf(buffer, sizeof(buffer), "%.*s", (int)line.length, line.data);
        if (sscanf(buffer, "%d %d %63s", &index, &code, reason) < 2 || index < 0 ||
            (size_t)index >= job->task_count || code < 0 || code > 255)
            continue;
        struct slurm_task *task = &job->tasks[index];
        task->ended = true;
        task->exit_code = code;
        snprintf(task->reason, sizeof(task->reason), "%s", reason);
    }
    buffer_free(&bytes);
}

static int learn_facts(struct slurm *slurm, struct slurm_job *job, struct error *error)
{
    struct error problem;
    if (slurm_ensure_directory(slurm, error))
        return -1;
    int found = slurm_directory_facts(slurm->directory, job->name, job->arena, &job->facts, error);
    if (found <= 0)
        return found;
    job->manifest = slurm_manifest_read(job->arena, job->facts.manifest, &problem);
    if (!job->manifest)
        return error_set(error, "slurm.directory, %s: %.900s", job->name, problem.text);
    job->rule = completion_of(job->arena, job->manifest->complete, &problem);
    make_tasks(job);
    read_outcome(slurm, job);
    read_elements(slurm, job);
    job->known = true;
    return 1;
}

struct slurm_job *slurm_jobs_find(struct slurm *slurm, const char *id, int attempt,
                                  struct error *error)
{
    char name[SLURM_NAME_SIZE];
    slurm_directory_name(name, id, attempt);
    if (!slurm->jobs)
        slurm->jobs = names_new(SIZE_MAX, sizeof(struct slurm_job));
    struct slurm_job *job = names_find(slurm->jobs, text_of(name));
    if (!job) {
        job = names_add(slurm->jobs, text_of(name));
        memcpy(job->name, name, sizeof(name));
        job->arena = arena_new();
    }
    if (job->known)
        return job;
    arena_reset(job->arena);
    job->task_count = 0;
    return learn_facts(slurm, job, error) < 0 ? NULL : job;
}

/* ---- what is decided ---- */

int slurm_job_decide(struct slurm *slurm, struct slurm_job *job, const struct job_poll *poll,
                     struct error *error)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    value_put(arena, tree, "phase",
              value_string(arena, poll->phase == PHASE_SUCCEEDED ? "succeeded" : "failed"));
    value_put(arena, tree, "exit_code", value_number(arena, poll->exit_code));
    value_put(arena, tree, "reason", value_string(arena, poll->reason));
    value_put(arena, tree, "detail", value_string(arena, poll->detail));
    int result =
        slurm_directory_note(slurm->directory, job->name, "verdict", json_text(arena, tree), error);
    if (!result) {
        job->decided = true;
        job->phase = poll->phase;
        job->decided_code = poll->exit_code;
        memcpy(job->reason, poll->reason, sizeof(job->reason));
        memcpy(job->detail, poll->detail, sizeof(job->detail));
    }
    arena_free(arena);
    return result;
}

int slurm_job_note_element(struct slurm *slurm, struct slurm_job *job, struct slurm_task *task,
                           int exit_code, const char *reason, struct error *error)
{
    char line[128];
    int length =
        snprintf(line, sizeof(line), "%d %d %s\n", (int)(task - job->tasks), exit_code, reason);
    if (slurm_directory_add(slurm->directory, job->name, "elements",
                            (struct text){line, (size_t)length}, error))
        return -1;
    task->ended = true;
    task->exit_code = exit_code;
    snprintf(task->reason, sizeof(task->reason), "%s", reason);
    return 0;
}
