/* base/yaml_references.c - anchors, aliases and merge keys of YAML */
#include "base/yaml_references.h"

#include <string.h>

void yaml_references_set_anchor(struct yaml_anchors *anchors, struct text name,
                                struct yaml_anchor anchor)
{
    struct arena *arena = anchors->arena;
    if (!anchors->names)
        anchors->names = value_object(arena);
    anchors->list = arena_grow(arena, anchors->list, anchors->count, &anchors->capacity,
                               sizeof(*anchors->list));
    value_set(arena, anchors->names, name, value_number(arena, (double)anchors->count));
    anchors->list[anchors->count++] = anchor;
}

const struct yaml_anchor *yaml_references_find_anchor(const struct yaml_anchors *anchors,
                                                      struct text name)
{
    const struct member *member = value_member(anchors->names, name);
    return member ? &anchors->list[(size_t)member->value->number] : NULL;
}

static void merge_object(struct arena *arena, struct value *object, struct value *merged,
                         const struct value *source)
{
    for (size_t i = 0; i < source->object.count; i++) {
        const struct member *from = &source->object.members[i];
        if (value_member(object, from->key))
            continue;
        struct member *to = value_add(arena, object, from->key, from->value);
        to->line = from->line;
        to->column = from->column;
        value_set(arena, merged, from->key, value_boolean(arena, true));
    }
}

bool yaml_references_merge(struct arena *arena, struct value *object, struct value *merged,
                           const struct value *source)
{
    if (source->kind == VALUE_OBJECT) {
        merge_object(arena, object, merged, source);
        return true;
    }
    if (source->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < source->list.count; i++)
        if (source->list.items[i]->kind != VALUE_OBJECT)
            return false;
    for (size_t i = 0; i < source->list.count; i++)
        merge_object(arena, object, merged, source->list.items[i]);
    return true;
}

bool yaml_references_take_merged(struct arena *arena, struct value *merged, struct text key)
{
    const struct member *member = value_member(merged, key);
    if (!member || !member->value->boolean)
        return false;
    value_set(arena, merged, key, value_boolean(arena, false));
    return true;
}
