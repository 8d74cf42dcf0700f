/* web/form_tree.c - a form whose names have brackets, as a tree */
#include "web/form_tree.h"

#include <string.h>

/* Cut the word before the first bracket off a name.  False when there is none. */
static bool take_word(struct text *name, struct text *word)
{
    size_t length = 0;
    while (length < name->length && name->data[length] != '[')
        length++;
    *word = (struct text){name->data, length};
    *name = (struct text){name->data + length, name->length - length};
    return length > 0;
}

/* Cut the next [KEY] off what is left of a name.  False when there is none. */
static bool take_key(struct text *name, struct text *key)
{
    const char *end = name->length ? memchr(name->data, ']', name->length) : NULL;
    if (!end || name->data[0] != '[')
        return false;
    *key = (struct text){name->data + 1, (size_t)(end - name->data) - 1};
    *name = (struct text){end + 1, name->length - key->length - 2};
    return true;
}

static int refuse(struct error *error, struct text name, const char *what)
{
    struct error_quote_buffer buffer;
    return error_set(error, "%s: %s", error_quote(&buffer, name.data, name.length), what);
}

/* Put a field where its name says. */
static int put_field(struct arena *arena, struct value *tree, const struct web_field *field,
                     struct error *error)
{
    struct text rest = field->name, key, next;
    if (!take_word(&rest, &key))
        return refuse(error, field->name,
                      "found a name of a field that does not begin with a word");
    for (int depth = 1; take_key(&rest, &next); depth++) {
        struct member *member = value_member(tree, key);
        if (depth == FORM_TREE_DEEPEST)
            return refuse(error, field->name, "found too many brackets");
        if (!member)
            member = value_set(arena, tree, key, value_object(arena));
        if (member->value->kind != VALUE_OBJECT)
            return refuse(error, field->name, "found both a value and members of this name");
        tree = member->value;
        key = next;
    }
    const struct member *member = value_member(tree, key);
    if (rest.length)
        return refuse(error, field->name, "found a bracket that is not closed");
    if (member && member->value->kind == VALUE_OBJECT)
        return refuse(error, field->name, "found both a value and members of this name");
    value_set(arena, tree, key, value_text(arena, field->value));
    return 0;
}

/* The members of an object in the order of their numbers; NULL: their names are not 0, 1, 2, ... */
static struct value *as_list(struct arena *arena, const struct value *object)
{
    size_t count = object->object.count;
    struct value **items = arena_allocate(arena, (count + 1) * sizeof(struct value *));
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &object->object.members[i];
        int64_t number = text_number(member->key, INT32_MAX);
        if (number < 0 || (size_t)number >= count || items[number])
            return NULL;
        if (member->key.length > 1 && member->key.data[0] == '0')
            return NULL;
        items[number] = member->value;
    }
    struct value *list = value_list(arena);
    for (size_t i = 0; i < count; i++)
        value_append(arena, list, items[i]);
    return count ? list : NULL;
}

/* The tree with lists in the place of objects that are meant as such. */
static struct value *with_lists(struct arena *arena, struct value *tree)
{
    if (tree->kind != VALUE_OBJECT)
        return tree;
    for (size_t i = 0; i < tree->object.count; i++)
        tree->object.members[i].value = with_lists(arena, tree->object.members[i].value);
    struct value *list = as_list(arena, tree);
    return list ? list : tree;
}

struct value *form_tree_build(struct arena *arena, const struct form *form, struct error *error)
{
    struct value *tree = value_object(arena);
    for (size_t i = 0; i < form->count; i++)
        if (put_field(arena, tree, &form->fields[i], error))
            return NULL;
    for (size_t i = 0; i < tree->object.count; i++)
        tree->object.members[i].value = with_lists(arena, tree->object.members[i].value);
    return tree;
}
