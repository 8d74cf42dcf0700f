/* renderer/jsone/interpreter.c - sentences, bounds, variables and values of one rendering */
#include "renderer/jsone/interpreter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "renderer/jsone/compiled.h"

enum {
    BYTES_A_STEP = 64,  /* reading or copying that many costs a step */
    PLACE_LENGTH = 800, /* bytes of a place that a sentence shows */
    DESCRIPTION_LENGTH = 100
};

/* Sentences */

static bool is_plain_key(struct text key)
{
    return token_is_identifier(key) && !memchr(key.data, '_', key.length);
}

static void write_place(struct buffer *out, const struct place *place)
{
    if (!place)
        return;
    write_place(out, place->outer);
    struct error_quote_buffer buffer;
    if (!place->key.data)
        buffer_printf(out, "[%zu]", place->index);
    else if (is_plain_key(place->key))
        buffer_printf(out, ".%s", error_quote(&buffer, place->key.data, place->key.length));
    else
        buffer_printf(out, "[\"%s\"]", error_quote(&buffer, place->key.data, place->key.length));
}

void interpreter_sentence(struct error *error, const char *name, uint32_t line, uint32_t column,
                          const struct place *place, const char *kind, const char *message)
{
    struct buffer where = {0};
    if (name && line)
        buffer_printf(&where, "%s:%u:%u: %s", name, line, column, kind);
    else if (name)
        buffer_printf(&where, "%s: %s", name, kind);
    else
        buffer_printf(&where, "%s", kind);
    if (place) {
        buffer_add_string(&where, " at template");
        size_t before = where.length;
        write_place(&where, place);
        if (where.length - before > PLACE_LENGTH) {
            where.length = before + PLACE_LENGTH;
            while (((unsigned char)where.data[where.length] & 0xc0) == 0x80)
                where.length--;
            buffer_add_string(&where, "...");
        }
    }
    error_set(error, "%s: %s", where.data, message);
    buffer_free(&where);
}

struct value *interpreter_raise(struct interpreter *self, const char *kind, const char *format, ...)
{
    struct error message;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text, sizeof(message.text), format, arguments);
    va_end(arguments);
    interpreter_sentence(self->error, self->template->name, self->line, self->column, self->place,
                         kind, message.text);
    return NULL;
}

/* Bounds */

bool interpreter_steps(struct interpreter *self, size_t steps)
{
    if (self->steps < steps) {
        interpreter_raise(self, LIMIT_ERROR, "rendering reached the limit of %zu steps",
                          self->limits.steps);
        return false;
    }
    self->steps -= steps;
    return true;
}

bool interpreter_bytes(struct interpreter *self, size_t bytes)
{
    return interpreter_steps(self, bytes / BYTES_A_STEP);
}

bool interpreter_may_take(struct interpreter *self, size_t bytes)
{
    size_t used = arena_used(self->arena) - self->used_before;
    if (used <= self->limits.bytes && bytes <= self->limits.bytes - used)
        return true;
    interpreter_raise(self, LIMIT_ERROR, "rendering reached the limit of %zu bytes",
                      self->limits.bytes);
    return false;
}

bool interpreter_enter(struct interpreter *self)
{
    if (self->depth >= self->limits.depth) {
        interpreter_raise(self, LIMIT_ERROR, "nested deeper than the limit of %zu levels",
                          self->limits.depth);
        return false;
    }
    self->depth++;
    return true;
}

/* New values */

struct value *interpreter_null(struct interpreter *self)
{
    if (!self->null)
        self->null = value_null(self->arena);
    return self->null;
}

struct value *interpreter_boolean(struct interpreter *self, bool boolean)
{
    struct value **kept = boolean ? &self->yes : &self->no;
    if (!*kept)
        *kept = value_boolean(self->arena, boolean);
    return *kept;
}

struct value *interpreter_number(struct interpreter *self, double number)
{
    return interpreter_may_take(self, sizeof(struct value)) ? value_number(self->arena, number)
                                                            : NULL;
}

struct value *interpreter_text(struct interpreter *self, const char *bytes, size_t length)
{
    if (!interpreter_bytes(self, length) ||
        !interpreter_may_take(self, sizeof(struct value) + length + 1))
        return NULL;
    return value_text(self->arena, arena_text(self->arena, bytes, length));
}

struct value *interpreter_list(struct interpreter *self, size_t capacity)
{
    if (capacity > self->limits.bytes / sizeof(struct value *))
        capacity = self->limits.bytes; /* too many; room is refused below */
    if (!interpreter_steps(self, capacity / 8) ||
        !interpreter_may_take(self, sizeof(struct value) + capacity * sizeof(struct value *)))
        return NULL;
    struct value *list = value_list(self->arena);
    if (capacity) {
        list->list.items = arena_allocate(self->arena, capacity * sizeof(struct value *));
        list->list.capacity = capacity;
    }
    return list;
}

struct value *interpreter_object(struct interpreter *self, size_t capacity)
{
    if (!interpreter_steps(self, capacity / 4) ||
        !interpreter_may_take(self, sizeof(struct value) + capacity * sizeof(struct member)))
        return NULL;
    struct value *object = value_object(self->arena);
    if (capacity) {
        object->object.members = arena_allocate(self->arena, capacity * sizeof(struct member));
        object->object.capacity = capacity;
    }
    return object;
}

/* Variables */

static struct value *find_in_scope(const struct scope *scope, struct text name)
{
    for (size_t i = scope->count; i-- > 0;)
        if (text_equal(scope->names[i], name))
            return scope->values[i];
    const struct member *member = value_member(scope->object, name);
    return member ? member->value : NULL;
}

/* Find one of the rendering's functions.  Its value is made once, so that a function equals
 * itself. */
static struct value *find_given_function(struct interpreter *self, struct text name)
{
    const struct template_function *given = self->rendering->functions;
    size_t at = 0, count = 0;
    if (!given)
        return NULL;
    while (given[at].name && !text_is(name, given[at].name))
        at++;
    if (!given[at].name)
        return NULL;
    if (!self->functions) {
        while (given[count].name)
            count++;
        self->functions = arena_allocate(self->arena, count * sizeof(struct value *));
    }
    if (!self->functions[at]) {
        struct function *function = arena_allocate(self->arena, sizeof(*function));
        function->given = &given[at];
        struct value *value = value_null(self->arena);
        value->kind = VALUE_FUNCTION;
        value->function = function;
        self->functions[at] = value;
    }
    return self->functions[at];
}

static struct value *clock_value(struct interpreter *self)
{
    if (!self->now) {
        char buffer[CLOCK_TEXT_SIZE];
        self->now = value_string(self->arena, clock_format(self->rendering->now, buffer));
    }
    return self->now;
}

struct value *interpreter_find(struct interpreter *self, struct text name)
{
    struct value *found;
    for (const struct scope *scope = self->scope; scope; scope = scope->outer)
        if ((found = find_in_scope(scope, name)))
            return found;
    if ((found = find_given_function(self, name)) || (found = interpreter_find_builtin(self, name)))
        return found;
    return text_is(name, "now") ? clock_value(self) : NULL;
}

/* Values */

bool interpreter_is_truthy(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        return false;
    case VALUE_BOOLEAN:
        return value->boolean;
    case VALUE_NUMBER:
        return value->number != 0;
    case VALUE_STRING:
        return value->string.length > 0;
    case VALUE_LIST:
        return value->list.count > 0;
    case VALUE_OBJECT:
        return value->object.count > 0;
    case VALUE_FUNCTION:
        return true;
    }
    return true;
}

bool interpreter_is_whole(double number)
{
    return isfinite(number) && floor(number) == number;
}

static bool lists_equal(struct interpreter *self, const struct value *a, const struct value *b,
                        bool *equal)
{
    *equal = a->list.count == b->list.count;
    for (size_t i = 0; *equal && i < a->list.count; i++)
        if (!interpreter_equal(self, a->list.items[i], b->list.items[i], equal))
            return false;
    return true;
}

static bool objects_equal(struct interpreter *self, const struct value *a, const struct value *b,
                          bool *equal)
{
    *equal = a->object.count == b->object.count;
    for (size_t i = 0; *equal && i < a->object.count; i++) {
        const struct member *here = &a->object.members[i];
        const struct member *there = value_member(b, here->key);
        if (!interpreter_bytes(self, here->key.length))
            return false;
        *equal = there != NULL;
        if (there && !interpreter_equal(self, here->value, there->value, equal))
            return false;
    }
    return true;
}

bool interpreter_equal(struct interpreter *self, const struct value *a, const struct value *b,
                       bool *equal)
{
    if (!interpreter_steps(self, 1) || !interpreter_enter(self))
        return false;
    bool done = true;
    *equal = false;
    if (a->kind != b->kind)
        *equal = false;
    else if (a->kind == VALUE_LIST)
        done = lists_equal(self, a, b, equal);
    else if (a->kind == VALUE_OBJECT)
        done = objects_equal(self, a, b, equal);
    else if (a->kind == VALUE_STRING && !interpreter_bytes(self, a->string.length))
        done = false;
    else if (a->kind == VALUE_NUMBER) /* NaN is not even itself */
        *equal = a->number == b->number;
    else
        *equal = value_equal(a, b);
    self->depth--;
    return done;
}

static bool measure_value(struct interpreter *self, const struct value *value,
                          struct extent *extent)
{
    if (!interpreter_steps(self, 1) || !interpreter_enter(self))
        return false;
    extent->bytes += 8;
    extent->functions |= value->kind == VALUE_FUNCTION;
    if (value->kind == VALUE_STRING)
        extent->bytes += value->string.length;
    if (value->kind == VALUE_LIST)
        for (size_t i = 0; i < value->list.count; i++)
            if (!measure_value(self, value->list.items[i], extent))
                return false;
    if (value->kind == VALUE_OBJECT)
        for (size_t i = 0; i < value->object.count; i++) {
            extent->bytes += value->object.members[i].key.length;
            if (!measure_value(self, value->object.members[i].value, extent))
                return false;
        }
    self->depth--;
    return true;
}

bool interpreter_measure(struct interpreter *self, const struct value *value, struct extent *extent)
{
    *extent = (struct extent){0, false};
    if (!measure_value(self, value, extent))
        return false;
    if (extent->bytes <= self->limits.bytes)
        return true;
    interpreter_raise(self, LIMIT_ERROR, "the result is larger than the limit of %zu bytes",
                      self->limits.bytes);
    return false;
}

bool interpreter_scalar_text(struct interpreter *self, const struct value *value, struct text *text)
{
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_STRING:
        *text = value->string;
        return true;
    case VALUE_BOOLEAN:
        *text = value->boolean ? TEXT("true") : TEXT("false");
        return true;
    case VALUE_NUMBER:
        /* Fractions cost more: their digits are found by trial. */
        if (!interpreter_steps(self, interpreter_is_whole(value->number) ? 1 : 8) ||
            !interpreter_may_take(self, NUMBER_TEXT_SIZE))
            return false;
        *text = arena_text(self->arena, number, value_format_number(value->number, number));
        return true;
    default:
        *text = TEXT("");
        return true;
    }
}

/* Append what JSON-e would print for the value in a message, up to DESCRIPTION_LENGTH bytes. */
static void describe_value(struct buffer *out, const struct value *value)
{
    char number[NUMBER_TEXT_SIZE];
    if (out->length > DESCRIPTION_LENGTH)
        return;
    switch (value->kind) {
    case VALUE_NULL:
        buffer_add_string(out, "null");
        break;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        break;
    case VALUE_NUMBER:
        buffer_add(out, number, value_format_number(value->number, number));
        break;
    case VALUE_STRING:
        buffer_add(out, value->string.data,
                   value->string.length < DESCRIPTION_LENGTH ? value->string.length
                                                             : DESCRIPTION_LENGTH);
        break;
    case VALUE_LIST:
        for (size_t i = 0; i < value->list.count && out->length <= DESCRIPTION_LENGTH; i++) {
            const struct value *item = value->list.items[i];
            buffer_add_string(out, i ? "," : "");
            if (item->kind == VALUE_LIST)
                buffer_add_string(out, "[...]");
            else if (item->kind != VALUE_NULL)
                describe_value(out, item);
        }
        break;
    case VALUE_OBJECT:
        buffer_add_string(out, "[object Object]");
        break;
    case VALUE_FUNCTION:
        buffer_add_string(out, "function");
        break;
    }
}

struct text interpreter_describe(struct interpreter *self, const struct value *value)
{
    struct buffer buffer = {0};
    struct error_quote_buffer quote;
    describe_value(&buffer, value);
    struct text all = buffer_text(&buffer);
    const char *quoted = error_quote(&quote, all.data, all.length);
    struct text text = arena_text(self->arena, quoted, strlen(quoted));
    buffer_free(&buffer);
    return text;
}
