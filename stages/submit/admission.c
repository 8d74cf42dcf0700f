/* stages/submit/admission.c - whether a job may start under the rows of limits.rows, or waits
 *
 * What is at the executor is counted from submitted/ (stages/shared/use.h), before each batch; a job counts from when
 * it is admitted.  What the executor may have already is admitted in any case: it runs, whatever the rows say.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/log.h"
#include "stages/shared/use_explain.h"
#include "stages/submit/inside.h"

/* Does any row limit what runs? */
static bool is_needed(const struct job_limits *limits)
{
    for (size_t i = 0; i < limits->row_count; i++) {
        const struct limit_row *row = &limits->rows[i];
        if (row->running >= 0 || row->cpus >= 0 || row->memory >= 0 || row->gpus >= 0 ||
            row->gpu_time >= 0 || row->preempts)
            return true;
    }
    return false;
}

void admission_open(struct submitter *submitter)
{
    const struct job_limits *limits = &submitter->stage.settings.limits;
    if (!is_needed(limits))
        return;
    submitter->use =
        use_new(&submitter->stage.spool, limits->rows, limits->row_count, 1u << STATE_SUBMITTED);
    use_count_gpu_time(submitter->use);
    if (submitter->load)
        use_look_together(submitter->use, load_see_job, submitter->load);
    submitter->reclaims = reclaim_is_needed(limits);
    submitter->parked = parked_new();
    submitter->woken = names_new(SIZE_MAX, 0);
}

void admission_close(struct submitter *submitter)
{
    names_free(submitter->hypothetical);
    names_free(submitter->woken);
    use_free(submitter->use);
    parked_free(submitter->parked);
}

/* Its `why` goes when it starts, or is written anew when another row keeps it; only when neither has happened by the
 * next batch is it taken away. */
static void note_woken(void *context, const char *id)
{
    struct submitter *submitter = context;
    if (!names_find(submitter->woken, text_of(id)))
        names_add(submitter->woken, text_of(id));
    planning_note_job(submitter->planning, NULL);
}

static bool is_in_rendered(void *context, const char *id)
{
    const struct submitter *submitter = context;
    struct stat status;
    return !sys.fstatat(submitter->stage.spool.states[STATE_RENDERED], id, &status,
                        AT_SYMLINK_NOFOLLOW) ||
           errno != ENOENT;
}

static void stop_explaining(struct submitter *submitter)
{
    void *id;
    while ((id = names_first(submitter->woken))) {
        if (!parked_has(submitter->parked, names_text(id).data))
            waits_retract(submitter->waits, names_text(id).data);
        names_remove(submitter->woken, id);
    }
}

int admission_begin(struct submitter *submitter)
{
    struct error error;
    submitter->newly_parked = 0;
    if (submitter->is_paused)
        queue_ripen(submitter->queue);
    if (!submitter->use)
        return 0;
    if (submitter->load)
        load_begin(submitter->load);
    if (use_look(submitter->use, &error) ||
        (submitter->load && load_end(submitter->load, &error))) {
        submit_note_uncounted(submitter, &error);
        return -1;
    }
    stop_explaining(submitter);
    const struct parked_waker waker = {is_in_rendered, note_woken, submitter};
    parked_wake(submitter->parked, submitter->use, submitter->queue, &waker);
    reclaim_jobs(submitter);
    return 0;
}

bool admission_is_parked(const struct submitter *submitter, const char *id)
{
    return submitter->parked && parked_has(submitter->parked, id);
}

struct newcomer {
    struct submitter *submitter;
    struct queue_job job;
};

static bool is_kept_back(void *context, struct use_over *over)
{
    const struct newcomer *newcomer = context;
    struct use_amounts room = use_room(newcomer->submitter->use, over);
    return parked_keeps_back(newcomer->submitter->parked, over->key, &room, &newcomer->job);
}

/* Would it take what others wait for that came before it? */
static bool stands_behind(struct submitter *submitter, const struct item *item,
                          struct use_over *over)
{
    struct newcomer newcomer = {submitter, submit_queue_job(submitter, item)};
    return parked_count(submitter->parked) && !parked_has_turn(submitter->parked, item->place.id) &&
           use_find_row(submitter->use, &item->record, is_kept_back, &newcomer, over);
}

static bool is_claimed(void *context, struct use_over *over)
{
    const struct newcomer *newcomer = context;
    return parked_leaves_none(newcomer->submitter->parked, newcomer->submitter->use, over->row,
                              &newcomer->job);
}

/* Would it borrow what queues claim that it belongs to? */
static bool borrows_claimed(struct submitter *submitter, const struct item *item,
                            struct use_over *over)
{
    struct newcomer newcomer = {submitter, submit_queue_job(submitter, item)};
    return use_find_row(submitter->use, &item->record, is_claimed, &newcomer, over);
}

static void park(struct submitter *submitter, struct item *item, const struct use_over *over,
                 const struct error *reason)
{
    struct error error;
    if (!stage_is_fenced(&submitter->stage) &&
        waits_explain(item->job, WAITING_LIMIT, reason->text, &error))
        log_warn("%s: %s", item->place.id, error.text);
    waits_leave(submitter->waits, item->place.id);
    const struct queue_job job = submit_queue_job(submitter, item);
    parked_add(submitter->parked, over, &job);
    submitter->newly_parked++;
    handover_close(item);
    guard_leave(submitter->guard);
}

/* Does a row keep it from starting now?  Then it is 1, and `reason` says so; -1: not known now. */
static int has_to_wait(struct submitter *submitter, const struct item *item, struct use_over *over,
                       struct error *reason)
{
    if (use_has(submitter->use, item->place.id))
        return 0;
    if (use_exceeds_running(submitter->use, &item->record, over))
        use_explain(over, &item->record, USE_RUNNING, reason);
    else if (stands_behind(submitter, item, over))
        use_explain_line(over, &item->record, reason);
    else if (borrows_claimed(submitter, item, over))
        use_explain_claims(over, &item->record, reason);
    else
        return 0;
    int unsettled = handover_is_unsettled(item->job, item->place.id);
    return unsettled < 0 ? -1 : !unsettled;
}

/* ---- what the planner is told ---- */

static bool begin_plan(void *context)
{
    struct submitter *submitter = context;
    struct error error;
    return use_look(submitter->use, &error) ==
           0; /* else nothing is submitted, which is said then */
}

static void end_plan(void *context)
{
    struct submitter *submitter = context;
    void *id;
    while ((id = names_first(submitter->hypothetical))) {
        use_drop(submitter->use, names_text(id).data);
        names_remove(submitter->hypothetical, id);
    }
}

static bool allow_planned(void *context, const char *id, const struct job_record *record)
{
    struct submitter *submitter = context;
    struct use_over over;
    if (use_has(submitter->use, id))
        return !use_exceeds_instead(submitter->use, id, record);
    if (parked_has(submitter->parked, id))
        return false;
    struct item item = {.record = *record};
    snprintf(item.place.id, sizeof(item.place.id), "%s", id);
    return !use_exceeds_running(submitter->use, record, &over) &&
           !stands_behind(submitter, &item, &over) && !borrows_claimed(submitter, &item, &over);
}

static void count_planned(void *context, const char *id, const struct job_record *record)
{
    struct submitter *submitter = context;
    if (use_has(submitter->use, id) || !names_add(submitter->hypothetical, text_of(id)))
        return;
    use_add(submitter->use, id, record, USE_RUNNING, true);
}

static void grow_planned(void *context, const char *id, const struct job_record *record)
{
    struct submitter *submitter = context;
    use_add(submitter->use, id, record, USE_RUNNING, false);
}

static bool is_parked(void *context, const char *id)
{
    return admission_is_parked(context, id);
}

void admission_advise(struct submitter *submitter)
{
    if (!submitter->use)
        return;
    submitter->hypothetical = names_new(SIZE_MAX, 0);
    submitter->rows = (struct allowance){.begin = begin_plan,
                                         .end = end_plan,
                                         .allow = allow_planned,
                                         .count = count_planned,
                                         .grow = grow_planned,
                                         .is_told = is_parked,
                                         .context = submitter};
    planning_set_rows(submitter->planning, &submitter->rows);
}

/* ---- jobs that are submitted ---- */

bool admission_grant(struct submitter *submitter, struct item *item)
{
    struct use_over over;
    struct error reason;
    if (!submitter->use || item->fate != ITEM_SUBMIT)
        return true;
    int waits = has_to_wait(submitter, item, &over, &reason);
    if (waits < 0) {
        item->fate = ITEM_KEEP;
        return true;
    }
    if (waits) {
        park(submitter, item, &over, &reason);
        return false;
    }
    use_add(submitter->use, item->place.id, &item->record, USE_RUNNING, true);
    return true;
}

void admission_withdraw(struct submitter *submitter, const struct item *item)
{
    if (!submitter->use)
        return;
    use_drop(submitter->use, item->place.id);
    if (item->job < 0)
        parked_end_turn(submitter->parked, item->place.id);
    else
        parked_note_turn(submitter->parked, item->place.id);
}

void admission_end(struct submitter *submitter, const struct item *item)
{
    if (!submitter->use || item->fate == ITEM_KEEP)
        return;
    if (item->fate == ITEM_DECLINED)
        parked_note_turn(submitter->parked, item->place.id);
    else
        parked_end_turn(submitter->parked, item->place.id);
    if (item->fate == ITEM_SUBMIT)
        use_settle(submitter->use, item->place.id);
    else
        use_drop(submitter->use, item->place.id);
}

void admission_look_for_pause(struct submitter *submitter, bool seen)
{
    bool was = submitter->is_paused;
    if (!seen && !was)
        return;
    submitter->is_paused = pause_read(&submitter->stage.spool, &submitter->pause);
    if (was != submitter->is_paused)
        log_say("%s", submitter->is_paused ? "the spool is paused: nothing is submitted"
                                           : "the spool goes on");
}

bool admission_is_shut(const struct submitter *submitter)
{
    const struct queue_job *first = submitter->is_paused ? queue_first(submitter->queue) : NULL;
    if (submitter->is_paused && !(first && first->unsettled))
        return true;
    return submitter->newly_parked >= submitter->item_count;
}
