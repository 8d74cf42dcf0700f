/* tests/unit/template_test.c - what the template language does, beyond JSON-e's own cases
 *
 * Messages, places, precompilation, $include and the functions of the caller.  Each row of a table
 * was compared with JSON-e 4.8 for JavaScript, but for those said to differ.
 */
#include "template_support.h"

struct row {
    const char *template, *context, *wanted;
};

static void rows_hold(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *got = render_text(rows[i].template, rows[i].context);
        if (strcmp(got, rows[i].wanted) != 0)
            fail_msg("%s: wanted %s, got %s", rows[i].template, rows[i].wanted, got);
    }
}

#define ROWS_HOLD(rows) rows_hold(rows, ARRAY_COUNT(rows))

static void expressions_have_values(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{$eval: '2 ** 3 ** 2'}", "{}", "512"},
        {"{$eval: '-2 ** 2'}", "{}", "4"},
        {"{$eval: '10 - 2 - 3'}", "{}", "5"},
        {"{$eval: '1 - -1'}", "{}", "2"},
        {"{$eval: '\"a\" < \"b\" == true'}", "{}", "true"},
        {"{$eval: 'true || missing'}", "{}", "true"},
        {"{$eval: 'false && missing'}", "{}", "false"},
        {"{$eval: '0 || [] || {} || \"x\"'}", "{}", "true"},
        {"{$eval: '{a: 1, \"b c\": [2], a: 3,}'}", "{}", "{\"a\":3,\"b c\":[2]}"},
        {"{$eval: '{b: 1} == o'}", "{o: {b: 1}}", "true"},
        {"{$eval: '[1, 2] in [[1], [1, 2]]'}", "{}", "true"},
        {"{$eval: 'min == min'}", "{}", "true"},
        {"{$eval: 's[1]'}", "{s: añ日}", "\"ñ\""},
        {"{$eval: 's[-2:]'}", "{s: añ😀日}", "\"😀日\""},
        {"{$eval: 'l[1:null]'}", "{l: [1, 2, 3]}", "[2,3]"},
        {"{$eval: 'l[2:1]'}", "{l: [1, 2, 3]}", "[]"},
        {"{$eval: 'o[\"none\"]'}", "{o: {}}", "null"},
        {"{$eval: 'innocent + nullable'}", "{innocent: 1, nullable: 2}", "3"},
        {"{$eval: 'len(s)'}", "{s: 日本😀}", "3"},
        {"{$eval: 'uppercase(s)'}", "{s: straße éß}", "\"STRASSE ÉSS\""},
        {"{$eval: 'lowercase(s)'}", "{s: ΑΣ İ}", "\"ας i̇\""},
        {"{$eval: 'strip(s)'}", "{s: \"\\u00a0 x \\t\"}", "\"x\""},
        {"{$eval: 'split(\"añb\", \"\")'}", "{}", "[\"a\",\"ñ\",\"b\"]"},
        {"{$eval: 'split(\"a1b\", 1)'}", "{}", "[\"a\",\"b\"]"},
        {"{$eval: 'join([null, 1, true, \"x\"], 0)'}", "{}", "\"010true0x\""},
        {"{$eval: 'range(5, 1, -2)'}", "{}", "[5,3]"},
        {"{$eval: 'range(5, 1)'}", "{}", "[]"},
        {"{$eval: 'number(\" -1.5e2 \")'}", "{}", "-150"},
        {"{$eval: 'number(\"0x1F\")'}", "{}", "31"},
        {"{$eval: 'str(0.1 + 0.2)'}", "{}", "\"0.30000000000000004\""},
        {"{$eval: 'typeof(typeof)'}", "{}", "\"function\""},
        {"{$eval: '[defined(\"a\"), defined(\"z\"), defined(\"min\")]'}", "{a: 1}",
         "[true,false,true]"},
        {"{$eval: 'fromNow(\"-1 Hour\")'}", "{}", "\"2017-01-19T15:27:20.974Z\""},
        {"{$eval: 'fromNow(\"1 day\")'}", "{now: '2020-02-28T00:00:00.000Z'}",
         "\"2020-02-29T00:00:00.000Z\""},
        {"{$eval: now}", "{}", "\"2017-01-19T16:27:20.974Z\""},
    };
    ROWS_HOLD(rows);
}

static void templates_have_values(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"'$$${a}|$${b}|${a}$'", "{a: 1}", "\"$${a}|${b}|1$\""},
        {"{$$eval: 1, $$$x: 2, '$$${a}': 3, $: 4, $a_b: 5}", "{}",
         "{\"$\":4,\"$$x\":2,\"$${a}\":3,\"$a_b\":5,\"$eval\":1}"},
        {"[[{$$let: [1]}]]", "{}", "[[{\"$let\":[1]}]]"},
        {"{'${k}': 1, a: 2}", "{k: a}", "{\"a\":2}"},
        {"{'${\"$eval\"}': '1'}", "{}", "{\"$eval\":\"1\"}"},
        {"{a: {$if: 'false', then: 1}, b: [{$if: 'false', then: 2}]}", "{}", "{\"b\":[]}"},
        {"{$if: 'false', then: 1}", "{}", "null"},
        {"{$unknown: {$if: 'false', then: 1}}", "{}", "{}"},
        {"{$match: {b: 1, a: 2, c: 3}}", "{a: 1, b: 1, c: 0}", "[2,1]"},
        {"{$switch: {'a > 1': x, $default: y}}", "{a: 1}", "\"y\""},
        {"{$let: {x: {$if: 'false'}}, in: {$eval: 'defined(\"x\")'}}", "{}", "false"},
        {"{$map: {$eval: o}, 'each(v, k)': {'${k}!': {$eval: v}}}", "{o: {a: 1, b: 2}}",
         "{\"a!\":1,\"b!\":2}"},
        {"{$map: {$eval: o}, each(x): {'${x.val}': '${x.key}'}}", "{o: {a: 1}}", "{\"1\":\"a\"}"},
        {"{$reduce: [1, 2, 3], initial: 0, 'each(a,x,i)': {$eval: a + x * i}}", "{}", "8"},
        {"{$map: [5], 'each(x,x)': {$eval: x}}", "{}", "[0]"},
        {"{$find: [1, 2, null], each(x): 'typeof(x) == \"null\"'}", "{}", "null"},
        {"[{$find: [1], each(x): 'x > 1'}, 5]", "{}", "[5]"},
        {"{$sort: {$eval: l}, by(x): x.a}", "{l: [{a: 2, b: 1}, {a: 1, b: 2}, {a: 2, b: 0}]}",
         "[{\"a\":1,\"b\":2},{\"a\":2,\"b\":1},{\"a\":2,\"b\":0}]"},
        {"{$flatten: [1, [2, [3]]]}", "{}", "[1,2,[3]]"},
        {"{$flattenDeep: [1, [2, [3, []]]]}", "{}", "[1,2,3]"},
        {"{$mergeDeep: [{a: {b: [1]}}, {a: {b: [2], c: 3}}, {a: {c: {}}}]}", "{}",
         "{\"a\":{\"b\":[1,2],\"c\":{}}}"},
        {"{$json: {b: [0.5, 1e21, null, \"\\u0001\\\"\"], a: {$if: 'false'}}}", "{}",
         "\"{\\\"b\\\":[0.5,1e+21,null,\\\"\\\\u0001\\\\\\\"\\\"]}\""},
        {"{$fromNow: ' + 1 YEAR 2mo ', from: '2019-01-01T00:00:00+01:00'}", "{}",
         "\"2020-02-29T23:00:00.000Z\""},
        {"{$fromNow: '', from: ''}", "{now: '2020-01-01T00:00:00.000Z'}",
         "\"2020-01-01T00:00:00.000Z\""},
    };
    ROWS_HOLD(rows);
}

#define OPERANDS "!, (, +, -, [, false, identifier, null, number, string, true, {"
#define SIGNS "!=, &&, (, *, **, +, -, ., /, <, <=, ==, >, >=, [, in, ||"

static void errors_say_what_and_where(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"a:\n  - b_c:\n      $eval: x.y\n", "{}",
         "test.yaml:3:14: InterpreterError at template.a[0][\"b_c\"]: unknown context value x"},
        {"a:\n  $if: x.y\n  then: 1\n", "{x: {}}",
         "test.yaml:2:8: InterpreterError at template.a: object has no property \"y\""},
        {"a:\n  $switch:\n    '1': 1\n    '+': 2\n", "{}",
         "test.yaml:4:5: SyntaxError at template.a: Unexpected end of input"},
        {"a: ok\n'${x}': 1\n", "{}", "test.yaml:2:1: InterpreterError: unknown context value x"},
        {"{$eval: '!a.b'}", "{a: {b: 1}}",
         "test.yaml:1:9: InterpreterError: infix: . expects objects"},
        {"{$eval: 'p ** q'}", "{}", "test.yaml:1:9: InterpreterError: unknown context value q"},
        {"{$eval: '1 / 0'}", "{}", "test.yaml:1:9: InterpreterError: division by zero"},
        {"{$eval: 's()'}", "{s: hi}", "test.yaml:1:9: InterpreterError: hi is not callable"},
        {"{$eval: 'l[9]'}", "{l: []}", "test.yaml:1:9: InterpreterError: index out of bounds"},
        {"{$eval: ')'}", "{}",
         "test.yaml:1:9: SyntaxError: Found: ) token, expected one of: " SIGNS},
        {"{$eval: '[1,,2]'}", "{}",
         "test.yaml:1:9: SyntaxError: Found: , token, expected one of: " OPERANDS},
        {"{$eval: 'a.in'}", "{a: {}}",
         "test.yaml:1:9: SyntaxError: Found: in token, expected one of: identifier"},
        {"{$eval: 'a b'}", "{}",
         "test.yaml:1:9: SyntaxError: Found: b token, expected one of: " SIGNS},
        {"{$eval: 'a @ b'}", "{}",
         "test.yaml:1:9: SyntaxError: Unexpected input for 'a @ b' at '@ b'"},
        {"{$eval: '\"\\'}", "{}",
         "test.yaml:1:9: SyntaxError: Unexpected input for '\"\\x5c' at "
         "'\"\\x5c'"},
        {"{$eval: ''}", "{}", "test.yaml:1:9: SyntaxError: Unexpected end of input"},
        {"'${1'", "{}", "test.yaml:1:1: SyntaxError: unterminated ${..} expression"},
        {"'${}'", "{}", "test.yaml:1:1: SyntaxError: Found: } token, expected one of: " OPERANDS},
        {"'${ l }'", "{l: []}",
         "test.yaml:1:1: TemplateError: interpolation of ' l ' produced an array or object"},
        {"{$foo: 1}", "{}",
         "test.yaml:1:2: TemplateError: $<identifier> is reserved; use $$<identifier>"},
        {"{$eval: '1', $json: 1}", "{}", "test.yaml:1:1: TemplateError: only one operator allowed"},
        {"{$eval: '1', b: 1, a: 1}", "{}",
         "test.yaml:1:1: TemplateError: $eval has undefined properties: a b"},
        {"{$if: 'true', $then: 1}", "{}",
         "test.yaml:1:1: TemplateError: $if Syntax error: $then: should be spelled then: (no $)"},
        {"{$let: {a: 1}, in: null}", "{}",
         "test.yaml:1:1: TemplateError: $let operator requires an `in` clause"},
        {"{$map: [], each(x): 1, each(y): 1}", "{}",
         "test.yaml:1:1: TemplateError: $map must have exactly two properties"},
        {"{$map: 1, each(x): 1, each(y): 1}", "{}",
         "test.yaml:1:1: TemplateError: $map value must evaluate to an array or object"},
        {"{$find: [1], each(x): 1}", "{}",
         "test.yaml:1:1: TemplateError: each can evaluate string expressions only"},
        {"{$sort: [1, a]}", "{}",
         "test.yaml:1:1: TemplateError: $sorted values to be sorted must have the same type"},
        {"{$switch: {'1': 1, '2': 2}}", "{}",
         "test.yaml:1:1: TemplateError: $switch can only have one truthy condition"},
        {"{$eval: 'range(1)'}", "{}",
         "test.yaml:1:9: BuiltinError: invalid arguments to builtin: "
         "range: expected at least 2 arguments"},
        {"{$eval: 'len(1)'}", "{}",
         "test.yaml:1:9: BuiltinError: invalid arguments to builtin: len"},
        {"{$fromNow: 1 fortnight}", "{}",
         "test.yaml:1:1: BuiltinError: String: '1 fortnight' "
         "isn't a time expression"},
        {"[{$eval: min}]", "{}",
         "test.yaml:1:1: TemplateError: evaluated template contained uncalled functions"},
        {"1", "[]", "test.yaml:1:1: TemplateError: context must be an object"},
        {"1", "{a-b: 1}",
         "test.yaml:1:1: TemplateError: top level keys of context must follow "
         "/[a-zA-Z_][a-zA-Z0-9_]*/"},
        /* These are no errors in JavaScript. */
        {"{$eval: 'number(\"x\")'}", "{}",
         "test.yaml:1:9: BuiltinError: invalid arguments to "
         "builtin: number: \"x\" is not a number"},
        {"{$eval: 'join([{}], \"\")'}", "{}",
         "test.yaml:1:9: BuiltinError: invalid arguments to "
         "builtin: join: item 0 of the list is an object"},
        {"{$eval: 'range(1, 2, 0)'}", "{}",
         "test.yaml:1:9: BuiltinError: invalid arguments to "
         "builtin: range: the step is 0"},
        {"'${min}'", "{}",
         "test.yaml:1:1: TemplateError: interpolation of 'min' produced a function"},
        {"{$fromNow: 9999 years}", "{}",
         "test.yaml:1:1: BuiltinError: the time is not in the years 1000 to 9999"},
    };
    ROWS_HOLD(rows);
}

static void values_of_strangers_are_made_visible_in_errors(void **state)
{
    (void)state;
    const char *got = render_text("{$eval: 's()'}", "{s: \"a\\e[31m\\n\\u009b\"}");
    assert_string_equal(
        got, "test.yaml:1:9: InterpreterError: a\\x1b[31m\\x0a\\xc2\\x9b is not callable");
}

static void check_finds_what_rendering_may_not_reach(void **state)
{
    (void)state;
    static const struct {
        const char *template, *wanted;
    } rows[] = {
        {"a: {$if: 'false', then: '${1 +}'}", "test.yaml:1:25: SyntaxError at template.a: Found: } "
                                              "token, expected one of: " OPERANDS},
        {"[{$if: 'true', else: {$eval: 1}}]",
         "test.yaml:1:22: TemplateError at template[0]: $eval must be given a string expression"},
        {"{$map: [], each(x): {$nope: 1}}",
         "test.yaml:1:22: TemplateError: $<identifier> is reserved; use $$<identifier>"},
        {"{$let: {}, inn: 1}", "test.yaml:1:1: TemplateError: $let has undefined properties: inn"},
        {"{$match: {'a b': 1}}",
         "test.yaml:1:11: SyntaxError: Found: b token, expected one of: " SIGNS},
        {"{$if: 'false', $then: 1}",
         "test.yaml:1:1: TemplateError: $if Syntax error: $then: should be spelled then: (no $)"},
    };
    struct error error;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct template *template =
            template_compile(support_arena, read_yaml(rows[i].template), "test.yaml");
        assert_int_equal(template_check(template, &error), -1);
        assert_string_equal(error.text, rows[i].wanted);
    }
    assert_string_equal(render_text(rows[0].template, "{}"), "{}");
    struct template *good = template_compile(
        support_arena, read_yaml("{a: {$if: b, then: '${c}'}, $$d: 1}"), "test.yaml");
    assert_int_equal(template_check(good, &error), 0);
}

static void constant_parts_are_shared(void **state)
{
    (void)state;
    const struct value *tree = read_yaml("{a: [1, {b: c}], d: '${1}'}");
    const struct template *template = template_compile(support_arena, tree, "test.yaml");
    struct rendering rendering = {.arena = support_arena, .context = read_yaml("{}")};
    struct error error;
    const struct value *result = template_render(template, &rendering, &error);
    assert_ptr_equal(value_get(result, "a"), value_get(tree, "a"));
}

static void neither_template_nor_context_is_changed(void **state)
{
    (void)state;
    const char *text = "{r: {$reverse: {$eval: l}}, m: {$mergeDeep: {$eval: o}}, "
                       "s: {$sort: {$eval: l}}, c: {$merge: {$eval: o}}, l: {$eval: l}}";
    const char *before = "{\"l\":[3,1,2],\"o\":[{\"a\":[1]},{\"a\":[2]}]}";
    const char *wanted = "{\"c\":{\"a\":[2]},\"l\":[3,1,2],\"m\":{\"a\":[1,2]},\"r\":[2,1,3],"
                         "\"s\":[1,2,3]}";
    const struct value *context = read_yaml(before);
    const struct template *template = template_compile(support_arena, read_yaml(text), "test.yaml");
    for (int i = 0; i < 3; i++) {
        struct rendering rendering = {.arena = support_arena, .context = context};
        assert_string_equal(as_json(template_render(template, &rendering, NULL)), wanted);
        assert_string_equal(as_json(context), before);
    }
}

/* $include */

static const struct template *include_test(void *context, struct text path, struct error *error)
{
    const struct value *files = context;
    const struct member *file = value_member(files, path);
    if (!file) {
        error_set(error, "there is no %.*s", (int)path.length, path.data);
        return NULL;
    }
    return template_compile(support_arena, file->value, file->key.data);
}

static const char *include_with(const char *template, const char *files)
{
    return render_tree(read_yaml(template),
                       (struct rendering){.context = read_yaml("{a: 1, n: part}"),
                                          .include = include_test,
                                          .include_context = read_yaml(files)});
}

static void include_renders_another_template_in_the_same_scope(void **state)
{
    (void)state;
    assert_string_equal(include_with("{x: {$include: part}}", "{part: ['${a}']}"),
                        "{\"x\":[\"1\"]}");
    assert_string_equal(
        include_with("{$let: {b: 2}, in: {$include: '${n}'}}", "{part: {$eval: a + b}}"), "3");
    assert_string_equal(
        include_with("{$map: [5, 6], each(v): {$include: {$eval: n}}}", "{part: {v: {$eval: v}}}"),
        "[{\"v\":5},{\"v\":6}]");
    assert_string_equal(include_with("[{$include: part}, 1]", "{part: {$if: 'false'}}"), "[1]");
}

static void include_errors_name_the_included_file(void **state)
{
    (void)state;
    assert_string_equal(include_with("{x: [{$include: part}]}", "part:\n  b: ['${c}']"),
                        "part:2:7: InterpreterError at template.b[0]: unknown context value c");
    assert_string_equal(include_with("{x: {$include: gone}}", "{}"),
                        "test.yaml:1:5: TemplateError at template.x: $include: there is no gone");
    assert_string_equal(include_with("{$include: 1}", "{}"),
                        "test.yaml:1:1: TemplateError: $include must be given a path as a string");
    assert_string_equal(include_with("{$include: part, a: 1}", "{part: 1}"),
                        "test.yaml:1:1: TemplateError: $include has undefined properties: a");
    /* What comes after an include is again in the outer file. */
    assert_string_equal(include_with("[{$include: part}, {$eval: c}]", "{part: 1}"),
                        "test.yaml:1:28: InterpreterError at template[1]: unknown context value c");
    assert_string_equal(render_text("{$include: part}", "{}"),
                        "test.yaml:1:1: TemplateError: $include is not available here");
}

static void include_cycles_end(void **state)
{
    (void)state;
    const char *got = include_with("{$include: part}", "{part: [{$include: two}], two: "
                                                       "{x: {$include: part}}}");
    assert_string_equal(got, "two:1:36: LimitError at template.x: $include of \"part\" reached the "
                             "limit of 32 includes in one another; does it include itself?");
}

/* Functions of the caller */

static struct value *call_twice(struct arena *arena, struct value **arguments, size_t count,
                                struct error *error)
{
    if (count != 1 || arguments[0]->kind != VALUE_NUMBER) {
        error_set(error, "twice() takes a number");
        return NULL;
    }
    return value_number(arena, arguments[0]->number * 2);
}

static void callers_functions_can_be_called(void **state)
{
    (void)state;
    static const struct template_function functions[] = {
        {"twice", call_twice}, {"len", call_twice}, {NULL, NULL}};
    static const struct row rows[] = {
        {"{$eval: 'twice(twice(2))'}", "{}", "8"},
        {"{$eval: 'len(4)'}", "{}", "8"},
        {"{$eval: 'twice == twice && twice != len'}", "{}", "true"},
        {"{$eval: 'twice'}", "{twice: 1}", "1"},
        {"{$map: [1, 2], each(len): {$eval: len}}", "{}", "[1,2]"},
        {"{$eval: 'twice()'}", "{}", "test.yaml:1:9: BuiltinError: twice() takes a number"},
        {"{$eval: 'twice'}", "{}",
         "test.yaml:1:1: TemplateError: evaluated template contained uncalled functions"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        assert_string_equal(render_tree(read_yaml(rows[i].template),
                                        (struct rendering){.context = read_yaml(rows[i].context),
                                                           .functions = functions}),
                            rows[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        template_test(expressions_have_values),
        template_test(templates_have_values),
        template_test(errors_say_what_and_where),
        template_test(values_of_strangers_are_made_visible_in_errors),
        template_test(check_finds_what_rendering_may_not_reach),
        template_test(constant_parts_are_shared),
        template_test(neither_template_nor_context_is_changed),
        template_test(include_renders_another_template_in_the_same_scope),
        template_test(include_errors_name_the_included_file),
        template_test(include_cycles_end),
        template_test(callers_functions_can_be_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
