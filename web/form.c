/* web/form.c - the fields of a form, as browsers send them
 *
 * The format is the URL standard's, section 5.1: names and values are joined by "=", pairs by "&", a "+" is a blank,
 * and %XX is a byte.
 */
#include "web/form.h"

#include <string.h>

static int digit(char byte)
{
    const char *digits = "0123456789abcdef", *upper = "0123456789ABCDEF";
    const char *at = byte ? strchr(digits, byte) : NULL;
    if (at)
        return (int)(at - digits);
    at = byte ? strchr(upper, byte) : NULL;
    return at ? (int)(at - upper) : -1;
}

/* In the arena, with a NUL behind it.  A "%" that is followed by no two digits stays as it is. */
static struct text decode(struct arena *arena, struct text word)
{
    char *out = arena_allocate(arena, word.length + 1);
    size_t length = 0;
    for (size_t i = 0; i < word.length; i++) {
        int high = -1, low = -1;
        if (word.data[i] == '%' && word.length - i > 2) {
            high = digit(word.data[i + 1]);
            low = digit(word.data[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            out[length++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[length++] = word.data[i];
            if (word.data[i] == '+')
                out[length - 1] = ' ';
        }
    }
    return (struct text){out, length};
}

static void read_fields(struct arena *arena, struct text body, struct form *form)
{
    size_t capacity = 0;
    struct text pair, name;
    while (body.length && text_next(&body, '&', &pair)) {
        if (!pair.length)
            continue;
        text_next(&pair, '=', &name);
        form->fields =
            arena_grow(arena, form->fields, form->count, &capacity, sizeof(*form->fields));
        form->fields[form->count++] =
            (struct web_field){decode(arena, name), pair.data ? decode(arena, pair) : TEXT("")};
    }
}

bool form_is_sent(const struct exchange *exchange)
{
    return text_starts(exchange_header(exchange, "Content-Type"),
                       "application/x-www-form-urlencoded");
}

void form_parse(struct arena *arena, struct text body, struct form *form)
{
    *form = (struct form){.count = 0};
    read_fields(arena, body, form);
}

bool form_read(struct exchange *exchange, struct form *form)
{
    *form = (struct form){.count = 0};
    if (!form_is_sent(exchange)) {
        exchange_reply_problem(exchange, HTTP_WRONG_TYPE,
                               "Content-Type: expected application/x-www-form-urlencoded");
        return false;
    }
    if (!exchange_header(exchange, "Origin").length &&
        !exchange_header(exchange, "Sec-Fetch-Site").length) {
        exchange_reply_problem(exchange, HTTP_FORBIDDEN,
                               "a form needs a browser that says which page it is of (Origin); "
                               "programs use /dlspool/v1");
        return false;
    }
    read_fields(exchange->arena, exchange->body, form);
    return true;
}

struct text form_get(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++)
        if (text_is(form->fields[i].name, name))
            return form->fields[i].value;
    return TEXT("");
}
