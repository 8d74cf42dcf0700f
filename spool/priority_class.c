/* spool/priority_class.c - `priority_classes` of dlspool.yaml */
#include "spool/priority_class.h"

enum { MOST_CLASSES = 100, NAME_LONGEST = 63 };

static bool is_name(struct text name)
{
    bool letter = false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool small = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
        if (!small && !digit && (i == 0 || (c != '-' && c != '_' && c != '.')) &&
            !(c >= 'A' && c <= 'Z'))
            return false;
        letter = letter || !digit;
    }
    return letter && name.length <= NAME_LONGEST;
}

static int read_users(const struct section *section, const struct value *list)
{
    struct priority_class *class = section->target;
    return members_read_users(section, list, &class->members);
}

static int read_groups(const struct section *section, const struct value *list)
{
    struct priority_class *class = section->target;
    return members_read_groups(section, list, &class->members);
}

/* clang-format off */
#define AT(member) offsetof(struct priority_class, member)
enum { NO_VALUE = -1000, PRIORITY_MOST = 100 };
static const struct section_field table[] = {
    {"name", SECTION_TEXT, AT(name), .valid = is_name,
     .what = "a word of letters, digits, ., _ and - that is no number, such as urgent"},
    {"value", SECTION_COUNT, AT(value), NO_VALUE, -PRIORITY_MOST, PRIORITY_MOST, .what = NULL},
    {"description", SECTION_TEXT, AT(description), .what = "one line of text"},
    {"users", .read = read_users},
    {"groups", .read = read_groups},
    {"default", SECTION_BOOLEAN, AT(otherwise), .what = NULL},
};
#undef AT
/* clang-format on */

static int check_class(const struct section *section, const struct value *item,
                       const struct priority_classes *before, const struct priority_class *class)
{
    if (!class->name.length || class->value == NO_VALUE)
        return section_expected(
            section, item, "",
            "both name and value in each class, such as {name: urgent, value: 50}");
    if (priority_class_find(before, class->name))
        return section_expected(section, value_get(item, "name"), "name",
                                "a name that no class before it has");
    if (class->otherwise && (priority_class_otherwise(before) || priority_class_is_reserved(class)))
        return section_expected(
            section, value_get(item, "default"), "default",
            "true in one class at most, and not in one that has users or groups");
    return 0;
}

int priority_class_read_all(const struct section *section, const struct value *list,
                            struct priority_classes *classes)
{
    if (list->kind != VALUE_LIST || list->list.count > MOST_CLASSES)
        return section_expected(section, list, "priority_classes",
                                "a list of at most 100 classes such as {name: urgent, value: 50}");
    *classes = (struct priority_classes){
        .items = arena_allocate(section->arena, (list->list.count + 1) * sizeof(*classes->items))};
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct priority_class *class = &classes->items[i];
        const struct section inner = {"priority_classes", class, section->arena, section->error};
        *class = (struct priority_class){.value = NO_VALUE};
        if (item->kind != VALUE_OBJECT)
            return section_expected(&inner, item, "", "a class such as {name: urgent, value: 50}");
        if (section_read(&inner, item, table, ARRAY_COUNT(table)) ||
            check_class(&inner, item, classes, class))
            return -1;
        classes->count = i + 1;
    }
    return 0;
}

const struct priority_class *priority_class_find(const struct priority_classes *classes,
                                                 struct text name)
{
    for (size_t i = 0; i < classes->count; i++)
        if (text_equal(classes->items[i].name, name))
            return &classes->items[i];
    return NULL;
}

const struct priority_class *priority_class_otherwise(const struct priority_classes *classes)
{
    for (size_t i = 0; i < classes->count; i++)
        if (classes->items[i].otherwise)
            return &classes->items[i];
    return NULL;
}

bool priority_class_is_reserved(const struct priority_class *class)
{
    return members_are_named(&class->members);
}

bool priority_class_is_for(const struct priority_class *class, uid_t uid, gid_t gid)
{
    return members_have(&class->members, uid, gid);
}

void priority_class_list(const struct priority_classes *classes, uid_t uid, gid_t gid, bool all,
                         struct buffer *out)
{
    for (size_t i = 0; i < classes->count; i++) {
        const struct priority_class *class = &classes->items[i];
        if (all || priority_class_is_for(class, uid, gid))
            buffer_printf(out, "%s%s", out->length ? ", " : "", class->name.data);
    }
}
