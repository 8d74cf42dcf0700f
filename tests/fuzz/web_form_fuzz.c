/* tests/fuzz/web_form_fuzz.c - web/form.h and web/form_tree.h: any bytes as the body of a form
 *
 * What is made of a form reads back the same as JSON, once it is UTF-8, and has no more in it than the body.
 */
#include "tests/fuzz/fuzz.h"
#include "web/form_tree.h"

static size_t count_texts(const struct value *tree)
{
    size_t count = 0;
    if (tree->kind == VALUE_STRING)
        return 1;
    if (tree->kind == VALUE_LIST)
        for (size_t i = 0; i < tree->list.count; i++)
            count += count_texts(tree->list.items[i]);
    if (tree->kind == VALUE_OBJECT)
        for (size_t i = 0; i < tree->object.count; i++)
            count += count_texts(tree->object.members[i].value);
    return count;
}

static bool is_text(const struct form *form)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct web_field *field = &form->fields[i];
        if (!utf8_valid(field->name) || !utf8_valid(field->value) ||
            memchr(field->name.data, '\0', field->name.length) ||
            (field->value.length && memchr(field->value.data, '\0', field->value.length)))
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct form form;
    form_parse(arena, fuzz_text(bytes, length), &form);
    CHECK(form.count <= length / 2 + 1);
    for (size_t i = 0; i < form.count; i++)
        CHECK(form.fields[i].name.length + form.fields[i].value.length <= length);
    struct value *tree = form_tree_build(arena, &form, &error);
    if (!tree)
        check_sentence(&error);
    if (tree) {
        CHECK(tree->kind == VALUE_OBJECT && count_texts(tree) <= form.count);
        struct text json = json_text(arena, tree);
        struct value *again =
            is_text(&form) ? json_read(arena, json, "form", &yaml_trusted_limits, &error) : tree;
        CHECK(again && value_equal(again, tree));
    }
    arena_free(arena);
    return 0;
}
