/* stages/prepare/limits.c - holds a job to what its site allows */
#include "stages/prepare/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/duration.h"
#include "base/quantity.h"
#include "request/notes.h"
#include "stages/prepare/platform.h"
#include "stages/shared/approval.h"
#include "stages/shared/use.h"

enum { MOST_NUMBER = 1000000 }; /* beyond any priority */

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

static int refuse_class(const struct limits *limits, uid_t uid, gid_t gid, struct text name,
                        bool there, struct error *error)
{
    const struct priority_classes *classes = &limits->settings->priority_classes;
    struct error_quote_buffer quote;
    struct buffer names = {0};
    priority_class_list(classes, uid, gid, is_administrator(limits, uid), &names);
    const char *found = error_quote(&quote, name.data, name.length);
    if (names.length)
        error_set(error,
                  "priority: found %s%s, expected a whole number or one of %s (priority_classes of "
                  "dlspool.yaml, which an administrator can change)",
                  found, there ? ", which is for others" : "", names.data);
    else
        error_set(error,
                  "priority: found %s, expected a whole number from %d to %d: this site has no "
                  "classes of priority%s (priority_classes of dlspool.yaml)",
                  found, range_of(limits, uid).least, range_of(limits, uid).most,
                  there ? " for you" : "");
    buffer_free(&names);
    return -1;
}

static int check_number(const struct limits *limits, uid_t uid, int priority, struct error *error)
{
    return nearest_in(range_of(limits, uid), priority) == priority
               ? 0
               : refuse_priority(limits, uid, priority, error);
}

static int find_class(const struct limits *limits, uid_t uid, gid_t gid, struct text name,
                      int *priority, struct error *error)
{
    const struct priority_class *class =
        priority_class_find(&limits->settings->priority_classes, name);
    bool administrator = is_administrator(limits, uid);
    if (!class || (!administrator && !priority_class_is_for(class, uid, gid)))
        return refuse_class(limits, uid, gid, name, class != NULL, error);
    *priority = class->value;
    if (!administrator && priority_class_is_reserved(class))
        return 0; /* whoever gave it to them has decided */
    if (!check_number(limits, uid, class->value, error))
        return 0;
    error_prefix(error, "the class %s", class->name.data);
    return -1;
}

static bool is_moved(const struct limits *limits, const struct description *description)
{
    return limits->again || description->foreign;
}

/* What the job asks for as its priority: that of its class, of the default one, or its number.  -1 and a sentence. */
static int asked_priority(const struct limits *limits, uid_t uid, gid_t gid,
                          const struct description *description, int *priority,
                          struct text *class_name, struct error *error)
{
    const struct priority_class *otherwise =
        description->has_priority ? NULL
                                  : priority_class_otherwise(&limits->settings->priority_classes);
    struct text name = otherwise ? otherwise->name : description->priority_class;
    *priority = description->priority;
    *class_name = TEXT("");
    if (name.length && !find_class(limits, uid, gid, name, priority, error))
        *class_name = name;
    else if (name.length && !otherwise)
        return -1;
    return 0;
}

int limits_check(const struct limits *limits, uid_t uid, gid_t gid,
                 const struct description *description, struct error *error)
{
    int priority;
    struct text class;
    bool moved = is_moved(limits, description);
    if (asked_priority(limits, uid, gid, description, &priority, &class, error) && !moved)
        return -1;
    if (!moved && !class.length && check_number(limits, uid, priority, error))
        return -1;
    return check_time(limits, description, error);
}

/* Set the sentence that one job asks for more of this than a row lets all jobs together have; -1. */
static int refuse_amount(const struct limit_row *row, const char *field, const char *found,
                         const char *most, struct error *error)
{
    char which[LIMIT_ROW_TEXT_SIZE];
    return error_set(error, "%s: found %s, expected at most %s, as the %s %s may have no more (%s)",
                     field, found, most, limit_row_subject_name(row->subject),
                     limit_row_is_for_each(row) ? "of the job" : row->name.data,
                     limit_row_describe(row, which));
}

/* Could it use more GPU-hours than all jobs together may, before its time limit ends it? */
static int check_gpu_hours(const struct limit_row *row, const struct job_record *record,
                           struct error *error)
{
    char found[QUANTITY_TEXT_SIZE + 40], most[QUANTITY_TEXT_SIZE];
    int64_t needed = use_of(record).gpu_time;
    if (row->gpu_time < 0 || needed <= row->gpu_time || !record->time_limit)
        return 0;
    snprintf(found, sizeof(found), "%s GPU-hours until its time_limit",
             quantity_format_hours(needed, most));
    return refuse_amount(row, "gpus", found, quantity_format_hours(row->gpu_time, most), error);
}

int limits_check_row(const struct limit_row *row, const struct job_record *record,
                     struct error *error)
{
    char found[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    char time[CLOCK_TEXT_SIZE], longest[CLOCK_TEXT_SIZE];
    const int64_t times = record_at_once(record);
    const int64_t cpus = record->cpus * times, memory = record->memory * times;
    const int64_t gpus = record->gpus * times;
    if (row->cpus >= 0 && cpus > row->cpus)
        return refuse_amount(row, "cpus", quantity_format_cpus(cpus, found),
                             quantity_format_cpus(row->cpus, most), error);
    if (row->memory >= 0 && memory > row->memory)
        return refuse_amount(row, "memory", quantity_format_bytes(memory, found),
                             quantity_format_bytes(row->memory, most), error);
    snprintf(found, sizeof(found), "%" PRId64, gpus);
    snprintf(most, sizeof(most), "%" PRId64, limit_row_most_gpus(row));
    if (row->gpus >= 0 && gpus > limit_row_most_gpus(row))
        return refuse_amount(row, "gpus", found, most, error);
    if (row->time_limit >= 0 && record->time_limit > row->time_limit)
        return refuse_amount(row, "time_limit", duration_format(record->time_limit, time),
                             duration_format(row->time_limit, longest), error);
    return check_gpu_hours(row, record, error);
}

/* A queue may be for some alone: what is its own, and who is stopped for its jobs, goes by the name. */
static int check_queue(const struct limits *limits, const struct limit_row *row,
                       const struct job_record *record, struct error *error)
{
    char which[LIMIT_ROW_TEXT_SIZE];
    if (limit_row_is_open_to(row, record->uid, record->gid) ||
        is_administrator(limits, record->uid))
        return 0;
    return error_set(error, "queue: found %.*s, which is for others (%s)",
                     (int)record->queue.length, record->queue.data, limit_row_describe(row, which));
}

static int check_rows(const struct limits *limits, const struct job_record *record,
                      struct error *error)
{
    const struct job_limits *site = &limits->settings->limits;
    for (size_t i = 0; i < site->row_count; i++)
        if (limit_row_holds_for(&site->rows[i], record->uid, record->gid, record->queue,
                                record->gpu_type) &&
            check_queue(limits, &site->rows[i], record, error))
            return -1;
    for (size_t i = 0; i < site->row_count; i++)
        if (site->rows[i].over != LIMIT_APPROVE &&
            limit_row_holds_for(&site->rows[i], record->uid, record->gid, record->queue,
                                record->gpu_type) &&
            limits_check_row(&site->rows[i], record, error))
            return -1;
    return 0;
}

/* How many times that amount the limit allows. */
static int64_t times_within(int64_t most, int64_t amount, int64_t limit)
{
    return limit >= 0 && amount > 0 && limit / amount < most ? limit / amount : most;
}

/* How many tasks of an array at once are within the row, and at least one, which limits_check_row() judges. */
static int64_t at_once_within(int64_t most, const struct limit_row *row,
                              const struct job_record *record)
{
    most = times_within(most, record->cpus, row->cpus);
    most = times_within(most, record->memory, row->memory);
    most = times_within(most, record->gpus, row->gpus);
    return most > 0 ? most : 1;
}

static int64_t tasks_at_once(const struct array *array)
{
    return array->at_once && (size_t)array->at_once < array->count ? array->at_once
                                                                   : (int64_t)array->count;
}

/* An array has no more tasks at once than each row allows its owner, their group or its queue in all: it would
 * never start, or exceed the row.  For more than a row with `over: approve` allows an approval is asked instead. */
static void hold_array(struct arena *arena, const struct limits *limits, struct job_record *record,
                       struct description *description, struct notes *notes)
{
    const struct job_limits *site = &limits->settings->limits;
    const struct limit_row *strictest = NULL;
    char which[LIMIT_ROW_TEXT_SIZE];
    int64_t asked = tasks_at_once(&description->array), most = asked;
    for (size_t i = 0; i < site->row_count && most; i++) {
        const struct limit_row *row = &site->rows[i];
        if (row->over == LIMIT_APPROVE ||
            !limit_row_holds_for(row, record->uid, record->gid, record->queue, record->gpu_type))
            continue;
        int64_t within = at_once_within(most, row, record);
        strictest = within < most ? row : strictest;
        most = within;
    }
    record->array_at_once = (int)most;
    if (!strictest)
        return;
    description->array.at_once = (int)most;
    request_notes_add(arena, notes, "array",
                      "%d of its tasks at once, not %d: there may be no more (%s)", (int)most,
                      (int)asked, limit_row_describe(strictest, which));
}

/* Every privilege that it asks for must be one of the site's. */
static int take_privileges(struct arena *arena, const struct limits *limits,
                           struct job_record *record, struct description *description,
                           struct error *error)
{
    struct grant grant;
    if (approval_find_grant(arena, limits->settings, record, &grant, error))
        return -1;
    description->host_network = grant.host_network;
    record->host_network = grant.host_network;
    return 0;
}

/* The least of two times, of which one that is not positive is none. */
static int64_t least_time(int64_t a, int64_t b)
{
    return a <= 0 || (b > 0 && b < a) ? b : a;
}

/* The longest time_limit of a job like this; 0: there is none. */
static int64_t longest_time(const struct limits *limits, const struct job_record *record)
{
    const struct job_limits *site = &limits->settings->limits;
    int64_t longest = site->time_limit;
    for (size_t i = 0; i < site->row_count; i++)
        if (limit_row_holds_for(&site->rows[i], record->uid, record->gid, record->queue,
                                record->gpu_type))
            longest = least_time(longest, site->rows[i].time_limit);
    return longest > 0 ? longest : 0;
}

/* The time_limit that a job gets which names none. */
static int64_t usual_time(const struct limits *limits, struct repository *repository,
                          const struct job_record *record, const struct description *description)
{
    struct error unread;
    int64_t longest = longest_time(limits, record);
    if (!longest || !text_is(description->type, "notebook") || !repository_commit(repository))
        return longest;
    const struct value *site = repository_site(repository, &unread);
    double seconds = site ? value_get_number(site, "notebook_time", 0) : 0;
    return seconds > 0 && seconds * 1000 < (double)longest ? (int64_t)(seconds * 1000) : longest;
}

static void note_moved(struct arena *arena, const struct priority_range *range, int priority,
                       struct preparation *preparation)
{
    request_notes_add(arena, &preparation->notes, "priority",
                      "taken as %d: this site allows %d to %d (limits.priority of dlspool.yaml)",
                      priority, range->least, range->most);
}

/* Give the job the priority that it asks for, or the nearest that it may have. */
static void hold_priority(struct arena *arena, const struct limits *limits,
                          struct job_record *record, struct preparation *preparation)
{
    struct description *description = preparation->description;
    struct priority_range range = range_of(limits, record->uid);
    struct error refusal;
    int asked;
    struct text class;
    bool refused = asked_priority(limits, record->uid, record->gid, description, &asked, &class,
                                  &refusal) != 0;
    int priority = class.length ? asked : nearest_in(range, asked);
    if (priority != asked)
        note_moved(arena, &range, priority, preparation);
    else if (refused && !description->foreign)
        request_notes_add(arena, &preparation->notes, "priority", "taken as %d: %s", priority,
                          refusal.text);
    description->priority = record->priority = priority;
    record->priority_class = class;
    record->priority_from = TEXT("");
}

/* Somebody has set it: it is held to what that person may give. */
static void keep_priority(struct arena *arena, const struct limits *limits,
                          const struct job_record *before, struct job_record *record,
                          struct preparation *preparation)
{
    struct priority_range range = text_is(before->priority_from, "administrator")
                                      ? limits->settings->limits.administrators
                                      : range_of(limits, record->uid);
    const struct priority_class *class =
        priority_class_find(&limits->settings->priority_classes, before->priority_class);
    int priority = class ? class->value : nearest_in(range, before->priority);
    if (priority != before->priority && !class)
        note_moved(arena, &range, priority, preparation);
    preparation->description->priority = record->priority = priority;
    record->priority_class = class ? class->name : TEXT("");
    record->priority_from = before->priority_from;
}

static enum prepare_result hold_time(struct arena *arena, const struct limits *limits,
                                     struct repository *repository, struct job_record *record,
                                     struct preparation *preparation)
{
    struct description *description = preparation->description;
    if (!description->time_limit)
        description->time_limit = usual_time(limits, repository, record, description);
    record->time_limit = description->time_limit;
    hold_array(arena, limits, record, description, &preparation->notes);
    if (!take_privileges(arena, limits, record, description, &preparation->error) &&
        !check_rows(limits, record, &preparation->error))
        return PREPARED;
    preparation->failure = RENDER_NOT_ALLOWED;
    return PREPARE_NOT_RENDERED;
}

int limits_value(const struct limits *limits, uid_t uid, gid_t gid, struct text word, int *priority,
                 struct error *error)
{
    char *end = NULL;
    long number = word.length ? strtol(word.data, &end, 10) : 0;
    if (!end || end != word.data + word.length)
        return find_class(limits, uid, gid, word, priority, error);
    *priority = number < -MOST_NUMBER  ? -MOST_NUMBER
                : number > MOST_NUMBER ? MOST_NUMBER
                                       : (int)number;
    return check_number(limits, uid, *priority, error);
}

/* The queue that a job of another system means; empty: none. */
static struct text foreign_queue(struct arena *arena, struct repository *repository,
                                 const struct job_record *record,
                                 const struct description *description)
{
    struct error unread;
    const struct value *site = description->platform.name.length && repository_commit(repository)
                                   ? repository_site(repository, &unread)
                                   : NULL;
    return site ? platform_queue(arena, site, description, record) : (struct text){NULL, 0};
}

/* A job that names no queue has the one that it means, or that it had before, or the site's. */
static void take_queue(struct text queue, struct job_record *record,
                       struct description *description)
{
    if (description->queue.length)
        return;
    description->queue = record->queue = queue;
    description->usual_queue = true;
}

enum prepare_result limits_hold_again(struct arena *arena, const struct limits *limits,
                                      struct repository *repository,
                                      const struct job_record *before, struct job_record *record,
                                      struct preparation *preparation)
{
    if (limits_check(limits, record->uid, record->gid, preparation->description,
                     &preparation->error)) {
        preparation->failure = RENDER_NOT_ALLOWED;
        return PREPARE_NOT_RENDERED;
    }
    struct text meant = foreign_queue(arena, repository, record, preparation->description);
    take_queue(meant.length                     ? meant
               : before && before->queue.length ? before->queue
                                                : limits->settings->limits.default_queue,
               record, preparation->description);
    if (before && before->priority_from.length)
        keep_priority(arena, limits, before, record, preparation);
    else
        hold_priority(arena, limits, record, preparation);
    return hold_time(arena, limits, repository, record, preparation);
}

enum prepare_result limits_hold(struct arena *arena, const struct limits *limits,
                                struct repository *repository, struct job_record *record,
                                struct preparation *preparation)
{
    return limits_hold_again(arena, limits, repository, NULL, record, preparation);
}

void limits_keep(const struct job_record *before, struct job_record *record,
                 struct description *description)
{
    description->priority = record->priority = before->priority;
    record->priority_class = before->priority_class;
    record->priority_from = before->priority_from;
    take_queue(before->queue, record, description);
    description->time_limit = record->time_limit = before->time_limit;
    record->array_at_once = before->array_at_once;
    if (before->array_at_once && before->array_at_once < tasks_at_once(&description->array))
        description->array.at_once = before->array_at_once;
    record->host_network = before->host_network;
    description->host_network = before->host_network != 0;
}
