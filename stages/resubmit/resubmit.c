/* stages/resubmit/resubmit.c - failed/ and held/ to rendered/, when a job's time or reason has come
 *
 * Each pass walks failed/ and reads each job's record, unless nothing about it can have changed
 * since the last pass.  A job that is due is rendered again from its request (the templates may
 * have changed) and goes back to rendered/; one that cannot be rendered stays, with the new
 * reason.  Jobs that wait for room go in order of priority, then age, as far as the room lasts.
 * Then it looks at held/ (stages/resubmit/held_act.c), and jobs that need not wait there any longer go the
 * same way.
 *
 * The same code serves the stage and `dlspool resubmit`; a lock keeps two passes apart.
 */
#include "base/file.h"
#include "spool/jobs.h"
#include "spool/order_request.h"
#include "stages/resubmit/inside.h"
#include "stages/resubmit/news.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/prepare/reread.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/give_up.h"
#include "stages/shared/duplicate.h"

enum { SETTINGS_LIMIT = 1 << 20, MOST_FAILED = 1 << 20 }; /* bytes; jobs */
static const int64_t shortest_rest = 50;                  /* milliseconds between two passes */

static void remember_failure(struct waiting *waiting, const struct job_record *record)
{
    const struct failure *failure = &record->failure;
    waiting->when = record->failed ? failure->when : RETRY_NEVER;
    waiting->next = failure->next;
    waiting->delay = failure->delay;
    waiting->change_since = record->change_since ? record->change_since : failure->failed;
    waiting->array = record->array.length > 0;
    waiting->too_much = failure->capacity.length > 0;
    waiting->capacity_seen = 0;
    waiting->cpus = record->cpus;
    waiting->memory = record->memory;
    waiting->gpus = record->gpus;
    waiting->priority = record->priority;
    snprintf(waiting->commit, sizeof(waiting->commit), "%.*s", (int)failure->commit.length,
             failure->commit.length ? failure->commit.data : "");
    snprintf(waiting->settings, sizeof(waiting->settings), "%.*s", (int)failure->settings.length,
             failure->settings.length ? failure->settings.data : "");
}

void resubmit_pass_add(struct pass *pass, enum state from, const char *id, int priority, int stops)
{
    pass->candidates =
        memory_grow(pass->candidates, pass->count, &pass->capacity, sizeof(*pass->candidates));
    struct candidate *candidate = &pass->candidates[pass->count++];
    *candidate = (struct candidate){.action.from = from, .priority = priority, .stops = stops};
    snprintf(candidate->action.id, sizeof(candidate->action.id), "%s", id);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A job whose record is damaged stays in failed/, and its `why` says so.  So does one whose record is another
 * job's, or that of a job that has not failed: somebody has put it here. */
static void quarantine_in_place(struct resubmitter *resubmitter, const struct job_place *place,
                                int job, struct job_record *record, const struct error *problem)
{
    struct error error;
    log_warn("%s: %s; the job is quarantined", place->id, problem->text);
    if (quarantine_write(job, place->id, resubmitter->arena, record, problem, &error))
        log_warn("%s: %s", place->id, error.text);
}

/* Log that a job could not be read, unless it is gone (ENOENT), as a job that moves is. */
static void say_unread(const struct job_place *place, int number)
{
    if (number != ENOENT)
        log_warn("%s: in failed/, cannot be read at the moment: %s", place->id, strerror(number));
}

static const struct error *error_of(struct error *error, const char *sentence)
{
    error_set(error, "%s", sentence);
    return error;
}

/* What is known about a failed job; it is read again if its directory has changed. */
static struct waiting *know_unguarded(struct resubmitter *resubmitter,
                                      const struct job_place *place)
{
    struct stat status;
    struct error error;
    struct job_record record;
    struct text id = text_of(place->id);
    struct waiting *waiting = names_find(resubmitter->jobs, id);
    if (sys.fstatat(resubmitter->stage.spool.states[STATE_FAILED], place->id, &status,
                    AT_SYMLINK_NOFOLLOW)) {
        say_unread(place, errno);
        if (errno == ENOENT && waiting)
            names_remove(resubmitter->jobs, waiting);
        else if (errno != ENOENT)
            watch_expect(resubmitter->watch);
        return NULL;
    }
    if (!S_ISDIR(status.st_mode))
        return NULL;
    if (waiting && same_time(waiting->changed, status.st_mtim))
        return waiting;
    if (!waiting)
        waiting = names_add(resubmitter->jobs, id);
    if (!waiting) {
        watch_expect(resubmitter->watch);
        return NULL; /* more than MOST_FAILED jobs: this one is read when others have gone */
    }
    int job = job_open(&resubmitter->stage.spool, place);
    if (job < 0) {
        say_unread(place, errno);
        return NULL;
    }
    waiting->when = RETRY_NEVER;
    waiting->changed = status.st_mtim;
    if (record_read(job, resubmitter->arena, &record, &error) == 0) {
        /* done/ is searched for a copy only if the record does not say that the job has failed. */
        if (duplicate_settle(&resubmitter->stage, place, record.failed ? 0 : record.accepted))
            waiting = NULL;
        else if (!text_is(record.id, place->id))
            quarantine_in_place(resubmitter, place, job, NULL,
                                error_of(&error, "job.yaml has the id of another job"));
        else if (!record.failed)
            quarantine_in_place(resubmitter, place, job, &record,
                                error_of(&error,
                                         "job.yaml does not say that the job has failed, but it is "
                                         "in failed/"));
        else if (order_request_take(job, resubmitter->arena, &record) >= 0)
            remember_failure(waiting, &record);
        else
            waiting->changed = (struct timespec){0};
    } else if (file_is_damaged(errno)) {
        quarantine_in_place(resubmitter, place, job, NULL, &error);
    } else {
        say_unread(place, errno);
        waiting->changed = (struct timespec){0}; /* to be read again */
    }
    sys.close(job);
    arena_reset(resubmitter->arena);
    return waiting;
}

static struct waiting *know_job(struct resubmitter *resubmitter, const struct job_place *place)
{
    struct guard *guard = guard_own();
    if (give_up(&resubmitter->stage, guard, place, NULL))
        return NULL;
    guard_enter(guard, place->id, 0);
    struct waiting *waiting = know_unguarded(resubmitter, place);
    guard_leave(guard);
    return waiting;
}

/* Jobs of held/ over which this stage has died too often go to failed/. */
static void give_up_held(struct resubmitter *resubmitter)
{
    const struct guard *guard = guard_own();
    for (int i = 0; guard && i < GUARD_COUNTED; i++) {
        struct job_place place = {.state = STATE_HELD};
        struct stat status;
        if (guard->counted[i].tries < GUARD_MOST_TRIES ||
            !id_valid(text_of(guard->counted[i].name)))
            continue;
        snprintf(place.id, sizeof(place.id), "%.*s", (int)sizeof(place.id) - 1,
                 guard->counted[i].name);
        if (!sys.fstatat(resubmitter->stage.spool.states[STATE_HELD], place.id, &status,
                         AT_SYMLINK_NOFOLLOW))
            give_up(&resubmitter->stage, guard_own(), &place, NULL);
    }
}

/* Is there a file in its directory by which somebody asks for something? */
static bool is_asked(const struct resubmitter *resubmitter, const char *id)
{
    static const char *const names[] = {"retry", "kill", "hold"};
    bool found = false;
    for (size_t i = 0; i < ARRAY_COUNT(names) && !found; i++) {
        char path[ID_SIZE + 16];
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", id, names[i]);
        found = !sys.fstatat(resubmitter->stage.spool.states[STATE_FAILED], path, &status,
                             AT_SYMLINK_NOFOLLOW);
    }
    return found;
}

static int look_at_job(void *context, const struct job_place *place)
{
    struct pass *pass = context;
    struct waiting *waiting = know_job(pass->resubmitter, place);
    held_jobs_doubt(pass->resubmitter->held, text_of(place->id));
    if (waiting)
        waiting->is_asked = is_asked(pass->resubmitter, place->id);
    return 0;
}

/* Look at those of failed/ that could not be read, or were handled by the last pass. */
static void look_again(struct pass *pass)
{
    struct waiting *next;
    for (struct waiting *waiting = names_first(pass->resubmitter->jobs); waiting; waiting = next) {
        struct job_place place = {.state = STATE_FAILED};
        struct text id = names_text(waiting);
        next = names_after(waiting);
        if (waiting->changed.tv_sec || waiting->changed.tv_nsec)
            continue;
        memcpy(place.id, id.data, id.length + 1);
        look_at_job(pass, &place);
    }
}

/* Those whose time or reason may have come. */
static void choose_candidates(struct pass *pass)
{
    struct waiting *waiting;
    for (waiting = names_first(pass->resubmitter->jobs); waiting; waiting = names_after(waiting))
        if (due_may_be(pass->resubmitter, waiting, pass->now))
            resubmit_pass_add(pass, STATE_FAILED, names_text(waiting).data, waiting->priority,
                              waiting->stops);
}

/* Forget the jobs that have left failed/. */
static void forget_gone(struct resubmitter *resubmitter)
{
    struct waiting *next;
    for (struct waiting *waiting = names_first(resubmitter->jobs); waiting; waiting = next) {
        struct stat status;
        next = names_after(waiting);
        if (sys.fstatat(resubmitter->stage.spool.states[STATE_FAILED], names_text(waiting).data,
                        &status, AT_SYMLINK_NOFOLLOW) &&
            errno == ENOENT)
            names_remove(resubmitter->jobs, waiting);
    }
}

/* Find the candidates of failed/.  -1 and a sentence when it could not be read. */
static int look_at_failed(struct pass *pass, struct error *error)
{
    struct resubmitter *resubmitter = pass->resubmitter;
    int visited = news_visit(resubmitter->watch, STATE_FAILED, look_at_job, pass, error);
    if (visited < 0)
        resubmitter->stage.failed = resubmitter->stage.failed || watch_lost(resubmitter->watch);
    look_again(pass);
    if (visited > 0)
        forget_gone(resubmitter);
    choose_candidates(pass);
    return visited < 0 ? -1 : 0;
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *first = a, *second = b;
    /* Jobs over which a process has died come last, so that they do not hold up the others. */
    if (first->stops != second->stops)
        return first->stops < second->stops ? -1 : 1;
    if (first->priority != second->priority)
        return first->priority > second->priority ? -1 : 1;
    return text_compare(id_token(text_of(first->action.id)), id_token(text_of(second->action.id)));
}

static void read_settings_digest(struct resubmitter *resubmitter)
{
    struct buffer bytes = {0};
    if (file_read_at(resubmitter->stage.spool.root, "dlspool.yaml", SETTINGS_LIMIT, &bytes, NULL) ==
        0)
        sha256_hex(buffer_text(&bytes), resubmitter->settings);
    buffer_free(&bytes);
}

/* The counter, in memory, of how often the process that reads requests has died over a job; NULL when the job
 * is no longer known. */
static int *stops_of(void *context, const struct requeue_action *action)
{
    struct resubmitter *resubmitter = context;
    struct waiting *waiting;
    struct held *held;
    if (action->from == STATE_HELD)
        return (held = names_find(resubmitter->held->jobs, text_of(action->id))) ? &held->stops
                                                                                 : NULL;
    return (waiting = names_find(resubmitter->jobs, text_of(action->id))) ? &waiting->stops : NULL;
}

/* Carry out the actions, and count the jobs that go back to rendered/. */
static int do_actions(struct resubmitter *resubmitter, const struct pass *pass, struct error *error)
{
    struct requeue_action *actions = memory_allocate((pass->count + 1) * sizeof(*actions));
    struct reread reread = {
        .stage = &resubmitter->stage,
        .repository = resubmitter->repository,
        .arena = resubmitter->arena,
        .settings = resubmitter->settings,
        .actions = actions,
        .stops = stops_of,
        .context = resubmitter,
    };
    for (size_t i = 0; i < pass->count; i++)
        if (pass->candidates[i].action.kind != ACTION_NONE)
            actions[reread.count++] = pass->candidates[i].action;
    int result = reread.count ? reread_jobs(&reread, error) : 0;
    resubmitter->requeued += reread.requeued;
    free(actions);
    return result;
}

/* Forget the jobs that have left failed/ in this pass; the next one looks at the others again of which something was to
 * be done. */
static void doubt_handled(struct resubmitter *resubmitter, const struct pass *pass)
{
    for (size_t i = 0; i < pass->count; i++) {
        const struct requeue_action *action = &pass->candidates[i].action;
        struct waiting *waiting = action->from == STATE_FAILED && action->kind != ACTION_NONE
                                      ? names_find(resubmitter->jobs, text_of(action->id))
                                      : NULL;
        struct stat status;
        if (!waiting)
            continue;
        waiting->changed = (struct timespec){0};
        if (sys.fstatat(resubmitter->stage.spool.states[STATE_FAILED], action->id, &status,
                        AT_SYMLINK_NOFOLLOW) &&
            errno == ENOENT)
            names_remove(resubmitter->jobs, waiting);
    }
}

/* One pass over failed/ and held/: find the jobs that are due, in order, and have them rendered again.  0 also
 * when another process has the lock; -1 and a sentence when failed/ cannot be read. */
static int make_pass(struct resubmitter *resubmitter, struct error *error)
{
    struct pass pass = {.resubmitter = resubmitter, .now = clock_now()};
    struct error warning;
    int lock;
    int result = stage_lock_pass(&resubmitter->stage, ".resubmit.lock", &lock, error);
    if (result)
        return result < 0 ? -1 : 0;
    resubmitter->asked_ready = resubmitter->ready = false;
    resubmitter->asked_capacity = resubmitter->have_capacity = false;
    read_settings_digest(resubmitter);
    if (repository_refresh(resubmitter->repository, &warning))
        log_warn("%s", warning.text);
    give_up_forget_gone(&resubmitter->stage, guard_own(), 1u << STATE_FAILED | 1u << STATE_HELD);
    result = look_at_failed(&pass, error);
    give_up_held(resubmitter);
    held_act(resubmitter, &pass);
    if (pass.count)
        qsort(pass.candidates, pass.count, sizeof(*pass.candidates), compare_candidates);
    for (size_t i = 0; i < pass.count; i++)
        if (pass.candidates[i].action.from == STATE_FAILED) {
            guard_enter(guard_own(), pass.candidates[i].action.id, 0);
            due_decide(resubmitter, &pass.candidates[i].action, pass.now);
            guard_leave(guard_own());
            guard_passed(guard_own(), pass.candidates[i].action.id);
        }
    if (!result)
        result = do_actions(resubmitter, &pass, error);
    doubt_handled(resubmitter, &pass);
    free(pass.candidates);
    sys.close(lock);
    return result;
}

static void resubmit_close(struct stage *stage)
{
    struct resubmitter *resubmitter = (struct resubmitter *)stage;
    watch_close(resubmitter->watch);
    held_jobs_free(resubmitter->held);
    if (resubmitter->executor)
        resubmitter->executor->operations->close(resubmitter->executor);
    repository_close(resubmitter->repository);
    names_free(resubmitter->jobs);
    arena_free(resubmitter->arena);
    stage_close(stage);
    free(resubmitter);
}

static struct stage *resubmit_open(const char *directory, struct error *error)
{
    struct resubmitter *resubmitter = memory_allocate(sizeof(*resubmitter));
    struct stage *stage = &resubmitter->stage;
    if (stage_open(stage, "resubmit", directory, error)) {
        free(resubmitter);
        return NULL;
    }
    struct watch_settings watching = {.interval = stage->settings.scan_interval,
                                      .longest = stage_longest_scan};
    guard_count(guard_own(), stage->name);
    resubmitter->arena = arena_new();
    resubmitter->jobs = names_new(MOST_FAILED, sizeof(struct waiting));
    resubmitter->held = held_jobs_new(&stage->spool, &stage->settings);
    resubmitter->repository = stage_repository(stage, error);
    if (resubmitter->repository)
        resubmitter->executor = stage_executor(stage, error);
    if (resubmitter->executor)
        resubmitter->watch =
            watch_open(stage->spool.states[STATE_FAILED], "failed", &watching, error);
    if (resubmitter->watch && !held_jobs_watch(resubmitter->held, &watching, error))
        return stage;
    resubmit_close(stage);
    return NULL;
}

/* When the next pass is to be, of clock_elapsed(): sooner when a job begins before that. */
static int64_t next_pass(const struct resubmitter *resubmitter, int64_t now)
{
    int64_t interval = resubmitter->stage.settings.retry_interval;
    int64_t begins =
        resubmitter->held->soonest ? resubmitter->held->soonest - clock_now() : interval;
    int64_t next = now + (begins < interval ? begins : interval);
    return next > resubmitter->rest_until ? next : resubmitter->rest_until;
}

static int64_t resubmit_round(struct stage *stage)
{
    struct resubmitter *resubmitter = (struct resubmitter *)stage;
    struct error error;
    int64_t began = clock_elapsed();
    if (began < resubmitter->rest_until) {
        resubmitter->is_notified = true;
        return resubmitter->rest_until;
    }
    resubmitter->is_notified = false;
    if (make_pass(resubmitter, &error))
        log_warn("%s", error.text);
    /* Notifications may never cease: at most half of the time is spent in passes. */
    int64_t now = clock_elapsed();
    resubmitter->rest_until = now + (now - began) + shortest_rest;
    return resubmitter->more ? resubmitter->rest_until : next_pass(resubmitter, now);
}

/* What a notification tells during a rest is read by the pass after it. */
static int resubmit_descriptor(const struct stage *stage)
{
    const struct resubmitter *resubmitter = (const struct resubmitter *)stage;
    return resubmitter->is_notified ? -1 : watch_descriptor(resubmitter->watch);
}

const struct stage_operations resubmit_stage = {
    .name = "resubmit",
    .open = resubmit_open,
    .round = resubmit_round,
    .descriptor = resubmit_descriptor,
    .close = resubmit_close,
};

int stage_resubmit_once(const char *directory, struct error *error)
{
    log_name("resubmit");
    struct stage *stage = resubmit_open(directory, error);
    if (!stage)
        return -1;
    struct resubmitter *resubmitter = (struct resubmitter *)stage;
    stage->confined = true;
    int result = make_pass(resubmitter, error);
    if (!result)
        result = (int)resubmitter->requeued;
    resubmit_close(stage);
    return result;
}
