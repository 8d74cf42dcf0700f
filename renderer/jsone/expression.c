/* renderer/jsone/expression.c - the parser of JSON-e expressions
 *
 * Recursive descent, after JSON-e's own parser so that the same texts are refused with the same
 * words.  The parser looks one token ahead.  A missing operand does not stop it at once: JSON-e
 * reports a fault in what follows first.
 */
#include "renderer/jsone/expression.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const char operands[] = "!, (, +, -, [, false, identifier, null, number, string, true, {";
static const char operators[] = "!=, &&, (, *, **, +, -, ., /, <, <=, ==, >, >=, [, in, ||";

struct parser {
    struct arena *arena;
    struct text source;
    struct token token;   /* the next one, not yet taken */
    struct token missing; /* where the first missing operand should stand */
    bool is_missing;
    const char *fault; /* the first fault; parsing then unwinds */
    int depth;
};

static struct syntax *parse_level(struct parser *parser, size_t level);
static struct syntax *parse_unit(struct parser *parser);
static struct syntax *parse_power(struct parser *parser);

static struct syntax *syntax_new(struct parser *parser, enum syntax_kind kind)
{
    struct syntax *syntax = arena_allocate(parser->arena, sizeof(*syntax));
    syntax->kind = kind;
    return syntax;
}

static struct text token_text(const struct parser *parser, struct token token)
{
    return (struct text){parser->source.data + token.start, token.end - token.start};
}

/* Keep the first fault; NULL, so that `return fail_parsing(...)` reads well. */
static struct syntax *fail_parsing(struct parser *parser, const char *fault)
{
    if (!parser->fault)
        parser->fault = fault;
    return NULL;
}

static struct syntax *fail_expecting(struct parser *parser, struct token token,
                                     const char *expected)
{
    if (token.kind == TOKEN_END)
        return fail_parsing(parser, "Unexpected end of input");
    struct error_quote_buffer buffer;
    struct text found = token_text(parser, token);
    return fail_parsing(parser,
                        arena_printf(parser->arena, "Found: %s token, expected one of: %s",
                                     error_quote(&buffer, found.data, found.length), expected)
                            .data);
}

/* Parse something that is nested in what is being parsed: one level deeper. */
static struct syntax *parse_nested(struct parser *parser, struct syntax *(*parse)(struct parser *))
{
    if (parser->depth >= EXPRESSION_DEPTH)
        return fail_parsing(parser,
                            arena_printf(parser->arena,
                                         "the expression is nested deeper than the limit of %d "
                                         "levels",
                                         EXPRESSION_DEPTH)
                                .data);
    parser->depth++;
    struct syntax *syntax = parse(parser);
    parser->depth--;
    return syntax;
}

static struct syntax *parse_loosest(struct parser *parser)
{
    return parse_level(parser, 0);
}

/* A whole expression within another: an item, an index, what stands in parentheses. */
static struct syntax *parse_inner(struct parser *parser)
{
    return parse_nested(parser, parse_loosest);
}

static void read_token(struct parser *parser, size_t offset)
{
    parser->token = token_next(parser->source, offset);
    if (parser->token.kind != TOKEN_UNREADABLE)
        return;
    struct error_quote_buffer whole, rest;
    struct text found = token_text(parser, parser->token);
    fail_parsing(parser,
                 arena_printf(parser->arena, "Unexpected input for '%s' at '%s'",
                              error_quote(&whole, parser->source.data, parser->source.length),
                              error_quote(&rest, found.data, found.length))
                     .data);
}

/* Take the next token, which must be of that kind.  False: there is a fault now. */
static bool take_token(struct parser *parser, enum token_kind kind)
{
    if (parser->token.kind != kind) {
        fail_expecting(parser, parser->token, token_name(kind));
        return false;
    }
    read_token(parser, parser->token.end);
    return !parser->fault;
}

static void append_part(struct syntax *whole, struct syntax ***tail, struct syntax *part)
{
    **tail = part;
    *tail = &part->next;
    whole->count++;
}

/* Items between brackets or parentheses, separated by commas, up to and with `close`. */
static struct syntax *parse_items(struct parser *parser, enum syntax_kind kind,
                                  enum token_kind open, enum token_kind close)
{
    struct syntax *list = syntax_new(parser, kind);
    struct syntax **tail = &list->parts;
    if (!take_token(parser, open))
        return NULL;
    if (parser->token.kind != close) {
        for (;;) {
            struct syntax *item = parse_inner(parser);
            if (!item)
                return NULL;
            append_part(list, &tail, item);
            if (parser->token.kind != TOKEN_COMMA)
                break;
            if (item->kind == SYNTAX_MISSING)
                return fail_expecting(parser, parser->token, operands);
            if (!take_token(parser, TOKEN_COMMA))
                return NULL;
        }
    }
    return take_token(parser, close) ? list : NULL;
}

static struct syntax *find_pair(const struct syntax *object, struct text name)
{
    for (struct syntax *pair = object->parts; pair; pair = pair->next)
        if (text_equal(pair->name, name))
            return pair;
    return NULL;
}

static struct text key_of_token(const struct parser *parser)
{
    struct text key = token_text(parser, parser->token);
    if (parser->token.kind == TOKEN_STRING)
        key = (struct text){key.data + 1, key.length - 2};
    return arena_text(parser->arena, key.data, key.length);
}

/* Parse {name: value, ...}; names are words or strings, the last duplicate counts. */
static struct syntax *parse_object(struct parser *parser)
{
    struct syntax *object = syntax_new(parser, SYNTAX_OBJECT);
    struct syntax **tail = &object->parts;
    if (!take_token(parser, TOKEN_LEFT_BRACE))
        return NULL;
    while (parser->token.kind == TOKEN_STRING || parser->token.kind == TOKEN_IDENTIFIER) {
        struct text key = key_of_token(parser);
        if (!take_token(parser, parser->token.kind) || !take_token(parser, TOKEN_COLON))
            return NULL;
        struct syntax *value = parse_inner(parser);
        if (!value)
            return NULL;
        if (value->kind == SYNTAX_MISSING)
            return fail_expecting(parser, parser->token, operands);
        struct syntax *pair = find_pair(object, key);
        if (!pair) {
            pair = syntax_new(parser, SYNTAX_PAIR);
            pair->name = key;
            append_part(object, &tail, pair);
        }
        pair->first = value;
        if (parser->token.kind == TOKEN_RIGHT_BRACE)
            break;
        if (!take_token(parser, TOKEN_COMMA))
            return NULL;
    }
    return take_token(parser, TOKEN_RIGHT_BRACE) ? object : NULL;
}

static struct syntax *parse_constant(struct parser *parser)
{
    struct text text = token_text(parser, parser->token);
    struct syntax *syntax = syntax_new(parser, SYNTAX_CONSTANT);
    switch (parser->token.kind) {
    case TOKEN_NUMBER:
        text = arena_text(parser->arena, text.data, text.length);
        syntax->constant = value_number(parser->arena, strtod(text.data, NULL));
        break;
    case TOKEN_STRING:
        text = arena_text(parser->arena, text.data + 1, text.length - 2);
        syntax->constant = value_text(parser->arena, text);
        break;
    case TOKEN_NULL:
        syntax->constant = value_null(parser->arena);
        break;
    default:
        syntax->constant = value_boolean(parser->arena, parser->token.kind == TOKEN_TRUE);
        break;
    }
    return take_token(parser, parser->token.kind) ? syntax : NULL;
}

static struct syntax *parse_unary(struct parser *parser)
{
    struct syntax *syntax = syntax_new(parser, SYNTAX_UNARY);
    syntax->sign = parser->token.kind;
    if (!take_token(parser, syntax->sign))
        return NULL;
    syntax->first = parse_nested(parser, parse_unit);
    return syntax->first ? syntax : NULL;
}

static struct syntax *parse_parenthesised(struct parser *parser)
{
    if (!take_token(parser, TOKEN_LEFT_PARENTHESIS))
        return NULL;
    struct syntax *inside = parse_inner(parser);
    if (!inside)
        return NULL;
    if (inside->kind == SYNTAX_MISSING)
        return fail_expecting(parser, parser->token, operands);
    return take_token(parser, TOKEN_RIGHT_PARENTHESIS) ? inside : NULL;
}

static struct syntax *parse_name(struct parser *parser, enum syntax_kind kind)
{
    struct syntax *syntax = syntax_new(parser, kind);
    syntax->name = key_of_token(parser);
    return take_token(parser, TOKEN_IDENTIFIER) ? syntax : NULL;
}

static struct syntax *parse_missing(struct parser *parser)
{
    if (parser->token.kind == TOKEN_END)
        return fail_parsing(parser, "Unexpected end of input");
    if (!parser->is_missing)
        parser->missing = parser->token;
    parser->is_missing = true;
    return syntax_new(parser, SYNTAX_MISSING);
}

/* Parse an operand without what may follow it: a constant, a name, a list and so on. */
static struct syntax *parse_unit(struct parser *parser)
{
    switch (parser->token.kind) {
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_NOT:
        return parse_unary(parser);
    case TOKEN_NUMBER:
    case TOKEN_STRING:
    case TOKEN_NULL:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return parse_constant(parser);
    case TOKEN_IDENTIFIER:
        return parse_name(parser, SYNTAX_NAME);
    case TOKEN_LEFT_PARENTHESIS:
        return parse_parenthesised(parser);
    case TOKEN_LEFT_BRACKET:
        return parse_items(parser, SYNTAX_LIST, TOKEN_LEFT_BRACKET, TOKEN_RIGHT_BRACKET);
    case TOKEN_LEFT_BRACE:
        return parse_object(parser);
    default:
        return parse_missing(parser);
    }
}

/* Parse [index] or [from:to] behind a value; both ends of a slice may be left out. */
static struct syntax *parse_brackets(struct parser *parser)
{
    struct syntax *access = syntax_new(parser, SYNTAX_INDEX);
    if (!take_token(parser, TOKEN_LEFT_BRACKET))
        return NULL;
    if (parser->token.kind == TOKEN_RIGHT_BRACKET)
        return fail_expecting(parser, parser->token, operands);
    if (parser->token.kind != TOKEN_COLON) {
        access->first = parse_inner(parser);
        if (!access->first)
            return NULL;
    }
    if (parser->token.kind == TOKEN_COLON) {
        access->kind = SYNTAX_SLICE;
        if (!take_token(parser, TOKEN_COLON))
            return NULL;
        if (parser->token.kind != TOKEN_RIGHT_BRACKET) {
            access->second = parse_inner(parser);
            if (!access->second)
                return NULL;
            if (access->second->kind == SYNTAX_MISSING)
                return fail_expecting(parser, parser->token, operands);
        }
    }
    return take_token(parser, TOKEN_RIGHT_BRACKET) ? access : NULL;
}

/* Parse an operand and any number of .name, [index], [from:to] and (arguments) after it. */
static struct syntax *parse_access(struct parser *parser)
{
    struct syntax *unit = parse_unit(parser);
    if (!unit)
        return NULL;
    struct syntax *whole = NULL;
    struct syntax **tail = NULL;
    for (;;) {
        struct syntax *access;
        if (parser->token.kind == TOKEN_DOT)
            access = take_token(parser, TOKEN_DOT) ? parse_name(parser, SYNTAX_PROPERTY) : NULL;
        else if (parser->token.kind == TOKEN_LEFT_BRACKET)
            access = parse_brackets(parser);
        else if (parser->token.kind == TOKEN_LEFT_PARENTHESIS)
            access =
                parse_items(parser, SYNTAX_CALL, TOKEN_LEFT_PARENTHESIS, TOKEN_RIGHT_PARENTHESIS);
        else
            return whole ? whole : unit;
        if (!access)
            return NULL;
        if (!whole) {
            whole = syntax_new(parser, SYNTAX_ACCESS);
            whole->first = unit;
            tail = &whole->parts;
        }
        append_part(whole, &tail, access);
    }
}

static struct syntax *parse_power(struct parser *parser)
{
    struct syntax *base = parse_access(parser);
    if (!base || parser->token.kind != TOKEN_POWER)
        return base;
    if (!take_token(parser, TOKEN_POWER))
        return NULL;
    struct syntax *power = syntax_new(parser, SYNTAX_POWER);
    power->second = base;
    power->first = parse_nested(parser, parse_power);
    return power->first ? power : NULL;
}

/* The levels of the binary signs, loosest first; the last is `**`, which groups to the right. */
static const enum token_kind levels[][4] = {
    {TOKEN_OR},
    {TOKEN_AND},
    {TOKEN_IN},
    {TOKEN_EQUAL, TOKEN_UNEQUAL},
    {TOKEN_LESS, TOKEN_GREATER, TOKEN_LESS_EQUAL, TOKEN_GREATER_EQUAL},
    {TOKEN_PLUS, TOKEN_MINUS},
    {TOKEN_TIMES, TOKEN_DIVIDE},
};

enum { LEVELS = ARRAY_COUNT(levels) };

static bool is_of_level(enum token_kind kind, size_t level)
{
    for (size_t i = 0; i < 4 && levels[level][i] != TOKEN_END; i++)
        if (levels[level][i] == kind)
            return true;
    return false;
}

static struct syntax *parse_level(struct parser *parser, size_t level)
{
    if (level == LEVELS)
        return parse_power(parser);
    struct syntax *first = parse_level(parser, level + 1);
    if (!first || !is_of_level(parser->token.kind, level))
        return first;
    struct syntax *chain = syntax_new(parser, SYNTAX_CHAIN);
    struct syntax **tail = &chain->parts;
    chain->first = first;
    while (is_of_level(parser->token.kind, level)) {
        struct syntax *term = syntax_new(parser, SYNTAX_TERM);
        term->sign = parser->token.kind;
        if (!take_token(parser, term->sign))
            return NULL;
        term->first = parse_level(parser, level + 1);
        if (!term->first)
            return NULL;
        append_part(chain, &tail, term);
    }
    return chain;
}

static struct syntax *parse_whole(struct parser *parser, bool braced)
{
    read_token(parser, 0);
    if (parser->fault)
        return NULL;
    if (braced && parser->token.kind == TOKEN_END)
        return fail_parsing(parser, "unterminated ${..} expression");
    struct syntax *tree = parse_level(parser, 0);
    if (!tree)
        return NULL;
    if (braced && parser->token.kind == TOKEN_END)
        return fail_parsing(parser, "unterminated ${..} expression");
    if (parser->token.kind != (braced ? TOKEN_RIGHT_BRACE : TOKEN_END))
        return fail_expecting(parser, parser->token, operators);
    if (parser->is_missing)
        return fail_expecting(parser, parser->missing, operands);
    return tree;
}

static struct expression *parse_source(struct arena *arena, struct text source, bool braced,
                                       size_t *end)
{
    struct parser parser = {.arena = arena, .source = source};
    struct expression *expression = arena_allocate(arena, sizeof(*expression));
    expression->tree = parse_whole(&parser, braced);
    expression->fault = expression->tree ? NULL : parser.fault;
    expression->source = source;
    if (braced && expression->tree) {
        *end = parser.token.start;
        expression->source.length = *end;
    }
    return expression;
}

struct expression *expression_parse(struct arena *arena, struct text source)
{
    return parse_source(arena, source, false, NULL);
}

struct expression *expression_parse_braced(struct arena *arena, struct text source, size_t *end)
{
    return parse_source(arena, source, true, end);
}
