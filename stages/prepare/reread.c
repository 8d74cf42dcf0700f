/* stages/prepare/reread.c - reads the requests of jobs again, in a process of its own */
#include "stages/prepare/reread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/guard.h"
#include "stages/sandbox.h"
#include "stages/shared/control.h"
#include "stages/shared/diagnosis.h"
#include "stages/users.h"

/* Do the actions from number `first` on. */
static void carry_out(struct reread *reread, size_t first, struct guard *guard)
{
    size_t begun = 0;
    struct requeuer requeuer = {
        .renewer = {.stage = reread->stage,
                    .repository = reread->repository,
                    .arena = reread->arena,
                    .settings = reread->settings},
    };
    for (size_t i = first; i < reread->count && !reread->stage->stopping; i++) {
        const struct requeue_action *action = &reread->actions[i];
        guard_enter(guard, action->id, 0);
        requeue_job(&requeuer, action);
        guard_leave(guard);
        if (++begun % REQUEUE_BATCH == 0)
            requeue_finish(&requeuer);
        guard->done = requeuer.requeued;
    }
    requeue_finish(&requeuer);
    guard->done = requeuer.requeued;
}

/* Where records are sealed (spool/seal.h), the confined process must have neither the key nor the stage's
 * connections to the executor: root believes nothing that it could have written. */
static void leave_secrets(struct stage *stage)
{
    enum { MOST_DESCRIPTORS = 1024 };
    struct stat status;
    if (!seal_is_needed(stage->settings.user))
        return;
    explicit_bzero(&stage->key, sizeof(stage->key));
    for (int file = STDERR_FILENO + 1; file < MOST_DESCRIPTORS; file++)
        if (!sys.fstat(file, &status) && S_ISSOCK(status.st_mode))
            sys.close(file);
}

/* Do the actions from number `first` on in a confined process.  The status with which it ended, or -1 and a
 * sentence. */
static int carry_out_confined(struct reread *reread, size_t first, struct guard *guard,
                              struct error *error)
{
    struct stage *stage = reread->stage;
    int status = 0;
    pid_t child = fork();
    if (child < 0)
        return error_errno(error, "the confined process could not be started");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        leave_secrets(stage);
        if (users_start(error) || guard_limit(guard, error) ||
            sandbox_enter(&stage->spool, stage->settings.user, SANDBOX_REREAD, error)) {
            log_warn("%s", error->text);
            _exit(1);
        }
        carry_out(reread, first, guard);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_errno(error, "the confined process could not be waited for");
    return status;
}

/* Count how often the process has ended over this job since it failed last. */
static int count_stops(int job)
{
    struct buffer log = {0};
    struct event event;
    int stops = 0;
    if (eventlog_read(job, &log, NULL) == 0) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            stops = text_is(event.name, "stopped")  ? stops + 1
                    : text_is(event.name, "failed") ? 0
                                                    : stops;
    }
    buffer_free(&log);
    return stops;
}

static int note_stop(int job, const char *stage, const char *end, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "stopped");
    eventlog_add_string(&line, "stage", stage);
    eventlog_add_string(&line, "by", end);
    eventlog_end(&line);
    int result = eventlog_append(job, buffer_text(&line), error);
    buffer_free(&line);
    return result;
}

static int quarantine_job(struct reread *reread, int job, int stops, struct error *error)
{
    struct job_record record;
    struct diagnosis diagnosis;
    int result = record_read(job, reread->arena, &record, error);
    diagnosis_stops(&diagnosis, result ? NULL : record.source.data, reread->stage->name, stops);
    if (!result)
        result = diagnosis_write(&diagnosis, job, &record, false, clock_now(), error);
    if (!result)
        result = control_file_clear(job, CONTROL_RETRY, error);
    arena_reset(reread->arena);
    return result;
}

/* The process has ended over this job: count that, and quarantine the job when it has happened too often. */
static void blame_job(struct reread *reread, const struct requeue_action *action, const char *end)
{
    struct spool *spool = &reread->stage->spool;
    struct job_place place = {.state = action->from};
    struct error error;
    const char *id = action->id;
    snprintf(place.id, sizeof(place.id), "%s", id);
    int *remembered = reread->stops ? reread->stops(reread->context, action) : NULL;
    int job = job_open(spool, &place);
    if (job < 0)
        return;
    int stops = count_stops(job) + 1;
    /* Count in memory, too, in case the log cannot be written. */
    if (remembered && ++*remembered > stops)
        stops = *remembered;
    log_warn("%s: the process that read its request again was ended by %s (%d of %d times; then it "
             "is quarantined)",
             id, end, stops, GUARD_MOST_TRIES);
    if (note_stop(job, reread->stage->name, end, &error))
        log_warn("%s: %s", id, error.text);
    bool aside = stops >= GUARD_MOST_TRIES;
    if (aside && quarantine_job(reread, job, stops, &error)) {
        log_warn("%s: %s", id, error.text);
        aside = false;
    } else if (aside && remembered) {
        *remembered = 0;
    }
    if (spool_sync(spool, &error))
        log_warn("%s: %s", id, error.text);
    else if (aside && action->from != STATE_FAILED &&
             (job_move(spool, &place, STATE_FAILED, clock_now(), &error) ||
              spool_sync_state(spool, STATE_FAILED, &error) ||
              spool_sync_state(spool, action->from, &error)))
        log_warn("%s: %s", id, error.text);
    sys.close(job);
}

static size_t find_action(const struct reread *reread, const char *id, size_t first)
{
    while (first < reread->count && strcmp(reread->actions[first].id, id) != 0)
        first++;
    return first;
}

int reread_jobs(struct reread *reread, struct error *error)
{
    char end[GUARD_END_SIZE];
    int result = 0;
    struct guard *guard = guard_new(error);
    if (!guard)
        return -1;
    for (size_t first = 0; first < reread->count && !result;) {
        guard->done = 0;
        int status = 0;
        if (reread->stage->confined)
            status = carry_out_confined(reread, first, guard, error);
        else
            carry_out(reread, first, guard);
        reread->requeued += guard->done;
        if (status < 0)
            result = -1;
        if (status <= 0)
            break;
        if (!guard_blames(guard)) {
            result = error_set(error, "the process that reads requests again was ended by %s",
                               guard_describe_end(status, end));
        } else {
            first = find_action(reread, guard->name, first);
            if (first < reread->count)
                blame_job(reread, &reread->actions[first], guard_describe_end(status, end));
            first++;
            guard_leave(guard);
        }
    }
    guard_free(guard);
    return result;
}
