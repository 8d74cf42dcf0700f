/* request/privileged.c - `privileged`: what a job asks for beyond what every task has */
#include "request/privileged.h"

#include <stdlib.h>

enum { MOST_NAMES = 16, NAME_LONGEST = 63 };

static bool is_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (i && (c == '-' || c == '_'))))
            return false;
    }
    return name.length && name.length <= NAME_LONGEST;
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static struct text join_names(struct arena *arena, struct text *names, size_t count)
{
    struct buffer joined = {0};
    qsort(names, count, sizeof(*names), compare_names);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !text_equal(names[i], names[i - 1])) {
            buffer_add_string(&joined, joined.length ? " " : "");
            buffer_add_text(&joined, names[i]);
        }
    struct text result = arena_text(arena, joined.data, joined.length);
    buffer_free(&joined);
    return result;
}

void read_privileged(struct reading *reading, const struct value_path *path,
                     const struct value *value, const struct field *field, void *into)
{
    struct text names[MOST_NAMES], *joined = into;
    bool list = value->kind == VALUE_LIST;
    size_t count = list ? value->list.count : 1;
    bool good = count > 0 && count <= MOST_NAMES;
    (void)field;
    if (value->kind == VALUE_BOOLEAN) {
        *joined = value->boolean ? TEXT(PRIVILEGED_TRUE) : TEXT("");
        return;
    }
    for (size_t i = 0; i < count && good; i++) {
        const struct value *item = list ? value->list.items[i] : value;
        good = item->kind == VALUE_STRING && is_name(item->string);
        names[i] = good ? item->string : TEXT("");
    }
    if (good)
        *joined = join_names(reading->arena, names, count);
    else
        problems_expected(reading, path, value,
                          "the name of a privilege of this site, such as rdma, a list of up to 16, "
                          "true or false");
}
