/* request/problems.c - collect all problems of a job file while it is read
 *
 * The text always fits into a struct error.  A file with ten thousand mistakes costs little more
 * than one with ten, because problems after the last one shown are only counted.
 */
#include "request/problems.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"

enum {
    PROBLEMS_SHOWN = 10,
    SENTENCE_LIMIT = 1024, /* bytes of one sentence after file, place and path */
    MORE_ROOM = 40,        /* bytes kept free for "and N more" */
};

void problems_start(struct reading *reading, struct arena *arena, const char *file)
{
    reading->arena = arena;
    reading->file = file;
    reading->source = reading->stem = (struct text){NULL, 0};
    reading->found = reading->shown = reading->length = 0;
    reading->full = false;
    reading->listed = NULL;
    reading->text[0] = '\0';
}

/* Append the line if there is room for it; the first line is cut rather than left out. */
static void show_line(struct reading *reading, struct text line)
{
    size_t left = sizeof(reading->text) - MORE_ROOM - reading->length;
    if (line.length + 1 > left) {
        reading->full = true;
        if (reading->shown)
            return;
        for (line.length = left - 1; ((unsigned char)line.data[line.length] & 0xc0) == 0x80;)
            line.length--;
    }
    if (reading->shown)
        reading->text[reading->length++] = '\n';
    memcpy(reading->text + reading->length, line.data, line.length);
    reading->length += line.length;
    reading->text[reading->length] = '\0';
    if (++reading->shown == PROBLEMS_SHOWN)
        reading->full = true;
}

static void add_problem(struct reading *reading, const struct value_path *path, uint32_t line,
                        uint32_t column, const char *sentence)
{
    struct buffer out = {0};
    buffer_add_string(&out, reading->file);
    if (line)
        buffer_printf(&out, ":%u:%u", line, column);
    buffer_add_string(&out, ": ");
    if (path) {
        value_path_add(&out, path);
        buffer_add_string(&out, ": ");
    }
    buffer_add_string(&out, sentence);
    show_line(reading, buffer_text(&out));
    buffer_free(&out);
}

void problems_add(struct reading *reading, const struct value_path *path, uint32_t line,
                  uint32_t column, const char *format, ...)
{
    reading->found++;
    if (reading->full)
        return;
    char sentence[SENTENCE_LIMIT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    add_problem(reading, path, line, column, sentence);
}

void problems_add_sentence(struct reading *reading, const char *sentence)
{
    reading->found++;
    if (!reading->full)
        show_line(reading, text_of(sentence));
}

/* May the value contain a password?  Then only its kind is shown, since everybody may read `why`
 * and `log`. */
static bool is_private(const struct value_path *path)
{
    static const char *const names[] = {
        "args",    "command", "commands",   "cmd",  "env",
        "script",  "secrets", "parameters", "envs", "environmentVariables",
        "jobEnvs", "dataset", "dataDir",    "auth", "authFile",
        "values",  "password"};
    for (; path; path = path->above)
        for (size_t i = 0; i < ARRAY_COUNT(names); i++)
            if (text_is(path->name, names[i]))
                return true;
    return false;
}

static void add_kind(struct buffer *out, const struct value *value)
{
    if (value->kind == VALUE_STRING)
        buffer_printf(out, "a text of %zu byte%s", value->string.length,
                      value->string.length == 1 ? "" : "s");
    else if (value->kind == VALUE_NUMBER)
        buffer_add_string(out, "a number");
    else
        value_path_add_found(out, value);
}

/* Append the value without anything that looks like a secret, such as a password in a URL. */
static void add_masked(struct buffer *out, const struct value *value)
{
    struct buffer found = {0};
    value_path_add_found(&found, value);
    mask_write(NULL, buffer_text(&found), out);
    buffer_free(&found);
}

void problems_expected(struct reading *reading, const struct value_path *path,
                       const struct value *value, const char *format, ...)
{
    reading->found++;
    if (reading->full)
        return;
    struct buffer sentence = {0};
    buffer_add_string(&sentence, "found ");
    if (is_private(path))
        add_kind(&sentence, value);
    else
        add_masked(&sentence, value);
    buffer_add_string(&sentence, ", expected ");
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&sentence, format, arguments);
    va_end(arguments);
    add_problem(reading, path, value->line, value->column, sentence.data);
    buffer_free(&sentence);
}

int problems_report(const struct reading *reading, struct error *error)
{
    if (reading->found == 0)
        return 0;
    if (reading->found > reading->shown)
        return error_set(error, "%s\nand %zu more", reading->text, reading->found - reading->shown);
    return error_set(error, "%s", reading->text);
}
