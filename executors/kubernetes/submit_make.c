/* executors/kubernetes/submit_make.c - the steps that make a job's objects, or find them
 *
 * What each asks, and what follows from the answers.
 */
#include "executors/kubernetes/submission.h"

enum { MOST_CONFLICTS = 4 }; /* POSTs that meet another change of the same quota, before later */

void submit_prepare_create_owner(struct job *job)
{
    job_ask_create(job, &job->parts[0]);
}

static void take_uid(struct job *job, const struct value *object)
{
    struct text uid = value_get_text(value_get(object, "metadata"), "uid");
    job->uid = kubernetes_is_plain(uid) ? arena_text(job->arena, uid.data, uid.length).data : NULL;
}

void submit_judge_create_owner(struct job *job)
{
    struct part *owner = &job->parts[0];
    struct kubernetes_call *call = &owner->call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
        if (job->count == 1) {
            job_accept(job, "");
            return;
        }
        take_uid(job, call->answer);
        owner->there = true;
        if (job->uid) {
            job->step = STEP_CREATE_OTHERS;
            return;
        }
        error_set(&job->doubt, "the server's answer to a new Job does not say its uid");
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    case KUBERNETES_UNAVAILABLE:
        job_end(job, SUBMIT_UNAVAILABLE, &call->error);
        return;
    case KUBERNETES_UNKNOWN:
        job_end(job, SUBMIT_UNKNOWN, &call->error);
        return;
    default:
        owner->created = call->outcome;
        owner->error = call->error;
        owner->remedy = call->remedy;
        job->step = STEP_LOOK_OWNER;
    }
}

void submit_prepare_look_owner(struct job *job)
{
    job_ask_look(job, &job->parts[0]);
}

/* The owner was refused, and is not there. */
static void end_refused_owner(struct job *job)
{
    struct part *owner = &job->parts[0];
    char what[DESCRIPTION_SIZE];
    switch (owner->created) {
    case KUBERNETES_EXISTS:
        part_describe(owner, what);
        error_set(&job->doubt, "%s was there when it was to be made, and is gone now", what);
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    case KUBERNETES_CONFLICT:
        if (++job->conflicts < MOST_CONFLICTS)
            job->step = STEP_CREATE_OWNER;
        else
            job_end(job, SUBMIT_UNAVAILABLE, &owner->error);
        return;
    case KUBERNETES_NO_ROOM:
        job_end(job, SUBMIT_NO_ROOM, &owner->error);
        return;
    default:
        job_refuse(job, &owner->error, owner->remedy);
    }
}

static void judge_found_owner(struct job *job)
{
    struct part *owner = &job->parts[0];
    const struct value *object = owner->call.answer;
    struct error error;
    bool begun = job->count == 1 || object_is_released(object);
    take_uid(job, object);
    switch (job_judge_found(job, owner, object, &error)) {
    case FOUND_WRONG:
        job_refuse(job, &error, remedy_foreign);
        return;
    case FOUND_LEAVING:
        /* What was begun is not begun again: it is for poll() to tell that it goes. */
        if (begun)
            job_accept(job, "; it is being deleted by somebody");
        else
            job_end(job, SUBMIT_UNKNOWN, &error);
        return;
    case FOUND_OURS:
        break;
    }
    owner->there = true;
    if (job->count == 1 || kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_CANCELLED).data)
        job_accept(job, "");
    else if (job->uid)
        job->step = begun ? STEP_LOOK_BEGUN : STEP_CREATE_OTHERS;
    else
        job_end(job, SUBMIT_UNKNOWN, &owner->error);
}

void submit_judge_look_owner(struct job *job)
{
    struct part *owner = &job->parts[0];
    struct kubernetes_call *call = &owner->call;
    if (call->outcome == KUBERNETES_DONE) {
        judge_found_owner(job);
    } else if (call->outcome == KUBERNETES_MISSING) {
        end_refused_owner(job);
    } else if (call->outcome == KUBERNETES_REFUSED && owner->created == KUBERNETES_REFUSED) {
        job->submission->unsettled = true;
        job_refuse(job, &owner->error, owner->remedy);
    } else {
        job_end(job, SUBMIT_UNKNOWN, &call->error);
    }
}

void submit_prepare_create_others(struct job *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (!job->parts[i].there)
            job_ask_create(job, &job->parts[i]);
}

/* All answers of a step that makes the others are in: which is next? */
static void settle_others(struct job *job)
{
    bool again = false;
    for (size_t i = 1; i < job->count; i++)
        again = again || !job->parts[i].there;
    if (job->failed)
        job->step = STEP_UNDO;
    else if (job->unsure)
        job_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else if (!again)
        job->step = STEP_RELEASE_OWNER;
    else if (++job->conflicts < MOST_CONFLICTS)
        job->step = STEP_CREATE_OTHERS;
    else
        job_end(job, SUBMIT_UNKNOWN, &job->why);
}

void submit_judge_create_others(struct job *job)
{
    bool look = false;
    for (size_t i = 1; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (!part->asked)
            continue;
        part->created = part->call.outcome;
        part->error = part->call.error;
        part->remedy = part->call.remedy;
        if (part->created == KUBERNETES_DONE)
            part->there = true;
        else if (part->created == KUBERNETES_UNKNOWN || part->created == KUBERNETES_UNAVAILABLE)
            job_doubt(job, &part->error);
        else
            look = true;
    }
    if (look)
        job->step = STEP_LOOK_OTHERS;
    else
        settle_others(job);
}

void submit_prepare_look_others(struct job *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (!part->there && part->created != KUBERNETES_UNKNOWN &&
            part->created != KUBERNETES_UNAVAILABLE)
            job_ask_look(job, part);
    }
}

/* A part was refused, and is not there. */
static void judge_refused_other(struct job *job, const struct part *part)
{
    struct error error;
    char what[DESCRIPTION_SIZE];
    switch (part->created) {
    case KUBERNETES_EXISTS:
        part_describe(part, what);
        error_set(&error, "%s was there when it was to be made, and is gone now", what);
        job_doubt(job, &error);
        return;
    case KUBERNETES_CONFLICT:
        job->why = part->error; /* it is retried at once, a few times */
        return;
    case KUBERNETES_NO_ROOM:
        job_fail(job, SUBMIT_NO_ROOM, &part->error, NULL);
        return;
    default:
        job_fail(job, SUBMIT_REFUSED, &part->error, part->remedy);
    }
}

static void judge_found_other(struct job *job, struct part *part)
{
    struct error error;
    char what[DESCRIPTION_SIZE];
    switch (job_judge_found(job, part, part->call.answer, &error)) {
    case FOUND_OURS:
        part->there = true;
        part->released = object_is_released(part->call.answer);
        return;
    case FOUND_WRONG:
        job_fail(job, SUBMIT_REFUSED, &error, remedy_foreign);
        return;
    case FOUND_LEAVING:
        break;
    }
    if (!object_is_released(part->call.answer)) {
        job_doubt(job, &error);
        return;
    }
    part_describe(part, what);
    error_set(&error,
              "%s was begun by an earlier try of this submission, and then somebody deleted the "
              "job: it is not begun a second time under the same name; submit it again",
              what);
    job_fail(job, SUBMIT_REFUSED, &error, "Find out who deleted it, and why");
}

void submit_judge_look_others(struct job *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (!part->asked)
            continue;
        if (part->call.outcome == KUBERNETES_DONE)
            judge_found_other(job, part);
        else if (part->call.outcome == KUBERNETES_MISSING)
            judge_refused_other(job, part);
        else if (part->call.outcome == KUBERNETES_REFUSED && part->created == KUBERNETES_REFUSED)
            job_fail(job, SUBMIT_REFUSED, &part->error, part->remedy);
        else
            job_doubt(job, &part->call.error);
    }
    settle_others(job);
}
