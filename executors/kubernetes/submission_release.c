/* executors/kubernetes/submission_release.c - the steps that release a job, or undo it
 */
#include "executors/kubernetes/submission.h"

#include <stdio.h>
#include <string.h>

void submission_prepare_release_owner(struct kubernetes_submission *job)
{
    submission_ask_release(job, &job->parts[0]);
}

void submission_judge_release_owner(struct kubernetes_submission *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
        job->step = STEP_RELEASE_OTHERS;
        return;
    case KUBERNETES_REFUSED:
        submission_fail(job, SUBMIT_REFUSED, &call->error, call->remedy);
        job->step = STEP_UNDO;
        return;
    case KUBERNETES_NO_ROOM:
        submission_fail(job, SUBMIT_NO_ROOM, &call->error, NULL);
        job->step = STEP_UNDO;
        return;
    default:
        submission_end(job, SUBMIT_UNKNOWN, &call->error);
    }
}

void submission_prepare_look_begun(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (job->parts[i].object->kind->is_job)
            submission_ask_look(job, &job->parts[i]);
}

void submission_judge_look_begun(struct kubernetes_submission *job)
{
    struct error error;
    for (size_t i = 1; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (!part->asked)
            continue;
        if (part->call.outcome == KUBERNETES_DONE &&
            submission_identify(job, part, part->call.answer, &error) == FOUND_OURS) {
            part->released = submission_is_released(part->call.answer);
        } else if (part->call.outcome == KUBERNETES_DONE ||
                   part->call.outcome == KUBERNETES_MISSING) {
            part->released = true; /* it existed once: nothing is left to do */
            job->gone++;
        } else {
            submission_doubt(job, &part->call.error);
        }
    }
    if (job->unsure)
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else
        job->step = STEP_RELEASE_OTHERS;
}

void submission_prepare_release_others(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (job->parts[i].object->kind->is_job && !job->parts[i].released)
            submission_ask_release(job, &job->parts[i]);
}

void submission_judge_release_others(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (part->asked && part->call.outcome == KUBERNETES_MISSING)
            job->gone++;
        else if (part->asked && part->call.outcome == KUBERNETES_REFUSED)
            submission_fail(job, SUBMIT_REFUSED, &part->call.error, part->call.remedy);
        else if (part->asked && part->call.outcome != KUBERNETES_DONE)
            submission_doubt(job, &part->call.error);
    }
    if (job->failed)
        job->step = STEP_STOP;
    else if (job->unsure)
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else
        submission_accept(job, "");
}

void submission_judge_undo(struct kubernetes_submission *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
    case KUBERNETES_MISSING:
        if (job->failure == SUBMIT_REFUSED)
            submission_refuse(job, &job->why, job->remedy);
        else
            submission_end(job, job->failure, &job->why);
        return;
    default:
        error_set(&job->doubt, "%.900s; what was made before that could not be deleted: %.900s",
                  job->why.text, call->error.text);
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
    }
}

void submission_judge_stop(struct kubernetes_submission *job)
{
    const struct kubernetes_call *call = &job->parts[0].call;
    if (call->outcome != KUBERNETES_DONE && call->outcome != KUBERNETES_MISSING) {
        error_set(&job->doubt, "%.900s; what runs of the job could not be ended: %.900s",
                  job->why.text, call->error.text);
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    }
    submission_accept(job, "; it was begun, and ended at once: ");
    size_t used = strlen(job->submission->note);
    snprintf(job->submission->note + used, sizeof(job->submission->note) - used, "%s",
             job->why.text);
}
