/* stages/track/track.c - submitted/ to done/ or failed/
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
#include "base/file.h"
#include "stages/track/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "request/description.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/duplicate.h"
#include "stages/shared/give_up.h"
#include "stages/shared/capacity_file.h"
#include "stages/track/lost.h"
#include "watcher/mount.h"

enum { OTHER_DESCRIPTORS = 256 };

/* Is there a commit of the templates to use?  -1 with a sentence while none could be read. */
static int serve_commit(struct tracker *tracker, struct error *error)
{
    struct error problem;
    if (!tracker->repository)
        tracker->repository = stage_repository(&tracker->stage, error);
    if (!tracker->repository)
        return -1;
    if (repository_refresh(tracker->repository, &problem) == 0)
        return 0;
    if (!repository_commit(tracker->repository))
        return error_set(error, "%s", problem.text);
    log_warn("%s", problem.text);
    return 0;
}

int track_table(struct tracker *tracker, const struct retry_table **table, struct error *error)
{
    struct error problem;
    if (serve_commit(tracker, &problem))
        return error_set(error, "how it failed is judged when retry.txt can be read: %s",
                         problem.text);
    const char *commit = repository_commit(tracker->repository);
    *table = tracker->table;
    if (strcmp(commit, tracker->table_commit) == 0)
        return 0;
    snprintf(tracker->table_commit, sizeof(tracker->table_commit), "%s", commit);
    struct text source = repository_file(tracker->repository, "retry.txt");
    if (!source.data)
        return 0;
    struct retry_table *read = retry_table_parse(source, "retry.txt", &problem);
    if (!read) {
        log_warn("%s; the table before it stays in use", problem.text);
        return 0;
    }
    retry_table_free(tracker->table);
    *table = tracker->table = read;
    return 0;
}

/* Recall from the log what the job waited for last in this attempt, and since when: it is not written again,
 * and patience does not begin anew. */
static void recall_waiting(struct tracker *tracker, struct text log, struct tracked *tracked)
{
    struct event event;
    while (eventlog_next(&log, &event)) {
        bool waits = text_is(event.name, "waiting");
        struct text why = waits ? eventlog_get(tracker->arena, &event, "why") : TEXT("");
        if (waits || text_is(event.name, "intent"))
            track_keep_waiting(tracked, why);
        tracked->waiting_since = waits ? event.time : tracked->waiting_since;
    }
}

/* Recall from the log a job that was followed before a restart. */
static enum fate read_history(struct tracker *tracker, struct followed *followed, bool keeps_log)
{
    int job = followed->job;
    struct tracked *tracked = followed->tracked;
    const struct job_record *record = followed->record;
    struct buffer log = {0};
    struct eventlog_fold fold;
    struct stat status;
    enum fate fate = FATE_NONE;
    enum state state;
    int read =
        keeps_log ? eventlog_open(job, &followed->log, &log, NULL) : eventlog_read(job, &log, NULL);
    followed->log.fresh = false; /* others may append to it before this process does */
    if (!read) {
        eventlog_fold(buffer_text(&log), &fold);
        tracked->started = fold.started;
        struct text host = eventlog_get(tracker->arena, &fold.submitted, "host");
        tracked->elsewhere = host.length && !text_is(host, tracker->stage.host);
        preempt_recall(tracked, buffer_text(&log));
        warn_learn(tracker, tracked, record, buffer_text(&log));
        suspend_learn(tracked, record, buffer_text(&log));
        recall_waiting(tracker, buffer_text(&log), tracked);
        struct text node;
        usage_recall(buffer_text(&log), record->attempt, tracker->arena, &tracked->times, &node);
        tracked->images = images_ran_recall(buffer_text(&log), record->attempt);
        tracked->tasks = tasks_now_recall(buffer_text(&log), record->attempt);
        tracked->unreachable = unreachable_recall(buffer_text(&log), record->attempt);
        /* The last event that moves a job decides: a request may have come after it. */
        if (!eventlog_state(buffer_text(&log), &state))
            fate = FATE_NONE;
        else if (state == STATE_DONE)
            fate = FATE_DONE;
        else if (state == STATE_FAILED && record->failed &&
                 !sys.fstatat(job, "why", &status, AT_SYMLINK_NOFOLLOW))
            fate = FATE_FAILED;
        else if (state == STATE_HELD)
            fate = FATE_HELD;
    }
    buffer_free(&log);
    return fate;
}

/* A record without a valid seal, written by an older version or changed since, grants nothing: the job's
 * output is given to no group, and no file is read as its user. */
static void distrust_record(const struct tracker *tracker, struct job_record *record)
{
    if (seal_check(&tracker->stage.key, record, NULL) == 0)
        return;
    record->gid = (gid_t)-1;
    record->units_file = (struct text){NULL, 0};
}

int track_replace_record(struct followed *followed, const struct job_record *record,
                         struct error *error)
{
    followed->record = NULL;
    return record_replace(followed->job, record, error);
}

int track_read_record(struct tracker *tracker, int job, const char *id, struct job_record *record,
                      struct error *error)
{
    if (record_read(job, tracker->arena, record, error) == 0) {
        if (text_is(record->id, id)) {
            distrust_record(tracker, record);
            return 0;
        }
        error_set(error, "its job.yaml is that of another job");
    } else if (!file_is_damaged(errno)) {
        return -1;
    }
    log_warn("%s: %s; the job is followed by what its log says", id, error->text);
    quarantine_salvage(job, id, tracker->arena, record);
    return record_replace(job, record, error);
}

void track_rest(struct tracked *tracked, const struct job_call *call)
{
    if (call->rest)
        tracked->rest = clock_elapsed() + executor_spread_rest(call->rest);
}

struct tracked *track_begin(struct tracked_name *name)
{
    struct tracked *tracked = memory_allocate(sizeof(*tracked));
    tracked->name = name;
    return name->tracked = tracked;
}

struct text track_id(const struct tracked *tracked)
{
    return names_text(tracked->name);
}

void track_keep_waiting(struct tracked *tracked, struct text reason)
{
    if (reason.length > WAITING_LENGTH)
        reason.length = WAITING_LENGTH;
    free(tracked->waiting);
    tracked->waiting = reason.length ? memory_copy_text(reason) : NULL;
}

void track_forget(struct tracker *tracker, struct tracked *tracked)
{
    measure_free(tracked->measure);
    free(tracked->preemption);
    free(tracked->account);
    free(tracked->unwritten);
    warn_free(tracked);
    free(tracked->lost);
    free(tracked->images);
    tasks_now_free(tracked->tasks);
    names_free(tracked->unreachable);
    free(tracked->waiting);
    follow_tasks_free(tracked);
    names_remove(tracker->jobs, tracked->name);
    free(tracked);
}

/* A job that cannot be resized may still have to stop for others, of which the stage is notified. */
static void look_for_request(const struct tracker *tracker, struct text id, struct tracked *tracked)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    memcpy(place.id, id.data, id.length);
    int job = job_open(&tracker->stage.spool, &place);
    if (job < 0)
        return;
    tracked->sized = resize_is_there(job);
    sys.close(job);
}

bool track_learn(struct tracker *tracker, struct followed *followed, bool keeps_log)
{
    const struct job_place *place = &followed->place;
    struct tracked *tracked = followed->tracked;
    struct job_record *record = followed->record;
    int job = followed->job;
    struct error error;
    int read = track_read_record(tracker, job, place->id, record, &error);
    if (duplicate_settle(&tracker->stage, place, read ? 0 : record->accepted)) {
        log_detail("%s: this copy was quarantined", place->id);
        return false;
    }
    if (read) {
        log_warn("%s: %s; it is retried", place->id, error.text);
        return false;
    }
    tracked->attempt = record->attempt;
    tracked->gid = record->gid;
    tracked->uid = record->uid;
    tracked->again = record->retries == RETRIES_ALWAYS;
    tracked->array = record->array.length > 0;
    tracked->sized = record->sizes.kind != SIZE_FIXED || record->checkpoint_signal.length;
    tracked->fate = read_history(tracker, followed, keeps_log);
    bool has_run = tracked->started || record->attempt > 1 ||
                   !tracked->times.accepted; /* or it is not known */
    tracked->measure = measure_new(has_run ? job : -1, record);
    tracked->recovered = tracked->fate != FATE_NONE;
    tracked->learned = true;
    return true;
}

/* A new name of submitted/ is followed from now on; what the job is, is learned by the batch that asks about it. */
static void take_name(struct tracker *tracker, struct text id, bool changed)
{
    const struct tracked_name *known = names_find(tracker->jobs, id);
    struct tracked *tracked = known ? known->tracked : NULL;
    if (tracked && changed && tracked->learned && !tracked->sized)
        look_for_request(tracker, id, tracked);
    if (!known && id_valid(id) && !names_add(tracker->jobs, id))
        watch_expect(tracker->watch); /* there are too many: it waits */
}

static void take_names(struct tracker *tracker)
{
    struct watch_name name;
    struct error error;
    if (watch_collect(tracker->watch, &error)) {
        log_warn("%s", error.text);
        tracker->stage.failed = tracker->stage.failed || watch_lost(tracker->watch);
    }
    give_up_forget_gone(&tracker->stage, tracker->guard, 1u << STATE_SUBMITTED);
    while (watch_next(tracker->watch, &name))
        take_name(tracker, (struct text){name.name, name.length}, name.flags & WATCH_CHANGED);
}

static void follow_all(struct tracker *tracker)
{
    struct tracked *batch[BATCH];
    size_t count = 0, most = guard_narrow(tracker->guard, BATCH);
    struct tracked_name *next;
    for (struct tracked_name *name = names_first(tracker->jobs); name; name = next) {
        /* The successor is looked up before the batch, which may remove this one.  It cannot
         * remove the successor, which is not yet part of it. */
        next = names_after(name);
        struct tracked *tracked = name->tracked ? name->tracked : track_begin(name);
        if (!tracked->elsewhere && clock_elapsed() >= tracked->rest)
            batch[count++] = tracked;
        if (count == most || (count && !next)) {
            follow_batch(tracker, batch, count);
            count = 0;
            if (tracker->stage.stopping || tracker->stage.failed)
                return;
        }
    }
    guard_widen(tracker->guard);
}

/* Write DIR/capacity while jobs run, and once more when the last has ended, so that an idle stage is not woken
 * up.  Returns when it is due next. */
static int64_t note_capacity(struct tracker *tracker)
{
    bool idle = names_count(tracker->jobs) == 0;
    if ((idle && tracker->capacity_idle) || stage_is_fenced(&tracker->stage))
        return INT64_MAX;
    if (clock_elapsed() >= tracker->capacity_next) {
        capacity_file_note(&tracker->stage.spool, tracker->executor, &tracker->capacity_next);
        tracker->capacity_idle = idle;
    }
    return idle && tracker->capacity_idle ? INT64_MAX : tracker->capacity_next;
}

static int64_t track_round(struct stage *stage)
{
    struct tracker *tracker = (struct tracker *)stage;
    take_names(tracker);
    lost_find_orphans(tracker);
    follow_all(tracker);
    int64_t due = watch_due(tracker->watch);
    int64_t capacity = note_capacity(tracker);
    due = capacity < due ? capacity : due;
    int64_t names = past_days_tend(&tracker->past, stage);
    due = names < due ? names : due;
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
    for (struct tracked_name *name; (name = names_first(tracker->jobs));)
        track_forget(tracker, name->tracked ? name->tracked : track_begin(name));
    names_free(tracker->jobs);
    arena_free(tracker->arena);
    stage_close(stage);
    free(tracker);
}

/* Of how many jobs of a batch, each with its directory and output/, may the logs stay open while the executor is asked?
 * Where closing tells whether something was written, as on NFS, of none. */
static size_t count_logs(const struct tracker *tracker)
{
    size_t others = 2 * BATCH + OTHER_DESCRIPTORS;
    size_t allowed = descriptors_allow(others + BATCH);
    return allowed > others && mount_is_local(tracker->stage.spool.root) ? allowed - others : 0;
}

/* Open the stage: the executor, what diagnoses failed jobs, and the watch on submitted/. */
static struct stage *track_open(const char *directory, struct error *error)
{
    struct tracker *tracker = memory_allocate(sizeof(*tracker));
    struct stage *stage = &tracker->stage;
    if (stage_open(stage, "track", directory, error)) {
        free(tracker);
        return NULL;
    }
    struct watch_settings watching = {.interval = stage->settings.scan_interval,
                                      .longest = stage_longest_scan};
    int sealed = seal_read_key(&stage->spool, stage->settings.user, &stage->key, error);
    tracker->arena = arena_new();
    tracker->logs_most = count_logs(tracker);
    tracker->jobs = names_new(MOST_TRACKED, sizeof(struct tracked_name));
    tracker->guard = guard_own();
    guard_count(tracker->guard, stage->name);
    tracker->repository = stage_repository(stage, error);
    if (!tracker->repository)
        log_warn("%s; failed jobs are not diagnosed until this is fixed", error->text);
    tracker->executor = sealed ? NULL : stage_executor(stage, error);
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
