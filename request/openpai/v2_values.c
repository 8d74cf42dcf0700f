/* request/openpai/v2_values.c - single values of an OpenPAI v2 file
 *
 * Types are strict, as in the server's schema: "2" is not a number.  What may be a secret is known by its
 * path, in request/problems.c, and never quoted in a sentence.
 */
#include "request/openpai/v2_values.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "request/values.h"

enum { NAME_LONGEST = 255, IMAGE_LONGEST = 512 };

SHAPE_READER(shape_string)
{
    if (value->kind != VALUE_STRING)
        problems_expected(reading, path, value, "a text%s",
                          value->kind == VALUE_NUMBER || value->kind == VALUE_BOOLEAN
                              ? " (in quotation marks)"
                              : "");
    else if (memchr(value->string.data, '\0', value->string.length))
        problems_add(reading, path, value->line, value->column,
                     "found a NUL byte, expected a text without");
}

SHAPE_READER(shape_strings)
{
    if (value->kind != VALUE_LIST || value->list.count < (size_t)field->least) {
        problems_expected(reading, path, value, "a list of %stexts",
                          field->least ? "one or more " : "");
        return;
    }
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        shape_string(reading, &item, value->list.items[i], field, into);
    }
}

SHAPE_READER(shape_whole_number)
{
    if (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
        value->number < (double)field->least || value->number > (double)field->most)
        problems_expected(reading, path, value, "a whole number from %" PRId64 " to %" PRId64,
                          field->least, field->most);
}

/* A number of tasks; -1 and null mean never. */
SHAPE_READER(shape_completion_number)
{
    if (value->kind != VALUE_NULL &&
        (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
         value->number < -1 || value->number > INT_MAX))
        problems_expected(reading, path, value,
                          "a whole number from 1, or null or -1 when no number of instances does "
                          "it");
}

SHAPE_READER(shape_protocol_version)
{
    bool two = (value->kind == VALUE_NUMBER && value->number == 2) ||
               (value->kind == VALUE_STRING && text_is(value->string, "2"));
    if (!two)
        problems_expected(reading, path, value, "2");
}

SHAPE_READER(shape_text_or_number)
{
    if (value->kind != VALUE_STRING && value->kind != VALUE_NUMBER)
        problems_expected(reading, path, value, "a text or a number");
}

SHAPE_READER(shape_job_type)
{
    if (value->kind != VALUE_STRING || !text_is(value->string, "job"))
        problems_expected(reading, path, value, "job");
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

SHAPE_READER(shape_name)
{
    bool good = value->kind == VALUE_STRING && value->string.length > 0 &&
                value->string.length <= NAME_LONGEST;
    for (size_t i = 0; good && i < value->string.length; i++)
        good = is_name_byte(value->string.data[i]) || value->string.data[i] == '-';
    if (!good)
        problems_expected(reading, path, value, "1 to %d letters, digits, _ and -%s",
                          (int)NAME_LONGEST,
                          value->kind == VALUE_NUMBER ? ", in quotation marks" : "");
}

SHAPE_READER(shape_any_map)
{
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value, "a map of names to values such as {epochs: 10}");
}

SHAPE_READER(shape_secrets)
{
    if (value->kind != VALUE_OBJECT)
        problems_add(reading, path, value->line, value->column,
                     "found a %s, expected a map of names to values", value_kind_name(value->kind));
}

/* [a-zA-Z_][a-zA-Z0-9_]*, as a variable of a shell. */
bool openpai_v2_value_is_key(struct text key)
{
    for (size_t i = 0; i < key.length; i++)
        if (!is_name_byte(key.data[i]) || (i == 0 && key.data[i] >= '0' && key.data[i] <= '9'))
            return false;
    return key.length > 0 && key.length <= NAME_LONGEST;
}

SHAPE_READER(shape_image)
{
    struct text image;
    struct field image_field = *field;
    image_field.most = IMAGE_LONGEST;
    read_image(reading, path, value, &image_field, &image);
}

/* Any type: the prerequisite's type decides how the fields are read later. */
SHAPE_READER(shape_anything)
{
    (void)reading, (void)path, (void)value;
}

const char *openpai_v2_value_place(struct arena *arena, const struct value_path *path)
{
    struct error_quote_buffer buffer;
    const char *above = path->above ? openpai_v2_value_place(arena, path->above) : "";
    if (!path->name.data)
        return arena_printf(arena, "%s[%zu]", above, path->index).data;
    return arena_printf(arena, "%s%s%s", above, *above ? "." : "",
                        error_quote(&buffer, path->name.data, path->name.length))
        .data;
}
