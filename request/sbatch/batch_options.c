/* request/sbatch/batch_options.c - what the #SBATCH or #PBS lines of a script ask for */
#include "request/sbatch/batch_options.h"

#include <stdio.h>
#include <string.h>

#include "request/fields.h"
#include "request/notes.h"

enum { SENTENCE_SIZE = 1024 };

void batch_options_note(struct batch_options *options, const char *shown, struct place place,
                        const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    struct arena *arena = options->reading->arena;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    request_notes_add(arena, options->notes,
                      arena_printf(arena, "line %u: %s", place.line, shown).data, "%s", sentence);
}

void batch_options_refuse(struct batch_options *options, const char *shown, struct place place,
                          const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    struct value_path path = {.name = text_of(shown)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    problems_add(options->reading, &path, place.line, place.column, "%s", sentence);
}

/* Is it written as names of variables mostly are: HOME, PATH_1? */
static bool is_usual_name(struct text part)
{
    size_t length = 0;
    while (length < part.length &&
           strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", part.data[length]))
        length++;
    return part.length && length == part.length && (part.data[0] < '0' || part.data[0] > '9');
}

void batch_options_refuse_variable(struct batch_options *options, const char *shown,
                                   struct place place, struct text part)
{
    struct error_quote_buffer buffer;
    struct text name = is_usual_name(part)
                           ? arena_printf(options->reading->arena, "\"%s\"",
                                          error_quote(&buffer, part.data, part.length))
                           : TEXT("a name");
    batch_options_refuse(
        options, shown, place,
        "found %s without a value, expected one, as the environment of the shell that "
        "submits is not taken along: write NAME=VALUE",
        name.data);
}

void batch_options_add(struct batch_options *options, enum batch_option_kind kind,
                       struct batch_option option)
{
    struct batch_option *known = &options->all[kind];
    if (known->shown)
        batch_options_note(options, known->shown, known->place,
                           "no effect: %s in line %u comes after it and counts", option.shown,
                           option.place.line);
    *known = option;
}

void batch_options_add_ruled(struct batch_options *options, struct text name,
                             struct batch_option option)
{
    struct platform_option ruled = {.name = name,
                                    .value = option.text,
                                    .shown = text_of(option.shown),
                                    .line = option.place.line};
    for (size_t i = 0; i < options->ruled_count; i++) {
        struct platform_option *known = &options->ruled[i];
        if (!text_equal(known->name, name))
            continue;
        batch_options_note(options, known->shown.data, (struct place){known->line, 1},
                           "no effect: %s in line %u comes after it and counts", option.shown,
                           option.place.line);
        *known = ruled;
        return;
    }
    options->ruled = arena_grow(options->reading->arena, options->ruled, options->ruled_count,
                                &options->ruled_capacity, sizeof(*options->ruled));
    options->ruled[options->ruled_count++] = ruled;
}

void batch_options_add_variable(struct batch_options *options, struct place place, struct text name,
                                struct text value)
{
    struct arena *arena = options->reading->arena;
    struct value *text = value_text(arena, arena_text(arena, value.data, value.length));
    text->line = place.line;
    text->column = place.column;
    struct member *member =
        value_set(arena, options->environment, arena_text(arena, name.data, name.length), text);
    member->line = place.line;
    member->column = place.column;
}

const struct batch_option *batch_options_find(const struct batch_options *options,
                                              enum batch_option_kind kind)
{
    return options->all[kind].shown ? &options->all[kind] : NULL;
}

void batch_options_put(struct batch_options *options, struct value *map, const char *field,
                       const struct batch_option *option, struct value *value)
{
    if (fields_given(map, field)) {
        batch_options_note(options, option->shown, option->place,
                           "no effect: a #DL line gives %s, and goes before it", field);
        return;
    }
    value->line = option->place.line;
    value->column = option->place.column;
    struct member *member = value_set(options->reading->arena, map, text_of(field), value);
    member->line = option->place.line;
    member->column = option->place.column;
}
