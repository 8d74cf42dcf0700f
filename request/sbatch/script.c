/* request/sbatch/script.c - the batch script dialect: a program whose comments carry the fields */
#include "request/sbatch/script.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "base/yaml.h"

enum { DEEPEST_KEY = 8 }; /* parts of `a.b.c`; no field of ours has more than four */

static const char marker[] = "#DL";

/* One `#DL` line. */
struct directive {
    struct text line;       /* as in the file, without the newline */
    uint32_t number;        /* of the line, from 1 */
    struct text key, value; /* parts of the line */
};

struct script {
    struct reading *reading;
    struct value *root;
    size_t values; /* number of all values, for the limit of every dialect */
    bool full;
};

/* The column of a byte in the directive's line.  Everything before a key or value is ASCII, so
 * bytes are characters. */
static uint32_t column_at(const struct directive *directive, const char *byte)
{
    return (uint32_t)(byte - directive->line.data) + 1;
}

static size_t count_values(const struct value *value)
{
    size_t count = 1;
    if (value->kind == VALUE_LIST)
        for (size_t i = 0; i < value->list.count; i++)
            count += count_values(value->list.items[i]);
    if (value->kind == VALUE_OBJECT)
        for (size_t i = 0; i < value->object.count; i++)
            count += 1 + count_values(value->object.members[i].value);
    return count;
}

/* Count values and keys towards the limit of every dialect.  Lines that cannot be read count, too,
 * because each costs a parser. */
static void count_more(struct script *script, const struct directive *directive, size_t count)
{
    script->values += count;
    if (script->values <= yaml_request_limits.nodes)
        return;
    problems_add(script->reading, NULL, directive->number, 1,
                 "more than %zu values; a file may hold at most that many",
                 yaml_request_limits.nodes);
    script->full = true;
}

/* The value after `=`; NULL after a problem. */
static struct value *read_value(struct script *script, const struct directive *directive)
{
    struct reading *reading = script->reading;
    struct error error;
    struct yaml_origin origin = {directive->number, column_at(directive, directive->value.data)};
    struct value *value = yaml_read_at(reading->arena, directive->value, reading->file, origin,
                                       &yaml_request_limits, &error);
    if (!value) {
        problems_add_sentence(reading, error.text);
        return NULL;
    }
    /* `a: b` would be a map, and `- a` a list, in block style. */
    bool list = value->kind == VALUE_LIST, map = value->kind == VALUE_OBJECT;
    if ((list && directive->value.data[0] != '[') || (map && directive->value.data[0] != '{')) {
        problems_add(reading, NULL, origin.line, origin.column,
                     "expected a value on one line: a word, a number, [a, list], {a: map}, or text "
                     "in \"quotes\"");
        return NULL;
    }
    count_more(script, directive, count_values(value));
    return script->full ? NULL : value;
}

static bool is_key_part(struct text part)
{
    for (size_t i = 0; i < part.length; i++) {
        char c = part.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return part.length > 0;
}

static bool is_key(struct text key)
{
    struct text rest = key, part;
    size_t parts = 0;
    while (text_next(&rest, '.', &part))
        if (++parts > DEEPEST_KEY || !is_key_part(part))
            return false;
    return true;
}

static struct member *add_member(struct script *script, struct value *map, struct text key,
                                 const struct directive *directive, struct value *value)
{
    struct member *member = value_add(script->reading->arena, map, key, value);
    member->line = directive->number;
    member->column = column_at(directive, key.data);
    return member;
}

static void report_taken(struct script *script, const struct directive *directive,
                         const struct member *earlier)
{
    struct value_path path = {.name = directive->key};
    uint32_t column = column_at(directive, directive->key.data);
    if (earlier->line)
        problems_add(script->reading, &path, directive->number, column,
                     "given twice; it was first given in line %u", earlier->line);
    else
        problems_add(script->reading, &path, directive->number, column,
                     "the file itself is the script; leave the field out");
}

/* Put the value into the tree at the place that its key names. */
static void place_value(struct script *script, const struct directive *directive,
                        struct value *value)
{
    struct value *map = script->root;
    struct text rest = directive->key, part;
    while (text_next(&rest, '.', &part)) {
        struct member *member = value_member(map, part);
        bool last = rest.data == NULL;
        if (member && (last || member->value->kind != VALUE_OBJECT)) {
            report_taken(script, directive, member);
            return;
        }
        if (last) {
            add_member(script, map, part, directive, value);
            return;
        }
        if (!member) {
            struct value *inner = value_object(script->reading->arena);
            inner->line = directive->number;
            inner->column = column_at(directive, part.data);
            member = add_member(script, map, part, directive, inner);
        }
        map = member->value;
    }
}

/* Add a problem for a line that gives no field.  What may be a value, which may be a secret, is not quoted. */
static void refuse_line(struct script *script, const struct directive *directive,
                        struct text content)
{
    struct error_quote_buffer buffer;
    size_t length = 0;
    while (length < content.length && !strchr(" \t=:", content.data[length]))
        length++;
    const char *rest = length == content.length      ? ""
                       : content.data[length] == '=' ? "=..."
                                                     : " ...";
    problems_add(script->reading, NULL, directive->number, column_at(directive, content.data),
                 "found \"%s%s\", expected field=value, such as library=pytorch or "
                 "tasks.main.gpus=1",
                 error_quote(&buffer, content.data, length), rest);
}

/* Read one `#DL field=value` line into the tree; `content` is the line after #DL. */
static void read_directive(struct script *script, struct text line, uint32_t number,
                           struct text content)
{
    struct directive directive = {.line = line, .number = number, .key = content};
    const char *equals = memchr(content.data, '=', content.length);
    if (equals) {
        const char *end = content.data + content.length;
        directive.key = text_trim((struct text){content.data, (size_t)(equals - content.data)});
        directive.value = text_trim((struct text){equals + 1, (size_t)(end - equals - 1)});
    }
    count_more(script, &directive, 1);
    if (script->full)
        return;
    if (!equals || !is_key(directive.key)) {
        refuse_line(script, &directive, content);
        return;
    }
    struct value *value = read_value(script, &directive);
    if (value)
        place_value(script, &directive, value);
}

/* Add a problem for a comment that looks like a misspelt #DL line: the job would run without its
 * fields. */
static void check_comment(struct script *script, struct text line, struct text trimmed,
                          uint32_t number)
{
    struct text rest = {trimmed.data + 1, trimmed.length - 1};
    bool blank = rest.length && (rest.data[0] == ' ' || rest.data[0] == '\t');
    rest = text_trim(rest);
    bool word = rest.length > 2 && strncasecmp(rest.data, "DL", 2) == 0 &&
                (rest.data[2] == ' ' || rest.data[2] == '\t');
    if (word && memchr(rest.data, '=', rest.length) && (blank || !text_starts(trimmed, "#DL")))
        problems_add(script->reading, NULL, number, (uint32_t)(trimmed.data - line.data) + 1,
                     "found a comment that seems to be a field; write #DL, in capitals and without "
                     "a blank after the #");
}

/* The rest of a `#DL` line, trimmed; data NULL when it is an ordinary comment. */
static struct text directive_content(struct text trimmed)
{
    size_t length = sizeof(marker) - 1;
    if (!text_starts(trimmed, marker))
        return (struct text){NULL, 0};
    struct text rest = {trimmed.data + length, trimmed.length - length};
    if (rest.length && rest.data[0] != ' ' && rest.data[0] != '\t')
        return (struct text){NULL, 0};
    return text_trim(rest);
}

/* Is the source text?  If not, add a problem at the first byte that is not. */
static bool check_bytes(struct reading *reading, struct text source)
{
    uint32_t line = 1, column = 1;
    for (size_t at = 0; at < source.length;) {
        size_t sequence = utf8_sequence(source.data + at, source.length - at);
        if (sequence == 0 || source.data[at] == '\0') {
            problems_add(reading, NULL, line, column, "found %s, expected UTF-8 text",
                         sequence ? "a NUL byte" : "bytes that are not UTF-8");
            return false;
        }
        column++;
        if (source.data[at] == '\n') {
            line++;
            column = 1;
        }
        at += sequence;
    }
    return true;
}

struct value *script_read(struct reading *reading, struct text source, struct batch *batch)
{
    struct script script = {.reading = reading, .root = value_object(reading->arena)};
    script.root->line = script.root->column = 1;
    *batch = (struct batch){.system = NULL};
    if (source.length > yaml_request_limits.bytes) {
        problems_add(reading, NULL, 0, 0, "%zu bytes; at most %zu are read", source.length,
                     yaml_request_limits.bytes);
        return NULL;
    }
    if (!check_bytes(reading, source))
        return NULL;

    struct value *whole = value_text(reading->arena, source);
    whole->line = whole->column = 1;
    value_put(reading->arena, script.root, "script", whole);

    batch_start(batch, reading, source);
    struct text rest = source, line;
    bool program = false;
    uint32_t number = 1;
    for (; !program && !script.full && text_next(&rest, '\n', &line); number++) {
        struct text trimmed = text_trim(line);
        struct text content = directive_content(trimmed);
        if (content.data)
            read_directive(&script, line, number, content);
        else if (batch_line(batch, line, number))
            continue;
        else if (trimmed.length > 0 && trimmed.data[0] == '#')
            check_comment(&script, line, trimmed, number);
        else
            program = trimmed.length > 0;
    }
    if (program)
        batch_rest(batch,
                   (struct text){line.data, (size_t)(source.data + source.length - line.data)},
                   number - 1);
    batch_finish(batch, script.root);
    if (!program && !script.full)
        problems_add(reading, NULL, 1, 1,
                     "found nothing but comments, expected a program after them");
    return script.root;
}
