/* renderer/jsone/compile_operation.c - compile an object with an operator
 *
 * A fault that JSON-e raises before rendering the operand replaces the operation; one that it
 * raises afterwards is kept as the operation's late fault.
 */
#include <string.h>

#include "renderer/jsone/compile.h"
#include "renderer/jsone/interpreter.h"

static const struct expression *compile_string_expression(struct compiler *self,
                                                          const struct value *value)
{
    return compile_expression(self, value->string, value->line, value->column);
}

/* Read `each(a)`, `each(a,b)`, ... with blanks only after a comma. */
static bool read_each(struct text key, const struct operator_rule *rule, struct text *names,
                      size_t *count)
{
    size_t prefix = rule->each ? strlen(rule->each) : 0;
    if (!prefix || !text_starts(key, rule->each) || key.length < prefix + 2 ||
        key.data[prefix] != '(' || key.data[key.length - 1] != ')')
        return false;
    struct text rest = {key.data + prefix + 1, key.length - prefix - 2}, name;
    *count = 0;
    while (text_next(&rest, ',', &name)) {
        size_t space;
        while (*count && (space = token_space_length(name.data, name.length))) {
            name.data += space;
            name.length -= space;
        }
        if (*count == rule->most_names || !token_is_identifier(name))
            return false;
        names[(*count)++] = name;
    }
    return *count >= rule->least_names;
}

static void set_late(struct compiler *self, struct operation *operation, const char *message)
{
    struct fault fault = compile_fault(self, TEMPLATE_ERROR, message);
    if (!operation->late.message)
        operation->late = fault;
}

static void compile_each(struct compiler *self, struct operation *operation,
                         const struct value *value)
{
    if (!operation->rule->each_is_expression)
        operation->each = compile_value(self, value);
    else if (value->kind == VALUE_STRING)
        operation->each_expression = compile_string_expression(self, value);
}

/* Compile a key beside the operator; false when the operator does not have it. */
static bool compile_other(struct compiler *self, struct operation *operation,
                          const struct member *member, size_t *eaches)
{
    const struct operator_rule *rule = operation->rule;
    struct text names[3] = {{0}};
    size_t count;
    for (size_t i = 0; i < 2 && rule->keys[i]; i++)
        if (text_is(member->key, rule->keys[i])) {
            operation->others[i] = compile_value(self, member->value);
            return true;
        }
    if (rule->raw_key && text_is(member->key, rule->raw_key)) {
        operation->raw = member->value;
        return true;
    }
    if (text_is(member->key, "$then") && text_is(text_of(rule->name), "$if")) {
        operation->misspelt_then = true;
        compile_fault(self, TEMPLATE_ERROR,
                      "$if Syntax error: $then: should be spelled then: (no $)");
        return true;
    }
    if (!read_each(member->key, rule, names, &count))
        return false;
    if ((*eaches)++ == 0) {
        memcpy(operation->names, names, sizeof(names));
        operation->name_count = count;
        compile_each(self, operation, member->value);
    }
    return true;
}

static const char *name_unknown(struct compiler *self, const struct value *value,
                                const struct operator_rule *rule, const bool *known)
{
    struct buffer message = {0};
    struct error_quote_buffer buffer;
    size_t *order = value_sorted(self->arena, value);
    buffer_printf(&message, "%s has undefined properties:", rule->name);
    for (size_t i = 0; i < value->object.count; i++) {
        struct text key = value->object.members[order[i]].key;
        if (!known[order[i]])
            buffer_printf(&message, " %s", error_quote(&buffer, key.data, key.length));
    }
    const char *kept = arena_string(self->arena, message.data);
    buffer_free(&message);
    return kept;
}

static void compile_conditions(struct compiler *self, struct operation *operation,
                               const struct value *value)
{
    bool is_switch = text_is(text_of(operation->rule->name), "$switch");
    size_t *order = value_sorted(self->arena, value);
    struct condition *conditions =
        arena_allocate(self->arena, (value->object.count + 1) * sizeof(struct condition));
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[order[i]];
        const struct node *node = compile_value(self, member->value);
        if (is_switch && text_is(member->key, "$default")) {
            operation->otherwise = node;
            continue;
        }
        struct condition *condition = &conditions[operation->condition_count++];
        condition->expression = compile_expression(self, member->key, member->line, member->column);
        condition->value = node;
    }
    operation->conditions = conditions;
}

static void compile_operand(struct compiler *self, struct operation *operation,
                            const struct value *value)
{
    switch (operation->rule->role) {
    case ROLE_TEMPLATE:
    case ROLE_OBJECT:
        operation->operand = compile_value(self, value);
        break;
    case ROLE_EXPRESSION:
        operation->expression = compile_string_expression(self, value);
        break;
    case ROLE_CONDITIONS:
        compile_conditions(self, operation, value);
        break;
    }
}

static bool operand_fits(const struct operator_rule *rule, const struct value *value)
{
    switch (rule->role) {
    case ROLE_EXPRESSION:
        return value->kind == VALUE_STRING;
    case ROLE_OBJECT:
    case ROLE_CONDITIONS:
        return value->kind == VALUE_OBJECT;
    default:
        return true;
    }
}

/* JSON-e uses a second key only when its value is neither false, null, 0 nor empty text ($fromNow's
 * `from`), or not null ($let's `in`). */
static void check_others(struct compiler *self, struct operation *operation,
                         const struct value *value)
{
    struct text name = text_of(operation->rule->name);
    const struct value *from = value_get(value, "from"), *in = value_get(value, "in");
    if (text_is(name, "$fromNow") && from && from->kind != VALUE_LIST &&
        from->kind != VALUE_OBJECT && !interpreter_is_truthy(from))
        operation->others[0] = NULL;
    if (text_is(name, "$let") && (!in || in->kind == VALUE_NULL))
        set_late(self, operation, "$let operator requires an `in` clause");
}

/* The members of an operator's object: false, with a node in *faulty, when one is not known. */
static bool compile_members(struct compiler *self, struct operation *operation,
                            const struct value *value, const struct node **faulty)
{
    const struct operator_rule *rule = operation->rule;
    size_t eaches = 0, unknown = 0;
    bool *known = arena_allocate(self->arena, value->object.count);
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        known[i] =
            text_is(member->key, rule->name) || compile_other(self, operation, member, &eaches);
        unknown += !known[i];
    }
    if (unknown) {
        *faulty = compile_faulty(self, name_unknown(self, value, rule, known));
        return false;
    }
    bool needs_raw = rule->raw_key && !operation->raw;
    if (rule->wrong_count && (eaches != 1 || needs_raw))
        set_late(self, operation, rule->wrong_count);
    else if (eaches && rule->each_is_expression && !operation->each_expression)
        set_late(self, operation,
                 text_is(text_of(rule->each), "by") ? "by can evaluate string expressions only"
                                                    : "each can evaluate string expressions only");
    check_others(self, operation, value);
    return true;
}

const struct node *compile_operation(struct compiler *self, const struct value *value,
                                     const struct operator_rule *rule)
{
    const struct node *faulty = NULL;
    struct node *node = compile_new_node(self, NODE_OPERATION);
    struct operation *operation = arena_allocate(self->arena, sizeof(*operation));
    const struct value *operand = value_get(value, rule->name);
    operation->rule = rule;
    node->operation = operation;
    if (operand_fits(rule, operand))
        compile_operand(self, operation, operand);
    if (!compile_members(self, operation, value, &faulty))
        return faulty;
    if (!operand_fits(rule, operand))
        return compile_faulty(self, rule->wrong_operand);
    return node;
}
