/* stages/planning/planning.c - when a plan is made, and its steps */
#include "base/file.h"
#include "spool/job.h"
#include "stages/planning/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/guard.h"
#include "stages/planning/planning.h"

/* Milliseconds between two plans; at most a fifth of the time is spent planning. */
enum { LEAST_APART = 100, SHARE_OF_TIME = 5 };

/* What the guard names while the process works on no single job, but plans. */
static const char THE_PLAN[] = "the plan";

struct planning *planning_new(struct stage *stage, struct executor *executor)
{
    struct planning *planning = memory_allocate(sizeof(*planning));
    *planning = (struct planning){.stage = stage,
                                  .executor = executor,
                                  .job_cache = job_cache_new(&stage->spool),
                                  .runs = runs_new(&stage->spool),
                                  .turns = overdue_new(),
                                  .backfill = backfill_new(&stage->spool, executor)};
    return planning;
}

void planning_set_rows(struct planning *planning, const struct allowance *rows)
{
    planning->rows = rows;
}

void planning_set_shares(struct planning *planning, struct decayed_use *shares)
{
    planning->shares = shares;
}

static void forget_plan(struct planning *planning)
{
    free(planning->order);
    free(planning->handing);
    planning->order = NULL;
    planning->handing = NULL;
    planning->order_count = planning->handing_count = planning->handed = 0;
}

void planning_free(struct planning *planning)
{
    if (!planning)
        return;
    forget_plan(planning);
    buffer_free(&planning->wanted);
    backfill_free(planning->backfill);
    overdue_free(planning->turns);
    runs_free(planning->runs);
    job_cache_free(planning->job_cache);
    free(planning);
}

/* Has the stage died three times while it planned?  Then jobs go on unplanned, each at the size that it asks
 * for.  After ten minutes the next job that needs planning turns it on again. */
static bool is_given_up(void)
{
    guard_passed(guard_own(), THE_PLAN);
    return guard_tries(guard_own(), THE_PLAN) >= GUARD_MOST_TRIES;
}

bool planning_is_on(const struct planning *planning)
{
    return planning->on;
}

void planning_note_job(struct planning *planning, const struct job_record *record)
{
    planning->on =
        planning->on || (record && job_cache_record_wants_plan(record) && !is_given_up());
    int64_t apart = SHARE_OF_TIME * planning->took;
    int64_t soon = planning->made + (apart > LEAST_APART ? apart : LEAST_APART);
    if (planning->on && soon < planning->due)
        planning->due = soon;
}

int64_t planning_due(const struct planning *planning)
{
    return planning->on ? planning->due : INT64_MAX;
}

/* Is there still a job that needs planning? */
static bool is_wanted(struct planning *planning)
{
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job))
        if (job_cache_wants_plan(job))
            return true;
    return false;
}

static void ask_capacity(struct planning *planning)
{
    struct capacity capacity = {.cpus = 0};
    struct error error;
    if (planning->executor->operations->capacity(planning->executor, &capacity, &error)) {
        log_detail("the executor cannot tell its capacity: %s", error.text);
        return;
    }
    planning->capacity = capacity;
    planning->told = true;
}

/* Can the job be resized while it runs?  The executor is asked once, with its manifest. */
static void ask_resizable(struct planning *planning, struct cached_job *job)
{
    enum { MANIFEST_LIMIT = 16 << 20 }; /* bytes */
    const struct executor_operations *operations = planning->executor->operations;
    struct job_place place = {.state = job->state};
    struct buffer manifest = {0};
    struct guard_before before;
    if (job->resizable_known || job->state != STATE_SUBMITTED ||
        job->record.sizes.kind == SIZE_FIXED)
        return;
    job->resizable = false;
    job->resizable_known = true;
    if (!operations->resize || !operations->resizable)
        return;
    snprintf(place.id, sizeof(place.id), "%s", job_cache_id(job));
    int directory = job_open(&planning->stage->spool, &place);
    if (directory < 0)
        return;
    if (guard_begin(guard_own(), place.id, &before)) {
        if (file_read_at(directory, "manifest.yaml", MANIFEST_LIMIT, &manifest, NULL) == 0)
            job->resizable = operations->resizable(planning->executor, buffer_text(&manifest),
                                                   job->record.sizes.kind);
        guard_return(guard_own(), &before);
    }
    sys.close(directory);
    buffer_free(&manifest);
}

/* Ask the executor about each job: can it be resized, and can the executor ever have it? */
static void look_at_jobs(struct planning *planning)
{
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job)) {
        const struct sizes *sizes = &job->record.sizes;
        int64_t least = sizes->kind == SIZE_FIXED ? 1 : sizes->least;
        if (!job->readable)
            continue;
        ask_resizable(planning, job);
        job->outgrown = job->state == STATE_RENDERED && planning->told &&
                        !pools_have_ever(&planning->capacity, job, least);
    }
}

/* Take what waiting jobs will take from what is free: a scheduler of many machines counts a job only once it
 * has started.  Containers on this machine count at once. */
static void take_waiting(struct planning *planning)
{
    planning->left = planning->capacity;
    if (planning->executor->operations->of_this_machine)
        return;
    for (struct cached_job *job = job_cache_first(planning->job_cache); job;
         job = job_cache_after(job))
        if (job->readable && job->state == STATE_SUBMITTED && !job->started)
            pools_hold(&planning->left, job, job->size);
}

static void make_plan(struct planning *planning)
{
    struct arena *arena = arena_new();
    struct plan_file lines = {.time = planning->now};
    int64_t begin = clock_elapsed();
    uint64_t known = runs_generation(planning->runs);
    runs_refresh(planning->runs);
    look_at_jobs(planning);
    planning->overdue =
        overdue_look(planning->turns, planning->job_cache, &planning->stage->settings.limits,
                     planning->shares, begin, planning->now);
    take_waiting(planning);
    planning_decide(planning, arena, &lines);
    if (runs_generation(planning->runs) != known)
        runs_note_cost(planning->runs, clock_elapsed() - begin);
    size_t count;
    struct cached_job **due = planning_order(planning, &count);
    planning_order_rerender(planning, due, count);
    planning_order_hand_over(planning, due, count);
    planning_rows_hand_over(planning);
    free(due);
    planning_publish(planning, arena, &lines);
    arena_free(arena);
}

/* Planning was off, or the stage has just started.  Rendered jobs that need it are seen when the stage reads
 * them; true when a job of submitted/ does. */
static bool look_at_submitted(struct planning *planning)
{
    struct error error;
    int wanted = job_cache_submitted_wants_plan(&planning->stage->spool, &error);
    if (wanted < 0)
        log_warn("%s; it is checked again whether jobs have deadlines", error.text);
    planning->looked = wanted >= 0;
    planning->on = planning->on || (wanted > 0 && !is_given_up());
    return planning->on;
}

static void stop_planning(struct planning *planning)
{
    if (!stage_is_fenced(planning->stage))
        plan_file_remove(&planning->stage->spool);
    job_cache_free(planning->job_cache);
    planning->job_cache = job_cache_new(&planning->stage->spool);
}

/* Has a job come to submitted/ or left it since the last plan?  Then resources may be free. */
static bool has_changed(struct planning *planning)
{
    struct stat status;
    if (sys.fstatat(planning->stage->spool.states[STATE_SUBMITTED], "", &status, AT_EMPTY_PATH))
        return false;
    bool same = status.st_mtim.tv_sec == planning->changed.tv_sec &&
                status.st_mtim.tv_nsec == planning->changed.tv_nsec;
    planning->changed = status.st_mtim;
    return !same;
}

bool planning_make_plan(struct planning *planning, bool answers)
{
    struct error error;
    int64_t begin = clock_elapsed();
    if (planning->on && has_changed(planning))
        planning_note_job(planning, NULL);
    if (!planning->looked && !look_at_submitted(planning)) {
        stop_planning(planning);
        return false;
    }
    if (!planning->on || begin < planning->due)
        return false;
    planning->due = begin + planning->stage->settings.planner_tick;
    planning->made = begin;
    planning->now = clock_now();
    planning->answers = answers;
    planning->more = false;
    forget_plan(planning);
    if (job_cache_refresh(planning->job_cache, &error)) {
        log_warn("%s; nothing is planned until this works", error.text);
        return true;
    }
    planning->on = is_wanted(planning) && !is_given_up();
    if (planning->on && answers)
        ask_capacity(planning);
    if (planning->on) {
        guard_enter(guard_own(), THE_PLAN, 0);
        make_plan(planning);
        guard_leave(guard_own());
        guard_passed(guard_own(), THE_PLAN);
    } else {
        stop_planning(planning);
    }
    planning->took = clock_elapsed() - begin;
    if (planning->more)
        planning->due = begin;
    else if (planning->due < begin + SHARE_OF_TIME * planning->took)
        planning->due = begin + SHARE_OF_TIME * planning->took;
    return true;
}

bool planning_next(struct planning *planning, char id[static ID_SIZE])
{
    if (planning->handed == planning->handing_count)
        return false;
    memcpy(id, planning->handing[planning->handed++], ID_SIZE);
    struct cached_job *job = job_cache_find(planning->job_cache, id);
    if (job) {
        if (!job->over) /* else it is only told that it waits */
            overdue_take(planning->turns, job->record.uid, clock_elapsed());
        job_cache_doubt(job);
    }
    return true;
}

void planning_add_prediction(const struct planning *planning, const char *id, struct buffer *line)
{
    const struct cached_job *job = job_cache_find(planning->job_cache, id);
    if (!planning->on || !job || !job->readable || !job->known || job->predicted || job->next <= 0)
        return;
    int units = forecast_units(job, job->next);
    eventlog_start(line, clock_now(), "predicted");
    eventlog_add_number(line, "seconds", (int64_t)(forecast_seconds(job, units, false) + 0.5));
    eventlog_add_number(line, "late", (int64_t)(forecast_seconds(job, units, true) + 0.5));
    eventlog_end(line);
}
