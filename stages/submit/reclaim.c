/* stages/submit/reclaim.c - has running jobs stopped for those that wait for what is theirs
 *
 * A queue whose own GPUs others have borrowed takes them back, and a queue with `preempt: lower` gives to jobs of
 * higher priority what those of lower have.  It is asked for by the file that says a job must stop
 * (stages/shared/resize.h), which the track stage grants: the job is told to save its state, has its grace, and
 * comes back to rendered/ as Preempted.  What is asked for is in that file, so after a crash it is not asked twice.
 */
#include "stages/submit/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/shared/resize.h"
#include "stages/submit/victims.h"

/* Milliseconds between two looks at the jobs that run; at most a tenth of the time is spent so. */
static const int64_t least_apart = 500, share_of_time = 10;

struct reclaiming {
    struct submitter *submitter;
    struct arena *arena;
    struct victims victims;
    bool read; /* the victims are known */
    bool written;
};

static bool know_victims(struct reclaiming *reclaiming)
{
    struct stage *stage = &reclaiming->submitter->stage;
    struct error error;
    const struct victims_terms terms = {
        &stage->spool, &stage->settings.limits, clock_now(),
        reclaiming->submitter->executor->operations->of_this_machine};
    if (!reclaiming->read &&
        victims_read(&terms, reclaiming->arena, &reclaiming->victims, &error)) {
        log_warn("%s; nobody is stopped for others until this works", error.text);
        return false;
    }
    reclaiming->read = true;
    return true;
}

/* Ask for each that was chosen that it stops.  A job that has just ended stops for nobody. */
static void ask_chosen(struct reclaiming *reclaiming, const char *reason)
{
    struct submitter *submitter = reclaiming->submitter;
    for (size_t i = 0; i < reclaiming->victims.count; i++) {
        struct victim *victim = &reclaiming->victims.items[i];
        const struct job_record *record = victim->record;
        struct job_place place = {.state = STATE_SUBMITTED};
        struct error error;
        if (!victim->chosen || victim->stops)
            continue;
        snprintf(place.id, sizeof(place.id), "%s", victim->id);
        int job = job_open(&submitter->stage.spool, &place);
        if (job < 0)
            continue;
        struct resize_request request = {.generation = record->resizes + 1,
                                         .from = record->size_now ? record->size_now : record->size,
                                         .to = 0,
                                         .loses = !victim->saves,
                                         .when = clock_now()};
        snprintf(request.reason, sizeof(request.reason), "%s", reason);
        if (resize_write(job, record, &request, &error))
            log_warn("%s: %s", place.id, error.text);
        else
            log_say("%s: is to stop: %s", place.id, reason);
        reclaiming->written = victim->stops = true;
        sys.close(job);
    }
}

/* ---- queues take back what they have lent ---- */

static void reclaim_lent(struct reclaiming *reclaiming, const struct limit_row *row)
{
    struct submitter *submitter = reclaiming->submitter;
    struct use_cohort cohort = use_cohort(submitter->use, row);
    char reason[160];
    if (!cohort.count || cohort.rows[0] != row) /* once for all of them */
        return;
    parked_claim(submitter->parked, &cohort);
    if (!cohort_shortage(cohort.queues, cohort.count) || !know_victims(reclaiming))
        return;
    size_t which = 0;
    while (which + 1 < cohort.count && !cohort.queues[which].claim)
        which++;
    const struct queue_job *first = parked_first(submitter->parked, cohort.rows[which]);
    snprintf(reason, sizeof(reason),
             "queue %.40s takes back GPUs of its own that were borrowed%s%s",
             cohort.rows[which]->name.data, first ? ", for " : "", first ? first->id : "");
    victims_choose_borrowers(&reclaiming->victims, &cohort);
    ask_chosen(reclaiming, reason);
}

/* ---- higher priority in a queue ---- */

static int64_t lacks(int64_t wanted, int64_t room)
{
    return wanted > room ? wanted - room : 0;
}

/* The first of a line under the row of a queue that stops jobs for those of higher priority. */
static void preempt_lower(void *context, const struct use_over *over, const struct queue_job *first)
{
    struct reclaiming *reclaiming = context;
    struct submitter *submitter = reclaiming->submitter;
    const struct limit_row *row = over->row;
    char reason[160];
    if (!row->preempts)
        return;
    const struct use_cohort cohort = use_cohort(submitter->use, row);
    const struct cohort_queue *queue = &cohort.queues[cohort.which];
    if (cohort.count && queue->used + first->demand.gpus <= queue->own)
        return; /* it gets that back from those who borrow */
    const struct use_amounts room = use_room(submitter->use, over);
    const struct use_amounts needed = {.jobs = lacks(1, room.jobs),
                                       .cpus = lacks(first->demand.cpus, room.cpus),
                                       .memory = lacks(first->demand.memory, room.memory),
                                       .gpus = lacks(first->demand.gpus, room.gpus)};
    if (first->gpu_time > room.gpu_time || !know_victims(reclaiming))
        return;
    struct text name =
        limit_row_is_for_each(row) ? text_of(strchr(over->key.data, ':') + 1) : row->name;
    snprintf(reason, sizeof(reason), "%s has a higher priority in queue %.40s", first->id,
             name.data);
    victims_choose_lower(&reclaiming->victims, name, first->priority, row->gpu_type, needed);
    ask_chosen(reclaiming, reason);
}

/* Are jobs of its queue stopped for it, if they are of lower priority? */
static bool preempts(const struct submitter *submitter, const struct job_record *record)
{
    const struct job_limits *limits = &submitter->stage.settings.limits;
    for (size_t i = 0; i < limits->row_count; i++)
        if (limits->rows[i].preempts &&
            limit_row_holds_for(&limits->rows[i], record->uid, record->gid, record->queue,
                                record->gpu_type))
            return true;
    return false;
}

/* The first job for which this machine has no room, although its rows have: jobs of lower priority make some. */
static void preempt_for_first(struct reclaiming *reclaiming)
{
    struct submitter *submitter = reclaiming->submitter;
    const struct queue_job *first = &submitter->first;
    struct job_place place = {.state = STATE_RENDERED};
    struct job_record record;
    struct error error;
    char reason[160];
    if (!first->id[0] || !submitter->backfill || planning_is_on(submitter->planning) ||
        backfill_refresh(submitter->backfill, &error))
        return;
    snprintf(place.id, sizeof(place.id), "%s", first->id);
    int job = job_open(&submitter->stage.spool, &place);
    bool read = job >= 0 && !record_read(job, reclaiming->arena, &record, NULL);
    if (job >= 0)
        sys.close(job);
    if (!read || !preempts(submitter, &record) || !know_victims(reclaiming))
        return;
    const struct demand lacks = backfill_lacks(submitter->backfill, &first->demand);
    const struct use_amounts needed = {
        .cpus = lacks.cpus, .memory = lacks.memory, .gpus = lacks.gpus};
    snprintf(reason, sizeof(reason), "%s has a higher priority in queue %.40s", first->id,
             record.queue.data);
    victims_choose_lower(&reclaiming->victims, record.queue, record.priority, record.gpu_type,
                         needed);
    ask_chosen(reclaiming, reason);
}

static void notify_stopped(struct reclaiming *reclaiming)
{
    struct spool *spool = &reclaiming->submitter->stage.spool;
    for (size_t i = 0; i < reclaiming->victims.count; i++) {
        const struct victim *victim = &reclaiming->victims.items[i];
        struct job_place place = {.state = STATE_SUBMITTED};
        if (!victim->stops)
            continue;
        snprintf(place.id, sizeof(place.id), "%s", victim->id);
        int job = job_open(spool, &place);
        if (job < 0)
            continue;
        job_notify(spool, &place, job);
        sys.close(job);
    }
}

/* Does any row share GPUs, or stop jobs for others? */
bool reclaim_is_needed(const struct job_limits *limits)
{
    for (size_t i = 0; i < limits->row_count; i++)
        if (limit_row_shares(&limits->rows[i]) || limits->rows[i].preempts)
            return true;
    return false;
}

void reclaim_jobs(struct submitter *submitter)
{
    const struct job_limits *limits = &submitter->stage.settings.limits;
    struct reclaiming reclaiming = {.submitter = submitter};
    struct error error;
    int64_t begin = clock_elapsed();
    if (!submitter->reclaims || begin < submitter->reclaim_next || submitter->is_paused ||
        stage_is_fenced(&submitter->stage))
        return;
    submitter->reclaim_next = begin + least_apart;
    reclaiming.arena = arena_new();
    for (size_t i = 0; i < limits->row_count; i++)
        if (limit_row_shares(&limits->rows[i]))
            reclaim_lent(&reclaiming, &limits->rows[i]);
    parked_walk(submitter->parked, preempt_lower, &reclaiming);
    preempt_for_first(&reclaiming);
    if (reclaiming.written && spool_sync(&submitter->stage.spool, &error))
        log_warn("%s", error.text);
    notify_stopped(&reclaiming);
    int64_t took = clock_elapsed() - begin;
    if (submitter->reclaim_next < begin + share_of_time * took)
        submitter->reclaim_next = begin + share_of_time * took;
    free(reclaiming.victims.items);
    arena_free(reclaiming.arena);
}
