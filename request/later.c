/* request/later.c - fields that a later version implements: only their shape is looked at */
#include "request/later.h"

#include "base/clock.h"
#include "request/values.h"

void read_later_map(struct reading *reading, const struct path *path, const struct value *value,
                    const struct field *field, void *into)
{
    (void)field;
    (void)into;
    if (value->kind != VALUE_OBJECT)
        problem_expected(reading, path, value, "a map");
}

void read_later_words(struct reading *reading, const struct path *path, const struct value *value,
                      const struct field *field, void *into)
{
    (void)field;
    (void)into;
    struct text text;
    bool good = take_scalar_text(value, false, &text) && text.length > 0;
    if (value->kind == VALUE_LIST) {
        good = value->list.count > 0;
        for (size_t i = 0; i < value->list.count && good; i++)
            good = take_scalar_text(value->list.items[i], false, &text) && text.length > 0;
    }
    if (!good)
        problem_expected(reading, path, value, "a word or a list of words");
}

/* A time as clock_parse() has it, whose seconds may be left out: 2026-05-01T18:00Z. */
static bool is_time(struct text text)
{
    enum { UP_TO_MINUTES = 16 };
    int64_t time;
    if (clock_parse(text, &time) == 0)
        return true;
    if (text.length <= UP_TO_MINUTES || text.length > UP_TO_MINUTES + 6)
        return false;
    struct buffer whole = {0};
    buffer_add(&whole, text.data, UP_TO_MINUTES);
    buffer_add_string(&whole, ":00");
    buffer_add(&whole, text.data + UP_TO_MINUTES, text.length - UP_TO_MINUTES);
    bool good = clock_parse(buffer_text(&whole), &time) == 0;
    buffer_free(&whole);
    return good;
}

void read_later_deadline(struct reading *reading, const struct path *path,
                         const struct value *value, const struct field *field, void *into)
{
    (void)field;
    (void)into;
    int64_t duration;
    struct text text = {0};
    bool good = value->kind == VALUE_STRING;
    if (good)
        text = value->string;
    if (good && text_starts(text, "+"))
        good = duration_parse((struct text){text.data + 1, text.length - 1}, &duration) == 0;
    else if (good)
        good = is_time(text);
    if (!good)
        problem_expected(reading, path, value,
                         "a time with its zone such as 2026-05-01T18:00Z, or +6h");
}

void read_later_deadline_mode(struct reading *reading, const struct path *path,
                              const struct value *value, const struct field *field, void *into)
{
    (void)field;
    (void)into;
    if (value->kind != VALUE_STRING ||
        !(text_is(value->string, "count") || text_is(value->string, "firm") ||
          text_is(value->string, "none")))
        problem_expected(reading, path, value, "count, firm or none");
}

void read_later_weight(struct reading *reading, const struct path *path, const struct value *value,
                       const struct field *field, void *into)
{
    (void)field;
    (void)into;
    if (value->kind != VALUE_NUMBER || !(value->number > 0))
        problem_expected(reading, path, value, "a number above 0");
}
