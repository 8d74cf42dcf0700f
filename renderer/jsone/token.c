/* renderer/jsone/token.c - the words of a JSON-e expression
 *
 * Kinds are tried as JSON-e's tokenizer tries them: two-byte signs before the one-byte signs that
 * begin them, keywords before identifiers, a keyword only where no identifier continues.
 */
#include "renderer/jsone/token.h"

#include <string.h>

#include "base/utf8.h"

static const char *const names[] = {
    [TOKEN_END] = "end",
    [TOKEN_UNREADABLE] = "unreadable",
    [TOKEN_POWER] = "**",
    [TOKEN_PLUS] = "+",
    [TOKEN_MINUS] = "-",
    [TOKEN_TIMES] = "*",
    [TOKEN_DIVIDE] = "/",
    [TOKEN_LEFT_BRACKET] = "[",
    [TOKEN_RIGHT_BRACKET] = "]",
    [TOKEN_DOT] = ".",
    [TOKEN_LEFT_PARENTHESIS] = "(",
    [TOKEN_RIGHT_PARENTHESIS] = ")",
    [TOKEN_LEFT_BRACE] = "{",
    [TOKEN_RIGHT_BRACE] = "}",
    [TOKEN_COLON] = ":",
    [TOKEN_COMMA] = ",",
    [TOKEN_GREATER_EQUAL] = ">=",
    [TOKEN_LESS_EQUAL] = "<=",
    [TOKEN_LESS] = "<",
    [TOKEN_GREATER] = ">",
    [TOKEN_EQUAL] = "==",
    [TOKEN_UNEQUAL] = "!=",
    [TOKEN_NOT] = "!",
    [TOKEN_AND] = "&&",
    [TOKEN_OR] = "||",
    [TOKEN_TRUE] = "true",
    [TOKEN_FALSE] = "false",
    [TOKEN_IN] = "in",
    [TOKEN_NULL] = "null",
    [TOKEN_NUMBER] = "number",
    [TOKEN_IDENTIFIER] = "identifier",
    [TOKEN_STRING] = "string",
};

static const enum token_kind keywords[] = {TOKEN_TRUE, TOKEN_FALSE, TOKEN_IN, TOKEN_NULL};

const char *token_name(enum token_kind kind)
{
    return names[kind];
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_identifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool token_is_identifier(struct text text)
{
    if (text.length == 0 || !starts_identifier(text.data[0]))
        return false;
    for (size_t i = 1; i < text.length; i++)
        if (!starts_identifier(text.data[i]) && !is_digit(text.data[i]))
            return false;
    return true;
}

size_t token_space_length(const char *bytes, size_t length)
{
    if (length == 0)
        return 0;
    char c = bytes[0];
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return 1;
    if ((unsigned char)c < 0xc2)
        return 0;
    size_t sequence = utf8_sequence(bytes, length);
    if (sequence == 0)
        return 0;
    uint32_t point = utf8_code_point(bytes, sequence);
    bool space = point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
                 point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f ||
                 point == 0x3000 || point == 0xfeff;
    return space ? sequence : 0;
}

static size_t number_end(struct text source, size_t at)
{
    while (at < source.length && is_digit(source.data[at]))
        at++;
    if (at + 1 < source.length && source.data[at] == '.' && is_digit(source.data[at + 1]))
        for (at++; at < source.length && is_digit(source.data[at]); at++)
            ;
    return at;
}

static struct token word_token(struct text source, size_t start)
{
    size_t end = start;
    while (end < source.length &&
           (starts_identifier(source.data[end]) || is_digit(source.data[end])))
        end++;
    struct token token = {TOKEN_IDENTIFIER, start, end};
    struct text word = {source.data + start, end - start};
    for (size_t i = 0; i < ARRAY_COUNT(keywords); i++)
        if (text_is(word, names[keywords[i]]))
            token.kind = keywords[i];
    return token;
}

static struct token sign_token(struct text source, size_t start)
{
    char first = source.data[start];
    char second = start + 1 < source.length ? source.data[start + 1] : '\0';
    for (size_t length = 2; length >= 1; length--)
        for (enum token_kind kind = TOKEN_POWER; kind <= TOKEN_OR; kind++)
            if (strlen(names[kind]) == length && names[kind][0] == first &&
                (length == 1 || names[kind][1] == second))
                return (struct token){kind, start, start + length};
    return (struct token){TOKEN_UNREADABLE, start, source.length};
}

struct token token_next(struct text source, size_t offset)
{
    while (offset < source.length) {
        size_t space = token_space_length(source.data + offset, source.length - offset);
        if (space == 0)
            break;
        offset += space;
    }
    if (offset >= source.length)
        return (struct token){TOKEN_END, source.length, source.length};

    char c = source.data[offset];
    if (is_digit(c))
        return (struct token){TOKEN_NUMBER, offset, number_end(source, offset)};
    if (starts_identifier(c))
        return word_token(source, offset);
    if (c == '"' || c == '\'') {
        const char *from = source.data + offset + 1;
        const char *close = memchr(from, c, source.length - offset - 1);
        if (!close)
            return (struct token){TOKEN_UNREADABLE, offset, source.length};
        return (struct token){TOKEN_STRING, offset, (size_t)(close - source.data) + 1};
    }
    return sign_token(source, offset);
}
