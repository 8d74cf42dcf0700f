/* renderer/template.c - the door of the template language
 *
 * What it consists of: token.c and expression.c read expressions, compile.c a template's tree;
 * render.c, operators.c, evaluate.c, builtins.c, letters.c and from_now.c carry a rendering out,
 * on the state that interpreter.c keeps.
 *
 * A result may share parts with the template and the context; nothing of it is ever changed.
 */
#include "renderer/template.h"

#include "renderer/compiled.h"

/* A step takes about 20 to 100 ns, so the limit of steps is one of about a tenth of a second.  A
 * level takes less than 2 KiB of stack, ten times that under AddressSanitizer. */
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
        if (!is_identifier(context->object.members[i].key)) {
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
        return make_null(&self);
    struct extent extent;
    if (!value_measure(&self, value, &extent))
        return NULL;
    if (extent.functions)
        return interpreter_raise(&self, TEMPLATE_ERROR,
                                 "evaluated template contained uncalled functions");
    return value;
}
