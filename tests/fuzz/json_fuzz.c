/* tests/fuzz/json_fuzz.c - base/json.h: any bytes as JSON; what is read is a tree that reads back */
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
        struct text less = json_step_without(arena, source, names);
        CHECK(json_read(arena, less, "less.json", &yaml_request_limits, NULL));
    } else {
        check_sentence(&error);
        json_step_without(arena, source, names); /* it ends */
    }
    arena_free(arena);
    return 0;
}
