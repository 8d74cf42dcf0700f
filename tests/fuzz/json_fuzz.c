/* tests/fuzz/json_fuzz.c - base/json.h: any bytes as JSON; what is read is a tree that reads back */
#include <jansson.h>

#include "base/json_step.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz.h"

/* The byte that stands at a line and column of the text. */
static char byte_at(struct text source, uint32_t line, uint32_t column)
{
    size_t at = 0;
    for (; line > 1 && at < source.length; at++)
        line -= source.data[at] == '\n';
    for (; column > 1 && at < source.length; column--)
        at += utf8_sequence(source.data + at, source.length - at);
    return at < source.length ? source.data[at] : '\0';
}

static bool starts_as(const struct value *value, char byte)
{
    static const char *const starts[] = {"n", "tf", "-0123456789", "\"", "[", "{"};
    return value->kind < VALUE_FUNCTION && byte && strchr(starts[value->kind], byte);
}

/* A value stands where it says that it stands: of some, since finding a place takes long. */
static void check_first_places(struct text source, const struct value *value, int *most)
{
    if ((*most)-- <= 0)
        return;
    CHECK(starts_as(value, byte_at(source, value->line, value->column)));
    for (size_t i = 0; value->kind == VALUE_LIST && i < value->list.count; i++)
        check_first_places(source, value->list.items[i], most);
    for (size_t i = 0; value->kind == VALUE_OBJECT && i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        CHECK(byte_at(source, member->line, member->column) == '"');
        check_first_places(source, member->value, most);
    }
}

/* Does jansson read the same?  `value` is NULL when the text was found not to be JSON. */
static void check_same(const json_t *json, const struct value *value)
{
    static const enum value_kind kinds[] = {
        [JSON_OBJECT] = VALUE_OBJECT,  [JSON_ARRAY] = VALUE_LIST,  [JSON_STRING] = VALUE_STRING,
        [JSON_INTEGER] = VALUE_NUMBER, [JSON_REAL] = VALUE_NUMBER, [JSON_TRUE] = VALUE_BOOLEAN,
        [JSON_FALSE] = VALUE_BOOLEAN,  [JSON_NULL] = VALUE_NULL};
    CHECK((json != NULL) == (value != NULL));
    if (!json)
        return;
    CHECK(value->kind == kinds[json_typeof(json)]);
    if (value->kind == VALUE_BOOLEAN)
        CHECK(value->boolean == json_is_true(json));
    if (value->kind == VALUE_NUMBER)
        CHECK(value->number == json_number_value(json));
    if (value->kind == VALUE_STRING)
        CHECK(text_equal(value->string,
                         (struct text){json_string_value(json), json_string_length(json)}));
    if (value->kind == VALUE_LIST)
        CHECK(value->list.count == json_array_size(json));
    for (size_t i = 0; value->kind == VALUE_LIST && i < value->list.count; i++)
        check_same(json_array_get(json, i), value->list.items[i]);
    if (value->kind == VALUE_OBJECT)
        CHECK(value->object.count == json_object_size(json));
    for (size_t i = 0; value->kind == VALUE_OBJECT && i < value->object.count; i++)
        check_same(json_object_get(json, value->object.members[i].key.data),
                   value->object.members[i].value);
}

static void check_like_jansson(struct text source, const struct value *value)
{
    json_t *json = json_loadb(
        source.data, source.length,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    if (value || !memchr(source.data, '\0', source.length)) /* one behind a number it passes over */
        check_same(json, value);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { PLACES = 100 };
    static const char *const names[] = {"a", "key", "name", NULL};
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    const struct value *value =
        json_read(arena, source, "input.json", &yaml_request_limits, &error);
    if (value) {
        int most = PLACES;
        check_tree(value);
        check_places(value);
        check_first_places(source, value, &most);
        check_json_round_trip(arena, value);
        check_yaml_round_trip(arena, value);
        check_like_jansson(source, value);
        struct text less = json_step_without(arena, source, names);
        const struct value *part =
            json_read_without(arena, source, "part.json", names, &yaml_request_limits, NULL);
        const struct value *same = json_read(arena, less, "less.json", &yaml_request_limits, NULL);
        CHECK(part && same && value_equal(part, same));
    } else {
        check_sentence(&error);
        if (strstr(error.text, "not well-formed"))
            check_like_jansson(source, NULL);
        json_step_without(arena, source, names); /* it ends */
    }
    arena_free(arena);
    return 0;
}
