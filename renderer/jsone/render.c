/* renderer/jsone/render.c - render compiled templates */
#include "renderer/jsone/render.h"

#include <stdint.h>
#include <string.h>

#include "renderer/jsone/evaluate.h"

enum {
    FEW_SEGMENTS = 8,
    UNINDEXED = 12 /* members that base/value.c keeps without a hash table */
};

struct value *render_fault(struct interpreter *self, const struct fault *fault)
{
    return interpreter_raise(self, fault->kind, "%s", fault->message);
}

struct value *render_fail(struct interpreter *self, const char *message)
{
    return interpreter_raise(self, TEMPLATE_ERROR, "%s", message);
}

struct value *render_delete_marker(struct interpreter *self)
{
    /* It is compared by its address and has no content: nobody can change it. */
    return (struct value *)(uintptr_t)self->delete_marker;
}

/* The text that stands for `${expression}`. */
static bool expression_text(struct interpreter *self, const struct expression *expression,
                            struct text *text)
{
    const struct value *value = evaluate(self, expression);
    if (!value)
        return false;
    if (value->kind != VALUE_LIST && value->kind != VALUE_OBJECT && value->kind != VALUE_FUNCTION)
        return interpreter_scalar_text(self, value, text);
    struct error_quote_buffer buffer;
    interpreter_raise(self, TEMPLATE_ERROR, "interpolation of '%s' produced %s",
                      error_quote(&buffer, expression->source.data, expression->source.length),
                      value->kind == VALUE_FUNCTION ? "a function" : "an array or object");
    return false;
}

/* Evaluate all expressions of a text, then join the pieces.  False after raising an error. */
static bool interpolate_text(struct interpreter *self, const struct interpolation *interpolation,
                             struct text *result)
{
    struct text few[FEW_SEGMENTS];
    struct text *pieces = few;
    size_t length = 0;
    if (interpolation->count > FEW_SEGMENTS)
        pieces = arena_allocate(self->arena, interpolation->count * sizeof(struct text));
    for (size_t i = 0; i < interpolation->count; i++) {
        const struct segment *segment = &interpolation->segments[i];
        pieces[i] = TEXT("");
        if (segment->expression && !expression_text(self, segment->expression, &pieces[i]))
            return false;
        length += segment->literal.length + pieces[i].length;
    }
    if (!interpreter_bytes(self, length) || !interpreter_may_take(self, length + 1))
        return false;
    char *bytes = arena_allocate(self->arena, length + 1), *to = bytes;
    for (size_t i = 0; i < interpolation->count; i++) {
        const struct text literal = interpolation->segments[i].literal;
        to = mempcpy(to, literal.data, literal.length);
        to = mempcpy(to, pieces[i].data, pieces[i].length);
    }
    *result = (struct text){bytes, length};
    return true;
}

static struct value *render_string(struct interpreter *self, const struct node *node)
{
    struct text text;
    return interpolate_text(self, &node->string, &text) ? value_text(self->arena, text) : NULL;
}

static struct value *render_list(struct interpreter *self, const struct node *node)
{
    struct place place = {.outer = self->place};
    struct value *list = interpreter_list(self, node->list.count);
    if (!list)
        return NULL;
    self->place = &place;
    for (place.index = 0; place.index < node->list.count; place.index++) {
        struct value *item = render_node(self, node->list.items[place.index]);
        if (!item)
            return NULL;
        if (item != self->delete_marker)
            value_append(self->arena, list, item);
    }
    self->place = place.outer;
    return list;
}

/* The key of a member in the result; false after raising an error. */
static bool render_key(struct interpreter *self, const struct node_member *member, struct text *key)
{
    *key = member->key;
    if (!member->interpolation && !member->reserved)
        return true;
    self->line = member->line;
    self->column = member->column;
    if (member->interpolation)
        return interpolate_text(self, member->interpolation, key);
    interpreter_raise(self, TEMPLATE_ERROR, "$<identifier> is reserved; use $$<identifier>");
    return false;
}

/* Render an object without an operator.  Later members replace earlier ones with the same key. */
static struct value *render_object(struct interpreter *self, const struct node *node)
{
    struct value *object = interpreter_object(self, node->object.count);
    bool unique = node->object.count <= UNINDEXED; /* keys of one object differ */
    for (size_t i = 0; object && i < node->object.count; i++) {
        const struct node_member *member = &node->object.members[i];
        struct place place = {.outer = self->place, .key = member->written};
        struct text key;
        self->place = &place;
        struct value *value = render_node(self, member->value);
        if (!value)
            return NULL;
        self->place = place.outer;
        if (value == self->delete_marker)
            continue;
        if (!render_key(self, member, &key))
            return NULL;
        unique = unique && !member->interpolation;
        if (unique)
            object->object.members[object->object.count++] =
                (struct member){.key = key, .value = value};
        else
            value_set(self->arena, object, key, value);
    }
    return object;
}

static struct value *render_inside(struct interpreter *self, const struct node *node)
{
    switch (node->kind) {
    case NODE_STRING:
        return render_string(self, node);
    case NODE_LIST:
        return render_list(self, node);
    case NODE_OBJECT:
        return render_object(self, node);
    case NODE_OPERATION:
        return node->operation->rule->render(self, node->operation);
    default:
        return render_fault(self, &node->fault);
    }
}

struct value *render_node(struct interpreter *self, const struct node *node)
{
    if (!interpreter_steps(self, 1))
        return NULL;
    if (node->kind == NODE_CONSTANT)
        return node->constant;
    uint32_t line = self->line, column = self->column;
    self->line = node->line;
    self->column = node->column;
    if (!interpreter_enter(self))
        return NULL;
    struct value *value = render_inside(self, node);
    self->depth--;
    self->line = line;
    self->column = column;
    return value;
}

struct value *render_within(struct interpreter *self, struct scope *scope, const struct node *node)
{
    scope->outer = self->scope;
    self->scope = scope;
    struct value *value = render_node(self, node);
    self->scope = scope->outer;
    return value;
}

struct value *render_operand(struct interpreter *self, const struct operation *operation,
                             enum value_kind kind, const char *message)
{
    struct value *value = render_node(self, operation->operand);
    if (value && value->kind != kind)
        return render_fail(self, message);
    return value;
}
