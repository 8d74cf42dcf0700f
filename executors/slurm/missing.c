/* executors/slurm/missing.c - jobs that Slurm does not know (any more) */
#include "executors/slurm/missing.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "executors/slurm/accounting.h"
#include "executors/slurm/files.h"

enum { RESUBMISSIONS_MOST = 5 };

static const int64_t missing_patience = 3000; /* milliseconds until a missing job is believed so */
static const int64_t accounting_patience = 60000; /* ... and until it is done without slurmdbd */
static const int64_t heartbeat_timeout =
    150000; /* ... and until one whose heart does not beat is dead:
               it beats every 10 s, and NFS may be late by 60 */

/* Submit a job again that slurmctld has forgotten.  If the first submission runs after all, the
 * script sees to it that its program is started once. */
static void resubmit(struct slurm_polling *polling, const struct slurm_version *version,
                     struct slurm_asked *asked)
{
    struct slurm_job *job = asked->job;
    struct slurm_call *call = slurm_polling_add_call(polling, asked);
    char token[SLURM_TOKEN_SIZE];
    struct buffer body = {0};
    struct error error;
    if (!call)
        return;
    slurm_record_token(token, polling->slurm->spool, asked->poll->id, asked->poll->attempt,
                       polling->slurm->executor.identity);
    const struct slurm_submission what = {
        .token = token,
        .id = asked->poll->id,
        .attempt = asked->poll->attempt,
        .directory = slurm_path_of_job(polling->slurm, polling->scratch, job->name),
        .time_limit = job->facts.time_limit,
        .held = true,
    };
    if (slurm_request_submit(&body, version, job->manifest, &what, &error)) {
        log_warn("%s cannot be submitted again: %s", asked->poll->id, error.text);
        polling->repairs--;
        buffer_free(&body);
        return;
    }
    call->path = slurm_path(polling->scratch, version, "job/submit");
    call->body = arena_take(polling->scratch, &body);
    polling->resubmitted[polling->repairs - 1] = job;
    job->resubmissions++;
    job->missing = 0; /* look for it again before the next resubmission */
    log_say("slurmctld has forgotten %s, which is submitted again", asked->poll->id);
}

/* Do the files say how the whole job ended? */
static bool has_ended(const struct slurm_job *job)
{
    if (!job->manifest->array_count)
        return job->ended;
    for (size_t i = 0; i < job->task_count; i++)
        if (!job->tasks[i].ended)
            return false;
    return true;
}

static void tell_vanished(struct slurm_asked *asked, const char *words)
{
    asked->poll->phase = PHASE_VANISHED;
    snprintf(asked->poll->detail, sizeof(asked->poll->detail), "%s", words);
}

bool slurm_missing_judge(struct slurm_polling *polling, struct slurm_asked *asked)
{
    struct slurm_job *job = asked->job;
    struct job_poll *poll = asked->poll;
    int64_t now = clock_elapsed();
    struct error error;
    asked->missing = false;
    if (!job->known) {
        tell_vanished(asked, "slurmctld does not know the job, and its directory is gone");
        return false;
    }
    if (!job->missing)
        job->missing = now ? now : 1;
    if (slurm_files_read(polling->slurm, job, &error)) {
        snprintf(poll->detail, sizeof(poll->detail), "%.500s", error.text);
        poll->phase = PHASE_UNKNOWN;
        return false;
    }
    if (has_ended(job) || job->decided)
        return true;
    if (now - job->missing < missing_patience && !poll->ending) {
        poll->phase = PHASE_UNKNOWN;
        return false;
    }
    asked->missing = true;
    return false;
}

void slurm_missing_settle(struct slurm_polling *polling, const struct slurm_version *version,
                          struct slurm_asked *asked)
{
    struct slurm_job *job = asked->job;
    struct job_poll *poll = asked->poll;
    bool alive = clock_elapsed() - job->alive_since < heartbeat_timeout;
    if (job->begun && !job->manifest->array_count && alive) {
        poll->phase = PHASE_RUNNING;
        snprintf(poll->detail, sizeof(poll->detail),
                 "slurmctld has forgotten the job, and it still runs as job %s was", job->begun_as);
    } else if (poll->ending) {
        tell_vanished(asked, "slurmctld does not know the job");
    } else if (job->begun && !job->manifest->array_count) {
        tell_vanished(asked, "slurmctld has forgotten the job, and its heartbeat has stopped");
    } else if (job->resubmissions >= RESUBMISSIONS_MOST) {
        tell_vanished(asked, "slurmctld has forgotten the job again and again");
    } else {
        poll->phase = PHASE_WAITING;
        snprintf(poll->detail, sizeof(poll->detail),
                 "slurmctld has forgotten the job; it is submitted again");
        resubmit(polling, version, asked);
    }
}

/* Assess a missing job by slurmdbd's records, if all of them have ended. */
static void take_accounting(struct slurm_polling *polling, struct slurm_asked *asked,
                            const struct slurm_records *records)
{
    const struct slurm_records found =
        slurm_records_of(records, asked->poll->id, asked->poll->attempt);
    struct slurm_record *items =
        arena_allocate(polling->scratch, (found.count + 1) * sizeof(*items));
    asked->records = (struct slurm_records){.items = items};
    for (size_t i = 0; i < found.count; i++) {
        if (!text_equal(found.items[i].user, asked->job->facts.user))
            continue;
        if (!slurm_record_is_over(found.items[i].state))
            return; /* slurmdbd was not told that slurmctld forgot it */
        items[asked->records.count++] = found.items[i];
    }
    if (!asked->records.count)
        return;
    asked->missing = false;
    slurm_assess(polling->slurm, polling->arena, asked->job, &asked->records, asked->poll,
                 &asked->need);
    asked->need = (struct slurm_need){0}; /* there is nothing left to repair */
}

void slurm_missing_ask_accounting(struct slurm_polling *polling)
{
    struct slurm_records records;
    struct error error;
    size_t missing = 0;
    const char *user = "";
    const char **names = arena_allocate(polling->scratch, (polling->count + 1) * sizeof(*names));
    for (size_t i = 0; i < polling->count; i++)
        if (polling->asked[i].missing) {
            names[missing++] = polling->asked[i].job->name;
            user = polling->asked[i].user;
        }
    if (!missing)
        return;
    /* Whoever asks sees the accounting of all users, as far as the site lets them. */
    const struct slurm_accounting_query query = {
        .user = slurm_api_differs_by_user(polling->slurm->connection) ? user : "",
        .names = names,
        .count = missing};
    int answered = slurm_accounting_ask(polling->slurm, polling->scratch, &query, &records, &error);
    for (size_t i = 0; i < polling->count && answered != 0; i++) {
        struct slurm_asked *asked = &polling->asked[i];
        if (asked->missing && answered > 0)
            take_accounting(polling, asked, &records);
        else if (asked->missing && clock_elapsed() - asked->job->missing < accounting_patience &&
                 !asked->poll->ending)
            asked->missing = false; /* PHASE_UNKNOWN */
    }
    if (answered < 0)
        log_warn("jobs that slurmctld has forgotten cannot be looked up: %s", error.text);
}
