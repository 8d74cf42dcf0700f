/* base/value.c - the value tree
 *
 * Objects are arrays of members in order of insertion.  Above SMALL_OBJECT members a hash table of
 * indexes is kept beside the array, so that a request with ten thousand keys costs no more per key
 * than one with ten.  The hash is keyed per process: users choose the keys.
 */
#include "base/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { SMALL_OBJECT = 12 };

static struct value *value_new(struct arena *arena, enum value_kind kind)
{
    struct value *value = arena_allocate(arena, sizeof(*value));
    value->kind = kind;
    return value;
}

struct value *value_null(struct arena *arena)
{
    return value_new(arena, VALUE_NULL);
}

struct value *value_boolean(struct arena *arena, bool boolean)
{
    struct value *value = value_new(arena, VALUE_BOOLEAN);
    value->boolean = boolean;
    return value;
}

struct value *value_number(struct arena *arena, double number)
{
    struct value *value = value_new(arena, VALUE_NUMBER);
    value->number = number;
    return value;
}

struct value *value_text(struct arena *arena, struct text string)
{
    struct value *value = value_new(arena, VALUE_STRING);
    value->string = string.data ? string : TEXT("");
    return value;
}

struct value *value_string(struct arena *arena, const char *string)
{
    return value_text(arena, arena_text(arena, string, strlen(string)));
}

struct value *value_list(struct arena *arena)
{
    return value_new(arena, VALUE_LIST);
}

struct value *value_object(struct arena *arena)
{
    return value_new(arena, VALUE_OBJECT);
}

void value_append(struct arena *arena, struct value *list, struct value *item)
{
    list->list.items = arena_grow(arena, list->list.items, list->list.count, &list->list.capacity,
                                  sizeof(struct value *));
    list->list.items[list->list.count++] = item;
}

static void slot_insert(struct value *object, size_t index)
{
    size_t mask = object->object.slot_count - 1;
    size_t slot = hash_secret(object->object.members[index].key) & mask;
    while (object->object.slots[slot])
        slot = (slot + 1) & mask;
    object->object.slots[slot] = (uint32_t)(index + 1);
}

static void index_new_member(struct arena *arena, struct value *object)
{
    size_t count = object->object.count;
    if (count <= SMALL_OBJECT)
        return;
    if (count * 2 <= object->object.slot_count) {
        slot_insert(object, count - 1);
        return;
    }
    size_t slots = object->object.slot_count ? object->object.slot_count : 16;
    while (slots < count * 4)
        slots *= 2;
    object->object.slots = arena_allocate(arena, slots * sizeof(uint32_t));
    object->object.slot_count = slots;
    for (size_t i = 0; i < count; i++)
        slot_insert(object, i);
}

/* Most keys that are compared differ in their length or their first byte. */
static bool has_key(const struct member *member, struct text key)
{
    return member->key.length == key.length &&
           (key.length == 0 || (member->key.data[0] == key.data[0] &&
                                memcmp(member->key.data, key.data, key.length) == 0));
}

struct member *value_member(const struct value *object, struct text key)
{
    if (!object || object->kind != VALUE_OBJECT)
        return NULL;
    if (!object->object.slots) {
        for (size_t i = 0; i < object->object.count; i++)
            if (has_key(&object->object.members[i], key))
                return &object->object.members[i];
        return NULL;
    }
    size_t mask = object->object.slot_count - 1;
    for (size_t slot = hash_secret(key) & mask; object->object.slots[slot];
         slot = (slot + 1) & mask) {
        struct member *member = &object->object.members[object->object.slots[slot] - 1];
        if (has_key(member, key))
            return member;
    }
    return NULL;
}

struct member *value_set(struct arena *arena, struct value *object, struct text key,
                         struct value *value)
{
    struct member *member = value_member(object, key);
    if (!member)
        return value_add(arena, object, key, value);
    member->value = value;
    return member;
}

struct member *value_add(struct arena *arena, struct value *object, struct text key,
                         struct value *value)
{
    object->object.members = arena_grow(arena, object->object.members, object->object.count,
                                        &object->object.capacity, sizeof(struct member));
    size_t index = object->object.count++;
    object->object.members[index] = (struct member){.key = key, .value = value};
    index_new_member(arena, object);
    return &object->object.members[index];
}

void value_put(struct arena *arena, struct value *object, const char *key, struct value *value)
{
    value_set(arena, object, text_of(key), value);
}

struct value *value_get(const struct value *object, const char *key)
{
    struct member *member = value_member(object, text_of(key));
    return member ? member->value : NULL;
}

struct text value_get_text(const struct value *object, const char *key)
{
    struct value *value = value_get(object, key);
    return value && value->kind == VALUE_STRING ? value->string : (struct text){NULL, 0};
}

double value_get_number(const struct value *object, const char *key, double otherwise)
{
    struct value *value = value_get(object, key);
    return value && value->kind == VALUE_NUMBER ? value->number : otherwise;
}

bool value_get_boolean(const struct value *object, const char *key, bool otherwise)
{
    struct value *value = value_get(object, key);
    return value && value->kind == VALUE_BOOLEAN ? value->boolean : otherwise;
}

size_t value_length(const struct value *list)
{
    return list && list->kind == VALUE_LIST ? list->list.count : 0;
}

struct value *value_find(const struct value *list, const char *key, struct text string)
{
    for (size_t i = 0; i < value_length(list); i++) {
        struct text found = value_get_text(list->list.items[i], key);
        if (found.data && text_equal(found, string))
            return list->list.items[i];
    }
    return NULL;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_NULL:
        return true;
    case VALUE_BOOLEAN:
        return a->boolean == b->boolean;
    case VALUE_NUMBER:
        return a->number == b->number;
    case VALUE_STRING:
        return text_equal(a->string, b->string);
    case VALUE_FUNCTION:
        return a->function == b->function;
    case VALUE_LIST:
        if (a->list.count != b->list.count)
            return false;
        for (size_t i = 0; i < a->list.count; i++)
            if (!value_equal(a->list.items[i], b->list.items[i]))
                return false;
        return true;
    case VALUE_OBJECT:
        if (a->object.count != b->object.count)
            return false;
        for (size_t i = 0; i < a->object.count; i++) {
            const struct member *other = value_member(b, a->object.members[i].key);
            if (!other || !value_equal(a->object.members[i].value, other->value))
                return false;
        }
        return true;
    }
    return false;
}

struct value *value_copy_members(struct arena *arena, const struct value *object)
{
    struct value *copy = value_object(arena);
    for (size_t i = 0; object && i < object->object.count; i++)
        value_add(arena, copy, object->object.members[i].key, object->object.members[i].value);
    return copy;
}

struct value *value_copy(struct arena *arena, const struct value *value)
{
    struct value *copy = value_new(arena, value->kind);
    copy->line = value->line;
    copy->column = value->column;
    switch (value->kind) {
    case VALUE_NULL:
        break;
    case VALUE_BOOLEAN:
        copy->boolean = value->boolean;
        break;
    case VALUE_NUMBER:
        copy->number = value->number;
        copy->written = arena_text(arena, value->written.data, value->written.length);
        break;
    case VALUE_FUNCTION:
        copy->function = value->function;
        break;
    case VALUE_STRING:
        copy->string = arena_text(arena, value->string.data, value->string.length);
        break;
    case VALUE_LIST:
        for (size_t i = 0; i < value->list.count; i++)
            value_append(arena, copy, value_copy(arena, value->list.items[i]));
        break;
    case VALUE_OBJECT:
        for (size_t i = 0; i < value->object.count; i++) {
            const struct member *from = &value->object.members[i];
            struct member *to =
                value_set(arena, copy, arena_text(arena, from->key.data, from->key.length),
                          value_copy(arena, from->value));
            to->line = from->line;
            to->column = from->column;
        }
        break;
    }
    return copy;
}

const char *value_kind_name(enum value_kind kind)
{
    static const char *const names[] = {"null", "boolean", "number",  "string",
                                        "list", "object",  "function"};
    return names[kind];
}

static int compare_members(const void *a, const void *b, void *object)
{
    const struct member *members = ((const struct value *)object)->object.members;
    return text_compare(members[*(const size_t *)a].key, members[*(const size_t *)b].key);
}

size_t *value_sorted(struct arena *arena, const struct value *object)
{
    size_t count = object->object.count;
    size_t *order = arena_allocate(arena, (count + 1) * sizeof(size_t));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    if (count)
        qsort_r(order, count, sizeof(size_t), compare_members, (void *)(uintptr_t)object);
    return order;
}

/* The digits of the shortest decimal that reads back as `number`, and its decimal exponent: the
 * number is 0.d1d2d3... times ten to the exponent. */
static size_t shortest_digits(double number, char *digits, int *exponent)
{
    char text[NUMBER_TEXT_SIZE];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, number);
        if (precision == 16 || strtod(text, NULL) == number)
            break;
    }
    size_t count = 0;
    const char *from = text;
    for (; *from && *from != 'e'; from++)
        if (*from != '.')
            digits[count++] = *from;
    *exponent = atoi(from + 1) + 1;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

size_t value_format_number(double number, char *buffer)
{
    if (isnan(number) || isinf(number))
        return (size_t)snprintf(buffer, NUMBER_TEXT_SIZE, "%s",
                                isnan(number) ? "NaN"
                                : number < 0  ? "-Infinity"
                                              : "Infinity");
    if (number == floor(number) && fabs(number) < 1e15)
        return (size_t)snprintf(buffer, NUMBER_TEXT_SIZE, "%" PRId64, (int64_t)number);
    char digits[NUMBER_TEXT_SIZE];
    int exponent;
    char *to = buffer;
    if (number < 0)
        *to++ = '-';
    int count = (int)shortest_digits(fabs(number), digits, &exponent);
    if (exponent > 21 || exponent < -5) {
        *to++ = digits[0];
        if (count > 1) {
            *to++ = '.';
            memcpy(to, digits + 1, (size_t)count - 1);
            to += count - 1;
        }
        to += snprintf(to, 8, "e%c%d", exponent > 0 ? '+' : '-', abs(exponent - 1));
        return (size_t)(to - buffer);
    }
    if (exponent <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = exponent; i < 0; i++)
            *to++ = '0';
    }
    for (int i = 0; i < count || i < exponent; i++) {
        if (i == exponent && exponent > 0)
            *to++ = '.';
        *to++ = i < count ? digits[i] : '0';
    }
    *to = '\0';
    return (size_t)(to - buffer);
}
