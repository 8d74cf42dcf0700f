/* stages/prepare/limits.c - holds a job to what its site allows */
#include "stages/prepare/limits.h"

#include <stdio.h>

#include "base/duration.h"
#include "request/notes.h"

static bool is_administrator(const struct limits *limits, uid_t uid)
{
    return settings_is_administrator(limits->settings, limits->spool, uid);
}

static struct priority_range range_of(const struct limits *limits, uid_t uid)
{
    return is_administrator(limits, uid) ? limits->settings->limits.administrators
                                         : limits->settings->limits.users;
}

static int nearest_in(struct priority_range range, int priority)
{
    return priority < range.least ? range.least : priority > range.most ? range.most : priority;
}

static int refuse_priority(const struct limits *limits, uid_t uid, int priority,
                           struct error *error)
{
    const struct priority_range *most = &limits->settings->limits.administrators;
    struct priority_range range = range_of(limits, uid);
    bool administrator = is_administrator(limits, uid);
    char others[80] = "";
    if (!administrator && nearest_in(*most, priority) == priority)
        snprintf(others, sizeof(others), "; an administrator's job may have %d to %d", most->least,
                 most->most);
    return error_set(
        error,
        "priority: found %d, expected a whole number from %d to %d%s (limits.priority.%s "
        "of dlspool.yaml, which an administrator can change)",
        priority, range.least, range.most, others, administrator ? "administrators" : "users");
}

static int check_time(const struct limits *limits, const struct description *description,
                      struct error *error)
{
    char found[CLOCK_TEXT_SIZE], most[CLOCK_TEXT_SIZE];
    int64_t longest = limits->settings->limits.time_limit;
    if (!longest || description->time_limit <= longest)
        return 0;
    return error_set(error,
                     "time_limit: found %s, expected at most %s, the longest that this site allows "
                     "(limits.time_limit of dlspool.yaml, which an administrator can change)",
                     duration_format(description->time_limit, found),
                     duration_format(longest, most));
}

static bool is_moved(const struct limits *limits, const struct description *description)
{
    return limits->again || description->foreign;
}

int limits_check(const struct limits *limits, uid_t uid, const struct description *description,
                 struct error *error)
{
    int priority = description->priority;
    if (!is_moved(limits, description) && nearest_in(range_of(limits, uid), priority) != priority)
        return refuse_priority(limits, uid, priority, error);
    return check_time(limits, description, error);
}

/* The time_limit of a job that names none. */
static int64_t usual_time(const struct limits *limits, struct repository *repository,
                          const struct description *description)
{
    struct error unread;
    int64_t longest = limits->settings->limits.time_limit;
    if (!longest || !text_is(description->type, "notebook") || !repository_commit(repository))
        return longest;
    const struct value *site = repository_site(repository, &unread);
    double seconds = site ? value_get_number(site, "notebook_time", 0) : 0;
    return seconds > 0 && seconds * 1000 < (double)longest ? (int64_t)(seconds * 1000) : longest;
}

enum prepare_result limits_hold(struct arena *arena, const struct limits *limits,
                                struct repository *repository, struct job_record *record,
                                struct preparation *preparation)
{
    struct description *description = preparation->description;
    if (limits_check(limits, record->uid, description, &preparation->error)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        return PREPARE_NOT_RENDERED;
    }
    struct priority_range range = range_of(limits, record->uid);
    int priority = nearest_in(range, description->priority);
    if (priority != description->priority)
        request_notes_add(
            arena, &preparation->notes, "priority",
            "taken as %d: this site allows %d to %d (limits.priority of dlspool.yaml)", priority,
            range.least, range.most);
    description->priority = record->priority = priority;
    if (!description->time_limit)
        description->time_limit = usual_time(limits, repository, description);
    record->time_limit = description->time_limit;
    return PREPARED;
}

void limits_keep(const struct job_record *before, struct job_record *record,
                 struct description *description)
{
    description->priority = record->priority = before->priority;
    description->time_limit = record->time_limit = before->time_limit;
}
