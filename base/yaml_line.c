/* base/yaml_line.c - the lines of the usual part of YAML, and the scalars on them */
#include "base/yaml_line.h"

#include <math.h>
#include <string.h>

#include "base/yaml_scalar.h"

bool yaml_line_is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Are there only spaces and empty lines from here on? */
static bool is_rest_empty(struct yaml_line *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\n'))
        line->at++;
    return line->at == line->end;
}

bool yaml_line_find(struct yaml_line *line)
{
    for (; line->at < line->end; line->at++, line->number++) {
        line->start = line->at;
        yaml_line_skip_spaces(line);
        if (*line->at == '#')
            line->at = memchr(line->at, '\n', (size_t)(line->end - line->at));
        if (*line->at != '\n')
            break;
    }
    line->column = line->at < line->end ? (int)(line->at - line->start) : YAML_LINE_NONE;
    if (line->column != 0)
        return line->at == line->end || *line->at != '\t';
    if (strncmp(line->at, "...\n", 4) == 0) {
        line->at += 3;
        line->column = YAML_LINE_NONE;
        return is_rest_empty(line);
    }
    return strncmp(line->at, "---", 3) != 0 && strncmp(line->at, "...", 3) != 0 &&
           *line->at != '\t';
}

bool yaml_line_end(struct yaml_line *line)
{
    yaml_line_skip_spaces(line);
    if (*line->at == '#' && line->at[-1] == ' ')
        line->at = memchr(line->at, '\n', (size_t)(line->end - line->at));
    if (*line->at != '\n')
        return false;
    line->at++;
    line->number++;
    return yaml_line_find(line);
}

/* The byte that stands for an escape in double quotes, -1 if there is none of ASCII. */
static int escaped_byte(char letter)
{
    static const char letters[] = "0abtnvfre \"/\\";
    static const char bytes[] = "\0\a\b\t\n\v\f\r\x1b \"/\\";
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? bytes[found - letters] : -1;
}

/* Read what is in double quotes up to `close`, with its escapes. */
static bool read_escapes(struct yaml_line *line, const char *close, struct text *text)
{
    char *to = arena_allocate(line->arena, (size_t)(close - line->at) + 1);
    text->data = to;
    for (const char *at = line->at; at < close; at++) {
        int byte = *at == '\\' ? escaped_byte(*++at) : *at;
        if (byte < 0)
            return false;
        *to++ = (char)byte;
    }
    *to = '\0';
    text->length = (size_t)(to - text->data);
    return true;
}

const char *yaml_line_find_close(const char *at, bool *escapes)
{
    for (*escapes = false; *at != '"'; at++) {
        if (*at == '\\') {
            *escapes = true;
            at++;
        }
        if (*at == '\n' || *at == '\t')
            return NULL;
    }
    return at;
}

static bool read_double_quoted(struct yaml_line *line, struct text *text)
{
    bool escapes;
    const char *close = yaml_line_find_close(++line->at, &escapes);
    if (!close)
        return false;
    if (!escapes)
        *text = arena_text(line->arena, line->at, (size_t)(close - line->at));
    else if (!read_escapes(line, close, text))
        return false;
    line->at = close + 1;
    return true;
}

static bool read_single_quoted(struct yaml_line *line, struct text *text)
{
    const char *from = ++line->at, *close = from;
    while (*close != '\'' || close[1] == '\'') {
        if (*close == '\n' || *close == '\t')
            return false;
        close += *close == '\'' ? 2 : 1;
    }
    char *to = arena_allocate(line->arena, (size_t)(close - from) + 1);
    text->data = to;
    for (const char *at = from; at < close; at += *at == '\'' ? 2 : 1)
        *to++ = *at;
    *to = '\0';
    text->length = (size_t)(to - text->data);
    line->at = close + 1;
    return true;
}

bool yaml_line_quoted(struct yaml_line *line, struct text *text)
{
    return *line->at == '"' ? read_double_quoted(line, text) : read_single_quoted(line, text);
}

/* What the plain scalar from there to `at` means. */
static struct value *understand(struct yaml_line *line, const char *from)
{
    struct text text = arena_text(line->arena, from, (size_t)(line->at - from));
    struct value *value = yaml_scalar_plain(line->arena, text);
    return value->kind == VALUE_NUMBER && !isfinite(value->number) ? NULL : value;
}

struct value *yaml_line_plain(struct yaml_line *line)
{
    const char *from = line->at, *end = from;
    if (!yaml_line_is_word_byte(*from) && !strchr("_./~+$(<=^;", *from) &&
        !(*from == '-' && yaml_line_is_word_byte(from[1])))
        return NULL;
    for (; *line->at != '\n'; line->at++) {
        if (*line->at == '\t' || (*line->at == ':' && (line->at[1] == ' ' || line->at[1] == '\n')))
            return NULL;
        if (*line->at == '#' && line->at[-1] == ' ')
            break;
        if (*line->at != ' ')
            end = line->at + 1;
    }
    line->at = end;
    return understand(line, from);
}

struct value *yaml_line_word(struct yaml_line *line)
{
    const char *from = line->at;
    if (!yaml_line_is_word_byte(*from) && !strchr("_./~+$", *from) &&
        !(*from == '-' && yaml_line_is_word_byte(from[1])))
        return NULL;
    while (yaml_line_is_word_byte(*line->at) || strchr("_./~+$%@=-", *line->at))
        line->at++;
    return understand(line, from);
}

/* Go behind the lines of a literal, each with at least `indent` spaces or empty; *kept is the end of
 * the last that is not empty.  False where a tab stands among the spaces. */
static bool skip_literal(struct yaml_line *line, size_t indent, const char **kept)
{
    for (; line->at < line->end; line->at++, line->number++) {
        const char *from = line->at;
        while (*line->at == ' ' && (size_t)(line->at - from) < indent)
            line->at++;
        bool inside = (size_t)(line->at - from) == indent;
        if (!inside && *line->at == '\t')
            return false;
        if (!inside && *line->at != '\n') {
            line->at = from;
            break;
        }
        from = line->at;
        line->at = memchr(from, '\n', (size_t)(line->end - from));
        if (line->at > from)
            *kept = line->at + 1;
    }
    return true;
}

/* The lines from `from` to `end`, without the spaces of their indent; `strip`: without the last line end. */
static struct text copy_literal(struct arena *arena, const char *from, const char *end,
                                size_t indent, bool strip)
{
    char *text = arena_allocate(arena, (size_t)(end - from) + 1), *to = text;
    while (from < end) {
        for (size_t spaces = 0; spaces < indent && *from == ' '; spaces++)
            from++;
        const char *next = (const char *)memchr(from, '\n', (size_t)(end - from)) + 1;
        memcpy(to, from, (size_t)(next - from));
        to += next - from;
        from = next;
    }
    to -= strip;
    *to = '\0';
    return (struct text){text, (size_t)(to - text)};
}

struct value *yaml_line_literal(struct yaml_line *line, int parent)
{
    bool strip = line->at[1] == '-';
    line->at += strip ? 2 : 1;
    if (*line->at++ != '\n' || line->at == line->end)
        return NULL;
    line->number++;
    const char *from = line->at, *kept = from;
    yaml_line_skip_spaces(line);
    size_t indent = (size_t)(line->at - from);
    if (*line->at == '\n' || *line->at == '\t' || (int)indent <= parent)
        return NULL;
    line->at = from;
    if (!skip_literal(line, indent, &kept))
        return NULL;
    struct text text = copy_literal(line->arena, from, kept, indent, strip);
    return yaml_line_find(line) ? value_text(line->arena, text) : NULL;
}
