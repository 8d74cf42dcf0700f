/* request/later.c - fields that a later version implements: only their form is checked */
#include "request/later.h"

#include "request/values.h"

void read_later_words(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    (void)into;
    struct text text;
    bool good = values_scalar_text(value, false, &text) && text.length > 0;
    if (value->kind == VALUE_LIST) {
        good = value->list.count > 0;
        for (size_t i = 0; i < value->list.count && good; i++)
            good = values_scalar_text(value->list.items[i], false, &text) && text.length > 0;
    }
    if (!good)
        problems_expected(reading, path, value, "a word or a list of words");
}
