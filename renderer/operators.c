/* renderer/operators.c - what each operator of JSON-e does
 *
 * One function for each, and a table that says what stands beside it in its object.  Checks that
 * need only the template were made by compile.c; the order of the others is JSON-e's.
 *
 * Unlike JSON-e's JavaScript, no operator changes the list it is given.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "renderer/compiled.h"

enum { INCLUDES = 32 };         /* nested that deep, templates are taken to include themselves */

static struct value *fail(struct interpreter *self, const char *message)
{
    return interpreter_raise(self, TEMPLATE_ERROR, "%s", message);
}

static struct value *marker(struct interpreter *self)
{
    /* It is compared by its address and has no content: nobody can change it. */
    return (struct value *)(uintptr_t)self->delete_marker;
}

/* Render or evaluate with some more variables. */
static struct value *render_within(struct interpreter *self, struct scope *scope,
                                   const struct node *node)
{
    scope->outer = self->scope;
    self->scope = scope;
    struct value *value = render_node(self, node);
    self->scope = scope->outer;
    return value;
}

static struct value *evaluate_within(struct interpreter *self, struct scope *scope,
                                     const struct expression *expression)
{
    scope->outer = self->scope;
    self->scope = scope;
    struct value *value = evaluate(self, expression);
    self->scope = scope->outer;
    return value;
}

static struct value *render_operand(struct interpreter *self, const struct operation *operation,
                                    enum value_kind kind, const char *message)
{
    struct value *value = render_node(self, operation->operand);
    if (value && value->kind != kind)
        return fail(self, message);
    return value;
}

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
    bool truthy = is_truthy(condition);
    if (truthy && operation->misspelt_then)
        return fail(self, "$if Syntax error: $then: should be spelled then: (no $)");
    const struct node *chosen = operation->others[truthy ? 0 : 1];
    return chosen ? render_node(self, chosen) : marker(self);
}

/* Render what stands behind the conditions that are true into a list. */
static struct value *render_conditions(struct interpreter *self,
                                       const struct operation *operation)
{
    struct value *list = make_list(self, 0);
    for (size_t i = 0; list && i < operation->condition_count; i++) {
        const struct value *truth = evaluate(self, operation->conditions[i].expression);
        if (!truth)
            return NULL;
        if (!is_truthy(truth))
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
        return fail(self, "$switch can only have one truthy condition");
    if (list->list.count == 1)
        return list->list.items[0];
    return operation->otherwise ? render_node(self, operation->otherwise) : marker(self);
}

/* Variables */

static struct value *render_let(struct interpreter *self, const struct operation *operation)
{
    const struct value *variables =
        render_operand(self, operation, VALUE_OBJECT, "$let value must be an object");
    if (!variables)
        return NULL;
    for (size_t i = 0; i < variables->object.count; i++)
        if (!is_identifier(variables->object.members[i].key))
            return fail(self, "top level keys of $let must follow /[a-zA-Z_][a-zA-Z0-9_]*/");
    if (operation->late.message)
        return raise_fault(self, &operation->late);
    struct scope scope = {.object = variables};
    return render_within(self, &scope, operation->others[0]);
}

/* Lists and objects gone through item by item */

static bool set_item(struct interpreter *self, const struct operation *operation,
                     struct scope *scope, size_t at, struct value *item, size_t index)
{
    scope->names = operation->names;
    scope->count = operation->name_count;
    scope->values[at] = item;
    if (operation->name_count == at + 1)
        return true;
    scope->values[at + 1] = make_number(self, (double)index);
    return scope->values[at + 1] != NULL;
}

static struct value *map_list(struct interpreter *self, const struct operation *operation,
                              const struct value *value)
{
    struct value *list = make_list(self, value->list.count);
    struct scope scope = {0};
    for (size_t i = 0; list && i < value->list.count; i++) {
        if (!set_item(self, operation, &scope, 0, value->list.items[i], i))
            return NULL;
        struct value *item = render_within(self, &scope, operation->each);
        if (!item)
            return NULL;
        if (item != self->delete_marker)
            value_append(self->arena, list, item);
    }
    return list;
}

static bool merge_into(struct interpreter *self, struct value *object, const struct value *other)
{
    if (!interpreter_steps(self, other->object.count) ||
        !interpreter_room(self, other->object.count * sizeof(struct member)))
        return false;
    for (size_t i = 0; i < other->object.count; i++)
        value_set(self->arena, object, other->object.members[i].key,
                  other->object.members[i].value);
    return true;
}

static bool set_member(struct interpreter *self, const struct operation *operation,
                       struct scope *scope, const struct member *member)
{
    struct value *key = make_text(self, member->key.data, member->key.length);
    struct value *pair = make_object(self, 2);
    if (!key || !pair)
        return false;
    scope->names = operation->names;
    scope->count = operation->name_count;
    if (operation->name_count == 2) {
        scope->values[0] = member->value;
        scope->values[1] = key;
        return true;
    }
    value_put(self->arena, pair, "key", key);
    value_put(self->arena, pair, "val", member->value);
    scope->values[0] = pair;
    return true;
}

static struct value *map_object(struct interpreter *self, const struct operation *operation,
                                const struct value *value)
{
    struct value *object = make_object(self, 0);
    struct scope scope = {0};
    for (size_t i = 0; object && i < value->object.count; i++) {
        if (!set_member(self, operation, &scope, &value->object.members[i]))
            return NULL;
        const struct value *part = render_within(self, &scope, operation->each);
        if (!part)
            return NULL;
        struct text name = operation->names[0];
        if (part->kind != VALUE_OBJECT)
            return interpreter_raise(
                self, TEMPLATE_ERROR,
                "$map on objects expects each(%.*s) to evaluate to an object",
                (int)(name.length < 80 ? name.length : 80), name.data);
        if (!merge_into(self, object, part))
            return NULL;
    }
    return object;
}

static struct value *render_map(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_node(self, operation->operand);
    if (!value)
        return NULL;
    if (value->kind != VALUE_LIST && value->kind != VALUE_OBJECT)
        return fail(self, "$map value must evaluate to an array or object");
    if (operation->late.message)
        return raise_fault(self, &operation->late);
    return value->kind == VALUE_LIST ? map_list(self, operation, value)
                                     : map_object(self, operation, value);
}

static struct value *render_reduce(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_operand(self, operation, VALUE_LIST,
                                               "$reduce value must evaluate to an array");
    if (!value)
        return NULL;
    if (operation->late.message)
        return raise_fault(self, &operation->late);
    struct value *result = (struct value *)(uintptr_t)operation->raw;
    for (size_t i = 0; i < value->list.count; i++) {
        struct scope scope = {.values = {result}};
        if (!set_item(self, operation, &scope, 1, value->list.items[i], i))
            return NULL;
        struct value *next = render_within(self, &scope, operation->each);
        if (!next)
            return NULL;
        if (next != self->delete_marker)
            result = next;
    }
    return result;
}

static struct value *render_find(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_operand(self, operation, VALUE_LIST,
                                               "$find value must evaluate to an array");
    if (!value)
        return NULL;
    if (operation->late.message)
        return raise_fault(self, &operation->late);
    struct scope scope = {0};
    for (size_t i = 0; i < value->list.count; i++) {
        if (!set_item(self, operation, &scope, 0, value->list.items[i], i))
            return NULL;
        const struct value *truth =
            evaluate_within(self, &scope, operation->each_expression);
        if (!truth)
            return NULL;
        if (is_truthy(truth))
            return value->list.items[i];
    }
    return marker(self);
}

/* Lists in another order or shape */

static const char unsortable[] = "$sorted values to be sorted must have the same type";

struct sort_item {
    const struct value *by;
    struct value *item;
};

static int compare_items(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_STRING)
        return text_compare(a->string, b->string);
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool merge_halves(struct interpreter *self, struct sort_item *items, size_t half,
                         size_t count, struct sort_item *room)
{
    memcpy(room, items, half * sizeof(*items));
    for (size_t left = 0, right = half, to = 0; left < half; to++) {
        bool take_right = false;
        if (right < count) {
            if (!interpreter_steps(self, 1) ||
                (room[left].by->kind == VALUE_STRING &&
                 !interpreter_bytes(self, room[left].by->string.length)))
                return false;
            take_right = compare_items(items[right].by, room[left].by) < 0;
        }
        items[to] = take_right ? items[right++] : room[left++];
    }
    return true;
}

/* A merge sort: equal items stay in their order, and a limit can stop it. */
static bool sort_items(struct interpreter *self, struct sort_item *items, size_t count,
                       struct sort_item *room)
{
    if (count < 2)
        return true;
    size_t half = count / 2;
    return sort_items(self, items, half, room) &&
           sort_items(self, items + half, count - half, room) &&
           merge_halves(self, items, half, count, room);
}

static const struct value *sort_key(struct interpreter *self, const struct operation *operation,
                                    struct value *item)
{
    if (operation->late.message)
        return raise_fault(self, &operation->late);
    if (!operation->each_expression)
        return item;
    struct scope scope = {.names = operation->names, .values = {item}, .count = 1};
    return evaluate_within(self, &scope, operation->each_expression);
}

static struct value *render_sort(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_operand(self, operation, VALUE_LIST, unsortable);
    size_t count = value ? value->list.count : 0;
    if (!value || !interpreter_room(self, count * 2 * sizeof(struct sort_item)))
        return NULL;
    struct sort_item *items = arena_allocate(self->arena, count * 2 * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i].item = value->list.items[i];
        items[i].by = sort_key(self, operation, items[i].item);
        if (!items[i].by)
            return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if ((items[i].by->kind != VALUE_NUMBER && items[i].by->kind != VALUE_STRING) ||
            items[i].by->kind != items[0].by->kind)
            return fail(self, unsortable);
    if (!sort_items(self, items, count, items + count))
        return NULL;
    struct value *list = make_list(self, count);
    for (size_t i = 0; list && i < count; i++)
        value_append(self->arena, list, items[i].item);
    return list;
}

static struct value *render_reverse(struct interpreter *self, const struct operation *operation)
{
    const struct value *value =
        render_operand(self, operation, VALUE_LIST,
                       "$reverse value must evaluate to an array of objects");
    struct value *list = value ? make_list(self, value->list.count) : NULL;
    for (size_t i = value ? value->list.count : 0; list && i-- > 0;)
        value_append(self->arena, list, value->list.items[i]);
    return list;
}

/* Append an item, or the items of a list in it down to `levels` levels. */
static bool flatten_into(struct interpreter *self, struct value *list, struct value *item,
                         size_t levels)
{
    if (!interpreter_steps(self, 1) || !interpreter_room(self, 2 * sizeof(struct value *)))
        return false;
    if (item->kind != VALUE_LIST || levels == 0) {
        value_append(self->arena, list, item);
        return true;
    }
    if (!interpreter_enter(self))
        return false;
    for (size_t i = 0; i < item->list.count; i++)
        if (!flatten_into(self, list, item->list.items[i], levels - 1))
            return false;
    self->depth--;
    return true;
}

static struct value *flatten(struct interpreter *self, const struct operation *operation,
                             size_t levels, const char *message)
{
    struct value *value = render_operand(self, operation, VALUE_LIST, message);
    struct value *list = value ? make_list(self, 0) : NULL;
    return list && flatten_into(self, list, value, levels) ? list : NULL;
}

static struct value *render_flatten(struct interpreter *self, const struct operation *operation)
{
    return flatten(self, operation, 2, "$flatten value must evaluate to an array");
}

static struct value *render_flatten_deep(struct interpreter *self,
                                         const struct operation *operation)
{
    return flatten(self, operation, SIZE_MAX, "$flattenDeep value must evaluate to an array");
}

/* Objects put together */

static const struct value *render_objects(struct interpreter *self,
                                          const struct operation *operation, const char *message)
{
    const struct value *list = render_operand(self, operation, VALUE_LIST, message);
    for (size_t i = 0; list && i < list->list.count; i++)
        if (list->list.items[i]->kind != VALUE_OBJECT)
            return fail(self, message);
    return list;
}

static struct value *render_merge(struct interpreter *self, const struct operation *operation)
{
    const struct value *list = render_objects(
        self, operation, "$merge value must evaluate to an array of objects");
    struct value *object = list ? make_object(self, 0) : NULL;
    for (size_t i = 0; object && i < list->list.count; i++)
        if (!merge_into(self, object, list->list.items[i]))
            return NULL;
    return object;
}

static struct value *merge_deep(struct interpreter *self, struct value *left, struct value *right);

static struct value *merge_lists(struct interpreter *self, const struct value *left,
                                 const struct value *right)
{
    struct value *list = make_list(self, left->list.count + right->list.count);
    for (size_t i = 0; list && i < left->list.count; i++)
        value_append(self->arena, list, left->list.items[i]);
    for (size_t i = 0; list && i < right->list.count; i++)
        value_append(self->arena, list, right->list.items[i]);
    return list;
}

static struct value *merge_objects(struct interpreter *self, const struct value *left,
                                   const struct value *right)
{
    struct value *object = make_object(self, left->object.count);
    if (!object || !merge_into(self, object, left) ||
        !interpreter_room(self, right->object.count * sizeof(struct member)))
        return NULL;
    for (size_t i = 0; i < right->object.count; i++) {
        const struct member *member = &right->object.members[i];
        const struct member *before = value_member(left, member->key);
        struct value *value = before ? merge_deep(self, before->value, member->value)
                                     : member->value;
        if (!value || !interpreter_steps(self, 1))
            return NULL;
        value_set(self->arena, object, member->key, value);
    }
    return object;
}

/* The right one wins, but lists are joined and objects merged. */
static struct value *merge_deep(struct interpreter *self, struct value *left, struct value *right)
{
    bool mergeable = left->kind == right->kind &&
                     (left->kind == VALUE_LIST || left->kind == VALUE_OBJECT);
    if (!mergeable)
        return right;
    if (!interpreter_enter(self))
        return NULL;
    struct value *value = left->kind == VALUE_LIST ? merge_lists(self, left, right)
                                                   : merge_objects(self, left, right);
    self->depth--;
    return value;
}

static struct value *render_merge_deep(struct interpreter *self,
                                       const struct operation *operation)
{
    const struct value *list = render_objects(
        self, operation, "$mergeDeep value must evaluate to an array of objects");
    if (!list)
        return NULL;
    struct value *object = list->list.count ? list->list.items[0] : make_object(self, 0);
    for (size_t i = 1; object && i < list->list.count; i++)
        object = merge_deep(self, object, list->list.items[i]);
    return object;
}

/* The rest */

static struct value *render_json(struct interpreter *self, const struct operation *operation)
{
    enum { LONGEST_ESCAPE = 6 };        /* \u001f */
    const struct value *value = render_node(self, operation->operand);
    struct extent extent;
    struct error problem;
    if (!value || !value_measure(self, value, &extent) ||
        !interpreter_bytes(self, extent.bytes))
        return NULL;
    if (extent.functions)
        return fail(self, "evaluated template contained uncalled functions");
    if (extent.bytes > self->limits.bytes / LONGEST_ESCAPE)
        return interpreter_raise(self, LIMIT_ERROR, "$json reached the limit of %zu bytes",
                                 self->limits.bytes);
    struct buffer out = {0};
    struct value *result = NULL;
    if (json_write(&out, value, true, &problem))
        fail(self, problem.text);
    else
        result = make_text(self, out.data, out.length);
    buffer_free(&out);
    return result;
}

static struct value *render_from_now(struct interpreter *self, const struct operation *operation)
{
    const struct value *offset = render_node(self, operation->operand);
    const struct value *reference = offset ? interpreter_find(self, TEXT("now")) : NULL;
    if (offset && operation->others[0] &&
        !(reference = render_node(self, operation->others[0])))
        return NULL;
    if (!offset)
        return NULL;
    if (offset->kind != VALUE_STRING)
        return fail(self, "$fromNow expects a string");
    return from_now(self, offset->string, reference);
}

static struct value *render_included(struct interpreter *self, struct text path)
{
    struct error reason = {""};
    struct error_quote_room room;
    if (!self->rendering->include)
        return fail(self, "$include is not available here");
    if (self->includes >= INCLUDES)
        return interpreter_raise(self, LIMIT_ERROR,
                                 "$include of \"%s\" reached the limit of %d includes in one "
                                 "another; does it include itself?",
                                 error_quote(&room, path.data, path.length), INCLUDES);
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
    const struct value *path = render_operand(self, operation, VALUE_STRING,
                                              "$include must be given a path as a string");
    return path ? render_included(self, path->string) : NULL;
}

static const struct operator operators[] = {
    {.name = "$eval",
     .role = ROLE_EXPRESSION,
     .wrong_operand = "$eval must be given a string expression",
     .render = render_eval},
    {.name = "$flatten", .render = render_flatten},
    {.name = "$flattenDeep", .render = render_flatten_deep},
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
     .render = render_map},
    {.name = "$match",
     .role = ROLE_CONDITIONS,
     .wrong_operand = "$match can evaluate objects only",
     .render = render_conditions},
    {.name = "$merge", .render = render_merge},
    {.name = "$mergeDeep", .render = render_merge_deep},
    {.name = "$reduce",
     .raw_key = "initial",
     .each = "each",
     .least_names = 2,
     .most_names = 3,
     .wrong_count = "$reduce must have exactly three properties",
     .render = render_reduce},
    {.name = "$find",
     .each = "each",
     .least_names = 1,
     .most_names = 2,
     .each_is_expression = true,
     .wrong_count = "$find must have exactly two properties",
     .render = render_find},
    {.name = "$reverse", .render = render_reverse},
    {.name = "$sort",
     .each = "by",
     .least_names = 1,
     .most_names = 1,
     .each_is_expression = true,
     .render = render_sort},
    {.name = "$switch",
     .role = ROLE_CONDITIONS,
     .wrong_operand = "$switch can evaluate objects only",
     .render = render_switch},
};

const struct operator *operator_find(struct text key)
{
    if (key.length < 3 || key.data[0] != '$')
        return NULL;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (text_is(key, operators[i].name))
            return &operators[i];
    return NULL;
}
