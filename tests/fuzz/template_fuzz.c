/* tests/fuzz/template_fuzz.c - renderer/jsone/template.h: any template with any context
 *
 * The input is a template, a line of `---`, and a context, both YAML.  `$include: self` includes
 * the template itself, so that endless inclusion is tried too.  Rendering ends within its limits in
 * a tree that can be written and read back, or in a sentence; and a second time in the same.
 */
#include "renderer/functions.h"
#include "renderer/jsone/template.h"
#include "tests/fuzz/fuzz.h"

static const struct yaml_limits yaml_limits = {1 << 20, 20000, 100};
static const struct template_limits limits = {.steps = 100000, .bytes = 1 << 18, .depth = 100};

enum { SLACK = 1 << 18 }; /* bytes: lists and objects grow by doubling */

static const struct template *include(void *context, struct text path, struct error *error)
{
    struct error_quote_buffer buffer;
    if (text_is(path, "self"))
        return context;
    error_set(error, "there is no template \"%s\"", error_quote(&buffer, path.data, path.length));
    return NULL;
}

static struct value *render(struct arena *arena, struct template *template,
                            const struct value *context, struct error *error)
{
    const struct rendering rendering = {
        .arena = arena,
        .context = context,
        .functions = template_functions,
        .include = include,
        .include_context = template,
        .now = 1500000000000,
        .limits = &limits,
    };
    size_t before = arena_used(arena);
    struct value *value = template_render(template, &rendering, error);
    CHECK(arena_used(arena) - before <= limits.bytes + SLACK);
    if (!value)
        check_sentence(error);
    return value;
}

/* A number may have become infinite, and a list deeper than can be written; else all is kept. */
static void check_result(struct arena *arena, const struct value *value)
{
    struct buffer written = {0};
    struct error error = {""};
    if (yaml_write(&written, value, &error) == 0) {
        check_tree(value);
        check_yaml_round_trip(arena, value);
    } else {
        check_sentence(&error);
        CHECK(strstr(error.text, "not finite"));
    }
    buffer_free(&written);
}

static void render_twice(struct arena *arena, const struct value *tree, const struct value *context)
{
    struct error fault = {""}, first = {""}, second = {""};
    struct template *template = template_compile(arena, tree, "test.yaml");
    bool faulty = template_check(template, &fault);
    if (faulty)
        check_sentence(&fault);
    const struct value *once = render(arena, template, context, &first);
    const struct value *twice = render(arena, template, context, &second);
    CHECK(!once == !twice);
    CHECK(strcmp(first.text, second.text) == 0);
    if (once)
        check_result(arena, once);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text rest = fuzz_text(bytes, length);
    struct text template_source = fuzz_part(&rest);
    struct arena *arena = arena_new();
    const struct value *tree = yaml_read(arena, template_source, "test.yaml", &yaml_limits, NULL);
    const struct value *context = yaml_read(arena, rest, "context.yaml", &yaml_limits, NULL);
    if (!context || context->kind != VALUE_OBJECT)
        context = value_object(arena);
    if (tree)
        render_twice(arena, tree, context);
    arena_free(arena);
    return 0;
}
