/* client/job_filter.c - selects jobs by --mine, --user, --name, --state and --since */
#include "client/job_filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/nearest.h"

/* "now", and where today or yesterday began in the zone of TZ. */
static bool read_word(const char *word, int64_t *time)
{
    bool yesterday = strcmp(word, "yesterday") == 0;
    int year, month, day;
    *time = clock_now();
    if (strcmp(word, "now") == 0)
        return true;
    if (!yesterday && strcmp(word, "today") != 0)
        return false;
    clock_local_day(*time, &year, &month, &day);
    clock_from_local(year, month, day, 0, time);
    if (yesterday) {
        clock_local_day(*time - 1, &year, &month, &day);
        clock_from_local(year, month, day, 0, time);
    }
    return true;
}

int job_filter_read_time(const char *option, const char *word, int64_t *time, struct error *error)
{
    struct tm tm = {.tm_isdst = -1};
    int64_t span;
    const char *end = NULL;
    if (read_word(word, time))
        return 0;
    if (duration_parse(text_of(word), &span) == 0) {
        *time = clock_now() - span;
        return 0;
    }
    if (clock_parse(text_of(word), time) == 0)
        return 0;
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
                                        "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
        tm = (struct tm){.tm_isdst = -1};
        end = strptime(word, forms[i], &tm);
        if (end && !*end)
            break;
    }
    if (!end || *end)
        return error_set(
            error,
            "%s: found \"%s\", expected a duration such as 90m or 2d, today, yesterday, or a "
            "date such as 2026-05-01 or \"2026-05-01 18:00\"",
            option, word);
    *time = (int64_t)mktime(&tm) * 1000;
    return 0;
}

int job_filter_prepare(struct job_filter *filter, struct error *error)
{
    if (filter->age && job_filter_read_time("--since", filter->age, &filter->since, error))
        return -1;
    if (!filter->state || job_state_select(filter->state, &filter->states))
        return 0;
    struct nearest_hint hint;
    return error_set(
        error,
        "--state: found \"%s\", expected waiting, queued, running, stopping, done, failed or "
        "held%s",
        filter->state, nearest_hint(&hint, text_of(filter->state), job_state_words));
}

bool job_filter_is_given(const struct job_filter *filter)
{
    return filter->mine || filter->user || filter->name || filter->state || filter->age;
}

static bool is_pattern(const char *name)
{
    return strpbrk(name, "*?[") != NULL;
}

bool job_filter_may_take(const struct job_filter *filter, const struct job_place *place)
{
    char id[ID_SIZE];
    size_t name = strlen(place->id) - TOKEN_LENGTH; /* with the dash */
    if (filter->state && !job_state_may_be_in(&filter->states, place->state))
        return false;
    if (filter->since && id_time(text_of(place->id)) < filter->since)
        return false;
    if (!filter->name || is_pattern(filter->name))
        return true;
    id_make(text_of(filter->name), id_token(text_of(place->id)).data, id);
    return strncmp(id, place->id, name) == 0;
}

void job_filter_begin(const struct job_filter *filter, char begin[static ID_SIZE])
{
    begin[0] = '\0';
    if (!filter->name || is_pattern(filter->name))
        return;
    id_make(text_of(filter->name), "0000000000000", begin);
    begin[strlen(begin) - TOKEN_LENGTH] = '\0'; /* with the dash */
}

static bool is_of_user(const struct job_record *record, const char *user)
{
    char *end;
    unsigned long number = strtoul(user, &end, 10);
    return text_is(record->owner, user) || (*user && !*end && record->uid == number);
}

static bool has_name(const struct job_view *view, const char *name)
{
    char own[256], of_id[ID_SIZE];
    snprintf(own, sizeof(own), "%.*s", (int)view->record.name.length,
             view->record.name.length ? view->record.name.data : "");
    snprintf(of_id, sizeof(of_id), "%.*s", (int)(strlen(view->place.id) - TOKEN_LENGTH - 1),
             view->place.id);
    return fnmatch(name, own[0] ? own : of_id, 0) == 0;
}

bool job_filter_takes(const struct job_filter *filter, const struct job_view *view)
{
    if (filter->mine && (!view->readable || view->record.uid != getuid()))
        return false;
    if (filter->user && (!view->readable || !is_of_user(&view->record, filter->user)))
        return false;
    if (filter->name && !has_name(view, filter->name))
        return false;
    return !filter->state ||
           job_state_is_selected(&filter->states, view->place.state, view->situation.state);
}
