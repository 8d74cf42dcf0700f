/* executors/slurm/submit.c - submitting jobs
 *
 * A batch goes through the steps together, so that many requests are under way at once:
 *
 *   prepare   read the manifest, make the directory, write the body; one sync for the batch
 *   look      one list, when some were submitted before with an unknown outcome: jobs that Slurm
 *             has are adopted
 *   submit    some at a time; held where numbers are in doubt (numbers.h), where the job was submitted
 *             before, and behind a request that failed; else so that the job begins at once
 *   look      again, for those whose answer was lost
 *   release   those that were held, in one update
 *   clean up  jobs that were refused, and yet got a number; and jobs that got a number that another
 *             one had before (numbers.h), which are then submitted again
 *
 * A job that is at Slurm under its token is accepted, released or not: poll() releases what is not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "executors/slurm/inside.h"
#include "executors/slurm/numbers.h"
#include "executors/slurm/table.h"

enum {
    AT_A_TIME = 256, /* jobs that go through a step together */
    TOGETHER = 64    /* ... that are submitted behind one look whether numbers are in doubt */
};

enum step {
    STEP_SUBMIT,
    STEP_FIND,
    STEP_RELEASE,
    STEP_TAKE_BACK, /* it may have begun, under a reused number */
    STEP_DROP_NUMBER,
    STEP_CLEAN_UP,
    STEP_ENDED
};

struct submitting {
    struct submission *submission;
    enum step step;
    char name[SLURM_NAME_SIZE], token[SLURM_TOKEN_SIZE];
    struct slurm_facts facts;
    struct slurm_manifest *manifest;
    struct buffer body;
    int64_t number;  /* at Slurm */
    bool held;       /* it is submitted held */
    bool taken_back; /* ... and was taken back, as its number was reused */
    struct slurm_call call;
};

struct round {
    struct slurm *slurm;
    struct arena *arena;
    const struct slurm_version *version;
    int64_t mark;  /* numbers up to this were given before */
    int64_t giver; /* slurmctld, as it answered last; 0: not known */
    bool in_doubt; /* a request failed, or a number was reused: the rest is held */
    bool fresh;    /* a larger number was given */
    struct submitting *jobs;
    size_t count;
    size_t first, end; /* of the jobs that are at work now */
    struct slurm_call **calls;
};

static void end_submitting(struct submitting *job, enum submit_outcome outcome,
                           const struct error *error)
{
    job->step = STEP_ENDED;
    job->submission->outcome = outcome;
    if (error && error != &job->submission->error)
        job->submission->error = *error;
    else if (!error)
        job->submission->error.text[0] = '\0';
}

/* ---- prepare ---- */

/* Refuse a job that may have been submitted before and cannot be looked for. */
static void refuse_repeated(struct submitting *job)
{
    job->submission->unsettled = job->submission->repeated;
    end_submitting(job, SUBMIT_REFUSED, &job->submission->error);
}

/* Slurm takes a job that is held and names a type of GPU that no node has, and lets it wait for ever:
 * such a job is not submitted. */
static bool lacks_gpu_type(struct round *round, struct submitting *job)
{
    struct error_quote_buffer buffers[2];
    bool lacks = false;
    for (size_t i = 0; i < job->manifest->component_count && !lacks; i++) {
        struct text type = job->manifest->components[i].gpu_type;
        struct buffer there = {0};
        lacks = type.length && slurm_lacks_gpu_type(round->slurm, type, &there);
        if (lacks)
            error_set(&job->submission->error,
                      "gpu_type: no node of the cluster has GPUs of the type %s; there are %s",
                      error_quote(&buffers[0], type.data, type.length),
                      error_quote(&buffers[1], there.data, there.length));
        buffer_free(&there);
    }
    return lacks;
}

/* Read the manifest, make the job's directory, and decide the first step: a repeated submission is looked for
 * before it is made again. */
static void prepare_job(struct round *round, struct submitting *job)
{
    struct submission *submission = job->submission;
    struct error *error = &submission->error;
    slurm_directory_name(job->name, submission->id, submission->attempt);
    slurm_record_token(job->token, round->slurm->spool, submission->id, submission->attempt,
                       round->slurm->executor.identity);
    job->manifest = slurm_manifest_read(round->arena, submission->manifest, error);
    if (!job->manifest) {
        refuse_repeated(job);
        return;
    }
    /* A job that may be at Slurm already is looked for instead. */
    if (!submission->repeated && lacks_gpu_type(round, job)) {
        end_submitting(job, SUBMIT_NEVER_FITS, error);
        return;
    }
    int trouble = slurm_user_of(round->slurm, round->arena, submission, &job->facts, error);
    job->facts.time_limit = submission->time_limit;
    job->facts.manifest = submission->manifest;
    job->facts.identity = text_of(round->slurm->executor.identity);
    if (!trouble)
        trouble = slurm_directory_make(round->slurm->directory, job->name, &job->facts, error);
    if (trouble > 0)
        end_submitting(job, SUBMIT_UNAVAILABLE, error);
    else if (trouble)
        refuse_repeated(job);
    if (trouble)
        return;
    job->held = submission->repeated;
    job->step = submission->repeated ? STEP_FIND : STEP_SUBMIT;
}

/* Everything is durable before it is submitted. */
static void make_durable(struct round *round)
{
    struct error error;
    if (sys.syncfs(round->slurm->directory) == 0)
        return;
    error_errno(&error, "slurm.directory could not be made durable");
    for (size_t i = 0; i < round->count; i++)
        if (round->jobs[i].step != STEP_ENDED)
            end_submitting(&round->jobs[i], SUBMIT_UNAVAILABLE, &error);
}

/* ---- look ---- */

/* The job is at Slurm, whatever becomes of its release: poll() releases what is still held. */
static void accept_job(struct submitting *job)
{
    snprintf(job->submission->note, sizeof(job->submission->note), "Slurm's job %lld",
             (long long)job->number);
    end_submitting(job, SUBMIT_ACCEPTED, NULL);
}

/* A job that has begun is not submitted again: poll() reports what became of it. */
static bool has_begun(const struct round *round, const struct submitting *job)
{
    struct stat status;
    int directory = slurm_directory_job(round->slurm->directory, job->name, NULL);
    if (directory < 0)
        return false;
    bool begun = sys.fstatat(directory, "started", &status, AT_SYMLINK_NOFOLLOW) == 0 ||
                 sys.fstatat(directory, "ended", &status, AT_SYMLINK_NOFOLLOW) == 0;
    sys.close(directory);
    return begun;
}

/* Look for the submission among Slurm's jobs.  One that was released or is over is accepted; one
 * that is held is released; where none is found, a repeated submission is made again unless its
 * script has begun. */
static void find_records(struct round *round, struct submitting *job)
{
    const struct slurm_records found = slurm_table_find(
        round->slurm, job->facts.user.data, job->submission->id, job->submission->attempt);
    bool again = job->submission->repeated && job->call.path.data == NULL;
    for (size_t i = 0; i < found.count; i++) {
        const struct slurm_record *record = &found.items[i];
        if (!slurm_record_is_of(record, job->facts.user, job->facts.uid))
            continue;
        if (record->released || slurm_record_is_over(record->state)) {
            end_submitting(job, SUBMIT_ACCEPTED, NULL);
            return;
        }
        if (!job->number || record->number < job->number)
            job->number = slurm_record_head(record);
        job->step = job->taken_back && record->state == SLURM_STATE_WAITING ? STEP_DROP_NUMBER
                                                                            : STEP_RELEASE;
    }
    if (job->step != STEP_FIND)
        return;
    if (again && has_begun(round, job))
        end_submitting(job, SUBMIT_ACCEPTED, NULL);
    else if (again)
        job->step = STEP_SUBMIT;
    else
        end_submitting(job, SUBMIT_UNKNOWN, &job->call.error);
}

/* Look for all jobs at STEP_FIND: by one list or, with a token for each user, by one list a user. */
static void find_all(struct round *round)
{
    struct error error;
    for (size_t i = 0; i < round->count; i++) {
        struct submitting *first = &round->jobs[i];
        if (first->step != STEP_FIND)
            continue;
        bool differ = slurm_api_differs_by_user(round->slurm->connection);
        int result = slurm_table_refresh(round->slurm, first->facts.user.data, &error);
        for (size_t j = i; j < round->count; j++) {
            struct submitting *job = &round->jobs[j];
            if (job->step != STEP_FIND ||
                (differ && !text_equal(job->facts.user, first->facts.user)))
                continue;
            if (result)
                end_submitting(job, SUBMIT_UNKNOWN, &error);
            else
                find_records(round, job);
        }
    }
}

/* ---- requests ---- */

/* Run a request for each job that is at the step; how many these are. */
static size_t run_step(struct round *round, enum step step,
                       void (*prepare_call)(struct round *, struct submitting *),
                       void (*judge_call)(struct round *, struct submitting *))
{
    size_t count = 0;
    for (size_t i = round->first; i < round->end; i++) {
        struct submitting *job = &round->jobs[i];
        if (job->step != step)
            continue;
        job->call = (struct slurm_call){.method = "POST", .user = job->facts.user.data};
        prepare_call(round, job);
        round->calls[count++] = &job->call;
    }
    if (!count)
        return 0;
    slurm_api_run(round->slurm->connection, round->arena, round->calls, count);
    for (size_t i = round->first; i < round->end; i++) {
        struct submitting *job = &round->jobs[i];
        if (job->step != step)
            continue;
        judge_call(round, job);
        slurm_api_call_free(&job->call);
    }
    return count;
}

static void prepare_submit(struct round *round, struct submitting *job)
{
    job->call.path = slurm_path(round->arena, round->version, "job/submit");
    job->call.body = buffer_text(&job->body);
}

/* The job has a number.  One that another job had is not left to it: a held job is ended, and one that may have
 * begun is held first, as it may be the one that runs the program. */
static void take_number(struct round *round, struct submitting *job)
{
    bool fresh = slurm_numbers_take(round->slurm, round->mark, job->number);
    round->fresh = round->fresh || fresh;
    round->in_doubt = round->in_doubt || !fresh;
    if (fresh && !job->held)
        accept_job(job);
    else if (fresh)
        job->step = STEP_RELEASE;
    else
        job->step = job->held ? STEP_DROP_NUMBER : STEP_TAKE_BACK;
}

/* Decide the next step by the answer to the submission: release what was accepted and is held, look for what
 * has no answer, or end it. */
static void judge_submit(struct round *round, struct submitting *job)
{
    struct slurm_call *call = &job->call;
    struct submission *submission = job->submission;
    buffer_free(&job->body);
    job->number = slurm_request_number(call->answer);
    bool waits = call->code == SLURM_CODE_JOB_HELD || (!job->held && slurm_code_waits(call->code));
    if (job->number && (call->outcome == SLURM_DONE || waits)) {
        take_number(round, job);
        return;
    }
    round->in_doubt = round->in_doubt || call->outcome != SLURM_REFUSED;
    if (call->outcome == SLURM_UNKNOWN || (call->outcome == SLURM_DONE && !job->number)) {
        if (call->outcome == SLURM_DONE)
            error_set(&call->error,
                      "slurmrestd's answer to a submission does not say the job's number");
        job->step = STEP_FIND;
        return;
    }
    if (call->outcome == SLURM_UNAVAILABLE) {
        /* One user's missing token does not stop the others. */
        bool alone = call->no_token && slurm_api_differs_by_user(round->slurm->connection);
        end_submitting(job, alone ? SUBMIT_NO_ROOM : SUBMIT_UNAVAILABLE, &call->error);
        return;
    }
    const char *hint;
    submission->outcome = slurm_code_outcome(call->code, &hint);
    submission->mender = slurm_code_mender(call->code);
    if (*hint)
        error_set(&submission->error, "%.1500s; %s", call->error.text, hint);
    else
        submission->error = call->error;
    if (job->number)
        job->step = STEP_CLEAN_UP;
    else
        end_submitting(job, submission->outcome, &submission->error);
}

static void prepare_release(struct round *round, struct submitting *job)
{
    job->call.path = slurm_path(round->arena, round->version, "job/%lld", (long long)job->number);
    buffer_clear(&job->body);
    slurm_request_release(&job->body, round->version, job->token, job->name);
    job->call.body = buffer_text(&job->body);
}

/* Slurm 22.05 reports an error without a code on every successful release of an array; ignore it. */
static void judge_release(struct round *round, struct submitting *job)
{
    (void)round;
    buffer_free(&job->body);
    accept_job(job);
}

static void prepare_take_back(struct round *round, struct submitting *job)
{
    job->call.path = slurm_path(round->arena, round->version, "job/%lld", (long long)job->number);
    slurm_request_take_back(&job->body, round->version, job->token, job->name);
    job->call.body = buffer_text(&job->body);
}

/* Whether it has begun is seen in the list. */
static void judge_take_back(struct round *round, struct submitting *job)
{
    (void)round;
    buffer_free(&job->body);
    job->taken_back = job->held = true;
    job->step = STEP_FIND;
    if (job->call.outcome == SLURM_DONE)
        error_set(&job->call.error, "Slurm does not show the job that it has taken");
}

static void prepare_cancel(struct round *round, struct submitting *job)
{
    const struct slurm_record record = {.number = job->number, .array_index = -1};
    slurm_call_cancel(&job->call, round->arena, round->version, &record);
}

static void judge_drop_number(struct round *round, struct submitting *job)
{
    (void)round;
    if (job->call.outcome == SLURM_DONE || job->call.outcome == SLURM_REFUSED)
        job->step = STEP_SUBMIT;
    else
        end_submitting(job, SUBMIT_UNKNOWN, &job->call.error);
}

/* Make the bodies of the requests, and decide which jobs are submitted held: all of them unless numbers are in
 * no doubt. */
static void write_bodies(struct round *round)
{
    bool asked = false;
    round->giver = 0;
    for (size_t i = round->first; i < round->end; i++) {
        struct submitting *job = &round->jobs[i];
        const struct submission *submission = job->submission;
        if (job->step != STEP_SUBMIT)
            continue;
        if (!job->held && !round->in_doubt && !asked) {
            round->giver = slurm_numbers_ask_giver(round->slurm, job->facts.user.data);
            asked = true;
        }
        job->held = job->held || !slurm_numbers_are_sure(round->slurm, round->giver);
        const struct slurm_submission what = {
            .token = job->token,
            .id = submission->id,
            .attempt = submission->attempt,
            .directory = slurm_path_of_job(round->slurm, round->arena, job->name),
            .time_limit = submission->time_limit,
            .held = job->held,
        };
        if (slurm_request_submit(&job->body, round->version, job->manifest, &what,
                                 &job->submission->error))
            refuse_repeated(job);
    }
}

/* Submit the jobs at STEP_SUBMIT, and learn from their numbers. */
static void submit_once(struct round *round)
{
    round->mark = slurm_numbers_mark(round->slurm);
    round->fresh = false;
    write_bodies(round);
    run_step(round, STEP_SUBMIT, prepare_submit, judge_submit);
    if (round->fresh && !round->in_doubt && round->giver)
        slurm_numbers_trust(round->slurm, round->giver);
    slurm_numbers_keep(round->slurm);
}

/* Submit the jobs at STEP_SUBMIT of a part, until each has a number that no other job had before.  After
 * SLURM_DROPPED_NUMBERS_MOST rounds a job keeps its number, and poll() releases it. */
static void submit_part(struct round *round)
{
    for (int i = 0;; i++) {
        bool again = false;
        submit_once(round);
        if (run_step(round, STEP_TAKE_BACK, prepare_take_back, judge_take_back))
            find_all(round);
        for (size_t j = round->first; j < round->end; j++) {
            if (round->jobs[j].step == STEP_DROP_NUMBER && i == SLURM_DROPPED_NUMBERS_MOST)
                accept_job(&round->jobs[j]);
            again = again || round->jobs[j].step == STEP_DROP_NUMBER;
        }
        if (!again)
            return;
        run_step(round, STEP_DROP_NUMBER, prepare_cancel, judge_drop_number);
    }
}

static void submit_all(struct round *round)
{
    for (size_t first = 0; first < round->count; first += TOGETHER) {
        round->first = first;
        round->end = first + TOGETHER < round->count ? first + TOGETHER : round->count;
        submit_part(round);
    }
    round->first = 0;
    round->end = round->count;
}

static void judge_clean_up(struct round *round, struct submitting *job)
{
    struct slurm_call *call = &job->call;
    struct submission *submission = job->submission;
    struct error error;
    (void)round;
    if (call->outcome == SLURM_DONE || call->outcome == SLURM_REFUSED) {
        end_submitting(job, submission->outcome, &submission->error);
        return;
    }
    error_set(&error,
              "%.900s; Slurm has it nevertheless as job %lld, which could not be ended: %.900s",
              submission->error.text, (long long)job->number, call->error.text);
    end_submitting(job, SUBMIT_UNKNOWN, &error);
}

static void submit_some(struct slurm *slurm, const struct slurm_version *version,
                        struct submission **batch, size_t count)
{
    struct round round = {.slurm = slurm, .arena = arena_new(), .version = version, .count = count};
    round.jobs = arena_allocate(round.arena, count * sizeof(*round.jobs));
    round.calls = arena_allocate(round.arena, count * sizeof(*round.calls));
    for (size_t i = 0; i < count; i++) {
        round.jobs[i].submission = batch[i];
        prepare_job(&round, &round.jobs[i]);
    }
    make_durable(&round);
    find_all(&round);
    submit_all(&round);
    find_all(&round);
    run_step(&round, STEP_RELEASE, prepare_release, judge_release);
    run_step(&round, STEP_CLEAN_UP, prepare_cancel, judge_clean_up);
    for (size_t i = 0; i < count; i++)
        buffer_free(&round.jobs[i].body);
    arena_free(round.arena);
}

void slurm_submit(struct executor *executor, struct submission **batch, size_t count)
{
    struct slurm *slurm = slurm_of(executor);
    struct error error;
    for (size_t i = 0; i < count; i++) {
        batch[i]->note[0] = '\0';
        batch[i]->unsettled = false;
        batch[i]->outcome = SUBMIT_UNAVAILABLE;
    }
    const struct slurm_version *version =
        slurm_ensure_directory(slurm, &error) ? NULL : slurm_api_version(slurm->connection, &error);
    for (size_t i = 0; i < count && !version; i++)
        batch[i]->error = error;
    for (size_t i = 0; i < count && version; i += AT_A_TIME)
        submit_some(slurm, version, batch + i, count - i < AT_A_TIME ? count - i : AT_A_TIME);
}
