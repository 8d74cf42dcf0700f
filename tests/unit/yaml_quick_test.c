/* yaml_quick_test.c - base/yaml_quick.h: what is read without libyaml, and that libyaml reads the same */
#include "tests/unit/unit_arena.h"

#include "base/yaml.h"
#include "base/yaml_quick.h"
#include "tests/unit/same_tree.h"

static struct value *read_quickly(const char *source)
{
    return yaml_quick_read(arena, text_of(source), (struct yaml_origin){1, 1},
                           &yaml_request_limits);
}

/* NULL when it is not one good document. */
static struct value *read_by_libyaml(const char *source)
{
    struct value *documents =
        yaml_read_all(arena, text_of(source), "f.yaml", &yaml_request_limits, &error);
    return documents && documents->list.count == 1 ? documents->list.items[0] : NULL;
}

static void usual_files_are_read_quickly(void **state)
{
    (void)state;
    static const char *const files[] = {
        "a: b\n",
        "---\na: b\n...\n",
        "# a comment\n\na: b # another\n  # and one\nc: \"d # e\"  # f\n\n...\n\n",
        "a: ~\nb: null\nc: true\nd: 1\ne: 1.50\nf: 0x10\ng: -5\nh: 010\ni: 1e3\nj: .5\n1: 2\n",
        "a: b c  d\ne: /f/g:h#i\nj: $(k) <l>\nm: n, [o] {p}\nq: a=b\nr: http://s:80/t?u=v&w\n",
        "a: \"\"\nb: \"c\\n\\t\\\"\\\\\\/\\0\\e d\"\n\"e f\": 'g ''h'' \"i\"'\n\"<<\": x\nj: ''\n",
        "a:\n  b:\n    c: d\n  e: f\ng: h\n",
        "a:\n- b\n- c: d\n  e:\n  - f\n  -  g: h\n     i: j\n- - k\n  - - l\nm:\n  - n\n  - o\n",
        "- a\n- \"b\"\n- 'c'\n- -1\n- []\n- {}\n-   d: e\n    f: g\n",
        "a: {b: 1, c: \"d\", \"e f\": 'g', h: [i, j-k, -1, []], l: {}} # m\nn: [ ]\no: [a, {b: c}]\n",
        "a: |\n  #!/bin/sh\n  b\tc: d\n\n     e  \n     \n  # f\ng: |-\n h\n\n\ni:\n- |\n  j\n- |-\n    k\n",
        "a: |\n  b\n# c\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        struct value *quick = read_quickly(files[i]), *slow = read_by_libyaml(files[i]);
        if (!quick || !slow)
            fail_msg("%s is not read%s:\n%s", quick ? "by libyaml" : "quickly",
                     slow ? "" : " by libyaml", files[i]);
        if (!same_tree(quick, slow))
            fail_msg("libyaml reads something else:\n%s", files[i]);
    }
}

static void what_is_doubtful_is_left_to_libyaml(void **state)
{
    (void)state;
    static const char *const files[] = {
        "",
        "\n",
        "# a\n",
        "a",
        "a: b",
        "a\n",
        "\"a\"\n",
        "|\n a\n",
        " a: b\n",
        "a:\n",
        "a:\nb: c\n",
        "a: \n  b\n",
        "a: b\n c\n",
        "a: \"b\n  c\"\n",
        "a: 'b\n  c'\n",
        "a: \"b\"c\n",
        "a: \"b\"#c\n",
        "a: 'b' 'c'\n",
        "a: b: c\n",
        "a: b:\n",
        "a:b\n",
        "\"a\":b\n",
        "a: \"\\x41\"\n",
        "a: \"\\q\"\n",
        "a: \"b\n",
        "a: \"\\\n",
        "a: 'b\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !b c\n",
        "a: !!str c\n",
        "a: @b\n",
        "a: `b`\n",
        "a: %b\n",
        "a: >\n  b\n",
        "a: |+\n  b\n",
        "a: |2\n    b\n",
        "a: | # b\n  c\n",
        "a: |\n\n  b\n",
        "a: |\nb: c\n",
        "a: |\n",
        "a: |\n  b\n\tc\n",
        "a: |\n  b\n c\n",
        "a: [b,\n  c]\n",
        "a: {b: c\n  }\n",
        "a: [b, ]\n",
        "a: [b c]\n",
        "a: [b: c]\n",
        "a: {b}\n",
        "a: {b:c}\n",
        "a: {b: }\n",
        "a: {b: c, b: d}\n",
        "a: [b] c\n",
        "a: [b\n",
        "[a, b]\n",
        "{a: b}\n",
        "? a\n: b\n",
        "<<: a\n",
        "a: .inf\n",
        "a: 1e999\n",
        "a: [.nan]\n",
        "a: b\na: c\n",
        "a:\n    b: c\n  d: e\n",
        "  a: b\nc: d\n",
        "a:\n  - b\n  c: d\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "-\n  a: b\n",
        "- # a\n  b: c\n",
        "-a\n",
        "a: b\n---\nc: d\n",
        "--- \na: b\n",
        "--- a\n",
        "a: b\n...\nc: d\n",
        "a: b\n... # c\n",
        "...\n",
        "%YAML 1.1\n---\na: b\n",
        "a:\tb\n",
        "a: b\tc\n",
        "\ta: b\n",
        "a: b\n\tc: d\n",
        "a: \"b\tc\"\n",
        "a: b\r\n",
        "a: \xc3\xa9\n",
        "a: \x7f\n",
        "a: \x01\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(files); i++)
        if (read_quickly(files[i]))
            fail_msg("it is read quickly:\n%s", files[i]);
}

static void a_part_of_a_file_has_its_places(void **state)
{
    (void)state;
    struct value *value = yaml_quick_read(arena, TEXT("a: {b: c}\nd: e\n"),
                                          (struct yaml_origin){7, 5}, &yaml_request_limits);
    assert_int_equal(value->object.members[0].column, 5);
    assert_int_equal(value_get(value, "a")->line, 7);
    assert_int_equal(value_get(value, "a")->column, 8);
    assert_int_equal(value_get(value, "d")->line, 8);
    assert_int_equal(value_get(value, "d")->column, 4);
}

static void limits_are_libyamls(void **state)
{
    (void)state;
    static const char source[] = "a:\n- b: [c, {d: e}]\nf: g\n";
    const struct text text = TEXT(source);
    for (size_t nodes = 8; nodes < 14; nodes++)
        for (size_t depth = 3; depth < 8; depth++) {
            const struct yaml_limits limits = {text.length, nodes, depth};
            bool quick = yaml_quick_read(arena, text, (struct yaml_origin){1, 1}, &limits);
            bool slow = yaml_read_all(arena, text, "f", &limits, &error);
            assert_int_equal(quick, slow);
        }
    const struct yaml_limits limits = {text.length - 1, 100, 100};
    assert_null(yaml_quick_read(arena, text, (struct yaml_origin){1, 1}, &limits));
}

/* Random lines, most of which make no sense together: whatever is read quickly, libyaml reads the same. */

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

/* Mostly a key or an item with a value, with keys that differ, and now and then something else. */
static void add_random_line(struct buffer *out)
{
    static const char *const values[] = {
        "c",      "\"d\"", "'e'",      "|",         "|-",
        "-1",     "1.50",  "true",     "~",         "g h",
        "[]",     "",      "q # f",    "'' #",      "{}",
        "[r, s]", "0x1f",  "[{t: u}]", "\"v\\nw\"", "{x: [y], \"z\": 'z'}",
    };
    static const char *const others[] = {
        "...", "---",  "- ",  "{n: o}",     "#", "\t", ": ", "<<: ",
        "}",   "i: j", "- k", "- \"l\": m", " ", "|",  "\"",
    };
    for (uint32_t spaces = draw(6); spaces > 2; spaces--)
        buffer_add_byte(out, ' ');
    if (draw(3) == 0)
        buffer_add_string(out, "- ");
    if (draw(4))
        buffer_printf(out, "k%u: ", draw(100));
    buffer_add_string(out, draw(2) ? values[draw(ARRAY_COUNT(values))] : "");
    if (draw(8) == 0)
        buffer_add_string(out, others[draw(ARRAY_COUNT(others))]);
    buffer_add_byte(out, '\n');
}

static void libyaml_reads_the_same(void **state)
{
    (void)state;
    size_t read = 0;
    for (int i = 0; i < 100000; i++) {
        struct buffer out = {0};
        arena_reset(arena);
        for (uint32_t lines = 1 + draw(5); lines > 0; lines--)
            add_random_line(&out);
        struct value *quick = read_quickly(out.data);
        struct value *slow = quick ? read_by_libyaml(out.data) : NULL;
        if (quick && (!slow || !same_tree(quick, slow)))
            fail_msg("libyaml reads %s:\n%s", slow ? "something else" : error.text, out.data);
        read += quick != NULL;
        buffer_free(&out);
    }
    assert_true(read > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usual_files_are_read_quickly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_doubtful_is_left_to_libyaml, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_of_a_file_has_its_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_are_libyamls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(libyaml_reads_the_same, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
