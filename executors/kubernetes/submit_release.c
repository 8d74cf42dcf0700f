/* executors/kubernetes/submit_release.c - the steps that let a job begin, or undo it
 *
 * What each asks, and what follows from the answers.
 */
#include "executors/kubernetes/submission.h"

#include <stdio.h>
#include <string.h>

void submit_prepare_release_owner(struct job *job)
{
    job_ask_release(job, &job->parts[0]);
}

void submit_judge_release_owner(struct job *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
        job->step = STEP_RELEASE_OTHERS;
        return;
    case KUBERNETES_REFUSED:
        job_fail(job, SUBMIT_REFUSED, &call->error, call->remedy);
        job->step = STEP_UNDO;
        return;
    case KUBERNETES_NO_ROOM:
        job_fail(job, SUBMIT_NO_ROOM, &call->error, NULL);
        job->step = STEP_UNDO;
        return;
    default:
        job_end(job, SUBMIT_UNKNOWN, &call->error);
    }
}

void submit_prepare_look_begun(struct job *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (job->parts[i].object->kind->is_job)
            job_ask_look(job, &job->parts[i]);
}

void submit_judge_look_begun(struct job *job)
{
    struct error error;
    for (size_t i = 1; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (!part->asked)
            continue;
        if (part->call.outcome == KUBERNETES_DONE &&
            job_judge_found(job, part, part->call.answer, &error) == FOUND_OURS) {
            part->released = object_is_released(part->call.answer);
        } else if (part->call.outcome == KUBERNETES_DONE ||
                   part->call.outcome == KUBERNETES_MISSING) {
            part->released = true; /* it was there once: nothing is left to be done */
            job->gone++;
        } else {
            job_doubt(job, &part->call.error);
        }
    }
    if (job->unsure)
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else
        job->step = STEP_RELEASE_OTHERS;
}

void submit_prepare_release_others(struct job *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (job->parts[i].object->kind->is_job && !job->parts[i].released)
            job_ask_release(job, &job->parts[i]);
}

void submit_judge_release_others(struct job *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (part->asked && part->call.outcome == KUBERNETES_MISSING)
            job->gone++;
        else if (part->asked && part->call.outcome == KUBERNETES_REFUSED)
            job_fail(job, SUBMIT_REFUSED, &part->call.error, part->call.remedy);
        else if (part->asked && part->call.outcome != KUBERNETES_DONE)
            job_doubt(job, &part->call.error);
    }
    if (job->failed)
        job->step = STEP_STOP;
    else if (job->unsure)
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else
        job_accept(job, "");
}

void submit_judge_undo(struct job *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
    case KUBERNETES_MISSING:
        if (job->failure == SUBMIT_REFUSED)
            job_refuse(job, &job->why, job->remedy);
        else
            job_end(job, job->failure, &job->why);
        return;
    default:
        error_set(&job->doubt, "%.900s; what was made before that could not be deleted: %.900s",
                  job->why.text, call->error.text);
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
    }
}

void submit_judge_stop(struct job *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    if (call->outcome != KUBERNETES_DONE && call->outcome != KUBERNETES_MISSING) {
        error_set(&job->doubt, "%.900s; what runs of the job could not be ended: %.900s",
                  job->why.text, call->error.text);
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    }
    job_accept(job, "; it was begun, and ended at once: ");
    size_t used = strlen(job->submission->note);
    snprintf(job->submission->note + used, sizeof(job->submission->note) - used, "%s",
             job->why.text);
}
