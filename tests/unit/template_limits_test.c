/* tests/unit/template_limits_test.c - rendering ends, whatever template and context hold
 *
 * Each template here would take more time, memory or stack than there is.  It has to end in an
 * error that names a limit, soon, and under AddressSanitizer on a stack of 8 MiB too.
 */
#include "template_support.h"

/* Milliseconds for one rendering, with sanitizers and on slow machines too. */
enum { PATIENCE = 20 * 1000 };

static void ends_at_a_limit(const char *what, const struct value *tree, const char *context)
{
    int64_t start = clock_elapsed();
    const char *got = render_tree(tree, (struct rendering){.context = read_yaml(context)});
    int64_t took = clock_elapsed() - start;
    if (!strstr(got, " limit "))
        fail_msg("%.200s: gave %.200s", what, got);
    if (took > PATIENCE)
        fail_msg("%.200s: took %lld ms", what, (long long)took);
    size_t used = arena_used(support_arena);
    if (used > 3 * template_default_limits.bytes)
        fail_msg("%.200s: took %zu bytes", what, used);
    arena_reset(support_arena);
}

static void large_results_end_at_a_limit(void **state)
{
    static const char *const templates[] = {
        /* Lists and texts that double. */
        "{$reduce: {$eval: 'range(0, 100)'}, initial: x, 'each(a,v)': {$eval: a + a}}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: x, 'each(a,v)': '${a}${a}'}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: [x], 'each(a,v)': [{$eval: a}, {$eval: a}]}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: [x], 'each(a,v)': {$flatten: [{$eval: a}, "
        "{$eval: a}]}}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: {l: [x]}, 'each(a,v)': "
        "{$mergeDeep: [{$eval: a}, {$eval: a}]}}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: x, 'each(a,v)': {$json: [{$eval: a}, "
        "{$eval: a}]}}",
        "{$reduce: {$eval: 'range(0, 100)'}, initial: x, 'each(a,v)': {$eval: 'join([a, a], a)'}}",
        "{$json: {$reduce: {$eval: 'range(0, 100)'}, initial: [x], 'each(a,v)': "
        "{$eval: '[a, a]'}}}",
        /* Two that share nothing but their parts' content are compared. */
        "{$let: {p: {$reduce: {$eval: 'range(0, 60)'}, initial: [1], 'each(a,v)': {$eval: "
        "'[a, a]'}}, q: {$reduce: {$eval: 'range(0, 60)'}, initial: [1], 'each(a,v)': {$eval: "
        "'[a, a]'}}}, in: {$eval: 'p == q'}}",
        "{$flattenDeep: {$reduce: {$eval: 'range(0, 60)'}, initial: [1], 'each(a,v)': {$eval: "
        "'[a, a]'}}}",
        /* Much at once. */
        "{$eval: 'range(0, 1000000000)'}",
        "{$eval: 'range(0, 2 ** 1000)'}",
        "{$eval: 'range(0 - 2 ** 1000, 2 ** 1000, 1)'}",
        "{$eval: 'join(range(0, 100000), big)'}",
        "{$map: {$eval: 'range(0, 100)'}, each(i): {$eval: 'split(big, \"\")'}}",
        "{$eval: 'uppercase(join(range(0, 1000), big))'}",
        /* One text, many times in the result. */
        "{$map: {$eval: 'range(0, 100000)'}, each(i): {$eval: big}}",
        /* Work that leaves nothing. */
        "{$map: {$eval: 'range(0, 1000)'}, each(i): {$map: {$eval: 'range(0, 1000)'}, each(j): "
        "{$if: 'false'}}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'big in big'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'big + \"x\" < big + \"y\"'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'len(big)'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'big[99999:100000]'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'strip(big)'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'big in {a: 1}'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: '{a: 1}[big]'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: 'defined(big)'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$merge: [{'${big}': 1}]}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$eval: '10000 in range(0, 10000)'}}",
        "{$map: {$eval: 'range(0, 10000)'}, each(i): {$sort: {$eval: 'range(0, 10000)'}}}",
    };
    struct buffer context = {0};
    buffer_add_string(&context, "{big: '");
    for (int i = 0; i < 100 * 1000; i++)
        buffer_add_byte(&context, 'x');
    buffer_add_string(&context, "'}");
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(templates); i++)
        ends_at_a_limit(templates[i], read_yaml(templates[i]), context.data);
    buffer_free(&context);
}

static void deep_values_end_at_a_limit(void **state)
{
    static const char *const uses[] = {
        "{$eval: d}",
        "{$json: {$eval: d}}",
        "{$flattenDeep: {$eval: d}}",
        "{$eval: 'd == e'}",
        "{$eval: 'd in [e]'}",
        "{$mergeDeep: [{a: {$eval: d}}, {a: {$eval: e}}]}",
        "{$mergeDeep: [{$eval: f}, {$eval: g}]}",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(uses); i++) {
        if (strstr(uses[i], "[{a:"))
            continue; /* two lists are joined without looking deeper */
        struct buffer text = {0};
        buffer_printf(
            &text,
            "{$let: {d: {$reduce: {$eval: 'range(0, 20000)'}, initial: [1], 'each(a,v)': [{$eval: "
            "a}]}, e: {$reduce: {$eval: 'range(0, 20000)'}, initial: [1], 'each(a,v)': [{$eval: "
            "a}]}, f: {$reduce: {$eval: 'range(0, 20000)'}, initial: {}, 'each(a,v)': {b: {$eval: "
            "a}}}, g: {$reduce: {$eval: 'range(0, 20000)'}, initial: {}, 'each(a,v)': {b: {$eval: "
            "a}}}}, in: %s}",
            uses[i]);
        ends_at_a_limit(uses[i], read_yaml(text.data), "{}");
        buffer_free(&text);
    }
}

/* `count` times `open`, the middle, `count` times `close`, as a string value. */
static struct value *nested_string(const char *before, const char *open, const char *middle,
                                   const char *close, const char *after, int count)
{
    struct buffer text = {0};
    buffer_add_string(&text, before);
    for (int i = 0; i < count; i++)
        buffer_add_string(&text, open);
    buffer_add_string(&text, middle);
    for (int i = 0; i < count; i++)
        buffer_add_string(&text, close);
    buffer_add_string(&text, after);
    struct value *value = value_string(support_arena, text.data);
    buffer_free(&text);
    return value;
}

static const struct value *nested_eval(const char *open, const char *middle, const char *close,
                                       int count)
{
    struct value *object = value_object(support_arena);
    value_put(support_arena, object, "$eval", nested_string("", open, middle, close, "", count));
    return object;
}

static void deep_expressions_end_at_a_limit(void **state)
{
    static const struct {
        const char *open, *close;
    } nests[] = {{"(", ")"},    {"[", "]"},   {"{a:", "}"},   {"-", ""},
                 {"!", ""},     {"1**", ""},  {"x[", "]"},    {"x[1:", "]"},
                 {"min(", ")"}, {"1+(", ")"}, {"1 in (", ")"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(nests); i++)
        for (int count = 150; count < 200000; count *= 5) {
            const struct value *tree = nested_eval(nests[i].open, "1", nests[i].close, count);
            if (count > 250)
                ends_at_a_limit(nests[i].open, tree, "{x: [1, 2]}");
            else
                render_tree(tree, (struct rendering){.context = read_yaml("{x: [1, 2]}")});
        }
}

static void deep_templates_end_at_a_limit(void **state)
{
    (void)state;
    struct value *lists = value_string(support_arena, "${1}");
    struct value *operators = lists;
    for (int i = 0; i < 100 * 1000; i++) {
        struct value *list = value_list(support_arena);
        value_append(support_arena, list, lists);
        lists = list;
        struct value *operator= value_object(support_arena);
        value_put(support_arena, operator, "$json", operators);
        operators = operator;
    }
    struct error error;
    assert_int_equal(template_check(template_compile(support_arena, lists, "test.yaml"), &error),
                     -1);
    assert_non_null(strstr(error.text, "limit"));
    const char *got = render_tree(operators, (struct rendering){.context = read_yaml("{}")});
    assert_non_null(strstr(got, "limit"));
}

/* Put the tree where the string HERE stands. */
static bool replace_mark(struct value *in, struct value *tree)
{
    for (size_t i = 0; in->kind == VALUE_OBJECT && i < in->object.count; i++) {
        struct member *member = &in->object.members[i];
        bool here = member->value->kind == VALUE_STRING && text_is(member->value->string, "HERE");
        if (here)
            member->value = tree;
        if (here || replace_mark(member->value, tree))
            return true;
    }
    return false;
}

static void deep_operators_within_the_limit_work(void **state)
{
    /* What stands around the tree; HERE is where it goes. */
    static const char *const kinds[] = {
        "{$merge: HERE}",
        "{$reverse: HERE}",
        "{$sort: HERE, by(x): x}",
        "{$flatten: HERE}",
        "{$map: HERE, each(x): 1}",
        "{$map: [1], each(x): HERE}",
        "{$reduce: [1], initial: 1, 'each(a,x)': HERE}",
        "{$let: {x: 1}, in: HERE}",
        "{$if: 'true', then: HERE}",
        "{$switch: {'true': HERE}}",
        "{$match: {'true': HERE}}",
        "{a: HERE}",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        struct value *tree = value_list(support_arena);
        for (size_t depth = 2; depth < template_default_limits.depth; depth++) {
            struct value *wrapped = read_yaml(kinds[i]);
            assert_true(replace_mark(wrapped, tree));
            tree = wrapped;
        }
        const char *got = render_tree(tree, (struct rendering){.context = read_yaml("{}")});
        if (strstr(got, "LimitError"))
            fail_msg("%s: %s", kinds[i], got);
    }
}

/* The deepest that is let through at all stages at once has to fit into the stack. */
static void depth_within_the_limit_works(void **state)
{
    (void)state;
    const size_t depth = template_default_limits.depth;
    struct value *tree = value_string(support_arena, "${1}");
    for (size_t i = 0; i < depth - 2; i++) {
        struct value *list = value_list(support_arena);
        value_append(support_arena, list, tree);
        tree = list;
    }
    assert_non_null(
        strstr(render_tree(tree, (struct rendering){.context = read_yaml("{}")}), "[\"1\"]"));
    const char *got = render_tree(nested_eval("[", "1", "]", 190),
                                  (struct rendering){.context = read_yaml("{}")});
    assert_int_equal(got[189], '[');
}

static void chains_may_be_long(void **state)
{
    (void)state;
    struct buffer sum = {0};
    buffer_add_string(&sum, "{$eval: '0");
    for (int i = 0; i < 10000; i++)
        buffer_add_string(&sum, "+1");
    buffer_add_string(&sum, "'}");
    assert_string_equal(render_text(sum.data, "{}"), "10000");
    buffer_free(&sum);
}

static void smaller_limits_are_kept(void **state)
{
    static const struct template_limits few_steps = {100, 1 << 20, 100};
    static const struct template_limits few_bytes = {100000, 4096, 100};
    static const struct template_limits little_depth = {100000, 1 << 20, 4};
    (void)state;
    struct rendering rendering = {.context = read_yaml("{}"), .limits = &few_steps};
    assert_string_equal(
        render_tree(read_yaml("{$map: {$eval: 'range(0, 60)'}, each(x): '${x}'}"), rendering),
        "test.yaml:1:42: LimitError: rendering reached the limit of 100 steps");
    rendering.limits = &few_bytes;
    assert_string_equal(render_tree(read_yaml("{$eval: 'range(0, 600)'}"), rendering),
                        "test.yaml:1:9: LimitError: rendering reached the limit of 4096 bytes");
    rendering.limits = &little_depth;
    assert_string_equal(
        render_tree(read_yaml("{a: [[[['${1}']]]]}"), rendering),
        "test.yaml:1:8: LimitError at template.a[0][0][0]: nested deeper than the limit of 4 "
        "levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        template_test(large_results_end_at_a_limit),
        template_test(deep_values_end_at_a_limit),
        template_test(deep_expressions_end_at_a_limit),
        template_test(deep_templates_end_at_a_limit),
        template_test(deep_operators_within_the_limit_work),
        template_test(depth_within_the_limit_works),
        template_test(chains_may_be_long),
        template_test(smaller_limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
