/* renderer/jsone/token.h - the words of a JSON-e expression
 *
 * Numbers are decimal (1, 1.5; no exponent, no sign), strings have single or double quotes and no
 * escapes, identifiers are ASCII.  White space is what ECMAScript's \s matches.
 */
#ifndef RENDERER_JSONE_TOKEN_H
#define RENDERER_JSONE_TOKEN_H

#include <stdint.h>

#include "base/text.h"

enum token_kind {
    TOKEN_END,        /* nothing is left */
    TOKEN_UNREADABLE, /* what stands at `start` begins no token */
    TOKEN_POWER,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DIVIDE,
    TOKEN_LEFT_BRACKET,
    TOKEN_RIGHT_BRACKET,
    TOKEN_DOT,
    TOKEN_LEFT_PARENTHESIS,
    TOKEN_RIGHT_PARENTHESIS,
    TOKEN_LEFT_BRACE,
    TOKEN_RIGHT_BRACE,
    TOKEN_COLON,
    TOKEN_COMMA,
    TOKEN_GREATER_EQUAL,
    TOKEN_LESS_EQUAL,
    TOKEN_LESS,
    TOKEN_GREATER,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_NOT,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_IN,
    TOKEN_NULL,
    TOKEN_NUMBER,
    TOKEN_IDENTIFIER,
    TOKEN_STRING /* with its quotes */
};

struct token {
    enum token_kind kind;
    size_t start, end; /* bytes of the source */
};

/* The token at or after `offset`. */
struct token token_next(struct text source, size_t offset);

/* The name of the kind in JSON-e's messages: "**", "identifier", ... */
const char *token_name(enum token_kind kind);

/* Is it [a-zA-Z_][a-zA-Z0-9_]* ? */
bool token_is_identifier(struct text text);

/* The length of the white space character (by ECMAScript's \s) at `bytes`, or 0. */
size_t token_space_length(const char *bytes, size_t length);

#endif
