/* stages/preview/changes.c - the fields in which two manifests differ */
#include "stages/preview/changes.h"

#include "base/error.h"

struct comparison {
    struct arena *arena;
    struct changes *changes;
    struct buffer path;
    int depth;
};

static void note_change(struct comparison *comparison, const struct value *before,
                        const struct value *after)
{
    struct changes *changes = comparison->changes;
    struct text path = buffer_text(&comparison->path);
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *known = &changes->items[i];
        if (text_equal(known->path, path) && !known->before == !before && !known->after == !after)
            return;
    }
    if (changes->count == CHANGES_MOST) {
        changes->more = true;
        return;
    }
    changes->items[changes->count++] = (struct change){
        .path = arena_text(comparison->arena, path.data ? path.data : "", path.length),
        .before = before,
        .after = after,
    };
}

static void compare_values(struct comparison *comparison, const struct value *before,
                           const struct value *after);

static void compare_below(struct comparison *comparison, struct text step,
                          const struct value *before, const struct value *after)
{
    size_t length = comparison->path.length;
    struct error_quote_buffer buffer;
    if (length && !text_is(step, "[]"))
        buffer_add_byte(&comparison->path, '.');
    buffer_add_string(&comparison->path, error_quote(&buffer, step.data, step.length));
    compare_values(comparison, before, after);
    comparison->path.length = length;
}

static void compare_objects(struct comparison *comparison, const struct value *before,
                            const struct value *after)
{
    for (size_t i = 0; i < before->object.count; i++) {
        const struct member *member = &before->object.members[i];
        const struct member *other = value_member(after, member->key);
        compare_below(comparison, member->key, member->value, other ? other->value : NULL);
    }
    for (size_t i = 0; i < after->object.count; i++) {
        const struct member *member = &after->object.members[i];
        if (!value_member(before, member->key))
            compare_below(comparison, member->key, NULL, member->value);
    }
}

/* Equal items at the end of both lists are left out, so that an inserted item is one change. */
static void compare_lists(struct comparison *comparison, const struct value *before,
                          const struct value *after)
{
    size_t first = 0, before_end = before->list.count, after_end = after->list.count;
    if (before_end != after_end) {
        while (first < before_end && first < after_end &&
               value_equal(before->list.items[first], after->list.items[first]))
            first++;
        while (before_end > first && after_end > first &&
               value_equal(before->list.items[before_end - 1], after->list.items[after_end - 1]))
            before_end--, after_end--;
    }
    for (size_t i = first; i < before_end || i < after_end; i++)
        compare_below(comparison, TEXT("[]"), i < before_end ? before->list.items[i] : NULL,
                      i < after_end ? after->list.items[i] : NULL);
}

static void compare_values(struct comparison *comparison, const struct value *before,
                           const struct value *after)
{
    bool deep = comparison->depth++ >= CHANGES_DEEPEST;
    if (!before || !after || before->kind != after->kind)
        note_change(comparison, before, after);
    else if (before->kind == VALUE_OBJECT && !deep)
        compare_objects(comparison, before, after);
    else if (before->kind == VALUE_LIST && !deep)
        compare_lists(comparison, before, after);
    else if (!value_equal(before, after))
        note_change(comparison, before, after);
    comparison->depth--;
}

void changes_find(struct arena *arena, const struct value *before, const struct value *after,
                  struct changes *changes)
{
    struct comparison comparison = {.arena = arena, .changes = changes};
    changes->count = 0;
    changes->more = false;
    compare_values(&comparison, before, after);
    buffer_free(&comparison.path);
}
