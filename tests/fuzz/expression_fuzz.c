/* tests/fuzz/expression_fuzz.c - renderer/jsone/expression.h: any text as an expression and as a string
 *
 * The text is evaluated as `$eval`, as a string with `${...}` in it, and as a condition, in a
 * context that has a value of every kind.  Bytes that are not UTF-8 do not get this far in
 * templates that were files; here they do.
 */
#include "base/utf8.h"
#include "renderer/functions.h"
#include "renderer/jsone/template.h"
#include "tests/fuzz/fuzz.h"

static const struct template_limits limits = {.steps = 100000, .bytes = 4 << 20, .depth = 100};

static const char context_source[] =
    "{\"n\": 3, \"x\": 0.5, \"s\": \"a \\u00fc \\ud83d\\ude00\", \"e\": \"\", \"b\": true, "
    "\"z\": null, \"l\": [1, \"two\", [3], {}], \"o\": {\"k\": {\"d\": [0]}, \"s\": \"v\"}, "
    "\"t\": \"2017-01-19T16:27:20.974Z\"}";

static void render(struct arena *arena, const struct value *context, struct value *tree, bool utf8)
{
    struct error error = {""};
    const struct template *template = template_compile(arena, tree, "test.yaml");
    const struct rendering rendering = {
        .arena = arena,
        .context = context,
        .functions = template_functions,
        .now = 1500000000000,
        .limits = &limits,
    };
    const struct value *value = template_render(template, &rendering, &error);
    struct buffer written = {0};
    if (!value)
        CHECK(error.text[0] && memchr(error.text, '\0', sizeof(error.text)));
    if (!value && utf8)
        check_sentence(&error);
    if (value && json_write(&written, value, true, &error) == 0 && utf8)
        check_tree(value);
    buffer_free(&written);
}

static struct value *wrap(struct arena *arena, const char *operator, struct value * operand)
{
    struct value *object = value_object(arena);
    value_put(arena, object, operator, operand);
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct value *text = value_text(arena, arena_text(arena, source.data, source.length));
    const struct value *context =
        json_read(arena, text_of(context_source), "context", &yaml_request_limits, NULL);
    CHECK(context);
    bool utf8 = utf8_valid(source);
    render(arena, context, text, utf8);
    render(arena, context, wrap(arena, "$eval", text), utf8);
    struct value *condition = wrap(arena, "$if", text);
    value_put(arena, condition, "then", wrap(arena, "$json", value_number(arena, 1)));
    render(arena, context, condition, utf8);
    arena_free(arena);
    return 0;
}
