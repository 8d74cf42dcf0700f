/* tests/unit/same_tree.h - are two trees the same, with the places of everything, and how numbers were written? */
#ifndef TESTS_UNIT_SAME_TREE_H
#define TESTS_UNIT_SAME_TREE_H

#include "base/value.h"

static inline bool same_tree(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind || a->line != b->line || a->column != b->column)
        return false;
    if (a->kind == VALUE_LIST) {
        for (size_t i = 0; i < a->list.count && i < b->list.count; i++)
            if (!same_tree(a->list.items[i], b->list.items[i]))
                return false;
        return a->list.count == b->list.count;
    }
    if (a->kind == VALUE_OBJECT) {
        for (size_t i = 0; i < a->object.count && i < b->object.count; i++) {
            const struct member *first = &a->object.members[i], *second = &b->object.members[i];
            if (!text_equal(first->key, second->key) || first->line != second->line ||
                first->column != second->column || !same_tree(first->value, second->value))
                return false;
        }
        return a->object.count == b->object.count;
    }
    return value_equal(a, b) && (a->kind != VALUE_NUMBER || text_equal(a->written, b->written));
}

#endif
