/* stages/resubmit/held_pass.c - decides about the jobs of held/: is their wait over? */
#include "base/duration.h"
#include "stages/resubmit/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "request/after.h"
#include "stages/resubmit/held_parts.h"

enum { MOST_HELD = 1 << 20 }; /* jobs */

struct text held_id(const struct held *held)
{
    return names_text(held);
}

struct held_jobs *held_jobs_new(const struct spool *spool, const struct settings *settings)
{
    struct held_jobs *jobs = memory_allocate(sizeof(*jobs));
    *jobs = (struct held_jobs){
        .spool = spool,
        .settings = settings,
        .jobs = names_new(MOST_HELD, sizeof(struct held)),
        .holders = names_new(SIZE_MAX, sizeof(struct control_request)),
        .dependencies = dependencies_new(spool, settings->scan_interval),
        .arena = arena_new(),
    };
    return jobs;
}

void held_jobs_free(struct held_jobs *jobs)
{
    if (!jobs)
        return;
    for (struct held *held = names_first(jobs->jobs); held; held = names_after(held))
        held_look_forget(jobs, held);
    names_free(jobs->jobs);
    names_free(jobs->holders);
    watch_close(jobs->watch);
    moves_close(jobs->departures);
    moves_close(jobs->arrivals);
    held_unheard_clear(jobs);
    dependencies_free(jobs->dependencies);
    arena_free(jobs->arena);
    free(jobs->by_age);
    free(jobs);
}

int held_jobs_watch(struct held_jobs *jobs, const struct watch_settings *settings,
                    struct error *error)
{
    jobs->watch = watch_open(jobs->spool->states[STATE_HELD], "held", settings, error);
    return jobs->watch ? 0 : -1;
}

void held_pass_decide(struct held *held, enum held_decision decision, const char *format, ...)
{
    struct buffer sentence = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&sentence, format, arguments);
    va_end(arguments);
    free(held->sentence);
    held->sentence = sentence.data;
    held->decision = decision;
}

bool held_pass_waits_for_jobs(const struct held *held)
{
    return held->readable && held->decision == HELD_WAITS && !held->kill && !held->released;
}

static void mark_hopeless(struct held *held, const struct held_condition *condition,
                          const struct dependency_status *dependency)
{
    const char *id = held_job_id(condition).data, *word = hold_wanted(condition->condition);
    if (dependency->kind == DEPENDENCY_GONE)
        held_pass_decide(held, HELD_LOST,
                         "The job waited for %s (%s), which is no longer in the spool.", id, word);
    else if (dependency->kind == DEPENDENCY_DONE)
        held_pass_decide(held, HELD_LOST, "The job waited for %s (%s), which has succeeded.", id,
                         word);
    else
        held_pass_decide(held, HELD_LOST,
                         "The job waited for %s (%s), which has failed permanently: %s.", id, word,
                         dependency->reason);
}

/* Is the condition met?  If not, *possible says whether it still can be. */
static bool condition_holds(struct held_jobs *jobs, struct held_condition *condition,
                            enum dependency_state kind, bool *possible)
{
    *possible = true;
    if (condition->condition == AFTER_SINGLETON)
        return condition->none_left;
    switch (kind) {
    case DEPENDENCY_DONE:
        *possible = condition->condition != AFTER_NOT_OK;
        return *possible;
    case DEPENDENCY_LOST:
        *possible = condition->condition != AFTER_OK;
        return *possible;
    case DEPENDENCY_GONE:
        *possible = false;
        return false;
    default:
        return condition->condition == AFTER_BEGUN &&
               dependency_has_begun(jobs->dependencies, &condition->waits);
    }
}

static void look_again_at(struct held_jobs *jobs, int64_t time)
{
    if (!jobs->soonest || time < jobs->soonest)
        jobs->soonest = time;
}

/* Decide whether a held job goes on, waits, or can never go on.  A kill decides first, then damage, then a refusal,
 * then the jobs that it waits for, then whether somebody holds it, or it waits for an approval. */
static void decide_about(struct held_jobs *jobs, struct held *held, int64_t now)
{
    size_t waits_for = 0;
    if (held->kill && held->decision != HELD_DAMAGED && held->readable) {
        held->decision = HELD_KILLED;
        return;
    }
    if (!held->readable || held->decision != HELD_WAITS)
        return;
    if (held->approval && held->approval->is_refused) {
        held->decision = HELD_NOT_APPROVED;
        return;
    }
    for (size_t i = 0; i < held->count && !held->released; i++) {
        struct held_condition *condition = &held->conditions[i];
        const struct dependency_status *dependency = NULL;
        bool possible = true;
        condition->holds = false;
        if (condition->waits.on) {
            dependency = dependency_of(jobs->dependencies, &condition->waits);
            condition->holds = condition_holds(jobs, condition, dependency->kind, &possible);
        } else if (condition->condition == AFTER_SINGLETON) {
            condition->holds = condition->none_left;
        } else if (now - held->since >= jobs->settings->after_unknown) {
            char patience[CLOCK_TEXT_SIZE];
            duration_format(jobs->settings->after_unknown, patience);
            held_pass_decide(
                held, HELD_LOST,
                "The job waited for a job of its owner that is called %s, and none was "
                "submitted within %s.",
                held_job_name(condition), patience);
            return;
        }
        if (!possible) {
            mark_hopeless(held, condition, dependency);
            return;
        }
        waits_for += !condition->holds;
        if (!condition->holds && condition->condition == AFTER_BEGUN)
            look_again_at(jobs, now + jobs->settings->scan_interval);
    }
    if (waits_for || held->hold || held->approval)
        return;
    if (held->begin <= now)
        held->decision = HELD_GOES_ON;
    else
        look_again_at(jobs, held->begin);
}

/* Decisions of the previous pass are made again, except that damage stays until the files are read again. */
static void begin_again(struct held *held)
{
    if (held->decision == HELD_DAMAGED)
        return;
    free(held->sentence);
    held->sentence = NULL;
    held->decision = HELD_WAITS;
}

void held_jobs_doubt(struct held_jobs *jobs, struct text id)
{
    dependencies_doubt(jobs->dependencies, id);
    held_unheard_note(jobs, id);
}

/* If it was in held/, it is looked for there again. */
static void doubt_departed(void *context, struct text id)
{
    struct held_jobs *jobs = context;
    struct held *held = names_find(jobs->jobs, id);
    held_jobs_doubt(jobs, id);
    if (!held)
        return;
    held->changed = (struct timespec){0};
    held_awake_add(jobs, held);
}

/* Hear which jobs have left a directory, while any is waited for.  False when any may have left untold: then they are
 * watched before they are looked at. */
static bool hear_departures(struct held_jobs *jobs)
{
    static const enum state states[] = {STATE_SUBMITTED, STATE_FAILED, STATE_HELD};
    int directories[ARRAY_COUNT(states)];
    bool any = dependencies_any(jobs->dependencies);
    if (any && jobs->departures && moves_collect(jobs->departures, doubt_departed, jobs))
        return true;
    moves_close(jobs->departures);
    jobs->departures = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(states); i++)
        directories[i] = jobs->spool->states[states[i]];
    if (any && jobs->watch)
        jobs->departures = moves_open(MOVES_OUT, directories, ARRAY_COUNT(states));
    return !any;
}

static void note_arrived(void *context, struct text id)
{
    held_unheard_note(context, id);
}

/* The same of those that come to rendered/, while names are waited for that no job has yet. */
static bool hear_arrivals(struct held_jobs *jobs)
{
    bool any = jobs->unheard.conditions > 0;
    if (!jobs->arrivals || (any && moves_collect(jobs->arrivals, note_arrived, jobs)))
        return true;
    moves_close(jobs->arrivals);
    jobs->arrivals = NULL;
    held_unheard_clear(jobs);
    return !any;
}

int held_jobs_decide(struct held_jobs *jobs, int64_t now, struct error *error)
{
    jobs->pass++;
    jobs->count = 0;
    bool heard = hear_departures(jobs);
    heard = hear_arrivals(jobs) && heard;
    int met = held_look(jobs, error);
    if (met < 0)
        return -1;
    held_awake_call(jobs, met > 0 || !heard || !watch_hears_all(jobs->watch), now);
    held_awake_sort(jobs);
    jobs->count = jobs->kept;
    jobs->soonest = jobs->next_time;
    for (size_t i = 0; i < jobs->count; i++)
        begin_again(jobs->by_age[i]);
    if (held_names_find(jobs, error)) {
        jobs->count = 0;
        return -1;
    }
    held_awake_follow(jobs);
    held_awake_sort(jobs);
    jobs->count = jobs->kept;
    held_cycles_refuse(jobs);
    for (size_t i = 0; i < jobs->count; i++)
        decide_about(jobs, jobs->by_age[i], now);
    return 0;
}

/* A view of a text that the job keeps. */
static struct buffer words_of(char *text)
{
    return (struct buffer){.data = text, .length = text ? strlen(text) : 0};
}

void held_explain(const struct held_jobs *jobs, const struct held *held, struct buffer *why)
{
    struct hold_reason *reasons = memory_allocate((held->count + 1) * sizeof(*reasons));
    struct awaited *awaited = memory_allocate((held->count + 1) * sizeof(*awaited));
    struct hold_view view = {
        .id = held_id(held).data,
        .request = held->hold,
        .tasks = text_of(held->tasks ? held->tasks : ""),
        .by_owner = held->hold && held->hold->uid == held->uid,
        .reasons = reasons,
        .patience_ends = held->since + jobs->settings->after_unknown,
    };
    struct approval_words words;
    if (held->approval) {
        words = (struct approval_words){.sentence = words_of(held->approval->sentence),
                                        .detail = words_of(held->approval->detail),
                                        .next = words_of(held->approval->next)};
        view.approval = &words;
    }
    if (held->begin > clock_now())
        view.begin = held->begin;
    for (size_t i = 0; i < held->count && !held->released; i++) {
        const struct held_condition *condition = &held->conditions[i];
        const struct dependency_status *dependency =
            condition->waits.on ? dependency_of(jobs->dependencies, &condition->waits) : NULL;
        awaited[i] =
            (struct awaited){.job = text_of(held_job_name(condition)),
                             .condition = text_of(after_condition_name(condition->condition)),
                             .id = held_job_id(condition)};
        if (!condition->holds)
            reasons[view.count++] = (struct hold_reason){
                .awaited = &awaited[i],
                .dependency = dependency ? dependency->kind : DEPENDENCY_UNSURE,
                .reason = dependency ? dependency->reason : "",
            };
    }
    hold_explain(why, &view);
    free(reasons);
    free(awaited);
}
