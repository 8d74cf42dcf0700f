/* json_test.c - base/json.c: reading with places, limits, and writing that reads back */
#include "tests/unit/unit_arena.h"

#include <jansson.h>
#include <math.h>
#include <time.h>

#include "base/json.h"
#include "base/json_step.h"

static struct value *read_string(const char *source)
{
    return json_read(arena, text_of(source), "f.json", &yaml_request_limits, &error);
}

static void values_and_keys_know_their_place(void **state)
{
    (void)state;
    struct value *map = read_string("\n {\"\xc3\xa9\\\"\": [1, \"x\\\\\", {\"k\":\ttrue}],\r\n"
                                    "  \"b\" : 1.10 }");
    assert_non_null(map);
    assert_int_equal(map->line, 2);
    assert_int_equal(map->column, 2);
    struct member *first = &map->object.members[0], *second = &map->object.members[1];
    assert_true(text_is(first->key, "\xc3\xa9\""));
    assert_int_equal(first->column, 3);
    assert_int_equal(first->value->column, 10);
    struct value *inner = first->value->list.items[2];
    assert_int_equal(first->value->list.items[1]->column, 14);
    assert_int_equal(inner->column, 21);
    assert_int_equal(inner->object.members[0].value->column, 27);
    assert_int_equal(second->line, 3);
    assert_int_equal(second->column, 3);
    assert_int_equal(second->value->column, 9);
    assert_true(text_is(second->value->written, "1.10"));
}

static void numbers_are_doubles_and_keep_how_they_were_written(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        double number;
    } cases[] = {{"0", 0},           {"-0", -0.0},
                 {"1.10", 1.1},      {"1E3", 1000},
                 {"1e-999", 0},      {"12345678901234567890", 12345678901234567890.0},
                 {"-1.5e+2", -150.0}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct value *value = read_string(cases[i].source);
        assert_non_null(value);
        assert_int_equal(value->kind, VALUE_NUMBER);
        assert_true(value->number == cases[i].number);
        assert_true(text_is(value->written, cases[i].source));
    }
}

static void what_is_not_json_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *source, *start;
    } cases[] = {
        {"", "f.json:1:1: not well-formed JSON: "},
        {"{", "f.json:1:1: not well-formed JSON: "},
        {"{\n\"a\": 1,\n}", "f.json:3:1: not well-formed JSON: "},
        {"[1 2]", "f.json:1:4: not well-formed JSON: "},
        {"{\"a\": 1} x", "f.json:1:10: not well-formed JSON: "},
        {"{a: 1}", "f.json:1:2: not well-formed JSON: "},
        {"['a']", "f.json:1:2: not well-formed JSON: "},
        {"[01]", "f.json:1:2: not well-formed JSON: "},
        {"[0x10]", "f.json:1:3: not well-formed JSON: "},
        {"[+1]", "f.json:1:2: not well-formed JSON: "},
        {"[.5]", "f.json:1:2: not well-formed JSON: "},
        {"[NaN]", "f.json:1:4: not well-formed JSON: "},
        {"[Infinity]", "f.json:1:9: not well-formed JSON: "},
        {"[1e999]", "f.json:1:6: not well-formed JSON: real number overflow"},
        {"{\"a\": 1, \"a\": 2}", "f.json:1:12: not well-formed JSON: duplicate object key"},
        {"{\"a\\u0000b\": 1}", "f.json:1:11: not well-formed JSON: NUL byte in object key"},
        {"[\"\xff\"]", "f.json:1:2: not well-formed JSON: "},
        {"[\"\\ud800\"]", "f.json:1:"},
        {"[\"a\nb\"]", "f.json:1:"},
        {"// c\n{}", "f.json:1:1: not well-formed JSON: "},
        {"\xef\xbb\xbf{}", "f.json:1:1: not well-formed JSON: "},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        error.text[0] = '\0';
        if (read_string(cases[i].source))
            fail_msg("accepted: %s", cases[i].source);
        if (strncmp(error.text, cases[i].start, strlen(cases[i].start)) != 0)
            print_error("wanted %s\n   got %s\n", cases[i].start, error.text);
        assert_int_equal(strncmp(error.text, cases[i].start, strlen(cases[i].start)), 0);
    }
}

static bool jansson_reads(struct text source)
{
    json_t *json = json_loadb(
        source.data, source.length,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    json_decref(json);
    return json != NULL;
}

static void what_is_json_is_what_jansson_reads(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\"a\x7f\"",
        "\"\xc3\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xc0\x80\"",
        "\"12345678\\\"\"",
        "\"1234567\"",
        "\"12345678\"9",
        "\"1234567\n9\"",
        "\"1234567\x80\"",
        "\"1234567\\q\"",
        "\"\\",
        "\"\\u",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u00E9\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ud83d\"",
        "\"\\ud83dxude00\"",
        "\"\\ude00\"",
        "\"\\U0041\"",
        "\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"",
        "\"\\'\"",
        "-",
        "-a",
        "00",
        "-0.0",
        "1.",
        "1.e3",
        "1e",
        "1e+",
        "1E-2",
        "1e5x",
        "--1",
        "1e308",
        "-1e309",
        "999999999999999",
        "9999999999999999999999",
        "nul",
        "nulll",
        "null ",
        "True",
        "falsee",
        "[true,]",
        "[,]",
        "[1,,2]",
        "[1",
        "[1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" :\t1\n}",
        "{\"a\":1]",
        "{\"\":1}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"\\u0000\":1}",
        "{1:2}",
        "\v1",
        "\f1",
        "[]]",
        "1 2",
        "\"a\" \"b\"",
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        if (jansson_reads(text_of(cases[i])) != (read_string(cases[i]) != NULL))
            fail_msg("%s: %s", cases[i], error.text);
    struct value *value = read_string("[\"x\\u00e9\\u20ac\\ud83d\\ude00\\b\", \"\xc3\xa9\\t\", 5]");
    assert_true(text_is(value->list.items[0]->string, "x\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\b"));
    assert_true(text_is(value->list.items[1]->string, "\xc3\xa9\t"));
    assert_int_equal(value->list.items[2]->column, 40);
}

static void comments_become_blanks(void **state)
{
    (void)state;
    static const struct {
        const char *source, *blanked;
        long first; /* -1: no comment */
    } cases[] = {
        {"{}", "{}", -1},
        {"// c\n{}", "    \n{}", 0},
        {"{\"a\": \"http://x\\\"//\"} // \"b\r\n", "{\"a\": \"http://x\\\"//\"}      \r\n", 22},
        {"[1, // {\n2] //", "[1,     \n2]   ", 4},
        {"[\"a\n// b", "[\"a\n    ", 4},
        {"/ / /", "/ / /", -1},
        {"\"\\", "\"\\", -1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const char *first;
        struct text source = text_of(cases[i].source);
        struct text blanked = json_blank_comments(arena, source, &first);
        if (!text_is(blanked, cases[i].blanked))
            fail_msg("%s became %.*s", cases[i].source, (int)blanked.length, blanked.data);
        assert_int_equal(first ? first - source.data : -1, cases[i].first);
    }
    assert_true(text_is(json_after_comments(text_of(" // a\n\n//b\n {} // c")), "{} // c"));
    assert_true(text_is(json_after_comments(text_of("// a")), ""));
    assert_true(text_is(json_after_comments(text_of("/a")), "/a"));
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
        {"[1, 2, 3, 4, 5, [6]]", "f:1:17: more than 6 values; a file may hold at most that many"},
        {"[\",,,,,,,\", 2]", NULL},
        {"[1, 2,\n3,4,5,6,7]", "f:2:7: more than 6 values; a file may hold at most that many"},
        {"{\"a\": 1, \"b\": [2]}", NULL},
        {"{\"a\": 1,\n \"b\": [2], \"c\" : [4]}",
         "f:2:18: more than 6 values; a file may hold at most that many"},
        {"[[\"[\"]]", NULL},
        {"[[[1]]]", "f:1:4: nested more than 3 deep; a file may nest at most that deep"},
        {"[\"]:\\\"\", [{\"\xc3\xa9\": true}]]",
         "f:1:17: nested more than 3 deep; a file may nest at most that deep"},
        {"[                                      ]", NULL},
        {"[                                       ]", "f: 41 bytes; at most 40 are read"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct value *value = json_read(arena, text_of(cases[i].source), "f", &limits, &error);
        if (!cases[i].sentence) {
            if (!value)
                fail_msg("%s", error.text);
            continue;
        }
        assert_null(value);
        assert_string_equal(error.text, cases[i].sentence);
    }
}

static void what_is_written_reads_back_equal(void **state)
{
    (void)state;
    static const char source[] =
        "{\"a\":[null,true,false,0,-1.5,1e+21,5e-324,1.7976931348623157e+308,123456789012345680000]"
        ","
        "\"\":\"\",\"nul\":\"a\\u0000b\",\"all\":\"\\\"\\\\\\n\\t\\r\\b\\f\\u0001\\u001f\x7f/\","
        "\"\xe4\xb8\x96\":\"\xf0\x9f\x98\x80\xe2\x80\xa8\",\"o\":{},\"l\":[],\"z\":{\"z\":{\"z\":1}"
        "}}";
    struct buffer out = {0};
    struct value *value = read_string(source);
    assert_non_null(value);
    assert_int_equal(json_write(&out, value, false, &error), 0);
    assert_string_equal(out.data, source);
    struct value *again = json_read(arena, buffer_text(&out), "f", &yaml_request_limits, &error);
    assert_non_null(again);
    assert_true(value_equal(value, again));
    buffer_free(&out);
}

static void keys_can_be_sorted(void **state)
{
    (void)state;
    struct buffer out = {0};
    struct value *value =
        read_string("{\"b\":1,\"a\":{\"\xf0\x9f\x98\x80\":1,\"\xef\xbf\xbd\":2},\"B\":3}");
    assert_int_equal(json_write(&out, value, true, &error), 0);
    assert_string_equal(out.data,
                        "{\"B\":3,\"a\":{\"\xef\xbf\xbd\":2,\"\xf0\x9f\x98\x80\":1},\"b\":1}");
    buffer_clear(&out);
    assert_int_equal(json_write(&out, value_number(arena, (double)NAN), true, &error), -1);
    assert_string_equal(error.text, "JSON could not be written: a number is not finite");
    buffer_free(&out);
}

static void a_tree_becomes_text_in_the_arena(void **state)
{
    (void)state;
    struct value *map = value_object(arena);
    assert_string_equal(json_text(arena, map).data, "{}");
    value_put(arena, map, "b", value_number(arena, 2));
    value_put(arena, map, "a", value_string(arena, "x"));
    struct text text = json_text(arena, map);
    assert_string_equal(text.data, "{\"b\":2,\"a\":\"x\"}");
    assert_int_equal(text.length, strlen(text.data));
    value_put(arena, map, "c", value_number(arena, (double)INFINITY));
    text = json_text(arena, map);
    assert_int_equal(text.length, 0);
    assert_string_equal(text.data, "");
}

static void hostile_input_is_quick(void **state)
{
    (void)state;
    static const struct {
        const char *head, *piece, *tail;
    } cases[] = {
        {"", "[", ""},        {"", "{\"a\":", ""},
        {"[0", ",0", "]"},    {"[{}", ",{}", "]"},
        {"\"", "x", "\""},    {"\"", "\\u0000", "\""},
        {"\"", "\\\\", "\""}, {"", "9", ""},
        {"0.", "0", "1"},     {"1e", "9", ""},
        {"", " ", "1"},       {"", "\n", "1"},
        {"[", "\n0,", "0]"},  {"{\"", "k", "\":1}"},
        {"", "\xc3\xa9", ""}, {"[\"\xc3\xa9\"", ",\"\xc3\xa9\"", "]"},
        {"", "{", ""},        {"[", "[],", "1]"},
    };
    struct buffer source = {0};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        buffer_clear(&source);
        buffer_add_string(&source, cases[i].head);
        while (source.length + strlen(cases[i].piece) + strlen(cases[i].tail) <= 1 << 20)
            buffer_add_string(&source, cases[i].piece);
        buffer_add_string(&source, cases[i].tail);
        arena_reset(arena);
        clock_t start = clock();
        json_read(arena, buffer_text(&source), "f", &yaml_request_limits, &error);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 0.5)
            fail_msg("case %zu, %s%s: %.1f s", i, cases[i].head, cases[i].piece, seconds);
    }
    buffer_clear(&source);
    for (int i = 0; i < 100000; i++)
        buffer_printf(&source, "%s\"k%d\":1", i ? "," : "{", i);
    buffer_add_byte(&source, '}');
    clock_t start = clock();
    assert_null(json_read(arena, buffer_text(&source), "f", &yaml_request_limits, &error));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    buffer_free(&source);
}

/* Bytes changed at random: no crash, and whatever is read knows a place within the text. */
static void mutated_documents_do_no_harm(void **state)
{
    (void)state;
    static const char sample[] =
        "{\"name\": \"a\\u00e9\\\"b\", \"args\": [1, 2.50, true, null, {}],\n"
        " \"tasks\": {\"w\": {\"count\": 2}}, \"x\": [[], [\"\\\\\"]]}\n";
    static const char bytes[] = "\"\\{}[]:, \n019.eu-tfn\xc3\xa9\xff";
    uint32_t seed = 1;
    for (int i = 0; i < 30000; i++) {
        char copy[sizeof(sample)];
        memcpy(copy, sample, sizeof(sample));
        size_t length = sizeof(sample) - 1;
        for (int change = 0; change < 3; change++) {
            seed = seed * 1664525 + 1013904223;
            copy[(seed >> 8) % length] = bytes[(seed >> 20) % (sizeof(bytes) - 1)];
        }
        arena_reset(arena);
        struct value *value =
            json_read(arena, (struct text){copy, length}, "f", &yaml_request_limits, &error);
        assert_true(!value || (value->line >= 1 && value->line <= 10));
        assert_true(jansson_reads((struct text){copy, length}) == (value != NULL));
    }
}

static void members_are_stepped_over(void **state)
{
    (void)state;
    static const char *const names[] = {"big", "b\\\\", NULL};
    static const char *const table[][2] = {
        {"{\"a\":1}", NULL},
        {"[\"big\",\"x\"]", NULL}, /* no name */
        {"{\"Big\":1,\"bigger\":2}", NULL},
        {"{\"big\":{\"a\":[1,{\"}\":\"]\"}]},\"c\":2}", "{\"big\":null,\"c\":2}"},
        {"{\"c\":[{\"big\" : \"\\\"}\\\\\" , \"d\":3}]}", "{\"c\":[{\"big\" : null, \"d\":3}]}"},
        {"{\"big\":-1.5e3}", "{\"big\":null}"},
        {"{\"big\":true,\"a\":{\"big\":[]}}", "{\"big\":null,\"a\":{\"big\":null}}"},
        {"{\"big\":{\"big\":1},\"e\":0}\n", "{\"big\":null,\"e\":0}\n"},
        {"{\"b\\\\\":1}", "{\"b\\\\\":null}"},
        /* what is not well-formed stays so */
        {"{\"big\":}", NULL},
        {"{\"big\":", NULL},
        {"{\"big", NULL},
        {"\"", NULL},
        {"", NULL},
        {"{\"big\":[1,2", "{\"big\":null"},
        {"{\"big\":\"a\\\"", "{\"big\":null"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        struct text source = text_of(table[i][0]), got = json_step_without(arena, source, names);
        if (!table[i][1])
            assert_ptr_equal(got.data, source.data);
        if (!text_is(got, table[i][1] ? table[i][1] : table[i][0]))
            fail_msg("%s: %.*s", table[i][0], (int)got.length, got.data);
        const struct value *whole = json_read(arena, got, "f", &yaml_request_limits, &error);
        const struct value *part =
            json_read_without(arena, source, "f", names, &yaml_request_limits, &error);
        assert_true(whole ? part && value_equal(whole, part) : !part);
    }
}

/* Of names that begin and end alike, too. */
static void each_of_many_names_is_stepped_over(void **state)
{
    (void)state;
    static char bytes[60][4];
    const char *names[ARRAY_COUNT(bytes) + 1] = {NULL};
    struct buffer source = {0}, wanted = {0};
    for (size_t i = 0; i < ARRAY_COUNT(bytes); i++) {
        snprintf(bytes[i], sizeof(bytes[i]), "n%02zu", i);
        names[i] = bytes[i];
        buffer_printf(&source, "%s\"n%02zu\":%zu,\"m%02zu\":1", i ? "," : "{", i, i, i);
        buffer_printf(&wanted, "%s\"n%02zu\":null,\"m%02zu\":1", i ? "," : "{", i, i);
    }
    buffer_add_string(&source, "}");
    buffer_add_string(&wanted, "}");
    const struct value *part =
        json_read_without(arena, buffer_text(&source), "f", names, &yaml_request_limits, &error);
    const struct value *whole =
        json_read(arena, buffer_text(&wanted), "f", &yaml_request_limits, &error);
    assert_true(part && whole && value_equal(part, whole));
    buffer_free(&source);
    buffer_free(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_and_keys_know_their_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_are_doubles_and_keep_how_they_were_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_json_is_refused_with_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_json_is_what_jansson_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comments_become_blanks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_are_stepped_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_of_many_names_is_stepped_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_hold_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_reads_back_equal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_can_be_sorted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tree_becomes_text_in_the_arena, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_input_is_quick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated_documents_do_no_harm, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
