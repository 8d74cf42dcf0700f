/* base/yaml_line.h - the lines of the usual part of YAML (base/yaml_quick.h), and the scalars on them
 *
 * A scalar is read at its first byte, and `at` is behind it then.  NULL, or false, is "leave it to libyaml", for
 * whatever reason.  Time is linear in what is read.
 */
#ifndef BASE_YAML_LINE_H
#define BASE_YAML_LINE_H

#include "base/value.h"
#include "base/yaml_limits.h"

enum { YAML_LINE_NONE = -1 }; /* of `column`: there is nothing more */

struct yaml_line {
    struct arena *arena;
    const char *at, *end; /* the last byte before `end` is a line end, and all are ASCII */
    const char *start;    /* where the line of `at` starts */
    uint32_t number;      /* of that line, from 0 */
    int column; /* from 0, of what the line begins with; set by yaml_line_find() and yaml_line_end() */
    struct yaml_origin origin;
    const struct yaml_limits *limits;
    size_t nodes;
};

static inline void yaml_line_skip_spaces(struct yaml_line *line)
{
    while (*line->at == ' ')
        line->at++;
}

/* From the start of a line, go to the first byte of a line with more than a comment.  A line of dots ends the text. */
bool yaml_line_find(struct yaml_line *line);
/* After a value, go on to the next line that has one. */
bool yaml_line_end(struct yaml_line *line);

bool yaml_line_is_word_byte(char c);

/* A text in quotes. */
bool yaml_line_quoted(struct yaml_line *line, struct text *text);
/* The quote that closes double quotes, on the same line; `at` is behind the first one.  NULL when there is none. */
const char *yaml_line_find_close(const char *at, bool *escapes);

/* A plain scalar, without what may be more than that: it ends with its line, or before a comment. */
struct value *yaml_line_plain(struct yaml_line *line);
/* One in braces or brackets: a word. */
struct value *yaml_line_word(struct yaml_line *line);
/* Lines after `|`, each with at least the spaces of the first; `parent` is the indent of what has them.  Goes on to the
 * next line that has more. */
struct value *yaml_line_literal(struct yaml_line *line, int parent);

#endif
