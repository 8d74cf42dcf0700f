/* stages/resubmit/held_act.c - does what was decided about the jobs of held/
 *
 * The ids of the jobs that a job waits for are written into its job.yaml before anything else, so that
 * the answer stays the same.  Jobs that go on are left to the pass, which has their requests read again.
 * Jobs that fail are written to, made durable together, and moved to failed/.
 */
#include "base/file.h"
#include "spool/file.h"
#include "stages/resubmit/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/guard.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/end_line.h"
#include "stages/shared/duplicate.h"
#include "stages/shared/diagnosis.h"

enum { WHY_LIMIT = 64 * 1024, MOST_NEWS = 1024 }; /* bytes; jobs that are written to in a pass */

struct acting {
    struct resubmitter *resubmitter;
    struct pass *pass;
    struct held **ended; /* those to move */
    size_t ended_count;
    size_t news; /* jobs that wait and were written to */
};

static struct job_place place_of(const struct held *held)
{
    struct job_place place = {.state = STATE_HELD};
    struct text id = held_id(held);
    memcpy(place.id, id.data, id.length);
    return place;
}

/* Put the ids that were found into the record, and the events into `lines`.  Returns whether there were any. */
static bool take_found(const struct held *held, struct job_record *record, int64_t now,
                       struct buffer *lines)
{
    bool any = false;
    for (size_t i = 0; i < held->count && i < record->after_count; i++) {
        const struct held_condition *condition = &held->conditions[i];
        struct awaited *awaited = &record->after[i];
        if (!condition->found || !text_is(awaited->job, held_job_name(condition)))
            continue;
        awaited->id = held_job_id(condition);
        eventlog_start(lines, now, "after");
        eventlog_add(lines, "condition", awaited->condition);
        eventlog_add(lines, "job", awaited->job);
        eventlog_add(lines, "id", awaited->id);
        eventlog_end(lines);
        any = true;
    }
    return any;
}

/* Write down which jobs a condition means. */
static int write_found(struct resubmitter *resubmitter, struct held *held, int job, int64_t now,
                       struct error *error)
{
    struct job_record record;
    struct buffer lines = {0};
    bool found = false;
    for (size_t i = 0; i < held->count; i++)
        found = found || held->conditions[i].found;
    if (!found)
        return 0;
    int result = record_read(job, resubmitter->arena, &record, error);
    if (!result && take_found(held, &record, now, &lines))
        result =
            record_replace(job, &record, error) || eventlog_append(job, buffer_text(&lines), error)
                ? -1
                : 0;
    buffer_free(&lines);
    for (size_t i = 0; i < held->count && !result; i++)
        held->conditions[i].found = false;
    return result;
}

static uint64_t digest_of(struct text text)
{
    return hash_text(HASH_START, text) | 1; /* never 0 */
}

/* Write into `why` what the job waits for, unless it says so already. */
static int write_why(struct resubmitter *resubmitter, struct held *held, int job,
                     struct error *error)
{
    struct buffer why = {0}, there = {0};
    int result = 0;
    held_explain(resubmitter->held, held, &why);
    uint64_t digest = digest_of(buffer_text(&why));
    if (!held->why && !file_read_at(job, "why", WHY_LIMIT, &there, NULL))
        held->why = digest_of(buffer_text(&there));
    if (held->why != digest)
        result = spool_file_replace(job, "why", buffer_text(&why), 0644, error);
    if (!result)
        held->why = digest;
    buffer_free(&why);
    buffer_free(&there);
    return result;
}

static bool has_news(struct resubmitter *resubmitter, const struct held *held)
{
    struct buffer why = {0};
    held_explain(resubmitter->held, held, &why);
    bool result = digest_of(buffer_text(&why)) != held->why;
    buffer_free(&why);
    for (size_t i = 0; i < held->count && !result; i++)
        result = held->conditions[i].found;
    return result;
}

/* Write why the wait has ended in a failure. */
static int write_end(struct acting *acting, struct held *held, int job, struct error *error)
{
    struct resubmitter *resubmitter = acting->resubmitter;
    struct job_record record;
    struct diagnosis diagnosis;
    struct error problem;
    switch (held->decision) {
    case HELD_KILLED:
        diagnosis_killed(&diagnosis, held_id(held).data, held->kill->by, held->kill->when);
        break;
    case HELD_NOT_APPROVED:
        diagnosis_not_approved(&diagnosis, held_id(held).data, held->approval->refusal.by,
                               text_of(held->approval->refusal_words));
        break;
    case HELD_REFUSED:
        diagnosis_dependency(&diagnosis, held_id(held).data, REASON_BAD_AFTER, held->sentence);
        break;
    case HELD_LOST:
        diagnosis_dependency(&diagnosis, held_id(held).data, REASON_DEPENDENCY, held->sentence);
        break;
    default:
        error_set(&problem, "%s", held->sentence);
        return quarantine_write(job, held_id(held).data, resubmitter->arena, NULL, &problem, error);
    }
    if (record_read(job, resubmitter->arena, &record, error))
        return -1;
    return diagnosis_write(&diagnosis, job, &record, false, acting->pass->now, error);
}

/* Act on what was decided of a held job: explain what it waits for, let it go on, or end it.  What fails is
 * logged and tried again in the next pass. */
static void act_on(struct acting *acting, struct held *held)
{
    struct resubmitter *resubmitter = acting->resubmitter;
    struct job_place place = place_of(held);
    struct error error;
    bool arrived = held->arrived;
    if (held->decision == HELD_WAITS &&
        (!held->readable || (!arrived && !has_news(resubmitter, held)))) {
        held_jobs_let_rest(resubmitter->held, held, acting->pass->now);
        return;
    }
    /* Others may wait for this one: it is next. */
    if (held->decision == HELD_WAITS && acting->news++ >= MOST_NEWS) {
        resubmitter->more = true;
        return;
    }
    int job = job_open(&resubmitter->stage.spool, &place);
    if (job < 0)
        return;
    held->arrived = false;
    int result = 0;
    if (arrived && duplicate_settle(&resubmitter->stage, &place, held->accepted)) {
        sys.close(job);
        return;
    }
    if (held->decision != HELD_REFUSED && held->decision != HELD_DAMAGED)
        result = write_found(resubmitter, held, job, acting->pass->now, &error);
    if (!result && held->decision == HELD_WAITS) {
        result = write_why(resubmitter, held, job, &error);
    } else if (!result && held->decision == HELD_GOES_ON) {
        resubmit_pass_add(acting->pass, STATE_HELD, place.id, held->priority, held->stops);
        acting->pass->candidates[acting->pass->count - 1].action.kind = ACTION_REQUEUE;
        acting->pass->candidates[acting->pass->count - 1].action.cause =
            held->count && !held->released ? "after"
            : held->begin                  ? "begin"
            : held->approved               ? "approved"
                                           : "released";
    } else if (!result) {
        result = write_end(acting, held, job, &error);
        if (!result)
            acting->ended[acting->ended_count++] = held;
    }
    if (result)
        log_warn("%s: %s; it is retried", place.id, error.text);
    sys.close(job);
    arena_reset(resubmitter->arena);
}

static void say_ended(const struct spool *spool, const struct job_place *place)
{
    int job = job_open(spool, place);
    if (job < 0)
        return;
    end_line_log(job, place->id, STATE_FAILED);
    sys.close(job);
}

/* Once everything is durable, move the jobs whose wait has ended. */
static void move_ended(struct acting *acting)
{
    struct spool *spool = &acting->resubmitter->stage.spool;
    struct error error;
    if (acting->ended_count == 0)
        return;
    if (spool_sync(spool, &error)) {
        log_warn("%s; jobs of held/ fail once this works", error.text);
        return;
    }
    for (size_t i = 0; i < acting->ended_count; i++) {
        struct job_place place = place_of(acting->ended[i]);
        if (job_move(spool, &place, STATE_FAILED, acting->pass->now, &error))
            log_warn("%s", error.text);
        else
            say_ended(spool, &place);
    }
    if (spool_sync_state(spool, STATE_FAILED, &error) ||
        spool_sync_state(spool, STATE_HELD, &error))
        log_warn("%s", error.text);
}

void held_act(struct resubmitter *resubmitter, struct pass *pass)
{
    struct held_jobs *jobs = resubmitter->held;
    struct error error;
    resubmitter->more = false;
    if (held_jobs_decide(jobs, pass->now, &error)) {
        log_warn("%s", error.text);
        resubmitter->stage.failed = resubmitter->stage.failed || watch_lost(jobs->watch);
        return;
    }
    if (jobs->count == 0 || stage_is_fenced(&resubmitter->stage))
        return;
    struct acting acting = {.resubmitter = resubmitter,
                            .pass = pass,
                            .ended = memory_allocate(jobs->count * sizeof(struct held *))};
    for (size_t i = 0; i < jobs->count; i++) {
        struct guard_before before;
        if (!guard_begin(guard_own(), held_id(jobs->by_age[i]).data, &before))
            continue;
        act_on(&acting, jobs->by_age[i]);
        guard_return(guard_own(), &before);
        guard_passed(guard_own(), held_id(jobs->by_age[i]).data);
    }
    move_ended(&acting);
    free(acting.ended);
    held_jobs_leave_out_resting(jobs);
}
