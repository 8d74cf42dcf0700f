/* yaml_test.c - base/yaml.c: what is read, what is refused and where, and that writing reads back */
#include "tests/unit/unit_arena.h"

#include <math.h>
#include <time.h>

#include "base/json.h"
#include "base/yaml.h"
#include "tests/unit/yaml_emitter.h"

static struct value *read_bytes_of(const char *bytes, size_t length)
{
    return yaml_read(arena, (struct text){bytes, length}, "f.yaml", &yaml_request_limits, &error);
}

static struct value *read_string(const char *source)
{
    return read_bytes_of(source, strlen(source));
}

/* What a plain scalar is, as JSON: core schema, save superfluous leading zeros. */
static void plain_scalars_follow_the_core_schema(void **state)
{
    (void)state;
    static const struct {
        const char *source, *json;
    } cases[] = {
        {"", "null"},
        {"~", "null"},
        {"null", "null"},
        {"Null", "null"},
        {"NULL", "null"},
        {"nULL", "\"nULL\""},
        {"true", "true"},
        {"True", "true"},
        {"TRUE", "true"},
        {"tRUE", "\"tRUE\""},
        {"false", "false"},
        {"False", "false"},
        {"FALSE", "false"},
        {"yes", "\"yes\""},
        {"no", "\"no\""},
        {"on", "\"on\""},
        {"off", "\"off\""},
        {"y", "\"y\""},
        {"n", "\"n\""},
        {"0", "0"},
        {"-0", "0"},
        {"7", "7"},
        {"+7", "7"},
        {"-7", "-7"},
        {"010", "\"010\""},
        {"-010", "\"-010\""},
        {"00", "\"00\""},
        {"1_000", "\"1_000\""},
        {"1,000", "\"1,000\""},
        {"0x10", "16"},
        {"0xfF", "255"},
        {"0x", "\"0x\""},
        {"0xg", "\"0xg\""},
        {"-0x10", "\"-0x10\""},
        {"0o17", "15"},
        {"0o8", "\"0o8\""},
        {"0b1", "\"0b1\""},
        {"1.5", "1.5"},
        {"1.10", "1.1"},
        {"1.", "1"},
        {".5", "0.5"},
        {"-.5", "-0.5"},
        {".", "\".\""},
        {"+", "\"+\""},
        {"1.2.3", "\"1.2.3\""},
        {"1e3", "1000"},
        {"1E-2", "0.01"},
        {"1e", "\"1e\""},
        {"1e+", "\"1e+\""},
        {"e3", "\"e3\""},
        {"01.5", "\"01.5\""},
        {"1:30", "\"1:30\""},
        {"190:20:30", "\"190:20:30\""},
        {"2026-11-21", "\"2026-11-21\""},
        {"2026-11-21T03:09:24Z", "\"2026-11-21T03:09:24Z\""},
        {"inf", "\"inf\""},
        {"nan", "\"nan\""},
        {"NaN", "\"NaN\""},
        {"=", "\"=\""},
        {"12345678901234567890", "12345678901234567000"},
        {"\"1\"", "\"1\""},
        {"'true'", "\"true\""},
        {"\"\"", "\"\""},
        {"|\n 10\n", "\"10\\n\""},
        {">\n a\n b\n", "\"a b\\n\""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer source = {0}, json = {0};
        buffer_printf(&source, "- %s", cases[i].source);
        struct value *list = read_string(source.data);
        if (!list)
            print_error("%s: %s\n", cases[i].source, error.text);
        assert_non_null(list);
        assert_int_equal(list->list.count, 1);
        assert_int_equal(json_write(&json, list->list.items[0], false, &error), 0);
        if (strcmp(json.data, cases[i].json) != 0)
            print_error("in: %s\n", cases[i].source);
        assert_string_equal(json.data, cases[i].json);
        buffer_free(&source);
        buffer_free(&json);
    }
}

static void numbers_keep_how_they_were_written(void **state)
{
    (void)state;
    struct value *map = read_string("version: 1.10\nhex: 0x10\nbig: 1234567890123456789\n");
    assert_non_null(map);
    assert_true(text_is(value_get(map, "version")->written, "1.10"));
    assert_true(text_is(value_get(map, "hex")->written, "0x10"));
    assert_true(text_is(value_get(map, "big")->written, "1234567890123456789"));
}

/* Each is refused with this sentence; `%` stands for any rest. */
static void what_is_not_accepted_is_named_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"a: &x 1\n", "f.yaml:1:4: anchors (&name) are not accepted; write the value out"},
        {"a: 1\nb: *x\n", "f.yaml:2:4: aliases (*name) are not accepted; write the value out"},
        {"*x : 1\n", "f.yaml:1:1: aliases (*name) are not accepted; write the value out"},
        {"a: !!str 1\n", "f.yaml:1:4: tags (!name) are not accepted; write the value without it"},
        {"a: ! 1\n", "f.yaml:1:4: tags (!name) are not accepted; write the value without it"},
        {"!x a: 1\n", "f.yaml:1:1: tags (!name) are not accepted; write the value without it"},
        {"- !x []\n", "f.yaml:1:3: tags (!name) are not accepted; write the value without it"},
        {"- &x {}\n", "f.yaml:1:3: anchors (&name) are not accepted; write the value out"},
        {"<<: {a: 1}\n", "f.yaml:1:1: merge keys (<<) are not accepted; write the fields out"},
        {"a: 1\n\na: 2\n",
         "f.yaml:3:1: the key \"a\" is given twice; it was first given in line 1"},
        {"{a: 1, \"a\": 2}",
         "f.yaml:1:8: the key \"a\" is given twice; it was first given in line 1"},
        {"[a]: 1\n", "f.yaml:1:1: a key is a list or an object; a key must be a word"},
        {"? {a: b}\n: 1\n", "f.yaml:1:3: a key is a list or an object; a key must be a word"},
        {"a: 1\n---\nb: 2\n",
         "f.yaml:2:1: a second document starts here; a file holds one document"},
        {"%TAG !a! b:\n---\na: 1\n", "f.yaml:1:1: %TAG directives are not accepted"},
        {"a: .inf\n",
         "f.yaml:1:4: found .inf, expected a finite number; put it in quotes if it is text"},
        {"a: 1e999\n",
         "f.yaml:1:4: found 1e999, expected a finite number; put it in quotes if it is text"},
        {"- .nan\n",
         "f.yaml:1:3: found .nan, expected a finite number; put it in quotes if it is text"},
        {"a: 1\nb: \"\xc3\x28\"\n",
         "f.yaml:2:5: found bytes that are not UTF-8, expected UTF-8 text"},
        {"\xff\xfe"
         "a\0",
         "f.yaml:1:1: found bytes that are not UTF-8, expected UTF-8 text"},
        {"\xc3\xa9: \xed\xa0\x80\n",
         "f.yaml:1:4: found bytes that are not UTF-8, expected UTF-8 text"},
        {"a: \x01\n", "f.yaml:1:4: found the control character U+0001, expected text; inside "
                      "double quotes it can be written as an escape"},
        {"a: [1, 2\n",
         "f.yaml:1:4: not well-formed YAML: the [ that begins here is not closed: did "
         "not find expected ',' or ']'"},
        {"a: b: c\n",
         "f.yaml:1:5: not well-formed YAML: found a second \": \" where no field can %"},
        {"a:\n\t- 1\n", "f.yaml:2:1: not well-formed YAML: found a tab; indent with blanks"},
        {"a:\n  b: 1\n \tc: 2\n",
         "f.yaml:3:2: not well-formed YAML: found a tab; indent with blanks"},
        {"a: \"x\n", "f.yaml:1:4: not well-formed YAML: the quotes that begin here do not end"},
        {"a: @x\n",
         "f.yaml:1:4: not well-formed YAML: found @, with which no value begins; put the "
         "value in \"quotes\""},
        {"a: 1\n b: 2\n", "f.yaml:2:3: not well-formed YAML: found a second %"},
        {"a: 1\nname x\nb: 2\n", "f.yaml:2:1: not well-formed YAML: found a line without a colon, "
                                 "expected field: value"},
        {"a: 1\n\xc3\xa9:\xc2\xa0x\nb: 2\n", "f.yaml:2:3: not well-formed YAML: found a no-break "
                                             "space, which only looks like a blank; %"},
        {"a: 1\n- b\n", "f.yaml:2:1: not well-formed YAML: %"},
        {"a: \"\\ud800\"\n", "f.yaml:1:7: not well-formed YAML: %"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *expected = cases[i].sentence;
        error.text[0] = '\0';
        assert_null(read_string(cases[i].source));
        size_t length = strcspn(expected, "%");
        if (strstr(expected, "%TAG"))
            length = strlen(expected);
        bool equal = strncmp(error.text, expected, length) == 0 &&
                     (expected[length] == '%' || error.text[length] == '\0');
        if (!equal)
            print_error("wanted %s\n   got %s\n", expected, error.text);
        assert_true(equal);
    }
}

/* As JSON, with what the first thing beyond it is. */
static void what_is_beyond_json_is_read_where_it_may_be(void **state)
{
    (void)state;
    static const struct {
        const char *source, *json, *beyond;
        uint32_t line, column;
    } cases[] = {
        {"a: 1\n", "{\"a\":1}", NULL, 0, 0},
        {"a: &x [1]\nb: *x\n", "{\"a\":[1],\"b\":[1]}", "anchors", 1, 4},
        {"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}", "anchors", 1, 4},
        {"a: {b: 1}\n<<: {b: 2}\n", "{\"a\":{\"b\":1},\"b\":2}", "merge keys", 2, 1},
        {"<<: {b: 2, c: 3}\nb: 1\n", "{\"b\":1,\"c\":3}", "merge keys", 1, 1},
        {"b: 1\n<<: [{b: 2, c: 3}, {c: 4, d: 5}]\n", "{\"b\":1,\"c\":3,\"d\":5}", "merge", 2, 1},
        {"<<: {b: 2}\n<<: {b: 3, c: 4}\n", "{\"b\":2,\"c\":4}", "merge keys", 1, 1},
        {"\"<<\": 1\n", "{\"<<\":1}", NULL, 0, 0},
        {"[!!str 1, !!str , ! 1, !!int \"1\", !!float 2, !!bool \"true\", !!null \"\"]",
         "[\"1\",\"\",\"1\",1,2,true,null]", "tags", 1, 2},
        {"!!map {a: !!seq [1]}", "{\"a\":[1]}", "tags", 1, 1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct yaml_beyond beyond;
        struct buffer out = {0};
        struct value *value = yaml_read_beyond(arena, text_of(cases[i].source), "f.yaml",
                                               &yaml_request_limits, &beyond, &error);
        if (!value)
            fail_msg("%s was refused: %s", cases[i].source, error.text);
        assert_int_equal(json_write(&out, value, false, &error), 0);
        assert_string_equal(out.data, cases[i].json);
        buffer_free(&out);
        assert_int_equal(beyond.sentence != NULL, cases[i].beyond != NULL);
        if (!cases[i].beyond)
            continue;
        assert_non_null(strstr(beyond.sentence, cases[i].beyond));
        assert_int_equal(beyond.line, cases[i].line);
        assert_int_equal(beyond.column, cases[i].column);
    }
}

static void beyond_json_has_its_limits(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"a: *x\n", "f.yaml:1:4: the alias here stands for nothing"},
        {"a: &x [*x]\n", "f.yaml:1:8: the alias here stands for nothing"},
        {"a: &x b\n*x : 1\n", "f.yaml:2:1: a key is an alias; a key must be a word"},
        {"a: &x 1\n<<: *x\n", "f.yaml:2:1: a merge key (<<) has no map"},
        {"<<: [{a: 1}, 2]\n", "f.yaml:1:1: a merge key (<<) has no map"},
        {"<<: {b: 1}\nb: 2\nb: 3\n", "f.yaml:3:1: the key \"b\" is given twice"},
        {"a: !!int 1.5\n", "f.yaml:1:4: the value is not what its tag !!int says"},
        {"a: !!seq {}\n", "f.yaml:1:4: the tag tag:yaml.org,2002:seq is not accepted here"},
        {"a: !!set {b}\n", "f.yaml:1:4: the tag tag:yaml.org,2002:set is not accepted here"},
        {"a: !!float .inf\n", "f.yaml:1:4: found .inf, expected a finite number"},
        /* Of 10 values, and 4 levels. */
        {"a: &x [1, 2]\nb: [*x, *x]\n", "f.yaml:2:9: more than 10 values"},
        {"a: &x [[1]]\nb: [*x]\n", "f.yaml:2:5: nested more than 4 deep"},
    };
    static const struct yaml_limits limits = {.bytes = 1000, .nodes = 10, .depth = 4};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct yaml_beyond beyond;
        if (yaml_read_beyond(arena, text_of(cases[i].source), "f.yaml", &limits, &beyond, &error))
            fail_msg("%s was accepted", cases[i].source);
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("%s gave %s", cases[i].source, error.text);
    }
    struct yaml_beyond beyond;
    static const char fits[] = "a: &x [1, 2]\nb: [*x]\n", deep[] = "a: &x [1]\nb: [*x]\n";
    assert_non_null(yaml_read_beyond(arena, TEXT(fits), "f", &limits, &beyond, &error));
    assert_non_null(yaml_read_beyond(arena, TEXT(deep), "f", &limits, &beyond, &error));
}

static void values_and_keys_know_their_place(void **state)
{
    (void)state;
    struct value *map =
        read_string("\xef\xbb\xbf# c\r\na: 1\r\n\xc3\xa9t\xc3\xa9:   [x, {k: v}]\r\n");
    assert_non_null(map);
    assert_int_equal(map->line, 2);
    struct member *a = value_member(map, TEXT("a"));
    assert_int_equal(a->line, 2);
    assert_int_equal(a->column, 1);
    assert_int_equal(a->value->column, 4);
    struct member *ete = value_member(map, TEXT("\xc3\xa9t\xc3\xa9"));
    assert_int_equal(ete->line, 3);
    assert_int_equal(ete->value->column, 8);
    struct value *inner = ete->value->list.items[1];
    assert_int_equal(inner->column, 12);
    assert_int_equal(inner->object.members[0].column, 13);
    assert_int_equal(inner->object.members[0].value->column, 16);
}

static void part_of_a_file_knows_its_place(void **state)
{
    (void)state;
    struct value *list = yaml_read_at(arena, TEXT("[a,\n b]"), "f", (struct yaml_origin){7, 10},
                                      &yaml_request_limits, &error);
    assert_non_null(list);
    assert_int_equal(list->line, 7);
    assert_int_equal(list->column, 10);
    assert_int_equal(list->list.items[0]->column, 11);
    assert_int_equal(list->list.items[1]->line, 8);
    assert_int_equal(list->list.items[1]->column, 2);
    assert_null(yaml_read_at(arena, TEXT("[&a b]"), "f", (struct yaml_origin){7, 10},
                             &yaml_request_limits, &error));
    assert_string_equal(error.text,
                        "f:7:11: anchors (&name) are not accepted; write the value out");
    struct value *nothing = yaml_read_at(arena, TEXT(""), "f", (struct yaml_origin){3, 4},
                                         &yaml_request_limits, &error);
    assert_int_equal(nothing->kind, VALUE_NULL);
    assert_int_equal(nothing->line, 3);
}

static void an_empty_document_is_null(void **state)
{
    (void)state;
    static const char *const sources[] = {"", "\n", "# only a comment", "---\n", "---\n...\n"};
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
        struct value *value = read_string(sources[i]);
        assert_non_null(value);
        assert_int_equal(value->kind, VALUE_NULL);
    }
    struct value *value =
        yaml_read(arena, (struct text){NULL, 0}, "f", &yaml_request_limits, &error);
    assert_int_equal(value->kind, VALUE_NULL);
}

static void all_documents_of_a_stream_are_read(void **state)
{
    (void)state;
    struct value *list = yaml_read_all(arena, TEXT("a: 1\n---\nb: 2\n...\n---\n- 3\n"), "f",
                                       &yaml_trusted_limits, &error);
    assert_non_null(list);
    assert_int_equal(list->list.count, 3);
    assert_int_equal(list->list.items[2]->kind, VALUE_LIST);
    assert_int_equal(yaml_read_all(arena, TEXT(""), "f", &yaml_trusted_limits, &error)->list.count,
                     0);
}

static void limits_hold_exactly(void **state)
{
    (void)state;
    static const struct yaml_limits limits = {.bytes = 40, .nodes = 6, .depth = 3};
    static const struct {
        const char *source;
        const char *sentence; /* NULL: accepted */
    } cases[] = {
        {"[1, 2, 3, 4, 5]", NULL},
        {"[1, 2, 3, 4, 5, 6]", "f:1:17: more than 6 values; a file may hold at most that many"},
        {"{a: 1, b: [2]}", NULL},
        {"{a: 1, b: [2], c: 1}", "f:1:16: more than 6 values; a file may hold at most that many"},
        {"[[1]]", NULL},
        {"[[[1]]]", "f:1:4: nested more than 3 deep; a file may nest at most that deep"},
        {"{a: {b: c}}", NULL},
        {"{a: {b: {c: d}}}", "f:1:10: nested more than 3 deep; a file may nest at most that deep"},
        {"#234567890123456789012345678901234567890", NULL},
        {"#2345678901234567890123456789012345678901", "f: 41 bytes; at most 40 are read"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct value *value = yaml_read(arena, text_of(cases[i].source), "f", &limits, &error);
        if (!cases[i].sentence) {
            assert_non_null(value);
            continue;
        }
        assert_null(value);
        assert_string_equal(error.text, cases[i].sentence);
    }
}

/* Random trees with strings that are known to be trouble. */

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static struct text random_string(void)
{
    static const char *const nasty[] = {
        "",
        " ",
        "  x",
        "x  ",
        "\n",
        "a\n",
        "\na",
        "a\n\nb",
        " \n ",
        "\t",
        "a\tb",
        "true",
        "null",
        "~",
        "no",
        "010",
        "1.5",
        "0x10",
        ".inf",
        "-",
        "- a",
        "? a",
        "a: b",
        ": ",
        "a #b",
        "#b",
        "&a",
        "*a",
        "!a",
        "!!str",
        "|",
        ">",
        "%TAG",
        "@a",
        "`a",
        "'",
        "\"",
        "''",
        "\\",
        "\\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        "{}",
        "[]",
        "<<",
        "=",
        "---",
        "...",
        "--- a",
        "a\r\nb",
        "\r",
        "\x01\x02",
        "\x7f",
        "\xc2\x80",
        "\xc2\x85",
        "\xe2\x80\xa8",
        "\xe2\x80\xa9",
        "\xef\xbb\xbf",
        "a\xef\xbb\xbf"
        "b",
        "\xc3\xa9",
        "\xe4\xb8\x96\xe7\x95\x8c",
        "\xf0\x9f\x98\x80",
        "\xef\xbf\xbd",
        "\xef\xbf\xbe",
        "\xee\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "${x}",
        "$(rm)",
        "a long line with many words in it that some emitter might like to fold at column eighty "
        "or thereabouts, and a second half to be sure of it",
    };
    uint32_t kind = draw(8);
    if (kind < 5) {
        const char *string = nasty[draw(ARRAY_COUNT(nasty))];
        return text_of(string);
    }
    if (kind == 5)
        return (struct text){"nul\0inside", 10};
    struct buffer out = {0};
    for (uint32_t pieces = draw(5); pieces > 0; pieces--)
        buffer_add_string(&out, nasty[draw(ARRAY_COUNT(nasty))]);
    if (kind == 7)
        for (uint32_t length = draw(300); length > 0; length--)
            buffer_add_byte(&out, (char)(32 + draw(95)));
    struct text text = arena_text(arena, out.data, out.length);
    buffer_free(&out);
    return text;
}

static double random_number(void)
{
    static const double some[] = {0,      -1,
                                  1,      0.1,
                                  1e15,   1e21,
                                  1e-7,   1.7976931348623157e308,
                                  5e-324, 9007199254740993,
                                  -0.5,   123456.789,
                                  1e22,   0.000001};
    if (draw(2))
        return some[draw(ARRAY_COUNT(some))];
    for (;;) {
        uint64_t bits = ((uint64_t)draw(UINT32_MAX) << 33) ^ ((uint64_t)draw(UINT32_MAX) << 11) ^
                        draw(UINT32_MAX);
        double number;
        memcpy(&number, &bits, sizeof(number));
        if (isfinite(number))
            return number;
    }
}

static struct value *random_tree(int depth)
{
    uint32_t kind = draw(depth > 0 ? 8 : 5);
    struct value *value;
    if (kind == 0)
        return value_null(arena);
    if (kind == 1)
        return value_boolean(arena, draw(2));
    if (kind == 2)
        return value_number(arena, random_number());
    if (kind <= 4)
        return value_text(arena, random_string());
    if (kind <= 5) {
        value = value_list(arena);
        for (uint32_t count = draw(5); count > 0; count--)
            value_append(arena, value, random_tree(depth - 1));
        return value;
    }
    value = value_object(arena);
    for (uint32_t count = draw(kind == 7 ? 30 : 5); count > 0; count--)
        value_set(arena, value, random_string(), random_tree(depth - 1));
    return value;
}

static void what_is_written_reads_back_equal(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        arena_reset(arena);
        struct value *tree = random_tree(4);
        struct buffer out = {0};
        if (yaml_write(&out, tree, &error))
            fail_msg("tree %d: %s", i, error.text);
        struct value *again =
            yaml_read(arena, buffer_text(&out), "f", &yaml_trusted_limits, &error);
        if (!again)
            fail_msg("tree %d: %s\n%s", i, error.text, out.data);
        if (!value_equal(tree, again))
            fail_msg("tree %d differs:\n%s", i, out.data);
        buffer_free(&out);
    }
}

static void what_is_written_is_what_libyaml_writes(void **state)
{
    (void)state;
    for (int i = 0; i < 6000; i++) {
        arena_reset(arena);
        struct value *tree = random_tree(i % 6);
        struct buffer ours = {0}, theirs = {0};
        assert_int_equal(yaml_write(&ours, tree, &error), 0);
        emitter_write(&theirs, tree);
        if (!text_equal(buffer_text(&ours), buffer_text(&theirs)))
            fail_msg("tree %d is written\n%s\nand by libyaml\n%s", i, ours.data, theirs.data);
        buffer_free(&ours);
        buffer_free(&theirs);
    }
}

static void unwritable_trees_are_refused(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct value *list = value_list(arena);
    value_append(arena, list, value_number(arena, (double)INFINITY));
    assert_int_equal(yaml_write(&out, list, &error), -1);
    assert_string_equal(error.text, "YAML could not be written: a number is not finite");
    list->list.items[0] = value_string(arena, "\xff");
    assert_int_equal(yaml_write(&out, list, &error), -1);
    assert_string_equal(error.text, "YAML could not be written: a string is not UTF-8");
    struct value *map = value_object(arena);
    value_set(arena, map, TEXT("a\xff"), value_null(arena));
    assert_int_equal(yaml_write(&out, map, &error), -1);
    buffer_free(&out);
}

/* Strings are quoted, so no reader takes one for something else. */
static void written_form_is_stable(void **state)
{
    (void)state;
    struct value *map = read_string("b: no\na: 1.50\nlist: [x, {}, []]\n'no': ~\n");
    struct buffer out = {0};
    assert_int_equal(yaml_write(&out, map, &error), 0);
    assert_string_equal(out.data, "b: \"no\"\na: 1.5\nlist:\n- \"x\"\n- {}\n- []\n\"no\": null\n");
    buffer_free(&out);
}

/* `repeat` of a piece between a head and a tail, up to 1 MiB. */
static struct text big(struct buffer *out, const char *head, const char *piece, const char *tail)
{
    buffer_clear(out);
    buffer_add_string(out, head);
    while (out->length + strlen(piece) + strlen(tail) < 1 << 20)
        buffer_add_string(out, piece);
    buffer_add_string(out, tail);
    return buffer_text(out);
}

static void hostile_input_is_quick(void **state)
{
    (void)state;
    static const struct {
        const char *head, *piece, *tail;
    } cases[] = {
        {"", "%TAG !a! b:\n", "---\na: 1\n"},
        {"a: 1\n...\n", "%TAG !a! b:\n", "---\na: 1\n"},
        {"", "[", ""},
        {"", "{", ""},
        {"", "{a: ", ""},
        {"", "- ", ""},
        {"", "? ", ""},
        {"", "a: ", ""},
        {"", "[]", ""},
        {"[", "a,", "]"},
        {"[", "\n", "]"},
        {"{", "?,", "}"},
        {"", "a\n", ""},
        {"", "a:\n", ""},
        {"", " \n", ""},
        {"", "\n", ""},
        {"", "#\n", ""},
        {"a: ", "x", ""},
        {"a: ", "9", ""},
        {"a: 0.", "0", "1"},
        {"a: 0x", "f", ""},
        {"a: 0o", "7", ""},
        {"a: 1e", "9", ""},
        {"a: \"", "\\n", "\""},
        {"a: \"", "\n", "\""},
        {"a: \"", " ", "\""},
        {"a: '", "''", "'"},
        {"a: |\n", " \n", ""},
        {"a: |\n", " x\n", ""},
        {"a: >\n", " x\n\n", ""},
        {"a: ", "&a ", ""},
        {"a: &", "a", " 1"},
        {"a: *", "a", ""},
        {"a: !", "a", " 1"},
        {"a: !<", "%41", "> 1"},
        {"", "--- ", ""},
        {"", "---\n", ""},
        {"", "...\n", ""},
        {"", "%YAML 1.1\n", ""},
        {"", "%x\n", "---\na\n"},
        {"", "\xe2\x80\xa8", ""},
        {"", "\xc2\x85", "x"},
        {"\"", "\xf0\x9f\x98\x80", "\": 1"},
        {"", "\xff", ""},
        {"a: ", "x ", "\x01"},
        {"a: \"", "\\x4", "\""},
        {"[", "[a,", ""},
        {"", "-\n", ""},
        {"", "'a':\n", ""},
    };
    struct buffer source = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text text = big(&source, cases[i].head, cases[i].piece, cases[i].tail);
        arena_reset(arena);
        clock_t start = clock();
        struct value *value = yaml_read(arena, text, "f", &yaml_request_limits, &error);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (!value)
            assert_true(error.text[0] != '\0' && strlen(error.text) < sizeof(error.text) - 1);
        if (seconds > 0.5)
            fail_msg("case %zu, \"%s\" \"%s\", took %.1f s", i, cases[i].head, cases[i].piece,
                     seconds);
    }
    buffer_free(&source);
}

/* libyaml compares each %TAG with those before it, and says only then that a document starts. */
static void many_directives_are_quick(void **state)
{
    (void)state;
    static const char *const heads[] = {"", "a: 1\n...\n"};
    struct buffer source = {0};
    for (size_t i = 0; i < 2; i++) {
        buffer_clear(&source);
        buffer_add_string(&source, heads[i]);
        for (int tag = 0; source.length + 40 < 1 << 20; tag++)
            buffer_printf(&source, "%%TAG !%x! b\n", tag);
        buffer_add_string(&source, "---\na: 1\n");
        clock_t start = clock();
        assert_null(yaml_read(arena, buffer_text(&source), "f", &yaml_request_limits, &error));
        assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 0.5);
        assert_non_null(strstr(error.text, "%TAG directives are not accepted"));
    }
    /* A script may well contain the word. */
    buffer_clear(&source);
    buffer_add_string(&source, "a: |\n");
    for (int i = 0; i < 1000; i++)
        buffer_add_string(&source, "  %TAG\n");
    assert_non_null(yaml_read(arena, buffer_text(&source), "f", &yaml_request_limits, &error));
    buffer_free(&source);
}

/* A request of ten thousand distinct keys: looking for doubles is not quadratic. */
static void many_keys_are_quick(void **state)
{
    (void)state;
    struct buffer source = {0};
    for (int i = 0; i < 300000; i++)
        buffer_printf(&source, "k%d: 1\n", i);
    clock_t start = clock();
    assert_non_null(yaml_read(arena, buffer_text(&source), "f", &yaml_trusted_limits, &error));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    buffer_free(&source);
}

/* Bytes changed, inserted, cut and copied: no crash, and what is read is what it is after writing.
 */
static void mutated_documents_do_no_harm(void **state)
{
    (void)state;
    static const char sample[] =
        "# c\nname: a-b\nargs: [--x, 1.5, true, ~, \"q\\n\", 'it''s']\nmap:\n  k: |\n    t\n    u\n"
        "  ? long\n  : {a: [b, {c: d}]}\n- \nf: >-\n  folded\n  text\n\n\xc3\xa9: "
        "\xe4\xb8\x96\n...\n";
    static const char bytes[] = "\n\n  \t:-?[]{},#&*!|>'\"%@`\\~0129.eaxtfn<=\xc3\xa9\xff\x01";
    for (int i = 0; i < 20000; i++) {
        char copy[400];
        size_t length = sizeof(sample) - 1;
        memcpy(copy, sample, length);
        for (uint32_t changes = 1 + draw(6); changes > 0; changes--) {
            size_t at = draw((uint32_t)length);
            char byte = bytes[draw(sizeof(bytes) - 1)];
            switch (draw(3)) {
            case 0:
                copy[at] = byte;
                break;
            case 1:
                memmove(copy + at + 1, copy + at, length - at);
                copy[at] = byte;
                length++;
                break;
            default:
                memmove(copy + at, copy + at + 1, length - at - 1);
                length--;
            }
        }
        arena_reset(arena);
        struct value *value = read_bytes_of(copy, length);
        if (!value)
            continue;
        struct buffer out = {0};
        assert_int_equal(yaml_write(&out, value, &error), 0);
        struct value *again =
            yaml_read(arena, buffer_text(&out), "f", &yaml_trusted_limits, &error);
        if (!again || !value_equal(value, again))
            fail_msg("%.*s\n became\n%s", (int)length, copy, out.data);
        buffer_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_scalars_follow_the_core_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_keep_how_they_were_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_accepted_is_named_with_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_beyond_json_is_read_where_it_may_be, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(beyond_json_has_its_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_and_keys_know_their_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(part_of_a_file_knows_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_document_is_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_documents_of_a_stream_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_hold_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_is_what_libyaml_writes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unwritable_trees_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(written_form_is_stable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_input_is_quick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_directives_are_quick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_keys_are_quick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated_documents_do_no_harm, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
