/* request/units.c - how a job's progress is counted: units{total, pattern} or units{total, file} */
#include "request/units.h"

#include <limits.h>
#include <stddef.h>

#include "job/pattern.h"
#include "request/values.h"

static const double total_most = 1e15; /* up to here doubles hold whole numbers exactly */

static void read_total(struct reading *reading, const struct value_path *path,
                       const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind == VALUE_NUMBER && value->number > 0 && value->number <= total_most)
        *(double *)into = value->number;
    else
        problems_expected(reading, path, value,
                          "a number above 0: how many units there are in all");
}

/* Does the pattern look like a regular expression? */
static bool looks_regular(struct text pattern)
{
    static const char *const signs[] = {"\\d", "\\s", "\\w", "\\b",  "\\.", "\\(", "\\[",
                                        "\\/", ".*",  ".+",  "[0-9", "(?",  "+)",  "^"};
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++)
        if (text_contains(pattern, text_of(signs[i])))
            return true;
    return false;
}

static void read_pattern(struct reading *reading, const struct value_path *path,
                         const struct value *value, const struct field *field, void *into)
{
    struct pattern pattern;
    struct error error;
    (void)field;
    if (value->kind != VALUE_STRING)
        problems_expected(reading, path, value,
                          "text as the job prints it, such as \"step {done}/{total}\"");
    else if (pattern_parse(value->string, &pattern, &error))
        problems_add(reading, path, value->line, value->column, "%s%s", error.text,
                     looks_regular(value->string)
                         ? "; this is no regular expression: write the line as the job prints it, "
                           "with {done} and {total} for the numbers and * for any text"
                         : "");
    else
        *(struct text *)into = value->string;
}

static const struct field fields[] = {
    {FIELD_NAME("total"), read_total, .offset = offsetof(struct units, total)},
    {FIELD_NAME("pattern"), read_pattern, .offset = offsetof(struct units, pattern)},
    {FIELD_NAME("file"), read_absolute_path, .offset = offsetof(struct units, file),
     .most = PATH_MAX - 1},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "units",
};

void read_units(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value,
                          "a map such as {total: 400, pattern: \"step {done}/{total}\"}");
    else
        fields_read(reading, path, value, &table, into);
}

/* Does the pattern contain the total? */
static bool tells_total(struct text source)
{
    struct pattern pattern;
    if (pattern_parse(source, &pattern, NULL))
        return false;
    for (size_t i = 0; i < pattern.count; i++)
        if (pattern.pieces[i].kind == PATTERN_TOTAL)
            return true;
    return false;
}

/* Check that the file is below the job's output. */
static void check_file(struct reading *reading, const struct value *value,
                       const struct description *job)
{
    struct value_path above = {.name = TEXT("units")};
    struct value_path path = {.above = &above, .name = TEXT("file")};
    struct text file = job->units.file, output = job->output;
    if (!output.length)
        problems_add(reading, &path, value->line, value->column,
                     "found without output, expected output as well, below which the file lies");
    else if (file.length <= output.length || file.data[output.length] != '/' ||
             !text_equal((struct text){file.data, output.length}, output))
        problems_expected(reading, &path, value, "a file below output");
}

static void check_ways(struct reading *reading, const struct value *value,
                       const struct description *job)
{
    const struct units *units = &job->units;
    struct value_path path = {.name = TEXT("units")};
    const char *sentence = NULL;
    if (text_is(job->type, "array"))
        sentence = "found with the type array, whose tasks have no progress in common, expected "
                   "another type";
    else if (units->pattern.length && units->file.length)
        sentence = "found pattern and file, expected only one of them";
    else if (!units->pattern.length && !units->file.length)
        sentence = "found neither pattern nor file, expected one of them, which says how much is "
                   "done";
    else if (units->pattern.length && !(units->total > 0) && !tells_total(units->pattern))
        sentence = "found neither total nor {total} in the pattern, expected one of them, which "
                   "says how much there is in all";
    if (sentence)
        problems_add(reading, &path, value->line, value->column, "%s", sentence);
}

void request_units_check(struct reading *reading, const struct value *root,
                         const struct description *job)
{
    const struct value *value = fields_given(root, "units");
    if (!value || reading->found)
        return;
    check_ways(reading, value, job);
    if (job->units.file.length)
        check_file(reading, fields_given(value, "file"), job);
}
