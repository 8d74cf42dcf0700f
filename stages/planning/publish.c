/* stages/planning/publish.c - writes down what was decided: promises, requests, DIR/plan */
#include "spool/job.h"
#include "stages/planning/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/guard.h"
#include "stages/planning/resize_requests.h"
#include "stages/shared/resize.h"
#include "stages/stage.h"

static int open_job(const struct planning *planning, const struct cached_job *job,
                    struct job_place *place)
{
    *place = (struct job_place){.state = job->state};
    memcpy(place->id, job_cache_id(job), strlen(job_cache_id(job)) + 1);
    return job_open(&planning->stage->spool, place);
}

/* ---- promises ---- */

/* True when something was written. */
static bool write_promise(struct planning *planning, struct cached_job *job)
{
    struct job_place place;
    struct buffer line = {0};
    struct error error;
    char time[CLOCK_TEXT_SIZE];
    int directory = open_job(planning, job, &place);
    if (directory < 0)
        return false;
    eventlog_start(&line, planning->now, "promised");
    eventlog_add_string(&line, "deadline", clock_format(job->record.deadline, time));
    int64_t finish = forecast_finish(job, planning->now, true);
    if (finish)
        eventlog_add_string(&line, "finish", clock_format(finish, time));
    eventlog_end(&line);
    job->promised = eventlog_append(directory, buffer_text(&line), &error) == 0;
    if (!job->promised)
        log_warn("%s: %s", place.id, error.text);
    sys.close(directory);
    buffer_free(&line);
    return job->promised;
}

static bool is_promised_now(const struct cached_job *job)
{
    return job_cache_takes_part(job) && job->plan.firm && job->plan.promised && !job->promised;
}

/* ---- requests ---- */

/* Write a resize request.  It was decided for what the job cache knows of the job; if the job has changed size
 * since, its generation makes the request void (stages/shared/resize.h). */
static bool write_request(struct planning *planning, struct cached_job *job,
                          const struct resize_request *request)
{
    struct job_place place;
    struct error error;
    int directory = open_job(planning, job, &place);
    if (directory < 0)
        return false; /* it has just ended */
    job->resizing = resize_write(directory, &job->record, request, &error) == 0;
    if (job->resizing)
        log_detail("%s: %s", place.id, request->reason);
    else
        log_warn("%s: %s", place.id, error.text);
    sys.close(directory);
    return job->resizing;
}

/* May the job grow?  Only when the extra is free, that is when other jobs have made room. */
static bool may_grow(struct planning *planning, const struct cached_job *job)
{
    return planning_rows_let_grow(planning, job) && (job->next <= job->size || !planning->told ||
                                                     pools_take_growth(&planning->growable, job));
}

/* How much of each pool must be freed for jobs that start or grow by this plan. */
static int64_t *find_needs(struct arena *arena, const struct planning *planning,
                           const struct plan_file *lines)
{
    int64_t *needs = arena_allocate(arena, (lines->pool_count + 1) * sizeof(*needs));
    for (size_t i = 0; i < lines->pool_count; i++)
        needs[i] = lines->pools[i].used - lines->pools[i].capacity;
    for (size_t i = 0; i < planning->order_count; i++) {
        const struct cached_job *job = planning->order[i];
        if (!job_cache_takes_part(job) || job->next <= 0)
            continue;
        int more = forecast_units(job, job->next) - job->plan.size;
        needs[job->pool] += more > 0 ? more : 0;
    }
    return needs;
}

/* Mark the running jobs whose capacity is needed, those first that come last in the order of
 * submission: no job is shrunk or stopped for capacity that would stay idle. */
static bool *mark_needed(struct arena *arena, const struct planning *planning,
                         const struct plan_file *lines)
{
    int64_t *needs = find_needs(arena, planning, lines);
    bool *needed = arena_allocate(arena, planning->order_count + 1);
    for (size_t i = planning->order_count; i-- > 0;) {
        const struct cached_job *job = planning->order[i];
        if (!job_cache_takes_part(job) || job->state != STATE_SUBMITTED || job->next >= job->size ||
            needs[job->pool] <= 0)
            continue;
        needed[i] = true;
        needs[job->pool] -= job->plan.size - (job->next ? forecast_units(job, job->next) : 0);
    }
    return needed;
}

/* Write what must be told to one job.  True when there was anything; *to_notify: the track stage
 * must be notified of it. */
static bool write_job(struct planning *planning, struct cached_job *job, bool needed,
                      bool *to_notify)
{
    struct resize_request request;
    struct guard_before before;
    int64_t tick = planning->stage->settings.planner_tick;
    if (!guard_begin(guard_own(), job_cache_id(job), &before))
        return false;
    bool written = is_promised_now(job) && write_promise(planning, job);
    if (job_cache_takes_part(job) && job->state == STATE_SUBMITTED &&
        resize_request_for(job, planning->now, clock_elapsed(), tick, &request) &&
        (request.to < request.from ? needed : may_grow(planning, job)))
        *to_notify = write_request(planning, job, &request);
    guard_return(guard_own(), &before);
    return written || *to_notify;
}

static size_t write_all(struct planning *planning, const bool *needed, bool *to_notify)
{
    size_t written = 0;
    for (size_t i = 0; i < planning->order_count; i++)
        written += write_job(planning, planning->order[i], needed[i], &to_notify[i]);
    return written;
}

static void notify_jobs(const struct planning *planning, const bool *to_notify)
{
    for (size_t i = 0; i < planning->order_count; i++) {
        struct job_place place = {.state = STATE_SUBMITTED};
        if (!to_notify[i])
            continue;
        memcpy(place.id, job_cache_id(planning->order[i]),
               strlen(job_cache_id(planning->order[i])) + 1);
        int job = job_open(&planning->stage->spool, &place);
        if (job < 0)
            continue;
        job_notify(&planning->stage->spool, &place, job);
        sys.close(job);
    }
}

/* ---- DIR/plan ---- */

/* Has its pool less capacity now than its smallest size takes?  Then others than dlspool's jobs hold it. */
static bool is_crowded_out(const struct cached_job *job, const struct plan_file *lines)
{
    int64_t capacity = lines->pools[job->pool].capacity;
    return job->state == STATE_RENDERED && capacity >= 0 && job->plan.levels[0].size > capacity;
}

static const char *deadline_status_of(const struct planning *planning, const struct cached_job *job,
                                      const struct plan_file *lines)
{
    static const char *const words[] = {[DEADLINE_BEST_EFFORT] = "best effort",
                                        [DEADLINE_ON_TRACK] = "on track",
                                        [DEADLINE_AT_RISK] = "at risk",
                                        [DEADLINE_CANNOT_MEET] = "cannot meet",
                                        [DEADLINE_LATE] = "late"};
    if (!job->record.deadline)
        return words[DEADLINE_BEST_EFFORT];
    if (planning->now >= job->record.deadline)
        return words[DEADLINE_LATE];
    if (forecast_is_trial(job))
        return words[job->known ? DEADLINE_CANNOT_MEET : DEADLINE_AT_RISK];
    if (job->over || is_crowded_out(job, lines))
        return words[DEADLINE_AT_RISK];
    return words[job->plan.deadline_status];
}

static const char *deadline_reason(const struct cached_job *job)
{
    if (forecast_is_trial(job))
        return job->known ? "similar jobs take longer than the time left; it is attempted anyway"
                          : "its run time is not known yet";
    if (job->plan.deadline_status == DEADLINE_CANNOT_MEET)
        return "even alone and at its largest size it would finish after its deadline";
    if (job->plan.over)
        return "its owner's deadlines claim more than planner.budget allows: other jobs go first";
    if (job->plan.deadline_status != DEADLINE_AT_RISK)
        return NULL;
    if (job->plan.kept && job->plan.size > 0)
        return job->resizing ? "it is being resized"
                             : "at its present size it would miss its deadline";
    if (job->promised)
        return "its deadline was guaranteed, and can no longer be met";
    return job->plan.firm ? "its firm deadline cannot be guaranteed: other jobs go first"
                          : "other jobs go first; it runs on spare capacity";
}

static struct text reason_of(struct arena *arena, const struct planning *planning,
                             const struct cached_job *job, const struct plan_file *lines)
{
    bool crowded = job_cache_takes_part(job) && is_crowded_out(job, lines);
    bool timed =
        job_cache_takes_part(job) && job->record.deadline && planning->now < job->record.deadline;
    bool told = timed && (!crowded || forecast_is_trial(job));
    const char *reason = told && !job->over ? deadline_reason(job) : NULL;
    bool waits = job->state == STATE_RENDERED;
    if (!waits)
        return text_of(reason);
    const char *wait = job->outgrown   ? "it requests more than the executor has in total"
                       : job->asked    ? "a request to kill or hold it is pending"
                       : job->intended ? "the executor is being asked whether it has the job"
                       : job->over ? "waiting for room under limits.rows, of which its why tells"
                       : job->next > 0 || crowded ? "waiting for resources"
                                                  : "waiting: other jobs go first";
    return reason ? arena_printf(arena, "%s; %s", reason, wait) : text_of(wait);
}

static void add_job(struct arena *arena, const struct planning *planning,
                    const struct cached_job *job, struct plan_file *lines)
{
    struct planned_job *line = &lines->jobs[lines->job_count++];
    bool counts = job_cache_takes_part(job);
    *line = (struct planned_job){
        .pool = counts ? lines->pools[job->pool].name : TEXT(""),
        .deadline_status = counts ? text_of(deadline_status_of(planning, job, lines)) : TEXT(""),
        .finish = counts ? forecast_finish(job, planning->now, false) : 0,
        .late = counts ? forecast_finish(job, planning->now, true) : 0,
        .deadline = job->record.deadline,
        .kind = job->record.sizes.kind,
        .size = job->state == STATE_SUBMITTED ? job->size : 0,
        .next = counts ? job->next : 0,
        .amount = counts && job->next > 0 ? forecast_units(job, job->next) : 0,
        .reason = reason_of(arena, planning, job, lines),
    };
    memcpy(line->id, job_cache_id(job), strlen(job_cache_id(job)) + 1);
}

void planning_publish(struct planning *planning, struct arena *arena, struct plan_file *lines)
{
    struct stage *stage = planning->stage;
    struct error error;
    bool *to_notify = arena_allocate(arena, planning->order_count + 1);
    if (stage_is_fenced(stage))
        return;
    if (write_all(planning, mark_needed(arena, planning, lines), to_notify)) {
        if (spool_sync(&stage->spool, &error))
            log_warn("%s", error.text);
        notify_jobs(planning, to_notify);
    }
    lines->jobs = arena_allocate(arena, (planning->order_count + 1) * sizeof(*lines->jobs));
    for (size_t i = 0; i < planning->order_count; i++)
        if (planning->order[i]->readable)
            add_job(arena, planning, planning->order[i], lines);
    if (plan_file_write(&stage->spool, lines, &error))
        log_warn("%s", error.text);
}
