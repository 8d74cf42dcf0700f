/* web/parameters.c - which parameters a path of the API has in its query */
#include "web/parameters.h"

/* Is there a parameter of that name?  Then *values are those that it may have; empty: any. */
static bool find_known(const char *known, struct text name, struct text *values)
{
    struct text rest = text_of(known), word;
    while (text_next(&rest, ' ', &word)) {
        struct text own;
        *values = word;
        if (text_next(values, '=', &own) && text_equal(own, name))
            return true;
    }
    return false;
}

static bool is_one_of(struct text values, struct text value)
{
    struct text word;
    if (!values.length)
        return true;
    while (text_next(&values, '|', &word))
        if (text_equal(word, value))
            return true;
    return false;
}

static bool is_given_before(const struct exchange *exchange, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (text_equal(exchange->query[i].name, exchange->query[at].name))
            return true;
    return false;
}

static void refuse(struct exchange *exchange, struct buffer *sentence)
{
    buffer_add_byte(sentence, '\0');
    exchange_reply_problem(exchange, HTTP_BAD_REQUEST, sentence->data);
}

/* "mine, owner or name", without values. */
static void add_names(struct buffer *out, struct text rest, char separator)
{
    struct text word;
    bool first = true;
    while (text_next(&rest, separator, &word)) {
        struct text name;
        text_next(&word, '=', &name);
        buffer_printf(out, "%s%.*s",
                      first         ? ""
                      : rest.length ? ", "
                                    : " or ",
                      (int)name.length, name.data);
        first = false;
    }
}

static void add_quoted(struct buffer *out, struct text text)
{
    struct error_quote_buffer quoted;
    buffer_add_string(out, error_quote(&quoted, text.data, text.length));
}

static void refuse_unknown(struct exchange *exchange, const char *known, struct text name)
{
    struct buffer sentence = {0};
    add_quoted(&sentence, name);
    buffer_add_string(&sentence, ": unknown parameter; ");
    buffer_add_string(&sentence, *known ? "expected " : "this path has none");
    add_names(&sentence, text_of(known), ' ');
    refuse(exchange, &sentence);
    buffer_free(&sentence);
}

static void refuse_value(struct exchange *exchange, const struct web_field *field,
                         struct text values)
{
    struct buffer sentence = {0};
    buffer_printf(&sentence, "%.*s: found \"", (int)field->name.length, field->name.data);
    add_quoted(&sentence, field->value);
    buffer_add_string(&sentence, "\", expected ");
    add_names(&sentence, values, '|');
    refuse(exchange, &sentence);
    buffer_free(&sentence);
}

static void refuse_second(struct exchange *exchange, struct text name)
{
    struct buffer sentence = {0};
    buffer_printf(&sentence, "%.*s: found twice, expected it once", (int)name.length, name.data);
    refuse(exchange, &sentence);
    buffer_free(&sentence);
}

bool parameters_fit(struct exchange *exchange, const char *known)
{
    for (size_t i = 0; i < exchange->query_count; i++) {
        const struct web_field *field = &exchange->query[i];
        struct text values;
        if (!find_known(known, field->name, &values))
            refuse_unknown(exchange, known, field->name);
        else if (is_given_before(exchange, i))
            refuse_second(exchange, field->name);
        else if (field->value.length && !is_one_of(values, field->value))
            refuse_value(exchange, field, values);
        else
            continue;
        return false;
    }
    return true;
}
