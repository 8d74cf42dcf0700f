/* renderer/jsone/evaluate.c - evaluate expressions
 *
 * Operands are evaluated in JSON-e's order, because the first failing one decides the error: from
 * the left, except that a power's exponent comes first.
 */
#include "renderer/jsone/evaluate.h"

#include <math.h>
#include <string.h>

static struct value *evaluate_syntax(struct interpreter *self, const struct syntax *syntax);

static struct value *fail_operands(struct interpreter *self, const char *sign, const char *what)
{
    return interpreter_raise(self, INTERPRETER_ERROR, "infix: %s expects %s %s %s", sign, what,
                             sign, what);
}

/* Signs between numbers */

/* ECMAScript and C disagree about these two powers of one. */
static double raise_to_power(double base, double exponent)
{
    if (isnan(exponent) || (fabs(base) == 1 && isinf(exponent)))
        return (double)NAN;
    return pow(base, exponent);
}

static struct value *join_texts(struct interpreter *self, struct text a, struct text b)
{
    if (!interpreter_bytes(self, a.length + b.length) ||
        !interpreter_may_take(self, a.length + b.length + 1 + sizeof(struct value)))
        return NULL;
    char *bytes = arena_allocate(self->arena, a.length + b.length + 1);
    if (a.length)
        memcpy(bytes, a.data, a.length);
    if (b.length)
        memcpy(bytes + a.length, b.data, b.length);
    return value_text(self->arena, (struct text){bytes, a.length + b.length});
}

static struct value *calculate_number(struct interpreter *self, enum token_kind sign,
                                      const struct value *a, const struct value *b)
{
    if (sign == TOKEN_PLUS && a->kind == VALUE_STRING && b->kind == VALUE_STRING)
        return join_texts(self, a->string, b->string);
    if (a->kind != VALUE_NUMBER || b->kind != VALUE_NUMBER)
        return fail_operands(self, token_name(sign),
                             sign == TOKEN_PLUS ? "numbers/strings" : "number");
    switch (sign) {
    case TOKEN_PLUS:
        return interpreter_number(self, a->number + b->number);
    case TOKEN_MINUS:
        return interpreter_number(self, a->number - b->number);
    case TOKEN_TIMES:
        return interpreter_number(self, a->number * b->number);
    default:
        if (b->number == 0)
            return interpreter_raise(self, INTERPRETER_ERROR, "division by zero");
        return interpreter_number(self, a->number / b->number);
    }
}

static struct value *evaluate_power(struct interpreter *self, const struct syntax *syntax)
{
    const struct value *exponent = evaluate_syntax(self, syntax->first);
    const struct value *base = exponent ? evaluate_syntax(self, syntax->second) : NULL;
    if (!base)
        return NULL;
    if (exponent->kind != VALUE_NUMBER || base->kind != VALUE_NUMBER)
        return fail_operands(self, "**", "number");
    return interpreter_number(self, raise_to_power(base->number, exponent->number));
}

static struct value *evaluate_unary(struct interpreter *self, const struct syntax *syntax)
{
    struct value *value = evaluate_syntax(self, syntax->first);
    if (!value)
        return NULL;
    if (syntax->sign == TOKEN_NOT)
        return interpreter_boolean(self, !interpreter_is_truthy(value));
    if (value->kind != VALUE_NUMBER)
        return interpreter_raise(self, INTERPRETER_ERROR, "unary %s expects number",
                                 token_name(syntax->sign));
    return interpreter_number(self, syntax->sign == TOKEN_MINUS ? -value->number : value->number);
}

/* Signs between values */

static bool is_ordered(enum token_kind sign, int order)
{
    switch (sign) {
    case TOKEN_LESS:
        return order < 0;
    case TOKEN_LESS_EQUAL:
        return order <= 0;
    case TOKEN_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

static struct value *compare_values(struct interpreter *self, enum token_kind sign,
                                    const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_STRING && b->kind == VALUE_STRING) {
        if (!interpreter_bytes(self, a->string.length))
            return NULL;
        return interpreter_boolean(self, is_ordered(sign, text_compare(a->string, b->string)));
    }
    if (a->kind != VALUE_NUMBER || b->kind != VALUE_NUMBER)
        return fail_operands(self, token_name(sign), "numbers/strings");
    double x = a->number, y = b->number;
    if (isnan(x) || isnan(y))
        return interpreter_boolean(self, false);
    return interpreter_boolean(self, is_ordered(sign, x < y ? -1 : x > y));
}

static struct value *evaluate_equality(struct interpreter *self, enum token_kind sign,
                                       const struct value *a, const struct value *b)
{
    bool equal;
    if (!interpreter_equal(self, a, b, &equal))
        return NULL;
    return interpreter_boolean(self, equal == (sign == TOKEN_EQUAL));
}

static struct value *search_list(struct interpreter *self, const struct value *wanted,
                                 const struct value *list)
{
    bool equal = false;
    for (size_t i = 0; !equal && i < list->list.count; i++)
        if (!interpreter_equal(self, wanted, list->list.items[i], &equal))
            return NULL;
    return interpreter_boolean(self, equal);
}

static struct value *search_value(struct interpreter *self, const struct value *wanted,
                                  const struct value *in)
{
    if (in->kind == VALUE_LIST)
        return search_list(self, wanted, in);
    if (in->kind != VALUE_OBJECT && in->kind != VALUE_STRING)
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "Infix: in expects Array, string, or object on right side");
    if (wanted->kind != VALUE_STRING)
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "Infix: in-%s expects string on left side",
                                 in->kind == VALUE_OBJECT ? "object" : "string");
    if (!interpreter_bytes(self, wanted->string.length))
        return NULL;
    if (in->kind == VALUE_OBJECT)
        return interpreter_boolean(self, value_member(in, wanted->string) != NULL);
    if (!interpreter_bytes(self, in->string.length))
        return NULL;
    return interpreter_boolean(self, text_contains(in->string, wanted->string));
}

static struct value *apply_sign(struct interpreter *self, enum token_kind sign,
                                const struct value *a, const struct value *b)
{
    switch (sign) {
    case TOKEN_OR: /* the left side has already decided nothing */
    case TOKEN_AND:
        return interpreter_boolean(self, interpreter_is_truthy(b));
    case TOKEN_IN:
        return search_value(self, a, b);
    case TOKEN_EQUAL:
    case TOKEN_UNEQUAL:
        return evaluate_equality(self, sign, a, b);
    case TOKEN_LESS:
    case TOKEN_GREATER:
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL:
        return compare_values(self, sign, a, b);
    default:
        return calculate_number(self, sign, a, b);
    }
}

static struct value *evaluate_chain(struct interpreter *self, const struct syntax *syntax)
{
    struct value *value = evaluate_syntax(self, syntax->first);
    for (const struct syntax *term = syntax->parts; value && term; term = term->next) {
        if (term->sign == TOKEN_OR || term->sign == TOKEN_AND) {
            bool truthy = interpreter_is_truthy(value);
            if (truthy == (term->sign == TOKEN_OR)) {
                value = interpreter_boolean(self, truthy);
                continue;
            }
        }
        const struct value *right = evaluate_syntax(self, term->first);
        value = right ? apply_sign(self, term->sign, value, right) : NULL;
    }
    return value;
}

/* Lists and objects written out */

static struct value *evaluate_list(struct interpreter *self, const struct syntax *syntax)
{
    struct value *list = interpreter_list(self, syntax->count);
    for (const struct syntax *item = syntax->parts; list && item; item = item->next) {
        struct value *value = evaluate_syntax(self, item);
        if (!value)
            return NULL;
        value_append(self->arena, list, value);
    }
    return list;
}

static struct value *evaluate_object(struct interpreter *self, const struct syntax *syntax)
{
    struct value *object = interpreter_object(self, syntax->count);
    for (const struct syntax *pair = syntax->parts; object && pair; pair = pair->next) {
        struct value *value = evaluate_syntax(self, pair->first);
        if (!value)
            return NULL;
        value_set(self->arena, object, pair->name, value);
    }
    return object;
}

/* What stands behind a value: .name  [index]  [from:to]  (arguments) */

/* Mark a value that is taken out of its object as read. */
static struct value *take_member(struct interpreter *self, struct value *value)
{
    const struct rendering *rendering = self->rendering;
    for (size_t i = 0; i < rendering->watched_count; i++)
        if (rendering->watched[i].value == value)
            rendering->watched[i].read = true;
    return value;
}

/* Mark all members of an object that is used whole. */
static struct value *take_whole(struct interpreter *self, struct value *object)
{
    const struct rendering *rendering = self->rendering;
    for (size_t i = 0; object && i < rendering->watched_count; i++)
        if (rendering->watched[i].object == object)
            rendering->watched[i].read = true;
    return object;
}

static struct value *get_property(struct interpreter *self, const struct value *value,
                                  struct text name)
{
    if (value->kind != VALUE_OBJECT)
        return interpreter_raise(self, INTERPRETER_ERROR, "infix: . expects objects");
    const struct member *member = value_member(value, name);
    if (member)
        return take_member(self, member->value);
    struct error_quote_buffer buffer;
    return interpreter_raise(self, INTERPRETER_ERROR, "object has no property \"%s\"",
                             error_quote(&buffer, name.data, name.length));
}

static size_t count_characters(struct text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return count;
}

/* The offset in bytes of the character of that number. */
static size_t character_offset(struct text text, size_t number)
{
    size_t at = 0;
    while (at < text.length && number > 0)
        for (at++, number--; at < text.length && ((unsigned char)text.data[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

static size_t length_of(const struct value *value)
{
    return value->kind == VALUE_LIST ? value->list.count : count_characters(value->string);
}

static struct value *cut_characters(struct interpreter *self, struct text text, size_t from,
                                    size_t to)
{
    size_t start = character_offset(text, from);
    struct text rest = {text.data + start, text.length - start};
    return interpreter_text(self, rest.data, character_offset(rest, to - from));
}

/* The element of a list, the character of a text or the member of an object at an index;
 * negative indexes count from the end. */
static struct value *get_index(struct interpreter *self, const struct value *value,
                               const struct value *index)
{
    if (value->kind == VALUE_OBJECT) {
        if (index->kind != VALUE_STRING)
            return interpreter_raise(self, INTERPRETER_ERROR, "object keys must be strings");
        if (!interpreter_bytes(self, index->string.length))
            return NULL;
        struct member *member = value_member(value, index->string);
        return member ? take_member(self, member->value) : interpreter_null(self);
    }
    if (value->kind != VALUE_LIST && value->kind != VALUE_STRING)
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "infix: \"[..]\" expects object, array, or string");
    if (index->kind != VALUE_NUMBER || !interpreter_is_whole(index->number))
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "should only use integers to access arrays or strings");
    if (value->kind == VALUE_STRING && !interpreter_bytes(self, value->string.length))
        return NULL;
    double length = (double)length_of(value);
    double at = index->number;
    if (at < 0)
        at = at + length < 0 ? 0 : at + length;
    if (at >= length)
        return interpreter_raise(self, INTERPRETER_ERROR, "index out of bounds");
    if (value->kind == VALUE_LIST)
        return value->list.items[(size_t)at];
    return cut_characters(self, value->string, (size_t)at, (size_t)at + 1);
}

/* One end of a slice; false when it is not a whole number. */
static bool slice_end(const struct value *end, size_t length, size_t *at)
{
    if (end->kind != VALUE_NUMBER || !interpreter_is_whole(end->number))
        return false;
    double number = end->number < 0 ? end->number + (double)length : end->number;
    *at = number < 0 ? 0 : number > (double)length ? length : (size_t)number;
    return true;
}

/* `from` and `to` may be NULL; a null `to` is the end too. */
static struct value *get_slice(struct interpreter *self, const struct value *value,
                               const struct value *from, const struct value *to)
{
    if (value->kind == VALUE_OBJECT)
        return interpreter_raise(self, INTERPRETER_ERROR, "object keys must be strings");
    if (value->kind != VALUE_LIST && value->kind != VALUE_STRING)
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "infix: \"[..]\" expects object, array, or string");
    if (value->kind == VALUE_STRING && !interpreter_bytes(self, value->string.length))
        return NULL;
    size_t length = length_of(value), start = 0, end = length;
    if ((from && !slice_end(from, length, &start)) ||
        (to && to->kind != VALUE_NULL && !slice_end(to, length, &end)))
        return interpreter_raise(self, INTERPRETER_ERROR,
                                 "cannot perform interval access with non-integers");
    if (start > end)
        start = end;
    if (value->kind == VALUE_STRING)
        return cut_characters(self, value->string, start, end);
    struct value *list = interpreter_list(self, end - start);
    for (size_t i = start; list && i < end; i++)
        value_append(self->arena, list, value->list.items[i]);
    return list;
}

static struct value *call_function(struct interpreter *self, const struct value *callee,
                                   const struct syntax *syntax)
{
    if (callee->kind != VALUE_FUNCTION)
        return interpreter_raise(self, INTERPRETER_ERROR, "%s is not callable",
                                 interpreter_describe(self, callee).data);
    struct value *few[4];
    struct value **arguments = few;
    if (syntax->count > ARRAY_COUNT(few))
        arguments = arena_allocate(self->arena, syntax->count * sizeof(struct value *));
    size_t count = 0;
    for (const struct syntax *item = syntax->parts; item; item = item->next)
        if (!(arguments[count++] = evaluate_syntax(self, item)))
            return NULL;
    return interpreter_call(self, callee->function, arguments, count);
}

static struct value *access_value(struct interpreter *self, struct value *value,
                                  const struct syntax *syntax)
{
    const struct value *first = NULL, *second = NULL;
    if (syntax->kind == SYNTAX_PROPERTY)
        return get_property(self, value, syntax->name);
    if (syntax->kind == SYNTAX_CALL)
        return call_function(self, value, syntax);
    if ((syntax->first && !(first = evaluate_syntax(self, syntax->first))) ||
        (syntax->second && !(second = evaluate_syntax(self, syntax->second))))
        return NULL;
    return syntax->kind == SYNTAX_INDEX ? get_index(self, value, first)
                                        : get_slice(self, value, first, second);
}

static struct value *evaluate_name(struct interpreter *self, const struct syntax *syntax)
{
    struct value *value = interpreter_find(self, syntax->name);
    if (value)
        return value;
    struct error_quote_buffer buffer;
    return interpreter_raise(self, INTERPRETER_ERROR, "unknown context value %s",
                             error_quote(&buffer, syntax->name.data, syntax->name.length));
}

/* What stands first is not used whole. */
static struct value *evaluate_access(struct interpreter *self, const struct syntax *syntax)
{
    bool named = syntax->first->kind == SYNTAX_NAME;
    if (named && !interpreter_steps(self, 1))
        return NULL;
    struct value *value =
        named ? evaluate_name(self, syntax->first) : evaluate_syntax(self, syntax->first);
    for (const struct syntax *part = syntax->parts; value && part; part = part->next)
        value = access_value(self, value, part);
    return value;
}

static struct value *evaluate_compound(struct interpreter *self, const struct syntax *syntax)
{
    switch (syntax->kind) {
    case SYNTAX_UNARY:
        return evaluate_unary(self, syntax);
    case SYNTAX_CHAIN:
        return evaluate_chain(self, syntax);
    case SYNTAX_POWER:
        return evaluate_power(self, syntax);
    case SYNTAX_LIST:
        return evaluate_list(self, syntax);
    case SYNTAX_OBJECT:
        return evaluate_object(self, syntax);
    default:
        return evaluate_access(self, syntax);
    }
}

static struct value *evaluate_syntax(struct interpreter *self, const struct syntax *syntax)
{
    if (!interpreter_steps(self, 1))
        return NULL;
    if (syntax->kind == SYNTAX_CONSTANT)
        return syntax->constant;
    if (syntax->kind == SYNTAX_NAME)
        return take_whole(self, evaluate_name(self, syntax));
    if (!interpreter_enter(self))
        return NULL;
    struct value *value = evaluate_compound(self, syntax);
    self->depth--;
    return value;
}

struct value *evaluate(struct interpreter *self, const struct expression *expression)
{
    uint32_t line = self->line, column = self->column;
    self->line = expression->line;
    self->column = expression->column;
    if (expression->fault)
        return interpreter_raise(self, SYNTAX_ERROR, "%s", expression->fault);
    struct value *value = evaluate_syntax(self, expression->tree);
    self->line = line;
    self->column = column;
    return value;
}

struct value *evaluate_within(struct interpreter *self, struct scope *scope,
                              const struct expression *expression)
{
    scope->outer = self->scope;
    self->scope = scope;
    struct value *value = evaluate(self, expression);
    self->scope = scope->outer;
    return value;
}
