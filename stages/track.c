/* stages/track.c - submitted/ to done/ or failed/
 *
 * The executor is asked about all submitted jobs at once, every poll interval.  What the tasks
 * print is copied while they run.  When a job has ended: the rest of its output is copied and its
 * end written down; this is made durable; then the executor is told to forget the job; then it is
 * moved.  A crash in between repeats steps that can be repeated: a job whose end is written down
 * is not asked about again.
 *
 * A job that the local executor of another machine has is left to that machine: from here it would
 * look vanished, and would be run a second time.
 *
 * A job is killed politely first and with force when its grace is over; the loop does not wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/aside.h"
#include "stages/control.h"
#include "stages/output.h"
#include "stages/progress.h"
#include "stages/stage.h"
#include "stages/verdict.h"
#include "watcher/names.h"
#include "watcher/watch.h"

enum {
    MOST_TRACKED = 1 << 20,     /* jobs; names_add() refuses more, and they wait */
    BATCH = 256,                /* jobs asked about and ended together */
    LOG_LIMIT = 16 << 20        /* bytes of a job's event log that are read */
};
static const int64_t output_interval = 2000;    /* milliseconds between copies of a job's output */
static const int64_t output_patience = 600000;  /* ... that an ended job waits for the last of them */

enum fate { FATE_NONE, FATE_DONE, FATE_FAILED };

struct tracked {
    int attempt;
    bool started;               /* its "started" event is written */
    bool elsewhere;             /* it runs on a machine whose executor is not ours to ask */
    bool stopping;              /* it was told to end ... */
    bool forced;                /* ... with force */
    int64_t stop_time;          /* of clock_elapsed: when the grace is over */
    int64_t next_output;        /* of clock_elapsed */
    int64_t output_trouble;     /* of clock_elapsed: since when it cannot be copied; 0: it can */
    enum fate fate;             /* its end is written down already ... */
    bool recovered;             /* ... and was before this process started */
    char waiting[128];          /* the last reason it waited for */
};

struct ending {                 /* a job that ends in this pass */
    struct job_place place;
    struct tracked *tracked;
    enum fate fate;
    int attempt;
};

struct tracker {
    struct stage stage;
    struct executor *executor;
    struct repository *repository;
    struct retry_table *table;
    char table_commit[64];      /* the commit `table` is from */
    struct watch *watch;
    struct names *jobs;         /* id -> struct tracked */
    struct arena *arena;        /* of one batch */
    bool executor_lost;
};

static const char *commit_of(const struct tracker *tracker)
{
    return tracker->repository ? repository_commit(tracker->repository) : NULL;
}

static struct circumstances circumstances_of(const struct tracker *tracker)
{
    return (struct circumstances){.settings = &tracker->stage.settings,
                                  .commit = commit_of(tracker),
                                  .now = clock_now()};
}

/* The table of the newest commit that has a good one. */
static const struct retry_table *current_table(struct tracker *tracker)
{
    struct error error;
    if (!tracker->repository)
        return NULL;
    if (repository_refresh(tracker->repository, &error))
        log_warn("%s", error.text);
    const char *commit = commit_of(tracker);
    if (!commit || strcmp(commit, tracker->table_commit) == 0)
        return tracker->table;
    snprintf(tracker->table_commit, sizeof(tracker->table_commit), "%s", commit);
    struct text source = repository_file(tracker->repository, "retry.txt");
    if (!source.data)
        return tracker->table;
    struct retry_table *table = retry_table_parse(source, "retry.txt", &error);
    if (!table) {
        log_warn("%s; the table before it goes on serving", error.text);
        return tracker->table;
    }
    retry_table_free(tracker->table);
    tracker->table = table;
    return table;
}

/* Learning which jobs there are */

/* What the log says of a job that was tracked before a restart. */
static enum fate read_history(struct tracker *tracker, int job, const struct job_record *record,
                              struct tracked *tracked)
{
    struct buffer log = {0};
    struct eventlog_fold fold;
    struct stat status;
    enum fate fate = FATE_NONE;
    if (file_read_at(job, "log", LOG_LIMIT, &log, NULL) == 0) {
        eventlog_fold(buffer_text(&log), &fold);
        tracked->started = fold.started;
        struct text host = event_get(tracker->arena, &fold.submitted, "host");
        tracked->elsewhere = host.length && !text_is(host, tracker->stage.host);
        if (text_is(fold.last.name, "finished"))
            fate = FATE_DONE;
        else if (text_is(fold.last.name, "failed") && record->failed &&
                 !sys.fstatat(job, "why", &status, AT_SYMLINK_NOFOLLOW))
            fate = FATE_FAILED;
    }
    buffer_free(&log);
    return fate;
}

/* A job whose record is damaged is followed to its end by what its log tells: whatever its files
 * say, it runs.  It is not tried again after that. */
static int read_or_salvage(struct tracker *tracker, int job, const char *id,
                           struct job_record *record, struct error *error)
{
    if (record_read(job, tracker->arena, record, error) == 0)
        return 0;
    if (!file_is_damaged(errno))
        return -1;
    log_warn("%s: %s; the job is followed by what its log says", id, error->text);
    aside_salvage(job, id, tracker->arena, record);
    return record_replace(job, record, error);
}

static void learn_job(struct tracker *tracker, struct text id)
{
    struct error error;
    struct job_record record;
    struct job_place place = {.state = STATE_SUBMITTED};
    struct tracked *tracked = names_find(tracker->jobs, id);
    if (tracked || !id_valid(id))
        return;
    memcpy(place.id, id.data, id.length);
    int job = job_open(&tracker->stage.spool, &place);
    if (job < 0)
        return;
    if (read_or_salvage(tracker, job, place.id, &record, &error)) {
        log_warn("%s: %s; it is tried again", place.id, error.text);
    } else if ((tracked = names_add(tracker->jobs, id))) {
        tracked->attempt = record.attempt;
        tracked->fate = read_history(tracker, job, &record, tracked);
        tracked->recovered = tracked->fate != FATE_NONE;
    }
    sys.close(job);
    arena_reset(tracker->arena);
}

static void take_names(struct tracker *tracker)
{
    struct watch_name name;
    struct error error;
    if (watch_collect(tracker->watch, &error)) {
        log_warn("%s", error.text);
        tracker->stage.failed = tracker->stage.failed || watch_lost(tracker->watch);
    }
    while (watch_next(tracker->watch, &name))
        learn_job(tracker, (struct text){name.name, name.length});
}

/* Stopping */

static void stop_job(struct tracker *tracker, struct tracked *tracked, const char *id)
{
    struct error error;
    int64_t now = clock_elapsed();
    if (tracked->stopping && (tracked->forced || now < tracked->stop_time))
        return;
    bool force = tracked->stopping || tracker->stage.settings.kill_grace == 0;
    if (tracker->executor->operations->cancel(tracker->executor, id, tracked->attempt, force,
                                              &error)) {
        log_warn("%s could not be stopped, and is tried again: %s", id, error.text);
        return;
    }
    if (!tracked->stopping)
        tracked->stop_time = now + tracker->stage.settings.kill_grace;
    tracked->stopping = true;
    tracked->forced = force;
}

/* One job's answer */

static bool all_tasks_ended(const struct job_poll *poll)
{
    for (size_t i = 0; i < poll->task_count; i++)
        if (!poll->tasks[i].ended)
            return false;
    return true;
}

/* Counted from the log: a verdict that was written twice, because a crash came between, counts
 * once.  -1 and a sentence when the log cannot be read just now. */
static int retries_used(int job, struct error *error)
{
    struct buffer log = {0};
    struct eventlog_fold fold = {0};
    int result = file_read_at(job, "log", LOG_LIMIT, &log, error);
    if (!result)
        eventlog_fold(buffer_text(&log), &fold);
    else if (file_is_damaged(errno))
        result = 0;
    buffer_free(&log);
    return result ? -1 : fold.retries;
}

/* Trouble is said once for each job, until its output can be copied again. */
static bool copy_output(struct tracker *tracker, struct tracked *tracked, int job,
                        const struct job_poll *poll)
{
    struct error error;
    if (output_copy(tracker->executor, job, poll->id, poll->attempt, &error) == 0) {
        tracked->output_trouble = 0;
        return true;
    }
    if (!tracked->output_trouble) {
        log_warn("%s: %s", poll->id, error.text);
        tracked->output_trouble = clock_elapsed();
    }
    return false;
}

/* What an ended job has printed goes with its containers, so it is copied before; but a job does not
 * wait for ever for output that cannot be had. */
static bool copy_last_output(struct tracker *tracker, struct tracked *tracked, int job,
                             const struct job_poll *poll)
{
    if (copy_output(tracker, tracked, job, poll))
        return true;
    if (clock_elapsed() - tracked->output_trouble < output_patience)
        return false;
    log_warn("%s ends without the rest of its output", poll->id);
    return true;
}

static int write_end(struct tracker *tracker, int job, const struct job_poll *poll,
                     const struct wish *kill, struct error *error)
{
    struct job_record record;
    struct verdict verdict;
    struct circumstances circumstances = circumstances_of(tracker);
    if (poll->phase != PHASE_VANISHED && progress_ended(job, poll, error))
        return -1;
    if (poll->phase == PHASE_SUCCEEDED)
        return 0;
    if (read_or_salvage(tracker, job, poll->id, &record, error))
        return -1;
    record.retried = retries_used(job, error);
    if (record.retried < 0)
        return -1;
    if (kill)
        verdict_killed(&verdict, kill->by, kill->when);
    else if (!record.request_file.length)
        verdict_lost_record(&verdict, poll->detail);
    else if (poll->phase == PHASE_VANISHED)
        verdict_vanished(&verdict, &circumstances, &record);
    else
        verdict_ended(&verdict, &circumstances, &record, poll, current_table(tracker),
                      output_of_failure(tracker->arena, job, poll, RETRY_LOG_LIMIT));
    return verdict_write(&verdict, job, &record, false, circumstances.now, error);
}

/* Said once for each reason, not at every poll. */
static void note_waiting(struct tracked *tracked, int job, const struct job_poll *poll)
{
    if (strncmp(tracked->waiting, poll->detail, sizeof(tracked->waiting) - 1) == 0)
        return;
    snprintf(tracked->waiting, sizeof(tracked->waiting), "%.*s",
             (int)sizeof(tracked->waiting) - 1, poll->detail);
    progress_waiting(job, poll, NULL);
}

/* Act on what the executor said of one job.  The fate that was written down. */
static enum fate follow(struct tracker *tracker, struct tracked *tracked, int job,
                        const struct job_poll *poll)
{
    struct error error;
    struct wish wish;
    int killed = control_pending(job, CONTROL_KILL, &wish);
    bool ended = poll->phase == PHASE_SUCCEEDED || poll->phase == PHASE_FAILED;
    int64_t now = clock_elapsed();

    if (poll->phase == PHASE_UNKNOWN || killed < 0)
        return FATE_NONE;
    if (poll->phase == PHASE_WAITING && poll->detail[0])
        note_waiting(tracked, job, poll);
    if (!tracked->started && (poll->phase == PHASE_RUNNING || (ended && poll->started)))
        tracked->started = progress_started(job, poll, NULL) == 0;
    if (poll->phase != PHASE_VANISHED && poll->phase != PHASE_SUCCEEDED &&
        (killed || ended) && !all_tasks_ended(poll)) {
        stop_job(tracker, tracked, poll->id);
        return FATE_NONE;
    }
    if (poll->phase == PHASE_WAITING && killed) {
        stop_job(tracker, tracked, poll->id);
        return FATE_NONE;
    }
    if (ended || poll->phase == PHASE_VANISHED) {
        /* A job that succeeded before the kill reached it has succeeded. */
        const struct wish *kill = killed && poll->phase != PHASE_SUCCEEDED ? &wish : NULL;
        if (!copy_last_output(tracker, tracked, job, poll))
            return FATE_NONE;
        if (write_end(tracker, job, poll, kill, &error)) {
            log_warn("%s: %s", poll->id, error.text);
            return FATE_NONE;
        }
        return poll->phase == PHASE_SUCCEEDED ? FATE_DONE : FATE_FAILED;
    }
    if (now >= tracked->next_output) {
        copy_output(tracker, tracked, job, poll);
        tracked->next_output = now + output_interval;
    }
    return FATE_NONE;
}

/* Ending a batch: durable, forgotten by the executor, moved */

static void end_jobs(struct tracker *tracker, struct ending *endings, size_t count)
{
    struct spool *spool = &tracker->stage.spool;
    struct error error;
    bool moved = false;
    if (count == 0 || stage_is_fenced(&tracker->stage))
        return;
    if (spool_sync(spool, &error)) {
        log_warn("%s; jobs end when it can be", error.text);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct ending *ending = &endings[i];
        enum state to = ending->fate == FATE_DONE ? STATE_DONE : STATE_FAILED;
        ending->tracked->fate = ending->fate;
        if (tracker->executor->operations->remove(tracker->executor, ending->place.id,
                                                  ending->attempt, &error)) {
            log_warn("%s: the executor could not be made to forget it: %s", ending->place.id,
                     error.text);
            continue;
        }
        if (job_move(spool, &ending->place, to, clock_now(), &error)) {
            log_warn("%s", error.text);
            continue;
        }
        names_remove(tracker->jobs, ending->tracked);
        log_detail("%s: %s", ending->place.id, state_name(to));
        moved = true;
    }
    if (moved)
        spool_ring_failed(spool);       /* there may be room now */
    if (moved && (spool_sync_state(spool, STATE_FAILED, &error) ||
                  spool_sync_state(spool, STATE_SUBMITTED, &error)))
        log_warn("%s", error.text);
}

/* The end that a job's log tells of may have come to the disk before what its tasks had printed: it
 * is copied again.  Once it has been forgotten by the executor there is nothing more to copy. */
static bool bring_output(struct tracker *tracker, struct tracked *tracked, const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    struct job_poll poll = {.id = id, .attempt = tracked->attempt};
    if (!tracked->recovered)
        return true;
    snprintf(place.id, sizeof(place.id), "%s", id);
    int job = job_open(&tracker->stage.spool, &place);
    if (job < 0)
        return false;
    tracked->recovered = !copy_last_output(tracker, tracked, job, &poll);
    sys.close(job);
    return !tracked->recovered;
}

/* Ask about a batch of jobs and act on the answers. */
static void follow_batch(struct tracker *tracker, struct tracked **batch, size_t count)
{
    struct ending endings[BATCH];
    struct job_poll polls[BATCH], *asked[BATCH];
    struct tracked *asked_jobs[BATCH];
    size_t ended = 0, asks = 0;
    struct error error;

    for (size_t i = 0; i < count; i++) {
        const char *id = names_text(batch[i]).data;
        if (batch[i]->fate != FATE_NONE && !bring_output(tracker, batch[i], id))
            continue;
        if (batch[i]->fate != FATE_NONE) {
            struct ending *ending = &endings[ended++];
            *ending = (struct ending){.place.state = STATE_SUBMITTED, .tracked = batch[i],
                                      .fate = batch[i]->fate, .attempt = batch[i]->attempt};
            snprintf(ending->place.id, sizeof(ending->place.id), "%s", id);
            continue;
        }
        polls[asks] = (struct job_poll){.id = id, .attempt = batch[i]->attempt};
        asked[asks] = &polls[asks];
        asked_jobs[asks++] = batch[i];
    }
    if (asks && tracker->executor->operations->poll(tracker->executor, tracker->arena, asked, asks,
                                                    &error)) {
        if (!tracker->executor_lost)
            log_warn("the executor cannot be asked about its jobs: %s", error.text);
        tracker->executor_lost = true;
        asks = 0;
    } else if (asks && tracker->executor_lost) {
        tracker->executor_lost = false;
        log_say("the executor answers again");
    }
    if (stage_is_fenced(&tracker->stage))
        asks = 0;
    for (size_t i = 0; i < asks; i++) {
        struct ending *ending = &endings[ended];
        *ending = (struct ending){.place.state = STATE_SUBMITTED, .tracked = asked_jobs[i],
                                  .attempt = asked_jobs[i]->attempt};
        snprintf(ending->place.id, sizeof(ending->place.id), "%s", polls[i].id);
        int job = job_open(&tracker->stage.spool, &ending->place);
        if (job < 0) {
            names_remove(tracker->jobs, asked_jobs[i]);     /* it was moved by hand */
            continue;
        }
        ending->fate = follow(tracker, asked_jobs[i], job, &polls[i]);
        ended += ending->fate != FATE_NONE;
        sys.close(job);
    }
    end_jobs(tracker, endings, ended);
    arena_reset(tracker->arena);
}

static void follow_all(struct tracker *tracker)
{
    struct tracked *batch[BATCH];
    size_t count = 0;
    struct tracked *next;
    for (struct tracked *tracked = names_first(tracker->jobs); tracked; tracked = next) {
        /* The successor is looked up before the batch, which may remove this one.  It cannot
         * remove the successor, which is not yet part of it. */
        next = names_after(tracked);
        if (!tracked->elsewhere)
            batch[count++] = tracked;
        if (count == BATCH || (count && !next)) {
            follow_batch(tracker, batch, count);
            count = 0;
            if (tracker->stage.stopping || tracker->stage.failed)
                return;
        }
    }
}

static int64_t track_round(struct stage *stage)
{
    struct tracker *tracker = (struct tracker *)stage;
    take_names(tracker);
    follow_all(tracker);
    int64_t due = watch_due(tracker->watch);
    int64_t poll = clock_elapsed() + stage->settings.poll_interval;
    return names_count(tracker->jobs) && poll < due ? poll : due;
}

static int track_descriptor(const struct stage *stage)
{
    return watch_descriptor(((const struct tracker *)stage)->watch);
}

static void track_close(struct stage *stage)
{
    struct tracker *tracker = (struct tracker *)stage;
    watch_close(tracker->watch);
    if (tracker->executor)
        tracker->executor->operations->close(tracker->executor);
    repository_close(tracker->repository);
    retry_table_free(tracker->table);
    names_free(tracker->jobs);
    arena_free(tracker->arena);
    stage_close(stage);
    free(tracker);
}

static struct stage *track_open(const char *directory, struct error *error)
{
    struct tracker *tracker = memory_allocate(sizeof(*tracker));
    struct stage *stage = &tracker->stage;
    if (stage_open(stage, "track", directory, error)) {
        free(tracker);
        return NULL;
    }
    struct watch_settings watching = {.interval = stage->settings.scan_interval};
    tracker->arena = arena_new();
    tracker->jobs = names_new(MOST_TRACKED, sizeof(struct tracked));
    tracker->repository = stage_repository(stage, error);
    if (!tracker->repository)
        log_warn("%s; failures are not classed until this is mended", error->text);
    tracker->executor = stage_executor(stage, error);
    if (tracker->executor)
        tracker->watch =
            watch_open(stage->spool.states[STATE_SUBMITTED], "submitted", &watching, error);
    if (tracker->watch)
        return stage;
    track_close(stage);
    return NULL;
}

const struct stage_operations track_stage = {
    .name = "track",
    .open = track_open,
    .round = track_round,
    .descriptor = track_descriptor,
    .close = track_close,
};
