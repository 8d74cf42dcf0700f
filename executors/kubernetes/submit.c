/* executors/kubernetes/submit.c - submit jobs to the cluster, each exactly once
 *
 * inside.h describes the life of a submission.  Each job of a batch is at its own step; a round sends
 * the requests of all jobs' steps together, and each step's judge chooses the next step.
 *
 * Guarantees, whatever is lost, refused or killed between any two requests:
 *   - an object is created once under its name.  A POST whose outcome is unknown is repeated by the
 *     same submission; after one that was refused, for any reason, the object is looked up, because
 *     the server checks quotas and permissions before it finds that the name exists (the object
 *     itself may fill the quota)
 *   - nothing of a job runs before all its objects exist; after that nothing is created
 *   - a job that is refused, or does not fit now, leaves nothing: its owner is deleted.  Where that
 *     cannot be confirmed, or an object exists and the trouble is temporary, the outcome is
 *     SUBMIT_UNKNOWN: the same submission, repeated, completes or undoes it.  Only a job that runs
 *     in part is ended in place, and counts as accepted
 *   - an object that is not ours is never changed or deleted: each was seen to be ours, and a change
 *     names the owner's uid
 *
 * Known weakness: an object that somebody deletes between two tries of a submission is created
 * again, because nothing shows that it existed.
 */
#include "executors/kubernetes/submission.h"

enum { AT_A_TIME = 128 }; /* jobs whose objects are in memory, some 100 KiB each */

/* ---- the steps ---- */

static const struct {
    void (*prepare)(struct kubernetes_submission *job);
    void (*judge)(struct kubernetes_submission *job);
} steps[STEPS] = {
    [STEP_CREATE_OWNER] = {submission_prepare_create_owner, submission_judge_create_owner},
    [STEP_LOOK_OWNER] = {submission_prepare_look_owner, submission_judge_look_owner},
    [STEP_CREATE_OTHERS] = {submission_prepare_create_others, submission_judge_create_others},
    [STEP_LOOK_OTHERS] = {submission_prepare_look_others, submission_judge_look_others},
    [STEP_RELEASE_OWNER] = {submission_prepare_release_owner, submission_judge_release_owner},
    [STEP_LOOK_BEGUN] = {submission_prepare_look_begun, submission_judge_look_begun},
    [STEP_RELEASE_OTHERS] = {submission_prepare_release_others, submission_judge_release_others},
    [STEP_UNDO] = {submission_ask_undo, submission_judge_undo},
    [STEP_STOP] = {submission_ask_stop, submission_judge_stop},
};

/* ---- a batch ---- */

/* Read, check and stamp the job's manifest.  False, with the submission ended, when it is refused. */
static bool open_job(struct kubernetes_submission *job)
{
    struct submission *submission = job->submission;
    const char *remedy;
    job->manifest = kubernetes_submission_objects(job->kubernetes, job->arena, submission,
                                                  job->hash, &remedy, &submission->error);
    if (!job->manifest) {
        submission_refuse(job, NULL, remedy);
        return false;
    }
    job->count = job->manifest->count;
    job->parts = arena_allocate(job->arena, job->count * sizeof(*job->parts));
    for (size_t i = 0; i < job->count; i++)
        job->parts[i].object = &job->manifest->objects[i];
    job->step = STEP_CREATE_OWNER;
    return true;
}

/* Note what the server says of the time of a request that could not be carried out, or was perhaps. */
static void note_rest(struct submission *submission, const struct kubernetes_call *call)
{
    if (call->outcome != KUBERNETES_UNAVAILABLE && call->outcome != KUBERNETES_UNKNOWN)
        return;
    submission->alone = call->alone && (submission->alone || !submission->rest);
    if (call->retry_after > submission->rest)
        submission->rest = call->retry_after;
}

static void judge_round(struct kubernetes_submission *job)
{
    steps[job->step].judge(job);
    job->submission->rest = 0;
    job->submission->alone = false;
    for (size_t i = 0; i < job->count; i++) {
        if (job->parts[i].asked)
            note_rest(job->submission, &job->parts[i].call);
        if (job->parts[i].asked)
            kubernetes_api_call_free(&job->parts[i].call);
        job->parts[i].asked = false;
    }
}

/* Send the requests of all jobs' present steps, and judge the answers.  False when all jobs have ended. */
static bool run_round(struct kubernetes *kubernetes, struct arena *arena,
                      struct kubernetes_submission *jobs, size_t count,
                      struct kubernetes_call **calls)
{
    size_t call_count = 0;
    bool busy = false;
    for (size_t i = 0; i < count; i++) {
        struct kubernetes_submission *job = &jobs[i];
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

/* Submit jobs that fit into memory together: rounds until all have ended. */
static void submit_some(struct kubernetes *kubernetes, struct submission **batch, size_t count)
{
    struct arena *arena = arena_new();
    struct kubernetes_submission *jobs = arena_allocate(arena, count * sizeof(*jobs));
    size_t objects = 0;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct kubernetes_submission){
            .kubernetes = kubernetes, .arena = arena, .submission = batch[i], .step = STEP_ENDED};
        batch[i]->note[0] = '\0';
        batch[i]->unsettled = false;
        batch[i]->rest = 0;
        batch[i]->alone = false;
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
    int64_t rest = 0;
    bool usable = kubernetes_check_version(kubernetes, &rest, &error) == KUBERNETES_DONE;
    for (size_t i = 0; i < count && !usable; i++) {
        batch[i]->note[0] = '\0';
        batch[i]->unsettled = false;
        batch[i]->outcome = SUBMIT_UNAVAILABLE;
        batch[i]->rest = rest;
        batch[i]->alone = false;
        batch[i]->error = error;
    }
    for (size_t i = 0; i < count && usable; i += AT_A_TIME)
        submit_some(kubernetes, batch + i, count - i < AT_A_TIME ? count - i : AT_A_TIME);
}
