/* executors/kubernetes/submission_create.c - the steps that create a job's objects, or find
 * them */
#include "executors/kubernetes/submission.h"

enum { MOST_CONFLICTS = 4 }; /* POSTs that conflict with another change of the same quota */

void submission_prepare_create_owner(struct kubernetes_submission *job)
{
    submission_ask_create(job, &job->parts[0]);
}

static void take_uid(struct kubernetes_submission *job, const struct value *object)
{
    struct text uid = value_get_text(value_get(object, "metadata"), "uid");
    job->uid = kubernetes_is_plain(uid) ? arena_text(job->arena, uid.data, uid.length).data : NULL;
}

void submission_judge_create_owner(struct kubernetes_submission *job)
{
    struct submission_part *owner = &job->parts[0];
    struct kubernetes_call *call = &owner->call;
    switch (call->outcome) {
    case KUBERNETES_DONE:
        if (job->count == 1) {
            submission_accept(job, "");
            return;
        }
        take_uid(job, call->answer);
        owner->there = true;
        if (job->uid) {
            job->step = STEP_CREATE_OTHERS;
            return;
        }
        error_set(&job->doubt, "the server's answer to a new Job does not say its uid");
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    case KUBERNETES_UNAVAILABLE:
        submission_end(job, SUBMIT_UNAVAILABLE, &call->error);
        return;
    case KUBERNETES_UNKNOWN:
        submission_end(job, SUBMIT_UNKNOWN, &call->error);
        return;
    default:
        owner->created = call->outcome;
        owner->error = call->error;
        owner->remedy = call->remedy;
        job->step = STEP_LOOK_OWNER;
    }
}

void submission_prepare_look_owner(struct kubernetes_submission *job)
{
    submission_ask_look(job, &job->parts[0]);
}

/* End or repeat the step: creating the owner failed, and it does not exist. */
static void end_refused_owner(struct kubernetes_submission *job)
{
    struct submission_part *owner = &job->parts[0];
    char what[SUBMISSION_PART_SIZE];
    switch (owner->created) {
    case KUBERNETES_EXISTS:
        submission_describe_part(owner, what);
        error_set(&job->doubt, "%s was there when it was to be made, and is gone now", what);
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
        return;
    case KUBERNETES_CONFLICT:
        if (++job->conflicts < MOST_CONFLICTS)
            job->step = STEP_CREATE_OWNER;
        else
            submission_end(job, SUBMIT_UNAVAILABLE, &owner->error);
        return;
    case KUBERNETES_NO_ROOM:
        submission_end(job, SUBMIT_NO_ROOM, &owner->error);
        return;
    default:
        submission_refuse(job, &owner->error, owner->remedy);
    }
}

/* The owner exists already: from an earlier try of this submission, or it is somebody else's. */
static void judge_found_owner(struct kubernetes_submission *job)
{
    struct submission_part *owner = &job->parts[0];
    const struct value *object = owner->call.answer;
    struct error error;
    bool begun = job->count == 1 || submission_is_released(object);
    take_uid(job, object);
    switch (submission_identify(job, owner, object, &error)) {
    case FOUND_WRONG:
        submission_refuse(job, &error, submission_foreign_remedy);
        return;
    case FOUND_LEAVING:
        /* A released job is never created again: poll() will report that it vanishes. */
        if (begun)
            submission_accept(job, "; it is being deleted by somebody");
        else
            submission_end(job, SUBMIT_UNKNOWN, &error);
        return;
    case FOUND_OURS:
        break;
    }
    owner->there = true;
    if (job->count == 1 || kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_CANCELLED).data)
        submission_accept(job, "");
    else if (job->uid)
        job->step = begun ? STEP_LOOK_BEGUN : STEP_CREATE_OTHERS;
    else
        submission_end(job, SUBMIT_UNKNOWN, &owner->error);
}

void submission_judge_look_owner(struct kubernetes_submission *job)
{
    struct submission_part *owner = &job->parts[0];
    struct kubernetes_call *call = &owner->call;
    if (call->outcome == KUBERNETES_DONE) {
        judge_found_owner(job);
    } else if (call->outcome == KUBERNETES_MISSING) {
        end_refused_owner(job);
    } else if (call->outcome == KUBERNETES_REFUSED && owner->created == KUBERNETES_REFUSED) {
        job->submission->unsettled = true;
        submission_refuse(job, &owner->error, owner->remedy);
    } else {
        submission_end(job, SUBMIT_UNKNOWN, &call->error);
    }
}

void submission_prepare_create_others(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++)
        if (!job->parts[i].there)
            submission_ask_create(job, &job->parts[i]);
}

/* Choose the next step once all others were created or looked up. */
static void choose_after_others(struct kubernetes_submission *job)
{
    bool again = false;
    for (size_t i = 1; i < job->count; i++)
        again = again || !job->parts[i].there;
    if (job->failed)
        job->step = STEP_UNDO;
    else if (job->unsure)
        submission_end(job, SUBMIT_UNKNOWN, &job->doubt);
    else if (!again)
        job->step = STEP_RELEASE_OWNER;
    else if (++job->conflicts < MOST_CONFLICTS)
        job->step = STEP_CREATE_OTHERS;
    else
        submission_end(job, SUBMIT_UNKNOWN, &job->why);
}

void submission_judge_create_others(struct kubernetes_submission *job)
{
    bool look = false;
    for (size_t i = 1; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (!part->asked)
            continue;
        part->created = part->call.outcome;
        part->error = part->call.error;
        part->remedy = part->call.remedy;
        if (part->created == KUBERNETES_DONE)
            part->there = true;
        else if (part->created == KUBERNETES_UNKNOWN || part->created == KUBERNETES_UNAVAILABLE)
            submission_doubt(job, &part->error);
        else
            look = true;
    }
    if (look)
        job->step = STEP_LOOK_OTHERS;
    else
        choose_after_others(job);
}

void submission_prepare_look_others(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (!part->there && part->created != KUBERNETES_UNKNOWN &&
            part->created != KUBERNETES_UNAVAILABLE)
            submission_ask_look(job, part);
    }
}

/* Creating a part failed, and it does not exist. */
static void judge_refused_other(struct kubernetes_submission *job,
                                const struct submission_part *part)
{
    struct error error;
    char what[SUBMISSION_PART_SIZE];
    switch (part->created) {
    case KUBERNETES_EXISTS:
        submission_describe_part(part, what);
        error_set(&error, "%s was there when it was to be made, and is gone now", what);
        submission_doubt(job, &error);
        return;
    case KUBERNETES_CONFLICT:
        job->why = part->error; /* it is retried at once, a few times */
        return;
    case KUBERNETES_NO_ROOM:
        submission_fail(job, SUBMIT_NO_ROOM, &part->error, NULL);
        return;
    default:
        submission_fail(job, SUBMIT_REFUSED, &part->error, part->remedy);
    }
}

static void judge_found_other(struct kubernetes_submission *job, struct submission_part *part)
{
    struct error error;
    char what[SUBMISSION_PART_SIZE];
    switch (submission_identify(job, part, part->call.answer, &error)) {
    case FOUND_OURS:
        part->there = true;
        part->released = submission_is_released(part->call.answer);
        return;
    case FOUND_WRONG:
        submission_fail(job, SUBMIT_REFUSED, &error, submission_foreign_remedy);
        return;
    case FOUND_LEAVING:
        break;
    }
    if (!submission_is_released(part->call.answer)) {
        submission_doubt(job, &error);
        return;
    }
    submission_describe_part(part, what);
    error_set(&error,
              "%s was begun by an earlier try of this submission, and then somebody deleted the "
              "job: it is not begun a second time under the same name; submit it again",
              what);
    submission_fail(job, SUBMIT_REFUSED, &error, "Find out who deleted it, and why");
}

void submission_judge_look_others(struct kubernetes_submission *job)
{
    for (size_t i = 1; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (!part->asked)
            continue;
        if (part->call.outcome == KUBERNETES_DONE)
            judge_found_other(job, part);
        else if (part->call.outcome == KUBERNETES_MISSING)
            judge_refused_other(job, part);
        else if (part->call.outcome == KUBERNETES_REFUSED && part->created == KUBERNETES_REFUSED)
            submission_fail(job, SUBMIT_REFUSED, &part->error, part->remedy);
        else
            submission_doubt(job, &part->call.error);
    }
    choose_after_others(job);
}
