/* base/json_step.c - steps over parts of JSON text, without a look at what is in them */
#include "base/json_step.h"

#include <string.h>

const char *json_step_past_string(const char *at, const char *end)
{
    for (at++; (at = memchr(at, '"', (size_t)(end - at))); at++) {
        const char *first = at;
        while (first[-1] == '\\')
            first--;
        if ((at - first) % 2 == 0)
            return at + 1;
    }
    return end;
}

const char *json_step_past_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

const char *json_step_past_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        bool closes = *at == ']' || *at == '}';
        if (closes && depth == 0)
            return at; /* of a number or a word: what it is in ends */
        depth += *at == '[' || *at == '{';
        depth -= closes;
        at = *at == '"' ? json_step_past_string(at, end) : at + 1;
        if (depth == 0 && at < end && (closes || *at == ',' || *at == ']' || *at == '}'))
            return at;
    }
    return end;
}

/* Is the name of a member, as it is written, one of the names? */
static bool is_named(struct text name, const char *const *names)
{
    char first = name.length ? *name.data : '\0';
    while (*names && (**names != first || !text_is(name, *names)))
        names++;
    return *names != NULL;
}

struct text json_step_without(struct arena *arena, struct text source, const char *const *names)
{
    const char *at = source.data, *end = at + source.length, *kept = at;
    struct buffer out = {0};
    while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        const char *after = json_step_past_string(at, end),
                   *colon = json_step_past_space(after, end);
        struct text name = {at + 1, (size_t)(after - at) - (after - at > 1 ? 2 : 1)};
        at = after;
        if (colon == end || *colon != ':' || !is_named(name, names))
            continue;
        const char *value = json_step_past_space(colon + 1, end);
        at = json_step_past_value(value, end);
        if (at == value)
            continue; /* there is none */
        buffer_add(&out, kept, (size_t)(value - kept));
        buffer_add_string(&out, "null");
        kept = at;
    }
    if (kept == source.data)
        return source;
    buffer_add(&out, kept, (size_t)(end - kept));
    return arena_take(arena, &out);
}
