/* renderer/jsone/template.c - the interface of the template language
 *
 * What it consists of: token.c and expression.c read expressions; compile.c and compile_operation.c
 * read a template's tree; render.c, operators.c, collections.c, evaluate.c, builtins.c,
 * builtins_text.c, letters.c and from_now.c carry a rendering out, on the state that interpreter.c
 * keeps.
 *
 * Where JSON-e's implementations differ, this one follows JavaScript's, except for accidents of
 * that language: ends of slices must be whole numbers even if they are cut to the length; an
 * invalid time is an error and not null; no operator changes a list of the context; a function has
 * no text; keys beside an operator are compared as a whole.  A syntax error is an error even where
 * it would never be evaluated (`true || )`). builtins.c lists the stricter functions.  Texts are
 * compared by code points.
 *
 * A result may share parts with the template and the context; nothing of it is ever changed.
 */
#include "renderer/jsone/template.h"

#include "renderer/jsone/compile.h"
#include "renderer/jsone/render.h"

/* These steps take well under a second in all, most of them less than 100 ns each.  This depth fits
 * into 2 MiB of stack even under AddressSanitizer. */
const struct template_limits template_default_limits = {
    .steps = 1000 * 1000,
    .bytes = 64 * 1024 * 1024,
    .depth = 250,
};

struct template *template_compile(struct arena *arena, const struct value *tree, const char *name)
{
    struct template *template = arena_allocate(arena, sizeof(*template));
    template->arena = arena;
    template->name = arena_string(arena, name);
    compile_template(template, tree);
    return template;
}

int template_check(const struct template *template, struct error *error)
{
    return template->faulty ? error_set(error, "%s", template->fault.text) : 0;
}

static bool context_is_good(struct interpreter *self, const struct value *context)
{
    if (context->kind != VALUE_OBJECT) {
        interpreter_raise(self, TEMPLATE_ERROR, "context must be an object");
        return false;
    }
    for (size_t i = 0; i < context->object.count; i++)
        if (!token_is_identifier(context->object.members[i].key)) {
            interpreter_raise(self, TEMPLATE_ERROR,
                              "top level keys of context must follow /[a-zA-Z_][a-zA-Z0-9_]*/");
            return false;
        }
    return true;
}

struct value *template_render(const struct template *template, const struct rendering *rendering,
                              struct error *error)
{
    static const struct value delete_marker = {.kind = VALUE_OBJECT};
    const struct scope scope = {.object = rendering->context};
    struct interpreter self = {
        .rendering = rendering,
        .template = template,
        .arena = rendering->arena,
        .error = error,
        .limits = rendering->limits ? *rendering->limits : template_default_limits,
        .used_before = arena_used(rendering->arena),
        .scope = &scope,
        .delete_marker = &delete_marker,
        .line = template->root->line,
        .column = template->root->column,
    };
    self.steps = self.limits.steps;
    if (!context_is_good(&self, rendering->context))
        return NULL;
    struct value *value = render_node(&self, template->root);
    if (!value)
        return NULL;
    if (value == &delete_marker)
        return interpreter_null(&self);
    struct extent extent;
    if (!interpreter_measure(&self, value, &extent))
        return NULL;
    if (extent.functions)
        return interpreter_raise(&self, TEMPLATE_ERROR,
                                 "evaluated template contained uncalled functions");
    return value;
}
