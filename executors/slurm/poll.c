/* executors/slurm/poll.c - the state of jobs, by one list for all of them
 *
 * Repairs are made on the way, many at once: a held job that was not released is released; of a job
 * that Slurm has twice, one is cancelled, after it was held if it may begin; what slurmctld has forgotten
 * is submitted again, or goes on as it is (missing.h).
 *
 * No repair starts a job that is being stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/system.h"
#include "executors/slurm/bells.h"
#include "executors/slurm/files.h"
#include "executors/slurm/missing.h"
#include "executors/slurm/numbers.h"
#include "executors/slurm/table.h"
#include "executors/slurm/usage.h"

enum {
    QUESTIONS_MOST = 256 /* requests of one poll about single jobs: anybody can have them made */
};

/* Milliseconds that lists may take which fail all the same: a token that is not good fails at once. */
static const int64_t outage_patience = 5000;
/* ... and until what has no directory is none of a job. */
static const int64_t orphan_patience = 10000;

/* ---- the list ---- */

/* Is a job being stopped?  Then lists are requested, even those that are to rest. */
static bool is_hurried(const struct slurm_polling *polling)
{
    for (size_t i = 0; i < polling->count; i++)
        if (polling->asked[i].poll->ending)
            return true;
    return false;
}

static bool any_rings(const struct slurm_polling *polling)
{
    for (size_t i = 0; i < polling->count; i++)
        if (polling->asked[i].job->rings)
            return true;
    return false;
}

/* Request the list, or one list for each user where users have tokens of their own, unless the last one
 * is to do.  When some lists fail, only the jobs of these users stay unknown; once failures have taken
 * outage_patience, no further list is requested. */
static int refresh_tables(struct slurm_polling *polling, struct error *error)
{
    bool differ = slurm_api_differs_by_user(polling->slurm->connection);
    bool hurried = is_hurried(polling), asks = any_rings(polling);
    size_t answered = 0;
    int64_t lost = 0; /* milliseconds that went into lists that failed */
    for (size_t i = 0; i < polling->count; i++) {
        struct slurm_asked *asked = &polling->asked[i];
        size_t before = 0;
        while (before < i && differ && strcmp(polling->asked[before].user, asked->user) != 0)
            before++;
        if (before < i) {
            asked->listed = polling->asked[before].listed;
            asked->fresh = polling->asked[before].fresh;
        } else if (!hurried && slurm_table_rests(polling->slurm, asked->user, asks)) {
            asked->listed = true;
        } else if (lost < outage_patience) {
            int64_t began = clock_elapsed();
            asked->fresh = slurm_table_refresh(polling->slurm, asked->user, error) == 0;
            asked->listed = asked->fresh;
            lost += asked->listed ? 0 : clock_elapsed() - began;
            if (!asked->listed && differ)
                log_warn("the jobs of user %s cannot be followed: %s", asked->user, error->text);
        }
        answered += asked->listed;
    }
    return answered || !polling->count ? 0 : -1;
}

/* Find the job's records, without those of other users. */
static void find_records(struct slurm_polling *polling, struct slurm_asked *asked)
{
    struct slurm_records found =
        slurm_table_find(polling->slurm, asked->user, asked->poll->id, asked->poll->attempt);
    asked->records = (struct slurm_records){
        .items = arena_allocate(polling->scratch, (found.count + 1) * sizeof(*found.items))};
    for (size_t i = 0; i < found.count; i++)
        if (slurm_job_owns(asked->job, &found.items[i]))
            asked->records.items[asked->records.count++] = found.items[i];
    for (size_t i = 0; i < asked->records.count; i++)
        slurm_numbers_note(polling->slurm, asked->records.items[i].number);
}

/* The number of a job whose script has begun, as far as Slurm's list, or the script, tells it; 0: neither does. */
static int64_t find_number(struct slurm_polling *polling, const struct slurm_asked *asked)
{
    const struct slurm_records found =
        slurm_table_find(polling->slurm, asked->user, asked->poll->id, asked->poll->attempt);
    if (found.count == 1 && found.items[0].state != SLURM_STATE_WAITING)
        return slurm_record_head(&found.items[0]);
    if (!asked->job->known || slurm_files_read(polling->slurm, asked->job, NULL))
        return 0;
    int64_t number = text_number(text_of(asked->job->begun_as), SLURM_NUMBER_MOST);
    return number > 0 ? number : 0;
}

/* Between two lists, ask about those whose scripts say that there is news. */
static void ask_about_ringing(struct slurm_polling *polling)
{
    struct slurm_question *questions =
        arena_allocate(polling->scratch, QUESTIONS_MOST * sizeof(*questions));
    size_t count = 0;
    for (size_t i = 0; i < polling->count && count < QUESTIONS_MOST; i++) {
        const struct slurm_asked *asked = &polling->asked[i];
        if (asked->fresh || !asked->listed || !asked->job->rings)
            continue;
        asked->job->rings--;
        int64_t number = find_number(polling, asked);
        if (number)
            questions[count++] =
                (struct slurm_question){asked->user, asked->poll->id, asked->poll->attempt, number};
    }
    slurm_table_ask(polling->slurm, questions, count);
}

/* ---- requests beside it ---- */

struct slurm_call *slurm_polling_add_call(struct slurm_polling *polling,
                                          const struct slurm_asked *asked)
{
    if (polling->repairs == REPAIRS_MOST)
        return NULL;
    struct slurm_call *call = &polling->calls[polling->repairs];
    *call = (struct slurm_call){.method = "POST", .user = asked->user};
    polling->resubmitted[polling->repairs] = NULL;
    polling->batch[polling->repairs++] = call;
    return call;
}

typedef void update_body(struct buffer *out, const struct slurm_version *version, const char *token,
                         const char *name);

/* The call becomes an update of the record's job. */
static void write_update(struct slurm_polling *polling, const struct slurm_version *version,
                         const struct slurm_asked *asked, const struct slurm_record *record,
                         update_body *write_body, struct slurm_call *call)
{
    char token[SLURM_TOKEN_SIZE];
    struct buffer body = {0};
    slurm_record_token(token, polling->slurm->spool, asked->poll->id, asked->poll->attempt,
                       polling->slurm->executor.identity);
    write_body(&body, version, token, asked->job->name);
    call->path = slurm_path(
        polling->scratch, version, "job/%lld",
        (long long)(record->array_index < 0 ? slurm_record_head(record) : record->number));
    call->body = arena_take(polling->scratch, &body);
}

static void add_release(struct slurm_polling *polling, const struct slurm_version *version,
                        const struct slurm_asked *asked)
{
    struct slurm_call *call = slurm_polling_add_call(polling, asked);
    if (call)
        write_update(polling, version, asked, asked->need.release, slurm_request_release, call);
}

static void add_ends(struct slurm_polling *polling, const struct slurm_version *version,
                     const struct slurm_asked *asked)
{
    for (size_t i = 0; i < asked->need.end_count; i++) {
        struct slurm_call *call = slurm_polling_add_call(polling, asked);
        if (!call)
            return;
        const struct slurm_surplus *surplus = &asked->need.end[i];
        log_say("%s: %s Slurm's job %lld, which %s", asked->poll->id,
                surplus->may_begin ? "holding" : "cancelling", (long long)surplus->record->number,
                surplus->why);
        if (surplus->may_begin)
            write_update(polling, version, asked, surplus->record, slurm_request_take_back, call);
        else
            slurm_call_cancel(call, polling->scratch, version, surplus->record);
    }
}

/* ---- all of them ---- */

/* What those used that have ended.  A job whose tasks still run, although its outcome is decided, is
 * asked about later. */
static void add_usage(struct slurm_polling *polling)
{
    struct slurm_usage_asked *all =
        arena_allocate(polling->scratch, (polling->count + 1) * sizeof(*all));
    for (size_t i = 0; i < polling->count; i++) {
        const struct slurm_asked *asked = &polling->asked[i];
        size_t over = 0;
        for (size_t k = 0; k < asked->records.count; k++)
            over += slurm_record_is_over(asked->records.items[k].state);
        all[i] = (struct slurm_usage_asked){asked->poll, asked->job, asked->user,
                                            over == asked->records.count ? over : 0};
    }
    slurm_usage_add(polling->slurm, polling->scratch, all, polling->count);
}

/* ---- all ---- */

static void assess_job(struct slurm_polling *polling, struct slurm_asked *asked)
{
    struct slurm *slurm = polling->slurm;
    struct error error;
    find_records(polling, asked);
    if (!asked->records.count && !asked->fresh)
        return; /* PHASE_UNKNOWN: it may be younger than the list */
    if (!asked->records.count && !slurm_missing_judge(polling, asked))
        return;
    if (asked->records.count)
        asked->job->missing = 0;
    if (asked->records.count && slurm_assess_needs_files(asked->job, &asked->records) &&
        slurm_files_read(slurm, asked->job, &error)) {
        asked->poll->phase = PHASE_UNKNOWN;
        log_warn("%s: %s", asked->poll->id, error.text);
        return;
    }
    slurm_assess(slurm, polling->arena, asked->job, &asked->records, asked->poll, &asked->need);
    if (asked->need.decide && slurm_job_decide(slurm, asked->job, asked->poll, &error)) {
        log_warn("%s: its outcome cannot be written down: %s", asked->poll->id, error.text);
        executor_clear_poll(asked->poll);
    }
}

/* Cancel orphans: jobs that wait at Slurm under a token of ours and have no directory.  Each is a
 * duplicate of a job that has ended, since a directory is made before its job is submitted, and removed
 * after its end. */
static void add_orphans(struct slurm_polling *polling, const struct slurm_version *version,
                        const struct slurm_asked *asked)
{
    const struct slurm_records *all = slurm_table_all(polling->slurm, asked->user);
    int64_t clock = slurm_table_clock(polling->slurm, asked->user);
    struct stat status;
    polling->slurm->orphans_due = clock_elapsed() + orphan_patience;
    if (!polling->slurm->executor.identity[0])
        return; /* a job of another spool, with another directory, may look the same */
    for (size_t i = 0; all && clock && i < all->count; i++) {
        const struct slurm_record *record = &all->items[i];
        char name[SLURM_NAME_SIZE];
        if (record->state != SLURM_STATE_WAITING || clock - record->submitted < orphan_patience ||
            !text_is(record->identity, polling->slurm->executor.identity))
            continue;
        snprintf(name, sizeof(name), "%.*s-a%d", (int)record->id.length, record->id.data,
                 record->attempt);
        if (memchr(name, '/', strlen(name)) || name[0] == '.' ||
            sys.fstatat(polling->slurm->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ||
            errno != ENOENT)
            continue;
        struct slurm_call *call = slurm_polling_add_call(polling, asked);
        if (!call)
            return;
        slurm_call_cancel(call, polling->scratch, version, record);
    }
}

/* Cancel resubmitted jobs whose number another job had before; the next poll submits them again. */
static void drop_numbers(struct slurm_polling *polling, const struct slurm_version *version,
                         int64_t mark)
{
    struct slurm_call *calls = arena_allocate(polling->scratch, REPAIRS_MOST * sizeof(*calls));
    size_t count = 0;
    for (size_t i = 0; i < polling->repairs; i++) {
        const struct slurm_record record = {
            .number = slurm_request_number(polling->batch[i]->answer), .array_index = -1};
        struct slurm_job *job = polling->resubmitted[i];
        if (!job || !record.number || slurm_numbers_take(polling->slurm, mark, record.number) ||
            job->dropped_numbers++ >= SLURM_DROPPED_NUMBERS_MOST)
            continue;
        calls[count].user = polling->batch[i]->user;
        slurm_call_cancel(&calls[count], polling->scratch, version, &record);
        job->resubmissions--;
        job->missing = 1; /* since long ago: do not wait again */
        polling->batch[count] = &calls[count];
        count++;
    }
    if (count)
        slurm_api_run(polling->slurm->connection, polling->scratch, polling->batch, count);
    for (size_t i = 0; i < count; i++)
        slurm_api_call_free(polling->batch[i]);
}

static void repair_jobs(struct slurm_polling *polling, const struct slurm_version *version)
{
    for (size_t i = 0; i < polling->count; i++) {
        struct slurm_asked *asked = &polling->asked[i];
        if (!asked->fresh)
            continue; /* what the last list called for was done then */
        if (asked->missing)
            slurm_missing_settle(polling, version, asked);
        if (asked->need.release && !asked->poll->ending)
            add_release(polling, version, asked);
        add_ends(polling, version, asked);
    }
    if (polling->count && polling->asked[0].fresh && clock_elapsed() >= polling->slurm->orphans_due)
        add_orphans(polling, version, &polling->asked[0]);
    if (!polling->repairs)
        return;
    /* A resubmitted job was made durable before it was submitted for the first time. */
    int64_t mark = slurm_numbers_mark(polling->slurm);
    slurm_api_run(polling->slurm->connection, polling->scratch, polling->batch, polling->repairs);
    for (size_t i = 0; i < polling->repairs; i++) {
        const struct slurm_call *call = polling->batch[i];
        if (call->outcome == SLURM_REFUSED && call->code && call->code != SLURM_CODE_JOB_HELD)
            log_warn("Slurm refused to repair a job (%s): %s", call->path.data, call->error.text);
        slurm_api_call_free(polling->batch[i]);
    }
    drop_numbers(polling, version, mark);
}

/* Find what is remembered of each job; a job whose files cannot be read now stays PHASE_UNKNOWN. */
static void open_jobs(struct slurm_polling *polling, struct job_poll **jobs, size_t count)
{
    struct error error;
    for (size_t i = 0; i < count; i++) {
        executor_clear_poll(jobs[i]);
        struct slurm_job *job =
            slurm_jobs_find(polling->slurm, jobs[i]->id, jobs[i]->attempt, &error);
        if (!job) {
            log_warn("%s: following it failed, and is retried: %s", jobs[i]->id, error.text);
            continue;
        }
        polling->asked[polling->count++] = (struct slurm_asked){
            .poll = jobs[i], .job = job, .user = job->known ? job->facts.user.data : ""};
    }
}

int slurm_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs, size_t count,
               struct error *error)
{
    struct slurm *slurm = slurm_of(executor);
    struct slurm_polling polling = {.slurm = slurm, .arena = arena, .scratch = arena_new()};
    polling.asked = arena_allocate(polling.scratch, (count + 1) * sizeof(*polling.asked));
    polling.calls = arena_allocate(polling.scratch, REPAIRS_MOST * sizeof(*polling.calls));
    polling.batch = arena_allocate(polling.scratch, REPAIRS_MOST * sizeof(*polling.batch));
    polling.resubmitted =
        arena_allocate(polling.scratch, REPAIRS_MOST * sizeof(*polling.resubmitted));
    open_jobs(&polling, jobs, count);
    slurm_bells_take(slurm);
    int result = slurm_ensure_directory(slurm, error) || refresh_tables(&polling, error) ? -1 : 0;
    const struct slurm_version *version =
        result ? NULL : slurm_api_version(slurm->connection, error);
    if (version)
        ask_about_ringing(&polling);
    for (size_t i = 0; i < polling.count && version; i++)
        if (polling.asked[i].listed)
            assess_job(&polling, &polling.asked[i]);
    if (version) {
        slurm_missing_ask_accounting(&polling);
        add_usage(&polling);
        repair_jobs(&polling, version);
        slurm_numbers_keep(slurm);
    }
    arena_free(polling.scratch);
    return version ? 0 : -1;
}
