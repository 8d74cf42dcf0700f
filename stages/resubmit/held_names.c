/* stages/resubmit/held_names.c - which jobs are meant by what the jobs of held/ wait for */
#include <stdlib.h>
#include <string.h>

#include "stages/resubmit/held_parts.h"
#include "stages/resubmit/named_jobs.h"

static const int64_t a_day = (int64_t)24 * 60 * 60 * 1000; /* milliseconds */

struct questions { /* names that are looked for */
    struct named_job *named;
    struct held_condition **conditions;
    struct held **askers;
    size_t count, capacity;
    int64_t since;
};

static void found_id(struct held_condition *condition, struct text id)
{
    memcpy(condition->id, id.data, id.length);
    condition->id[id.length] = '\0';
    condition->awaited.id = text_of(condition->id);
    condition->found = true;
}

static void ask_for_name(struct questions *questions, struct held *held,
                         struct held_condition *condition)
{
    if (questions->count == questions->capacity) {
        size_t capacity = questions->capacity = questions->capacity ? questions->capacity * 2 : 64;
        questions->named = memory_resize(questions->named, capacity * sizeof(*questions->named));
        questions->conditions =
            memory_resize(questions->conditions, capacity * sizeof(struct held_condition *));
        questions->askers = memory_resize(questions->askers, capacity * sizeof(struct held *));
    }
    questions->named[questions->count] =
        (struct named_job){.name = condition->awaited.job, .uid = held->uid, .id = held_id(held)};
    questions->conditions[questions->count] = condition;
    questions->askers[questions->count++] = held;
    /* Whoever came to the spool since it was looked through ended since. */
    int64_t since = held->looked_for ? held->accepted - a_day : 0;
    if (questions->count == 1 || since < questions->since)
        questions->since = since;
}

/* What can be an id, and is one of this spool, is one; anything else is a name. */
static void ask(struct held_jobs *jobs, struct questions *questions, struct held *held)
{
    for (size_t i = 0; i < held->count; i++) {
        struct held_condition *condition = &held->conditions[i];
        struct text word = condition->awaited.job;
        if (condition->awaited.id.length)
            continue;
        enum dependency_state kind =
            id_valid(word) ? dependency_find(jobs->dependencies, word)->kind : DEPENDENCY_GONE;
        if (kind == DEPENDENCY_GONE)
            ask_for_name(questions, held, condition);
        else if (kind != DEPENDENCY_UNSURE)
            found_id(condition, word);
    }
}

static void take_answer(struct held *held, struct held_condition *condition,
                        const struct named_job *named_job)
{
    struct text found = text_of(named_job->found);
    bool own_name = text_is(named_job->name, held->name);
    /* Of its own name it can only mean one that was there before. */
    if (found.length && !(own_name && text_compare(id_token(found), id_token(named_job->id)) > 0))
        found_id(condition, found);
    else if (own_name)
        held_decide(
            held, HELD_REFUSED,
            "The job waits for %s, which is its own name, and its owner has no earlier job of "
            "that name.",
            held->name);
    else if (id_valid(named_job->name))
        held_decide(held, HELD_REFUSED, "The job waits for %.*s, which is not in the spool.",
                    (int)named_job->name.length, named_job->name.data);
}

int held_find_meant(struct held_jobs *jobs, struct error *error)
{
    struct questions questions = {0};
    int result = 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (held_waits_for_jobs(jobs->by_age[i]))
            ask(jobs, &questions, jobs->by_age[i]);
    if (questions.count)
        result =
            named_jobs_find(jobs->spool, questions.named, questions.count, questions.since, error);
    for (size_t i = 0; i < questions.count && !result; i++) {
        take_answer(questions.askers[i], questions.conditions[i], &questions.named[i]);
        questions.askers[i]->looked_for = true;
    }
    free(questions.named);
    free(questions.conditions);
    free(questions.askers);
    return result;
}
