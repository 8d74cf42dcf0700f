/* request/sbatch/directive.c - splits an #SBATCH or #PBS line into words */
#include "request/sbatch/directive.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The column of the next byte, which may be behind characters of several bytes.  What was counted before is not
 * counted again: there may be as many words as the line has bytes. */
static uint32_t column_here(struct directive_rest *rest)
{
    for (; rest->counted < rest->at; rest->counted++)
        rest->characters += ((unsigned char)rest->line.data[rest->counted] & 0xc0) != 0x80;
    return rest->characters + 1;
}

/* Add the bytes of a word that begins at rest->at; false when a quote is not closed. */
static bool take_word(struct directive_rest *rest, struct buffer *out)
{
    char quote = 0;
    for (; rest->at < rest->line.length; rest->at++) {
        char c = rest->line.data[rest->at];
        if (!quote && is_blank(c))
            break;
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            continue;
        }
        if (c == '\\' && quote != '\'' && rest->at + 1 < rest->line.length)
            c = rest->line.data[++rest->at];
        buffer_add_byte(out, c);
    }
    return quote == 0;
}

bool directive_next(struct directive_rest *rest, struct directive_word *word)
{
    while (rest->at < rest->line.length && is_blank(rest->line.data[rest->at]))
        rest->at++;
    if (rest->at == rest->line.length || rest->line.data[rest->at] == '#')
        return false;
    struct buffer out = {0};
    word->place = (struct place){rest->number, column_here(rest)};
    bool closed = take_word(rest, &out);
    word->text = arena_text(rest->reading->arena, out.data ? out.data : "", out.length);
    buffer_free(&out);
    if (!closed) {
        problems_add(rest->reading, NULL, word->place.line, word->place.column,
                     "found a quote that is not closed, expected it to end in the same line");
        rest->at = rest->line.length;
    }
    return closed;
}
