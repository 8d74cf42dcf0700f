/* request/values.c - readers of single values
 *
 * Each reader lists the characters that it allows, so a text that is used as a name or a path never
 * contains an unexpected control character, quote or space.
 */
#include "request/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/path.h"
#include "base/quantity.h"

bool values_scalar_text(const struct value *value, bool booleans, struct text *text)
{
    if (value->kind == VALUE_STRING)
        *text = value->string;
    else if (value->kind == VALUE_NUMBER && value->written.length)
        *text = value->written;
    else if (value->kind == VALUE_BOOLEAN && booleans)
        *text = value->boolean ? TEXT("true") : TEXT("false");
    else
        return false;
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Is it made of letters and digits and, after the first, bytes of `others`; 1 to `most` bytes? */
static bool is_made_of(struct text text, const char *others, size_t most)
{
    if (text.length == 0 || text.length > most || !is_letter_or_digit(text.data[0]))
        return false;
    for (size_t i = 1; i < text.length; i++)
        if (!is_letter_or_digit(text.data[i]) && !memchr(others, text.data[i], strlen(others)))
            return false;
    return true;
}

bool values_is_word(struct text text, size_t most)
{
    return is_made_of(text, "._-", most);
}

void read_word(struct reading *reading, const struct value_path *path, const struct value *value,
               const struct field *field, void *into)
{
    struct text text;
    if (!values_scalar_text(value, false, &text) || !values_is_word(text, (size_t)field->most))
        problems_expected(reading, path, value,
                          "1 to %" PRId64 " letters, digits and . _ -, the first of them a letter "
                          "or a digit",
                          field->most);
    else if (into)
        *(struct text *)into = text;
}

void read_version(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    struct text text;
    if (!values_scalar_text(value, false, &text) || !is_made_of(text, "._+-", (size_t)field->most))
        problems_expected(reading, path, value, "a version such as 2.1 or 1.13.1");
    else
        *(struct text *)into = text;
}

/* Is it free of C0 and C1 control characters and DEL? */
static bool is_printable(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c == 0x7f)
            return false;
        if (c == 0xc2 && i + 1 < text.length && (unsigned char)text.data[i + 1] < 0xa0)
            return false;
    }
    return true;
}

/* Does it start with what only a shell would expand? */
static bool is_for_a_shell(struct text path)
{
    return text_starts(path, "~") || memchr(path.data, '$', path.length);
}

static void read_path(struct reading *reading, const struct value_path *path,
                      const struct value *value, bool absolute, const char *expected,
                      const struct field *field, void *into)
{
    struct text clean;
    if (value->kind == VALUE_STRING && value->string.length && is_for_a_shell(value->string) &&
        text_starts(value->string, "/") != absolute && absolute)
        problems_expected(
            reading, path, value,
            "%s: ~ and $NAME are not replaced in a job file; write the directory out, "
            "such as /home/ann/project",
            expected);
    else if (value->kind != VALUE_STRING || text_starts(value->string, "/") != absolute)
        problems_expected(reading, path, value, "%s", expected);
    else if (value->string.length > (size_t)field->most)
        problems_expected(reading, path, value, "at most %" PRId64 " bytes", field->most);
    else if (!is_printable(value->string))
        problems_expected(reading, path, value, "a path without control characters");
    else if (!path_clean(reading->arena, value->string, &clean))
        problems_expected(reading, path, value, "%s, without .. parts", expected);
    else
        *(struct text *)into = clean;
}

void read_absolute_path(struct reading *reading, const struct value_path *path,
                        const struct value *value, const struct field *field, void *into)
{
    read_path(reading, path, value, true, "an absolute path below /", field, into);
}

void read_relative_path(struct reading *reading, const struct value_path *path,
                        const struct value *value, const struct field *field, void *into)
{
    read_path(reading, path, value, false, "a file's path relative to program", field, into);
}

void read_image(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    if (value->kind == VALUE_STRING && is_made_of(value->string, "._-/:@+", (size_t)field->most))
        *(struct text *)into = value->string;
    else
        problems_expected(reading, path, value,
                          "an image reference such as registry.example.org/pytorch:2.1");
}

/* Some systems end lines in CR LF; the kernel would look for an interpreter whose name ends in CR.
 * If the first line ends so, convert all line ends to LF. */
static struct text plain_line_ends(struct arena *arena, struct text script)
{
    const char *first = memchr(script.data, '\n', script.length);
    if (!first || first == script.data || first[-1] != '\r')
        return script;
    char *copy = arena_allocate(arena, script.length + 1);
    size_t length = 0;
    for (size_t i = 0; i < script.length; i++)
        if (script.data[i] != '\r' || i + 1 == script.length || script.data[i + 1] != '\n')
            copy[length++] = script.data[i];
    return (struct text){copy, length};
}

/* Is the value written as YAML's folded text of more than one line? */
static bool is_folded(const struct reading *reading, const struct value *value)
{
    struct text rest = reading->source, line = {"", 0};
    for (uint32_t number = 0; number < value->line; number++)
        if (!text_next(&rest, '\n', &line))
            return false;
    if (!value->column || value->column > line.length || line.data[value->column - 1] != '>' ||
        !text_next(&rest, '\n', &line))
        return false;
    struct text next = {"", 0};
    bool more = text_next(&rest, '\n', &next);
    return more && text_starts(next, " ") && text_trim(next).length > 0;
}

void read_script(struct reading *reading, const struct value_path *path, const struct value *value,
                 const struct field *field, void *into)
{
    if (value->kind != VALUE_STRING)
        problems_expected(reading, path, value, "the text of a program");
    else if (text_trim(value->string).length == 0)
        problems_add(reading, path, value->line, value->column,
                     "found only spaces and line ends, expected the text of a program");
    else if (is_folded(reading, value))
        problems_add(
            reading, path, value->line, value->column,
            "found folded text (>), which makes one line of several, expected the lines as "
            "they are: write script: |");
    else if (value->string.length > (size_t)field->most)
        problems_add(reading, path, value->line, value->column,
                     "%zu bytes, expected at most %" PRId64, value->string.length, field->most);
    else if (memchr(value->string.data, '\0', value->string.length))
        problems_add(reading, path, value->line, value->column,
                     "found a NUL byte, expected the text of a program");
    else
        *(struct text *)into = plain_line_ends(reading->arena, value->string);
}

void read_integer(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    if (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
        value->number < (double)field->least || value->number > (double)field->most)
        problems_expected(reading, path, value, "a whole number from %" PRId64 " to %" PRId64,
                          field->least, field->most);
    else if (into)
        *(int *)into = (int)value->number;
}

void read_bytes(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    int64_t bytes = -1;
    bool read = false;
    if (value->kind == VALUE_STRING)
        read = quantity_parse_bytes(value->string, &bytes) == 0;
    else if (value->kind == VALUE_NUMBER && value->number == floor(value->number) &&
             fabs(value->number) < 0x1p62) {
        bytes = (int64_t)value->number;
        read = true;
    }
    char least[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    if (!read)
        problems_expected(reading, path, value, "a size such as 512Mi or 16Gi");
    else if (bytes < field->least || bytes > field->most)
        problems_expected(reading, path, value, "a size from %s to %s, such as 512Mi or 16Gi",
                          quantity_format_bytes(field->least, least),
                          quantity_format_bytes(field->most, most));
    else
        *(int64_t *)into = bytes;
}

void read_cpus(struct reading *reading, const struct value_path *path, const struct value *value,
               const struct field *field, void *into)
{
    int64_t thousandths = -1;
    bool read = false;
    if (value->kind == VALUE_STRING) {
        read = quantity_parse_cpus(value->string, &thousandths) == 0;
    } else if (value->kind == VALUE_NUMBER && fabs(value->number) < 1e12) {
        double exact = value->number * 1000;
        thousandths = (int64_t)llround(exact);
        read = fabs(exact - (double)thousandths) < 1e-6;
    }
    char least[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    if (!read)
        problems_expected(reading, path, value, "a number of CPUs such as 4, 0.5 or 500m");
    else if (thousandths < field->least || thousandths > field->most)
        problems_expected(reading, path, value, "from %s to %s CPUs, such as 4, 0.5 or 500m",
                          quantity_format_cpus(field->least, least),
                          quantity_format_cpus(field->most, most));
    else
        *(int64_t *)into = thousandths;
}

/* Is it written N:N? */
static bool is_minutes_and_seconds(struct text text)
{
    int64_t milliseconds;
    const char *colon = text.length ? memchr(text.data, ':', text.length) : NULL;
    return colon && !memchr(colon + 1, ':', (size_t)(text.data + text.length - colon - 1)) &&
           !memchr(text.data, '-', text.length) && duration_parse_clock(text, &milliseconds) == 0;
}

/* 2h30m, seconds, or as a clock and Slurm write it: 2:30:00, 1-12:00:00. */
static int parse_duration(struct text text, int64_t *milliseconds)
{
    return duration_parse(text, milliseconds) ? duration_parse_clock(text, milliseconds) : 0;
}

void read_duration(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    struct text text;
    int64_t milliseconds;
    char least[CLOCK_TEXT_SIZE], most[CLOCK_TEXT_SIZE];
    bool read = values_scalar_text(value, false, &text);
    if (read && is_minutes_and_seconds(text))
        problems_expected(reading, path, value,
                          "a duration such as %.*sm: N:N is minutes and seconds to some and "
                          "hours and minutes to others; hours, minutes and seconds are written "
                          "1:30:00",
                          (int)strcspn(text.data, ":"), text.data);
    else if (!read || parse_duration(text, &milliseconds) || milliseconds < field->least ||
             milliseconds > field->most)
        problems_expected(
            reading, path, value, "a duration of at least %s and at most %s, such as %s (seconds)",
            duration_format(field->least, least),
            field->most == DURATION_MOST ? "ten years" : duration_format(field->most, most),
            field->most == DURATION_MOST ? "90m, 2h30m, 2:30:00 or 3600" : "30s, 2m or 90");
    else
        *(int64_t *)into = milliseconds;
}

void read_boolean(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_BOOLEAN)
        problems_expected(reading, path, value, "true or false");
    else if (into)
        *(bool *)into = value->boolean;
}

void read_label(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    enum { LONGEST = 63 };
    struct text text = {0};
    (void)field;
    if (values_scalar_text(value, false, &text) && text_is_label(text, LONGEST))
        *(struct text *)into = text;
    else
        problems_expected(reading, path, value, "1 to 63 small letters, digits and inner hyphens");
}

void read_debug(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    struct text text;
    int64_t milliseconds;
    if (value->kind == VALUE_BOOLEAN && !value->boolean)
        *(int64_t *)into = 0;
    else if (!values_scalar_text(value, false, &text) || duration_parse(text, &milliseconds) ||
             milliseconds > field->most)
        problems_expected(reading, path, value,
                          "a duration such as 30m, for which what ran is kept");
    else
        *(int64_t *)into = milliseconds;
}
