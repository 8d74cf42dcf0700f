/* request/arguments.c - readers of lists of words and of environments
 *
 * Words and values become arguments and environment of a process, so NUL bytes and strings that are
 * too long for exec(2) are refused here.  All other bytes are data, including line ends and tabs.
 */
#include "request/arguments.h"

#include <inttypes.h>
#include <string.h>

#include "request/description.h"
#include "request/values.h"

enum { LONGEST_NAME = 255 }; /* bytes of an environment variable's name */

/* Linux takes strings of at most MAX_ARG_STRLEN, 32 pages, with the final NUL. */
enum { LONGEST_STRING = 32 * 4096 - 1 };

bool arguments_read_text(struct reading *reading, const struct value_path *path,
                         const struct value *value, size_t extra, struct text *text)
{
    if (!values_scalar_text(value, true, text))
        problems_expected(reading, path, value, "a text, a number, true or false%s",
                          value->kind == VALUE_NULL ? " (\"\" is the empty text)" : "");
    else if (text->length && memchr(text->data, '\0', text->length))
        problems_add(reading, path, value->line, value->column,
                     "found a NUL byte, expected a text without");
    else if (text->length + extra > LONGEST_STRING)
        problems_add(reading, path, value->line, value->column,
                     "found %zu bytes, expected at most %zu", text->length,
                     (size_t)LONGEST_STRING - extra);
    else
        return true;
    return false;
}

void read_words(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    if (value->kind != VALUE_LIST || value->list.count < (size_t)field->least) {
        problems_expected(reading, path, value, "a list of %swords such as [--epochs, 10]",
                          field->least ? "one or more " : "");
        return;
    }
    size_t count = value->list.count;
    struct text *words = arena_allocate(reading->arena, count * sizeof(struct text));
    for (size_t i = 0; i < count; i++) {
        struct value_path item = {.above = path, .index = i};
        arguments_read_text(reading, &item, value->list.items[i], 0, &words[i]);
    }
    *(struct text **)into = words;
    *(size_t *)((char *)into - field->offset + field->count_offset) = count;
}

/* [A-Za-z_][A-Za-z0-9_]*, a name that every shell can use. */
static bool is_variable_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return name.length > 0 && name.length <= LONGEST_NAME;
}

void arguments_check_variable(struct reading *reading, const struct value_path *path,
                              const struct member *member)
{
    struct error_quote_buffer buffer;
    struct value_path named = *path;
    struct text rest = member->key;
    /* Of the name "PASSWORD=x" show only the part before `=`: the rest may be a secret. */
    text_next(&rest, '=', &named.name);
    bool assigned = named.name.length < member->key.length;
    if (!is_variable_name(member->key))
        problems_add(
            reading, &named, member->line, member->column,
            "found the name \"%s\"%s, expected at most %d letters, digits and _, the first "
            "of them no digit",
            error_quote(&buffer, named.name.data, named.name.length),
            assigned ? " and more behind a =" : "", (int)LONGEST_NAME);
    else if (text_starts(member->key, "DLSPOOL_"))
        problems_add(reading, path, member->line, member->column,
                     "names that start with DLSPOOL_ are dlspool's own; choose another");
}

void read_environment(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    struct environment *environment = into;
    if (value->kind != VALUE_OBJECT) {
        problems_expected(reading, path, value, "a map of names to values such as {EPOCHS: 3}");
        return;
    }
    size_t count = value->object.count;
    environment->variables =
        arena_allocate(reading->arena, count * sizeof(struct environment_variable));
    environment->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->object.members[i];
        struct value_path item = {.above = path, .name = member->key};
        struct environment_variable *variable = &environment->variables[i];
        variable->name = member->key;
        size_t found = reading->found;
        arguments_check_variable(reading, &item, member);
        if (reading->found == found)
            arguments_read_text(reading, &item, member->value, member->key.length + 1,
                                &variable->value);
    }
}
