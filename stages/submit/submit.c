/* stages/submit/submit.c - rendered/ to the executor, and on to submitted/
 *
 * Jobs go by priority; within one their owners take turns.  Where the executor has no queue of its own,
 * the first that does not fit keeps its place (stages/submit/in_order.c).  While any job has a deadline or sizes
 * they go by plan instead, and only when they have room in it (stages/planning/planning.h).  For a batch: the
 * intents are noted in the jobs' logs and made durable; then the executor is asked; then the
 * outcomes are noted, made durable, and the jobs moved.  After a crash the same jobs are submitted
 * under the same tokens, and the executor answers for those it has already that it has them.
 *
 * An executor that cannot take submissions is asked once per probe interval, or when it says; until it
 * can, jobs stay where they are.  One that puts off a single submission is given the others.  This stage
 * never reads what a user dropped.
 */
#include "stages/submit/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "stages/prepare/verify.h"
#include "stages/shared/duplicate.h"
#include "stages/shared/give_up.h"
#include "watcher/mount.h"

enum { WINDOW_LEAST = 8, MOST_UNEXPECTED = 64, OTHER_DESCRIPTORS = 256 };
static const int64_t again_after_error = 1000;   /* milliseconds */
static const int64_t again_for_capacity = 2000;  /* ... until the executor is asked for it */
static const int64_t again_while_narrow = 10000; /* ... when few are taken at a time */
static const int64_t again_while_paused = 1000;  /* ... until it is looked whether it still is */
static const int64_t trim_after = 1000;          /* ... after a batch until memory is returned */
static const int64_t again_when_full = 250;      /* ... until submitted/ is looked at for room */

/* The window grows while the executor takes jobs, and shrinks when it took none of a batch. */
static void adapt_window(struct submitter *submitter, size_t count)
{
    size_t accepted = 0, declined = 0, most = (size_t)submitter->stage.settings.batch;
    size_t least = most < WINDOW_LEAST ? most : WINDOW_LEAST;
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &submitter->items[i];
        enum submit_outcome outcome = item->submission.outcome;
        accepted += item->fate == ITEM_SUBMIT;
        declined +=
            item->submission.id && (outcome == SUBMIT_NO_ROOM || outcome == SUBMIT_UNKNOWN ||
                                    outcome == SUBMIT_UNAVAILABLE);
    }
    if (submitter->probe)
        submitter->window = least;
    else if (accepted)
        submitter->window = submitter->window * 2 < most ? submitter->window * 2 : most;
    else if (declined)
        submitter->window = submitter->window / 2 > least ? submitter->window / 2 : least;
}

size_t submit_window(const struct submitter *submitter)
{
    size_t most = guard_narrow(submitter->guard, (size_t)submitter->stage.settings.batch);
    return submitter->window < most ? submitter->window : most;
}

static bool take_next(struct submitter *submitter, char id[static ID_SIZE])
{
    if (submitter->next[0]) {
        memcpy(id, submitter->next, ID_SIZE);
        submitter->next[0] = '\0';
        return true;
    }
    struct queue_job job;
    if (!planning_is_on(submitter->planning) || submitter->is_paused) {
        bool taken = queue_take(submitter->queue, &job);
        if (taken)
            memcpy(id, job.id, ID_SIZE);
        return taken;
    }
    while (planning_next(submitter->planning, id))
        if (!waits_rests(submitter->waits, id) && !admission_is_parked(submitter, id))
            return true;
    return false;
}

/* While a plan chooses among its sizes, a job can start with the least. */
struct queue_job submit_queue_job(const struct submitter *submitter, const struct item *item)
{
    struct job_record least = item->record;
    if (least.sizes.kind != SIZE_FIXED && planning_is_on(submitter->planning))
        least.size_now = least.sizes.least;
    const struct use_amounts amounts = use_of(&least);
    const int times =
        record_at_once(&least); /* an array begins when there is room for one of its tasks */
    struct queue_job job = {.owner = least.uid,
                            .priority = least.priority,
                            .at_once = times,
                            .top = least.top,
                            .gpu_time = amounts.gpu_time,
                            .demand = resources_demand(amounts.cpus / times, amounts.memory / times,
                                                       (int)amounts.gpus / times, least.gpu_type)};
    memcpy(job.id, item->place.id, ID_SIZE);
    return job;
}

/* The job waits for a limit.  True when others may go on: where the limit is its owner's share, those of other
 * owners. */
static bool wait_for_limit(struct submitter *submitter, struct item *item)
{
    bool share = item->fate == ITEM_SHARE;
    admission_withdraw(submitter, item);
    memcpy(share ? submitter->over : submitter->next, item->place.id, ID_SIZE);
    if (share && !planning_is_on(submitter->planning)) {
        const struct queue_job job = submit_queue_job(submitter, item);
        queue_rest(submitter->queue, &job);
    }
    handover_close(item);
    return share;
}

void submit_note_uncounted(struct submitter *submitter, const struct error *problem)
{
    log_warn("%s; nothing is submitted until this works", problem->text);
    submitter->uncounted = true;
    error_set(&submitter->reason, "what runs cannot be counted: %s", problem->text);
}

/* Fill a batch in the queue's order; nobody overtakes a job that waits for a limit.  Returns the number of
 * jobs. */
static size_t take_items(struct submitter *submitter)
{
    struct error error;
    size_t count = 0;
    char id[ID_SIZE];
    submitter->over[0] = '\0';
    queue_wake(submitter->queue);
    if (submitter->load && !submitter->use && load_refresh(submitter->load, &error)) {
        submit_note_uncounted(submitter, &error);
        return 0;
    }
    if (admission_begin(submitter))
        return 0;
    submitter->uncounted = false;
    sharing_look(submitter);
    if (submitter->backfill && !planning_is_on(submitter->planning))
        return in_order_take(submitter);
    while (count < submit_window(submitter) && !admission_is_shut(submitter) &&
           take_next(submitter, id)) {
        struct item *item = &submitter->items[count];
        if (!handover_open_job(submitter, item, id) || !admission_grant(submitter, item))
            continue;
        handover_prepare(submitter, item);
        if (planning_is_on(submitter->planning))
            item->submission.gpus_wanted = planning_wanted_gpus(submitter->planning);
        guard_leave(submitter->guard);
        if (item->fate != ITEM_WAIT && item->fate != ITEM_SHARE)
            count++;
        else if (!wait_for_limit(submitter, item))
            break;
    }
    return count;
}

void submit_look_for_lost(struct submitter *submitter)
{
    watch_expect(submitter->watch);
}

/* Put a job that stays in rendered/ back into the queue, for a little later. */
static void put_back(struct submitter *submitter, const struct item *item)
{
    struct queue_job job = submit_queue_job(submitter, item);
    job.unsettled = item->fate == ITEM_KEEP && (submitter->backfill || submitter->is_paused);
    if (guard_is_narrow(submitter->guard))
        queue_add(submitter->tried, &job);
    else
        queue_later(submitter->queue, &job,
                    clock_elapsed() + (item->fate == ITEM_KEEP && item->rest < again_after_error
                                           ? again_after_error
                                           : item->rest));
}

/* Submit one batch.  Returns how many jobs left rendered/, or were passed by others. */
static size_t submit_batch(struct submitter *submitter)
{
    struct stage *stage = &submitter->stage;
    struct submission *batch[1024];
    struct error error;
    size_t count, submissions = 0, left = 0;

    duplicate_begin_batch(stage);
    submitter->took = count = take_items(submitter);
    duplicate_end_batch(stage);
    if ((count || submitter->newly_parked) && !submitter->trim_due)
        submitter->trim_due = clock_elapsed() + trim_after;
    if (count == 0) {
        arena_reset(submitter->arena); /* the records of those that were parked */
        return admission_is_shut(submitter) ? submitter->newly_parked : 0;
    }
    guard_enter(submitter->guard, count == 1 ? submitter->items[0].place.id : "", 0);
    for (size_t i = 0; i < count; i++)
        if (submitter->items[i].fate == ITEM_SUBMIT)
            batch[submissions++] = &submitter->items[i].submission;
    if (submissions && spool_sync(&stage->spool, &error)) {
        log_warn("%s; nothing is submitted until this works", error.text);
        for (size_t i = 0; i < count; i++)
            submitter->items[i].fate = ITEM_KEEP;
        submissions = 0;
    }
    if (submissions && !stage_is_fenced(stage))
        submitter->executor->operations->submit(submitter->executor, batch, submissions);
    if (stage_is_fenced(stage)) {
        for (size_t i = 0; i < count; i++)
            handover_close(&submitter->items[i]);
        arena_reset(submitter->arena);
        guard_leave(submitter->guard);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        handover_note_outcome(submitter, &submitter->items[i]);
    adapt_window(submitter, count);
    if (spool_sync(&stage->spool, &error)) {
        log_warn("%s; the outcomes are written again", error.text);
    } else if (!stage_is_fenced(stage)) /* a sync can take as long as a stop */
        handover_move(submitter, count);

    for (size_t i = 0; i < count; i++) {
        struct item *item = &submitter->items[i];
        if (item->fate == ITEM_KEEP || item->fate == ITEM_DECLINED)
            put_back(submitter, item);
        else if (item->place.state == STATE_RENDERED)
            submit_look_for_lost(submitter);
        /* A job that is declined for the first time does not hold up the others; those that wait for the same
         * are retried a few at a time. */
        left += item->fate != ITEM_KEEP && !(item->fate == ITEM_DECLINED && item->again);
        admission_end(submitter, item);
        sharing_end(submitter, item);
        if (submitter->load && item->fate != ITEM_KEEP)
            load_release(submitter->load, item->place.id, item->fate == ITEM_SUBMIT);
        guard_passed(submitter->guard, item->place.id);
        handover_close(item);
    }
    arena_reset(submitter->arena);
    guard_leave(submitter->guard);
    return left;
}

static bool has_request(const struct submitter *submitter, const char *id, const char *name)
{
    struct stat status;
    char path[NAME_MAX + 16];
    snprintf(path, sizeof(path), "%s/%s", id, name);
    return !sys.fstatat(submitter->stage.spool.states[STATE_RENDERED], path, &status,
                        AT_SYMLINK_NOFOLLOW);
}

/* Kill or hold a job for which somebody has requested that, and which the executor cannot have: that needs no
 * executor. */
static void grant_request(struct submitter *submitter, const char *id)
{
    struct item *item = &submitter->items[0];
    struct error error;
    if ((!has_request(submitter, id, "kill") && !has_request(submitter, id, "hold") &&
         !has_request(submitter, id, "hold-tasks")) ||
        stage_is_fenced(&submitter->stage) || !handover_open_asked(submitter, item, id))
        return;
    handover_note_outcome(submitter, item);
    if (spool_sync(&submitter->stage.spool, &error))
        log_warn("%s", error.text);
    else if (!stage_is_fenced(&submitter->stage))
        handover_move(submitter, 1);
    handover_close(item);
    arena_reset(submitter->arena);
}

/* Add a job to the queue that was not in it.  False when it is in none, and may be in rendered/ all the same. */
static bool take_job(struct submitter *submitter, const char *id)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct queue_job queued = {.turn = 0};
    struct job_record record;
    memcpy(place.id, id, strlen(id) + 1);
    memcpy(queued.id, place.id, ID_SIZE);
    if (give_up(&submitter->stage, submitter->guard, &place, submitter->executor))
        return false;
    guard_enter(submitter->guard, id, 0);
    int job = job_open(&submitter->stage.spool, &place);
    if (job < 0)
        return errno == ENOENT;
    struct arena *lasting = opened_arena(submitter->opened);
    bool readable = record_read(job, lasting ? lasting : submitter->arena, &record, NULL) == 0;
    if (readable) {
        queued.owner = record.uid;
        queued.priority = record.priority;
        queued.top = record.top;
        queued.demand = resources_demand(record.cpus, record.memory, record.gpus, record.gpu_type);
        sharing_note(submitter, &record);
    }
    /* A job that the executor may have, that is damaged, or that somebody has requested to kill or hold does
     * not wait for capacity. */
    bool by_capacity = submitter->backfill || submitter->is_paused;
    int unsettled = by_capacity && readable ? handover_is_unsettled(job, id) : 0;
    queued.unsettled =
        by_capacity && (!readable || unsettled || has_request(submitter, id, "kill") ||
                        has_request(submitter, id, "hold"));
    planning_note_job(submitter->planning, readable ? &record : NULL);
    if (unsettled >= 0 && readable && lasting)
        opened_keep(submitter->opened, id, job, &record);
    else
        sys.close(job);
    if (unsettled >= 0)
        queue_add(submitter->queue, &queued);
    arena_reset(submitter->arena);
    return unsettled >= 0;
}

/* Log, once, that an entry of rendered/ is no job. */
static void tell_of_stranger(struct submitter *submitter, struct text name)
{
    struct error_quote_buffer buffer;
    if (name.length == 0 || name.data[0] == '.' || names_find(submitter->unexpected, name) ||
        !names_add(submitter->unexpected, name))
        return;
    log_warn("rendered/: \"%s\" is no job, and is ignored; job files go into incoming/",
             error_quote(&buffer, name.data, name.length));
}

/* Read the names in rendered/: add new jobs to the queue, forget those that have left, and carry out requests
 * to kill or hold. */
static void take_names(struct submitter *submitter)
{
    struct watch_name name;
    struct error error;
    if (watch_collect(submitter->watch, &error)) {
        log_warn("%s", error.text);
        submitter->stage.failed = submitter->stage.failed || watch_lost(submitter->watch);
    }
    give_up_forget_gone(&submitter->stage, submitter->guard, 1u << STATE_RENDERED);
    while (watch_next(submitter->watch, &name)) {
        struct text id = {name.name, name.length};
        if (!id_valid(id)) {
            if (text_is(id, PAUSE_FILE))
                admission_look_for_pause(submitter, true);
            else
                tell_of_stranger(submitter, id);
            continue;
        }
        /* The stage was notified of it, or the executor is long in answering. */
        if ((submitter->probe || name.flags & WATCH_CHANGED) &&
            guard_tries(submitter->guard, name.name) < GUARD_MOST_TRIES)
            grant_request(submitter, name.name);
        if (name.flags & ~(unsigned int)WATCH_SEEN)
            planning_note_job(submitter->planning, NULL);
        bool reordered = (!submitter->looked || name.flags & WATCH_CHANGED) &&
                         has_request(submitter, name.name, "order");
        if (!queue_has(submitter->queue, name.name) && !queue_has(submitter->tried, name.name) &&
            !admission_is_parked(submitter, name.name) && strcmp(submitter->next, name.name) != 0 &&
            strcmp(submitter->first.id, name.name) != 0 && !take_job(submitter, name.name))
            submit_look_for_lost(submitter);
        guard_leave(submitter->guard);
        if (reordered)
            reorder_note(submitter, name.name);
    }
    submitter->looked = true;
    reorder_flush(submitter);
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
    submitter->reason = error;
    submitter->probe = clock_elapsed() + submitter->stage.settings.probe_interval;
    adapt_window(submitter, 0);
    return false;
}

/* Is there any work that needs the executor? */
static bool has_work(const struct submitter *submitter)
{
    return queue_count(submitter->queue) || submitter->next[0] || submitter->first.id[0] ||
           planning_is_on(submitter->planning);
}

/* When the next round is due. */
static int64_t next_round(const struct submitter *submitter)
{
    int64_t due = watch_due(submitter->watch), planned = planning_due(submitter->planning);
    if (submitter->is_paused) /* nobody notifies when the file is removed */
        return clock_elapsed() + again_while_paused < due ? clock_elapsed() + again_while_paused
                                                          : due;
    int64_t later = planning_is_on(submitter->planning) ? planned
                    : submitter->probe                  ? INT64_MAX /* nobody is handed over */
                                                        : queue_due(submitter->queue);
    bool limited = submitter->next[0] || submitter->over[0] ||
                   (submitter->parked && parked_count(submitter->parked));
    if (limited && clock_elapsed() + again_when_full < due)
        due = clock_elapsed() + again_when_full;
    if (submitter->uncounted && clock_elapsed() + again_after_error < due)
        due = clock_elapsed() + again_after_error;
    /* No notification tells of resources that others than dlspool's own jobs leave free. */
    if (submitter->first.id[0] && !planning_is_on(submitter->planning) &&
        clock_elapsed() + again_for_capacity < due)
        due = clock_elapsed() + again_for_capacity;
    if (has_work(submitter) && submitter->probe && submitter->probe < due)
        due = submitter->probe;
    return later < due ? later : due;
}

/* The first of the jobs that are still waiting, or "". */
static const char *first_waiting(const struct submitter *submitter)
{
    bool planned = planning_is_on(submitter->planning);
    const struct queue_job *queued = queue_first(submitter->queue);
    if (submitter->next[0])
        return submitter->next;
    if (submitter->over[0])
        return submitter->over;
    if (submitter->first.id[0] && !planned)
        return submitter->first.id;
    return queued && !planned ? queued->id : "";
}

/* Say what those wait for that are still here. */
static void tell_waiting(struct submitter *submitter)
{
    char first[ID_SIZE];
    bool planned = planning_is_on(submitter->planning);
    snprintf(first, sizeof(first), "%s", first_waiting(submitter));
    if (submitter->is_paused) {
        struct error paused;
        pause_describe(&submitter->pause, clock_format, &paused);
        waits_set(submitter->waits, WAITING_PAUSE, first, paused.text);
    } else if (submitter->probe && has_work(submitter))
        waits_set(submitter->waits, WAITING_EXECUTOR, first, submitter->reason.text);
    else if (submitter->next[0] || submitter->over[0] || submitter->uncounted)
        waits_set(submitter->waits, WAITING_LIMIT, first, submitter->reason.text);
    else if (submitter->first.id[0] && !planned)
        waits_set(submitter->waits, WAITING_ROOM, first, submitter->reason.text);
    else
        waits_clear(submitter->waits);
}

/* Submit what can be submitted.  After a crash over a batch, all jobs are tried once each: only then is it
 * known that none of those that are there is to blame. */
static void submit_all(struct submitter *submitter)
{
    struct queue_job job;
    bool more;
    do {
        size_t left = submit_batch(submitter);
        opened_clear(submitter->opened);
        more = left || (submitter->took && guard_is_narrow(submitter->guard));
        more = more && !submitter->probe && stage_wait(&submitter->stage, -1, 0);
        if (more)
            take_names(submitter);
    } while (more);
    while (queue_take(submitter->tried, &job))
        queue_later(submitter->queue, &job, clock_elapsed() + again_while_narrow);
    if (submitter->took == 0)
        guard_widen(submitter->guard);
}

/* Return the memory of manifests, which malloc() would keep, but not before the next batch had its chance to need
 * it again. */
static void trim_memory(struct submitter *submitter)
{
    if (!submitter->trim_due || clock_elapsed() < submitter->trim_due)
        return;
    malloc_trim(0);
    submitter->trim_due = 0;
}

/* Take what is new in rendered/, plan, submit what can be submitted, and say what the others wait for. */
static int64_t submit_round(struct stage *stage)
{
    struct submitter *submitter = (struct submitter *)stage;
    admission_look_for_pause(submitter, false);
    take_names(submitter);
    bool answers = !has_work(submitter) || executor_answers(submitter);
    if (planning_is_on(submitter->planning)) {
        sharing_look(submitter);
        opened_clear(submitter->opened); /* The plan may change their sizes. */
    }
    if (planning_make_plan(submitter->planning, answers) && planning_is_on(submitter->planning)) {
        if (submitter->next[0]) /* when nothing is planned any more, it is in no queue */
            submit_look_for_lost(submitter);
        submitter->next[0] = '\0'; /* The plan contains that job if it is still in rendered/. */
    }
    if (answers)
        submit_all(submitter);
    opened_clear(submitter->opened);
    tell_waiting(submitter);
    trim_memory(submitter);
    if (submitter->probe) /* while it does not answer, scans find what is to be killed or held */
        watch_expect(submitter->watch);
    int64_t due = next_round(submitter);
    return submitter->trim_due && submitter->trim_due < due ? submitter->trim_due : due;
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
    arena_free(submitter->arena);
    opened_free(submitter->opened);
    free(submitter->items);
    queue_free(submitter->queue);
    queue_free(submitter->tried);
    names_free(submitter->unexpected);
    planning_free(submitter->planning);
    load_free(submitter->load);
    admission_close(submitter);
    sharing_close(submitter);
    backfill_free(submitter->backfill);
    waits_free(submitter->waits);
    stage_close(stage);
    free(submitter);
}

static void tell_absent(void *context, const char *sentence)
{
    (void)context;
    log_warn("%s", sentence);
}

/* How many jobs may stay open from where they are found, and the logs of how many of a batch while the executor is
 * asked?  Each job of a batch is open, too.  Where closing tells whether all was written, as on NFS, no log is. */
static void count_descriptors(struct submitter *submitter)
{
    size_t batch = submitter->item_count, others = 2 * batch + OTHER_DESCRIPTORS;
    size_t allowed = descriptors_allow(others + batch);
    submitter->opened = opened_new(allowed >= others ? batch : 0);
    submitter->logs_most =
        allowed > others && mount_is_local(submitter->stage.spool.root) ? allowed - others : 0;
}

/* Open the stage: the executor, what is planned and counted for it, and the watch on rendered/. */
static struct stage *submit_open(const char *directory, struct error *error)
{
    struct submitter *submitter = memory_allocate(sizeof(*submitter));
    struct stage *stage = &submitter->stage;
    if (stage_open(stage, "submit", directory, error)) {
        free(submitter);
        return NULL;
    }
    /* The process that renders again is forked before this one has the executor's credentials. */
    int sealed = seal_read_key(&stage->spool, stage->settings.user, &stage->key, error) ||
                 verify_start(stage, error);
    submitter->queue = queue_new();
    submitter->tried = queue_new();
    queue_set_patience(submitter->queue, stage->settings.limits.turn,
                       stage->settings.limits.users.most);
    submitter->unexpected = names_new(MOST_UNEXPECTED, 1);
    submitter->waits = waits_new(stage);
    submitter->guard = guard_own();
    guard_count(submitter->guard, stage->name);
    submitter->item_count = submitter->window = (size_t)stage->settings.batch;
    submitter->trim_due = clock_elapsed() + trim_after; /* after rendered/ was first read */
    submitter->items = memory_allocate(submitter->item_count * sizeof(*submitter->items));
    count_descriptors(submitter);
    submitter->arena = arena_new();
    struct watch_settings watching = {.interval = stage->settings.scan_interval,
                                      .longest = stage_longest_scan};
    submitter->executor = sealed ? NULL : stage_executor(stage, error);
    admission_look_for_pause(submitter, true);
    if (submitter->executor) {
        submitter->load = load_new(&stage->spool, submitter->executor);
        admission_open(submitter);
        sharing_open(submitter);
        submitter->backfill = backfill_new(&stage->spool, submitter->executor);
        submitter->planning = planning_new(stage, submitter->executor);
        planning_set_shares(submitter->planning, submitter->shares);
        admission_advise(submitter);
        if (submitter->executor->operations->inspect)
            submitter->executor->operations->inspect(submitter->executor, tell_absent, NULL);
    }
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
