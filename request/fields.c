/* request/fields.c - a table of fields, read from a map */
#include "request/fields.h"

#include "base/nearest.h"

enum { MOST_FIELDS = 64 }; /* in one table; sizes arrays on the stack */

const struct field *fields_find(const struct field_table *table, struct text name)
{
    for (size_t i = 0; i < table->count; i++)
        if (text_equal(table->fields[i].name, name))
            return &table->fields[i];
    return NULL;
}

const struct value *fields_given(const struct value *map, const char *name)
{
    const struct value *value = value_get(map, name);
    return value && value->kind != VALUE_NULL ? value : NULL;
}

/* The names of the fields that this version supports, separated by commas, in the arena. */
static const char *list_names(struct arena *arena, const struct field_table *table)
{
    struct buffer out = {0};
    for (size_t i = 0; i < table->count; i++)
        if (!table->fields[i].later)
            buffer_printf(&out, "%s%s", out.length ? ", " : "", table->fields[i].name.data);
    const char *list = arena_string(arena, out.data);
    buffer_free(&out);
    return list;
}

/* The field that another system calls `key`, or NULL; `--mem`, `mem` and `MEM` are the same. */
static const char *find_synonym(const struct field_table *table, struct text key)
{
    enum { LONGEST = 40 };
    char word[LONGEST + 1];
    size_t length = 0;
    while (key.length && key.data[0] == '-') {
        key.data++;
        key.length--;
    }
    if (!table->synonyms || key.length > LONGEST)
        return NULL;
    for (; length < key.length; length++) {
        char c = key.data[length];
        word[length] = (char)(c == '-' ? '_' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    for (const struct synonym *synonym = table->synonyms; synonym->word; synonym++)
        if (text_is((struct text){word, length}, synonym->word))
            return synonym->ours;
    return NULL;
}

/* Add a problem for an unknown field, with what was probably meant: a field of the other table, a
 * synonym, or the nearest name; otherwise all names, once for each table. */
static void refuse_unknown(struct reading *reading, const struct value_path *path,
                           const struct member *member, const struct field_table *table)
{
    const char *names[MOST_FIELDS + 1] = {NULL};
    if (reading->full) {
        reading->found++; /* Only count it: finding the nearest name ten thousand times is slow. */
        return;
    }
    if (table->other && fields_find(table->other, member->key)) {
        problems_add(reading, path, member->line, member->column,
                     "unknown field here; it is a field of %s", table->other->owner);
        return;
    }
    for (size_t i = 0; i < table->count && i < MOST_FIELDS; i++)
        names[i] = table->fields[i].name.data;
    const char *near = find_synonym(table, member->key);
    if (!near)
        near = nearest_word(member->key, names);
    if (near)
        problems_add(reading, path, member->line, member->column, "unknown field; did you mean %s?",
                     near);
    else if (reading->listed == table)
        problems_add(reading, path, member->line, member->column, "unknown field");
    else
        problems_add(reading, path, member->line, member->column,
                     "unknown field; the fields of %s are %s", table->owner,
                     list_names(reading->arena, table));
    if (!near)
        reading->listed = table;
}

static void read_later(struct reading *reading, const struct value_path *path,
                       const struct member *member, const struct field *field)
{
    size_t found = reading->found;
    field->read(reading, path, member->value, field, NULL);
    bool asks_for_nothing = member->value->kind == VALUE_BOOLEAN && !member->value->boolean;
    if (reading->found == found && !asks_for_nothing)
        problems_add(reading, path, member->line, member->column,
                     "not yet supported; leave the field out");
}

void fields_read(struct reading *reading, const struct value_path *above, const struct value *map,
                 const struct field_table *table, void *into)
{
    for (size_t i = 0; i < map->object.count; i++) {
        const struct member *member = &map->object.members[i];
        struct value_path path = {.above = above, .name = member->key};
        const struct field *field = fields_find(table, member->key);
        if (!field && table->open)
            continue;
        else if (!field)
            refuse_unknown(reading, &path, member, table);
        else if (member->value->kind == VALUE_NULL && !table->null_is_value)
            continue;
        else if (field->later)
            read_later(reading, &path, member, field);
        else
            field->read(reading, &path, member->value, field, (char *)into + field->offset);
    }
}
