/* renderer/compile.c - a template's tree is looked at once and made ready for rendering
 *
 * Faults that JSON-e raises only when it comes to them are kept in the part that has them, and the
 * first of all is kept in the template for template_check().
 */
#include <stdlib.h>
#include <string.h>

#include "renderer/compiled.h"

struct compiler {
    struct template *template;
    struct arena *arena;
    const struct place *place;
    uint32_t line, column;
    size_t depth;
};

static const struct node *compile_value(struct compiler *self, const struct value *value);

/* Note a fault of what is being compiled. */
static struct fault note_fault(struct compiler *self, const char *kind, const char *message)
{
    if (!self->template->faulty)
        fault_sentence(&self->template->fault, self->template->name, self->line, self->column,
                       self->place, kind, message);
    self->template->faulty = true;
    return (struct fault){kind, message};
}

static struct node *node_new(struct compiler *self, enum node_kind kind)
{
    struct node *node = arena_allocate(self->arena, sizeof(*node));
    node->kind = kind;
    node->line = self->line;
    node->column = self->column;
    return node;
}

static const struct node *faulty_node(struct compiler *self, const char *message)
{
    struct node *node = node_new(self, NODE_FAULT);
    node->fault = note_fault(self, TEMPLATE_ERROR, message);
    return node;
}

static struct node *constant_node(struct compiler *self, const struct value *value)
{
    struct node *node = node_new(self, NODE_CONSTANT);
    /* Trees are not changed once built; results that share this part are trees. */
    node->constant = (struct value *)(uintptr_t)value;
    return node;
}

/* Expressions and strings */

static void place_expression(struct compiler *self, struct expression *expression)
{
    expression->line = self->line;
    expression->column = self->column;
    if (expression->fault)
        note_fault(self, SYNTAX_ERROR, expression->fault);
}

static const struct expression *compile_expression(struct compiler *self, struct text source,
                                                   uint32_t line, uint32_t column)
{
    uint32_t old_line = self->line, old_column = self->column;
    self->line = line;
    self->column = column;
    struct expression *expression = expression_parse(self->arena, source);
    place_expression(self, expression);
    self->line = old_line;
    self->column = old_column;
    return expression;
}

static const struct expression *compile_string_expression(struct compiler *self,
                                                          const struct value *value)
{
    return compile_expression(self, value->string, value->line, value->column);
}

static const char *find_opening(struct text text)
{
    return text.length ? memmem(text.data, text.length, "${", 2) : NULL;
}

static size_t count_openings(struct text text)
{
    size_t count = 0;
    for (const char *at; (at = find_opening(text)); count++) {
        text.length -= (size_t)(at + 2 - text.data);
        text.data = at + 2;
    }
    return count;
}

/* Cut a text into literals and expressions.  `$${` stands for `${` in a literal. */
static void compile_interpolation(struct compiler *self, struct text text,
                                  struct interpolation *interpolation)
{
    struct segment *segments =
        arena_allocate(self->arena, (count_openings(text) + 1) * sizeof(struct segment));
    struct buffer literal = {0};
    struct text rest = text;
    size_t count = 0;
    for (const char *at; (at = find_opening(rest));) {
        bool escaped = at > rest.data && at[-1] == '$';
        buffer_add(&literal, rest.data, (size_t)(at - rest.data) - escaped);
        rest.length -= (size_t)(at + 2 - rest.data);
        rest.data = at + 2;
        if (escaped) {
            buffer_add(&literal, "${", 2);
            continue;
        }
        size_t end = 0;
        struct expression *expression = expression_parse_braced(self->arena, rest, &end);
        place_expression(self, expression);
        segments[count].literal = arena_text(self->arena, literal.data, literal.length);
        segments[count++].expression = expression;
        buffer_clear(&literal);
        if (expression->fault) {
            rest.length = 0;            /* where it ends is not known, and it is never passed */
            break;
        }
        rest.data += end + 1;
        rest.length -= end + 1;
    }
    buffer_add(&literal, rest.data, rest.length);
    segments[count++].literal = arena_text(self->arena, literal.data, literal.length);
    buffer_free(&literal);
    interpolation->segments = segments;
    interpolation->count = count;
}

static const struct node *compile_string(struct compiler *self, const struct value *value)
{
    if (!find_opening(value->string))
        return constant_node(self, value);
    struct node *node = node_new(self, NODE_STRING);
    compile_interpolation(self, value->string, &node->string);
    return node;
}

/* Lists and objects without an operator */

/* The value of a list of which nothing needs rendering: itself, unless a key in it lost its `$$`. */
static const struct value *constant_list(struct compiler *self, const struct value *value,
                                         const struct node *node)
{
    bool same = true;
    for (size_t i = 0; same && i < node->list.count; i++)
        same = node->list.items[i]->constant == value->list.items[i];
    if (same)
        return value;
    struct value *list = value_list(self->arena);
    list->line = value->line;
    list->column = value->column;
    for (size_t i = 0; i < node->list.count; i++)
        value_append(self->arena, list, node->list.items[i]->constant);
    return list;
}

static const struct node *compile_list(struct compiler *self, const struct value *value)
{
    struct node *node = node_new(self, NODE_LIST);
    size_t count = value->list.count;
    bool constant = true;
    node->list.items = arena_allocate(self->arena, (count + 1) * sizeof(struct node *));
    node->list.count = count;
    struct place place = {.outer = self->place};
    self->place = &place;
    for (place.index = 0; place.index < count; place.index++) {
        const struct node *item = compile_value(self, value->list.items[place.index]);
        constant = constant && item->kind == NODE_CONSTANT;
        node->list.items[place.index] = item;
    }
    self->place = place.outer;
    return constant ? constant_node(self, constant_list(self, value, node)) : node;
}

/* $word, of letters and digits */
static bool is_reserved(struct text key)
{
    if (key.length < 2 || key.data[0] != '$')
        return false;
    struct text word = {key.data + 1, key.length - 1};
    return is_identifier(word) && !memchr(word.data, '_', word.length);
}

static void compile_key(struct compiler *self, struct node_member *member)
{
    struct text key = member->written;
    uint32_t line = self->line, column = self->column;
    self->line = member->line;
    self->column = member->column;
    member->key = key;
    if (text_starts(key, "$$")) {
        member->key = (struct text){key.data + 1, key.length - 1};
    } else if (is_reserved(key)) {
        member->reserved = true;
        note_fault(self, TEMPLATE_ERROR, "$<identifier> is reserved; use $$<identifier>");
    } else if (find_opening(key)) {
        struct interpolation *interpolation =
            arena_allocate(self->arena, sizeof(*interpolation));
        compile_interpolation(self, key, interpolation);
        member->interpolation = interpolation;
    }
    self->line = line;
    self->column = column;
}

/* The same for an object. */
static const struct value *constant_object(struct compiler *self, const struct value *value,
                                           const struct node *node)
{
    bool same = true;
    for (size_t i = 0; same && i < node->object.count; i++)
        same = node->object.members[i].key.data == value->object.members[i].key.data &&
               node->object.members[i].value->constant == value->object.members[i].value;
    if (same)
        return value;
    struct value *object = value_object(self->arena);
    object->line = value->line;
    object->column = value->column;
    for (size_t i = 0; i < node->object.count; i++)
        value_set(self->arena, object, node->object.members[i].key,
                  node->object.members[i].value->constant);
    return object;
}

static const struct node *compile_plain_object(struct compiler *self, const struct value *value)
{
    struct node *node = node_new(self, NODE_OBJECT);
    size_t count = value->object.count;
    bool constant = true;
    node->object.members = arena_allocate(self->arena, (count + 1) * sizeof(struct node_member));
    node->object.count = count;
    for (size_t i = 0; i < count; i++) {
        const struct member *from = &value->object.members[i];
        struct node_member *member = &node->object.members[i];
        struct place place = {.outer = self->place, .key = from->key};
        member->written = from->key;
        member->line = from->line;
        member->column = from->column;
        self->place = &place;
        member->value = compile_value(self, from->value);
        self->place = place.outer;
        compile_key(self, member);
        constant = constant && member->value->kind == NODE_CONSTANT && !member->reserved &&
                   !member->interpolation;
    }
    return constant ? constant_node(self, constant_object(self, value, node)) : node;
}

/* Operators */

/* Read `each(a)`, `each(a,b)`, ... with blanks only after a comma. */
static bool read_each(struct text key, const struct operator *operator, struct text *names,
                      size_t *count)
{
    size_t prefix = operator->each ? strlen(operator->each) : 0;
    if (!prefix || !text_starts(key, operator->each) || key.length < prefix + 2 ||
        key.data[prefix] != '(' || key.data[key.length - 1] != ')')
        return false;
    struct text rest = {key.data + prefix + 1, key.length - prefix - 2}, name;
    *count = 0;
    while (text_next(&rest, ',', &name)) {
        size_t space;
        while (*count && (space = space_length(name.data, name.length))) {
            name.data += space;
            name.length -= space;
        }
        if (*count == operator->most_names || !is_identifier(name))
            return false;
        names[(*count)++] = name;
    }
    return *count >= operator->least_names;
}

static void set_late(struct compiler *self, struct operation *operation, const char *message)
{
    struct fault fault = note_fault(self, TEMPLATE_ERROR, message);
    if (!operation->late.message)
        operation->late = fault;
}

static void compile_each(struct compiler *self, struct operation *operation,
                         const struct value *value)
{
    if (!operation->operator->each_is_expression)
        operation->each = compile_value(self, value);
    else if (value->kind == VALUE_STRING)
        operation->each_expression = compile_string_expression(self, value);
}

/* A key beside the operator; false when the operator does not know it. */
static bool compile_other(struct compiler *self, struct operation *operation,
                          const struct member *member, size_t *eaches)
{
    const struct operator *operator = operation->operator;
    struct text names[3] = {{0}};
    size_t count;
    for (size_t i = 0; i < 2 && operator->keys[i]; i++)
        if (text_is(member->key, operator->keys[i])) {
            operation->others[i] = compile_value(self, member->value);
            return true;
        }
    if (operator->raw_key && text_is(member->key, operator->raw_key)) {
        operation->raw = member->value;
        return true;
    }
    if (text_is(member->key, "$then") && text_is(text_of(operator->name), "$if")) {
        operation->misspelt_then = true;
        note_fault(self, TEMPLATE_ERROR,
                   "$if Syntax error: $then: should be spelled then: (no $)");
        return true;
    }
    if (!read_each(member->key, operator, names, &count))
        return false;
    if ((*eaches)++ == 0) {
        memcpy(operation->names, names, sizeof(names));
        operation->name_count = count;
        compile_each(self, operation, member->value);
    }
    return true;
}

static const char *name_unknown(struct compiler *self, const struct value *value,
                                const struct operator *operator, const bool *known)
{
    struct buffer message = {0};
    struct error_quote_room room;
    size_t *order = value_sorted(self->arena, value);
    buffer_printf(&message, "%s has undefined properties:", operator->name);
    for (size_t i = 0; i < value->object.count; i++) {
        struct text key = value->object.members[order[i]].key;
        if (!known[order[i]])
            buffer_printf(&message, " %s", error_quote(&room, key.data, key.length));
    }
    const char *kept = arena_string(self->arena, message.data);
    buffer_free(&message);
    return kept;
}

static void compile_conditions(struct compiler *self, struct operation *operation,
                               const struct value *value)
{
    bool is_switch = text_is(text_of(operation->operator->name), "$switch");
    size_t *order = value_sorted(self->arena, value);
    struct condition *conditions = arena_allocate(
        self->arena, (value->object.count + 1) * sizeof(struct condition));
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[order[i]];
        const struct node *node = compile_value(self, member->value);
        if (is_switch && text_is(member->key, "$default")) {
            operation->otherwise = node;
            continue;
        }
        struct condition *condition = &conditions[operation->condition_count++];
        condition->expression =
            compile_expression(self, member->key, member->line, member->column);
        condition->value = node;
    }
    operation->conditions = conditions;
}

static void compile_operand(struct compiler *self, struct operation *operation,
                            const struct value *value)
{
    switch (operation->operator->role) {
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

static bool operand_fits(const struct operator *operator, const struct value *value)
{
    switch (operator->role) {
    case ROLE_EXPRESSION:
        return value->kind == VALUE_STRING;
    case ROLE_OBJECT:
    case ROLE_CONDITIONS:
        return value->kind == VALUE_OBJECT;
    default:
        return true;
    }
}

/* JSON-e looks at a second key only when it is neither false, null, 0 nor empty text ($fromNow's
 * `from`), or not null ($let's `in`). */
static void check_others(struct compiler *self, struct operation *operation,
                         const struct value *value)
{
    struct text name = text_of(operation->operator->name);
    const struct value *from = value_get(value, "from"), *in = value_get(value, "in");
    if (text_is(name, "$fromNow") && from && from->kind != VALUE_LIST &&
        from->kind != VALUE_OBJECT && !is_truthy(from))
        operation->others[0] = NULL;
    if (text_is(name, "$let") && (!in || in->kind == VALUE_NULL))
        set_late(self, operation, "$let operator requires an `in` clause");
}

/* The members of an operator's object: false, with a node in *faulty, when one is not known. */
static bool compile_members(struct compiler *self, struct operation *operation,
                            const struct value *value, const struct node **faulty)
{
    const struct operator *operator = operation->operator;
    size_t eaches = 0, unknown = 0;
    bool *known = arena_allocate(self->arena, value->object.count);
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        known[i] = text_is(member->key, operator->name) ||
                   compile_other(self, operation, member, &eaches);
        unknown += !known[i];
    }
    if (unknown) {
        *faulty = faulty_node(self, name_unknown(self, value, operator, known));
        return false;
    }
    bool needs_raw = operator->raw_key && !operation->raw;
    if (operator->wrong_count && (eaches != 1 || needs_raw))
        set_late(self, operation, operator->wrong_count);
    else if (eaches && operator->each_is_expression && !operation->each_expression)
        set_late(self, operation, text_is(text_of(operator->each), "by")
                                      ? "by can evaluate string expressions only"
                                      : "each can evaluate string expressions only");
    check_others(self, operation, value);
    return true;
}

static const struct node *compile_operation(struct compiler *self, const struct value *value,
                                            const struct operator *operator)
{
    const struct node *faulty = NULL;
    struct node *node = node_new(self, NODE_OPERATION);
    struct operation *operation = arena_allocate(self->arena, sizeof(*operation));
    const struct value *operand = value_get(value, operator->name);
    operation->operator = operator;
    node->operation = operation;
    if (operand_fits(operator, operand))
        compile_operand(self, operation, operand);
    if (!compile_members(self, operation, value, &faulty))
        return faulty;
    if (!operand_fits(operator, operand))
        return faulty_node(self, operator->wrong_operand);
    return node;
}

static const struct node *compile_object(struct compiler *self, const struct value *value)
{
    const struct operator *found = NULL;
    for (size_t i = 0; i < value->object.count; i++) {
        const struct operator *operator = operator_find(value->object.members[i].key);
        if (operator && found)
            return faulty_node(self, "only one operator allowed");
        found = operator ? operator : found;
    }
    return found ? compile_operation(self, value, found) : compile_plain_object(self, value);
}

static const struct node *compile_inside(struct compiler *self, const struct value *value)
{
    switch (value->kind) {
    case VALUE_STRING:
        return compile_string(self, value);
    case VALUE_LIST:
        return compile_list(self, value);
    case VALUE_OBJECT:
        return compile_object(self, value);
    default:
        return constant_node(self, value);
    }
}

static const struct node *compile_value(struct compiler *self, const struct value *value)
{
    uint32_t line = self->line, column = self->column;
    if (value->line) {
        self->line = value->line;
        self->column = value->column;
    }
    const struct node *node;
    if (self->depth >= template_default_limits.depth) {
        node = faulty_node(self, "the template is nested deeper than the limit");
    } else {
        self->depth++;
        node = compile_inside(self, value);
        self->depth--;
    }
    self->line = line;
    self->column = column;
    return node;
}

void compile_template(struct template *template, const struct value *tree)
{
    struct compiler compiler = {.template = template, .arena = template->arena};
    template->root = compile_value(&compiler, tree);
}
