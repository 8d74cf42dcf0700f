/* base/json_comments.c - comments in files that are otherwise JSON
 *
 * The walk only recognises strings; json_read() finds errors in the rest.
 */
#include <string.h>

#include "base/json.h"

/* Where the next comment starts at or after `at`, which is outside strings; or `end`. */
static const char *next_comment(const char *at, const char *end)
{
    bool quoted = false;
    for (; at < end; at++) {
        if (quoted && *at == '\\' && at + 1 < end)
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\n')
            quoted = false; /* no string of JSON goes over a line's end */
        else if (!quoted && *at == '/' && at + 1 < end && at[1] == '/')
            return at;
    }
    return end;
}

static const char *line_end(const char *at, const char *end)
{
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    return at;
}

struct text json_blank_comments(struct arena *arena, struct text source, const char **first)
{
    const char *end = source.data + source.length;
    const char *comment = next_comment(source.data, end);
    *first = NULL;
    if (comment == end)
        return source;
    *first = comment;
    char *copy = arena_allocate(arena, source.length + 1);
    memcpy(copy, source.data, source.length);
    while (comment < end) {
        const char *after = line_end(comment, end);
        memset(copy + (comment - source.data), ' ', (size_t)(after - comment));
        comment = next_comment(after, end);
    }
    return (struct text){copy, source.length};
}

struct text json_after_comments(struct text source)
{
    for (;;) {
        source = text_trim(source);
        if (!text_starts(source, "//"))
            return source;
        const char *after = line_end(source.data, source.data + source.length);
        source.length -= (size_t)(after - source.data);
        source.data = after;
    }
}
