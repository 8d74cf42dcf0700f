/* client/usage_filter.c - selects attempts of the accounts by owner, end and state */
#include "client/usage_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "client/job_filter.h"

static const int64_t usual_days = 30;

static const struct {
    const char *reason, *state;
} states[] = {
    {"Killed", "CANCELLED"},        {"Cancelled", "CANCELLED"}, {"TimeLimit", "TIMEOUT"},
    {"OOMKilled", "OUT_OF_MEMORY"}, {"NodeLost", "NODE_FAIL"},  {"Vanished", "NODE_FAIL"},
    {"Preempted", "PREEMPTED"},     {"Resized", "PREEMPTED"},   {"Evicted", "PREEMPTED"},
    {"DeadlinePassed", "DEADLINE"}, {"Completed", "COMPLETED"}, {"TasksLeft", "COMPLETED"},
};

static const char *const words[] = {"COMPLETED", "FAILED",        "CANCELLED",
                                    "TIMEOUT",   "OUT_OF_MEMORY", "NODE_FAIL",
                                    "PREEMPTED", "DEADLINE",      NULL};

/* What sacct has besides: no attempt of dlspool's ends so. */
static const char *const others[] = {"BOOT_FAIL", "REVOKED",   "PENDING",  "RUNNING",
                                     "REQUEUED",  "SUSPENDED", "RESIZING", NULL};

const char *usage_filter_state(const struct usage *usage)
{
    if (text_is(usage->outcome, "succeeded"))
        return "COMPLETED";
    if (text_is(usage->outcome, "removed"))
        return "CANCELLED";
    for (size_t i = 0; i < ARRAY_COUNT(states); i++)
        if (text_is(usage->reason, states[i].reason))
            return states[i].state;
    return "FAILED";
}

static bool is_one_of(struct text word, const char *const *list)
{
    for (size_t i = 0; list[i]; i++)
        if (word.length == strlen(list[i]) && strncasecmp(word.data, list[i], word.length) == 0)
            return true;
    return false;
}

static int check_states(const char *given, struct error *error)
{
    struct text rest = text_of(given), word;
    while (rest.length && text_next(&rest, ',', &word)) {
        struct nearest_hint hint;
        if (is_one_of(word, words) || is_one_of(word, others))
            continue;
        return error_set(error,
                         "--state: found \"%.*s\", expected COMPLETED, FAILED, CANCELLED, TIMEOUT, "
                         "OUT_OF_MEMORY, NODE_FAIL, PREEMPTED or DEADLINE%s",
                         (int)word.length, word.data, nearest_hint(&hint, word, words));
    }
    return 0;
}

static int find_administrator(const struct spool *spool, bool *administrator, struct error *error)
{
    struct settings settings;
    *administrator = getuid() == 0 || getuid() == spool->owner;
    if (*administrator)
        return 0;
    if (settings_read(&settings, spool, error))
        return -1;
    *administrator = settings_is_administrator(&settings, spool, getuid());
    settings_free(&settings);
    return 0;
}

static int read_time(const char *option, const char *word, int64_t *time, struct error *error)
{
    return word ? job_filter_read_time(option, word, time, error) : 0;
}

int usage_filter_prepare(struct usage_filter *filter, const struct spool *spool,
                         struct error *error)
{
    bool administrator;
    filter->from = clock_now() - usual_days * CLOCK_DAY;
    filter->until = INT64_MAX;
    if ((filter->states && check_states(filter->states, error)) ||
        read_time("--starttime", filter->start, &filter->from, error) ||
        read_time("--endtime", filter->end, &filter->until, error) ||
        find_administrator(spool, &administrator, error))
        return -1;
    filter->own = !filter->all && !filter->users && !administrator;
    return 0;
}

static bool is_of_users(const struct usage *usage, const char *users)
{
    struct text rest = text_of(users), word;
    while (rest.length && text_next(&rest, ',', &word)) {
        char *end;
        unsigned long number = strtoul(word.data, &end, 10);
        if (text_equal(word, usage->user) ||
            (word.length && end == word.data + word.length && usage->uid == (int64_t)number))
            return true;
    }
    return false;
}

bool usage_filter_takes_at_any_time(const struct usage_filter *filter, const struct usage *usage)
{
    const char *state = usage_filter_state(usage);
    if (filter->own && usage->uid != (int64_t)getuid())
        return false;
    if (filter->users && !is_of_users(usage, filter->users))
        return false;
    if (!filter->states)
        return true;
    struct text rest = text_of(filter->states), word;
    while (rest.length && text_next(&rest, ',', &word))
        if (word.length == strlen(state) && strncasecmp(word.data, state, word.length) == 0)
            return true;
    return false;
}

bool usage_filter_takes(const struct usage_filter *filter, const struct usage *usage)
{
    return usage->ended >= filter->from && usage->ended < filter->until &&
           usage_filter_takes_at_any_time(filter, usage);
}

int64_t usage_filter_since(const struct usage_filter *filter)
{
    return filter->from - CLOCK_DAY;
}
