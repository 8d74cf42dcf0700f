/* stages/shared/give_up.c - a job over which a stage ends again and again */
#include "stages/shared/give_up.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "stages/shared/account_files.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/diagnosis.h"

/* Have the executor kill the attempt and forget it.  Until it is told, the job does not move, or another
 * attempt could run beside this one. */
static int end_at_executor(struct executor *executor, const struct job_record *record,
                           struct error *error)
{
    const struct executor_operations *operations = executor->operations;
    struct job_call call = {.id = record->id.data, .attempt = record->attempt, .force = true};
    struct job_call *calls[] = {&call};
    operations->cancel(executor, calls, 1);
    if (call.result == 0)
        operations->remove(executor, calls, 1);
    if (call.result == 0)
        return 0;
    return error_set(error, "the executor could not be told to end it: %s", call.error.text);
}

/* How much of the job may be read, by how often that went wrong. */
enum care {
    READ_RECORD = GUARD_MOST_TRIES, /* all that is needed */
    READ_LOG,                       /* its log, from which a new record is made */
    READ_NOTHING,
    TOUCH_NOTHING
};

/* Read its record, or make one from its log. 1 when neither can be done now; -1 and a sentence when
 * it cannot be determined which attempt the executor has. */
static int read_job(int job, const struct job_place *place, int care, struct arena *arena,
                    struct job_record *record, bool *made, struct error *error)
{
    *made = care != READ_RECORD || record_read(job, arena, record, error);
    if (!*made)
        return 0;
    if (care == READ_RECORD && !file_is_damaged(errno))
        return 1;
    if (quarantine_recover(job, place->id, arena, record) || place->state != STATE_SUBMITTED)
        return 0;
    return error_set(error, "its log does not tell which attempt of it the executor has");
}

/* What the executor had of it goes into the accounts. */
static int account(const struct spool *spool, int job, const struct job_record *record,
                   struct arena *arena, struct error *error)
{
    struct buffer line = {0};
    struct progress progress;
    account_files_line(job, record, false, arena, &progress, &line);
    int result = usage_append(spool, buffer_text(&line), clock_now(), error);
    buffer_free(&line);
    return result;
}

/* Write the diagnosis into a job whose record can be read or made, and tell the executor.  1 when that cannot
 * be done now; the job's files are unchanged then. */
static int explain_end(const struct spool *spool, int job, const struct job_place *place, int care,
                       struct executor *executor, struct diagnosis *diagnosis, struct error *error)
{
    struct arena *arena = arena_new();
    struct job_record record;
    bool made;
    bool there = executor && place->state != STATE_FAILED && place->state != STATE_HELD;
    int result = read_job(job, place, care, arena, &record, &made, error);
    if (!result && there && end_at_executor(executor, &record, error))
        result = 1;
    if (!result && made)
        spool_file_damaged(job, "job.yaml");
    if (!result && diagnosis_write(diagnosis, job, &record, false, clock_now(), error))
        result = 1;
    if (!result && place->state == STATE_SUBMITTED && account(spool, job, &record, arena, error))
        result = 1;
    arena_free(arena);
    return result;
}

/* Write the diagnosis into a job that is not read: `why` and a line of the log; its record is renamed.  1 when
 * that cannot be done now. */
static int explain_unread(int job, const struct diagnosis *diagnosis, struct error *error)
{
    struct why why = {diagnosis->sentence, diagnosis->detail, diagnosis->next};
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "failed");
    eventlog_add_string(&line, "reason", diagnosis->reason);
    eventlog_add_string(&line, "class", diagnosis->class);
    eventlog_add_string(&line, "why", diagnosis->sentence);
    eventlog_end(&line);
    spool_file_damaged(job, "job.yaml");
    int result = why_write(job, &why, error) || eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result ? 1 : 0;
}

/* 1 when it must be retried; -1 and a sentence when it cannot be done. */
static int quarantine_job(struct stage *stage, struct job_place *place, int care,
                          struct executor *executor, struct error *error)
{
    struct diagnosis diagnosis;
    diagnosis_stops_stage(&diagnosis, place->id, stage->name, GUARD_MOST_TRIES);
    if (stage_is_fenced(stage)) {
        error_set(error, "another daemon serves the spool");
        return 1;
    }
    int job = job_open(&stage->spool, place);
    if (job < 0 && errno == ENOENT)
        return 0; /* it has gone on */
    if (job < 0) {
        error_errno(error, "its directory could not be opened");
        return 1;
    }
    int result = care == READ_NOTHING
                     ? explain_unread(job, &diagnosis, error)
                     : explain_end(&stage->spool, job, place, care, executor, &diagnosis, error);
    sys.close(job);
    if (result)
        return result;
    if (spool_sync(&stage->spool, error) || stage_is_fenced(stage))
        return 1;
    if (place->state == STATE_FAILED)
        return 0;
    enum state from = place->state;
    return job_move(&stage->spool, place, STATE_FAILED, clock_now(), error) ||
                   spool_sync_state(&stage->spool, STATE_FAILED, error) ||
                   spool_sync_state(&stage->spool, from, error)
               ? 1
               : 0;
}

/* The executor of another machine may have it, where nothing can be ended from here; so may an
 * unknown executor. */
static bool runs_elsewhere(const struct stage *stage, const struct job_place *place,
                           const struct executor *executor)
{
    struct buffer log = {0};
    struct eventlog_fold fold;
    if (!executor || place->state != STATE_SUBMITTED || !executor->operations->of_this_machine)
        return false;
    int job = job_open(&stage->spool, place);
    bool result = job < 0 || eventlog_read(job, &log, NULL);
    if (!result) {
        struct arena *arena = arena_new();
        eventlog_fold(buffer_text(&log), &fold);
        struct text host = eventlog_get(arena, &fold.submitted, "host");
        result = host.length && !text_is(host, stage->host);
        arena_free(arena);
    }
    buffer_free(&log);
    if (job >= 0)
        sys.close(job);
    return result;
}

bool give_up(struct stage *stage, struct guard *guard, const struct job_place *place,
             struct executor *executor)
{
    struct job_place to = *place;
    struct error error = {""};
    int tries = guard_tries(guard, place->id);
    if (tries < GUARD_MOST_TRIES)
        return false;
    if (tries >= GUARD_SHUNNED)
        return true;
    /* Without reading it, the attempt that the executor must end is unknown. */
    if (tries >= (place->state == STATE_SUBMITTED ? READ_NOTHING : TOUCH_NOTHING)) {
        log_warn("%s: %s ends over it even while quarantining it; it is skipped until it leaves "
                 "%s/ or dlspool is restarted",
                 place->id, stage->name, spool_state_name(place->state));
        guard_shun(guard, place->id);
        return true;
    }
    guard_enter(guard, place->id, 0);
    int result = runs_elsewhere(stage, place, executor)
                     ? error_set(&error, "the daemon of another machine runs it")
                     : quarantine_job(stage, &to, tries, executor, &error);
    guard_leave(guard);
    if (result > 0) {
        log_warn("%s: cannot be quarantined yet, and is retried: %s", place->id, error.text);
    } else if (result) {
        log_warn("%s: could not be quarantined, and is skipped: %s", place->id, error.text);
        guard_shun(guard, place->id);
    } else {
        log_warn("%s: moved to failed/ (quarantined): %s ended %d times over it", place->id,
                 stage->name, GUARD_MOST_TRIES);
        /* In failed/ it is met again by the resubmit stage, which need not read it. */
        if (place->state == STATE_FAILED || place->state == STATE_HELD)
            guard_shun(guard, place->id);
        else
            guard_forget(guard, place->id);
    }
    return true;
}

void give_up_forget_gone(const struct stage *stage, struct guard *guard, unsigned int states)
{
    struct stat status;
    for (int i = 0; guard && i < GUARD_COUNTED; i++) {
        const struct guard_counted *counted = &guard->counted[i];
        bool gone = counted->tries == GUARD_SHUNNED;
        for (int state = 0; state < STATE_COUNT && gone; state++)
            if (states & 1u << state)
                gone = sys.fstatat(stage->spool.states[state], counted->name, &status,
                                   AT_SYMLINK_NOFOLLOW) &&
                       errno == ENOENT;
        if (gone)
            guard_forget(guard, counted->name);
    }
}
