/* tests/unit/template_property_test.c - a value is data: it never changes a result's structure
 *
 * Random templates are rendered twice: with harmless words as values, and with strings made of what
 * means something to templates, shells and markup.  Putting the strings in place of the words in
 * the first result has to give exactly the second.  Also: random bytes as expressions and templates
 * end in a value or a sentence, and rendering twice gives the same.
 */
#include "template_support.h"

enum { ROUNDS = 3000, VARIABLES = 4 };

static uint32_t state_of_random;

static uint32_t below(uint32_t limit)
{
    state_of_random = state_of_random * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(state_of_random >> 8) * limit) >> 24);
}

static const char *const words[VARIABLES] = {"Qone", "Qtwo", "Qthree", "Qfour"};
static const char *const names[VARIABLES] = {"a", "b", "c", "d"};

static const char *const pieces[] = {"${a}",
                                     "${",
                                     "}",
                                     "$${b}",
                                     "$eval",
                                     "$$",
                                     "$if",
                                     "{$eval: a}",
                                     "[",
                                     "]",
                                     "{",
                                     "\"",
                                     "'",
                                     "\\",
                                     "\n",
                                     "\r\n",
                                     "\t",
                                     "---",
                                     "...",
                                     "- x",
                                     ": ",
                                     "#",
                                     "&x",
                                     "*x",
                                     "!!int",
                                     "<<",
                                     "null",
                                     "true",
                                     "0",
                                     "1e9",
                                     "a",
                                     "b",
                                     "each(x)",
                                     "then",
                                     "\xc3\xbc",
                                     "\xe6\x97\xa5",
                                     "\xf0\x9f\x98\x80",
                                     "\xe2\x80\xa8",
                                     "\xc2\x85",
                                     "\x01",
                                     " ",
                                     "$(reboot)",
                                     "`id`",
                                     ";",
                                     "|",
                                     "%s%n",
                                     "../"};

static struct text nasty_string(void)
{
    struct buffer text = {0};
    for (uint32_t count = 1 + below(5); count; count--)
        buffer_add_string(&text, pieces[below(ARRAY_COUNT(pieces))]);
    struct text copy = arena_text(support_arena, text.data, text.length);
    buffer_free(&text);
    return copy;
}

/* Templates that only hand values on. */

static struct value *make_tree(int depth);

static struct value *make_string(void)
{
    static const char *const forms[] = {"${%s}",      "x ${%s} y",    "${%s}",     "$${%s} ${ %s }",
                                        "${[%s][0]}", "${{k: %s}.k}", "${%s + ''}"};
    struct buffer text = {0};
    const char *form = forms[below(ARRAY_COUNT(forms))];
    const char *name = names[below(VARIABLES)];
    for (; *form; form++) {
        if (form[0] == '%' && form[1] == 's')
            buffer_add_string(&text, name), form++;
        else
            buffer_add_byte(&text, *form);
    }
    struct value *value = value_string(support_arena, text.data);
    buffer_free(&text);
    return value;
}

static struct value *string(const char *text)
{
    return value_string(support_arena, text);
}

static struct value *object_of(const char *key, struct value *value, const char *other_key,
                               struct value *other)
{
    struct value *object = value_object(support_arena);
    value_put(support_arena, object, key, value);
    if (other_key)
        value_put(support_arena, object, other_key, other);
    return object;
}

static struct value *list_of(struct value *value)
{
    struct value *list = value_list(support_arena);
    value_append(support_arena, list, value);
    return list;
}

static struct value *make_object(int depth)
{
    static const char *const keys[] = {"k", "$$eval", "key with blanks", "key-${a}", "${b}"};
    struct value *object = value_object(support_arena);
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++)
        if (below(3) == 0)
            value_put(support_arena, object, keys[i], make_tree(depth - 1));
    return object;
}

static struct value *make_tree(int depth)
{
    struct value *list;
    switch (depth > 0 ? below(12) : below(2)) {
    case 0:
        return make_string();
    case 1:
        return object_of("$eval", string(names[below(VARIABLES)]), NULL, NULL);
    case 2:
    case 3:
        list = value_list(support_arena);
        for (uint32_t count = below(4); count; count--)
            value_append(support_arena, list, make_tree(depth - 1));
        return list;
    case 4:
        return object_of("$if", string("a != ''"), "then", make_tree(depth - 1));
    case 5:
        return object_of("$let", object_of("a", make_tree(0), "e", make_tree(0)), "in",
                         make_tree(depth - 1));
    case 6:
        return object_of("$map", list_of(make_tree(depth - 1)), "each(x)",
                         list_of(object_of("$eval", string("x"), NULL, NULL)));
    case 7:
        return object_of("$merge", list_of(make_object(depth)), NULL, NULL);
    case 8:
        return object_of("$reverse", list_of(make_tree(depth - 1)), NULL, NULL);
    case 9:
        return object_of("$switch", object_of("len(a) > 0", make_tree(depth - 1), NULL, NULL), NULL,
                         NULL);
    case 10:
        return object_of("$flatten", list_of(make_tree(depth - 1)), NULL, NULL);
    default:
        return make_object(depth);
    }
}

/* The text with each harmless word replaced. */
static struct text replace_words(struct text text, const struct text *strings)
{
    struct buffer out = {0};
    for (size_t at = 0; at < text.length;) {
        int i = 0;
        struct text rest = {text.data + at, text.length - at};
        while (i < VARIABLES && !text_starts(rest, words[i]))
            i++;
        if (i < VARIABLES) {
            buffer_add_text(&out, strings[i]);
            at += strlen(words[i]);
        } else {
            buffer_add_byte(&out, text.data[at++]);
        }
    }
    struct text all = buffer_text(&out);
    struct text copy = arena_text(support_arena, all.data, all.length);
    buffer_free(&out);
    return copy;
}

static struct value *replace_in_tree(const struct value *value, const struct text *strings)
{
    struct value *copy;
    switch (value->kind) {
    case VALUE_STRING:
        return value_text(support_arena, replace_words(value->string, strings));
    case VALUE_LIST:
        copy = value_list(support_arena);
        for (size_t i = 0; i < value->list.count; i++)
            value_append(support_arena, copy, replace_in_tree(value->list.items[i], strings));
        return copy;
    case VALUE_OBJECT:
        copy = value_object(support_arena);
        for (size_t i = 0; i < value->object.count; i++)
            value_set(support_arena, copy, replace_words(value->object.members[i].key, strings),
                      replace_in_tree(value->object.members[i].value, strings));
        return copy;
    default:
        return value_copy(support_arena, value);
    }
}

static struct value *make_context(const struct text *strings)
{
    struct value *context = value_object(support_arena);
    for (int i = 0; i < VARIABLES; i++)
        value_put(support_arena, context, names[i], value_text(support_arena, strings[i]));
    return context;
}

static void values_never_change_the_structure(void **state)
{
    (void)state;
    struct text harmless[VARIABLES], nasty[VARIABLES];
    struct error error;
    size_t rendered = 0;
    state_of_random = 20170119;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < VARIABLES; i++) {
            harmless[i] = text_of(words[i]);
            nasty[i] = nasty_string();
        }
        const struct template *template =
            template_compile(support_arena, make_tree(5), "test.yaml");
        struct rendering rendering = {.arena = support_arena, .context = make_context(harmless)};
        const struct value *first = template_render(template, &rendering, &error);
        struct error second_error;
        rendering.context = make_context(nasty);
        const struct value *second = template_render(template, &rendering, &second_error);
        if (!first || !second) {
            /* Which part fails is the template's doing alone. */
            assert_true(!first && !second);
            assert_string_equal(error.text, second_error.text);
        } else if (!value_equal(replace_in_tree(first, nasty), second)) {
            printf("%s\n", as_json(first));
            fail_msg("became %s", as_json(second));
        }
        rendered += first != NULL;
        arena_reset(support_arena);
    }
    assert_true(rendered > ROUNDS / 2);
}

static void random_text_ends_in_a_value_or_a_sentence(void **state)
{
    static const char *const tokens[] = {"a",
                                         "b",
                                         "min",
                                         "len",
                                         "range",
                                         "1",
                                         "2.5",
                                         "'x'",
                                         "\"y\"",
                                         "null",
                                         "true",
                                         "+",
                                         "-",
                                         "*",
                                         "/",
                                         "**",
                                         "==",
                                         "!=",
                                         "<",
                                         ">=",
                                         "&&",
                                         "||",
                                         "!",
                                         "in",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         ".",
                                         ":",
                                         ",",
                                         " ",
                                         "\n",
                                         "\xc2\xa0",
                                         "\xf0\x9f\x98\x80",
                                         "$",
                                         "${",
                                         "'",
                                         "\"",
                                         "\xff",
                                         "@"};
    (void)state;
    state_of_random = 42;
    for (int round = 0; round < 20 * ROUNDS; round++) {
        struct buffer text = {0};
        for (uint32_t count = below(14); count; count--)
            buffer_add_string(&text, tokens[below(ARRAY_COUNT(tokens))]);
        struct text source = buffer_text(&text);
        source = arena_text(support_arena, source.data, source.length);
        struct value *tree = value_text(support_arena, source);
        if (below(2))
            tree = object_of("$eval", tree, NULL, NULL);
        const struct template *template = template_compile(support_arena, tree, "test.yaml");
        struct rendering rendering = {
            .arena = support_arena,
            .context = make_context(
                (struct text[]){TEXT("x"), TEXT("\xf0\x9f\x98\x80"), TEXT(""), TEXT("1")})};
        struct error error = {""}, check = {""};
        const struct value *value = template_render(template, &rendering, &error);
        const struct value *again = template_render(template, &rendering, &error);
        assert_true(value ? again && error.text[0] == '\0' : !again && error.text[0] != '\0');
        if (!value && strstr(error.text, "SyntaxError"))
            assert_int_equal(template_check(template, &check), -1);
        buffer_free(&text);
        arena_reset(support_arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        template_test(values_never_change_the_structure),
        template_test(random_text_ends_in_a_value_or_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
