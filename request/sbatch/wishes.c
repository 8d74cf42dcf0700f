/* request/sbatch/wishes.c - what the #SBATCH or #PBS lines of a script ask for */
#include "request/sbatch/wishes.h"

#include <stdio.h>
#include <string.h>

#include "request/fields.h"
#include "request/notes.h"

enum { SENTENCE_SIZE = 1024 };

void wishes_note(struct wishes *wishes, const char *shown, struct place place, const char *format,
                 ...)
{
    char sentence[SENTENCE_SIZE];
    struct arena *arena = wishes->reading->arena;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    request_notes_add(arena, wishes->notes,
                      arena_printf(arena, "line %u: %s", place.line, shown).data, "%s", sentence);
}

void wishes_refuse(struct wishes *wishes, const char *shown, struct place place, const char *format,
                   ...)
{
    char sentence[SENTENCE_SIZE];
    struct value_path path = {.name = text_of(shown)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    problems_add(wishes->reading, &path, place.line, place.column, "%s", sentence);
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

void wishes_refuse_variable(struct wishes *wishes, const char *shown, struct place place,
                            struct text part)
{
    struct error_quote_buffer buffer;
    struct text name = is_usual_name(part)
                           ? arena_printf(wishes->reading->arena, "\"%s\"",
                                          error_quote(&buffer, part.data, part.length))
                           : TEXT("a name");
    wishes_refuse(wishes, shown, place,
                  "found %s without a value, expected one, as the environment of the shell that "
                  "submits is not taken along: write NAME=VALUE",
                  name.data);
}

void wishes_add(struct wishes *wishes, enum wish_kind kind, struct wish wish)
{
    struct wish *known = &wishes->all[kind];
    if (known->shown)
        wishes_note(wishes, known->shown, known->place,
                    "no effect: %s in line %u comes after it and counts", wish.shown,
                    wish.place.line);
    *known = wish;
}

void wishes_add_option(struct wishes *wishes, struct text name, struct wish wish)
{
    struct platform_option option = {
        .name = name, .value = wish.text, .shown = text_of(wish.shown), .line = wish.place.line};
    for (size_t i = 0; i < wishes->options_count; i++) {
        struct platform_option *known = &wishes->options[i];
        if (!text_equal(known->name, name))
            continue;
        wishes_note(wishes, known->shown.data, (struct place){known->line, 1},
                    "no effect: %s in line %u comes after it and counts", wish.shown,
                    wish.place.line);
        *known = option;
        return;
    }
    wishes->options = arena_grow(wishes->reading->arena, wishes->options, wishes->options_count,
                                 &wishes->options_capacity, sizeof(*wishes->options));
    wishes->options[wishes->options_count++] = option;
}

void wishes_add_variable(struct wishes *wishes, struct place place, struct text name,
                         struct text value)
{
    struct arena *arena = wishes->reading->arena;
    struct value *text = value_text(arena, arena_text(arena, value.data, value.length));
    text->line = place.line;
    text->column = place.column;
    struct member *member =
        value_set(arena, wishes->environment, arena_text(arena, name.data, name.length), text);
    member->line = place.line;
    member->column = place.column;
}

const struct wish *wishes_find(const struct wishes *wishes, enum wish_kind kind)
{
    return wishes->all[kind].shown ? &wishes->all[kind] : NULL;
}

void wishes_put(struct wishes *wishes, struct value *map, const char *field,
                const struct wish *wish, struct value *value)
{
    if (fields_given(map, field)) {
        wishes_note(wishes, wish->shown, wish->place,
                    "no effect: a #DL line gives %s, and goes before it", field);
        return;
    }
    value->line = wish->place.line;
    value->column = wish->place.column;
    struct member *member = value_set(wishes->reading->arena, map, text_of(field), value);
    member->line = wish->place.line;
    member->column = wish->place.column;
}
