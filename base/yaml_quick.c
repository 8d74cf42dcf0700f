/* base/yaml_quick.c - reads the part of YAML that nearly all files keep to, without libyaml
 *
 * Functions that read a value stand at its first byte, and leave `at` at the next value: the first byte of a line that
 * has one, in `column`.  NULL, or false, is "leave it to libyaml", for whatever reason.  Recursion follows the nesting,
 * which is bounded; time is linear in the text.
 */
#include "base/yaml_quick.h"

#include <string.h>

#include "base/yaml_line.h"

enum { LONGEST_KEY = 200 /* bytes; libyaml has a limit of 1,024 characters */ };

struct place {
    uint32_t line, column;
};

static struct place place_of(const struct yaml_line *line, const char *at)
{
    uint32_t first = line->number == 0 ? line->origin.column : 1;
    return (struct place){line->number + line->origin.line, (uint32_t)(at - line->start) + first};
}

static struct value *put_at(struct value *value, struct place place)
{
    if (value) {
        value->line = place.line;
        value->column = place.column;
    }
    return value;
}

static bool count_node(struct yaml_line *line, size_t depth)
{
    return ++line->nodes <= line->limits->nodes && depth <= line->limits->depth;
}

static bool is_item(const char *at)
{
    return at[0] == '-' && at[1] == ' ';
}

/* Keys */

/* The colon after the key that begins at `from`; NULL where none is, or one that is not left to libyaml. */
static const char *find_colon(const char *from)
{
    const char *at = from;
    bool escapes;
    if (*from == '"') {
        const char *close = yaml_line_find_close(from + 1, &escapes);
        if (!close)
            return NULL;
        at = close + 1;
    } else {
        while (yaml_line_is_word_byte(*at) || *at == '_' ||
               (at > from && (*at == '.' || *at == '/' || *at == '-')))
            at++;
    }
    bool is_key = at > from && at - from < LONGEST_KEY && at[0] == ':';
    return is_key && (at[1] == ' ' || at[1] == '\n') ? at : NULL;
}

/* Read a key, and go behind its colon.  Where none is, the text has data NULL. */
static struct text read_key(struct yaml_line *line)
{
    const char *colon = find_colon(line->at);
    struct text key = {NULL, 0};
    if (!colon)
        return key;
    if (*line->at != '"')
        key = arena_text(line->arena, line->at, (size_t)(colon - line->at));
    else if (!yaml_line_quoted(line, &key))
        key.data = NULL;
    line->at = colon + 1;
    return key;
}

/* Add a member whose key stood at `place`; false when the key is there already. */
static bool add_member(struct yaml_line *line, struct value *object, struct text key,
                       struct place place, struct value *value)
{
    if (!value || value_member(object, key))
        return false;
    struct member *member = value_add(line->arena, object, key, value);
    member->line = place.line;
    member->column = place.column;
    return true;
}

/* Braces and brackets, on one line */

static struct value *read_flow(struct yaml_line *line, size_t depth);

/* Read a scalar or a collection in braces or brackets, and the spaces after it. */
static struct value *read_flow_value(struct yaml_line *line, size_t depth)
{
    struct place place = place_of(line, line->at);
    struct value *value = NULL;
    struct text text;
    if (*line->at == '{' || *line->at == '[')
        return read_flow(line, depth);
    if (!count_node(line, depth))
        return NULL;
    if (*line->at != '"' && *line->at != '\'')
        value = yaml_line_word(line);
    else if (yaml_line_quoted(line, &text))
        value = value_text(line->arena, text);
    return put_at(value, place);
}

/* Read one entry of a collection that is in braces or brackets. */
static bool read_flow_entry(struct yaml_line *line, struct value *collection, size_t depth)
{
    struct place place = place_of(line, line->at);
    if (collection->kind == VALUE_OBJECT) {
        struct text key = read_key(line);
        if (!key.data || !count_node(line, depth))
            return false;
        yaml_line_skip_spaces(line);
        return add_member(line, collection, key, place, read_flow_value(line, depth));
    }
    struct value *item = read_flow_value(line, depth);
    if (item)
        value_append(line->arena, collection, item);
    return item != NULL;
}

static struct value *read_flow(struct yaml_line *line, size_t depth)
{
    char close = *line->at == '{' ? '}' : ']';
    struct value *collection =
        put_at(close == '}' ? value_object(line->arena) : value_list(line->arena),
               place_of(line, line->at));
    if (!count_node(line, depth))
        return NULL;
    line->at++;
    yaml_line_skip_spaces(line);
    for (bool more = *line->at != close; more;) {
        if (!read_flow_entry(line, collection, depth + 1))
            return NULL;
        yaml_line_skip_spaces(line);
        more = *line->at == ',';
        line->at += more;
        yaml_line_skip_spaces(line);
    }
    if (*line->at != close)
        return NULL;
    line->at++;
    return collection;
}

/* Blocks */

static struct value *read_object(struct yaml_line *line, int column, struct text key,
                                 struct place place, size_t depth);
static struct value *read_list(struct yaml_line *line, int column, size_t depth);

/* Read a value that begins on the line of its key or mark; `parent` is the indent of what it belongs to. */
static struct value *read_inline(struct yaml_line *line, int parent, size_t depth)
{
    struct place place = place_of(line, line->at);
    struct value *value = NULL;
    struct text text;
    if (*line->at == '{' || *line->at == '[') {
        value = read_flow(line, depth);
        return value && yaml_line_end(line) ? value : NULL;
    }
    if (!count_node(line, depth))
        return NULL;
    if (*line->at == '|')
        return put_at(yaml_line_literal(line, parent), place);
    if (*line->at != '"' && *line->at != '\'')
        value = yaml_line_plain(line);
    else if (yaml_line_quoted(line, &text))
        value = value_text(line->arena, text);
    return value && yaml_line_end(line) ? put_at(value, place) : NULL;
}

/* Read the map or list that begins at `at`, which is in that column. */
static struct value *read_block(struct yaml_line *line, int column, size_t depth)
{
    struct place place = place_of(line, line->at);
    if (is_item(line->at))
        return read_list(line, column, depth);
    struct text key = read_key(line);
    return key.data ? read_object(line, column, key, place, depth) : NULL;
}

/* Read the value of a key in that column, after its colon. */
static struct value *read_member_value(struct yaml_line *line, int column, size_t depth)
{
    yaml_line_skip_spaces(line);
    if (*line->at != '\n' && *line->at != '#')
        return read_inline(line, column, depth);
    if (!yaml_line_end(line))
        return NULL;
    /* Items may stand below their key. */
    if (line->column > column || (line->column == column && is_item(line->at)))
        return read_block(line, line->column, depth);
    return NULL;
}

/* Read a map whose keys are in that column; the first one was read. */
static struct value *read_object(struct yaml_line *line, int column, struct text key,
                                 struct place place, size_t depth)
{
    struct value *object = put_at(value_object(line->arena), place);
    if (!count_node(line, depth))
        return NULL;
    while (key.data && count_node(line, depth + 1)) {
        struct value *value = read_member_value(line, column, depth + 1);
        if (!add_member(line, object, key, place, value) || line->column > column)
            return NULL;
        if (line->column < column)
            return object;
        place = place_of(line, line->at);
        key = read_key(line);
    }
    return NULL;
}

/* Read an item of a list in that column, after its dash. */
static struct value *read_item(struct yaml_line *line, int column, size_t depth)
{
    yaml_line_skip_spaces(line);
    struct place place = place_of(line, line->at);
    int at = (int)(line->at - line->start);
    if (is_item(line->at))
        return read_list(line, at, depth);
    struct text key = read_key(line);
    return key.data ? read_object(line, at, key, place, depth) : read_inline(line, column, depth);
}

static struct value *read_list(struct yaml_line *line, int column, size_t depth)
{
    struct value *list = put_at(value_list(line->arena), place_of(line, line->at));
    if (!count_node(line, depth))
        return NULL;
    while (line->column == column || list->list.count == 0) {
        if (!is_item(line->at))
            return list; /* the next key, of a map in the same column */
        line->at++;
        struct value *item = read_item(line, column, depth + 1);
        if (!item || line->column > column)
            return NULL;
        value_append(line->arena, list, item);
    }
    return list;
}

/* May one of these eight bytes be a control character, or beyond ASCII?  A borrow from the byte
 * before may say so, too. */
static bool may_have_odd_byte(const char *bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highest = 0x80 * ones;
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return ((word - ' ' * ones) | (word + ones) | word) & highest;
}

static bool has_odd_byte(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if ((byte < ' ' && byte != '\n' && byte != '\t') || byte > '~')
            return true;
    }
    return false;
}

/* Is it lines of ASCII, without a control character? */
static bool is_simple_text(struct text source)
{
    size_t at = 0;
    if (source.length == 0 || source.data[source.length - 1] != '\n')
        return false;
    for (; at + sizeof(uint64_t) <= source.length; at += sizeof(uint64_t))
        if (may_have_odd_byte(source.data + at) && has_odd_byte(source.data + at, sizeof(uint64_t)))
            return false;
    return !has_odd_byte(source.data + at, source.length - at);
}

struct value *yaml_quick_read(struct arena *arena, struct text source, struct yaml_origin origin,
                              const struct yaml_limits *limits)
{
    struct yaml_line line = {.arena = arena,
                             .at = source.data,
                             .end = source.data + source.length,
                             .start = source.data,
                             .origin = origin,
                             .limits = limits};
    if (source.length > limits->bytes || !is_simple_text(source))
        return NULL;
    if (source.length > 4 && memcmp(source.data, "---\n", 4) == 0) {
        line.at += 4;
        line.number = 1;
    }
    if (!yaml_line_find(&line) || line.column != 0)
        return NULL;
    struct value *value = read_block(&line, 0, 1);
    return value && line.column == YAML_LINE_NONE ? value : NULL;
}
