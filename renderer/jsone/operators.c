/* renderer/jsone/operators.c - what each operator of JSON-e does
 *
 * One function for each, here and in collections.c, and a table of the keys beside each operator.
 * Checks that need only the template are made at compilation; the order of the others is JSON-e's.
 */
#include "renderer/jsone/operators.h"

#include "base/json.h"
#include "renderer/jsone/collections.h"
#include "renderer/jsone/evaluate.h"
#include "renderer/jsone/from_now.h"
#include "renderer/jsone/render.h"

enum { INCLUDES = 32 }; /* a deeper nesting counts as templates that include themselves */

/* Choices */

static struct value *render_eval(struct interpreter *self, const struct operation *operation)
{
    return evaluate(self, operation->expression);
}

static struct value *render_if(struct interpreter *self, const struct operation *operation)
{
    const struct value *condition = evaluate(self, operation->expression);
    if (!condition)
        return NULL;
    bool truthy = interpreter_is_truthy(condition);
    if (truthy && operation->misspelt_then)
        return render_fail(self, "$if Syntax error: $then: should be spelled then: (no $)");
    const struct node *chosen = operation->others[truthy ? 0 : 1];
    return chosen ? render_node(self, chosen) : render_delete_marker(self);
}

/* Render the values of all true conditions into a list. */
static struct value *render_conditions(struct interpreter *self, const struct operation *operation)
{
    struct value *list = interpreter_list(self, 0);
    for (size_t i = 0; list && i < operation->condition_count; i++) {
        const struct value *truth = evaluate(self, operation->conditions[i].expression);
        if (!truth)
            return NULL;
        if (!interpreter_is_truthy(truth))
            continue;
        struct value *value = render_node(self, operation->conditions[i].value);
        if (!value)
            return NULL;
        value_append(self->arena, list, value);
    }
    return list;
}

static struct value *render_switch(struct interpreter *self, const struct operation *operation)
{
    const struct value *list = render_conditions(self, operation);
    if (!list)
        return NULL;
    if (list->list.count > 1)
        return render_fail(self, "$switch can only have one truthy condition");
    if (list->list.count == 1)
        return list->list.items[0];
    return operation->otherwise ? render_node(self, operation->otherwise)
                                : render_delete_marker(self);
}

/* Variables */

static struct value *render_let(struct interpreter *self, const struct operation *operation)
{
    const struct value *variables =
        render_operand(self, operation, VALUE_OBJECT, "$let value must be an object");
    if (!variables)
        return NULL;
    for (size_t i = 0; i < variables->object.count; i++)
        if (!token_is_identifier(variables->object.members[i].key))
            return render_fail(self, "top level keys of $let must follow /[a-zA-Z_][a-zA-Z0-9_]*/");
    if (operation->late.message)
        return render_fault(self, &operation->late);
    struct scope scope = {.object = variables};
    return render_within(self, &scope, operation->others[0]);
}

/* The rest */

static struct value *render_json(struct interpreter *self, const struct operation *operation)
{
    enum { LONGEST_ESCAPE = 6 }; /* \u001f */
    const struct value *value = render_node(self, operation->operand);
    struct extent extent;
    struct error problem;
    if (!value || !interpreter_measure(self, value, &extent) ||
        !interpreter_bytes(self, extent.bytes))
        return NULL;
    if (extent.functions)
        return render_fail(self, "evaluated template contained uncalled functions");
    if (extent.bytes > self->limits.bytes / LONGEST_ESCAPE)
        return interpreter_raise(self, LIMIT_ERROR, "$json reached the limit of %zu bytes",
                                 self->limits.bytes);
    struct buffer out = {0};
    struct value *result = NULL;
    if (json_write(&out, value, true, &problem))
        render_fail(self, problem.text);
    else
        result = interpreter_text(self, out.data, out.length);
    buffer_free(&out);
    return result;
}

static struct value *render_from_now(struct interpreter *self, const struct operation *operation)
{
    const struct value *offset = render_node(self, operation->operand);
    const struct value *reference = offset ? interpreter_find(self, TEXT("now")) : NULL;
    if (offset && operation->others[0] && !(reference = render_node(self, operation->others[0])))
        return NULL;
    if (!offset)
        return NULL;
    if (offset->kind != VALUE_STRING)
        return render_fail(self, "$fromNow expects a string");
    return from_now(self, offset->string, reference);
}

/* Render another template in place of $include; places in sentences are then that template's. */
static struct value *render_included(struct interpreter *self, struct text path)
{
    struct error reason = {""};
    struct error_quote_buffer buffer;
    if (!self->rendering->include)
        return render_fail(self, "$include is not available here");
    if (self->includes >= INCLUDES)
        return interpreter_raise(self, LIMIT_ERROR,
                                 "$include of \"%s\" reached the limit of %d includes in one "
                                 "another; does it include itself?",
                                 error_quote(&buffer, path.data, path.length), INCLUDES);
    const struct template *included =
        self->rendering->include(self->rendering->include_context, path, &reason);
    if (!included)
        return interpreter_raise(self, TEMPLATE_ERROR, "$include: %s", reason.text);

    const struct template *outer = self->template;
    const struct place *place = self->place;
    self->template = included;
    self->place = NULL;
    self->includes++;
    struct value *value = render_node(self, included->root);
    self->includes--;
    self->place = place;
    self->template = outer;
    return value;
}

static struct value *render_include(struct interpreter *self, const struct operation *operation)
{
    const struct value *path =
        render_operand(self, operation, VALUE_STRING, "$include must be given a path as a string");
    return path ? render_included(self, path->string) : NULL;
}

static const struct operator_rule operators[] = {
    {.name = "$eval",
     .role = ROLE_EXPRESSION,
     .wrong_operand = "$eval must be given a string expression",
     .render = render_eval},
    {.name = "$flatten", .render = collection_flatten},
    {.name = "$flattenDeep", .render = collection_flatten_deep},
    {.name = "$fromNow", .keys = {"from"}, .render = render_from_now},
    {.name = "$if",
     .role = ROLE_EXPRESSION,
     .wrong_operand = "$if can evaluate string expressions only",
     .keys = {"then", "else"},
     .render = render_if},
    {.name = "$include", .render = render_include},
    {.name = "$json", .render = render_json},
    {.name = "$let",
     .role = ROLE_OBJECT,
     .wrong_operand = "$let value must be an object",
     .keys = {"in"},
     .render = render_let},
    {.name = "$map",
     .each = "each",
     .least_names = 1,
     .most_names = 2,
     .wrong_count = "$map must have exactly two properties",
     .render = collection_map},
    {.name = "$match",
     .role = ROLE_CONDITIONS,
     .wrong_operand = "$match can evaluate objects only",
     .render = render_conditions},
    {.name = "$merge", .render = collection_merge},
    {.name = "$mergeDeep", .render = collection_merge_deep},
    {.name = "$reduce",
     .raw_key = "initial",
     .each = "each",
     .least_names = 2,
     .most_names = 3,
     .wrong_count = "$reduce must have exactly three properties",
     .render = collection_reduce},
    {.name = "$find",
     .each = "each",
     .least_names = 1,
     .most_names = 2,
     .each_is_expression = true,
     .wrong_count = "$find must have exactly two properties",
     .render = collection_find},
    {.name = "$reverse", .render = collection_reverse},
    {.name = "$sort",
     .each = "by",
     .least_names = 1,
     .most_names = 1,
     .each_is_expression = true,
     .render = collection_sort},
    {.name = "$switch",
     .role = ROLE_CONDITIONS,
     .wrong_operand = "$switch can evaluate objects only",
     .render = render_switch},
};

const struct operator_rule *operator_find(struct text key)
{
    if (key.length < 3 || key.data[0] != '$')
        return NULL;
    for (size_t i = 0; i < ARRAY_COUNT(operators); i++)
        if (text_is(key, operators[i].name))
            return &operators[i];
    return NULL;
}
