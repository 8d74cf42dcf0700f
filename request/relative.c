/* request/relative.c - make paths in a job file absolute */
#include "request/relative.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/yaml.h"

static const char *const fields[] = {"program", "dataset", "output"};
enum { FIELDS = ARRAY_COUNT(fields) };

/* Bytes of the source to replace. */
struct replacement {
    size_t start, length;
    struct text path;
};

/* Is it a relative path?  Not with `~` or `$NAME`, which the reader refuses. */
static bool is_relative(const struct value *value)
{
    return value && value->kind == VALUE_STRING && value->string.length &&
           !memchr("/~", value->string.data[0], 2) &&
           !memchr(value->string.data, '$', value->string.length);
}

/* The offset at which the value begins; the source's length when its position is not known. */
static size_t offset_of(struct text source, const struct value *value)
{
    size_t offset = 0;
    for (uint32_t line = 1; line < value->line; line++) {
        const char *end = memchr(source.data + offset, '\n', source.length - offset);
        if (!end)
            return source.length;
        offset = (size_t)(end - source.data) + 1;
    }
    return offset + value->column - 1 < source.length ? offset + value->column - 1 : source.length;
}

/* Does the source have the path there literally, plain or in quotes?  Sets *found then. */
static bool stands_at(struct text source, const struct value *value, struct replacement *found)
{
    size_t start = offset_of(source, value), length = value->string.length;
    bool quoted = start < source.length && memchr("\"'", source.data[start], 2);
    found->start = start;
    found->length = length + (quoted ? 2 : 0);
    if (found->length > source.length - start ||
        memcmp(source.data + start + quoted, value->string.data, length) != 0)
        return false;
    size_t after = start + found->length;
    if (quoted)
        return source.data[after - 1] == source.data[start];
    return after == source.length || memchr(" \t\r\n,}", source.data[after], 6);
}

/* Join directory and path, and resolve `.` and `..`. */
static struct text join_path(struct arena *arena, const char *directory, struct text path)
{
    struct buffer joined = {0};
    struct text part;
    buffer_add_string(&joined, strcmp(directory, "/") == 0 ? "" : directory);
    while (text_next(&path, '/', &part)) {
        if (part.length == 0 || text_is(part, "."))
            continue;
        if (!text_is(part, "..")) {
            buffer_printf(&joined, "/%.*s", (int)part.length, part.data);
            continue;
        }
        while (joined.length && joined.data[--joined.length] != '/')
            ;
    }
    struct text result = joined.length ? arena_text(arena, joined.data, joined.length) : TEXT("/");
    buffer_free(&joined);
    return result;
}

static void add_sorted(struct replacement *list, size_t count, struct replacement new)
{
    for (; count && list[count - 1].start > new.start; count--)
        list[count] = list[count - 1];
    list[count] = new;
}

static struct text replace_paths(struct arena *arena, struct text source,
                                 const struct replacement *list, size_t count)
{
    struct buffer out = {0};
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        buffer_add(&out, source.data + at, list[i].start - at);
        json_write(&out, value_text(arena, list[i].path), false, NULL);
        at = list[i].start + list[i].length;
    }
    buffer_add(&out, source.data + at, source.length - at);
    struct text result = arena_text(arena, out.data, out.length);
    buffer_free(&out);
    return result;
}

struct text relative_make_absolute(struct arena *arena, struct text source, const char *directory,
                                   struct buffer *said)
{
    struct replacement list[FIELDS], new;
    size_t count = 0;
    struct error error;
    if (text_starts(source, "#!") || text_starts(json_after_comments(source), "{"))
        return source;
    const struct value *root = yaml_read(arena, source, "job file", &yaml_request_limits, &error);
    for (size_t i = 0; root && i < FIELDS; i++) {
        const struct value *value = value_get(root, fields[i]);
        struct error_quote_buffer buffers[2];
        if (!is_relative(value) || !stands_at(source, value, &new))
            continue;
        new.path = join_path(arena, directory, value->string);
        add_sorted(list, count++, new);
        buffer_printf(said, "%s%u: %s: %s is %s", said->length ? "\n" : "", value->line, fields[i],
                      error_quote(&buffers[0], value->string.data, value->string.length),
                      error_quote(&buffers[1], new.path.data, new.path.length));
    }
    return count ? replace_paths(arena, source, list, count) : source;
}
