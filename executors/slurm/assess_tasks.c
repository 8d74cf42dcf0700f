/* executors/slurm/assess_tasks.c - how the tasks fare by their files, and what follows for the job */
#include "executors/slurm/assess_parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "executors/slurm/assess.h"
#include "executors/slurm/reason.h"

static const int64_t completing_patience = 60000; /* milliseconds */

void slurm_assess_tasks_fill(struct slurm_assessment *assessment)
{
    struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    poll->tasks = arena_allocate(assessment->arena, (job->task_count + 1) * sizeof(*poll->tasks));
    poll->task_count = job->task_count;
    for (size_t i = 0; i < job->task_count; i++) {
        const struct slurm_task *task = &job->tasks[i];
        struct task_state *state = &poll->tasks[i];
        snprintf(state->role, sizeof(state->role), "%.*s", (int)task->role.length, task->role.data);
        state->index = task->index;
        state->ended = task->ended;
        state->waits = job->manifest->array_count && !task->ended && !task->begun;
        state->exit_code = task->exit_code;
        state->killed = executor_task_is_killed(poll, task->index);
        memcpy(state->image, task->image, sizeof(state->image));
        snprintf(state->address, sizeof(state->address), "%s", task->address ? task->address : "");
        snprintf(state->reason, sizeof(state->reason), "%s",
                 task->reason[0]                  ? task->reason
                 : task->timed_out && task->ended ? "TimeLimit"
                 : task->ended                    ? "Exited"
                                                  : "");
    }
}

void slurm_assess_tasks_end(struct job_poll *poll, int exit_code, const char *reason)
{
    for (size_t i = 0; i < poll->task_count; i++) {
        struct task_state *task = &poll->tasks[i];
        if (task->ended)
            continue;
        task->ended = true;
        task->exit_code = exit_code;
        snprintf(task->reason, sizeof(task->reason), "%s", reason);
    }
}

void slurm_assess_tasks_fail_job(struct job_poll *poll, int exit_code, const char *reason)
{
    poll->phase = PHASE_FAILED;
    poll->exit_code = exit_code;
    snprintf(poll->reason, sizeof(poll->reason), "%s", reason);
}

void slurm_assess_tasks_fail_by(struct job_poll *poll, const struct task_state *task)
{
    const char *words;
    const char *name = task->exit_code > 128 ? sigabbrev_np(task->exit_code - 128) : NULL;
    slurm_assess_tasks_fail_job(poll, task->exit_code, task->reason[0] ? task->reason : "Exited");
    if ((words = slurm_reason_words(poll->reason)) != NULL)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d %s", task->role, task->index, words);
    else if (strcmp(poll->reason, "Exited") != 0)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d ended at Slurm: %s", task->role,
                 task->index, poll->reason);
    else if (name)
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d was ended by signal %d (SIG%s)",
                 task->role, task->index, task->exit_code - 128, name);
    else
        snprintf(poll->detail, sizeof(poll->detail), "%s-%d ended with exit code %d", task->role,
                 task->index, task->exit_code);
}

struct completion_outcome slurm_assess_tasks_outcome(const struct slurm_assessment *assessment)
{
    const struct job_poll *poll = assessment->poll;
    return completion_judge(assessment->job->rule, poll->tasks, poll->task_count, poll->task_count);
}

static bool all_ended(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (!poll->tasks[i].ended)
            return false;
    return poll->task_count > 0;
}

bool slurm_assess_tasks_any_failed(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (poll->tasks[i].ended && poll->tasks[i].exit_code != 0)
            return true;
    return false;
}

void slurm_assess_tasks_run(struct slurm_assessment *assessment)
{
    struct job_poll *poll = assessment->poll;
    poll->phase = PHASE_RUNNING;
    if (all_ended(poll))
        return;
    struct completion_outcome outcome = slurm_assess_tasks_outcome(assessment);
    if (outcome.state == COMPLETION_RUNNING)
        return;
    if (outcome.state == COMPLETION_FAILED && outcome.decider)
        slurm_assess_tasks_fail_by(poll, outcome.decider);
    else
        poll->phase = PHASE_SUCCEEDED;
    assessment->need->decide = true;
}

void slurm_assess_tasks_repeat(struct slurm_assessment *assessment)
{
    const struct slurm_job *job = assessment->job;
    struct job_poll *poll = assessment->poll;
    poll->phase = job->phase;
    poll->exit_code = job->decided_code;
    memcpy(poll->reason, job->reason, sizeof(poll->reason));
    memcpy(poll->detail, job->detail, sizeof(poll->detail));
    if (assessment->over)
        slurm_assess_tasks_end(poll, 128 + SIGTERM, "Cancelled");
}

bool slurm_assess_tasks_linger(struct slurm_job *job, bool completing)
{
    int64_t now = clock_elapsed();
    if (!completing)
        job->completing = 0;
    else if (!job->completing)
        job->completing = now ? now : 1;
    return completing && now - job->completing >= completing_patience;
}
