/* stages/resubmit/held_names.c - finds which jobs the jobs of held/ wait for */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "stages/resubmit/held_parts.h"
#include "stages/resubmit/named_jobs.h"

/* Names that are looked for at once.  With more the spool is walked again, so that memory stays bounded. */
enum { MOST_NAMES = 32768 };

struct questions {
    struct named_job *named;
    struct asker {
        struct held *held;
        struct held_condition *condition;
    } * askers; /* of each */
    size_t count, capacity;
    int64_t since;
};

static void ask_for_name(struct questions *questions, struct held *held,
                         struct held_condition *condition)
{
    size_t capacity = questions->capacity;
    questions->named =
        memory_grow(questions->named, questions->count, &capacity, sizeof(*questions->named));
    questions->askers = memory_grow(questions->askers, questions->count, &questions->capacity,
                                    sizeof(*questions->askers));
    questions->named[questions->count] =
        (struct named_job){.name = text_of(held_job_name(condition)),
                           .uid = held->uid,
                           .id = held_id(held),
                           .unended = condition->condition == AFTER_SINGLETON};
    questions->askers[questions->count++] = (struct asker){held, condition};
    /* A job that came since done/ was searched has ended since, too. */
    int64_t since = held->looked_for ? held->accepted - CLOCK_DAY : 0;
    if (questions->count == 1 || since < questions->since)
        questions->since = since;
}

/* A singleton waits for one earlier job after the other, until none is left. */
static bool awaits_other(struct held_jobs *jobs, struct held_condition *condition)
{
    if (!condition->waits.on)
        return false;
    enum dependency_state kind = dependency_of(jobs->dependencies, &condition->waits)->kind;
    return kind != DEPENDENCY_DONE && kind != DEPENDENCY_LOST && kind != DEPENDENCY_GONE;
}

/* A word that has the form of an id, and is the id of a job in this spool, is an id; anything else is a name. */
static void ask_about_names(struct held_jobs *jobs, struct questions *questions, struct held *held)
{
    for (size_t i = 0; i < held->count; i++) {
        struct held_condition *condition = &held->conditions[i];
        struct text word = text_of(held_job_name(condition));
        if (condition->condition == AFTER_SINGLETON) {
            if (awaits_other(jobs, condition))
                condition->none_left = false; /* it has come back */
            else
                ask_for_name(questions, held, condition);
            continue;
        }
        if (condition->waits.on)
            continue;
        enum dependency_state kind =
            id_valid(word) ? dependency_find(jobs->dependencies, word)->kind : DEPENDENCY_GONE;
        if (kind == DEPENDENCY_GONE)
            ask_for_name(questions, held, condition);
        else if (kind != DEPENDENCY_UNSURE)
            held_look_set_id(jobs, condition, word);
    }
}

/* Take what was found for a name; a job that waits for itself, or for an id that is not there, is refused. */
static void take_answer(struct held_jobs *jobs, struct held *held, struct held_condition *condition,
                        const struct named_job *named_job)
{
    struct text found = text_of(named_job->found);
    bool unheard = !found.length && !named_job->unsure && jobs->arrivals;
    held_unheard_set(jobs, condition, false);
    if (named_job->unended) {
        condition->none_left = !found.length;
        held_unheard_set(jobs, condition, unheard);
        if (found.length && !text_equal(found, held_job_id(condition)))
            held_look_set_id(jobs, condition, found);
        return;
    }
    const char *name = held_look_name(held);
    bool own_name = text_is(named_job->name, name);
    /* By its own name the job can only mean an earlier job. */
    if (found.length && !(own_name && text_compare(id_token(found), id_token(named_job->id)) > 0))
        held_look_set_id(jobs, condition, found);
    else if (own_name)
        held_pass_decide(
            held, HELD_REFUSED,
            "The job waits for %s, which is its own name, and its owner has no earlier job of "
            "that name.",
            name);
    else if (id_valid(named_job->name))
        held_pass_decide(held, HELD_REFUSED, "The job waits for %.*s, which is not in the spool.",
                         (int)named_job->name.length, named_job->name.data);
    else
        held_unheard_set(jobs, condition, unheard);
}

/* Hear which jobs come to rendered/ from before names are looked for, so that jobs whose names are not found can
 * rest. */
static void hear_from_now_on(struct held_jobs *jobs)
{
    const int rendered = jobs->spool->states[STATE_RENDERED];
    if (!jobs->arrivals && jobs->watch && watch_hears_all(jobs->watch))
        jobs->arrivals = moves_open(MOVES_IN, &rendered, 1);
}

/* Look for all names that are asked about, and begin with other questions. */
static int answer(struct held_jobs *jobs, struct questions *questions, struct error *error)
{
    if (questions->count)
        hear_from_now_on(jobs);
    if (questions->count &&
        named_jobs_find(jobs->spool, questions->named, questions->count, questions->since, error))
        return -1;
    for (size_t i = 0; i < questions->count; i++) {
        struct asker *asker = &questions->askers[i];
        take_answer(jobs, asker->held, asker->condition, &questions->named[i]);
        asker->held->looked_for = true;
    }
    questions->count = 0;
    return 0;
}

int held_names_find(struct held_jobs *jobs, struct error *error)
{
    struct questions questions = {0};
    int result = 0;
    for (size_t i = 0; i < jobs->count && !result; i++) {
        if (held_pass_waits_for_jobs(jobs->by_age[i]))
            ask_about_names(jobs, &questions, jobs->by_age[i]);
        if (questions.count >= MOST_NAMES)
            result = answer(jobs, &questions, error);
    }
    if (!result)
        result = answer(jobs, &questions, error);
    free(questions.named);
    free(questions.askers);
    return result;
}
