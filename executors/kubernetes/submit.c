/* executors/kubernetes/submit.c - jobs to the cluster, each exactly once
 *
 * The life of a submission is told in inside.h.  Each job of a batch is at a step of its own;
 * a round sends the requests of all jobs' steps together, and each step's judge says which is next.
 *
 * What is promised, whatever is lost, refused or killed between any two requests:
 *   - an object is made once under its name.  A POST whose outcome is unknown is made again by the
 *     same submission; one that is refused for whatever reason is looked for, since quotas and
 *     permissions are judged before a name that is taken (the object itself may fill the quota)
 *   - nothing of a job runs before all its objects were there; after that nothing is made
 *   - a job that is refused, or has no room, leaves nothing: its owner is deleted.  Where that
 *     cannot be confirmed, or anything is there and trouble is temporary, the outcome is
 *     SUBMIT_UNKNOWN: the same submission made again completes the one or the other.  Only a job
 *     of which a part runs already is ended in place, and counts as accepted
 *   - an object that is not ours is never changed or deleted: each was seen to be ours, and the
 *     owner's uid goes with what is done to it
 *
 * Known weakness: an object that somebody deletes between two tries of a submission is made again,
 * because nothing is left to tell that it was there.
 */
#include "executors/kubernetes/submission.h"

#include <malloc.h>
#include <stdio.h>

#include "base/quantity.h"

enum { AT_A_TIME = 128 }; /* jobs whose objects are in memory, some 100 KiB each */

/* ---- where a job's submission ends ---- */

void job_end(struct job *job, enum submit_outcome outcome, const struct error *error)
{
    struct submission *submission = job->submission;
    submission->outcome = outcome;
    if (error)
        submission->error = *error;
    job->step = STEP_ENDED;
}

void job_refuse(struct job *job, const struct error *error, const char *remedy)
{
    struct submission *submission = job->submission;
    submission->mender = remedy ? MENDER_SITE : MENDER_MANIFEST;
    snprintf(submission->remedy, sizeof(submission->remedy), "%s", remedy ? remedy : "");
    job_end(job, SUBMIT_REFUSED, error);
}

void job_accept(struct job *job, const char *remark)
{
    const struct kubernetes *kubernetes = job->kubernetes;
    char gone[96] = "";
    if (job->gone)
        snprintf(gone, sizeof(gone), "; %zu of its Jobs were deleted by somebody", job->gone);
    snprintf(job->submission->note, sizeof(job->submission->note),
             "%zu object%s at %.200s, namespace %.64s%s%s", job->count,
             quantity_plural((int64_t)job->count), kubernetes->server, kubernetes->space, gone,
             remark);
    job_end(job, SUBMIT_ACCEPTED, NULL);
}

/* Refusal goes before want of room, and the first sentence before later ones. */
void job_fail(struct job *job, enum submit_outcome failure, const struct error *why,
              const char *remedy)
{
    if (job->failed && (job->failure == failure || job->failure == SUBMIT_REFUSED))
        return;
    job->failed = true;
    job->failure = failure;
    job->why = *why;
    job->remedy = remedy;
}

void job_doubt(struct job *job, const struct error *doubt)
{
    if (!job->unsure)
        job->doubt = *doubt;
    job->unsure = true;
}

static const struct {
    void (*prepare)(struct job *job);
    void (*judge)(struct job *job);
} steps[STEPS] = {
    [STEP_CREATE_OWNER] = {submit_prepare_create_owner, submit_judge_create_owner},
    [STEP_LOOK_OWNER] = {submit_prepare_look_owner, submit_judge_look_owner},
    [STEP_CREATE_OTHERS] = {submit_prepare_create_others, submit_judge_create_others},
    [STEP_LOOK_OTHERS] = {submit_prepare_look_others, submit_judge_look_others},
    [STEP_RELEASE_OWNER] = {submit_prepare_release_owner, submit_judge_release_owner},
    [STEP_LOOK_BEGUN] = {submit_prepare_look_begun, submit_judge_look_begun},
    [STEP_RELEASE_OTHERS] = {submit_prepare_release_others, submit_judge_release_others},
    [STEP_UNDO] = {job_ask_undo, submit_judge_undo},
    [STEP_STOP] = {job_ask_stop, submit_judge_stop},
};

/* ---- a batch ---- */

/* Read, check and stamp the job's manifest.  False when that ends it. */
static bool open_job(struct job *job)
{
    struct submission *submission = job->submission;
    const char *remedy;
    job->manifest = kubernetes_submission_objects(job->kubernetes, job->arena, submission,
                                                  job->hash, &remedy, &submission->error);
    if (!job->manifest) {
        job_refuse(job, NULL, remedy);
        return false;
    }
    job->count = job->manifest->count;
    job->parts = arena_allocate(job->arena, job->count * sizeof(*job->parts));
    for (size_t i = 0; i < job->count; i++)
        job->parts[i].object = &job->manifest->objects[i];
    job->step = STEP_CREATE_OWNER;
    return true;
}

static void judge_round(struct job *job)
{
    steps[job->step].judge(job);
    for (size_t i = 0; i < job->count; i++) {
        if (job->parts[i].asked)
            kubernetes_call_free(&job->parts[i].call);
        job->parts[i].asked = false;
    }
}

/* Send what all jobs have to ask now.  False when there are none any more. */
static bool run_round(struct kubernetes *kubernetes, struct arena *arena, struct job *jobs,
                      size_t count, struct kubernetes_call **calls)
{
    size_t call_count = 0;
    bool busy = false;
    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        if (job->step == STEP_ENDED)
            continue;
        busy = true;
        steps[job->step].prepare(job);
        for (size_t at = 0; at < job->count; at++)
            if (job->parts[at].asked)
                calls[call_count++] = &job->parts[at].call;
    }
    if (call_count)
        kubernetes->run(kubernetes->connection, arena, calls, call_count);
    for (size_t i = 0; i < count; i++)
        if (jobs[i].step != STEP_ENDED)
            judge_round(&jobs[i]);
    return busy;
}

static void submit_some(struct kubernetes *kubernetes, struct submission **batch, size_t count)
{
    struct arena *arena = arena_new();
    struct job *jobs = arena_allocate(arena, count * sizeof(*jobs));
    size_t objects = 0;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct job){
            .kubernetes = kubernetes, .arena = arena, .submission = batch[i], .step = STEP_ENDED};
        batch[i]->note[0] = '\0';
        batch[i]->unsettled = false;
        batch[i]->mender = MENDER_MANIFEST;
        batch[i]->remedy[0] = '\0';
        if (open_job(&jobs[i]))
            objects += jobs[i].count;
    }
    struct kubernetes_call **calls =
        arena_allocate(arena, (objects + 1) * sizeof(struct kubernetes_call *));
    while (run_round(kubernetes, arena, jobs, count, calls))
        ;
    arena_free(arena);
}

void kubernetes_submit(struct executor *executor, struct submission **batch, size_t count)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    struct error error;
    bool usable = kubernetes_check_version(kubernetes, &error) == KUBERNETES_DONE;
    for (size_t i = 0; i < count && !usable; i++) {
        batch[i]->note[0] = '\0';
        batch[i]->unsettled = false;
        batch[i]->outcome = SUBMIT_UNAVAILABLE;
        batch[i]->error = error;
    }
    for (size_t i = 0; i < count && usable; i += AT_A_TIME)
        submit_some(kubernetes, batch + i, count - i < AT_A_TIME ? count - i : AT_A_TIME);
    malloc_trim(0); /* manifests take much for a moment, which malloc() would keep */
}
