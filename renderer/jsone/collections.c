/* renderer/jsone/collections.c - the operators that go through lists and objects
 *
 * Unlike JSON-e's JavaScript, none changes the list it is given.
 */
#include "renderer/jsone/collections.h"

#include <stdint.h>
#include <string.h>

#include "renderer/jsone/evaluate.h"
#include "renderer/jsone/render.h"

/* Lists and objects gone through item by item */

static bool set_item(struct interpreter *self, const struct operation *operation,
                     struct scope *scope, size_t at, struct value *item, size_t index)
{
    scope->names = operation->names;
    scope->count = operation->name_count;
    scope->values[at] = item;
    if (operation->name_count == at + 1)
        return true;
    scope->values[at + 1] = interpreter_number(self, (double)index);
    return scope->values[at + 1] != NULL;
}

static struct value *map_list(struct interpreter *self, const struct operation *operation,
                              const struct value *value)
{
    struct value *list = interpreter_list(self, value->list.count);
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
        !interpreter_may_take(self, other->object.count * sizeof(struct member)))
        return false;
    for (size_t i = 0; i < other->object.count; i++) {
        const struct member *member = &other->object.members[i];
        if (!interpreter_bytes(self, member->key.length))
            return false;
        value_set(self->arena, object, member->key, member->value);
    }
    return true;
}

static bool set_member(struct interpreter *self, const struct operation *operation,
                       struct scope *scope, const struct member *member)
{
    struct value *key = interpreter_text(self, member->key.data, member->key.length);
    struct value *pair = interpreter_object(self, 2);
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
    struct value *object = interpreter_object(self, 0);
    struct scope scope = {0};
    for (size_t i = 0; object && i < value->object.count; i++) {
        if (!set_member(self, operation, &scope, &value->object.members[i]))
            return NULL;
        const struct value *part = render_within(self, &scope, operation->each);
        if (!part)
            return NULL;
        struct text name = operation->names[0];
        if (part->kind != VALUE_OBJECT)
            return interpreter_raise(self, TEMPLATE_ERROR,
                                     "$map on objects expects each(%.*s) to evaluate to an object",
                                     (int)(name.length < 80 ? name.length : 80), name.data);
        if (!merge_into(self, object, part))
            return NULL;
    }
    return object;
}

struct value *collection_map(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_node(self, operation->operand);
    if (!value)
        return NULL;
    if (value->kind != VALUE_LIST && value->kind != VALUE_OBJECT)
        return render_fail(self, "$map value must evaluate to an array or object");
    if (operation->late.message)
        return render_fault(self, &operation->late);
    return value->kind == VALUE_LIST ? map_list(self, operation, value)
                                     : map_object(self, operation, value);
}

struct value *collection_reduce(struct interpreter *self, const struct operation *operation)
{
    const struct value *value =
        render_operand(self, operation, VALUE_LIST, "$reduce value must evaluate to an array");
    if (!value)
        return NULL;
    if (operation->late.message)
        return render_fault(self, &operation->late);
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

struct value *collection_find(struct interpreter *self, const struct operation *operation)
{
    const struct value *value =
        render_operand(self, operation, VALUE_LIST, "$find value must evaluate to an array");
    if (!value)
        return NULL;
    if (operation->late.message)
        return render_fault(self, &operation->late);
    struct scope scope = {0};
    for (size_t i = 0; i < value->list.count; i++) {
        if (!set_item(self, operation, &scope, 0, value->list.items[i], i))
            return NULL;
        const struct value *truth = evaluate_within(self, &scope, operation->each_expression);
        if (!truth)
            return NULL;
        if (interpreter_is_truthy(truth))
            return value->list.items[i];
    }
    return render_delete_marker(self);
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
                         size_t count, struct sort_item *spare)
{
    memcpy(spare, items, half * sizeof(*items));
    for (size_t left = 0, right = half, to = 0; left < half; to++) {
        bool take_right = false;
        if (right < count) {
            if (!interpreter_steps(self, 1) ||
                (spare[left].by->kind == VALUE_STRING &&
                 !interpreter_bytes(self, spare[left].by->string.length)))
                return false;
            take_right = compare_items(items[right].by, spare[left].by) < 0;
        }
        items[to] = take_right ? items[right++] : spare[left++];
    }
    return true;
}

/* A merge sort: equal items stay in their order, and a limit can stop it. */
static bool sort_items(struct interpreter *self, struct sort_item *items, size_t count,
                       struct sort_item *spare)
{
    if (count < 2)
        return true;
    size_t half = count / 2;
    return sort_items(self, items, half, spare) &&
           sort_items(self, items + half, count - half, spare) &&
           merge_halves(self, items, half, count, spare);
}

static const struct value *sort_key(struct interpreter *self, const struct operation *operation,
                                    struct value *item)
{
    if (operation->late.message)
        return render_fault(self, &operation->late);
    if (!operation->each_expression)
        return item;
    struct scope scope = {.names = operation->names, .values = {item}, .count = 1};
    return evaluate_within(self, &scope, operation->each_expression);
}

struct value *collection_sort(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_operand(self, operation, VALUE_LIST, unsortable);
    size_t count = value ? value->list.count : 0;
    if (!value || !interpreter_may_take(self, count * 2 * sizeof(struct sort_item)))
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
            return render_fail(self, unsortable);
    if (!sort_items(self, items, count, items + count))
        return NULL;
    struct value *list = interpreter_list(self, count);
    for (size_t i = 0; list && i < count; i++)
        value_append(self->arena, list, items[i].item);
    return list;
}

struct value *collection_reverse(struct interpreter *self, const struct operation *operation)
{
    const struct value *value = render_operand(
        self, operation, VALUE_LIST, "$reverse value must evaluate to an array of objects");
    struct value *list = value ? interpreter_list(self, value->list.count) : NULL;
    for (size_t i = value ? value->list.count : 0; list && i-- > 0;)
        value_append(self->arena, list, value->list.items[i]);
    return list;
}

/* Append an item, or the items of a list in it down to `levels` levels. */
static bool flatten_into(struct interpreter *self, struct value *list, struct value *item,
                         size_t levels)
{
    if (!interpreter_steps(self, 1) || !interpreter_may_take(self, 2 * sizeof(struct value *)))
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

static struct value *flatten_list(struct interpreter *self, const struct operation *operation,
                                  size_t levels, const char *message)
{
    struct value *value = render_operand(self, operation, VALUE_LIST, message);
    struct value *list = value ? interpreter_list(self, 0) : NULL;
    return list && flatten_into(self, list, value, levels) ? list : NULL;
}

struct value *collection_flatten(struct interpreter *self, const struct operation *operation)
{
    return flatten_list(self, operation, 2, "$flatten value must evaluate to an array");
}

struct value *collection_flatten_deep(struct interpreter *self, const struct operation *operation)
{
    return flatten_list(self, operation, SIZE_MAX, "$flattenDeep value must evaluate to an array");
}

/* Objects put together */

static const struct value *render_objects(struct interpreter *self,
                                          const struct operation *operation, const char *message)
{
    const struct value *list = render_operand(self, operation, VALUE_LIST, message);
    for (size_t i = 0; list && i < list->list.count; i++)
        if (list->list.items[i]->kind != VALUE_OBJECT)
            return render_fail(self, message);
    return list;
}

struct value *collection_merge(struct interpreter *self, const struct operation *operation)
{
    const struct value *list =
        render_objects(self, operation, "$merge value must evaluate to an array of objects");
    struct value *object = list ? interpreter_object(self, 0) : NULL;
    for (size_t i = 0; object && i < list->list.count; i++)
        if (!merge_into(self, object, list->list.items[i]))
            return NULL;
    return object;
}

static struct value *merge_deep(struct interpreter *self, struct value *left, struct value *right);

static struct value *merge_lists(struct interpreter *self, const struct value *left,
                                 const struct value *right)
{
    struct value *list = interpreter_list(self, left->list.count + right->list.count);
    for (size_t i = 0; list && i < left->list.count; i++)
        value_append(self->arena, list, left->list.items[i]);
    for (size_t i = 0; list && i < right->list.count; i++)
        value_append(self->arena, list, right->list.items[i]);
    return list;
}

static struct value *merge_objects(struct interpreter *self, const struct value *left,
                                   const struct value *right)
{
    struct value *object = interpreter_object(self, left->object.count);
    if (!object || !merge_into(self, object, left) ||
        !interpreter_may_take(self, right->object.count * sizeof(struct member)))
        return NULL;
    for (size_t i = 0; i < right->object.count; i++) {
        const struct member *member = &right->object.members[i];
        const struct member *before = value_member(left, member->key);
        struct value *value =
            before ? merge_deep(self, before->value, member->value) : member->value;
        if (!value || !interpreter_steps(self, 1) || !interpreter_bytes(self, member->key.length))
            return NULL;
        value_set(self->arena, object, member->key, value);
    }
    return object;
}

/* The right one wins, but lists are joined and objects merged. */
static struct value *merge_deep(struct interpreter *self, struct value *left, struct value *right)
{
    bool mergeable =
        left->kind == right->kind && (left->kind == VALUE_LIST || left->kind == VALUE_OBJECT);
    if (!mergeable)
        return right;
    if (!interpreter_enter(self))
        return NULL;
    struct value *value = left->kind == VALUE_LIST ? merge_lists(self, left, right)
                                                   : merge_objects(self, left, right);
    self->depth--;
    return value;
}

struct value *collection_merge_deep(struct interpreter *self, const struct operation *operation)
{
    const struct value *list =
        render_objects(self, operation, "$mergeDeep value must evaluate to an array of objects");
    if (!list)
        return NULL;
    struct value *object = list->list.count ? list->list.items[0] : interpreter_object(self, 0);
    for (size_t i = 1; object && i < list->list.count; i++)
        object = merge_deep(self, object, list->list.items[i]);
    return object;
}
