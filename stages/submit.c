/* stages/submit.c - rendered/ to the executor, and on to submitted/
 *
 * Jobs go by priority; within one their owners take turns.  For a batch: the intents are noted in
 * the jobs' logs and made durable; then the executor is asked; then the outcomes are noted, made
 * durable, and the jobs moved.  After a crash the same jobs are submitted under the same tokens,
 * and the executor answers for those it has already that it has them.
 *
 * An executor that cannot take submissions is asked once per probe interval; until it can, jobs
 * stay where they are.  This stage never reads what a user dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "spool/eventlog.h"
#include "stages/aside.h"
#include "stages/control.h"
#include "stages/queue.h"
#include "stages/stage.h"
#include "stages/verdict.h"
#include "watcher/watch.h"

enum { MANIFEST_LIMIT = 16 << 20, LOG_LIMIT = 16 << 20 };   /* bytes */
enum { WINDOW_LEAST = 8 };
static const int64_t again_after_error = 1000;  /* milliseconds */

struct item {                   /* a job of the batch */
    struct job_place place;
    int job;                    /* its directory */
    struct job_record record;
    struct buffer manifest;
    struct submission submission;
    enum { ITEM_SUBMIT, ITEM_FAIL, ITEM_KEEP } fate;
    struct verdict verdict;     /* for ITEM_FAIL */
};

struct submitter {
    struct stage stage;
    struct executor *executor;
    struct watch *watch;
    struct queue *queue;
    struct arena *arena;        /* of a batch */
    struct item *items;         /* as many as a batch */
    size_t item_count;
    size_t window;              /* jobs of the next batch: few after trouble */
    int64_t probe;              /* of clock_elapsed: when to ask the executor again; 0: it answers */
};

static void close_item(struct item *item)
{
    if (item->job >= 0)
        sys.close(item->job);
    item->job = -1;
    buffer_free(&item->manifest);
}

static void fail_item(struct item *item)
{
    item->fate = ITEM_FAIL;
}

static struct circumstances circumstances_of(const struct submitter *submitter,
                                             const struct job_record *record)
{
    return (struct circumstances){.settings = &submitter->stage.settings,
                                  .commit = record->commit.length ? record->commit.data : NULL,
                                  .now = clock_now()};
}

/* Read what is to be sent, and see that it is what was rendered. */
static int read_manifest(struct item *item, struct error *error)
{
    char digest[SHA256_HEX_SIZE];
    buffer_clear(&item->manifest);
    if (file_read_at(item->job, "manifest.yaml", MANIFEST_LIMIT, &item->manifest, error))
        return -1;
    sha256_hex(buffer_text(&item->manifest), digest);
    if (text_is(item->record.manifest_sha256, digest))
        return 0;
    error_set(error, "manifest.yaml: found SHA-256 %s, expected the one in job.yaml", digest);
    errno = EBADMSG;
    return -1;
}

static void note_intent(struct submitter *submitter, struct item *item, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "intent");
    eventlog_add_number(&line, "attempt", item->record.attempt);
    eventlog_add_string(&line, "executor", submitter->executor->operations->name);
    eventlog_add(&line, "manifest_sha256", item->record.manifest_sha256);
    eventlog_end(&line);
    if (eventlog_append(item->job, buffer_text(&line), error))
        item->fate = ITEM_KEEP;
    buffer_free(&line);
}

/* False when the log cannot be read. */
static bool read_history(int job, struct eventlog_fold *fold)
{
    struct buffer log = {0};
    *fold = (struct eventlog_fold){0};
    bool result = file_read_at(job, "log", LOG_LIMIT, &log, NULL) == 0;
    if (result)
        eventlog_fold(buffer_text(&log), fold);
    buffer_free(&log);
    return result;
}

/* Whether an intent was noted and its outcome was not: the executor may have the job. */
static bool outcome_unknown(int job)
{
    struct eventlog_fold fold;
    return !read_history(job, &fold) || (fold.intent && !fold.accepted && !fold.failed);
}

/* Whether that was so already before the intent that was noted last. */
static bool was_unknown_before(int job)
{
    struct eventlog_fold fold;
    return !read_history(job, &fold) || fold.repeated;
}

/* What was to be sent could not be read.  What is damaged fails; what is only out of reach just now
 * is kept, since nothing is known to be wrong with it. */
static void judge_unreadable(struct submitter *submitter, struct item *item, bool readable,
                             const struct error *problem)
{
    if (!file_is_damaged(errno)) {
        item->fate = ITEM_KEEP;
        log_warn("%s: %s; it is tried again", item->place.id, problem->text);
        return;
    }
    if (!readable)
        aside_salvage(item->job, item->place.id, submitter->arena, &item->record);
    verdict_damaged(&item->verdict, problem);
    fail_item(item);
}

/* Open a job and prepare its submission.  False when there is nothing to do for it. */
static bool open_item(struct submitter *submitter, struct item *item, const char *id)
{
    struct error error;
    struct wish wish;
    int killed;
    item->place = (struct job_place){.state = STATE_RENDERED};
    memcpy(item->place.id, id, strlen(id) + 1);
    item->fate = ITEM_SUBMIT;
    item->submission = (struct submission){0};
    item->job = job_open(&submitter->stage.spool, &item->place);
    if (item->job < 0)
        return false;           /* gone: it was moved by hand */
    bool readable = record_read(item->job, submitter->arena, &item->record, &error) == 0;
    if (!readable || read_manifest(item, &error)) {
        judge_unreadable(submitter, item, readable, &error);
    } else if ((killed = control_pending(item->job, CONTROL_KILL, &wish)) < 0) {
        item->fate = ITEM_KEEP;
    } else if (killed && !outcome_unknown(item->job)) {
        verdict_killed(&item->verdict, wish.by, wish.when);
        fail_item(item);
    } else {
        if (item->record.failed) {
            /* A crash came between writing a verdict and moving: that verdict is void. */
            item->record.failed = false;
            if (record_replace(item->job, &item->record, &error))
                log_warn("%s: %s", item->place.id, error.text);
        }
        item->submission = (struct submission){.id = item->place.id,
                                               .attempt = item->record.attempt,
                                               .uid = item->record.uid,
                                               .gid = item->record.gid,
                                               .time_limit = item->record.time_limit,
                                               .manifest = buffer_text(&item->manifest)};
        note_intent(submitter, item, &error);
        if (item->fate == ITEM_KEEP)
            log_warn("%s: %s", item->place.id, error.text);
    }
    return true;
}

static void note_submitted(const struct submitter *submitter, struct item *item,
                           struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, clock_now(), "submitted");
    eventlog_add_number(&line, "attempt", item->submission.attempt);
    if (submitter->executor->operations->of_this_machine)
        eventlog_add_string(&line, "host", submitter->stage.host);
    if (item->submission.note[0])
        eventlog_add_string(&line, "note", item->submission.note);
    eventlog_end(&line);
    if (eventlog_append(item->job, buffer_text(&line), error))
        item->fate = ITEM_KEEP;
    buffer_free(&line);
}

/* Write down how a submission went. */
static void note_outcome(struct submitter *submitter, struct item *item)
{
    struct error error;
    struct circumstances circumstances = circumstances_of(submitter, &item->record);
    if (item->fate == ITEM_KEEP)
        return;                 /* it was not submitted, and why was said */
    if (item->fate == ITEM_SUBMIT) {
        switch (item->submission.outcome) {
        case SUBMIT_ACCEPTED:
            note_submitted(submitter, item, &error);
            break;
        case SUBMIT_UNKNOWN:
            item->fate = ITEM_KEEP;
            log_warn("%s: the outcome of the submission is unknown, it is asked for again: %s",
                     item->place.id, item->submission.error.text);
            break;
        case SUBMIT_UNAVAILABLE:
            log_warn("the executor cannot take submissions: %s", item->submission.error.text);
            submitter->probe = clock_elapsed() + submitter->stage.settings.probe_interval;
            if (was_unknown_before(item->job)) {
                /* The executor may have it: it stays to be asked about under this token. */
                item->fate = ITEM_KEEP;
                return;
            }
            /* fall through */
        default:
            verdict_submission(&item->verdict, &circumstances, &item->record, &item->submission);
            fail_item(item);
            break;
        }
    }
    if (item->fate == ITEM_FAIL &&
        verdict_write(&item->verdict, item->job, &item->record, false, circumstances.now, &error))
        item->fate = ITEM_KEEP;
    if (item->fate == ITEM_KEEP && item->submission.outcome != SUBMIT_UNKNOWN)
        log_warn("%s: %s", item->place.id, error.text);
}

static void move_items(struct submitter *submitter, size_t count)
{
    struct spool *spool = &submitter->stage.spool;
    struct error error;
    bool moved[STATE_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        struct item *item = &submitter->items[i];
        if (item->fate == ITEM_KEEP)
            continue;
        enum state to = item->fate == ITEM_SUBMIT ? STATE_SUBMITTED : STATE_FAILED;
        if (job_move(spool, &item->place, to, clock_now(), &error)) {
            item->fate = ITEM_KEEP;
            log_warn("%s", error.text);
            continue;
        }
        moved[to] = moved[STATE_RENDERED] = true;
        if (to == STATE_SUBMITTED)
            log_detail("%s submitted", item->place.id);
    }
    for (int state = 0; state < STATE_COUNT; state++)
        if (moved[state] && spool_sync_state(spool, (enum state)state, &error))
            log_warn("%s", error.text);
}

/* The window grows while the executor takes jobs, and shrinks when it took none of a batch. */
static void adapt_window(struct submitter *submitter, size_t count)
{
    size_t accepted = 0, declined = 0, most = (size_t)submitter->stage.settings.batch;
    size_t least = most < WINDOW_LEAST ? most : WINDOW_LEAST;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &submitter->items[i];
        enum submit_outcome outcome = item->submission.outcome;
        accepted += item->fate == ITEM_SUBMIT;
        declined += item->submission.id && (outcome == SUBMIT_NO_ROOM || outcome == SUBMIT_UNKNOWN);
    }
    if (submitter->probe)
        submitter->window = least;
    else if (accepted)
        submitter->window = submitter->window * 2 < most ? submitter->window * 2 : most;
    else if (declined)
        submitter->window = submitter->window / 2 > least ? submitter->window / 2 : least;
}

/* Submit one batch.  The number of jobs that left rendered/. */
static size_t submit_batch(struct submitter *submitter)
{
    struct stage *stage = &submitter->stage;
    struct submission *batch[1024];
    struct error error;
    size_t count = 0, submissions = 0, left = 0;
    char id[ID_SIZE];

    while (count < submitter->window && queue_take(submitter->queue, id))
        if (open_item(submitter, &submitter->items[count], id))
            count++;
    for (size_t i = 0; i < count; i++)
        if (submitter->items[i].fate == ITEM_SUBMIT)
            batch[submissions++] = &submitter->items[i].submission;
    if (count == 0)
        return 0;
    if (submissions && spool_sync(&stage->spool, &error)) {
        log_warn("%s; nothing is submitted until it can be", error.text);
        for (size_t i = 0; i < count; i++)
            submitter->items[i].fate = ITEM_KEEP;
        submissions = 0;
    }
    if (submissions && !stage_is_fenced(stage))
        submitter->executor->operations->submit(submitter->executor, batch, submissions);
    if (stage_is_fenced(stage)) {
        for (size_t i = 0; i < count; i++)
            close_item(&submitter->items[i]);
        arena_reset(submitter->arena);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        note_outcome(submitter, &submitter->items[i]);
    adapt_window(submitter, count);
    if (spool_sync(&stage->spool, &error))
        log_warn("%s; the outcomes are noted again", error.text);
    else
        move_items(submitter, count);

    for (size_t i = 0; i < count; i++) {
        struct item *item = &submitter->items[i];
        if (item->fate == ITEM_KEEP)
            queue_later(submitter->queue, item->place.id, item->record.uid, item->record.priority,
                        clock_elapsed() + again_after_error);
        else
            left++;
        close_item(item);
    }
    arena_reset(submitter->arena);
    return left;
}

/* A job that is to be killed and that the executor cannot have needs no executor for that. */
static void fail_killed(struct submitter *submitter, const char *id)
{
    struct item *item = &submitter->items[0];
    struct error error;
    struct stat status;
    char path[NAME_MAX + 8];
    snprintf(path, sizeof(path), "%s/kill", id);
    if (sys.fstatat(submitter->stage.spool.states[STATE_RENDERED], path, &status,
                    AT_SYMLINK_NOFOLLOW) ||
        !open_item(submitter, item, id))
        return;
    if (item->fate == ITEM_FAIL) {
        note_outcome(submitter, item);
        if (spool_sync(&submitter->stage.spool, &error))
            log_warn("%s", error.text);
        else
            move_items(submitter, 1);
    }
    close_item(item);
    arena_reset(submitter->arena);
}

/* Learn which jobs there are. */
static void take_names(struct submitter *submitter)
{
    struct watch_name name;
    struct error error;
    if (watch_collect(submitter->watch, &error)) {
        log_warn("%s", error.text);
        submitter->stage.failed = submitter->stage.failed || watch_lost(submitter->watch);
    }
    while (watch_next(submitter->watch, &name)) {
        struct text id = {name.name, name.length};
        if (!id_valid(id))
            continue;
        if (submitter->probe)
            fail_killed(submitter, name.name);
        if (queue_has(submitter->queue, name.name))
            continue;
        struct job_place place = {.state = STATE_RENDERED};
        memcpy(place.id, name.name, name.length + 1);
        int job = job_open(&submitter->stage.spool, &place);
        if (job < 0)
            continue;
        struct job_record record;
        bool readable = record_read(job, submitter->arena, &record, NULL) == 0;
        sys.close(job);
        queue_add(submitter->queue, name.name, readable ? record.uid : 0,
                  readable ? record.priority : 0);
        arena_reset(submitter->arena);
    }
}

static bool executor_answers(struct submitter *submitter)
{
    struct error error;
    if (submitter->probe && clock_elapsed() < submitter->probe)
        return false;
    if (submitter->executor->operations->ready(submitter->executor, &error) == 0) {
        if (submitter->probe)
            log_say("the executor takes submissions again");
        submitter->probe = 0;
        return true;
    }
    if (!submitter->probe)
        log_warn("the executor cannot take submissions: %s", error.text);
    submitter->probe = clock_elapsed() + submitter->stage.settings.probe_interval;
    adapt_window(submitter, 0);
    return false;
}

static int64_t submit_round(struct stage *stage)
{
    struct submitter *submitter = (struct submitter *)stage;
    take_names(submitter);
    if (queue_count(submitter->queue) && !executor_answers(submitter)) {
        int64_t due = watch_due(submitter->watch);
        return submitter->probe < due ? submitter->probe : due;
    }
    while (submit_batch(submitter) && !submitter->probe && stage_wait(stage, -1, 0))
        take_names(submitter);
    int64_t due = watch_due(submitter->watch), later = queue_due(submitter->queue);
    return later < due ? later : due;
}

static int submit_descriptor(const struct stage *stage)
{
    return watch_descriptor(((const struct submitter *)stage)->watch);
}

static void submit_close(struct stage *stage)
{
    struct submitter *submitter = (struct submitter *)stage;
    watch_close(submitter->watch);
    if (submitter->executor)
        submitter->executor->operations->close(submitter->executor);
    for (size_t i = 0; i < submitter->item_count; i++)
        close_item(&submitter->items[i]);
    arena_free(submitter->arena);
    free(submitter->items);
    queue_free(submitter->queue);
    stage_close(stage);
    free(submitter);
}

static struct stage *submit_open(const char *directory, struct error *error)
{
    struct submitter *submitter = memory_allocate(sizeof(*submitter));
    struct stage *stage = &submitter->stage;
    if (stage_open(stage, "submit", directory, error)) {
        free(submitter);
        return NULL;
    }
    submitter->queue = queue_new();
    submitter->item_count = submitter->window = (size_t)stage->settings.batch;
    submitter->items = memory_allocate(submitter->item_count * sizeof(*submitter->items));
    for (size_t i = 0; i < submitter->item_count; i++)
        submitter->items[i].job = -1;
    submitter->arena = arena_new();
    struct watch_settings watching = {.interval = stage->settings.scan_interval};
    submitter->executor = stage_executor(stage, error);
    if (submitter->executor)
        submitter->watch =
            watch_open(stage->spool.states[STATE_RENDERED], "rendered", &watching, error);
    if (submitter->watch)
        return stage;
    submit_close(stage);
    return NULL;
}

const struct stage_operations submit_stage = {
    .name = "submit",
    .open = submit_open,
    .round = submit_round,
    .descriptor = submit_descriptor,
    .close = submit_close,
};
