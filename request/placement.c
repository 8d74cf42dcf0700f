/* request/placement.c - on which nodes a job runs: features, spread */
#include "request/placement.h"

#include "request/values.h"

enum { MOST_FEATURES = 16, FEATURE_LONGEST = 63 };

/* Keep a feature, unless it is there already.  False when it is none. */
static bool add_feature(struct text *features, size_t *count, const struct value *value)
{
    struct text word;
    if (!values_scalar_text(value, false, &word) || !values_is_word(word, FEATURE_LONGEST))
        return false;
    for (size_t i = 0; i < *count; i++)
        if (text_equal(features[i], word))
            return true;
    features[(*count)++] = word;
    return true;
}

void read_features(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    bool list = value->kind == VALUE_LIST;
    size_t given = list ? value->list.count : 1;
    size_t *count = (size_t *)((char *)into - field->offset + field->count_offset);
    struct text *features = arena_allocate(reading->arena, (given + 1) * sizeof(*features));
    bool good = given > 0 && given <= MOST_FEATURES;
    *count = 0;
    for (size_t i = 0; i < given && good; i++)
        good = add_feature(features, count, list ? value->list.items[i] : value);
    if (good)
        *(struct text **)into = features;
    else
        problems_expected(reading, path, value,
                          "a feature of nodes, such as nvlink, or a list of up to 16");
    if (!good)
        *count = 0;
}

void read_spread(struct reading *reading, const struct value_path *path, const struct value *value,
                 const struct field *field, void *into)
{
    (void)field;
    if (value->kind == VALUE_STRING &&
        (text_is(value->string, "require") || text_is(value->string, "prefer")))
        *(struct text *)into = value->string;
    else
        problems_expected(reading, path, value,
                          "require (each task on a node of its own) or prefer (as far as there is "
                          "room)");
}
