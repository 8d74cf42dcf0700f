/* request/openpai/v2_template.c - texts with tags such as <% $parameters.epochs %>
 *
 * Tags are Mustache's with other delimiters.  Only names and comments, `<%! ... %>`, are allowed:
 * no sections, no partials.  A name is `$parameters.`, `$secrets.`, `$script.`, `$output.` or
 * `$data.` and a path separated by dots; a number in [ ] is an item of a list.  A value is written
 * as ECMAScript does (1.0 as 1), a list with commas between its items.  Tags in inserted text are
 * not expanded.
 *
 * Problems quote names, never values.
 */
#include <string.h>

#include "base/nearest.h"
#include "request/openpai/v2_parts.h"

static const struct text opening = {"<%", 2}, closing = {"%>", 2};

enum {
    KNOWN_SHOWN = 20, /* names in a sentence */
    LIST_LIMIT = 500, /* bytes of them */
};

struct tag {
    struct reading *reading;
    const struct value_path *path;
    const struct value *value; /* the string that contains it */
    struct text name;          /* "$parameters.epochs" */
    const struct openpai_v2_names *names;
};

/* The offset of the needle at or after `from`; the text's length when there is none. */
static size_t find_text(struct text text, size_t from, struct text needle)
{
    const char *at = from < text.length
                         ? memmem(text.data + from, text.length - from, needle.data, needle.length)
                         : NULL;
    return at ? (size_t)(at - text.data) : text.length;
}

static void report_problem(const struct tag *tag, const char *sentence)
{
    struct error_quote_buffer buffer;
    problems_add(tag->reading, tag->path, tag->value->line, tag->value->column, "<%% %s %%>: %s",
                 error_quote(&buffer, tag->name.data, tag->name.length), sentence);
}

/* Find what a $name stands for; *root may be NULL.  The returned name is followed by a NUL. */
static bool find_root(const struct tag *tag, struct text *name, const struct value **root)
{
    const struct openpai_v2_names *names = tag->names;
    const struct {
        const char *name;
        const struct value *value;
        bool credentials; /* also defined in a registry's credentials */
    } known[] = {
        {"$secrets", names->secrets, true}, {"$parameters", names->parameters, false},
        {"$script", names->script, false},  {"$output", names->output, false},
        {"$data", names->data, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(known); i++) {
        if (!text_is(*name, known[i].name) || (names->secrets_only && !known[i].credentials))
            continue;
        *name = text_of(known[i].name);
        *root = known[i].value;
        return true;
    }
    report_problem(tag,
                   names->secrets_only
                       ? "expected $secrets.NAME"
                       : "expected $parameters.NAME, $secrets.NAME, $script.uri, $output.uri or "
                         "$data.uri[0]");
    return false;
}

/* Append the names that an object has, and the one that was probably meant. */
static void list_names(struct buffer *out, const struct value *object, struct text wrong)
{
    const char *names[KNOWN_SHOWN + 1] = {NULL};
    struct error_quote_buffer buffer;
    size_t count = object->object.count;
    for (size_t i = 0; i < count && i < KNOWN_SHOWN; i++) {
        const struct text key = object->object.members[i].key;
        names[i] = key.data;
        buffer_printf(out, "%s%s", i ? ", " : "", error_quote(&buffer, key.data, key.length));
    }
    if (count > KNOWN_SHOWN)
        buffer_printf(out, " and %zu more", count - KNOWN_SHOWN);
    const char *near = nearest_word(wrong, names);
    if (near)
        buffer_printf(out, "; did you mean %s?", error_quote(&buffer, near, strlen(near)));
    if (out->length > LIST_LIMIT) {
        for (out->length = LIST_LIMIT; ((unsigned char)out->data[out->length] & 0xc0) == 0x80;)
            out->length--;
        buffer_add_string(out, "...");
    }
}

/* Add a problem: `part` is not in the object, which is `root`'s or lies below it. */
static void problem_unknown(const struct tag *tag, struct text root, const struct value *object,
                            struct text part)
{
    struct arena *arena = tag->reading->arena;
    struct buffer list = {0};
    bool named = text_is(root, "$parameters") || text_is(root, "$secrets");
    struct text sentence;
    if (object && object->kind == VALUE_OBJECT && object->object.count) {
        list_names(&list, object, part);
        sentence = arena_printf(arena, "unknown; %s has %s", root.data, list.data);
    } else if (object) {
        sentence = TEXT("unknown; there is nothing of that name in it");
    } else if (named) {
        sentence = arena_printf(arena, "unknown; the file has no %s", root.data + 1);
    } else {
        sentence =
            arena_printf(arena, "unknown; the task role names no %s prerequisite", root.data + 1);
    }
    report_problem(tag, sentence.data);
    buffer_free(&list);
}

/* Descend to a member, or to an item of a list.  NULL when there is none. */
static const struct value *step_down(const struct value *value, struct text part)
{
    if (value->kind == VALUE_OBJECT) {
        const struct member *member = value_member(value, part);
        return member ? member->value : NULL;
    }
    int64_t index = value->kind == VALUE_LIST ? text_number(part, INT32_MAX) : -1;
    return index >= 0 && (size_t)index < value->list.count ? value->list.items[index] : NULL;
}

/* The name with `[0]` written as `.0`. */
static struct text write_dotted(struct arena *arena, struct text name)
{
    char *copy = arena_allocate(arena, name.length + 1);
    size_t length = 0, end;
    for (size_t i = 0; i < name.length; i++) {
        for (end = i + 1; end < name.length && name.data[end] >= '0' && name.data[end] <= '9';)
            end++;
        if (name.data[i] == '[' && end > i + 1 && end < name.length && name.data[end] == ']') {
            copy[length++] = '.';
            memcpy(copy + length, name.data + i + 1, end - i - 1);
            length += end - i - 1;
            i = end;
        } else {
            copy[length++] = name.data[i];
        }
    }
    return (struct text){copy, length};
}

static const struct value *look_up(const struct tag *tag, bool *secret)
{
    struct text rest = write_dotted(tag->reading->arena, tag->name), root, part;
    const struct value *value;
    if (!text_next(&rest, '.', &root) || !find_root(tag, &root, &value))
        return NULL;
    *secret = text_is(root, "$secrets");
    if (!rest.length) {
        report_problem(tag, "names all of them; expected one, such as $parameters.NAME");
        return NULL;
    }
    while (text_next(&rest, '.', &part)) {
        const struct value *next = value ? step_down(value, part) : NULL;
        if (!next) {
            if (tag->reading->full)
                tag->reading->found++; /* Only count it: finding the nearest name is slow. */
            else
                problem_unknown(tag, root, value, part);
            return NULL;
        }
        value = next;
    }
    return value;
}

/* Write a scalar, or a list of them. */
static bool write_value(struct buffer *out, const struct value *value)
{
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case VALUE_STRING:
        buffer_add_text(out, value->string);
        return true;
    case VALUE_NUMBER:
        buffer_add(out, number, value_format_number(value->number, number));
        return true;
    case VALUE_BOOLEAN:
        buffer_add_string(out, value->boolean ? "true" : "false");
        return true;
    case VALUE_LIST:
        for (size_t i = 0; i < value->list.count; i++) {
            if (i)
                buffer_add_byte(out, ',');
            if (!write_value(out, value->list.items[i]))
                return false;
        }
        return true;
    default:
        return false;
    }
}

/* Append a tag's value to the text, and to the masked text asterisks in place of a secret.  All
 * tags of a file together may add only `budget` bytes. */
static void render_tag(const struct tag *tag, struct openpai_v2_text *out)
{
    bool secret = false;
    if (text_starts(tag->name, "!"))
        return; /* a comment */
    if (tag->name.length == 0 || memchr("#^/>{&=", tag->name.data[0], 7)) {
        report_problem(tag, "only names can be looked up, such as $parameters.NAME");
        return;
    }
    const struct value *value = look_up(tag, &secret);
    if (!value)
        return;
    size_t before = out->plain.length;
    if (!write_value(&out->plain, value)) {
        out->plain.length = before;
        report_problem(tag, value->kind == VALUE_NULL ? "it has no value"
                                                      : "it is a map, expected a text or a number");
        return;
    }
    size_t grown = out->plain.length - before;
    if (grown > *tag->names->budget) {
        out->plain.length = before;
        report_problem(tag, "with it the file's texts become too long");
        return;
    }
    *tag->names->budget -= grown;
    if (secret)
        buffer_add_string(&out->masked, "******");
    else
        buffer_add(&out->masked, out->plain.data + before, out->plain.length - before);
    out->secret = out->secret || secret;
}

void openpai_v2_template_render(struct reading *reading, const struct value_path *path,
                                const struct value *value, struct text text,
                                const struct openpai_v2_names *names, struct openpai_v2_text *out)
{
    struct tag tag = {.reading = reading, .path = path, .value = value, .names = names};
    for (size_t at = 0; at < text.length;) {
        size_t start = find_text(text, at, opening);
        buffer_add(&out->plain, text.data + at, start - at);
        buffer_add(&out->masked, text.data + at, start - at);
        if (start == text.length)
            break;
        size_t end = find_text(text, start + opening.length, closing);
        if (end == text.length) {
            problems_add(reading, path, value->line, value->column, "found <%% that no %%> closes");
            return;
        }
        tag.name = text_trim(
            (struct text){text.data + start + opening.length, end - start - opening.length});
        render_tag(&tag, out);
        at = end + closing.length;
    }
}

void openpai_v2_template_free(struct openpai_v2_text *text)
{
    buffer_free(&text->plain);
    buffer_free(&text->masked);
}
