/* renderer/jsone/compile.c - compile a template's tree for rendering
 *
 * A fault that JSON-e raises only when it reaches it is stored in its part; the first of all faults
 * is stored in the template for template_check().
 */
#include <string.h>

#include "renderer/jsone/compile.h"
#include "renderer/jsone/interpreter.h"
#include "renderer/jsone/operators.h"

/* Note a fault of what is being compiled. */
struct fault compile_fault(struct compiler *self, const char *kind, const char *message)
{
    if (!self->template->faulty)
        interpreter_sentence(&self->template->fault, self->template->name, self->line, self->column,
                             self->place, kind, message);
    self->template->faulty = true;
    return (struct fault){kind, message};
}

struct node *compile_new_node(struct compiler *self, enum node_kind kind)
{
    struct node *node = arena_allocate(self->arena, sizeof(*node));
    node->kind = kind;
    node->line = self->line;
    node->column = self->column;
    return node;
}

const struct node *compile_faulty(struct compiler *self, const char *message)
{
    struct node *node = compile_new_node(self, NODE_FAULT);
    node->fault = compile_fault(self, TEMPLATE_ERROR, message);
    return node;
}

static struct node *constant_node(struct compiler *self, const struct value *value)
{
    struct node *node = compile_new_node(self, NODE_CONSTANT);
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
        compile_fault(self, SYNTAX_ERROR, expression->fault);
}

const struct expression *compile_expression(struct compiler *self, struct text source,
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
            rest.length = 0; /* its end is unknown; rendering stops at the fault */
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
    struct node *node = compile_new_node(self, NODE_STRING);
    compile_interpolation(self, value->string, &node->string);
    return node;
}

/* Lists and objects without an operator */

/* The value of a list without anything to render: itself, unless a key in it loses a `$`. */
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
    struct node *node = compile_new_node(self, NODE_LIST);
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
    return token_is_identifier(word) && !memchr(word.data, '_', word.length);
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
        compile_fault(self, TEMPLATE_ERROR, "$<identifier> is reserved; use $$<identifier>");
    } else if (find_opening(key)) {
        struct interpolation *interpolation = arena_allocate(self->arena, sizeof(*interpolation));
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
    struct node *node = compile_new_node(self, NODE_OBJECT);
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

static const struct node *compile_object(struct compiler *self, const struct value *value)
{
    const struct operator_rule *found = NULL;
    for (size_t i = 0; i < value->object.count; i++) {
        const struct operator_rule *rule = operator_find(value->object.members[i].key);
        if (rule && found)
            return compile_faulty(self, "only one operator allowed");
        found = rule ? rule : found;
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

const struct node *compile_value(struct compiler *self, const struct value *value)
{
    uint32_t line = self->line, column = self->column;
    if (value->line) {
        self->line = value->line;
        self->column = value->column;
    }
    const struct node *node;
    if (self->depth >= template_default_limits.depth) {
        node = compile_faulty(self, "the template is nested deeper than the limit");
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
