/* request/openpai/values.c - values as OpenPAI's REST server takes them */
#include "request/openpai/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "request/notes.h"
#include "request/values.h"

/* Linux takes strings of at most 32 pages, with the final NUL. */
enum { LONGEST_STRING = 32 * 4096 - 1 };

/* Read a number from a text: digits, optionally with a sign and a fraction. */
static bool number_of_text(struct text text, double *number)
{
    char digits[40];
    text = text_trim(text);
    if (text.length == 0 || text.length >= sizeof(digits))
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (!memchr("0123456789.+-eE", text.data[i], 15))
            return false;
    memcpy(digits, text.data, text.length);
    digits[text.length] = '\0';
    char *end;
    *number = strtod(digits, &end);
    return *end == '\0' && isfinite(*number);
}

void openpai_integer(struct reading *reading, const struct value_path *path,
                     const struct value *value, const struct field *field, void *into)
{
    double number = 0;
    bool read = value->kind == VALUE_NUMBER;
    if (read)
        number = value->number;
    else if (value->kind == VALUE_STRING)
        read = number_of_text(value->string, &number);
    if (!read || number != floor(number) || number < (double)field->least ||
        number > (double)field->most)
        problems_expected(reading, path, value, "a whole number from %" PRId64 " to %" PRId64,
                          field->least, field->most);
    else
        *(int64_t *)into = (int64_t)number;
}

static bool has_control(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            return true;
    return false;
}

void openpai_text(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    if (value->kind != VALUE_STRING || has_control(value->string))
        problems_expected(reading, path, value, "a text of one line");
    else if (value->string.length > (size_t)field->most)
        problems_expected(reading, path, value, "at most %" PRId64 " bytes", field->most);
    else
        *(struct text *)into = text_trim(value->string);
}

static bool is_made_of(struct text text, const char *others, size_t most)
{
    if (text.length == 0 || text.length > most)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && !(c && strchr(others, c)))
            return false;
    }
    return true;
}

void openpai_job_name(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_STRING || !is_made_of(value->string, "-._", OPENPAI_NAME_LONGEST))
        problems_expected(reading, path, value, "1 to %d letters, digits and - . _",
                          (int)OPENPAI_NAME_LONGEST);
    else
        *(struct text *)into = value->string;
}

void openpai_name(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_STRING || !is_made_of(value->string, "._~", OPENPAI_NAME_LONGEST))
        problems_expected(reading, path, value, "1 to %d letters, digits and . _ ~",
                          (int)OPENPAI_NAME_LONGEST);
    else
        *(struct text *)into = value->string;
}

void openpai_image(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    struct value trimmed = *value;
    if (value->kind == VALUE_STRING)
        trimmed.string = text_trim(value->string);
    read_image(reading, path, &trimmed, field, into);
}

void openpai_gpu_type(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    bool good = value->kind == VALUE_STRING && value->string.length <= (size_t)field->most;
    for (size_t i = 0; good && i < value->string.length; i++)
        good = (unsigned char)value->string.data[i] > ' ' && value->string.data[i] != 0x7f;
    if (good)
        *(struct text *)into = value->string;
    else
        problems_expected(reading, path, value,
                          "a text of at most %" PRId64 " bytes without blanks", field->most);
}

void openpai_object(struct reading *reading, const struct value_path *path,
                    const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_OBJECT)
        problems_expected(reading, path, value, "a map");
    else
        *(const struct value **)into = value;
}

void openpai_anything(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)reading, (void)path, (void)value, (void)field, (void)into;
}

void openpai_list(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    if (value->kind != VALUE_LIST)
        problems_expected(reading, path, value, "a list");
    else if (value->list.count < (size_t)field->least)
        problems_add(reading, path, value->line, value->column,
                     "found an empty list, expected one of at least %" PRId64, field->least);
    else
        *(const struct value **)into = value;
}

bool openpai_values_command(struct reading *reading, const struct value_path *path,
                            struct text command, const struct value *value, struct task_role *role)
{
    if (text_trim(command).length == 0)
        problems_add(reading, path, value->line, value->column,
                     "found an empty text, expected a command");
    else if (memchr(command.data, '\0', command.length))
        problems_add(reading, path, value->line, value->column,
                     "found a NUL byte, expected a command");
    else if (command.length > LONGEST_STRING)
        problems_add(reading, path, value->line, value->column,
                     "found %zu bytes, expected a command of at most %d", command.length,
                     (int)LONGEST_STRING);
    else {
        role->command = arena_allocate(reading->arena, 3 * sizeof(struct text));
        role->command[0] = TEXT("bash");
        role->command[1] = TEXT("-c");
        role->command[2] = command;
        role->command_count = 3;
        return true;
    }
    return false;
}

void openpai_values_refuse_nulls(struct reading *reading, const struct value_path *above,
                                 const struct value *map, const struct field_table *table,
                                 const char *const *but)
{
    for (size_t i = 0; i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        bool allowed = member->value->kind != VALUE_NULL || !fields_find(table, member->key);
        for (size_t j = 0; but[j] && !allowed; j++)
            allowed = text_is(member->key, but[j]);
        struct value_path path = {.above = above, .name = member->key};
        if (!allowed)
            problems_add(reading, &path, member->value->line, member->value->column,
                         "found null, expected a value; leave the field out for its default");
    }
}

void openpai_values_require(struct reading *reading, const struct value_path *above,
                            const struct value *map, const char *const *names,
                            const char *const *expected)
{
    for (size_t i = 0; names[i]; i++) {
        struct value_path path = {.above = above, .name = text_of(names[i])};
        if (!value_get(map, names[i]))
            problems_add(reading, &path, map->line, map->column, "missing, expected %s",
                         expected[i]);
    }
}

/* Is it a name that env(1), podman and Kubernetes accept? */
static bool is_variable_name(struct text name)
{
    return is_made_of(name, "_.-", OPENPAI_NAME_LONGEST) &&
           !(name.data[0] >= '0' && name.data[0] <= '9');
}

static const char *why_no_variable(const struct member *member, struct text *text)
{
    if (!is_variable_name(member->key))
        return "no variable can be called that; it is left out";
    if (text_starts(member->key, "DLSPOOL_"))
        return "variables that start with DLSPOOL_ are dlspool's own; it is left out";
    if (!values_scalar_text(member->value, true, text))
        return "neither a text nor a number, true or false; it is left out";
    if (text->length && memchr(text->data, '\0', text->length))
        return "it holds a NUL byte; it is left out";
    if (text->length + member->key.length + 1 > LONGEST_STRING)
        return "too long for a variable; it is left out";
    return NULL;
}

void openpai_values_environment(struct reading *reading, const struct value_path *path,
                                const struct value *map, struct environment *environment,
                                struct notes *notes)
{
    struct error_quote_buffer buffer;
    (void)path;
    environment->variables =
        arena_allocate(reading->arena, (map->object.count + 1) * sizeof(*environment->variables));
    for (size_t i = 0; i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        struct text text = {NULL, 0};
        const char *reason = why_no_variable(member, &text);
        if (!reason)
            environment->variables[environment->count++] =
                (struct environment_variable){member->key, text};
        else
            request_notes_add(
                reading->arena, notes,
                arena_printf(reading->arena, "jobEnvs.%s",
                             error_quote(&buffer, member->key.data, member->key.length))
                    .data,
                "%s", reason);
    }
}

/* Add a port, unless the role has one with that label. */
static void add_port(struct task_role *role, struct text label)
{
    for (size_t i = 0; i < role->ports_count; i++)
        if (text_equal(role->ports[i].label, label))
            return;
    role->ports[role->ports_count++] = (struct port_request){.label = label, .count = 1};
}

void openpai_values_usual_ports(struct task_role *role)
{
    add_port(role, TEXT("http"));
    add_port(role, TEXT("ssh"));
}
