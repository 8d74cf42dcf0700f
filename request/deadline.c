/* request/deadline.c - when a job must be finished: deadline, deadline_mode, weight
 *
 * Times in the past are not refused here, so that a job file means the same whenever it is read;
 * description_deadline() does that from the time at which the job was accepted.
 */
#include "request/deadline.h"

#include <math.h>

#include "base/clock.h"
#include "base/duration.h"
#include "request/values.h"

enum { AFTER_LEAST = 1000 }; /* milliseconds */

static const double weight_least = 0.01, weight_most = 100;

bool deadline_take_time(struct text text, int64_t *time)
{
    enum { UP_TO_MINUTES = 16, ZONE_LONGEST = 6 };
    if (clock_parse(text, time) == 0)
        return true;
    if (text.length <= UP_TO_MINUTES || text.length > UP_TO_MINUTES + ZONE_LONGEST)
        return false;
    struct buffer whole = {0};
    buffer_add(&whole, text.data, UP_TO_MINUTES);
    buffer_add_string(&whole, ":00");
    buffer_add(&whole, text.data + UP_TO_MINUTES, text.length - UP_TO_MINUTES);
    bool good = clock_parse(buffer_text(&whole), time) == 0;
    buffer_free(&whole);
    return good;
}

void read_deadline(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    (void)field;
    struct deadline deadline = {.given = true, .line = value->line, .column = value->column};
    struct text text = {0};
    bool good = values_scalar_text(value, false, &text);
    bool after = good && text_starts(text, "+");
    if (after)
        good = duration_parse((struct text){text.data + 1, text.length - 1}, &deadline.after) == 0;
    else if (good)
        good = deadline_take_time(text, &deadline.time);
    deadline.written = text;
    if (!good)
        problems_expected(reading, path, value,
                          "a time with its zone such as 2026-05-01T18:00Z, or +6h, which counts "
                          "from the moment at which the job is accepted");
    else if (after && deadline.after < AFTER_LEAST)
        problems_expected(reading, path, value, "at least +1s");
    else
        *(struct deadline *)into = deadline;
}

void read_deadline_mode(struct reading *reading, const struct value_path *path,
                        const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind == VALUE_STRING &&
        (text_is(value->string, "count") || text_is(value->string, "firm") ||
         text_is(value->string, "none")))
        *(struct text *)into = value->string;
    else
        problems_expected(reading, path, value, "count, firm or none");
}

void read_weight(struct reading *reading, const struct value_path *path, const struct value *value,
                 const struct field *field, void *into)
{
    (void)field;
    if (value->kind == VALUE_NUMBER && value->number >= weight_least &&
        value->number <= weight_most)
        *(double *)into = value->number;
    else
        problems_expected(reading, path, value, "a number from 0.01 to 100");
}

void deadline_check(struct reading *reading, const struct value *root, struct description *job)
{
    static const char *const names[] = {"deadline_mode", "weight"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        const struct value *value = fields_given(root, names[i]);
        struct value_path path = {.name = text_of(names[i])};
        if (value && !fields_given(root, "deadline"))
            problems_add(reading, &path, value->line, value->column,
                         "found without deadline, expected deadline as well");
    }
    if (job->deadline.given && !job->deadline_mode.length)
        job->deadline_mode = TEXT("count");
}

int description_deadline(const struct description *job, const char *file, int64_t accepted,
                         int64_t *time, struct error *error)
{
    const struct deadline *deadline = &job->deadline;
    struct error_quote_buffer name, found;
    char buffer[CLOCK_TEXT_SIZE];
    *time = 0;
    if (!deadline->given)
        return 0;
    int64_t due = deadline->after ? accepted + deadline->after : deadline->time;
    if (due > accepted) {
        *time = due;
        return 0;
    }
    return error_set(error,
                     "%s:%u:%u: deadline: found %s, which is over, expected a time after %s, when "
                     "the job was accepted",
                     error_quote(&name, file, text_of(file).length), deadline->line,
                     deadline->column,
                     error_quote(&found, deadline->written.data, deadline->written.length),
                     clock_format(accepted, buffer));
}
